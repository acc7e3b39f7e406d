package gitstore

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Attributes answers whether git would change a file's bytes between disk and
// object: stet stores bytes as they are and leaves such files to git.
type Attributes struct {
	stack    []attributeRule // rising priority
	info     []attributeRule // info/attributes, the highest
	autocrlf bool
	fold     bool // core.ignorecase
}

// An attributeRule is one line of an attributes file: what holds for the paths that a pattern
// matches, or for whatever has the attribute macro.
type attributeRule struct {
	pattern
	macro  string
	states []attributeState
}

// An attributeState is what a line says of one attribute: a value, or one of the next three.
type attributeState struct{ name, value string }

const (
	attributeSet         = "set"
	attributeUnset       = "unset"
	attributeUnspecified = "unspecified"
)

// attributeBlanks are what git takes for blanks in an attributes file.
const attributeBlanks = " \t\r\n"

// Attributes loads the rules that hold for the whole clone: core.attributesFile (or its
// default) and info/attributes.
func (r *Repo) Attributes() (*Attributes, error) {
	a := &Attributes{fold: r.config.Bool("core", "ignorecase", false)}
	a.autocrlf = strings.EqualFold(r.config.Get("core", "autocrlf"), "input") || r.config.Bool("core", "autocrlf", false)
	for _, file := range []string{"/etc/gitattributes", r.userFile("attributesfile", "attributes")} {
		if file == "" || r.config.env("GIT_ATTR_NOSYSTEM") != "" && file == "/etc/gitattributes" {
			continue
		}
		if data, err := readPlain(file); err == nil {
			a.stack = appendAttributes(a.stack, "", data, true)
		}
	}
	data, _, err := r.root.ReadFile("info/attributes", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	a.info = appendAttributes(nil, "", data, true)
	return a, nil
}

// userFile is the file that core.KEY names, else the person's default for it; "" for none.
func (r *Repo) userFile(key, otherwise string) string {
	name, given := r.config.lookup("core", key)
	if !given {
		return filepath.Join(r.config.xdg(), "git", otherwise)
	}
	if name == "" {
		return ""
	}
	return absFrom(r.loc.Worktree, r.config.expand(name))
}

// In returns the rules for what lies below folder dir ("" is the top), whose
// .gitattributes holds data. The receiver is left as it is.
func (a *Attributes) In(dir string, data []byte) *Attributes {
	if len(data) == 0 {
		return a
	}
	next := *a
	next.stack = appendAttributes(slices.Clip(a.stack), dir, data, dir == "")
	return &next
}

// appendAttributes reads the attributes file of a folder. Macros count only in those of the
// whole tree.
func appendAttributes(to []attributeRule, dir string, data []byte, macros bool) []attributeRule {
	base := ""
	if dir != "" {
		base = dir + "/"
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		line = strings.TrimLeft(line, attributeBlanks)
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.IndexAny(line+" ", attributeBlanks)
		text, rest := line[:end], line[end:]
		if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
			text, _ = strconv.Unquote(quoted) // a prefix that QuotedPrefix accepts
			rest = line[len(quoted):]
		}
		r := attributeRule{}
		if name, ok := strings.CutPrefix(text, "[attr]"); ok {
			if r.macro = name; !macros || !attributeName(name) {
				continue
			}
		} else if r.pattern = newPattern(text, base); r.negative || text == "" {
			continue // git warns of such a line and passes over it
		}
		var ok bool
		if r.states, ok = attributeStates(rest); ok {
			to = append(to, r)
		}
	}
	return to
}

// attributeStates reads what stands behind a pattern; false for a line that git passes over.
func attributeStates(text string) (out []attributeState, ok bool) {
	blank := func(r rune) bool { return strings.ContainsRune(attributeBlanks, r) }
	for word := range strings.FieldsFuncSeq(text, blank) {
		s := attributeState{word, attributeSet}
		switch name, value, given := strings.Cut(word, "="); {
		case word[0] == '-':
			s = attributeState{strings.TrimPrefix(name, "-"), attributeUnset}
		case word[0] == '!':
			s = attributeState{strings.TrimPrefix(name, "!"), attributeUnspecified}
		case given:
			s = attributeState{name, value}
		}
		if !attributeName(s.name) {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// attributeName reports a name that git accepts.
func attributeName(s string) bool {
	const letters = "-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return s != "" && s[0] != '-' && strings.Trim(s, letters) == ""
}

// of is what holds for a path: the last rule that says something of an attribute decides.
func (a *Attributes) of(path string) map[string]string {
	rules := slices.Concat(a.stack, a.info)
	macros := map[string][]attributeState{"binary": {
		{"diff", attributeUnset}, {"merge", attributeUnset}, {"text", attributeUnset}}}
	for _, r := range rules {
		if r.macro != "" {
			macros[r.macro] = r.states
		}
	}
	found := map[string]string{}
	var fill func([]attributeState)
	fill = func(states []attributeState) {
		for _, s := range slices.Backward(states) {
			if _, known := found[s.name]; known {
				continue
			}
			if found[s.name] = s.value; s.value == attributeSet {
				fill(macros[s.name])
			}
		}
	}
	cut := strings.LastIndexByte(path, '/') + 1
	for _, r := range slices.Backward(rules) {
		subject := path
		if r.anywhere {
			subject = path[cut:]
		}
		if r.macro == "" && !r.folder && r.matches(path[:cut], subject, a.fold) {
			fill(r.states)
		}
	}
	return found
}

// Converts names the attribute by which git would store other bytes for path
// than data, "" when it would store these. Line endings count only where data
// has a CRLF.
func (a *Attributes) Converts(path string, data []byte) string {
	found := a.of(path)
	on := func(name string) bool {
		v, known := found[name]
		return known && v != attributeUnset && v != attributeUnspecified
	}
	for _, name := range []string{"filter", "working-tree-encoding", "ident"} {
		if on(name) {
			return name
		}
	}
	if found["text"] == attributeUnset || !bytes.Contains(data, []byte("\r\n")) {
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
