package document

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"stet/markdown"
	"stet/templates/lexicon"
	"stet/vault"
)

// TextsOf are the texts of the documents of a file.
func TextsOf(data []byte, byMessage bool) [][]byte {
	if !byMessage {
		return [][]byte{data}
	}
	var out [][]byte
	for _, s := range MessagesOf(markdown.Parse(data)) {
		out = append(out, data[s.Start:s.End])
	}
	return out
}

// toolLength is how many words a result of a tool counts for at most where lengths are compared: the few that are as
// long as a file would make every text that somebody wrote a short one.
const toolLength = 300

// The sides of a conversation.
const (
	SideUser = iota
	SideAssistant
	SideTool
	SideSystem
)

// sideOf reads a role. Whoever is none of the machine's roles is a person.
func sideOf(role string) uint8 {
	switch strings.ToLower(role) {
	case "assistant", "model", "agent", "ai":
		return SideAssistant
	case "tool", "function", "tool_result":
		return SideTool
	case "system", "developer":
		return SideSystem
	}
	return SideUser
}

// MessageName is the name a message is stored under.
func MessageName(number int) string { return "m:" + strconv.Itoa(number) }

// Transcript makes one document of each message. A file without message
// headings is one message, number 0.
func (a *Analyzer) Transcript(data []byte, f vault.File) ([]*Document, Record) {
	d := markdown.Parse(data)
	m := Conversation(f.Path, d)
	var docs []*Document
	var lens [lengthFields]uint32
	t := transcriptMeta{}
	spans := MessagesOf(d)
	lost := false
	attached := func(string) []byte { return nil }
	if a.Files != nil {
		attached = Attachments(a.Files, f.Path)
	}
	read := func(name string) []byte {
		text := attached(name)
		lost = text == nil
		return text
	}
	var flags uint8
	for i, s := range spans {
		lost = false
		doc := a.message(data, &s, read)
		if i == 0 && !echoes(m.Title, data, spans) {
			a.words(&doc.Bags[FieldTitle], []byte(m.Title))
		}
		a.end(doc)
		docs = append(docs, doc)
		lens[lengthSlot(FieldBody)] += uint32(doc.Bags[FieldBody].Length)
		facts := factsOf(data, &s, doc.dated)
		if facts.Uncovered = lost; lost {
			flags |= FlagUncovered
		}
		if facts.Side == SideSystem {
			flags |= FlagSystem
		}
		t.Messages = append(t.Messages, facts)
	}
	r := newRecord(m, data, f, lens)
	r.Flags |= flags
	r.Meta += encodeMessages(t.Messages)
	return docs, r
}

// echoes reports a title that is the first words of what was said, as an importer
// or the sealing makes one where nobody gave any. It says nothing that its message
// does not, and would count that twice.
func echoes(title string, data []byte, spans []markdown.MessageSpan) bool {
	said := spans[0]
	for _, s := range spans {
		if sideOf(s.Role) == SideUser {
			said = s
			break
		}
	}
	if said.Attached != "" {
		return false
	}
	// As many words as the title has, with room for marks between them.
	text := markdown.StripInjected(said.Text(data))
	text = text[:min(len(text), 4*len(title)+256)]
	whole, cut := strings.CutSuffix(title, "…")
	var words, first []string
	Tokenize([]byte(whole), func(t Token) { words = append(words, t.Term) })
	Tokenize(text, func(t Token) { first = append(first, t.Term) })
	if cut && len(words) > 1 {
		words = words[:len(words)-1] // half a word, it may be
	}
	return len(words) <= len(first) && slices.Equal(words, first[:len(words)])
}

// Conversation reads the front matter of a transcript. Its title is never
// looked for in the text: that would mean reading all of it as Markdown.
func Conversation(p vault.Path, d *markdown.Document) vault.Memory {
	m := vault.Memory{Path: p, Class: vault.ClassSession, Scope: vault.ScopeOf(p), Body: d.Body()}
	for key, into := range map[string]*string{"id": &m.ID, "title": &m.Title, "superseded_by": &m.SupersededBy, "origin": &m.Source} {
		v, _ := d.Meta(key)
		*into = strings.TrimSpace(v.Text())
	}
	m.Private = d.Private()
	v, _ := d.Meta("pinned")
	m.Pinned, _ = v.Bool()
	v, _ = d.Meta("supersedes")
	m.Supersedes = v.List()
	v, _ = d.Meta("started")
	m.Created, _ = v.Time()
	return m
}

// MessagesOf are the messages of a transcript, or the whole body as one.
func MessagesOf(d *markdown.Document) []markdown.MessageSpan {
	if list := d.Messages(); len(list) > 0 {
		return list
	}
	end := len(d.Bytes())
	start := end - len(d.Body())
	return []markdown.MessageSpan{{Start: start, End: end, TextStart: start, TextEnd: end}}
}

// message indexes one message: its words, its names, who said it and on which
// day. The document is still under way.
func (a *Analyzer) message(data []byte, s *markdown.MessageSpan, attached func(string) []byte) *Document {
	d := a.begin(MessageName(s.Number), s.TextEnd-s.TextStart)
	for _, part := range Spoken(data, s, attached) {
		a.speech(d, part.Text)
		Identifiers(part.Text, func(name string, _, _ int) { d.Bags[FieldIdent].add(name, 1) })
	}
	if body := &d.Bags[FieldBody]; sideOf(s.Role) == SideTool {
		body.Length = min(body.Length, toolLength)
	}
	head := s.Name
	if !s.Time.IsZero() {
		head += s.Time.Format(" 2 January 2006")
	}
	Tokenize([]byte(head), func(t Token) {
		if w := a.stems.Stem(t.Term); d.Bags[FieldHead].find(w) == nil {
			d.Bags[FieldHead].add(w, 1)
		}
	})
	return d
}

// A Part is a text of a message, and where in the transcript it stands or is named.
type Part struct {
	Text  []byte
	At    int
	given []byte // of the arguments of a call: as they were given
}

// Said is the text without the keys of arguments: those are the tool's, and stand in every call of it.
func (p *Part) Said() []byte {
	if p.given == nil {
		return p.Text
	}
	return arguments(p.given, false)
}

// Spoken are the texts of a message that are searched, all of each: what was said, and of every call its name and its
// arguments. What stet itself put before a model was not said by anybody. attached reads a text that stands in a file
// of its own, nil where that cannot be read or is no text; a nil attached reads none.
func Spoken(data []byte, s *markdown.MessageSpan, attached func(name string) []byte) []Part {
	text := s.Text(data)
	if s.Attached != "" {
		text = nil
		if attached != nil {
			text = attached(s.Attached)
		}
	}
	out := []Part{{Text: markdown.StripInjected(text), At: s.TextStart}}
	for _, c := range s.Calls {
		given := c.Arguments(data)
		out = append(out, Part{Text: []byte(c.Name), At: c.Start}, Part{Arguments(given), c.Start, given})
	}
	return out
}

// Attachments reads the texts that stand in files of their own beside the transcript at p. The name of such a file
// holds the hash of its text, so that it need not be looked at again.
func Attachments(src FileReader, p vault.Path) func(name string) []byte {
	return func(name string) []byte {
		data, _, err := src.ReadFile(vault.Path(p.Dir() + "/" + markdown.AttachmentDir(p.Base()) + "/" + name))
		if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return nil
		}
		return data
	}
}

// Arguments is what a call was given, as text: JSON with each text in it as it was before it was written as JSON, on
// lines of its own behind its key; anything else as it stands.
func Arguments(raw []byte) []byte { return arguments(raw, true) }

func arguments(raw []byte, keys bool) []byte {
	var out bytes.Buffer
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	key, inObject := false, []bool{} // whether a key comes next, and what is open
	for {
		t, err := in.Token()
		if err == io.EOF && (out.Len() > 0 || !keys) && len(inObject) == 0 {
			return out.Bytes()
		} else if err != nil {
			return raw
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			inObject = append(inObject, t == json.Delim('{'))
		case json.Delim('}'), json.Delim(']'):
			inObject = inObject[:len(inObject)-1]
		default:
			if !key {
				fmt.Fprint(&out, t, "\n")
			} else if keys {
				fmt.Fprint(&out, t, ": ")
			}
			key = !key
		}
		if len(inObject) == 0 || !inObject[len(inObject)-1] {
			key = false
		} else if _, opens := t.(json.Delim); opens {
			key = true
		}
	}
}

// speech indexes stemmed words and the parts of camel case. No positions:
// phrases are looked up in the text of the best.
func (a *Analyzer) speech(d *Document, text []byte) {
	body := &d.Bags[FieldBody]
	Tokenize(text, func(t Token) {
		body.add(a.stems.Stem(t.Term), 1)
		d.dated = d.dated || tellsTime(t.Term)
		CamelParts(text[t.Start:t.End], func(part []byte) {
			body.add(a.stems.Stem(string(bytes.ToLower(part))), 1)
		})
	})
}

// Message is what ranking and filters must know of a message without
// reading it.
type Message struct {
	Number int
	// Start and End enclose it in the file that was indexed.
	Start, End int
	At         int64 // seconds since 1970, when hasTime
	Side       uint8
	Asks       bool // ends with a question mark
	Dated      bool // its text says when something was: "yesterday", "in May"
	// Uncovered says that its text stands in a file that is binary or missing, and so is not searched.
	Uncovered bool
	hasAt     bool
}

func factsOf(data []byte, s *markdown.MessageSpan, dated bool) Message {
	f := Message{Number: s.Number, Start: s.Start, End: s.End, Side: sideOf(s.Role), Dated: dated}
	if !s.Time.IsZero() {
		f.At, f.hasAt = s.Time.Unix(), true
	}
	if s.Attached == "" {
		text := bytes.TrimSpace(s.Text(data))
		f.Asks = bytes.HasSuffix(text, []byte("?")) || bytes.HasSuffix(text, []byte("？"))
	}
	return f
}

// The bits in which the facts of a message are stored, above the side.
const (
	bitAsks = 4 << iota
	bitDated
	bitTime
	bitUncovered
)

// encodeMessages is what the record of a transcript has behind its meta.
func encodeMessages(list []Message) string {
	b := binary.AppendUvarint(nil, uint64(len(list)))
	number, start, at := 0, 0, int64(0)
	for _, f := range list {
		bits := f.Side
		for bit, on := range map[uint8]bool{
			bitAsks: f.Asks, bitDated: f.Dated, bitTime: f.hasAt, bitUncovered: f.Uncovered,
		} {
			if on {
				bits |= bit
			}
		}
		b = append(b, bits)
		b = binary.AppendVarint(b, int64(f.Number-number))
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(f.Start-start)), uint64(f.End-f.Start))
		number, start = f.Number, f.Start
		if f.hasAt {
			b = binary.AppendVarint(b, f.At-at)
			at = f.At
		}
	}
	return string(b)
}

// A transcriptMeta is the meta of a transcript.
type transcriptMeta struct {
	Meta
	Messages []Message
}

// DecodeTranscript reads the messages in the meta of a transcript; what cannot be read is zero.
func DecodeTranscript(s string) []Message {
	r := Reader{s: s}
	r.meta()
	messages := make([]Message, r.Count(4))
	number, start, at := int64(0), 0, int64(0)
	for i := range messages {
		f := &messages[i]
		bits := uint8(0)
		if b := r.Take(1); b != "" {
			bits = b[0]
		}
		f.Side, f.Asks, f.Dated = bits&3, bits&bitAsks != 0, bits&bitDated != 0
		f.hasAt, f.Uncovered = bits&bitTime != 0, bits&bitUncovered != 0
		number += r.Varint()
		f.Number = int(number)
		start += int(r.Uvarint())
		f.Start, f.End = start, start+int(r.Uvarint())
		if f.hasAt {
			at += r.Varint()
			f.At = at
		}
	}
	return messages
}

// tellsTime reports a word that says when something was or will be.
func tellsTime(term string) bool {
	return timeWords()[term] || len(term) == 4 && (term[:2] == "19" || term[:2] == "20") && strings.Trim(term, "0123456789") == ""
}

var timeWords = sync.OnceValue(func() map[string]bool { return lexicon.Words("time", "en") })
