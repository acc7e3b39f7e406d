package cite

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/templates/lexicon"
)

// An order is known by its form: of a clause that says what is new every word is about the text, or plain. Any
// other may deny, report, ask or suppose it: "Nobody should …", "Bob thinks …", "I dreamt …".

const plainly = "an order says plainly what is so now"

// forms are what the words of the list are to an order, by "kind word".
var forms = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, e := range lexicon.Entries("order") {
		for _, w := range e.Words {
			out[e.Head+" "+w] = true
		}
	}
	return out
})

func (w word) is(kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return forms()[kind+" "+w.fold] })
}

var clause = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[,;:()–—]+(?:\s|$)|\s-\s|\s(?i:and|but|because|und|aber|weil|et|mais|y|pero)\s`)
})

// ordered fails where sentences may be no order of a change of a text that has the words in about, added of them new.
func ordered(sentences, about, added []string) error {
	for _, s := range sentences {
		behind := false // behind what says the new
		for _, part := range clause().Split(s, -1) {
			all := words(part)
			says := slices.ContainsFunc(all, func(w word) bool { return slices.Contains(added, w.stem) })
			named := slices.ContainsFunc(all, func(w word) bool {
				return slices.Contains(about, w.stem) && !slices.Contains(empty(), w.fold)
			})
			switch behind = behind || says; {
			case says && question(all), (says || !named && !behind) && !plain(all, about, added),
				has(all, about, "doubt"):
				return errors.New("the turn may report, ask, suppose or deny it: " + plainly)
			}
		}
	}
	return nil
}

// has reports a word of a kind that the text does not have, and that asks nobody politely.
func has(all []word, about []string, kind string) bool {
	for i, w := range all {
		if w.is(kind) && !slices.Contains(about, w.stem) && !plain(all[i:min(len(all), i+2)], about, nil) {
			return true
		}
	}
	return false
}

// plain reports whether each word is about a text or may stand beside that.
func plain(all []word, about, added []string) bool {
	beside := func(i int) word {
		if i < 0 || i >= len(all) {
			return word{}
		}
		return all[i]
	}
	for i, w := range all {
		rest := all[i+1:]
		skip := func(kinds ...string) word {
			return beside(i + 1 + slices.IndexFunc(append(rest, word{}), func(w word) bool { return !w.is(kinds...) }))
		}
		before, next := beside(i-1), beside(i+1)
		switch {
		case w.is("away") && slices.Contains(added, skip("plain").stem):
			return false
		case slices.Contains(about, w.stem), w.is("plain", "open", "change"),
			w.is("past") && skip("past", "plain", "open").is("change"),
			w.is("polite") && slices.Contains([]string{"you", "du", "tu", "like"}, next.fold),
			w.is("wish") && (before.fold == "i" || before.fold == "we" || before.fold == "would"),
			w.is("ought") && slices.Contains(about, before.stem):
		default:
			return false
		}
	}
	return true
}

// nameless reports a move between folders of which what is new has no name: "let's move on" names neither move nor on.
func nameless(from, to string) bool {
	from, to = strings.ReplaceAll(from, "/", " "), strings.ReplaceAll(to, "/", " ")
	fresh := missing(stems(to), stems(from))
	return len(fresh) > 0 && !slices.ContainsFunc(words(to), func(w word) bool {
		return slices.Contains(fresh, w.stem) && !w.is("plain", "open", "change", "past") &&
			!slices.Contains(empty(), w.fold)
	})
}

// question reports words in the order of a question, which some end without its mark.
func question(all []word) bool {
	first := slices.IndexFunc(all, func(w word) bool { return !w.is("open") })
	return first >= 0 && all[first].is("ask") &&
		!(all[first].is("polite") && plain(all[first:min(len(all), first+2)], nil, nil))
}

// typed are the lines of a turn before those of a letter or a chat, none where a letter is signed: pasted without
// a mark, they are another's.
func typed(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		all := words(line)
		if len(all) == 0 {
			continue
		}
		head, _, colon := strings.Cut(line, ":")
		name := words(slices.Concat(strings.FieldsFunc(line, isPause), []string{""})[0])
		name = name[min(1, len(name)):] // "`--force` is banned" has no word before its first pause
		switch {
		case colon && word{fold: strings.ToLower(strings.Trim(head, "* "))}.is("head"), sent().MatchString(line),
			all[0].is("greet") && someone(name, "plain", "open", "change", "polite"):
			return lines[:i]
		case signed(line, lines[i+1:]):
			return nil
		}
	}
	return lines
}

func isPause(r rune) bool { return strings.ContainsRune(",!.–-", r) }

var sent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[?\d{1,4}[:./-]\d\d.*[\])] `) })

// someone reports whether words may be a name, and none is of a kind.
func someone(name []word, not ...string) bool {
	const long = 3
	return len(name) > 0 && len(name) <= long &&
		!slices.ContainsFunc(name, func(w word) bool { return w.is(not...) })
}

// signed reports whether a line, with those behind it, closes a letter: "Best regards, Nora".
func signed(line string, behind []string) bool {
	end, name, found := strings.Cut(line, ",")
	if strings.TrimSpace(name) == "" {
		behind = slices.DeleteFunc(slices.Clone(behind), func(l string) bool { return l == "" })
		name = strings.Join(behind[:min(1, len(behind))], "")
	} else if !found {
		return false
	}
	const long = 4
	all := words(end)
	return len(all) > 0 && len(all) < long && someone(words(name), "open", "change", "polite") &&
		slices.ContainsFunc(all, func(w word) bool { return w.is("close") })
}
