package merge

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/curator/fork"
	"stet/markdown"
	"stet/templates/lexicon"
	"stet/vault/skill"
)

// neutral are words by which an umbrella says that it has sections.
const neutral = "a about all an and any are at by can choose collection combines contains contents cover detail each " +
	"every file for from full guide how in instructions into is it its of on one or overview part pick read " +
	"reference related section see skill step task that the their these this to topic trigger umbrella use used uses " +
	"using what when where which with work workflow you your"

// orders are words that turn what stands beside them into an order or a ban, beside those that every text may turn by.
const orders = "again always before cancel first forget ignore instead last must now obsolete off once shall should " +
	"skip stop then after"

const (
	stem   = 5   // letters
	maxOwn = 200 // bytes of a line of the model's own, beside a description
)

// turnWords are those that may make another meaning of others beside them.
var turnWords = sync.OnceValue(func() map[string]bool {
	out := lexicon.Words("turn")
	for _, w := range words(orders) {
		out[w] = true
	}
	return out
})

// turning are those of them that are not neutral.
var turning = sync.OnceValue(func() map[string]bool {
	out := maps.Clone(turnWords())
	for _, w := range words(neutral) {
		delete(out, w)
	}
	return out
})

// free are the stems of words that an umbrella may use anywhere: neutral ones, and those that every text has.
var free = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range lexicon.Words("stop") {
		if len(w) > 1 && !turning()[stems(w)[0]] {
			out[stems(w)[0]] = true
		}
	}
	for _, w := range stems(neutral) {
		out[w] = true
	}
	return out
})

// stems are the beginnings of the words of a text, without common endings.
func stems(text string) (out []string) {
	for _, w := range words(text) {
		out = append(out, stemOf(w))
	}
	return out
}

// stemOf is that of one word. No other word has that of one which turns others.
func stemOf(word string) string {
	if turnWords()[word] || strings.ContainsFunc(word, unicode.IsDigit) {
		return word
	}
	out := word
	for _, end := range []string{"ing", "ed", "es", "s", "e"} {
		if cut, ok := strings.CutSuffix(word, end); ok && len(cut) > 2 && !strings.HasSuffix(word, "ss") {
			out = cut
			break
		}
	}
	if r := []rune(out); len(r) > stem {
		out = string(r[:stem])
	}
	if turnWords()[out] {
		return word
	}
	return out
}

func words(text string) []string {
	return strings.FieldsFunc(markdown.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// core are the stems of a text without those of free words.
func core(text string) []string {
	return slices.DeleteFunc(stems(text), func(w string) bool { return free()[w] })
}

// know lets words be used in headings and in the description of an umbrella. A word that turns others may stand before
// the same one only.
func (o *origin) know(text string) {
	for _, one := range sentences(plain(text)) {
		all := core(one)
		for i, w := range all {
			if o.words[w] = true; turning()[w] {
				o.words[couple(all, i)] = true
			}
		}
	}
}

// couple is a word and the one behind it, which is none at the end.
func couple(all []string, i int) string { return strings.Join(all[i:min(i+2, len(all))], " ") }

// foreign is what of a text the names, descriptions and headings of the sources do not have, "" for nothing.
func (o *origin) foreign(text string) string {
	for _, one := range sentences(plain(text)) {
		one = strings.ReplaceAll(" "+strings.Join(words(one), " ")+" ", " "+o.name+" ", " ")
		rest := words(one)
		if two := inTwo(rest); two != "" {
			return two
		}
		rest = slices.DeleteFunc(rest, func(w string) bool { return free()[stemOf(w)] })
		all := core(one)
		for i, w := range all {
			if !o.words[w] || turning()[w] && !o.words[couple(all, i)] {
				return couple(rest, i)
			}
		}
	}
	return ""
}

// inTwo is a word that turns others, written as two.
func inTwo(all []string) string {
	for i := 1; i < len(all); i++ {
		if turnWords()[all[i-1]+all[i]] {
			return all[i-1] + " " + all[i]
		}
	}
	return ""
}

// quotes reports whether a text stands in a sentence of a source, with all words in that which could turn it.
func (o *origin) quotes(text string) bool {
	all := words(text)
	for said := range o.said {
		if len(all) >= longLine && strings.Contains(" "+strings.Join(words(said), " ")+" ",
			" "+strings.Join(all, " ")+" ") && slices.Equal(turns(core(said)), turns(core(text))) {
			return true
		}
	}
	return false
}

func turns(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(w string) bool { return !turning()[w] })
}

// names reports whether a text has no words but free ones and those of the names of skills and files.
func (o *origin) names(text string, files ...string) bool {
	text = " " + strings.Join(words(text), " ") + " "
	for _, name := range append(slices.Sorted(maps.Keys(o.about)), o.name) {
		text = strings.ReplaceAll(text, " "+strings.Join(words(name), " ")+" ", " ")
	}
	more := stems(strings.Join(files, " "))
	return inTwo(words(text)) == "" && !slices.ContainsFunc(core(text), func(w string) bool {
		return turning()[w] || !o.called[w] && !slices.Contains(more, w)
	})
}

// bare reports whether a text has no words but free ones and the name of the umbrella.
func (o *origin) bare(text string) bool {
	text = strings.ReplaceAll(" "+strings.Join(words(text), " ")+" ", " "+o.name+" ", " ")
	return inTwo(words(text)) == "" && len(core(text)) == 0
}

// routes reports whether a text names a source by its whole name.
func (o *origin) routes(text string) bool {
	return slices.ContainsFunc(slices.Sorted(maps.Keys(o.about)), func(name string) bool {
		return name != o.was && whose(text, []string{name}) != ""
	})
}

// brokenWord shows one word to a reader and others to a comparison.
var brokenWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\pL[\\[\\]*~<>\\\\^`]+\\pL|&#?\\w+;|\\p{Cf}")
})

// addLines notes what a Markdown file of a source says, with its links as they are and as they become.
func (o *origin) addLines(name string, files ...[]byte) {
	for _, data := range files {
		for _, u := range units(data) {
			for _, one := range sentences(u.text) {
				o.say(one, name)
			}
			if u.heads {
				o.know(u.text)
			}
		}
	}
}

func (o *origin) say(sentence, name string) {
	if !slices.Contains(o.said[sentence], name) {
		o.said[sentence] = append(o.said[sentence], name)
	}
}

// saidAt reports whether a sentence may stand in the section of a skill, which says it, or, without an owner, where it
// is for all: two say it, the umbrella did before, or it tells when to use one of them.
func (o *origin) saidAt(sentence, owner string) bool {
	by := o.said[sentence]
	if owner != "" {
		return slices.Contains(by, owner)
	}
	return len(by) > 1 || slices.Contains(by, o.was) || o.opens[strings.Join(core(sentence), " ")] != nil
}

// ownLine is the first sentence of a file of an umbrella that does not stand in its sources, or stands in the section
// of another. Besides theirs it may have headings, links to its own parts, below a heading with the name of a skill
// when to use that, and in SKILL.md one sentence below the title that leads to the sections. Another one there, in
// words of the sources, is lead, which is left out.
func (o *origin) ownLine(u fork.Skill, file string) (lead unit, why string) {
	titles, begins := 0, false // headings, and whether one stands directly above
	for _, one := range units(u.Files[file].Data) {
		owner := o.at.owner(file, one.line)
		fresh := slices.DeleteFunc(sentences(one.text), func(s string) bool {
			return o.saidAt(s, owner) || one.heads && len(o.said[s]) > 0
		})
		if len(fresh) > 0 {
			leads := begins && titles == 1 && owner == "" && file == skill.File && !one.heads
			switch why = o.ownUnit(u, file, owner, one, fresh, begins); {
			case why == "":
			case leads && !brokenWord().MatchString(one.raw) && o.foreign(one.text) == "" &&
				strings.TrimSpace(marks().FindString(one.raw)) == "" && !strings.HasPrefix(one.raw, "|"):
				lead = one
			default:
				return lead, why
			}
		}
		if begins = one.heads; begins {
			titles++
		}
	}
	return lead, ""
}

// ownUnit is why a unit, of which sentences are not said by the sources where they stand, may not stand there.
func (o *origin) ownUnit(u fork.Skill, file, owner string, one unit, fresh []string, begins bool) string {
	where := fmt.Sprintf("line %d of %s", one.line, file)
	other := ""
	for _, s := range fresh {
		if by := o.said[s]; len(by) > 0 && other == "" {
			other = fmt.Sprintf("%s is said by %s alone, and belongs into its section, or a file to which only that "+
				"leads: %s", where, by[0], quoted(s))
		}
	}
	none := fmt.Sprintf("%s stands in none of the skills in it: %s", where, quoted(fresh[0]))
	switch {
	case brokenWord().MatchString(one.raw):
		return none + "; there are marks inside of a word"
	case one.heads:
		for _, s := range fresh {
			if word := o.foreign(s); word != "" && !o.quotes(s) || len(one.text) > maxOwn {
				return fmt.Sprintf("%s; %q is in no name, description or heading of theirs", none, word)
			}
		}
		if owner != "" && whose(one.text, slices.Sorted(maps.Keys(o.about))) != owner && o.routes(one.text) {
			return none + "; it names another skill"
		}
		return ""
	case file == skill.File && o.leadsInto(u, one):
		return ""
	case begins && owner != "" && file == skill.File:
		if o.about[owner].tells(core(one.text)) {
			return ""
		}
		if other == "" && o.foreign(one.text) == "" {
			return fmt.Sprintf("%s does not say when to use %s in the words of its description, in their order: %s",
				where, owner, quoted(fresh[0]))
		}
	case begins && owner == "" && file == skill.File && o.bare(one.text):
		return ""
	}
	if other != "" && len(o.said[fresh[0]]) > 0 {
		return other
	}
	return none
}

// An about is what a description says, as stems that are not free.
type about []string

// tells reports whether all has words of the description alone, in their order, and each that turns others with the one
// behind it.
func (a about) tells(all []string) bool {
	if !slices.Equal(turns(a), turns(all)) {
		return false
	}
	at := 0
	for i, w := range all {
		n := slices.Index(a[at:], w)
		if n < 0 || turning()[w] && couple(all, i) != couple(a, at+n) {
			return false
		}
		at += n + 1
	}
	return true
}

// leadsInto reports whether a unit links to sections or files of the umbrella, and besides them has names alone, or
// when to use what they say.
func (o *origin) leadsInto(u fork.Skill, one unit) bool {
	var to, whom []string // what they name, and the skills that say what stands there
	for _, l := range markdown.Parse([]byte(one.raw)).Links() {
		target := path.Clean(l.Target)
		if f, ok := u.Files[target]; ok && l.Kind == markdown.RelativeLink {
			to, whom = append(to, target), append(whom, o.at.owner(target, 1))
			for _, h := range markdown.Parse(f.Data).Sections() {
				if h.Heading.Level == 1 {
					to = append(to, h.Heading.Text)
				}
			}
		} else if l.Target == "" && l.Fragment != "" {
			to, whom = append(to, l.Fragment), append(whom, whose(l.Fragment, slices.Sorted(maps.Keys(o.about))))
		}
	}
	between := func(r rune) bool { return strings.ContainsRune("|:–—", r) }
	for piece := range strings.FieldsFuncSeq(one.text, between) {
		for _, s := range sentences(piece) {
			tells := slices.ContainsFunc(o.opens[strings.Join(core(s), " ")], func(name string) bool {
				return slices.Contains(whom, name)
			})
			if len(to) == 0 || !tells && !o.names(s, to...) {
				return false
			}
		}
	}
	return len(to) > 0
}

// calls is why an umbrella may not be called what it is, or its files what they are.
func (o *origin) calls(u fork.Skill) string {
	fresh := slices.DeleteFunc(core(u.Name), func(w string) bool { return o.words[w] && !turning()[w] })
	if o.was == "" && (len(fresh) > 1 || len(turns(fresh)) > 0) {
		return fmt.Sprintf("its name has %s, and at most one word that is in no name, description or heading of the "+
			"skills in it is allowed", strings.Join(fresh, ", "))
	}
	for p := range u.Files {
		bare := slices.DeleteFunc(words(strings.TrimSuffix(p, path.Ext(p))), func(w string) bool {
			return strings.Trim(w, "0123456789") == ""
		})
		if word := o.foreign(strings.Join(bare, " ")); word != "" && p != skill.File {
			return fmt.Sprintf("its file %s is called by words that the skills in it do not have: %s", p, word)
		}
	}
	return ""
}

// anchors is a link to a part of a file whose fragment is neither a heading of the umbrella nor a link of a source.
func (o *origin) anchors(u fork.Skill, file string) string {
	for _, l := range markdown.Parse(u.Files[file].Data).Links() {
		known := o.slugs[markdown.Slug(l.Fragment, 0)] || bytes.Contains(o.text.Bytes(), []byte("#"+l.Fragment))
		if l.Fragment != "" && !known {
			return fmt.Sprintf("line %d of %s leads to #%s, and the umbrella has no such heading", l.Line, file,
				l.Fragment)
		}
	}
	return ""
}
