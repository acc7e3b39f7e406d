package gitstore

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// An Ignore answers whether git would ignore an untracked path. Rules of a
// folder are added as a walk enters it. Nothing in a folder that is itself ignored
// can be re-included, as in git.
type Ignore struct {
	patterns []pattern
	fold     bool  // core.ignorecase
	all      *Rule // by which everything is ignored, whatever other rules say
}

// Everything returns rules that ignore every path, by rule: those of a folder that is
// itself ignored.
func (ig *Ignore) Everything(rule Rule) *Ignore { return &Ignore{all: &rule} }

// A Rule is one line of an ignore file.
type Rule struct {
	File string // as git check-ignore would name it
	Line int
	Text string
}

// Ignore loads the rules that hold everywhere: core.excludesFile (or its
// default) and info/exclude.
func (r *Repo) Ignore() (*Ignore, error) {
	ig := &Ignore{fold: r.config.Bool("core", "ignorecase", false)}
	if global := r.userFile("excludesfile", "ignore"); global != "" {
		if data, err := readPlain(global); err == nil {
			ig.patterns = appendRules(ig.patterns, global, "", data)
		}
	}
	data, _, err := r.root.ReadFile("info/exclude", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ig.patterns = appendRules(ig.patterns, ".git/info/exclude", "", data)
	return ig, nil
}

// In returns the rules for folder dir (slash-separated, "" for the top of the
// working tree) whose .gitignore holds data. The receiver is left as it is, so
// a walk may keep both.
func (ig *Ignore) In(dir string, data []byte) *Ignore {
	if len(data) == 0 || ig.all != nil {
		return ig
	}
	have := ig.patterns[:len(ig.patterns):len(ig.patterns)]
	return &Ignore{patterns: appendRules(have, join(dir, ".gitignore"), dir, data), fold: ig.fold}
}

// Match reports whether path (slash-separated, below the top of the working
// tree) or a folder above it is ignored, and by which rule. The last rule that
// matches decides.
func (ig *Ignore) Match(path string, isDir bool) (Rule, bool) {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	return ig.Below(dir).Match(name, isDir)
}

// A Below answers for the names in one folder.
type Below struct {
	dir      string // with its slash; "" is the top
	fold     bool
	patterns []*pattern // those that can match a name in the folder
	all      *Rule
	edges    *[256]edge // by letter; nil: a pattern may match any name
}

// An edge says of a letter where a name has it that a pattern may match: most names have no such letter there, and a
// walk asks about each.
type edge struct{ first, last bool }

// Below prepares the rules for folder dir, "" for the top of the working tree.
func (ig *Ignore) Below(dir string) Below {
	b := ig.choose("")
	for part := range strings.SplitSeq(dir, "/") {
		if part == "" {
			continue
		}
		if rule, hidden := b.Match(part, true); hidden {
			return Below{all: &rule}
		}
		b = ig.choose(b.dir + part + "/")
	}
	return b
}

// choose leaves out the patterns that begin with the name of another folder.
func (ig *Ignore) choose(dir string) Below {
	b := Below{dir: dir, fold: ig.fold, all: ig.all}
	for i := range ig.patterns {
		p := &ig.patterns[i]
		n := min(len(p.begins), len(dir))
		if ig.fold || p.begins[:n] == dir[:n] {
			b.patterns = append(b.patterns, p)
		}
	}
	if !ig.fold {
		b.edges = edgesOf(b.patterns, dir)
	}
	return b
}

func edgesOf(patterns []*pattern, dir string) *[256]edge {
	out := &[256]edge{}
	for _, p := range patterns {
		begins := p.glob[:p.literal]
		if !p.anywhere {
			begins = p.begins[min(len(dir), len(p.begins)):]
		}
		switch {
		case begins != "":
			out[begins[0]].first = true
		case p.tail != "":
			out[p.tail[len(p.tail)-1]].last = true
		default:
			return nil
		}
	}
	return out
}

// Match is [Ignore.Match] of the folder's file or folder with that name.
func (b Below) Match(name string, isDir bool) (Rule, bool) {
	if b.all != nil {
		return *b.all, true
	}
	if b.edges != nil && name != "" && !b.edges[name[0]].first && !b.edges[name[len(name)-1]].last {
		return Rule{}, false
	}
	path := ""
	for _, p := range slices.Backward(b.patterns) {
		subject := name
		if !p.anywhere {
			if path == "" {
				path = b.dir + name
			}
			subject = path
		}
		if (isDir || !p.folder) && p.matches(b.dir, subject, b.fold) {
			return p.rule, !p.negative
		}
	}
	return Rule{}, false
}

// A pattern is a rule as git takes it apart (gitignore(5), "PATTERN FORMAT").
type pattern struct {
	rule     Rule
	base     string // the folder of its file, with its slash
	begins   string // what a path begins with that it matches
	literal  int    // bytes of glob before its first special one
	tail     string // what follows its last one
	glob     string // without the marks of the next three
	negative bool   // "!": re-includes
	folder   bool   // ends in a slash: matches folders alone
	anywhere bool   // no slash: matches names in every folder below base
}

func appendRules(to []pattern, file, dir string, data []byte) []pattern {
	n, base := 0, ""
	if dir != "" {
		base = dir + "/"
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		n++
		line = strings.TrimSuffix(line, "\r")
		text, _, _ := strings.Cut(line, "\x00") // where git's lines end, too
		text = trimSpaces(text)
		if text == "" || text == "!" || line[0] == '#' {
			continue
		}
		p := newPattern(text, base)
		p.rule = Rule{file, n, line}
		to = append(to, p)
	}
	return to
}

// newPattern takes a pattern apart that stands in a file of folder base, which ends in a slash
// or is "".
func newPattern(text, base string) pattern {
	p := pattern{base: base, begins: base}
	text, p.negative = strings.CutPrefix(text, "!")
	text, p.folder = strings.CutSuffix(text, "/")
	p.anywhere = !strings.Contains(text, "/")
	p.glob = strings.TrimPrefix(text, "/")
	if p.literal = strings.IndexAny(p.glob, `*?[\`); p.literal < 0 {
		p.literal = len(p.glob)
	}
	p.tail = p.glob[strings.LastIndexAny(p.glob, `*?[]\`)+1:]
	if !p.anywhere {
		p.begins += p.glob[:p.literal]
	}
	return p
}

// trimSpaces takes the spaces at the end of a line away that no backslash keeps.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		}
		if i < len(line) && line[i] == ' ' && (i == 0 || line[i-1] != '\\') {
			continue
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// matches takes the name of what lies in folder dir where the pattern is for
// names anywhere, else its path.
func (p *pattern) matches(dir, subject string, fold bool) bool {
	if p.anywhere {
		return (fold || strings.HasSuffix(subject, p.tail)) && hasPrefix(dir, p.base, fold) && glob(p.glob, subject, fold)
	}
	return hasPrefix(subject, p.begins, fold) && glob(p.glob[p.literal:], subject[len(p.begins):], fold)
}

func hasPrefix(s, prefix string, fold bool) bool {
	if !fold || len(s) < len(prefix) {
		return strings.HasPrefix(s, prefix)
	}
	for i := range len(prefix) {
		if lower(s[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}

// Exclude adds one pattern to info/exclude unless it is there: for files that
// this clone alone must not track.
func (r *Repo) Exclude(pattern string) error {
	data, _, err := r.root.ReadFile("info/exclude", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.TrimSpace(line) == pattern {
			return nil
		}
	}
	if err := r.root.MkdirAll("exclude", "info", 0o777); err != nil {
		return err
	}
	return r.root.Append("exclude", "info/exclude", []byte(pattern+"\n"), 0o666, true)
}
