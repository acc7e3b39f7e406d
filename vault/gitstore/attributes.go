package gitstore

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitattributes"
)

// Attributes answers whether git would change a file's bytes between disk and
// object: stet stores bytes as they are and leaves such files to git.
type Attributes struct {
	stack    []gitattributes.MatchAttribute // rising priority
	info     []gitattributes.MatchAttribute // info/attributes, the highest
	autocrlf bool
}

// Attributes loads the rules that hold for the whole clone.
func (r *Repo) Attributes() (*Attributes, error) {
	a := &Attributes{}
	if v := strings.ToLower(r.config.Get("core", "autocrlf")); v == "input" || r.config.Bool("core", "autocrlf", false) {
		a.autocrlf = true
	}
	data, _, err := r.root.ReadFile("info/attributes", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	a.info, err = gitattributes.ReadAttributes(bytes.NewReader(data), nil, true)
	return a, err
}

// In returns the rules for what lies below folder dir ("" is the top), whose
// .gitattributes holds data. The receiver is left as it is.
func (a *Attributes) In(dir string, data []byte) (*Attributes, error) {
	if len(data) == 0 {
		return a, nil
	}
	var domain []string
	if dir != "" {
		domain = strings.Split(dir, "/")
	}
	more, err := gitattributes.ReadAttributes(bytes.NewReader(data), domain, dir == "")
	if err != nil {
		return nil, err
	}
	return &Attributes{stack: append(a.stack[:len(a.stack):len(a.stack)], more...), info: a.info, autocrlf: a.autocrlf}, nil
}

// Converts names the attribute by which git would store other bytes for path
// than data, "" when it would store these. Line endings count only where data
// has a CRLF.
func (a *Attributes) Converts(path string, data []byte) string {
	stack := append(a.stack[:len(a.stack):len(a.stack)], a.info...)
	found, _ := gitattributes.NewMatcher(stack).Match(strings.Split(path, "/"),
		[]string{"filter", "ident", "working-tree-encoding", "text", "eol", "crlf"})
	on := func(name string) bool {
		v := found[name]
		return v != nil && (v.IsSet() || v.IsValueSet())
	}
	for _, name := range []string{"filter", "working-tree-encoding", "ident"} {
		if on(name) {
			return name
		}
	}
	off := found["text"] != nil && found["text"].IsUnset()
	if off || !bytes.Contains(data, []byte("\r\n")) {
		return ""
	}
	for _, name := range []string{"text", "eol", "crlf"} {
		if on(name) {
			return name
		}
	}
	if a.autocrlf {
		return "core.autocrlf"
	}
	return ""
}
