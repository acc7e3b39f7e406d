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
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

// A Coverage says how much of a skill stands in the one that absorbed it: shares, 1 is all.
type Coverage struct {
	Name    string   `json:"name"`
	Into    string   `json:"into"`
	Lines   float64  `json:"lines"`
	Values  float64  `json:"values"`
	Code    float64  `json:"code"`
	Missing []string `json:"missing,omitempty"` // the first of what does not
	lost    int      // lines
	unsaid  int      // of those that are no headings
	bound   string   // the first sentence that forbids or bounds something and does not stand there
}

// missing is how much of what is not covered is named.
const maxMissing = 20

// A body is what a comparison sees of texts: lines outside of code, each made plain, those of them that are neither
// headings nor lead to what follows, and blocks of code.
type body struct {
	lines, said, code []string
	titles            []string // of files
}

// read adds a Markdown text.
func (b *body) read(data []byte) { b.add(partsOf(data)) }

func (b *body) add(parts []part) {
	first := true
	for _, p := range parts {
		text := p.plain()
		if text != "" && first {
			if first = false; strings.HasPrefix(p.text, "# ") {
				b.titles = append(b.titles, text)
			}
		}
		switch {
		case p.kind == coded:
			b.code = append(b.code, p.text)
			continue
		case text == "":
			continue
		case !strings.HasPrefix(strings.TrimLeft(p.text, " \t>"), "#") && !strings.HasSuffix(p.text, ":"):
			b.said = append(b.said, text)
		}
		b.lines = append(b.lines, text)
	}
}

// block is code without the indent that all of its lines have.
func block(lines []string) string {
	indent := -1
	for _, l := range lines {
		if n := len(l) - len(strings.TrimLeft(l, " \t")); l != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(max(indent, 0), len(l)):]
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

var marks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\s>]*(?:[-*+]\s|\d+[.)]\s)?\s*(?:\[[ xX]\]\s)?#*\s*`)
})

var target = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\(([^()\s]*)([^()]*)\)`) })

// plain is a line as it is compared: without what makes it a heading or an item, and without where its relative links
// lead, which is looked at elsewhere. It is "" where nothing is said.
func plain(line string) string {
	line = target().ReplaceAllStringFunc(line, func(s string) string {
		if strings.Contains(s, "://") {
			return s
		}
		return "](" + strings.TrimSpace(target().FindStringSubmatch(s)[2]) + ")"
	})
	line = strings.Join(strings.Fields(markdown.Fold(marks().ReplaceAllString(line, ""))), " ")
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return line
}

// wordMarks may stand around a word and are none of it.
const wordMarks = "`.,;:!?()[]{}\"'*<>|"

// values are the typed values of a plain line: code, numbers, dates, addresses, paths, options, variables.
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

// known is an umbrella as others are looked for in it.
type known struct {
	lines  map[string]bool
	joined string
	said   map[string]bool // sentences
	code   map[string]bool
	holds  map[string][]string // lines by the values that they have
}

// know takes in a skill, or those of its lines that keep says.
func know(s fork.Skill, keep func(file string, line int) bool) known {
	var b body
	for _, p := range slices.Sorted(maps.Keys(s.Files)) {
		if vault.Path(p).IsMarkdown() {
			b.add(slices.DeleteFunc(partsOf(s.Files[p].Data), func(one part) bool {
				return keep != nil && !keep(p, one.line)
			}))
		}
	}
	k := known{lines: map[string]bool{}, said: map[string]bool{}, code: map[string]bool{}, holds: map[string][]string{}}
	for p, f := range s.Files {
		if vault.Path(p).IsMarkdown() {
			for one := range shownUnits(f.Data) {
				if keep == nil || keep(p, one.line) {
					for _, said := range sentences(one.text) {
						k.said[said] = true
					}
				}
			}
		}
	}
	var joined strings.Builder
	for _, l := range b.lines {
		if k.lines[l] = true; !strings.HasPrefix(l, comment) {
			joined.WriteString(" " + l)
		}
		for _, v := range values(l) {
			k.holds[v] = append(k.holds[v], l)
		}
	}
	for _, c := range b.code {
		k.code[c] = true
	}
	k.joined = joined.String() + " "
	return k
}

// longLine is from how many words on a line may stand in the middle of others, wrapped in another way.
const longLine = 4

func (k known) has(line string) bool {
	return k.lines[line] || strings.Count(line, " ") >= longLine-1 && strings.Contains(k.joined, " "+line+" ")
}

// hasValue reports whether a value of a line stands in one that says something like it.
func (k known) hasValue(v, line string) bool {
	words := strings.Fields(line)
	return slices.ContainsFunc(k.holds[v], func(other string) bool {
		n := 0
		for _, w := range words {
			if strings.Contains(" "+other+" ", " "+w+" ") {
				n++
			}
		}
		return 2*n >= len(words)
	})
}

// Holder is the file of another skill that holds what a file of one that went into it said: where it stands byte for
// byte, else the Markdown file with most of its lines and at least half of them, else SKILL.md.
func Holder(gone fork.Skill, file string, into fork.Skill) string {
	to := Rehomed(gone, into)
	if at, ok := to[file]; ok {
		return at
	}
	out, most, was := skill.File, 0, body{}
	if file != skill.File && vault.Path(file).IsMarkdown() {
		was.read(moved(gone.Files[file].Data, to))
	}
	said := slices.Concat(was.lines, was.code)
	for _, p := range slices.Sorted(maps.Keys(into.Files)) {
		one, n := know(fork.Skill{Files: map[string]fork.File{p: into.Files[p]}}, nil), 0
		for _, line := range said {
			if one.has(line) || one.code[line] {
				n++
			}
		}
		if n > most && 2*n >= len(said) {
			out, most = p, n
		}
	}
	return out
}

// Rehomed is where each file beside SKILL.md stands in another skill, byte for byte and with its mode.
func Rehomed(gone, into fork.Skill) map[string]string {
	to, _ := rehomed(gone, into)
	return to
}

// rehomed is where each file beside SKILL.md stands in another skill, byte for byte and with its mode; missing are
// those that do not, and are no texts that could stand in others.
func rehomed(gone, into fork.Skill) (to map[string]string, missing []string) {
	to = map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(gone.Files)) {
		f := gone.Files[p]
		same := func(q string) bool {
			g, ok := into.Files[q]
			return ok && g.Exec == f.Exec && bytes.Equal(g.Data, f.Data)
		}
		switch {
		case p == skill.File:
		case same(p):
			to[p] = p
		default:
			all := slices.Sorted(maps.Keys(into.Files))
			if i := slices.IndexFunc(all, same); i >= 0 {
				to[p] = all[i]
			} else if !vault.Path(p).IsMarkdown() {
				missing = append(missing, p)
			}
		}
	}
	return to, missing
}

// moved is a text with the new places of files.
func moved(data []byte, to map[string]string) []byte {
	old := slices.Sorted(maps.Keys(to))
	slices.SortStableFunc(old, func(a, b string) int { return len(b) - len(a) })
	var moves []string
	for _, p := range old {
		if p != to[p] && strings.ContainsAny(p, "./") {
			moves = append(moves, p, to[p])
		}
	}
	return []byte(strings.NewReplacer(moves...).Replace(string(data)))
}

// A stand is where what a skill says is looked for: in its own part of an umbrella, and where others say it too, in all
// of it.
type stand struct {
	into       fork.Skill
	at         layout
	own, whole known
	common     map[string]bool // lines and blocks of code that more than one of the absorbed says
}

// of is where the lines of one skill have to stand, with "" those of the umbrella as it was.
func (s stand) of(name string) stand {
	s.own = s.whole
	if s.at.owners != nil {
		own := know(s.into, func(file string, line int) bool { return s.at.owner(file, line) == name })
		if name == "" || len(own.lines)+len(own.code) > 0 { // that it has no section is told
			s.own = own
		}
	}
	return s
}

// commonOf are the lines and blocks of code that two of the skills have, or more.
func commonOf(all []fork.Skill) map[string]bool {
	out, by := map[string]bool{}, map[string]int{}
	for i, s := range all {
		var b body
		for p, f := range s.Files {
			if vault.Path(p).IsMarkdown() {
				b.read(f.Data)
			}
		}
		var said []string
		for p, f := range s.Files {
			if vault.Path(p).IsMarkdown() {
				for one := range shownUnits(f.Data) {
					said = append(said, sentences(one.text)...)
				}
			}
		}
		for _, said := range slices.Concat(b.lines, b.code, said) {
			before := by[said]
			out[said], by[said] = out[said] || before > 0 && before != i+1, i+1
		}
	}
	return out
}

func (s stand) has(line string) bool { return s.own.has(line) || s.common[line] && s.whole.has(line) }

// Cover says how much of a skill stands in another: of its SKILL.md and of those of its Markdown files that do not
// stand there as they are, with the new places of those that do. A title is replaced by another.
func Cover(gone, into fork.Skill) Coverage {
	all := know(into, nil)
	return cover(gone, stand{into: into, own: all, whole: all})
}

func cover(gone fork.Skill, k stand) Coverage {
	out := Coverage{Name: gone.Name, Into: k.into.Name}
	to, missing := rehomed(gone, k.into)
	for _, p := range missing {
		out.Missing = append(out.Missing, "file "+p)
	}
	var b body
	for _, p := range slices.Sorted(maps.Keys(gone.Files)) {
		if _, copied := to[p]; !copied && vault.Path(p).IsMarkdown() {
			data := moved(gone.Files[p].Data, to)
			b.read(data)
			out.bound = cmp.Or(out.bound, k.unbound(data, b.titles))
		}
	}
	for _, l := range b.said {
		if !k.has(l) {
			out.unsaid++
		}
	}
	var all, stand, typed, valued int
	for _, l := range b.lines {
		of, title := values(l), slices.Contains(b.titles, l)
		if typed += len(of); !title {
			all++
		}
		switch {
		case k.has(l):
			if valued += len(of); !title {
				stand++
			}
			continue
		case !title:
			out.Missing = append(out.Missing, emptied().ReplaceAllString(l, "$1"))
		}
		for _, v := range of {
			if k.own.hasValue(v, l) {
				valued++
			} else {
				out.Missing = append(out.Missing, "value "+v)
			}
		}
	}
	code := 0
	for _, c := range b.code {
		if k.own.code[c] || k.common[c] && k.whole.code[c] {
			code++
		} else {
			out.Missing = append(out.Missing, "code "+first(c))
		}
	}
	out.lost = all - stand
	out.Lines, out.Values, out.Code = share(stand, all), share(valued, typed), share(code, len(b.code))
	if len(missing) > 0 {
		out.Code = min(out.Code, share(len(to), len(to)+len(missing)))
	}
	if len(out.Missing) > maxMissing {
		out.Missing = out.Missing[:maxMissing]
	}
	return out
}

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// Lines is how many lines of text a skill has.
func Lines(s fork.Skill) int {
	var b body
	for p, f := range s.Files {
		if vault.Path(p).IsMarkdown() {
			b.read(f.Data)
		}
	}
	return len(b.lines)
}
