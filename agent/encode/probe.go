package encode

import (
	"slices"
	"strings"
)

// probeWords bounds a probe; more adds nothing to a ranking.
const probeWords = 60

// Probes are texts to search for, so that what is stored of the same things is found:
// the words of the new text; and the names of things of the same kind and the words of
// the same topic, for "We switched to MySQL" shares no word with "We use PostgreSQL".
// They hold words alone, no operator of a search.
// Of a large text they are those of its first [maxText] bytes.
func Probes(text string) []string {
	r := read(Memory{Text: strings.ToValidUTF8(text[:min(len(text), maxText)], "")})
	var own, kin []string
	for i := range r.words {
		w := &r.words[i]
		if w.weight == 0 && !w.number {
			continue
		}
		own = append(own, w.fold)
		if k := kinds()[w.stem]; k != "" {
			kin = append(kin, namesOf(k)...)
		}
		for _, t := range r.lang.topics[w.fold] {
			if topic, ok := strings.CutSuffix(t, "!"); ok && w.class&verb != 0 {
				kin = append(kin, r.lang.wordsOf(topic)...)
			}
		}
	}
	out := []string{query(own)}
	if q := query(kin); q != "" && q != out[0] {
		out = append(out, q)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func query(words []string) string {
	var out []string
	for _, w := range words {
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return !partOfWord(r) || strings.ContainsRune("+~\\", r) }) {
			if !slices.Contains(out, part) && len(out) < probeWords {
				out = append(out, part)
			}
		}
	}
	return strings.Join(out, " ")
}

// namesOf lists the names of a kind, in order.
func namesOf(kind string) []string {
	var out []string
	for name, k := range kinds() {
		if k == kind {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// wordsOf lists the words of a topic that are no stop words, in order.
func (l *language) wordsOf(topic string) []string {
	var out []string
	for w, topics := range l.topics {
		if slices.Contains(topics, topic) && l.classes[w]&stop == 0 {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}
