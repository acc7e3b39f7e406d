package encode

import (
	"slices"
	"strings"
)

// A denial is what somebody says never to have done: "I have never attended any
// workshops". It covers all of the past, so one stored statement of having done it
// is enough to contradict. What is done after it was denied contradicts nothing:
// that is how the world moves on.
type denial struct {
	who    string
	verbs  []string   // stems
	object [][]phrase // one phrase of each group must have been done
	words  []word     // of the object, for a search
	said   span
}

// A phrase is the stems of a few words that belong together.
type phrase []string

// A segment is a stretch of a sentence between commas and conjunctions.
func segments(words []word) [][]word {
	var out [][]word
	start := 0
	for i := range words {
		joint := i > start && joints()[words[i].fold] && !(words[i].fold == "and" && i+1 < len(words) && !opensClause(words[i+1:]))
		if joint {
			out = append(out, words[start:i])
			start = i
		}
		if words[i].comma {
			out = append(out, words[start:i+1])
			start = i + 1
		}
	}
	if start < len(words) {
		out = append(out, words[start:])
	}
	return out
}

// opensClause reports whether words begin with a subject or a verb.
func opensClause(words []word) bool {
	return pronouns()[words[0].fold] || isVerb(words[0]) || irregular().past[words[0].fold] != ""
}

// person is whom the words in front of a verb are about: "user", "we", a name. It is
// "" for a pronoun that could be anybody.
func person(before []word) string {
	if len(before) == 0 {
		return ""
	}
	w := before[len(before)-1]
	switch {
	case w.fold == "i", w.fold == "we", w.fold == "user":
		return ownerOf(before[len(before)-1:])
	case w.value() && capital(w) || w.first && capital(w) && !isStop(w.fold) && w.content():
		return w.stem
	}
	return ""
}

// denialsIn reads what a text says that somebody has never done.
func denialsIn(text string) []denial {
	if !strings.Contains(text, "ever") && !strings.Contains(text, "n't") && !strings.Contains(text, "n’t") && !strings.Contains(text, "not") {
		return nil
	}
	var out []denial
	for _, s := range sentences(text) {
		words := wordsOf(text, s.from, s.to)
		if !slices.ContainsFunc(words, func(w word) bool { return w.fold == "never" || w.fold == "not" || strings.HasSuffix(w.fold, "n't") }) {
			continue
		}
		parts := segments(words)
		for i, part := range parts {
			var before []word
			if i > 0 {
				before = parts[i-1]
			}
			out = append(out, denied(part, before)...)
		}
	}
	return out
}

// denied reads "[who] have never [done] [object]". The object of "a tool, which I
// have never used" stands before it.
func denied(part, before []word) []denial {
	at, who := neverAt(part)
	if at < 0 || who == "" {
		return nil
	}
	tail := part[at:]
	if slices.ContainsFunc(tail, func(w word) bool { return sofar()[w.fold] }) {
		return nil
	}
	var out []denial
	for i := 0; i < len(tail); {
		verb := ""
		if participleOf(tail[i]) != "" {
			verb = verbStem(tail[i])
		}
		if tail[i].fold == "been" && i+1 < len(tail) && (tail[i+1].fold == "to" || tail[i+1].fold == "in") {
			verb = "visit"
		}
		if verb == "" {
			if len(out) == 0 && (tail[i].content() && !adverbs()[tail[i].fold] && !endsIn(tail[i], "ly")) {
				return nil
			}
			i++
			continue
		}
		end := i + 1
		for end < len(tail) && !(tail[end].fold == "or" && end+1 < len(tail) && participleOf(tail[end+1]) != "") {
			end++
		}
		out = append(out, denial{who: who, verbs: []string{verb}, object: groups(tail[i+1 : end]), words: tail[i+1 : end], said: span{part[0].from, part[len(part)-1].to}})
		i = end + 1
	}
	for i := len(out) - 2; i >= 0; i-- {
		if len(out[i].object) == 0 { // "prepared for or taken any exams"
			out[i].object, out[i].words = out[i+1].object, out[i+1].words
		}
	}
	if n := len(out); n > 0 && len(before) > 0 && (part[0].fold == "which" || part[0].fold == "that") {
		d := &out[n-1]
		if len(d.words) == 0 || links()[d.words[0].fold] {
			d.words = slices.Concat(before[max(0, len(before)-3):], d.words)
			d.object = groups(d.words)
		}
	}
	return slices.DeleteFunc(out, func(d denial) bool { return len(d.object) == 0 })
}

// named are the words for what was not done.
func (d denial) named() []string {
	var out []string
	for _, w := range d.words {
		if slices.ContainsFunc(d.object, func(group []phrase) bool {
			return slices.ContainsFunc(group, func(p phrase) bool { return slices.Contains(p, w.stem) })
		}) {
			out = append(out, w.fold)
		}
	}
	return out
}

// neverAt finds the word behind "have never" or "haven't", and who has not.
func neverAt(part []word) (at int, who string) {
	for i, w := range part {
		short := strings.HasSuffix(w.fold, "n't")
		switch {
		case w.fold == "never" && i > 0 && perfect(part[i-1]), w.fold == "not" && i > 0 && perfect(part[i-1]):
			return i + 1, person(part[:i-1])
		case w.fold == "never" && i > 0 && i+1 < len(part) && pastForm(part[i+1]):
			return i + 1, person(part[:i])
		case short && slices.Contains([]string{"haven't", "hasn't"}, w.fold):
			return i + 1, person(part[:i])
		}
	}
	return -1, ""
}

func perfect(w word) bool { return w.fold == "have" || w.fold == "has" }

// groups cuts an object at its prepositions, and each part at "or".
func groups(words []word) [][]phrase {
	var out [][]phrase
	var group []phrase
	var now phrase
	close := func(all bool) {
		if len(out) > 0 && len(now) == 1 && now[0] == "project" {
			now = nil // "in this project" narrows nothing down
		}
		if len(now) > 0 {
			group, now = append(group, now), nil
		}
		if all && len(group) > 0 {
			out, group = append(out, group), nil
		}
	}
	for _, w := range words {
		switch {
		case w.fold == "or", w.fold == "and", w.fold == "nor":
			close(false)
		case links()[w.fold]:
			close(true)
		case w.content() && !vague()[w.fold]:
			now = append(now, w.stem)
		}
	}
	close(true)
	return out
}

// belied is how well a deed contradicts a denial, 0 for not at all.
func belied(d denial, e deed) float64 {
	if d.who != e.who || !slices.ContainsFunc(d.verbs, func(v string) bool { return v == e.verb || together(v, e.verb) }) {
		return 0
	}
	have := stems(e.words)
	total, shared := 0.0, 0
	for i, group := range d.object {
		best, n := 0.0, 0
		for _, p := range group {
			both := len(p) - missing(p, have)
			if f := float64(both) / float64(len(p)); f > best || f == best && both > n {
				best, n = f, both
			}
		}
		if best < 0.5 || i == 0 && (!slices.ContainsFunc(group, func(p phrase) bool { return slices.Contains(have, p[len(p)-1]) })) {
			return 0
		}
		total, shared = total+best, shared+n
	}
	score := total / float64(len(d.object))
	if score < 0.75 || shared < 2 && score < 1 {
		return 0
	}
	return score
}

// rebuttals finds for what is denied in a new text the stored statement that belies
// it best, and for what is done in it the stored denial. One contradiction is raised
// once: not again when what is denied or done is only repeated.
func rebuttals(n *reading, stored []*reading) []Verdict {
	var out []Verdict
	for _, d := range denialsIn(n.Text) {
		if slices.ContainsFunc(stored, func(o *reading) bool { return slices.ContainsFunc(denialsIn(o.Text), d.repeats) }) {
			continue
		}
		if r := belier(d, stored); r.old != nil {
			r.said = d.said
			out = append(out, r.verdict(n))
		}
	}
	deeds := deedsIn(n)
	var best rebuttal
	for _, o := range stored {
		if len(deeds) == 0 {
			break
		}
		for _, d := range denialsIn(o.Text) {
			for _, e := range deeds {
				r := rebuttal{score: belied(d, e), same: slices.Contains(d.verbs, e.verb), old: o, said: e.said, was: d.said}
				if r.score == 1 && (r.same || d.precise()) && r.beats(best) && belier(d, stored).old == nil {
					best = r
				}
			}
		}
	}
	if best.old != nil {
		out = append(out, best.verdict(n))
	}
	return out
}

// belier finds the stored deed that belies a denial best: what was said first before
// what says it again, the same verb before another one for the deed.
func belier(d denial, stored []*reading) rebuttal {
	var best rebuttal
	for _, o := range stored {
		for _, e := range deedsIn(o) {
			if r := (rebuttal{score: belied(d, e), same: slices.Contains(d.verbs, e.verb), old: o, was: e.said}); r.beats(best) {
				best = r
			}
		}
	}
	return best
}

// repeats reports whether two denials are the same.
func (d denial) repeats(e denial) bool {
	return d.who == e.who && slices.Equal(d.verbs, e.verbs) && slices.EqualFunc(d.object, e.object, func(a, b []phrase) bool {
		return slices.EqualFunc(a, b, func(p, q phrase) bool { return slices.Equal(p, q) })
	})
}

// precise reports whether what is denied is more than a whole field. "I never
// studied probability" is over with the first lesson, and nothing contradicts.
func (d denial) precise() bool {
	return len(d.object) > 1 || slices.ContainsFunc(d.object[0], func(p phrase) bool { return len(p) > 1 })
}

// A rebuttal is a stored text that contradicts a new one.
type rebuttal struct {
	score     float64
	same      bool // verb
	old       *reading
	said, was span
}

func (r rebuttal) verdict(n *reading) Verdict {
	v := conflict(ruleNever, min(0.75, 0.5+r.score/4))
	v.Old, v.Said, v.Was = r.old.ID, n.Text[r.said.from:r.said.to], r.old.Text[r.was.from:r.was.to]
	return *v
}

func (r rebuttal) beats(s rebuttal) bool {
	switch {
	case s.old == nil || r.score != s.score:
		return r.score > s.score
	case !r.old.When.Equal(s.old.When):
		return r.old.When.Before(s.old.When)
	case r.same != s.same:
		return r.same
	}
	return r.old.ID < s.old.ID
}
