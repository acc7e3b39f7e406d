package ran

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A Touch is what one conversation did with a file.
type Touch struct {
	Where            // of the first change, or else of the first time that it was read
	Files   []string `json:"files"` // the paths by which it was named, those that were changed first
	Changed int      `json:"changed"`
	Read    int      `json:"read"`
	Named   int      `json:"named,omitempty"` // by a command
	Line    string   `json:"line,omitempty"`  // the first line that the first change brought
	Last    int      `json:"last,omitempty"`  // the message of the last change

	changes []changed // when which file was changed
}

// A changed is the time at which a path was changed.
type changed struct {
	path string
	at   time.Time
}

// Touched finds the conversations that changed or read a file: those first that changed it, then those that read it,
// each with the newest first. Any of the names is enough: a file's name, the end of its path, or all of it.
func Touched(talks []*Talk, names ...string) []Touch {
	var out []Touch
	for i := range names {
		names[i] = slashed(names[i])
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	for _, t := range talks {
		if one, ok := t.touched(names); ok {
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b Touch) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), b.Time.Compare(a.Time), cmp.Compare(a.Path, b.Path))
	})
	return out
}

func (t *Touch) rank() int {
	switch {
	case t.Changed > 0:
		return 2
	case t.Read > 0:
		return 1
	}
	return 0
}

// Before is when the conversation had last changed a file before a moment, zero where it had not.
func (t *Touch) Before(file string, moment time.Time) (last time.Time) {
	for _, c := range t.changes {
		if same(c.path, file) && !c.at.After(moment) && c.at.After(last) {
			last = c.at
		}
	}
	return last
}

// Changes are the paths that the conversations changed, each once, and when the first of them was.
func Changes(list []Touch) (paths []string, since time.Time) {
	for _, t := range list {
		for _, c := range t.changes {
			if !slices.Contains(paths, c.path) {
				paths = append(paths, c.path)
			}
			if since.IsZero() || c.at.Before(since) {
				since = c.at
			}
		}
	}
	return paths, since
}

func (t *Talk) touched(file []string) (out Touch, ok bool) {
	best, first := 0, -1
	var read []string
	for i := range t.steps {
		may := func(n string) bool { return MayName(t.steps[i].raw, n) }
		if t.steps[i].result == 0 || !slices.ContainsFunc(file, may) {
			continue
		}
		s := t.step(i)
		does := 0
		for _, f := range s.files {
			if !slices.ContainsFunc(file, func(n string) bool { return same(f.path, n) }) {
				continue
			}
			switch {
			case s.failed:
			case f.writes:
				does = 3
				out.Changed++
				out.Last = s.message
				out.changes = append(out.changes, changed{f.path, s.when})
				out.Files = append(out.Files, f.path)
			default:
				does = max(does, 2)
				out.Read++
				read = append(read, f.path)
			}
		}
		if !s.refused && slices.ContainsFunc(file, func(n string) bool { return names(s.command, n) }) {
			does = max(does, 1)
			out.Named++
		}
		if does > best {
			best, first = does, i
		}
	}
	if first < 0 {
		return out, false
	}
	named := append(out.Files, read...)
	out.Files = nil
	for _, f := range named {
		if !slices.Contains(out.Files, f) {
			out.Files = append(out.Files, f)
		}
	}
	out.Where = t.where(first)
	s := &t.steps[first]
	if s.wrote() {
		_, out.Line = firstChange(s.before, s.after)
	}
	return out, true
}

func slashed(p string) string {
	p = strings.TrimPrefix(path.Clean(strings.ReplaceAll(strings.TrimSpace(p), `\`, "/")), "./")
	if p == "." || p == "/" {
		return ""
	}
	return p
}

// same reports that two paths may name one file: one is the end of the other.
func same(a, b string) bool {
	a, b = slashed(a), slashed(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a) && strings.Contains(a, "/")
}

// MayName reports whether a text may name a file, in JSON as well, where some characters are written in other ways.
func MayName(raw []byte, file string) bool {
	base := path.Base(file)
	other := func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune(`"\<>&`, r) }
	return strings.IndexFunc(base, other) >= 0 || bytes.Contains(raw, []byte(base))
}

// names reports a command that names a file.
func names(command, file string) bool {
	base := path.Base(file)
	if !strings.Contains(command, base) {
		return false
	}
	for _, w := range strings.FieldsFunc(command, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'=<>|&;(),:`+"`", r)
	}) {
		if same(w, file) || w == base {
			return true
		}
	}
	return false
}
