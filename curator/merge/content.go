package merge

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/curator/fork"
	"stet/vault"
	"stet/vault/skill"
)

// A Coverage says how much of a skill stands in the one that absorbed it: shares, 1 is all.
type Coverage struct {
	Name    string    `json:"name"`
	Into    string    `json:"into"`
	Lines   float64   `json:"lines"`
	Values  float64   `json:"values"`
	Code    float64   `json:"code"`
	Missing []string  `json:"missing,omitempty"` // the first of what does not
	first   [3]string // of lines, values and code
	lost    int       // lines
	unsaid  int       // of those that are no headings
	bound   string    // the first sentence that forbids or bounds something and does not stand there
}

// missing is how much of what is not covered is named.
const maxMissing = 20

// values are the typed values of a plain sentence: code, numbers, dates, addresses, paths, options, variables.
func values(line string) (out []string) {
	parts := strings.Split(line, "`")
	for i, part := range parts {
		if i%2 == 1 && i < len(parts)-1 {
			out = append(out, strings.TrimSpace(part))
			continue
		}
		for _, word := range strings.Fields(part) {
			word = strings.Trim(word, wordMarks)
			if strings.ContainsFunc(word, unicode.IsDigit) || strings.ContainsAny(word, `/\_@$=~`) ||
				strings.HasPrefix(word, "--") {
				out = append(out, word)
			}
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return strings.Trim(v, `/\_@$=~-`) == "" })
}

// known is what an umbrella says, or a part of it, as others are looked for in it.
type known struct {
	said  map[string]bool     // sentences and code
	holds map[string][]string // sentences by the values that they have
}

// know takes in a skill, or what of it keep says.
func know(s fork.Skill, keep func(file string, line int) bool) known {
	k := known{map[string]bool{}, map[string][]string{}}
	for p, data := range texts(s) {
		for _, u := range units(data) {
			if keep != nil && !keep(p, u.line) {
				continue
			}
			for _, one := range u.says() {
				if k.said[one] = true; u.kind == coded {
					continue
				}
				for _, v := range values(one) {
					k.holds[v] = append(k.holds[v], one)
				}
			}
		}
	}
	return k
}

// hasValue reports whether a value of a sentence stands in one that says something like it.
func (k known) hasValue(v, sentence string) bool {
	all := strings.Fields(sentence)
	return slices.ContainsFunc(k.holds[v], func(other string) bool {
		n := 0
		for _, w := range all {
			if strings.Contains(" "+other+" ", " "+w+" ") {
				n++
			}
		}
		return 2*n >= len(all)
	})
}

// Holder is the file of another skill that holds what a file of one that went into it said, else SKILL.md.
func Holder(gone fork.Skill, file string, into fork.Skill) string {
	to, _ := rehomed(gone, into)
	return cmp.Or(to[file], skill.File)
}

// rehomed is where each file beside SKILL.md stands in another skill: byte for byte and with its mode, or of Markdown
// most of what it says and at least half of it. missing are those that do not, and are no texts that could stand in
// others.
func rehomed(gone, into fork.Skill) (to map[string]string, missing []string) {
	to = map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(gone.Files)) {
		if p == skill.File {
			continue
		}
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(into.Files)), func(q string) bool {
			return !same(into.Files[q], gone.Files[p])
		})
		switch {
		case len(names) > 0: // of several the one that is called most like the skill, or as it was
			to[p] = slices.MaxFunc(names, func(a, b string) int {
				return cmp.Compare(likeName(a, p, gone.Name), likeName(b, p, gone.Name))
			})
		case !vault.Path(p).IsMarkdown():
			missing = append(missing, p)
		default:
			if q := rewritten(gone.Files[p].Data, into); q != "" {
				to[p] = q
			}
		}
	}
	return to, missing
}

// likeName is how many words of the name of a skill a file is called by, and a half where it keeps its own name.
func likeName(file, was, of string) (like float64) {
	for _, w := range words(of) {
		if slices.Contains(words(file), w) {
			like++
		}
	}
	if file == was {
		like += .5
	}
	return like
}

func same(a, b fork.File) bool { return a.Exec == b.Exec && bytes.Equal(a.Data, b.Data) }

// rewritten is the Markdown file of a skill that says most of a text, and at least half of it; "" for none.
func rewritten(text []byte, in fork.Skill) (file string) {
	all, most := units(text), 0
	for p, data := range texts(in) {
		one, n := know(fork.Skill{Files: map[string]fork.File{p: {Data: data}}}, nil), 0
		for _, u := range all {
			if !slices.ContainsFunc(u.says(), func(s string) bool { return !one.said[s] }) {
				n++
			}
		}
		if p != skill.File && n > most && 2*n >= len(all) {
			file, most = p, n
		}
	}
	return file
}

var linkText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\[\]]*\]\(`) })

// moved is a text of a skill with the new places of its files, in all of it, and with the texts of links as they were.
func moved(data []byte, to map[string]string) (all, butTexts []byte) {
	old := slices.Sorted(maps.Keys(to))
	slices.SortStableFunc(old, func(a, b string) int { return len(b) - len(a) })
	var moves []string
	for _, p := range old {
		if p != to[p] && strings.ContainsAny(p, "./") {
			moves = append(moves, p, to[p])
		}
	}
	now, text, from := strings.NewReplacer(moves...), string(data), 0
	for _, at := range linkText().FindAllStringIndex(text, -1) {
		butTexts = append(butTexts, now.Replace(text[from:at[0]])+text[at[0]:at[1]]...)
		from = at[1]
	}
	return []byte(now.Replace(text)), append(butTexts, now.Replace(text[from:])...)
}

// A stand is where what a skill says is looked for: in its own part of an umbrella, and where others say it too, in all
// of it.
type stand struct {
	into       fork.Skill
	at         layout
	own, whole known
	common     map[string]bool // sentences and code that more than one of the absorbed has
}

// of is where what one skill says has to stand, with "" that of the umbrella as it was.
func (s stand) of(name string) stand {
	s.own = s.whole
	if s.at.owners != nil {
		own := know(s.into, func(file string, line int) bool { return s.at.owner(file, line) == name })
		if name == "" || len(own.said) > 0 { // that it has no section is told
			s.own = own
		}
	}
	return s
}

// commonOf is what two of the skills say, or more.
func commonOf(all []fork.Skill) map[string]bool {
	out, by := map[string]bool{}, map[string]int{}
	for _, s := range all {
		for said := range know(s, nil).said {
			by[said]++
			out[said] = by[said] > 1
		}
	}
	return out
}

func (s stand) has(said string) bool { return s.own.said[said] || s.common[said] && s.whole.said[said] }

// A tally counts how many of some things there are, and how many of them stand in the new place.
type tally struct {
	of, stand int
	missing   string // the first that does not
}

func (t *tally) count(stands bool, what string, missing *[]string) {
	if t.of++; stands {
		t.stand++
		return
	}
	t.missing = cmp.Or(t.missing, what)
	*missing = append(*missing, what)
}

func (t tally) share() float64 { return share(t.stand, t.of) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// nth is a sentence of a unit, "" where there is none.
func nth(all []unit, i, n int) string {
	if i < len(all) {
		if says := all[i].says(); n < len(says) {
			return says[n]
		}
	}
	return ""
}

// cover says how much of a skill stands where it has to: of its SKILL.md and of those of its Markdown files that do not
// stand there as they are, with the new places of its files. A title is replaced by another.
func cover(gone fork.Skill, k stand) Coverage {
	out := Coverage{Name: gone.Name, Into: k.into.Name}
	var lines, typed, code tally
	to, missing := rehomed(gone, k.into)
	if lost := lostFields(gone, k.into); len(lost) > 0 {
		out.Missing = append(out.Missing, "of its front matter: "+strings.Join(lost, "; "))
	}
	for p := range to {
		code.count(true, p, nil)
	}
	for _, p := range missing {
		code.count(false, "file "+p, &out.Missing)
	}
	for p, data := range texts(gone) {
		if p != skill.File && same(k.into.Files[to[p]], gone.Files[p]) {
			continue
		}
		now, butTexts := moved(data, to)
		other := units(butTexts)
		for i, u := range units(now) {
			for n, said := range u.says() {
				has := k.has(said) || k.has(nth(other, i, n))
				if u.kind == coded {
					code.count(has, "code "+first(u.text), &out.Missing)
					continue
				}
				if u.title(i) {
					continue
				}
				lines.count(has, quoted(said), &out.Missing)
				if !has && !u.leads() {
					out.unsaid++
				}
				if !has && u.kind != hidden && bounds(said) {
					out.bound = cmp.Or(out.bound, said)
				}
				for _, v := range values(said) {
					typed.count(has || k.own.hasValue(v, said), "value "+v, &out.Missing)
				}
			}
		}
	}
	out.lost, out.first = lines.of-lines.stand, [3]string{lines.missing, typed.missing, code.missing}
	out.Lines, out.Values, out.Code = lines.share(), typed.share(), code.share()
	out.Missing = out.Missing[:min(len(out.Missing), maxMissing)]
	return out
}
