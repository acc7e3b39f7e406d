package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
	"stet/vault/settings"
)

// Marks say how far a conversation was looked at for what is worth keeping. They lie in local state,
// by the session's [Key], and outlive its sealing. Messages are counted as in its transcript, from 1.
type Marks struct {
	Sealed int `json:"sealed,omitempty"` // messages in its transcript
	// Lines of the open session hold messages up to number From; 0 is not known.
	Lines int `json:"lines,omitempty"`
	From  int `json:"from,omitempty"`
	// Up to message At, Turns of the user have come since the last nudge or memory write, and Steps
	// are calls of tools since the last nudge or skill write.
	At    int `json:"at,omitempty"`
	Turns int `json:"turns,omitempty"`
	Steps int `json:"steps,omitempty"`

	Memory Mark `json:"memory,omitzero"`
	Skill  Mark `json:"skill,omitzero"`
	// Whole says that a review of every turn to its end was asked for, as it is when a session ends.
	Whole bool `json:"whole,omitempty"`
	// Asks counts the reviews that were asked for. Of the last one Failed says why it failed; it waits
	// for the next ask then.
	Asks     int    `json:"asks,omitempty"`
	Failed   string `json:"failed,omitempty"`
	Proposed int    `json:"proposed,omitempty"` // by rules
	// Hooked are digests of what the user said, as hooks or commands without an agent told of it, behind one another.
	Hooked string `json:"hooked,omitempty"`
	// Via is the agent among whose tools the conversation of another one was recorded: see [vault.Writer].
	Via string `json:"via,omitempty"`
}

// Heard reports a message of the user's whose words a hook of the client, or a command without an agent, recorded in
// the session before it was sealed, or before [Marks.Hear]. Its ref proves nothing: a transcript may be anybody's.
func (m Marks) Heard(said markdown.Message) bool {
	return said.Role == "user" && strings.Contains(m.Hooked, digest(said.Content))
}

// Hear notes in m, and nowhere else, what the user said in the session of that key since it was sealed, and
// who recorded it.
func (m *Marks) Hear(v *vault.Vault, key string) error {
	open, err := Opened(v, key)
	if err != nil {
		return ignoreMissing(err)
	}
	open.redact(v)
	m.hear(open)
	return nil
}

func (m *Marks) hear(open *Open) {
	m.Via = cmp.Or(open.via, m.Via)
	for _, t := range open.Facts.Messages {
		if t.Role == "user" && (t.Ref == HookRef || open.Facts.Agent == "") && !m.Heard(t) {
			m.Hooked += digest(t.Content) + " "
		}
	}
}

// digest keeps the lines of a text apart: who breaks them otherwise makes a quotation the author's own words.
func digest(text []byte) string {
	var lines []string
	for line := range bytes.Lines(bytes.TrimSpace(markdown.StripInjected(text))) {
		lines = append(lines, strings.TrimRight(string(line), " \t\r\n"))
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// A Mark is how far reviews have come: the last message that one was asked for, and the last one that was
// reviewed. Of memories, the beginnings of the messages behind Cut up to Shown were shown to a model, those
// up to Full to their end, and rules have read those up to Read.
type Mark struct {
	Asked int `json:"asked,omitempty"`
	Done  int `json:"done,omitempty"`
	Cut   int `json:"cut,omitempty"`
	Shown int `json:"shown,omitempty"`
	Full  int `json:"full,omitempty"`
	Read  int `json:"read,omitempty"`
}

// Waits reports a review that was asked for, and neither made nor failed since.
func (m Marks) Waits() bool { return m.Failed == "" && m.Open() }

// Open reports messages that a review was asked for and that none has seen.
func (m Marks) Open() bool { return m.Memory.Asked > m.Memory.Done || m.Skill.Asked > m.Skill.Done }

// Ask asks for a review of memories, skills or both up to a message. One that was asked for before and not
// made is joined to it.
func (m *Marks) Ask(memory, skill bool, upTo int) {
	if memory {
		m.Memory.Asked = upTo
	}
	if skill {
		m.Skill.Asked = upTo
	}
	m.Asks++
	m.Failed = ""
}

const marksName = "marks-"

// MarksOf reads the marks of a session; known is false where there are none, or none that can be read.
func MarksOf(v *vault.Vault, key string) (m Marks, known bool, err error) {
	data, err := v.State().Seen(marksName + key)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return Marks{}, false, err
	}
	return m, true, nil
}

// SetMarks sets the marks of a session to what change makes of them, while nobody else does. Where
// change reports false they stay as they are.
func SetMarks(ctx context.Context, v *vault.Vault, key string, change func(m *Marks, known bool) bool) error {
	return v.State().SetSeen(ctx, marksName+key, func(now []byte) ([]byte, error) {
		var m Marks
		known := json.Unmarshal(now, &m) == nil
		if !known {
			m = Marks{}
		}
		if !change(&m, known) {
			return now, nil
		}
		return json.Marshal(m)
	})
}

// KeyOf is [Key] of a session that may be named by the id that its transcript has, although its agent
// calls it otherwise.
func KeyOf(v *vault.Vault, agent, id string) string {
	key := Key(agent, id)
	if len(key) == foreignPart {
		return key
	}
	foreign := key[len(key)-foreignPart:]
	if _, known, _ := MarksOf(v, foreign); known { // one that cannot be read is not known
		return foreign
	}
	return key
}

// IsKey reports a text that may be a [Key].
func IsKey(key string) bool {
	return (len(key) == foreignPart || own(key)) && strings.Trim(key, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// Marked lists the keys of the sessions that have marks.
func Marked(v *vault.Vault) ([]string, error) {
	names, err := v.State().SeenNames(marksName)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], marksName)
	}
	return names, err
}

// Reviews is the queue of sessions with messages to review. It is a hint: the marks say what there is.
const Reviews = "review"

// mostReviews bounds the queue. Beyond it marks alone say what is to be reviewed.
const mostReviews = 256

// A ReviewJob is an entry of [Reviews].
type ReviewJob struct {
	Session string `json:"session"` // its key
}

// QueueReview puts a session into the queue of [Reviews], where it is not in it. A full queue stays as
// it is.
func QueueReview(ctx context.Context, v *vault.Vault, key string) error {
	job, err := json.Marshal(ReviewJob{key})
	if err != nil {
		return err
	}
	waiting, err := v.State().Jobs(Reviews)
	if err != nil || len(waiting) >= mostReviews ||
		slices.ContainsFunc(waiting, func(j vault.Job) bool { return bytes.Equal(j.Data, job) }) {
		return err
	}
	_, err = v.State().Enqueue(ctx, Reviews, job)
	return err
}

// ended notes, before the first n turns of an open session are dropped, that they are messages up to
// number last of its transcript, and asks for a review of what nobody has reviewed.
func (s *sealer) ended(ctx context.Context, open *Open, last int) error {
	reviewed := !open.Facts.Private && s.v.Settings().Bool(settings.Cognitive)
	asked := false
	err := SetMarks(ctx, s.v, open.Key, func(m *Marks, _ bool) bool {
		m.Sealed, m.Lines = last, 0
		m.hear(open)
		failed := m.Skill.Asked > m.Skill.Done
		if asked = reviewed && (m.Memory.Full < last || failed); asked && !(m.Whole && m.Memory.Asked == last) {
			m.Whole = true
			m.Memory.Done = min(m.Memory.Done, m.Memory.Full) // a nudge saw beginnings alone
			m.Ask(true, failed, last)
		}
		return true
	})
	if err == nil && asked {
		err = QueueReview(ctx, s.v, open.Key)
	}
	return err
}

// MayBeSealed reports whether a file below sessions/ is called as the transcript of a session would be. It reads
// names alone, a fifth of what [Transcripts] takes.
func MayBeSealed(v *vault.Vault, key string) (found bool, err error) {
	tail := tailOf(key)
	err = fs.WalkDir(os.DirFS(v.Root()), "sessions", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && strings.HasSuffix(name, ".d"):
			return fs.SkipDir // files beside a transcript
		case ends(d.Name(), tail):
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// A Tail is the newest messages of an open session.
type Tail struct {
	Messages []markdown.Message // without their text, numbered as in the transcript
	lines    []int              // of the file before each of them; nil while it is being sealed
}

// TailOf reads messages of an open session, those at least that its marks do not count, and no text of
// them. It fails with [vault.ErrNotFound] when nothing is open.
func TailOf(v *vault.Vault, key string, m Marks) (Tail, error) {
	lines, err := v.State().Session(key)
	if err != nil {
		return Tail{}, err
	}
	if m.Lines == 0 || m.Lines > len(lines) {
		m.Lines, m.From = 0, m.Sealed
	}
	var t Tail
	sealing := false
	for i, line := range lines[m.Lines:] {
		var r struct {
			Role    string          `json:"role"`
			Call    string          `json:"call"`
			Calls   []callLine      `json:"calls"`
			Seal    *intent         `json:"seal"`
			Context json.RawMessage `json:"context"`
		}
		err := json.Unmarshal(line, &r)
		switch {
		case err == nil && r.Seal != nil:
			if sealing = true; m.Lines == 0 {
				m.From = r.Seal.Base
			}
			continue
		case err == nil && r.Context != nil && r.Role == "":
			continue
		}
		msg := markdown.Message{Role: r.Role, Call: r.Call}
		for _, c := range r.Calls {
			msg.Calls = append(msg.Calls, markdown.ToolCall{ID: c.ID, Name: c.Name})
		}
		t.Messages, t.lines = append(t.Messages, msg), append(t.lines, m.Lines+i)
	}
	for i := range t.Messages {
		t.Messages[i].Number = m.From + i + 1
	}
	if sealing {
		t.lines = nil
	}
	return t, nil
}

// Keep notes in marks from where the next [TailOf] need read: from the newest answer on, whose calls of
// tools may be answered later.
func (t Tail) Keep(m *Marks) {
	for i := len(t.lines) - 1; i >= 0; i-- {
		if t.Messages[i].Role == "assistant" {
			m.Lines, m.From = t.lines[i], t.Messages[i].Number-1
			return
		}
	}
}

// Whole reads a conversation as its transcript will be once all of it is sealed: secrets taken out,
// texts of files beside it in place. It fails with [ErrUnknownSession].
func Whole(ctx context.Context, v *vault.Vault, key string, m Marks) (*markdown.Transcript, error) {
	paths, err := transcripts(ctx, v)
	if err != nil {
		return nil, err
	}
	files := named(paths, key)
	if len(files) == 0 && m.Sealed > 0 {
		files, err = renamed(ctx, v, key)
	}
	if err != nil {
		return nil, err
	}
	var p vault.Path
	var data []byte
	open, err := Opened(v, key)
	switch {
	case err == nil:
		p, data, err = AsSealed(ctx, v, open, files)
	case errors.Is(err, vault.ErrNotFound):
		err = nil
	}
	for i := 0; i < len(files) && data == nil && err == nil; i++ {
		p = files[i]
		if data, _, err = v.ReadFile(p); !same(Read(p, data).ID, key) {
			data = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, unknown(key)
	}
	t := markdown.ParseTranscript(data)
	return t, t.Attach(func(name string) ([]byte, error) {
		text, _, err := v.ReadFile(vault.Path(p.Dir() + "/" + markdown.AttachmentDir(p.Base()) + "/" + name))
		return text, err
	})
}
