package encode

import (
	"slices"
	"strings"
)

// paraphrased reports whether two texts say the same in other words, sentence for
// sentence: in the passive or the active voice, with an adjective or a clause that
// is one, in words of everyday speech that mean the same. What each sentence says
// is written down as a row of tokens in which all of that looks alike and nothing
// else does: numbers, names, negations, tense, modal verbs, little words of place
// and who does what to whom all stand in it.
func paraphrased(n, o *reading) bool {
	return len(n.clauses) > 0 && len(o.clauses) > 0 && slices.EqualFunc(n.said, o.said, sameSentence)
}

// wordier is by how many words two sentences that say the same may differ: "which
// is", "is being … by".
const wordier = 6

func sameSentence(a, b sentence) bool {
	if n := len(a.words) - len(b.words); n > wordier || -n > wordier || a.question != b.question {
		return false
	}
	x, y := plainly(a.words), plainly(b.words)
	if named := fixedIn(x, y); !slices.Equal(fixedOf(x, named), fixedOf(y, named)) {
		return false
	}
	p, q := voices(x), voices(y)
	return slices.ContainsFunc(p, func(u []word) bool {
		row := tokens(u)
		return len(row) > 1 && slices.ContainsFunc(q, func(v []word) bool { return slices.Equal(row, tokens(v)) })
	})
}

// fixedIn are the stems that are a value in one of two sentences: a name that begins
// the one can stand inside the other.
func fixedIn(sentences ...[]word) map[string]bool {
	out := map[string]bool{}
	for _, words := range sentences {
		for _, w := range words {
			if w.value() {
				out[w.stem] = true
			}
		}
	}
	return out
}

// fixedOf are the values in a sentence, in an order of their own.
func fixedOf(words []word, fixed map[string]bool) []string {
	var out []string
	for _, w := range words {
		switch n := number(w.fold); {
		case n != "":
			out = append(out, n)
		case fixed[w.stem]:
			out = append(out, w.stem)
		}
	}
	slices.Sort(out)
	return out
}

// plainly writes a sentence in the plainest of its wordings, but for the voice.
func plainly(words []word) []word {
	var out []word
	for i, w := range words {
		switch {
		case strings.HasSuffix(w.fold, "n't"):
			out = append(out, apart(w)...)
			continue
		case w.fold == "cannot":
			out = append(out, rename(w, "can"), rename(w, "not"))
			continue
		case article(words, i), colouredTwice(words, i):
			continue
		}
		if same := synonyms()[w.fold]; same != "" && !w.value() {
			w = rename(w, same)
		}
		out = append(out, w)
	}
	return relatives(out)
}

func rename(w word, fold string) word {
	w.fold, w.stem = fold, Stem(fold)
	return w
}

// apart makes two words of "doesn't".
func apart(w word) []word {
	head := strings.TrimSuffix(w.fold, "n't")
	switch head {
	case "wo":
		head = "will"
	case "ca":
		head = "can"
	case "sha":
		head = "shall"
	}
	return []word{rename(w, head), rename(w, "not")}
}

// article reports whether words[i] is "one" where "a" could stand: "one man sings".
func article(words []word, i int) bool {
	if words[i].fold != "one" || words[i].raw == "1" || i+1 >= len(words) {
		return false
	}
	next := words[i+1]
	if i > 0 && (!isStop(words[i-1].fold) && !isVerb(words[i-1]) && !endsIn(words[i-1], "ing") || slices.Contains([]string{"the", "this", "that", "which", "any"}, words[i-1].fold)) {
		return false
	}
	return next.content() && !next.value() && number(next.fold) == "" && !slices.Contains([]string{"another", "more", "other", "hundred", "thousand", "million", "day", "time", "hour", "minute", "week", "month", "year", "half"}, next.stem) && !isVerb(next)
}

// colouredTwice reports whether words[i] is "coloured" beside the colour.
func colouredTwice(words []word, i int) bool {
	if words[i].fold != "colored" && words[i].fold != "coloured" {
		return false
	}
	return i > 0 && colours()[words[i-1].fold]
}

func endsIn(w word, suffix string) bool {
	return len(w.fold) > len(suffix)+2 && strings.HasSuffix(w.fold, suffix)
}

// relatives turns "a wall which is old" into "an old wall", and "people who are
// waiting outside" into "people waiting outside".
func relatives(words []word) []word {
	for i := 1; i+2 < len(words); i++ {
		if !slices.Contains([]string{"which", "who", "that"}, words[i].fold) || !present(words[i+1]) || !noun(words[i-1]) {
			continue
		}
		from, to := i+2, i+2
		for to < len(words) && to < from+3 && (describes(words[to]) || to > from && words[to].fold == "and" && !words[to-1].comma) {
			if to++; words[to-1].comma {
				break
			}
		}
		if to > from && words[to-1].fold == "and" {
			to--
		}
		switch {
		case to > from && (to == len(words) || words[to-1].comma || isVerb(words[to]) || conjunctions()[words[to].fold]):
			at := i - 1
			for at > 0 && noun(words[at-1]) && !words[at-1].comma {
				at--
			}
			// "A boy, who is young, is": neither comma is left.
			rest := slices.Clone(words[to:])
			words = slices.Concat(words[:at], words[from:to], words[at:i], rest)
		case endsIn(words[from], "ing"):
			words = slices.Delete(slices.Clone(words), i, i+2)
		}
	}
	return words
}

// noun reports whether a word can be one, or describe one that follows.
func noun(w word) bool {
	return w.content() && !isVerb(w) && !w.owns && !places(w.fold) && !endsIn(w, "ly") && number(w.fold) == "" && w.fold != "and"
}

// describes reports whether a word can stand behind "which is" and before the noun.
func describes(w word) bool {
	return w.content() && !w.value() && !w.owns && !places(w.fold) && !verbs()[w.fold] && !adverbs()[w.fold] && w.fold != "almost" && w.fold != "nearly" && !endsIn(w, "ly") && number(w.fold) == ""
}

func present(w word) bool { return w.fold == "is" || w.fold == "are" }

// voices lists a sentence and, of one in the passive, what it is in the active
// voice: nobody knows without a grammar what belongs to "by a man with a hat", so
// the one who does it is once as short and once as long as can be.
func voices(words []word) [][]word {
	out := [][]word{words}
	by := slices.IndexFunc(words, func(w word) bool { return w.fold == "by" })
	if by < 2 || by+1 >= len(words) {
		return out
	}
	done := by - 1
	for done > 0 && participleOf(words[done]) == "" {
		done--
	}
	aux := done
	for aux > 0 && (auxiliary(words[aux-1]) || endsIn(words[aux-1], "ly") || words[aux-1].fold == "not") {
		aux--
	}
	be := slices.ContainsFunc(words[aux:done], func(w word) bool { return beings()[w.fold] })
	if aux == 0 || !be || slices.ContainsFunc(words[:aux], finite) || slices.ContainsFunc(words[done+1:], finite) {
		return out
	}
	what, middle, agent := words[:aux], words[done+1:by], words[by+1:]
	how := slices.DeleteFunc(slices.Clone(words[aux:done]), func(w word) bool { return w.fold == "being" || w.fold == "been" })
	verb := slices.Clone(words[done : done+1])
	if len(middle) > 0 && particles()[middle[0].fold] {
		verb, middle = append(verb, middle[0]), middle[1:]
	}
	short := 1
	for short < len(agent) && (noun(agent[short]) || !places(agent[short].fold) && isStop(agent[short].fold) && agent[short].fold != "for" || number(agent[short].fold) != "") && !endsIn(agent[short], "ing") {
		short++
	}
	for _, n := range []int{short, len(agent)} {
		out = append(out, slices.Concat(agent[:n], how, verb, what, middle, agent[n:]))
	}
	return out
}

// finite reports whether a word shows that another thing is said about somebody.
func finite(w word) bool { return auxiliary(w) || verbs()[w.fold] && !isStop(w.fold) }

func auxiliary(w word) bool {
	return beings()[w.fold] || modals()[w.fold] || w.fold == "has" || w.fold == "have" || w.fold == "had"
}

// participleOf is the verb that a participle is of, "" for another word.
func participleOf(w word) string {
	if base := irregular().done[w.fold]; base != "" {
		return base
	}
	if regular(w) {
		return w.stem
	}
	return ""
}

// regular reports whether a word is a verb in -ed.
func regular(w word) bool { return strings.HasSuffix(w.fold, "ed") && w.stem != w.fold }

// tokens is what a sentence says, as a row.
func tokens(words []word) []string {
	var out, tense []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if d, n := date(words[i:]); n > 0 {
			out, i = append(out, d), i+n-1
			continue
		}
		done := i > 0 && participleOf(w) != "" && helped(words[:i])
		switch {
		case number(w.fold) != "":
			out = append(out, number(w.fold))
		case present(w), w.fold == "am", w.fold == "be", w.fold == "being", w.fold == "do", w.fold == "does":
		case owning(words, i):
			out = append(out, "have")
			if w.fold == "had" {
				tense = append(tense, "w")
			}
		case w.fold == "has", w.fold == "have":
			tense = append(tense, "perfect")
		case w.fold == "was", w.fold == "were", w.fold == "did", w.fold == "had", w.fold == "been":
			tense = append(tense, w.fold[:1])
		case w.fold == "and":
			if i+1 < len(words) && (isVerb(words[i+1]) || endsIn(words[i+1], "ing")) {
				out = append(out, "&")
			}
		case modals()[w.fold], negator(w.fold), places(w.fold):
			out = append(out, w.fold)
		case done:
			out = append(out, verbStem(w))
		case irregular().past[w.fold] != "":
			out, tense = append(out, Stem(irregular().past[w.fold])), append(tense, "w")
		case regular(w) && isVerb(w):
			out, tense = append(out, w.stem), append(tense, "w")
		case w.content():
			out = append(out, w.stem)
		}
	}
	return append(append(out, "|"), tense...)
}

// helped reports whether the words in front of a participle end in the auxiliary
// that makes one form of them: "has just been".
func helped(before []word) bool {
	for i := len(before) - 1; i >= 0 && i >= len(before)-3; i-- {
		if auxiliary(before[i]) {
			return true
		}
		if before[i].content() && !endsIn(before[i], "ly") {
			return false
		}
	}
	return false
}
