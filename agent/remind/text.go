package remind

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/index/document"
	"stet/templates/lexicon"
)

// The bounds of what is read: of a prompt its beginning and its end, where a person's own words stand around
// what was pasted; of a memory its beginning.
const (
	promptHead = 4000
	promptTail = 2000
	memoryHead = 4000
)

// A class is what a word is by itself.
type class uint8

const (
	plain  class = iota
	common       // texts of every subject have it
	trade        // texts of programmers have it
	name         // written as a name within a sentence
	ident        // foo_bar, a.b, getUserName, PROJ-12
	number
	classes
)

func (c class) String() string {
	return [...]string{"plain", "common", "trade", "name", "ident", "number"}[c]
}

// A word of a text that is no stop word.
type word struct {
	stem   string
	fold   string
	at     int // which word of the text, stop words counted
	line   int // which sentence
	class  class
	pasted bool
	upper  bool   // begins with a capital letter
	first  bool   // of its sentence
	before string // the word before it
}

// A text that was read.
type text struct {
	words []word
	stops map[string]bool // the stop words in it
	all   int             // words, stop words counted
	lines int             // sentences
	asks  bool            // ends a sentence with a question mark
	opens map[string]int  // sentences by what their first words say of them, see templates/lexicon/ask.txt
	code  bool            // holds pasted lines
}

// A Reader reads texts in the language of a vault. It is not safe for concurrent use.
type Reader struct {
	stems *document.Stemmer
	kin   *kinship // nil before it is asked for
}

// NewReader returns a reader.
func NewReader(lang *document.Language) *Reader { return &Reader{stems: document.NewStemmer(lang)} }

var lists = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, l := range []string{"stop", "common", "trade"} {
		out[l] = lexicon.Words(l)
	}
	return out
})

// read takes a text apart.
func (r *Reader) read(s string) *text {
	t := &text{stops: map[string]bool{}, opens: map[string]int{}}
	fenced := false
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			t.code = true
			continue
		}
		pasted := fenced || isPasted(line)
		t.code = t.code || pasted
		for _, sentence := range sentences(line) {
			t.asks = t.asks || !pasted && strings.HasSuffix(strings.TrimRight(sentence, " \t\r\n"), "?")
			r.sentence(t, sentence, pasted)
			t.lines++
		}
	}
	return t
}

// sentences cuts a line behind the marks that end a sentence.
func sentences(line string) []string {
	var out []string
	start := 0
	for i := range len(line) {
		if c := line[i]; (c == '.' || c == '!' || c == '?') && i+1 < len(line) && line[i+1] == ' ' {
			out, start = append(out, line[start:i+1]), i+1
		}
	}
	return append(out, line[start:])
}

// isPasted reports a line of code or of what a program printed.
func isPasted(line string) bool { return pastedLine().MatchString(line) }

var pastedLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(at [\w.$<>]+[ (]|File "|Traceback|[\w.]*(Error|Exception)\b[:(]|panic:|` +
		`goroutine \d|FAIL\b|--- |\+\+\+ |[$#>] |[\[{(]|\d{4}-\d\d-\d\d[T ]\d\d:|npm ERR|error(\[\w+\])?:|warning:)|` +
		`[;{}]\s*$|^\s*[\w.]+ ?:?= |` +
		`^\s*(import|from|def|func|const|let|var|return|class|public|private|SELECT|INSERT)\b.*[({;=]`)
})

// sentence adds the words of one.
func (r *Reader) sentence(t *text, s string, pasted bool) {
	document.Identifiers([]byte(s), func(n string, _, _ int) {
		if strings.ContainsAny(n, "_./-:@#") {
			t.add(word{stem: n, fold: n, class: ident, line: t.lines, at: t.all, pasted: pasted})
		}
	})
	if !pasted {
		t.opening(s)
	}
	before := ""
	document.Tokenize([]byte(s), func(tok document.Token) {
		raw := s[tok.Start:tok.End]
		w := word{fold: tok.Term, stem: r.stems.Stem(tok.Term), at: t.all, line: t.lines, pasted: pasted}
		t.all++
		w.before, w.first = before, before == ""
		before = tok.Term
		switch {
		case lists()["stop"][w.fold]:
			t.stops[w.fold] = true
			return
		case utf8.RuneCountInString(w.fold) < 2:
			return
		}
		begins, _ := utf8.DecodeRuneInString(raw)
		w.upper = unicode.IsUpper(begins)
		w.class = classOf(w, raw)
		t.words = append(t.words, w)
	})
}

// opening notes what the first words of a sentence say of it, and what words anywhere do.
func (t *text) opening(s string) {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !document.IsWordRune(r) && r != '\'' && r != '-'
	})
	for from := range words {
		for n := min(4, len(words)-from); n > 0; n-- {
			heads := openings()[strings.Join(words[from:from+n], " ")]
			for _, h := range heads {
				if from == 0 || h == "abstract" {
					t.opens[h]++
				}
			}
			if len(heads) > 0 {
				break
			}
		}
	}
}

var openings = sync.OnceValue(func() map[string][]string { return lexicon.Groups("ask") })

// add adds an identifier once.
func (t *text) add(w word) {
	if !slices.ContainsFunc(t.words, func(o word) bool { return o.stem == w.stem && o.line == w.line }) {
		t.words = append(t.words, w)
	}
}

func classOf(w word, raw string) class {
	upper, digit, letter := 0, false, false
	for i, c := range raw {
		digit, letter = digit || unicode.IsDigit(c), letter || unicode.IsLetter(c)
		if unicode.IsUpper(c) && i > 0 {
			upper++
		}
	}
	switch {
	case digit && letter, upper > 0 && strings.ToUpper(raw) != raw:
		return ident
	case digit:
		return number
	case lists()["trade"][w.fold] || lists()["trade"][w.stem]:
		return trade
	case lists()["common"][w.fold] || lists()["common"][w.stem]:
		return common
	case w.upper && !w.first:
		return name
	}
	return plain
}

// A Prompt is what a person typed.
type Prompt struct {
	*text
	r *Reader
}

// Prompt reads a prompt.
func (r *Reader) Prompt(s string) *Prompt {
	if len(s) > promptHead+promptTail {
		s = s[:promptHead] + "\n" + s[len(s)-promptTail:]
	}
	return &Prompt{r.read(strings.ToValidUTF8(s, " ")), r}
}

// A Memory is a stored one.
type Memory struct{ *text }

// Memory reads a memory.
func (r *Reader) Memory(title, body string) *Memory {
	if !strings.Contains(body, title) {
		body = title + "\n" + body
	}
	return &Memory{r.read(strings.ToValidUTF8(body[:min(len(body), memoryHead)], " "))}
}

// A kinship is the words for the same things: the groups of a stem, the stems of a group, and how a stem is written.
type kinship struct {
	groups, stems map[string][]string
	words         map[string]string
}

func (r *Reader) akin() *kinship {
	if r.kin == nil {
		r.kin = &kinship{map[string][]string{}, map[string][]string{}, map[string]string{}}
		for _, e := range lexicon.Entries("akin") {
			for _, w := range e.Words {
				document.Tokenize([]byte(w), func(t document.Token) {
					stem := r.stems.Stem(t.Term)
					if !slices.Contains(r.kin.groups[stem], e.Head) && !lists()["stop"][t.Term] {
						r.kin.groups[stem] = append(r.kin.groups[stem], e.Head)
						r.kin.stems[e.Head] = append(r.kin.stems[e.Head], stem)
						r.kin.words[stem] = t.Term
					}
				})
			}
		}
	}
	return r.kin
}

// Stems are those of the words of a text, each once, and of a prompt those of words for the same things: what
// Counts must know.
func (p *Prompt) Stems() []string {
	out := p.text.Stems()
	for _, s := range out {
		for _, g := range p.r.akin().groups[s] {
			out = append(out, p.r.kin.stems[g]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Stems are those of the words of a text, each once.
func (t *text) Stems() []string {
	var out []string
	for _, w := range t.words {
		out = append(out, w.stem)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mostAsked bounds the words that are searched for.
const mostAsked = 32

// Queries are what to search for: the words of the prompt that the vault has, the rarest ones, and those that name
// the same things otherwise. They hold no operator of a search.
func (p *Prompt) Queries(c Counts) (out []string) {
	own := map[string]bool{}
	var words, kin []string
	for _, w := range p.words {
		if c.Having[w.stem] > 0 && !own[w.stem] && isWord(w.fold) {
			words = append(words, w.fold)
		}
		own[w.stem] = true
	}
	for _, w := range p.words {
		for _, g := range p.r.akin().groups[w.stem] {
			for _, stem := range p.r.kin.stems[g] {
				if c.Having[stem] > 0 && !own[stem] {
					kin = append(kin, p.r.kin.words[stem])
				}
				own[stem] = true
			}
		}
	}
	for _, list := range [][]string{words, kin} {
		slices.SortStableFunc(list, func(a, b string) int {
			return cmp.Compare(c.Having[p.r.stems.Stem(a)], c.Having[p.r.stems.Stem(b)])
		})
		if len(list) > 0 {
			out = append(out, strings.Join(list[:min(len(list), mostAsked)], " "))
		}
	}
	return out
}

func isWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !document.IsWordRune(r) }) < 0
}
