package cite

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/agent/spoken"
	"stet/templates/lexicon"
	"stet/vault"
	"stet/vault/session"
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
	return regexp.MustCompile(`(?:\.{2,}|[,;:()–—…]+)(?:\s|$)|\s-\s|` +
		`\s(?i:and|but|because|und|aber|weil|et|mais|y|pero)\s`)
})

// winks are what people who joke write behind it.
var winks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[😂🤣😅😆😜😝😛😉🙃😏🤡]|(?:^|\s);-?\)|(?:^|\s)[:;=xX]-?[pPD](?:\s|$)`)
})

// stands fails where what stands behind an order may take it back, which the first of the sentences are, so many: "No
// wait, leave it", "I mean 4711", "That was a test", "Or is it?". Behind an order stand plain words alone, or the next
// piece of work: "and then …", "Also …".
func stands(sentences []string, width int, before, after string) error {
	was, is := changed(before, after)
	removed, added, kept := apart(content(was), content(is))
	about, news, said := stems(before+" "+after), added, false
	if len(news) == 0 {
		news = removed
	}
	for i, s := range sentences {
		joined := append(clause().FindAllString(s, -1), "")
		for n, part := range clause().Split(s, -1) {
			all := words(part)
			of := func(w word) bool { return i < width && slices.Contains(news, w.stem) }
			if slices.ContainsFunc(all, of) || !said {
				said = said || slices.ContainsFunc(all, of)
				continue
			}
			no := func(w word) bool { return slices.Contains(negations(), w.fold) }
			other := func(w word) bool { return no(w) || w.is("away") }
			back := func(w word) bool { return w.is("back") && !slices.Contains(stems(before), w.stem) }
			_, fits := denied(append([]word{{}}, all...), removed, kept)
			next := (begins(part, "next") || n > 0 && begins(joined[n-1], "next")) && elsewhere(all, about)
			fits = fits && (count(removed, stems(part)) == 0 || slices.ContainsFunc(all, other))
			rest := slices.DeleteFunc(slices.Clone(all), no)
			if !fits || asksOnly(s) || slices.ContainsFunc(rest, back) || !next && !plain(rest, about, nil) {
				part = strings.TrimSpace(part)
				return fmt.Errorf("the turn may take it back (%q): say it in a turn of its own", part)
			}
		}
	}
	return nil
}

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

// revoked fails where the person, in the same conversation, took a turn back in the next one, or said something else
// later of what the change is about.
func revoked(talk *session.Conversation, ref, was, is string) error {
	_, n := vault.SourceTurns(ref)
	gone, fresh := changed(was, is)
	_, added, kept := apart(content(gone), content(fresh))
	next := true
	for i, m := range talk.Messages[n[0]:] {
		if m.Role != "user" || m.Name != "" && !strings.EqualFold(m.Name, "user") {
			continue
		}
		for _, s := range spoken.Sentences(Own(string(m.Content))) {
			about := len(kept) > 0 && count(kept, content(s)) == len(kept) && !asksOnly(s) &&
				slices.ContainsFunc(words(s), func(w word) bool { return w.is("back", "change", "is") })
			same := len(added) > 0 && count(added, content(s)) == len(added)
			if about && !same || next && takesBack(s) {
				return fmt.Errorf("the user may have taken %s back in %s", ref, turnRef(talk.ID, n[0]+i+1))
			}
		}
		next = false
	}
	return nil
}

// takesBack reports a sentence of few words that takes back what was said before it: "No, leave it."
func takesBack(s string) bool {
	const few = 6
	all := words(s)
	return len(all) <= few && slices.ContainsFunc(all, func(w word) bool { return w.is("back") })
}

// begins reports whether the first word of a text is of a kind.
func begins(text, kind string) bool {
	all := words(text)
	return len(all) > 0 && all[0].is(kind)
}

// elsewhere reports whether words name nothing of a text, neither by its words nor by "it", and no other value for it.
func elsewhere(all []word, about []string) bool {
	return !slices.ContainsFunc(all, func(w word) bool {
		return w.is("it") || strings.ContainsAny(w.fold, "0123456789") ||
			slices.Contains(about, w.stem) && !slices.Contains(empty(), w.fold)
	})
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

// leaves reports whether words name one of some values as what is left behind: "from 4711 to 4713".
func leaves(all []word, values []string) bool {
	for i, w := range all {
		next := slices.IndexFunc(all[i+1:], func(w word) bool { return !w.is("plain") })
		if w.is("away") && next >= 0 && slices.Contains(values, all[i+1+next].stem) {
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
		case slices.Contains(about, w.stem), w.is("plain", "open", "change"),
			w.is("when") && before.is("since"),
			w.is("past") && skip("past", "plain", "open").is("change"),
			w.is("polite") && slices.Contains([]string{"you", "du", "tu", "like"}, next.fold),
			w.is("wish") && (before.fold == "i" || before.fold == "we" || before.fold == "would"),
			w.is("ought") && slices.Contains(about, before.stem):
		default:
			return false
		}
	}
	return !leaves(all, added)
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
		if rule().MatchString(line) { // below it stands a letter
			return lines[:i]
		}
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

// rule matches a line that parts a letter, or a forwarded one, from what stands above it.
var rule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-_=*~]{3,}(?:[^-_=*~]*[-_=*~]{3,})?$`) })

// under matches a name below a letter: "-- Eve".
var under = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:--|[-–—] ?\p{Lu}|[–—])`) })

// signed reports whether a line, with those behind it, closes a letter: "Best regards, Nora".
func signed(line string, behind []string) bool {
	if strings.TrimSpace(strings.Join(behind, "")) == "" && under().MatchString(line) &&
		someone(words(line), "plain", "open", "change") {
		return true
	}
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
