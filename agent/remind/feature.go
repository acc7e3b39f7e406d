package remind

import (
	"math"
	"strings"
	"sync"

	"stet/templates/lexicon"
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

	names  map[string]bool // stems of what the memories write as names
	rare   map[string]float64
	shared map[string]word // by stem, as the prompt has it
	total  float64         // of what is shared
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
	return by * x.rarity(w.stem)
}

// rarity is that of a stem, worked out once for all pairs.
func (x *pair) rarity(stem string) float64 {
	v, ok := x.rare[stem]
	if !ok {
		v = x.c.rarity(stem)
		x.rare[stem] = v
	}
	return v
}

// features are those of each of memories beside a prompt, the same and in the same order for every one.
func features(p *Prompt, memories []*Memory, c Counts) [][]feature {
	names, rare := namesIn(memories), map[string]float64{}
	out, total := make([][]feature, len(memories)), make([]float64, len(memories))
	most, second := 0.0, 0.0
	for i, m := range memories {
		x := &pair{p: p, m: m, c: c, names: names, rare: rare, shared: map[string]word{}}
		x.look()
		out[i], total[i] = x.out, x.total
		if x.total > most {
			most, second = x.total, most
		} else {
			second = max(second, x.total)
		}
	}
	for i := range out {
		others := most
		if total[i] == most {
			others = second
		}
		out[i] = append(out[i], feature{"lead", total[i] / math.Max(total[i]+others, 0.1)})
	}
	return out
}

// namesIn are the stems that memories write with a capital letter wherever they stand.
func namesIn(memories []*Memory) map[string]bool {
	out, small := map[string]bool{}, map[string]bool{}
	for _, m := range memories {
		for _, w := range m.words {
			if w.class > trade && !w.upper || w.class == common || w.class == trade {
				continue
			}
			small[w.stem] = small[w.stem] || !w.upper
			out[w.stem] = out[w.stem] || !w.first
		}
	}
	for stem := range out {
		if small[stem] {
			delete(out, stem)
		}
	}
	return out
}

func (x *pair) look() {
	p, m := x.p, x.m
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
	x.meant(in)
	x.asked()
}

// sums adds up the shared words by what they are.
func (x *pair) sums(in map[string]word) {
	var by [classes]float64
	var best, second, pasted, rare, owned, the, some float64
	for stem, w := range x.shared {
		class := w.class
		if class == plain && in[stem].class > class {
			class = in[stem].class
		}
		if class == plain && x.names[stem] || class == name {
			class = plain
			if x.names[stem] {
				class = name
			}
		}
		if w.pasted {
			pasted += x.weight(w)
			continue
		}
		by[class] += x.rarity(stem)
		v := x.weight(w)
		x.total += v
		switch {
		case determiners()["own"][w.before]:
			owned += v
		case determiners()["the"][w.before]:
			the += v
		case determiners()["a"][w.before]:
			some += v
		}
		if v > best {
			best, second = v, best
		} else {
			second = max(second, v)
		}
		if x.c.Having[stem] <= 3 && class != common {
			rare++
		}
	}
	for k := range classes {
		x.add("shared."+k.String(), math.Min(by[k], 4))
	}
	x.add("pasted", math.Min(pasted, 4))
	x.add("best", best)
	x.add("second", second)
	x.add("rare", math.Min(rare, 4))
	x.add("owned", math.Min(owned, 2))
	x.add("the", math.Min(the, 2))
	x.add("some", math.Min(some, 2))
}

// covers says how much of the memory and of the prompt is shared, and of the sentence of the prompt that shares most.
func (x *pair) covers() {
	ratio := func(p part) float64 { return p.shared / math.Max(p.all, 1) }
	whole, sentences := x.parts(x.m.text)
	x.add("cover.memory", ratio(whole))
	cover := 0.0
	for _, p := range sentences {
		cover = math.Max(cover, ratio(p))
	}
	x.add("cover.memory.sentence", cover)
	whole, sentences = x.parts(x.p.text)
	x.add("cover.prompt", ratio(whole))
	most := part{}
	for _, p := range sentences {
		if p.shared > most.shared {
			most = p
		}
	}
	x.add("sentence", math.Min(most.shared, 4))
	x.add("sentence.cover", ratio(most))
}

// A part is what words of a text count together, and those of them that are shared.
type part struct{ shared, all float64 }

// parts are those of a text and of each of its sentences; every word counts once in each.
func (x *pair) parts(t *text) (whole part, sentences []part) {
	sentences = make([]part, t.lines)
	met := make(map[string]int, len(t.words)) // the last sentence, from 1
	for _, w := range t.words {
		last := met[w.stem]
		if last == w.line+1 {
			continue
		}
		met[w.stem] = w.line + 1
		v, both := x.weight(w), 0.0
		if x.c.Having[w.stem] == 0 { // the memories' topic is another one
			v = 0.6 * boolean(w.class != common && w.class != trade)
		}
		if s, ok := x.shared[w.stem]; ok && !s.pasted {
			both = v
		}
		sentences[w.line].all += v
		sentences[w.line].shared += both
		if last == 0 {
			whole.all += v
			whole.shared += both
		}
	}
	return whole, sentences
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

// meant adds up the things that both name by other words.
func (x *pair) meant(in map[string]word) {
	kin := x.p.r.akin()
	theirs := map[string]bool{}
	for stem := range in {
		if _, both := x.shared[stem]; !both {
			for _, g := range kin.groups[stem] {
				theirs[g] = true
			}
		}
	}
	met := map[string]bool{}
	sum, best, n := 0.0, 0.0, 0.0
	for _, w := range x.p.words {
		if _, both := x.shared[w.stem]; both || w.pasted {
			continue
		}
		for _, g := range kin.groups[w.stem] {
			if met[g] || !theirs[g] {
				continue
			}
			met[g] = true
			v := x.groupRarity(g)
			sum += v
			best = math.Max(best, v)
			n++
		}
	}
	x.add("meant", math.Min(sum, 3))
	x.add("meant.best", best)
	x.add("meant.beside", best*boolean(len(x.shared) > 0))
}

// groupRarity is how rare memories with any word of a group are.
func (x *pair) groupRarity(g string) float64 {
	n := 0
	for _, s := range x.p.r.akin().stems[g] {
		n += x.c.Having[s]
	}
	files := float64(max(x.c.Files, n, fewFiles)) + 1
	return math.Log(files/(float64(n)+0.5)) / math.Log(files)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func boolean(b bool) float64 {
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
	own := has("my", "mine", "mein", "meine", "meinen", "meiner", "meinem", "mon", "ma", "mes", "mi", "mis",
		"our", "ours", "we", "us", "unser", "unsere", "unserer", "unseren", "wir", "uns", "notre", "nos", "nous",
		"nuestro", "nuestra")
	i := has("i", "me", "ich", "mir", "mich", "je", "moi", "yo")
	x.add("own", own)
	x.add("i", i)
	general, task, goes := p.opens["general"]+p.opens["abstract"] > 0, p.opens["task"] > 0, p.opens["go"] > 0
	x.add("general", boolean(general))
	x.add("abstract", boolean(p.opens["abstract"] > 0))
	x.add("general.alone", boolean(general && own == 0 && i == 0))
	x.add("task", boolean(task))
	x.add("task.alone", boolean(task && own == 0))
	x.add("go", boolean(goes))
	x.add("opens.own", boolean(p.opens["own"] > 0))
	x.add("asks", boolean(p.asks))
	x.add("code", boolean(p.code))
	x.add("length", math.Log1p(float64(p.all)))
	trades, unknown := 0.0, 0.0
	for _, w := range p.words {
		trades += boolean(w.class == trade)
		unknown += boolean(x.c.Having[w.stem] == 0 && w.class != common)
	}
	x.add("trade", trades/float64(max(len(p.words), 1)))
	x.add("unknown", unknown/float64(max(len(p.words), 1)))
}

var determiners = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, e := range []lexicon.Entry{
		{Head: "own", Words: strings.Fields("my our mein meine meinen meinem meiner unser unsere unserer unseren " +
			"unserem mon ma mes notre nos mi mis nuestro nuestra nuestros nuestras")},
		{Head: "the", Words: strings.Fields("the this that der die das den dem des le la les l el los las del al du")},
		{Head: "a", Words: strings.Fields("a an some any ein eine einen einem einer un une des una unos unas")},
	} {
		out[e.Head] = map[string]bool{}
		for _, w := range e.Words {
			out[e.Head][w] = true
		}
	}
	return out
})
