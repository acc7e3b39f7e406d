package encode

import (
	"slices"
	"strings"
)

// Probes are texts to search for, so that what is stored of the same things is
// found: the words of the new text, and, where it gives a value to an attribute, the
// words by which others could have given it one. "We switched to MySQL" shares no
// word with "we use PostgreSQL". They hold words alone, no operator of a search.
func Probes(text string) []string {
	var words, kin []string
	for _, c := range clausesOf(text) {
		for _, w := range c.words {
			if w.content() {
				words = append(words, w.fold)
			}
		}
		ch, s := c.change(), c.current()
		if ch != nil {
			for _, w := range slices.Concat(ch.from, ch.what) {
				kin = append(kin, w.fold)
			}
			if a, _, _, _ := find(products(), ch.from); a != "" {
				kin = append(kin, named(products(), a)...)
			}
		}
		if s == nil || s.attribute == "is" {
			continue
		}
		kin = append(kin, strings.Fields(s.owner)...)
		kin = append(kin, said(s.attribute)...)
		kin = append(kin, named(attributes(), s.attribute)...)
		kin = append(kin, named(products(), s.attribute)...)
	}
	var out []string
	for _, d := range denialsIn(text) {
		if q := query(d.named()); len(out) < deniedProbes && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	for _, q := range []string{query(words), query(kin)} {
		if !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// deniedProbes bounds the probes for what a text says was never done, each of which
// is a search of its own.
const deniedProbes = 2

// probeWords bounds a probe; more adds nothing to a ranking.
const probeWords = 60

func query(words []string) string {
	var out []string
	for _, w := range words {
		clean := strings.FieldsFunc(w, func(r rune) bool { return !partOfWord(r) || strings.ContainsRune("+~\\", r) })
		for _, part := range clean {
			if !slices.Contains(out, part) && !isStop(part) && len(out) < probeWords {
				out = append(out, part)
			}
		}
	}
	return strings.Join(out, " ")
}

// named lists the names that a table has for an attribute, in order.
func named(names map[string]string, attribute string) []string {
	var out []string
	for name, a := range names {
		if a == attribute {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// said are the verbs that give a value to an attribute.
func said(attribute string) []string {
	switch attribute {
	case "city":
		return strings.Fields("live lives living based moved wohne wohnt habite vit vivo vive")
	case "employer":
		return strings.Fields("work works working employed arbeite arbeitet travaille trabajo trabaja lavoro lavora")
	case "job":
		return strings.Fields("work works as")
	case "age":
		return strings.Fields("years old")
	case "deadline":
		return strings.Fields("due expires ends")
	case "price":
		return strings.Fields("costs cost")
	case "deploy target":
		return strings.Fields("deploy deploys deployed hosted")
	}
	return nil
}
