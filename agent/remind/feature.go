package remind

import (
	"math"
	"strings"
)

// A feature is a number that says something of a prompt and a memory.
type feature struct {
	name  string
	value float64
}

// prefixLeast is the number of letters from which on two words that begin with them are taken for akin.
const prefixLeast = 5

// A pair is a prompt beside a memory.
type pair struct {
	p *Prompt
	m *Memory
	c Counts

	shared map[string]word // by stem, as the prompt has it
	out    []feature
}

func (x *pair) add(name string, value float64) { x.out = append(x.out, feature{name, value}) }

// weight is what sharing a word counts by itself.
func (x *pair) weight(w word) float64 {
	by := 1.0
	switch w.class {
	case common:
		by = 0.3
	case trade:
		by = 0.5
	}
	return by * x.c.rarity(w.stem)
}

// features are those of a pair, the same and in the same order for every pair.
func features(p *Prompt, m *Memory, c Counts) []feature {
	x := &pair{p: p, m: m, c: c, shared: map[string]word{}}
	in := map[string]word{}
	for _, w := range m.words {
		in[w.stem] = w
	}
	for _, w := range p.words {
		if _, ok := in[w.stem]; ok {
			if old, met := x.shared[w.stem]; !met || old.pasted {
				x.shared[w.stem] = w
			}
		}
	}
	x.sums(in)
	x.covers()
	x.together()
	x.akin(in)
	x.asked()
	return x.out
}

// sums adds up the shared words by what they are.
func (x *pair) sums(in map[string]word) {
	var by [classes]float64
	best, second, pasted, rare, title := 0.0, 0.0, 0.0, 0.0, 0.0
	for stem, w := range x.shared {
		class := w.class
		if in[stem].class == name || class == plain && in[stem].class > class {
			class = in[stem].class
		}
		if w.pasted {
			pasted += x.weight(w)
			continue
		}
		by[class] += x.c.rarity(stem)
		v := x.weight(w)
		if v > best {
			best, second = v, best
		} else {
			second = max(second, v)
		}
		if x.c.Having[stem] <= 3 && class != common {
			rare++
		}
		if x.m.title[stem] {
			title += v
		}
	}
	for k := range classes {
		x.add("shared."+k.String(), math.Min(by[k], 4))
	}
	x.add("pasted", math.Min(pasted, 4))
	x.add("best", best)
	x.add("second", second)
	x.add("rare", math.Min(rare, 4))
	x.add("title", math.Min(title, 3))
}

// covers says how much of the memory and of the prompt is shared, and of the sentence of the prompt that shares most.
func (x *pair) covers() {
	part := func(t *text, line int) (shared, all float64) {
		met := map[string]bool{}
		for _, w := range t.words {
			if met[w.stem] || line >= 0 && w.line != line {
				continue
			}
			met[w.stem] = true
			v := x.weight(w)
			if x.c.Having[w.stem] == 0 { // the memory's topic is another one
				v = x.weight(word{class: w.class}) + 0.6*float64(boolean(w.class != common && w.class != trade))
			}
			all += v
			if s, ok := x.shared[w.stem]; ok && !s.pasted {
				shared += v
			}
		}
		return shared, all
	}
	ratio := func(a, b float64) float64 { return a / math.Max(b, 1) }
	shared, all := part(x.m.text, -1)
	x.add("cover.memory", ratio(shared, all))
	most, cover := 0.0, 0.0
	for line := range x.m.lines {
		if s, all := part(x.m.text, line); s > 0 {
			cover = math.Max(cover, ratio(s, all))
		}
	}
	x.add("cover.memory.sentence", cover)
	shared, all = part(x.p.text, -1)
	x.add("cover.prompt", ratio(shared, all))
	cover = 0
	for line := range x.p.lines {
		if s, all := part(x.p.text, line); s > most {
			most, cover = s, ratio(s, all)
		}
	}
	x.add("sentence", math.Min(most, 4))
	x.add("sentence.cover", cover)
}

// together says whether shared words stand side by side, or near each other, in both.
func (x *pair) together() {
	var side, near float64
	places := map[string][]int{}
	for _, w := range x.m.words {
		places[w.stem] = append(places[w.stem], w.at)
	}
	for i, a := range x.p.words {
		for _, b := range x.p.words[i+1:] {
			if b.at-a.at > 6 {
				break
			}
			if a.stem == b.stem || a.pasted || b.pasted || a.at == b.at {
				continue
			}
			v := math.Min(x.weight(a), x.weight(b))
			switch gap := closest(places[a.stem], places[b.stem]); {
			case gap == 1 && b.at-a.at == 1:
				side += v
			case gap > 0 && gap <= 6:
				near += v
			}
		}
	}
	x.add("side", math.Min(side, 2))
	x.add("near", math.Min(near, 3))
}

// closest is the least distance between places of two words, 0 where one has none.
func closest(a, b []int) int {
	best := 0
	for _, i := range a {
		for _, j := range b {
			if gap := max(i-j, j-i); gap > 0 && (best == 0 || gap < best) {
				best = gap
			}
		}
	}
	return best
}

// akin adds up words that begin alike and are not shared: forms that no stemmer joins, and the same word in
// another language.
func (x *pair) akin(in map[string]word) {
	sum := 0.0
	met := map[string]bool{}
	for _, w := range x.p.words {
		if _, ok := x.shared[w.stem]; ok || met[w.stem] || w.pasted || len(w.fold) < prefixLeast {
			continue
		}
		met[w.stem] = true
		best := 0.0
		for stem, o := range in {
			if len(o.fold) >= prefixLeast && strings.HasPrefix(o.fold, w.fold[:prefixLeast]) {
				v := x.weight(word{stem: stem, class: max(o.class, w.class)})
				best = math.Max(best, v*float64(commonPrefix(o.fold, w.fold))/float64(max(len(o.fold), len(w.fold))))
			}
		}
		sum += best
	}
	x.add("akin", math.Min(sum, 3))
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// asked says what kind of prompt it is.
func (x *pair) asked() {
	p := x.p
	has := func(words ...string) float64 {
		for _, w := range words {
			if p.stops[w] {
				return 1
			}
		}
		return 0
	}
	x.add("my", has("my", "mine", "mein", "meine", "meinen", "meiner", "meinem", "mon", "ma", "mes", "mi", "mis"))
	x.add("our", has("our", "ours", "we", "us", "unser", "unsere", "unserer", "unseren", "wir", "notre", "nos", "nous",
		"nuestro", "nuestra", "nosotros"))
	x.add("i", has("i", "me", "ich", "mir", "mich", "je", "j", "moi", "yo", "me"))
	x.add("who", has("who", "whom", "whose", "wer", "wem", "qui", "quien", "quién"))
	x.add("where", has("where", "which", "wo", "welche", "welcher", "welches", "où", "quel", "quelle", "dónde", "cuál"))
	x.add("when", has("when", "wann", "quand", "cuándo"))
	x.add("what", has("what", "was", "quoi", "que", "qué"))
	x.add("how", has("how", "wie", "comment", "cómo", "why", "warum", "pourquoi"))
	x.add("asks", float64(boolean(p.asks)))
	x.add("code", float64(boolean(p.code)))
	x.add("length", math.Log1p(float64(p.all)))
	trades, unknown := 0.0, 0.0
	for _, w := range p.words {
		trades += float64(boolean(w.class == trade))
		unknown += float64(boolean(x.c.Having[w.stem] == 0 && w.class != common))
	}
	x.add("trade", trades/float64(max(len(p.words), 1)))
	x.add("unknown", unknown/float64(max(len(p.words), 1)))
}
