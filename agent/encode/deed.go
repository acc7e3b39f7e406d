package encode

import (
	"slices"
	"strings"
	"sync"
)

// A deed is what somebody says to have done or to be the outcome of it, in one
// segment of a sentence.
type deed struct {
	who   string
	verb  string
	words []word // of the segment, behind the verb or around it
	said  span
}

// deedsIn reads what a text says that somebody has done.
func deedsIn(r *reading) []deed {
	var out []deed
	for _, s := range r.said {
		who := ""
		for _, part := range segments(s.words) {
			found := done(part, who)
			for _, d := range found {
				d.said = span{part[0].from, part[len(part)-1].to}
				out, who = append(out, d), d.who
			}
			if len(found) == 0 && part[0].fold != "and" {
				who = ""
			}
		}
	}
	return out
}

// done reads one segment: "I have written", "I recently wrote", "after writing",
// "my score on". lent is who did what the segment before says.
func done(part []word, lent string) []deed {
	var out []deed
	add := func(who string, verb string, words []word) {
		if who != "" {
			out = append(out, deed{who: who, verb: verb, words: words})
		}
	}
	if lent != "" && len(part) > 1 && part[0].fold == "and" && pastForm(part[1]) {
		add(lent, verbStem(part[1]), part[2:])
	}
	for i, w := range part {
		last := i+1 == len(part)
		switch {
		case negator(w.fold), wonders()[w.fold]:
			return out
		case last:
		case perfect(w):
			j := skipAdverbs(part, i+1)
			if j < len(part) && part[j].fold == "been" {
				j = skipAdverbs(part, j+1)
			}
			if j < len(part) && (participleOf(part[j]) != "" || endsIn(part[j], "ing")) {
				add(person(part[:i]), verbStem(part[j]), part[j+1:])
			}
		case pastForm(w):
			add(person(part[:adverbsBefore(part, i)]), verbStem(w), part[i+1:])
		case (w.fold == "after" || w.fold == "since" || w.fold == "from") && endsIn(part[i+1], "ing"):
			add("user", verbStem(part[i+1]), part)
		case w.fold == "my" || w.fold == "our":
			if j := slices.IndexFunc(part[i+1:min(i+4, len(part))], func(w word) bool { return results()[w.fold] }); j >= 0 {
				add(ownerOf(part[i:i+1]), "result", part[i+j+2:])
			}
		}
	}
	return out
}

// adverbsBefore is where the adverbs in front of words[i] begin.
func adverbsBefore(words []word, i int) int {
	for i > 0 && (endsIn(words[i-1], "ly") || passing()[words[i-1].fold]) {
		i--
	}
	return i
}

func skipAdverbs(part []word, i int) int {
	for i < len(part) && (endsIn(part[i], "ly") || passing()[part[i].fold]) {
		i++
	}
	return i
}

func pastForm(w word) bool {
	return irregular().past[w.fold] != "" || regular(w)
}

func verbStem(w word) string {
	for _, forms := range []map[string]string{irregular().done, irregular().past} {
		if base := forms[w.fold]; base != "" {
			return Stem(base)
		}
	}
	return w.stem
}

// joints begin another segment of a sentence.
var joints = sync.OnceValue(func() map[string]bool {
	return set(`but so because since although though considering which whereas while and`)
})

// links stand between an object and what it has to do with.
var links = sync.OnceValue(func() map[string]bool {
	return set(`in on at for with to of from into about regarding concerning involving related relating using through during outside inside before after as`)
})

// vague words name nothing that could be told apart.
var vague = sync.OnceValue(func() map[string]bool {
	return set(`thing things kind kinds sort type types anything something else ever single proper formal actual such certain specific own`)
})

// sofar limits a denial to a stretch of time, behind which it says nothing.
var sofar = sync.OnceValue(func() map[string]bool {
	return set(`today yesterday week month year since lately recently yet morning`)
})

// wonders make of a segment a wish, a plan, a question or a condition.
var wonders = sync.OnceValue(func() map[string]bool {
	return set(`if unless whether would could should might want wants need needs plan plans planning hope hoping going will`)
})

// passing adverbs stand between a subject and its verb.
var passing = sync.OnceValue(func() map[string]bool {
	return set(`just already also only finally now then even once ever since all both personally`)
})

// results are nouns for the outcome of something done.
var results = sync.OnceValue(func() map[string]bool {
	return set(`score scores accuracy result results grade grades certificate certification`)
})

// deeds are verbs of which one often tells of the same deed as another: whoever
// finished exercises has attempted them.
var deeds = sync.OnceValue(func() [][]string {
	var out [][]string
	for row := range strings.Lines(`
		complete finish solve practice practise attempt do try answer work result pass study learn train improve score
		attend take enroll enrol join visit participate complete finish pass register
		write create build implement develop add design draft make program code compose
		use integrate implement add apply adopt configure install employ run try test
		deploy launch publish release host ship
		fix resolve debug correct repair solve patch address
		get obtain receive acquire have own buy
		meet see visit know encounter
		visit go travel be see
		read study finish
		handle process manage implement
		customize customise configure adjust adapt modify change extend add
		prepare practice plan rehearse study
	`) {
		var class []string
		for v := range strings.FieldsSeq(row) {
			class = append(class, Stem(v), Stem(past(v)))
		}
		if len(class) > 0 {
			out = append(out, class)
		}
	}
	return out
})

// past is the regular past of a verb. The stems of short words differ from theirs.
func past(v string) string {
	switch {
	case strings.HasSuffix(v, "e"):
		return v + "d"
	case strings.HasSuffix(v, "ry"):
		return strings.TrimSuffix(v, "y") + "ied"
	}
	return v + "ed"
}

func together(a, b string) bool {
	return slices.ContainsFunc(deeds(), func(class []string) bool { return slices.Contains(class, a) && slices.Contains(class, b) })
}
