package ran

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/index/document"
)

// A Command is one that was run and succeeded.
type Command struct {
	Where
	Command string `json:"command"`
	About   string `json:"about,omitempty"` // what the agent said it is for
	Exit    *int   `json:"exit,omitempty"`  // where it is known
	Times   int    `json:"times"`           // how often the same succeeded
	Failed  int    `json:"failed,omitempty"`
	Match   int    `json:"match"` // how many words of what was asked it has

	own   int // how many of them it has itself, or what the agent said it is for
	named int // how many of them in the command itself
	looks bool
}

// Commands finds commands that were run and succeeded by words, half of which they have at least: those first that
// have most of them, themselves before in what led to them, behind those like them what only looked at something, then
// the newest. Equal ones are one, the newest of them. Words are those of the command, of what the agent said it is for,
// and then of what led to it.
func Commands(talks []*Talk, what string, lang *document.Language) []Command {
	a := asking{stems: document.NewStemmer(lang), lang: lang}
	words := a.words(what)
	if len(words) == 0 {
		return nil
	}
	var out []Command
	failed := map[string]int{}
	for _, t := range talks {
		for i := range t.steps {
			if !a.mayHave(words, t.steps[i].raw) {
				continue
			}
			s := t.step(i)
			if s.command == "" || s.result == 0 || s.refused {
				continue
			}
			c := Command{Command: s.command, About: s.about, named: a.count(words, s.command)}
			c.own = a.count(words, s.command+" "+s.about)
			if c.named == 0 && c.own < len(words) {
				continue
			}
			if s.failed {
				failed[plain(s.command)]++
				continue
			}
			c.Where, c.Exit = t.where(i), s.exit
			c.Match = c.own
			if c.own < len(words) {
				led := s.said
				if c.Asked != nil {
					led += " " + c.Asked.Text
				}
				c.Match = a.count(words, s.command+" "+s.about+" "+led)
			}
			if c.looks = onlyLooks(s.command); 2*c.Match >= len(words) {
				out = append(out, c)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Command) int {
		return cmp.Or(cmp.Compare(b.Match, a.Match), cmp.Compare(b.own, a.own), idle(a.looks)-idle(b.looks),
			cmp.Compare(b.named, a.named), b.Time.Compare(a.Time), cmp.Compare(a.Path, b.Path),
			cmp.Compare(b.Message, a.Message))
	})
	out = alike(out, func(c *Command) string { return plain(c.Command) }, func(c *Command) { c.Times++ })
	for i := range out {
		out[i].Failed = failed[plain(out[i].Command)]
	}
	return out
}

// idle puts behind others what only looked at something.
func idle(looks bool) int {
	if looks {
		return 1
	}
	return 0
}

// asking compares texts by stems.
type asking struct {
	stems *document.Stemmer
	lang  *document.Language
}

// mayHave reports whether one of the words can stand in what a tool was given: in English, and without letters that are
// folded, a stem differs from its word at the end.
func (a *asking) mayHave(words []string, raw []byte) bool {
	if a.lang.Name != document.English || bytes.ContainsFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return true
	}
	low := bytes.ToLower(raw)
	return slices.ContainsFunc(words, func(w string) bool {
		return w[len(w)-1] >= utf8.RuneSelf || bytes.Contains(low, []byte(w[:max(len(w)-1, min(len(w), 3))]))
	})
}

// words are the stems of a text, each once, without those that every text has where there are others.
func (a *asking) words(text string) []string {
	var all, out []string
	document.Tokenize([]byte(text), func(t document.Token) {
		stem := a.stems.Stem(t.Term)
		if !slices.Contains(all, stem) {
			all = append(all, stem)
			if !a.lang.IsStop(t.Term) && t.Term != "how" {
				out = append(out, stem)
			}
		}
	})
	if len(out) == 0 {
		return all
	}
	return out
}

// count is how many of the words a text has, in names of several words as well.
func (a *asking) count(words []string, text string) (n int) {
	has := map[string]bool{}
	data := []byte(text)
	document.Tokenize(data, func(t document.Token) {
		has[a.stems.Stem(t.Term)] = true
		for _, part := range strings.FieldsFunc(t.Term, func(r rune) bool { return r == '_' }) {
			has[a.stems.Stem(part)] = true
		}
		document.CamelParts(data[t.Start:t.End], func(part []byte) {
			has[a.stems.Stem(string(bytes.ToLower(part)))] = true
		})
	})
	low := strings.ToLower(text)
	for _, w := range words {
		if has[w] || len(w) > 3 && strings.IndexFunc(w, unicode.IsDigit) < 0 && strings.Contains(low, w) {
			n++
		}
	}
	return n
}
