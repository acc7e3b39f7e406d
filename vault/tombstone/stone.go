package tombstone

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"stet/markdown"
)

// Dir is the folder of tombstones in a vault, tracked: a rejection travels with it.
const Dir = ".stet/tombstones"

// The actions that leave a tombstone.
const (
	Revert  = "revert"
	Undo    = "undo"
	Reject  = "reject"
	Restore = "restore" // an older version took its place
	Forget  = "forget"
	Purge   = "purge"
)

// String is what was done, by whom and when.
func (s Stone) String() string {
	return fmt.Sprintf("%s by %s on %s", s.Action, cmp.Or(s.By, s.Actor), s.At.UTC().Format(time.DateOnly))
}

// A Stone says that one thing was rejected. Keys that are not known survive in
// the file, because stones are only ever written and removed whole.
type Stone struct {
	Action string
	At     time.Time
	By     string
	Actor  string // user, agent, ...
	// IDs are memories that were rejected as a whole.
	IDs []string
	// Within is the id, or the path, of a memory of which only a part was.
	Within string
	// TextHash is [Hash] of the rejected text: the lines that Blob has and Was
	// has not. Both are git blobs, Was is "" for a whole file.
	TextHash string
	// Words is how many different words the text has, 0 = not counted: a text of
	// another size need not be read to know that it is not this one.
	Words   int
	Blob    string
	Was     string
	Slot    string
	Session string // where the text came from
	Turns   []int
	Reverts string // the commit that brought it
}

// Encode renders stones as one file.
func Encode(stones []Stone) []byte {
	var b bytes.Buffer
	for _, s := range stones {
		b.Write(s.encode())
	}
	return b.Bytes()
}

func (s Stone) encode() []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	line("action", s.Action)
	line("at", s.At.UTC().Format(time.RFC3339))
	line("by", scalar(s.By))
	line("actor", scalar(s.Actor))
	if len(s.IDs) > 0 {
		ids := make([]string, len(s.IDs))
		for i, id := range s.IDs {
			ids[i] = scalar(id)
		}
		line("ids", "["+strings.Join(ids, ", ")+"]")
	}
	line("within", scalar(s.Within))
	line("text_hash", quoted(s.TextHash))
	if s.Words > 0 {
		line("words", strconv.Itoa(s.Words))
	}
	line("blob", quoted(s.Blob))
	line("was", quoted(s.Was))
	line("slot", scalar(s.Slot))
	line("session", scalar(s.Session))
	if len(s.Turns) > 0 {
		line("turns", strings.ReplaceAll(fmt.Sprint(s.Turns), " ", ", "))
	}
	line("reverts", quoted(s.Reverts))
	return b.Bytes()
}

// quoted guards a hash, which may be all digits or look like 1e10.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return `"` + s + `"`
}

// scalar writes a text so that YAML reads it as the same text: plain when it is
// made of letters that mean nothing else, else in double quotes.
func scalar(s string) string {
	plain := s != ""
	letter := false
	for i, r := range s {
		alpha := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		letter = letter || alpha && r != 'e' && r != 'E' && r != 'x' && r != 'o'
		plain = plain && (alpha || r >= '0' && r <= '9' || i > 0 && (r == '-' || r == '/' || r == '_' || r == ' ' && i < len(s)-1))
	}
	if plain && letter && !slices.Contains([]string{"true", "false", "yes", "no", "null", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	if s == "" {
		return ""
	}
	out, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: s, Tag: "!!str"})
	if err != nil {
		panic(fmt.Sprintf("yaml cannot quote %q: %v", s, err)) // it quotes every text
	}
	return strings.ReplaceAll(strings.TrimSuffix(string(out), "\n"), "\n", " ")
}

// A Part is one document of a file, with the bytes that hold it.
type Part struct {
	Stone
	Bytes []byte
	// Ignored is set for a document that is no stone, a comment for instance, or
	// cannot be read. It rejects nothing, Stone is zero, and its bytes are kept.
	Ignored bool
}

// Decode reads a file. The parts together are all its bytes, so that one can be
// taken out without touching the others. A part that is not readable is an
// error, with the others returned all the same: one bad line must not bring back
// everything else that was rejected.
func Decode(data []byte) ([]Part, error) {
	var parts []Part
	var errs []error
	for _, doc := range documents(data) {
		s, err := read(doc)
		errs = append(errs, err)
		ignored := err != nil || s.Action == ""
		if ignored {
			s = Stone{}
		}
		parts = append(parts, Part{Stone: s, Bytes: doc, Ignored: ignored})
	}
	return parts, errors.Join(errs...)
}

// read takes the keys of one document.
func read(doc []byte) (s Stone, err error) {
	first, rest, _ := bytes.Cut(doc, []byte("\n"))
	if strings.TrimRight(string(first), "\r") != "---" {
		rest = doc
	}
	d := markdown.Parse(slices.Concat([]byte("---\n"), rest, []byte("\n---\n")))
	if err := d.FrontMatterError(); err != nil {
		return s, err
	}
	for key, field := range map[string]*string{
		"action": &s.Action, "by": &s.By, "actor": &s.Actor, "within": &s.Within, "text_hash": &s.TextHash, "blob": &s.Blob,
		"was": &s.Was, "slot": &s.Slot, "session": &s.Session, "reverts": &s.Reverts,
	} {
		v, _ := d.Meta(key)
		*field = v.Text()
	}
	if v, ok := d.Meta("at"); ok {
		if s.At, ok = v.Time(); !ok {
			return s, fmt.Errorf("at: %q is no time", v.Text())
		}
		s.At = s.At.UTC()
	}
	ids, _ := d.Meta("ids")
	s.IDs = ids.List()
	if v, ok := d.Meta("words"); ok {
		if s.Words, err = strconv.Atoi(v.Text()); err != nil {
			return s, err
		}
	}
	turns, _ := d.Meta("turns")
	for _, text := range turns.List() {
		n, err := strconv.Atoi(text)
		if err != nil {
			return s, err
		}
		s.Turns = append(s.Turns, n)
	}
	return s, nil
}

// documents cuts before each line that is "---".
func documents(data []byte) [][]byte {
	var out [][]byte
	start, at := 0, 0
	for line := range bytes.Lines(data) {
		if at > start && bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte("---")) {
			out, start = append(out, data[start:at]), at
		}
		at += len(line)
	}
	if at > start {
		out = append(out, data[start:at])
	}
	return out
}

// Missing are the stones of a file that a later state of it does not have.
func Missing(before, after []byte) (out []Stone) {
	was, _ := Decode(before)
	now, _ := Decode(after)
	for _, p := range was {
		if !p.Ignored && !slices.ContainsFunc(now, func(n Part) bool { return bytes.Equal(n.Bytes, p.Bytes) }) {
			out = append(out, p.Stone)
		}
	}
	return out
}

// Join is the file that holds the parts.
func Join(parts []Part) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		b.Write(p.Bytes)
	}
	return b.Bytes()
}

// Merge is a three-way merge of one file: the parts that theirs added to base or
// took from it are added to ours or taken from it.
func Merge(base, ours, theirs []byte) []byte {
	has := func(file, doc []byte) bool {
		return slices.ContainsFunc(documents(file), func(d []byte) bool { return bytes.Equal(d, doc) })
	}
	var out []byte
	for _, d := range documents(ours) {
		if !has(base, d) || has(theirs, d) {
			out = append(out, d...)
		}
	}
	for _, d := range documents(theirs) {
		if !has(base, d) && !has(ours, d) {
			out = append(out, d...)
		}
	}
	return out
}
