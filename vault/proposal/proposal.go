// Package proposal is the file in which a write by a machine waits for a person: its
// format. It does no I/O and knows no vault.
//
// A proposal is a Markdown file as it would be, with one line more in its front matter,
// the first; nothing else tells it from the memory that it may become:
//
//	---
//	proposal: {"v":1,"op":"remember","by":"robo",…,"files":[{"path":"memories/gate.md"}]}
//	id: 01jd7q8r5t9v3x6y2z4a7c0e1f
//	created: 2026-01-09T14:02:11Z
//	---
//	The gate code is 4711.
//
// The line is JSON, which is YAML as well. It says what the write does to which files,
// and holds the contents of all but the first, which the rest of the file is.
package proposal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault/tombstone"
)

// Dir is the folder of proposals in a vault.
const Dir = ".stet/proposals"

// ErrMalformed reports a file that is no proposal, or one of a later version.
var ErrMalformed = errors.New("it is no proposal")

const version = 1

// A Proposal is one write.
type Proposal struct {
	Version  int         `json:"v"`
	Op       string      `json:"op"`
	Subject  string      `json:"subject"`
	Body     string      `json:"body,omitempty"`
	At       time.Time   `json:"at"`
	Actor    string      `json:"actor"`
	By       string      `json:"by,omitempty"` // the agent's name
	Door     string      `json:"door,omitempty"`
	Session  string      `json:"session,omitempty"`
	Memories []string    `json:"memories,omitempty"`
	Reverts  []string    `json:"reverts,omitempty"`
	Extra    [][2]string `json:"extra,omitempty"` // other trailers of the commit
	Files    []File      `json:"files"`
	Waits    string      `json:"waits,omitempty"` // why it was not done at once, in words
	// Bare says that the first file has no front matter: what stands there is the
	// proposal's own.
	Bare bool `json:"bare,omitempty"`
}

// A File is what a write does to one file of the vault.
type File struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // where it was, of a rename
	Was  string `json:"was,omitempty"`  // the git blob that stood there; "" for a new file
	Gone bool   `json:"gone,omitempty"`
	Kept bool   `json:"kept,omitempty"` // it moves with the bytes it has: Text and Bytes are empty
	// Text is what it holds afterwards, Bytes that of what is not UTF-8; neither for
	// the first file, and none for what is gone.
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

// SetData says what a file holds.
func (f *File) SetData(data []byte) {
	if utf8.Valid(data) {
		f.Text, f.Bytes = string(data), nil
		return
	}
	f.Text, f.Bytes = "", data
}

// Data is what the file is to hold, of any but the first.
func (f File) Data() []byte {
	if f.Bytes != nil {
		return f.Bytes
	}
	return []byte(f.Text)
}

const key = "proposal: "

// Encode renders a proposal; main is what the first file is to hold, or of one that is
// to go what it holds now.
func Encode(p Proposal, main []byte) ([]byte, error) {
	p.Version = version
	first, rest, _ := bytes.Cut(main, []byte("\n"))
	fence := strings.TrimSuffix(strings.TrimPrefix(string(first), "\ufeff"), "\r")
	p.Bare = fence != "---" || markdown.Parse(main).BodyLine() == 1
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("encode a proposal: %w", err)
	}
	if p.Bare {
		return append([]byte("---\n"+key+line.String()+"---\n"), main...), nil
	}
	return bytes.Join([][]byte{first, append([]byte(key), bytes.TrimSuffix(line.Bytes(), []byte("\n"))...), rest}, []byte("\n")), nil
}

// Decode reads a proposal and what its first file is to hold. It fails with
// [ErrMalformed].
func Decode(data []byte) (p Proposal, main []byte, err error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	line, rest, ok := bytes.Cut(rest, []byte("\n"))
	text, found := bytes.CutPrefix(line, []byte(key))
	if !ok || !found {
		return p, nil, fmt.Errorf("%w: its second line does not begin with %q", ErrMalformed, key)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case p.Version != version:
		return p, nil, fmt.Errorf("%w: version %d is not known here", ErrMalformed, p.Version)
	case p.Op == "" || len(p.Files) == 0:
		return p, nil, fmt.Errorf("%w: it says nothing of what is to be done", ErrMalformed)
	case !p.Bare:
		return p, bytes.Join([][]byte{first, rest}, []byte("\n")), nil
	}
	_, main, ok = bytes.Cut(rest, []byte("\n"))
	if !ok {
		return p, nil, fmt.Errorf("%w: its front matter does not end", ErrMalformed)
	}
	return p, main, nil
}

// ID is the name of a proposal's file without its extension.
func ID(name string) string { return strings.TrimSuffix(path.Base(name), ".md") }

// Key is the same for two proposals that come to the same: ids and times aside.
func Key(p Proposal, main []byte) string {
	type file struct{ Path, From, Was, Now string }
	var files []file
	for n, f := range p.Files {
		if f.Was == "" && path.Dir(f.Path) == tombstone.Dir {
			continue // its name and text are those of a moment
		}
		now := ""
		if n > 0 && !f.Gone && !f.Kept {
			now = timeless(f.Data())
		}
		files = append(files, file{f.Path, f.From, f.Was, now})
	}
	if p.Replays() {
		files = nil // where it would stand depends on what else waits
	}
	return fmt.Sprintf("%s %q %s", p.Op, files, timeless(main))
}

// timeless is a file without its id and times; one that cannot be read is like nothing else.
func timeless(data []byte) string {
	doc := markdown.Parse(data)
	for _, own := range []string{"id", "created", "updated"} {
		if _, has := doc.Meta(own); has && doc.RemoveMeta(own) != nil {
			return string(data)
		}
	}
	return string(doc.Bytes())
}

// Slot is how a tombstone names a proposal that was rejected and is no text: what was to
// be done to which bytes.
func Slot(p Proposal, main []byte) string {
	sum := sha256.Sum256([]byte(Key(p, main)))
	return "proposal:" + p.Op + ":" + hex.EncodeToString(sum[:8])
}

// Replays reports a proposal of one new memory: it is compared with what is stored
// when it is accepted, and not as it was when it was made.
func (p Proposal) Replays() bool {
	return p.Op == "remember" && len(p.Files) == 1 && p.Files[0].Was == "" && p.Files[0].From == "" && !p.Files[0].Gone && strings.HasPrefix(p.Files[0].Path, "memories/")
}
