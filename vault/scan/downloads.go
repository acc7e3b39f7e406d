package scan

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// downloads are the files that lines fetched: by name, the last line that fetched it from an address that is not
// dubious, and from one that is. Lines count from 1; 0 is none.
type downloads map[string][2]int

// fetches finds a line that fetches something, and one from an address that is dubious.
var fetches = sync.OnceValue(func() [2]rule {
	var out [2]rule
	for i, from := range []string{``, dubious} {
		out[i] = rule{words: strings.Fields("curl wget iwr irm invoke-"),
			expr: regexp.MustCompile("(?i)" + fetch + ".*" + from)}
	}
	return out
})

// Parts of a command line: a character of a word, which neither quotes it nor ends the command; a word; flags. What
// reaches beyond the end of a command would be read again from each command of a line, in quadratic time.
const (
	inWord = `[^\s"';&|<>()` + "`" + `]`
	word   = `["']?([^\s"';&|<>()` + "`" + `-]` + inWord + `*)`
	flags  = `(?:-` + inWord + `+\s+)*`
)

// targets finds where a line puts what it fetches: in a file that it names, else in one named as the address ends.
var targets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\s-outfile|\s-[a-z]*o|\s--output(?:-document)?|>)[=\s]*` + word +
		`|(?:https?://|\s["']?(?:[\w-]+\.)+[a-z]{2,})[^\s"';&|<>]*/([^\s"';&|<>/?#]+)`)
})

// start is where a command may begin: at the beginning of a line of a script, a list, a transcript or a recipe, after
// what ends another command, and after a word that takes one.
const start = `(?:^\s*(?:(?:[$#%>*+-]|\d+[.)])\s+)*|[;&|]\s*)["']?|[({` + "`" + `]\s*|` +
	`\b(?:then|do|else|sudo|exec|nohup|time|command|env|nice|setsid|run:?)\s+` + flags + `["']?`

// starts finds the files that a line runs, or makes executable.
var starts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)(?:" + start + `)(?:\w+=` + inWord + `*\s+)*(?:` +
		`(?:` + shell + `|python[\d.]*|perl|ruby|node|source|\.)\s+` + flags + `(?:<\s*)?|` +
		`chmod\s+(?:[ugoa]*\+\w*x\w*|[0-7]{3,4})\s+|(?:~|\$\{?HOME\}?|\.{0,2})/)` + word +
		`|\bcat\s+` + word + `\s*\|\s*` + shell)
})

// run is the verdict on a line that runs what it, or one of those before, fetched; "" where it does not.
func (d downloads) run(at int, line, lower string) (worst Verdict) {
	if known := fetches(); known[0].finds(line, lower) {
		from := 0
		if known[1].finds(line, lower) {
			from = 1
		}
		for _, m := range targets().FindAllStringSubmatch(line, -1) {
			name := path.Base(m[1] + m[2])
			lines := d[name]
			lines[from] = at + 1
			d[name] = lines
		}
	}
	if len(d) == 0 {
		return ""
	}
	for _, m := range starts().FindAllStringSubmatch(line, -1) {
		for from, v := range []Verdict{Look, Danger} {
			if n := d[path.Base(m[1]+m[2])][from]; n > 0 && at+1-n <= near && worst != Danger {
				worst = v
			}
		}
	}
	return worst
}
