package merge

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

const (
	maxCluster = 8   // skills
	alike      = .35 // cosine of what two skills say
	shortest   = 3   // letters of a word, and of the beginning that names have in common
	tooCommon  = 20  // skills that have a word, from which on it joins none
)

// A pair of skills that could be merged, by their places.
type pair struct {
	a, b int
	like float64
	why  string
}

// Clusters are the skills that could be merged: whose names begin alike, that link to the same places, or that say
// alike. Of each skill SKILL.md is enough. No skill is in two. The cost is that of one look at each word, and of each
// pair that shares a word that fewer than twenty skills have.
func Clusters(skills []fork.Skill) []fork.Cluster {
	pairs := slices.Concat(named(skills), linked(skills), likened(skills))
	slices.SortStableFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.like, x.like), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	of, in, why := make([]int, len(skills)), map[int][]int{}, map[int]string{}
	for i := range skills {
		of[i], in[i] = i, []int{i}
	}
	for _, p := range pairs {
		a, b := of[p.a], of[p.b]
		if a == b || len(in[a])+len(in[b]) > maxCluster {
			continue
		}
		for _, i := range in[b] {
			of[i] = a
		}
		in[a], why[a] = append(in[a], in[b]...), cmp.Or(why[a], why[b], p.why)
		delete(in, b)
	}
	var out []fork.Cluster
	for _, a := range slices.Sorted(maps.Keys(in)) {
		c := fork.Cluster{Why: why[a]}
		for _, i := range in[a] {
			c.Names = append(c.Names, skills[i].Name)
		}
		if slices.Sort(c.Names); len(c.Names) > 1 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b fork.Cluster) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return out
}

// named pairs skills next to each other in order whose names begin with the same word.
func named(skills []fork.Skill) (out []pair) {
	begins := map[string]int{}
	for i, s := range skills {
		word, _, more := strings.Cut(strings.ReplaceAll(s.Name, "_", "-"), "-")
		if len(word) < shortest {
			continue
		}
		if before, ok := begins[word]; ok {
			out = append(out, pair{before, i, 2, "their names begin with " + word})
		}
		if _, ok := begins[word]; more || !ok {
			begins[word] = i
		}
	}
	return out
}

// linked pairs skills that link to each other, or both to two of the same places outside of them.
func linked(skills []fork.Skill) (out []pair) {
	to := map[vault.Path][]int{} // skills, by the places that they are or link to
	at := map[vault.Path]bool{}
	for i, s := range skills {
		to[s.Folder], at[s.Folder] = []int{i}, true
	}
	for i, s := range skills {
		mine := map[vault.Path]bool{s.Folder: true}
		for _, l := range markdown.Parse(s.Files[skill.File].Data).Links() {
			p := vault.Path(path.Join(string(s.Folder), l.Target))
			if dir := vault.Path(p.Dir()); at[dir] {
				p = dir
			}
			if !mine[p] && !strings.HasPrefix(string(p), string(s.Folder)+"/") {
				mine[p], to[p] = true, append(to[p], i)
			}
		}
	}
	shared := map[[2]int]int{}
	for _, all := range to {
		for n, i := range all[:min(len(all), tooCommon)] {
			for _, j := range all[n+1 : min(len(all), tooCommon)] {
				shared[[2]int{min(i, j), max(i, j)}]++
			}
		}
	}
	for ij, n := range shared {
		if n > 1 {
			out = append(out, pair{ij[0], ij[1], 1, "they link to the same places"})
		}
	}
	return out
}

// likened pairs skills that say alike: the cosine of their words, rare ones counting more.
func likened(skills []fork.Skill) (out []pair) {
	has := map[string][]int{}
	words := make([]map[string]float64, len(skills))
	for i, s := range skills {
		words[i] = map[string]float64{}
		text := markdown.Fold(string(markdown.Parse(s.Files[skill.File].Data).Body()))
		now, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
		head := markdown.Fold(now.Name + " " + now.Description)
		for n, part := range []string{text, head, head, head} { // what it says of itself counts more
			for _, w := range strings.FieldsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) }) {
				if len(w) < shortest {
					continue
				}
				if words[i][w] == 0 {
					has[w] = append(has[w], i)
				}
				words[i][w] += float64(min(n, 1) + 1)
			}
		}
	}
	length := make([]float64, len(skills))
	for i := range words {
		for w, n := range words[i] {
			weight := (1 + math.Log(n)) * math.Log(float64(len(skills)+1)/float64(len(has[w])))
			words[i][w] = weight
			length[i] += weight * weight
		}
	}
	dots := map[[2]int]float64{}
	for w, all := range has {
		if len(all) > tooCommon {
			continue
		}
		for n, i := range all {
			for _, j := range all[n+1:] {
				dots[[2]int{i, j}] += words[i][w] * words[j][w]
			}
		}
	}
	for ij, dot := range dots {
		if like := dot / math.Sqrt(length[ij[0]]*length[ij[1]]); like >= alike {
			out = append(out, pair{ij[0], ij[1], math.Round(like*1000) / 1000, "they say alike"})
		}
	}
	return out
}
