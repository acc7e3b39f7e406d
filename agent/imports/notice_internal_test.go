package imports

import (
	"testing"

	"stet/markdown"
)

// A transcript that older stet imported holds notices within what was typed: it goes on, and is not made anew.
func TestATranscriptOfBeforeGoesOn(t *testing.T) {
	t.Parallel()
	const have = "---\nid: 01\nmessages: 1\n---\n\n## 1 · user\n\n<!-- stet {\"ref\":\"u1\"} -->\n\n<ide_x>y</ide_x>\nHello.\n"
	s := &Session{}
	for _, ref := range []string{"u1" + noticeRef, "u1", "u2" + noticeRef, "u2"} {
		s.Messages = append(s.Messages, markdown.Message{Role: "user", Ref: ref, Content: []byte("Hello.")})
	}
	s.asIn([]byte(have))
	if g := compare([]byte(have), s, nil); g.changed != 0 || g.from != 1 || len(s.Messages) != 3 {
		t.Errorf("%+v of %d messages", g, len(s.Messages))
	}
}
