package markdown

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// TranscriptOptions say how a transcript is rendered.
type TranscriptOptions struct {
	// Name is the file's name, which the folder of its attachments is named
	// after: <Name without .md>.d, see [AttachmentDir].
	Name string
	// AttachAbove moves contents of more bytes into attachments; 0 never does.
	AttachAbove int
}

// An Attachment is content that a Markdown file cannot hold, or should not.
type Attachment struct {
	Name string // inside AttachmentDir
	Data []byte
}

// AttachmentDir is the folder beside the transcript called name.
func AttachmentDir(name string) string { return strings.TrimSuffix(name, ".md") + ".d" }

// RenderTranscript writes t as a file. Content stands as it is, unless that
// would be read as something else: then it stands in a fence of ours. Content
// with NUL, other control characters or bytes that are not UTF-8 becomes an
// attachment. It fails with [ErrInvalidValue] when anything but content or
// arguments is not UTF-8, when a message has no role, or a time has no year
// that can be written.
func RenderTranscript(t *Transcript, o TranscriptOptions) ([]byte, []Attachment, error) {
	var out bytes.Buffer
	if err := t.writeFacts(&out); err != nil {
		return nil, nil, fmt.Errorf("render transcript: %w", err)
	}
	var attached []Attachment
	for i := range t.Messages {
		a, err := t.Messages[i].write(&out, i+1, o)
		if err != nil {
			return nil, nil, fmt.Errorf("render transcript: message %d: %w", i+1, err)
		}
		if a != nil {
			attached = append(attached, *a)
		}
	}
	return out.Bytes(), attached, nil
}

func (t *Transcript) writeFacts(out *bytes.Buffer) error {
	facts := []Pair{{"id", String(t.ID)}, {"title", String(t.Title)}, {"agent", String(t.Agent)}, {"source", String(t.Source)},
		{"origin", String(t.Origin)}, {"provider", String(t.Provider)}, {"model", String(t.Model)},
		{"model_config", String(t.ModelConfig)}, {"project", String(t.Project)}, {"parent", String(t.Parent)}}
	if len(t.Supersedes) > 0 {
		facts = append(facts, Pair{"supersedes", Strings(t.Supersedes)})
	}
	for _, at := range []struct {
		key string
		t   time.Time
	}{{"started", t.Started}, {"ended", t.Ended}} {
		if at.t.IsZero() {
			continue
		}
		if !writable(at.t) {
			return fmt.Errorf("%s %v: %w", at.key, at.t, ErrInvalidValue)
		}
		facts = append(facts, Pair{at.key, Time(at.t)})
	}
	facts = append(facts, t.Growing()...)
	out.WriteString("---\n")
	if err := writeFactLines(out, facts); err != nil {
		return err
	}
	out.WriteString("---\n")
	return nil
}

// Growing are the keys of the front matter that change when a conversation goes on, but "ended", with
// their values: those that there are.
func (t *Transcript) Growing() []Pair {
	var out []Pair
	if t.EndReason != "" {
		out = append(out, Pair{"end_reason", String(t.EndReason)})
	}
	out = append(out, Pair{"messages", Plain(strconv.Itoa(len(t.Messages)))})
	if t.Branch != "" {
		out = append(out, Pair{"branch", String(t.Branch)})
	}
	if len(t.Models) > 0 {
		out = append(out, Pair{"models", Strings(t.Models)})
	}
	for _, count := range []struct {
		key string
		n   int
	}{{"compactions", t.Compactions}, {"errors", t.Errors}} {
		if count.n > 0 {
			out = append(out, Pair{count.key, Plain(strconv.Itoa(count.n))})
		}
	}
	if len(t.Renumbered) > 0 {
		out = append(out, Pair{"renumbered", Strings(t.Renumbered)})
	}
	if t.Private {
		out = append(out, Pair{"private", Bool(true)})
	}
	if t.Tokens != nil {
		out = append(out, Pair{"tokens", t.Tokens.value()})
	}
	if c := t.Cost; c != nil {
		out = append(out, Pair{"cost_usd", Number(c.USD)})
		if c.Status != "" {
			out = append(out, Pair{"cost_status", String(c.Status)})
		}
	}
	if t.Context != nil {
		out = append(out, Pair{"context", t.Context.value()})
	}
	return out
}

func (u *TokenUse) value() Value {
	number := func(key string, n int) Pair { return Pair{key, Plain(strconv.Itoa(n))} }
	return Mapping(number("input", u.Input), number("output", u.Output), number("cache_read", u.CacheRead),
		number("cache_write", u.CacheWrite))
}

// Empty texts stay: their presence tells an empty mapping from none.
func (c *FrozenContext) value() Value {
	pairs := []Pair{{"commit", String(c.Commit)}, {"budget", Plain(strconv.Itoa(c.Budget))}, {"query", String(c.Query)},
		{"sha256", String(c.SHA256)}}
	if len(c.Dirty) > 0 {
		pairs = append(pairs, Pair{"dirty", Strings(c.Dirty)})
	}
	return Mapping(pairs...)
}

// writeFactLines writes facts, leaving out those without text.
func writeFactLines(out *bytes.Buffer, facts []Pair) error {
	for _, f := range facts {
		if !f.Value.IsList() && !f.Value.IsMapping() && f.Value.Text() == "" {
			continue
		}
		s, err := encodeFlow(f.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Key, err)
		}
		fmt.Fprintf(out, "%s: %s\n", f.Key, s)
	}
	return nil
}

// writable reports whether a time survives being written with four digits of
// year.
func writable(t time.Time) bool {
	y := t.UTC().Year()
	return y >= 0 && y <= 9999
}

// write renders one message and returns its content where that is to stand in
// a file of its own.
func (m *Message) write(out *bytes.Buffer, number int, o TranscriptOptions) (*Attachment, error) {
	for what, s := range map[string]string{"role": m.Role, "name": m.Name, "ref": m.Ref, "call": m.Call} {
		if !utf8.ValidString(s) {
			return nil, fmt.Errorf("%s %q: %w", what, s, ErrInvalidValue)
		}
	}
	if m.Role == "" || !m.Time.IsZero() && !writable(m.Time) {
		return nil, fmt.Errorf("role %q, time %v: %w", m.Role, m.Time, ErrInvalidValue)
	}
	var attached *Attachment
	note := messageNote{Ref: m.Ref, Call: m.Call, Tokens: m.Tokens, File: m.Attached}
	if m.Attached == "" && (!isText(m.Content) || o.AttachAbove > 0 && len(m.Content) > o.AttachAbove) {
		name := "%d-%s.txt"
		if !isText(m.Content) {
			name = "%d-%s.bin"
		}
		sum := sha256.Sum256(m.Content)
		attached = &Attachment{Name: fmt.Sprintf(name, number, hex.EncodeToString(sum[:4])), Data: m.Content}
		note.File = attached.Name
	}
	var text []byte
	info := ""
	if note.File == "" && len(m.Content) > 0 {
		text, info = m.body()
		note.Escaped, note.Fenced = info == "" && !bytes.Equal(text, m.Content), info != ""
	}
	out.WriteByte('\n')
	out.WriteString(m.heading(number, &note))
	if note != (messageNote{}) {
		b, err := json.Marshal(note)
		if err != nil {
			return nil, err
		}
		out.WriteString("\n<!-- stet ")
		out.Write(b)
		out.WriteString(noteClose + "\n")
	}
	switch {
	case note.File != "":
		fmt.Fprintf(out, "\n[%s](<%s/%s>)\n", note.File, AttachmentDir(o.Name), note.File)
	case info != "":
		out.WriteByte('\n')
		writeFence(out, info, text)
	case len(text) > 0:
		out.WriteByte('\n')
		out.Write(text)
		out.WriteByte('\n')
	}
	return attached, m.writeCalls(out)
}

// heading is the heading line. What it cannot hold goes into note.
func (m *Message) heading(number int, note *messageNote) string {
	parts := []string{"## " + strconv.Itoa(number), m.Role}
	if m.Name != "" {
		parts = append(parts, m.Name)
	}
	if !m.Time.IsZero() {
		parts = append(parts, m.Time.UTC().Format(time.RFC3339Nano))
	}
	line := strings.Join(parts, dot)
	back, ok := messageHeading([]byte(line))
	if ok && back.Role == m.Role && back.Name == m.Name && isHeadingText(line) {
		return line + "\n"
	}
	note.Role, note.Name = m.Role, m.Name
	if m.Time.IsZero() {
		return strings.Join([]string{parts[0], headingWord(m.Role)}, dot) + "\n"
	}
	return strings.Join([]string{parts[0], headingWord(m.Role), parts[len(parts)-1]}, dot) + "\n"
}

// isHeadingText reports whether a heading of this text is read back as it
// stands, by us and by other readers of Markdown.
func isHeadingText(s string) bool {
	return s == strings.TrimSpace(s) && printable(s) && !strings.HasSuffix(s, "#")
}

// headingWord is what is left of a role for a person to read.
func headingWord(role string) string {
	out := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || isAlnum(r) {
			return r
		}
		return -1
	}, role)
	if out == "" {
		return "other"
	}
	return out
}

func isAlnum(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func (m *Message) writeCalls(out *bytes.Buffer) error {
	for _, c := range m.Calls {
		if !utf8.ValidString(c.ID) || !utf8.ValidString(c.Name) {
			return fmt.Errorf("tool call %q %q: %w", c.ID, c.Name, ErrInvalidValue)
		}
		v := c.View()
		v.note.ID, v.note.Name = c.ID, c.Name
		if !isText(c.Arguments) {
			v.note.Base64, v.Text = true, base64.StdEncoding.EncodeToString(c.Arguments)
		}
		b, err := json.Marshal(v.note)
		if err != nil {
			return err
		}
		// An info string may hold no backtick.
		info := v.Lang + " " + callInfo + strings.ReplaceAll(string(b[1:]), "`", `\u0060`)
		out.WriteString("\n" + v.labelled() + "\n\n")
		writeFence(out, info, []byte(v.Text))
	}
	return nil
}

// writeFence writes text between fences longer than any run of backticks in it.
func writeFence(out *bytes.Buffer, info string, text []byte) {
	longest, run := 2, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	out.WriteString(fence + info + "\n")
	out.Write(text)
	if len(text) > 0 {
		out.WriteByte('\n')
	}
	out.WriteString(fence + "\n")
}

// isText reports whether a Markdown file can hold b: UTF-8 without control
// characters other than tab and line endings.
func isText(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return utf8.Valid(b)
}

// needsFence reports content that would be read as something else if it stood
// by itself: a message heading, a note or a fence of ours, line endings at
// either end, an underlined heading, a link definition that other messages
// would share, and whatever does not end before the next heading does.
func needsFence(content []byte) bool {
	if content[0] == '\n' || content[len(content)-1] == '\n' || bytes.IndexByte(content, '\r') >= 0 {
		return true
	}
	var above []byte
	for rest := content; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		if reservedLine(line) || isUnderline(line) && len(bytes.TrimSpace(above)) > 0 {
			return true
		}
		above = line
	}
	return !selfContained(content)
}

// maxNesting bounds, in bytes, the marks of lists and quotations that a line
// may begin with: a reader's work grows with their square.
const maxNesting = 200

// reservedLine reports a line that means something in a transcript, or that no
// reader should be given.
func reservedLine(line []byte) bool {
	if marks := len(line) - len(bytes.TrimLeft(line, " \t>-+*.)0123456789")); marks > maxNesting {
		return true
	}
	text := bytes.TrimLeft(line, " \t>")
	if bytes.HasPrefix(text, []byte(noteOpen)) {
		return true
	}
	if fence := bytes.TrimLeft(text, "`~"); len(fence) < len(text) && bytes.Contains(fence, []byte(stetPrefix)) {
		return true
	}
	number, ok := bytes.CutPrefix(text, []byte("## "))
	if !ok {
		return false
	}
	number = bytes.TrimLeft(number, " ")
	after := bytes.TrimLeft(number, "0123456789")
	return len(after) < len(number) && bytes.HasPrefix(bytes.TrimLeft(after, " "), []byte("·"))
}

// isUnderline reports the second line of a setext heading.
func isUnderline(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) > 0 && (len(bytes.Trim(text, "=")) == 0 || len(bytes.Trim(text, "-")) == 0)
}

// blockParser reads blocks only: what stands inside a line cannot swallow the
// next heading, and reading it can take time that grows with its square.
var blockParser = sync.OnceValue(func() parser.Parser {
	found := markdownEngine().found // goldmark counts context keys unguarded: all are made before the first context
	return parser.NewParser(
		parser.WithBlockParsers(blockParsers(found)...),
		parser.WithParagraphTransformers(paragraphTransformers(found)...),
	)
})

// selfContained asks the Markdown reader whether a heading that follows content
// is one, and whether content defines anything for the rest of the file.
func selfContained(content []byte) bool {
	const probe = "\n\n## 1 · end\n"
	body := concat(content, []byte(probe))
	pc, _ := markdownEngine().context(budget(body))
	root := blockParser().Parse(text.NewReader(body), parser.WithContext(pc))
	last, ok := root.LastChild().(*ast.Heading)
	if !ok || len(pc.References()) > 0 || last.Lines().Len() != 1 {
		return false
	}
	at := last.Lines().At(0)
	return last.Level == 2 && at.Start == len(content)+len("\n\n## ")
}
