package imports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stet/markdown"
	"stet/vault/guard"
)

// A growth is what a conversation has more than its transcript.
type growth struct {
	from    int    // messages that the transcript holds for good
	cut     int    // where in the file the new ones begin
	changed int    // number of the first message that is another one now; 0 for none
	title   string // a later one of its source, "" for none
}

// more reports whether there is anything to append.
func (g growth) more(s *Session) bool {
	return g.changed == 0 && (g.from < len(s.Messages) || g.title != "")
}

// noticeRef ends the id of a notice of a client that stood in one message with what a person typed.
const noticeRef = "#notice"

// asIn leaves out the notices which a transcript of before holds within what was typed, or not at all.
func (s *Session) asIn(have []byte) {
	isNotice := func(m markdown.Message) bool { return strings.HasSuffix(m.Ref, noticeRef) }
	if !slices.ContainsFunc(s.Messages, isNotice) {
		return
	}
	refs := map[string]bool{}
	for _, at := range markdown.Parse(have).Messages() {
		refs[at.Ref] = true
	}
	s.Messages = slices.DeleteFunc(slices.Clone(s.Messages), func(m markdown.Message) bool {
		return isNotice(m) && !refs[m.Ref] && refs[strings.TrimSuffix(m.Ref, noticeRef)]
	})
}

// retitle is a later title than that of the transcript, which is not changed where a person may have given it.
func (s *Session) retitle(d *markdown.Document) string {
	v, _ := d.Meta("title")
	was := v.Text()
	if len(s.titles) == 0 || was == s.Title {
		return ""
	}
	known := append(slices.Clone(s.titles), firstWords(s.Messages))
	for _, m := range s.Messages {
		if m.Role == "user" {
			known = append(known, markdown.FirstWords(m.Content, titleWords))
			break
		}
	}
	if !slices.ContainsFunc(known, func(t string) bool { return oneLine(t) == was }) {
		return ""
	}
	return s.Title
}

// compare says what s has more than the transcript in have. A message is the same
// when it has the same foreign id, or without one the same role and text; one that
// a person edited or took out stays as the person left it.
func compare(have []byte, s *Session, c *censor) growth {
	d := markdown.Parse(have)
	spans := d.Messages()
	secrets := sync.OnceValue(func() []*guard.Redactor { return []*guard.Redactor{c.about(s), c.strictly(s)} })
	g := growth{cut: len(have), title: s.retitle(d)}
	if v, ok := d.Meta("messages"); ok {
		g.from, _ = strconv.Atoi(v.Text()) // what is no number counts as none
	}
	for _, at := range spans {
		g.from = max(g.from, at.Number)
		if at.Number <= len(s.Messages) && !sameMessage(have, at, &s.Messages[at.Number-1], secrets) {
			g.changed = at.Number
			return g
		}
	}
	// The last message may have been imported while it was still being written.
	if n := len(spans); n > 0 && spans[n-1].Number == g.from && g.from <= len(s.Messages) {
		if at := spans[n-1]; extends(have, at, &s.Messages[g.from-1], secrets) {
			g.from, g.cut = g.from-1, at.Start
		}
	}
	return g
}

func sameMessage(have []byte, at markdown.MessageSpan, m *markdown.Message, secrets func() []*guard.Redactor) bool {
	if at.Ref != "" { // without one it was observed, not imported
		return at.Ref == m.Ref
	}
	if at.Role != m.Role {
		return false
	}
	if sameText(have, at, m.Content) {
		return true
	}
	return slices.ContainsFunc(secrets(), func(r *guard.Redactor) bool {
		redacted, some := take(r, m.Content)
		return some && sameText(have, at, redacted)
	})
}

func sameText(have []byte, at markdown.MessageSpan, content []byte) bool {
	if at.Attached == "" {
		return bytes.Equal(at.Text(have), content)
	}
	sum := sha256.Sum256(content)
	name := strings.TrimSuffix(strings.TrimSuffix(at.Attached, ".bin"), ".txt")
	return strings.HasSuffix(name, "-"+hex.EncodeToString(sum[:4]))
}

// extends reports whether m is the message at at with more behind it.
func extends(have []byte, at markdown.MessageSpan, m *markdown.Message, secrets func() []*guard.Redactor) bool {
	if at.Ref == "" || at.Attached != "" || at.Role != m.Role || len(at.Calls) > len(m.Calls) {
		return false
	}
	for i, call := range at.Calls {
		if call.ID != m.Calls[i].ID || call.Name != m.Calls[i].Name {
			return false
		}
	}
	old := at.Text(have)
	return slices.ContainsFunc(secrets(), func(r *guard.Redactor) bool {
		redacted, _ := take(r, m.Content)
		return bytes.HasPrefix(redacted, old) && (len(redacted) > len(old) || len(m.Calls) > len(at.Calls))
	})
}

// grow appends what is new to the transcript in have, whose other bytes stay but
// for the keys that count. r is the whole of s rendered.
func (g growth) grow(have []byte, s *Session, r *rendered) ([]byte, error) {
	spans := markdown.Parse(r.text).Messages()
	if g.from >= len(spans) && g.title == "" {
		return nil, fmt.Errorf("message %d of %d is not in its own rendering", g.from+1, len(spans))
	}
	out := bytes.Clone(have[:g.cut])
	if g.from < len(spans) {
		for !bytes.HasSuffix(out, []byte("\n\n")) && !bytes.HasSuffix(out, []byte("\n\r\n")) {
			out = append(out, '\n')
		}
		out = append(out, r.text[spans[g.from].Start:]...)
	}
	d := markdown.Parse(out)
	if !d.HasFrontMatter() || d.FrontMatterError() != nil {
		return out, nil // a person's; the messages themselves are there
	}
	err := d.SetMeta("messages", markdown.Plain(itoa(len(s.Messages))))
	if !s.Ended.IsZero() {
		err = errors.Join(err, d.SetMeta("ended", markdown.Time(s.Ended)))
	}
	if len(s.Renumbered) > 0 {
		err = errors.Join(err, d.SetMeta("renumbered", markdown.Strings(s.Renumbered)))
	}
	if g.title != "" {
		err = errors.Join(err, d.SetMeta("title", markdown.String(g.title)))
	}
	for _, fact := range s.Growing() {
		switch fact.Key {
		case "end_reason", "branch", "models", "compactions", "errors":
			err = errors.Join(err, d.SetMeta(fact.Key, fact.Value))
		}
	}
	if err != nil {
		return nil, err
	}
	return retoken(d.Bytes(), d.BodyLine(), r.text), nil
}

var tokenLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^tokens: \{input: \d+, output: \d+, cache_read: \d+, cache_write: \d+\}$`)
})

// retoken replaces the line of tokens as stet writes it by that of the new
// rendering; another form is a person's.
func retoken(data []byte, bodyLine int, fresh []byte) []byte {
	end := 0
	for range bodyLine - 1 {
		i := bytes.IndexByte(data[end:], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	head := fresh
	if i := bytes.Index(fresh, []byte("\n---\n")); i >= 0 {
		head = fresh[:i]
	}
	now, at := tokenLine().Find(head), tokenLine().FindIndex(data[:end])
	if now == nil || at == nil {
		return data
	}
	return append(append(bytes.Clone(data[:at[0]]), now...), data[at[1]:]...)
}

// variant is s as a conversation of its own, since message n is not what it was:
// it supersedes the one called old.
func (s *Session) variant(n int, old string) *Session {
	m := s.Messages[n-1]
	sum := sha256.Sum256([]byte(m.Ref + "\x00" + m.Role + "\x00" + string(m.Content)))
	v := *s
	v.Origin = s.Origin + "~" + hex.EncodeToString(sum[:4])
	v.Supersedes = append(append([]string{}, s.Supersedes...), old)
	v.ID = SessionID(s.Agent, v.Origin, s.Started)
	return &v
}
