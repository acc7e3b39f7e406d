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
}

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
	if len(data) == 0 {
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
	var parts []string
	for i := len(ig.patterns) - 1; i >= 0; i-- {
		if !ig.patterns[i].guess.possible(path) {
			continue
		}
		if parts == nil {
			parts = strings.Split(path, "/")
		}
		switch ig.patterns[i].Match(parts, isDir) {
		case gitignore.Exclude:
			return ig.patterns[i].rule, true
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
	if g.head == "" && g.tail == "" {
		return true
	}
	if !strings.Contains(path, g.head) || !strings.Contains(path, g.tail) {
		return false
	}
	for len(path) > 0 {
		name, rest, _ := strings.Cut(path, "/")
		if strings.HasPrefix(name, g.head) && strings.HasSuffix(name, g.tail) {
			return true
		}
		path = rest
	}
	return false
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
