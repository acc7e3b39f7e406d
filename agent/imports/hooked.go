package imports

import (
	"slices"

	"stet/markdown"
	"stet/vault/guard"
	"stet/vault/session"
)

// hooked is s with what only a client's hooks have told of in between, for a transcript that holds such
// messages, and what that has more than the transcript. The source's own words win: what it holds as well is left
// out. ok is false where the transcript holds none, and where it is no longer what the source had.
func (s *Session) hooked(have []byte, c *censor) (merged *Session, g growth, ok bool) {
	d := markdown.Parse(have)
	spans, old := d.Messages(), markdown.ParseTranscript(have).Messages
	isHooked := func(m markdown.Message) bool { return m.Ref == session.HookRef }
	if !slices.ContainsFunc(old, isHooked) || len(spans) != len(old) {
		return nil, g, false
	}
	secrets := c.about(s)
	own := slices.Clone(s.Messages)
	for i := range own {
		own[i].Content, _ = take(secrets, own[i].Content)
	}
	covered := session.Covered(old, own)
	v := *s
	v.Messages = nil
	next, grown := 0, true // grown: what stands there stays as it is
	upTo := func(j int) {
		v.Messages, next = append(v.Messages, s.Messages[next:j]...), j
	}
	for i, m := range old {
		switch j := covered[i]; {
		case spans[i].Number != i+1 || spans[i].Attached != "" && isHooked(m):
			return nil, g, false // a person took one out, or its text is elsewhere
		case !isHooked(m):
			if next == len(own) || !sameMessage(have, spans[i], &own[next], func() *guard.Redactor { return secrets }) {
				return nil, g, false
			}
			upTo(next + 1)
		case j < 0:
			v.Messages = append(v.Messages, m)
		default:
			grown = false
			upTo(max(next, j+1))
		}
	}
	upTo(len(own))
	if grown {
		return &v, compare(have, &v, c), true
	}
	return &v, growth{cut: spans[0].Start}, true
}
