package imports

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/markdown"
	"stet/vault/session"
)

// A Session is one conversation of a source, or a part of one. Its id is made of
// Agent, Origin and Started unless it has one.
type Session struct {
	markdown.Transcript
	// ParentOrigin and ParentStarted are those of the conversation it came out
	// of, a sub-agent's caller or the branch it left.
	ParentOrigin  string
	ParentStarted time.Time
	Folders       []string // in which it was, Project aside
	titles        []string // that its source gave it, the last of them Title
	// fork says that it begins with a copy of what was said in its parent, keepsRefs that ids of messages are copied.
	fork, keepsRefs bool
	copyOf          string // of a later part of a fork: the same part of its parent
	Formerly        string // the foreign id that earlier versions gave it; a transcript that has it stays
	// taken are messages that the person took back since, which are conversations of their own.
	taken []markdown.Message
	// exact leaves control characters in: they are what was exported.
	exact bool
}

// SessionID is the id that a conversation gets wherever it is imported: a ULID of
// its start and the first 80 bits of sha256(source \0 foreign id).
func SessionID(source, foreign string, started time.Time) string {
	sum := sha256.Sum256([]byte(source + "\x00" + foreign))
	var id ulid.ULID
	if !started.IsZero() && started.Unix() > 0 {
		// It fails for times after the year 10889, which no source can hold.
		_ = id.SetTime(ulid.Timestamp(started))
	}
	copy(id[6:], sum[:10])
	return strings.ToLower(id.String())
}

// hashPart is the part of an id that does not depend on a time.
func hashPart(id string) string { return id[len(id)-16:] }

// settle fills in what follows from what was read.
func (s *Session) settle() {
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Role == "" {
			m.Role = "other"
		}
		m.Time = m.Time.UTC()
		if s.exact {
			continue
		}
		m.Role, m.Name, m.Ref, m.Call = oneLine(m.Role), oneLine(m.Name), valid(m.Ref), valid(m.Call)
		m.Content = clean(m.Content)
		for j := range m.Calls {
			c := &m.Calls[j]
			c.ID, c.Name = valid(c.ID), valid(c.Name)
		}
		if m.Time.IsZero() {
			continue
		}
		if s.Started.IsZero() {
			s.Started = m.Time
		}
		if m.Time.After(s.Ended) {
			s.Ended = m.Time
		}
	}
	s.Started, s.Ended = s.Started.UTC(), s.Ended.UTC()
	if s.exact {
		return
	}
	if s.Title == "" {
		s.Title = firstWords(s.Messages)
	}
	if s.Source == "" {
		s.Source = "import"
	}
	s.Title, s.Origin, s.Project = oneLine(s.Title), valid(s.Origin), valid(s.Project)
	s.Model, s.Provider, s.Branch = oneLine(s.Model), oneLine(s.Provider), oneLine(s.Branch)
	if len(s.Models) < 2 {
		s.Models = nil
	}
	if s.ID == "" {
		s.ID = SessionID(s.Agent, s.Origin, s.Started)
	}
	if s.Parent == "" && s.ParentOrigin != "" {
		s.Parent = SessionID(s.Agent, s.ParentOrigin, s.ParentStarted)
	}
}

// by takes down the model of an answer; "" is not known.
func (s *Session) by(model string) {
	if model = oneLine(model); model == "" {
		return
	}
	if s.Model = model; !slices.Contains(s.Models, model) {
		s.Models = append(s.Models[:len(s.Models):len(s.Models)], model)
	}
}

// titleWords is how many words of the first thing a person said name it.
const titleWords = 10

// firstWords is the beginning of the first sentence that a person typed, of commands to the program where there is
// nothing else.
func firstWords(messages []markdown.Message) (title string) {
	for _, m := range messages {
		if m.Role != "user" {
			continue
		}
		words := session.FirstSentence(markdown.FirstWords(m.Content, titleWords))
		if !strings.HasPrefix(words, "/") && words != "" {
			return words
		}
		title = cmp.Or(title, words)
	}
	return title
}

// Sizes that bound one transcript: a file of a vault has at most 10 MiB.
const (
	attachAbove = 64 << 10 // contents above stand in files of their own
	maxPart     = 4 << 20  // of one transcript; a longer conversation is several
	maxContent  = 4 << 20  // of one message
)

// parts cuts a conversation that is too long for one file. The first part keeps
// its identity, each other one follows from the one before; a conversation that
// grows is cut at the same messages.
func (s *Session) parts() []*Session {
	cuts, size, most := []int{0}, 0, maxPart
	if s.exact {
		most = 2 * maxPart // it was one file before
	}
	for i, m := range s.Messages {
		n := 200
		if len(m.Content) <= attachAbove {
			n += len(m.Content)
		}
		for _, c := range m.Calls {
			n += len(c.Arguments) + 100
		}
		if size += n; size > most && i > cuts[len(cuts)-1] {
			cuts, size = append(cuts, i), n
		}
	}
	if len(cuts) == 1 {
		return []*Session{s}
	}
	out := make([]*Session, 0, len(cuts))
	for i, from := range cuts {
		to := len(s.Messages)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		out = append(out, s.part(i, from, to, out))
	}
	return out
}

func (s *Session) part(i, from, to int, before []*Session) *Session {
	p := *s
	p.Messages = s.Messages[from:to]
	p.Ended = time.Time{}
	for _, m := range p.Messages {
		if m.Time.After(p.Ended) {
			p.Ended = m.Time
		}
	}
	if i == 0 {
		return &p
	}
	p.Errors, p.Compactions = 0, 0
	p.Tokens, p.Cost, p.Context, p.Supersedes = nil, nil, nil, nil // those of the whole stand in the first part
	p.Origin = s.Origin + "#" + itoa(i+1)
	if s.Formerly != "" {
		p.Formerly = s.Formerly + "#" + itoa(i+1)
	}
	if s.fork {
		p.copyOf = SessionID(s.Agent, s.ParentOrigin+"#"+itoa(i+1), s.ParentStarted)
	}
	p.Parent = before[i-1].ID
	p.Started = p.Messages[0].Time
	if p.Started.IsZero() {
		p.Started = s.Started
	}
	p.ID = SessionID(s.Agent, p.Origin, p.Started)
	return &p
}

// isID reports a ULID.
func isID(s string) bool {
	_, err := ulid.ParseStrict(strings.ToUpper(s))
	return err == nil
}
