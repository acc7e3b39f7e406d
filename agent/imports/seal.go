package imports

import (
	"fmt"
	"slices"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/settings"
)

// A censor takes secrets out, as the person's guard is set.
type censor struct {
	v     *vault.Vault
	off   bool
	allow []string
	// What was learnt last: of the conversation whose title was looked at, for its messages.
	of     *Session
	learnt *guard.Redactor
}

func newCensor(v *vault.Vault) *censor {
	s := v.Settings()
	return &censor{v: v, off: s.Text(settings.GuardSecrets) == guard.Off, allow: s.List(settings.GuardAllow)}
}

func (c *censor) allowed(f guard.Finding) bool {
	return c.off || slices.Contains(c.allow, f.Fingerprint)
}

// about is a redactor that knows every secret of a conversation.
func (c *censor) about(s *Session) *guard.Redactor { return learnt(guard.NewRedactor(c.allowed), s) }

// strictly is about with what only may be a secret: so transcripts are that were made when nothing was certain.
func (c *censor) strictly(s *Session) *guard.Redactor {
	return learnt(guard.NewStrictRedactor(c.allowed), s)
}

func learnt(r *guard.Redactor, s *Session) *guard.Redactor {
	for i := range s.Messages {
		m := &s.Messages[i]
		r.Learn(string(m.Content))
		for j := range m.Calls {
			r.Learn(string(m.Calls[j].Arguments))
		}
	}
	return r
}

// take is b without secrets, and whether there were any.
func take(r *guard.Redactor, b []byte) ([]byte, bool) {
	out := r.Clean(string(b))
	if out == string(b) {
		return b, false
	}
	return []byte(out), true
}

// clean reports whether nothing has to be taken out of a file.
func (c *censor) clean(p vault.Path, data []byte) bool {
	return len(guard.Sure(string(p), c.v.Secrets(p, data), data)) == 0
}

// A rendered transcript is the bytes of its files.
type rendered struct {
	base     string // the name that the folder of attachments goes by
	text     []byte
	attached []markdown.Attachment
	redacted int
}

// render makes the files of a session. Most hold no secret, so the whole is
// looked at once, and only when something was found message by message.
func (c *censor) render(s *Session, base string) (*rendered, error) {
	r, err := render(s, base)
	if err != nil || c.of != s && c.cleanAll(r) { // a title held one: it stands in a message as well
		return r, err
	}
	redacted := c.session(s)
	if r, err = render(s, base); err != nil {
		return nil, err
	}
	r.redacted = redacted
	if c.cleanAll(r) {
		return r, nil
	}
	// What only the file as a whole makes a secret: a key in one message, its
	// value in the next.
	r.text, _ = take(c.about(s), r.text)
	r.redacted++
	if back := markdown.ParseTranscript(r.text); back.ID != s.ID || len(back.Messages) != len(s.Messages) || !c.cleanAll(r) {
		return nil, bad("left out: a secret in it cannot be taken out without breaking it")
	}
	return r, nil
}

func render(s *Session, base string) (*rendered, error) {
	text, attached, err := markdown.RenderTranscript(&s.Transcript, markdown.TranscriptOptions{Name: base, AttachAbove: attachAbove})
	if err != nil {
		return nil, bad("left out: %v", err)
	}
	return &rendered{base: base, text: text, attached: attached}, nil
}

// said are the messages of s without secrets.
func (c *censor) said(s *Session) []markdown.Message {
	secrets, out := c.about(s), slices.Clone(s.Messages)
	for i := range out {
		m := &out[i]
		m.Content, _ = take(secrets, m.Content)
		m.Calls = slices.Clone(m.Calls)
		for j := range m.Calls {
			m.Calls[j].Arguments, _ = take(secrets, m.Calls[j].Arguments)
		}
	}
	return out
}

func (c *censor) cleanAll(r *rendered) bool {
	if !c.clean(vault.Path("sessions/"+r.base), r.text) {
		return false
	}
	for _, a := range r.attached {
		if !c.clean(vault.Path("sessions/"+a.Name), a.Data) {
			return false
		}
	}
	return true
}

// session takes the secrets out of everything that was said, and counts the texts
// that held any.
func (c *censor) session(s *Session) (n int) {
	r := c.learnt
	if c.of != s {
		r = c.about(s)
	}
	c.of, c.learnt = nil, nil
	clean := func(b []byte) []byte {
		out, some := take(r, b)
		if some {
			n++
		}
		return out
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		m.Content, m.Name = clean(m.Content), string(clean([]byte(m.Name)))
		m.Calls = slices.Clone(m.Calls)
		for j := range m.Calls {
			m.Calls[j].Arguments = clean(m.Calls[j].Arguments)
		}
	}
	s.Project, s.ModelConfig = string(clean([]byte(s.Project))), string(clean([]byte(s.ModelConfig)))
	s.Branch = string(clean([]byte(s.Branch)))
	return n
}

// title takes secrets out of the title, which names the file.
func (c *censor) title(s *Session) {
	if !c.off && len(guard.NameSecrets(s.Title)) > 0 {
		c.of, c.learnt = s, c.about(s)
		s.Title = c.learnt.Clean(s.Title)
	}
}

// bound keeps every message below the size of a file and says what it cut.
func (s *Session) bound(most int) (problems []string) {
	for i := range s.Messages {
		m := &s.Messages[i]
		size := len(m.Content)
		content, done := cut(m.Content, most)
		if !done {
			continue
		}
		m.Content = content
		problems = append(problems, fmt.Sprintf("message %d has %s: the first %d are kept", i+1,
			templates.Plural(size, "byte"), most))
	}
	return problems
}
