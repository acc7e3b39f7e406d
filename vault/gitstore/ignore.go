package gitstore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// An Ignore answers whether git would ignore an untracked path. Rules of a
// folder are added as a walk enters it, so a folder that is itself ignored is
// never entered and nothing in it can be re-included, as in git.
type Ignore struct {
	patterns []sourcedPattern
	all      *Rule // by which everything is ignored, whatever other rules say
}

// Everything returns rules that ignore every path, by rule: those of a folder that is
// itself ignored.
func (ig *Ignore) Everything(rule Rule) *Ignore { return &Ignore{all: &rule} }

type sourcedPattern struct {
	gitignore.Pattern
	rule  Rule
	guess guess
}

// A Rule is one line of an ignore file.
type Rule struct {
	File string // as git check-ignore would name it
	Line int
	Text string
}

// Ignore loads the rules that hold everywhere: core.excludesFile (or its
// default) and info/exclude.
func (r *Repo) Ignore() (*Ignore, error) {
	ig := &Ignore{}
	global := r.config.Get("core", "excludesfile")
	if rest, ok := strings.CutPrefix(global, "~/"); ok {
		global = filepath.Join(r.config.env("HOME"), rest)
	}
	if global == "" {
		global = filepath.Join(r.config.xdg(), "git", "ignore")
	}
	if filepath.IsAbs(global) {
		if data, err := readPlain(global); err == nil {
			ig.patterns = appendRules(ig.patterns, global, nil, data)
		}
	}
	data, _, err := r.root.ReadFile("info/exclude", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ig.patterns = appendRules(ig.patterns, ".git/info/exclude", nil, data)
	return ig, nil
}

// In returns the rules for folder dir (slash-separated, "" for the top of the
// working tree) whose .gitignore holds data. The receiver is left as it is, so
// a walk may keep both.
func (ig *Ignore) In(dir string, data []byte) *Ignore {
	if len(data) == 0 || ig.all != nil {
		return ig
	}
	var domain []string
	if dir != "" {
		domain = strings.Split(dir, "/")
	}
	have := ig.patterns[:len(ig.patterns):len(ig.patterns)]
	return &Ignore{patterns: appendRules(have, join(dir, ".gitignore"), domain, data)}
}

func appendRules(to []sourcedPattern, file string, domain []string, data []byte) []sourcedPattern {
	n := 0
	for text := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		n++
		text = strings.TrimSuffix(text, "\r")
		if strings.HasPrefix(text, "#") || strings.TrimSpace(text) == "" {
			continue
		}
		to = append(to, sourcedPattern{gitignore.ParsePattern(text, domain), Rule{file, n, text}, guessOf(text)})
	}
	return to
}

// Match reports whether path (slash-separated, below the top of the working
// tree) is ignored, and by which rule. The last rule that matches decides.
func (ig *Ignore) Match(path string, isDir bool) (Rule, bool) {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	return ig.Below(dir).Match(name, isDir)
}

// A Below answers for the names in one folder.
type Below struct {
	ig    *Ignore
	dir   string // with its slash; "" is the top
	above []bool // of each pattern: the folder's own path has what it asks for
}

// Below prepares the rules for folder dir, "" for the top of the working tree.
func (ig *Ignore) Below(dir string) Below {
	b := Below{ig: ig, above: make([]bool, len(ig.patterns))}
	if dir != "" {
		b.dir = dir + "/"
	}
	for i := range ig.patterns {
		b.above[i] = ig.patterns[i].guess.possible(dir)
	}
	return b
}

// Match is [Ignore.Match] of the folder's file or folder with that name.
func (b Below) Match(name string, isDir bool) (Rule, bool) {
	if b.ig.all != nil {
		return *b.ig.all, true
	}
	var parts []string
	for i := len(b.ig.patterns) - 1; i >= 0; i-- {
		p := &b.ig.patterns[i]
		if !b.above[i] && !p.guess.fits(name) {
			continue
		}
		if parts == nil {
			parts = strings.Split(b.dir+name, "/")
		}
		switch p.Match(parts, isDir) {
		case gitignore.Exclude:
			return p.rule, true
		case gitignore.Include:
			return Rule{}, false
		}
	}
	return Rule{}, false
}

// A guess is what any path that a pattern matches has: one of its names begins
// with head and ends with tail. Looking is some twenty times quicker than
// matching, and of all the files of a walk hardly any gets past it.
type guess struct{ head, tail string }

// guessOf reads a line of an ignore file as far as it must: the literal ends of
// its last name.
func guessOf(text string) guess {
	text = strings.TrimPrefix(text, "!")
	if !strings.HasSuffix(text, `\ `) {
		text = strings.TrimRight(text, " ")
	}
	text = strings.TrimSuffix(text, "/")
	name := text[strings.LastIndexByte(text, '/')+1:]
	const special = `*?[]\`
	first := strings.IndexAny(name, special)
	if first < 0 {
		return guess{name, name}
	}
	return guess{name[:first], name[strings.LastIndexAny(name, special)+1:]}
}

// possible reports whether a name of path has both ends.
func (g guess) possible(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if g.fits(name) {
			return true
		}
	}
	return false
}

func (g guess) fits(name string) bool {
	return strings.HasPrefix(name, g.head) && strings.HasSuffix(name, g.tail)
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
