package ran

import (
	"path"
	"slices"
	"strings"
)

// idleProgram reports a program that changes nothing and checks nothing.
func idleProgram(program string) bool {
	return slices.Contains(strings.Fields(`cd echo ls cat head tail grep rg find wc pwd which sleep sort uniq true
		export set printf less tree stat file awk cut tr fg jobs`), path.Base(program))
}

// split parts a line of a shell into its commands, at what joins them outside of quotes.
func split(command string) (out []string) {
	from, quote := 0, byte(0)
	var texts [][]string // the heredocs whose text begins with the next line
	end := func(at, next int) {
		out, from = append(out, command[from:at]), next
	}
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\n':
			end(i, i+1)
			for _, m := range texts {
				from += heredoc(command[from:], m[2], m[1] == "-")
			}
			i, texts = from-1, nil
		case strings.HasPrefix(command[i:], "<<<"):
			i += 2
		case strings.HasPrefix(command[i:], "$(("):
			i += max(2, strings.Index(command[i:], "))"))
		case c == '<':
			if m := forms().heredoc.FindStringSubmatch(command[i:]); m != nil {
				texts = append(texts, m)
				i += len(m[0]) - 1
			}
		case c == ';' || c == '|':
			end(i, i+1)
		case c == '&' && strings.HasPrefix(command[i:], "&&"):
			i++
			end(i-1, i+1)
		}
	}
	end(len(command), len(command))
	return out
}

// heredoc is how long a text is, with the line of the word that ends it; all of it where none does.
func heredoc(text, word string, tabs bool) (n int) {
	for line := range strings.Lines(text) {
		n += len(line)
		if line = strings.TrimRight(line, "\r\n"); tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == word {
			break
		}
	}
	return n
}

// parts are the commands of a line that do something, without where they are run and where their output goes.
func parts(command string) (out []string) {
	for _, p := range split(forms().redirected.ReplaceAllString(command, "")) {
		p = strings.TrimSpace(p)
		if fields := strings.Fields(forms().assigned.ReplaceAllString(p, "")); len(fields) > 0 &&
			!idleProgram(fields[0]) && !strings.HasPrefix(p, "#") {
			out = append(out, strings.Join(strings.Fields(p), " "))
		}
	}
	return out
}

// plain is a line of a shell as two that do the same have it in common.
func plain(command string) string {
	if p := parts(command); len(p) > 0 {
		return strings.Join(p, " && ")
	}
	return strings.Join(strings.Fields(command), " ")
}

// onlyLooks reports a command that only looks at something.
func onlyLooks(command string) bool {
	for _, p := range parts(command) {
		f := strings.Fields(forms().assigned.ReplaceAllString(p, ""))
		switch {
		case f[0] == "sed" && !strings.Contains(p, " -i"):
		case f[0] == "git" && len(f) > 1 && slices.Contains([]string{"status", "log", "diff", "show", "branch"}, f[1]):
		default:
			return false
		}
	}
	return true
}

// A check is what one command looks after: a program, what it is to do, and on what.
type check struct {
	does string   // "go test", "golangci-lint run"
	on   []string // what stands behind it, without flags
}

func checks(command string) (out []check) {
	for _, p := range parts(command) {
		f := strings.Fields(forms().assigned.ReplaceAllString(p, ""))
		c := check{does: path.Base(f[0])}
		rest := f[1:]
		if len(rest) > 0 && isWord(rest[0]) {
			c.does, rest = c.does+" "+rest[0], rest[1:]
		} else if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			c.does, rest = c.does+" "+path.Base(rest[0]), rest[1:] // python3 build.py
		}
		for _, a := range rest {
			if !strings.HasPrefix(a, "-") {
				c.on = append(c.on, a)
			}
		}
		out = append(out, c)
	}
	return out
}

func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }) < 0 &&
		s[0] != '-'
}

// How surely a later command looks after what an earlier one did.
const (
	another  = iota
	likeIt   // the same program for the same purpose, on something else
	sameWork // on the same, on all, or on something in common
	sameLine
)

// again says how surely command b runs what command a ran.
func again(a, b string) int {
	if plain(a) == plain(b) {
		return sameLine
	}
	best := another
	later := checks(b)
	for _, one := range checks(a) {
		for _, two := range later {
			if one.does != two.does {
				continue
			}
			best = max(best, likeIt)
			if len(one.on) == 0 || len(two.on) == 0 || slices.ContainsFunc(two.on, func(s string) bool {
				return strings.HasSuffix(s, "...") || slices.Contains(one.on, s)
			}) {
				best = sameWork
			}
		}
	}
	return best
}
