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
	promptHead = 6000
	promptTail = 3000
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
}

// A text that was read.
type text struct {
	words []word
	stops map[string]bool // the stop words in it
	all   int             // words, stop words counted
	lines int             // sentences
	asks  bool            // ends a sentence with a question mark
	code  bool            // holds pasted lines
}

// A Reader reads texts in the language of a vault. It is not safe for concurrent use.
type Reader struct{ stems *document.Stemmer }

// NewReader returns a reader.
func NewReader(lang *document.Language) *Reader { return &Reader{document.NewStemmer(lang)} }

var lists = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, l := range []string{"stop", "common", "trade"} {
		out[l] = lexicon.Words(l)
	}
	return out
})

// read takes a text apart.
func (r *Reader) read(s string) *text {
	t := &text{stops: map[string]bool{}}
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
	idents := map[int]int{} // start to end
	document.Identifiers([]byte(s), func(n string, start, end int) {
		if strings.ContainsAny(n, "_./-:@#") && start >= 0 {
			idents[start] = max(idents[start], end)
			t.add(r, word{stem: n, fold: n, class: ident, line: t.lines, at: t.all, pasted: pasted})
		}
	})
	first := true
	document.Tokenize([]byte(s), func(tok document.Token) {
		raw := s[tok.Start:tok.End]
		w := word{fold: tok.Term, stem: r.stems.Stem(tok.Term), at: t.all, line: t.lines, pasted: pasted}
		t.all++
		was := first
		first = false
		switch {
		case lists()["stop"][w.fold]:
			t.stops[w.fold] = true
			return
		case utf8.RuneCountInString(w.fold) < 2:
			return
		}
		w.class = classOf(w, raw, was)
		t.words = append(t.words, w)
	})
}

// add adds an identifier once.
func (t *text) add(_ *Reader, w word) {
	if !slices.ContainsFunc(t.words, func(o word) bool { return o.stem == w.stem && o.line == w.line }) {
		t.words = append(t.words, w)
	}
}

func classOf(w word, raw string, first bool) class {
	upper, digit, letter := 0, false, false
	for i, c := range raw {
		digit, letter = digit || unicode.IsDigit(c), letter || unicode.IsLetter(c)
		if unicode.IsUpper(c) && i > 0 {
			upper++
		}
	}
	begins, _ := utf8.DecodeRuneInString(raw)
	switch {
	case digit && letter, upper > 0 && strings.ToUpper(raw) != raw:
		return ident
	case digit:
		return number
	case lists()["trade"][w.fold] || lists()["trade"][w.stem]:
		return trade
	case lists()["common"][w.fold] || lists()["common"][w.stem]:
		return common
	case unicode.IsUpper(begins) && !first:
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
type Memory struct {
	*text
	title map[string]bool // stems
}

// Memory reads a memory.
func (r *Reader) Memory(title, body string) *Memory {
	body = strings.ToValidUTF8(body[:min(len(body), memoryHead)], " ")
	m := &Memory{text: r.read(body), title: map[string]bool{}}
	for _, w := range r.read(title).words {
		m.title[w.stem] = true
	}
	return m
}

// Stems are those of the words of a text, each once: what Counts must know.
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

// Query is what to search for: the words of the prompt that the vault has, the rarest ones, and no operator.
func (p *Prompt) Query(c Counts) string {
	var words []word
	seen := map[string]bool{}
	for _, w := range p.words {
		if c.Having[w.stem] > 0 && !seen[w.stem] && strings.IndexFunc(w.fold, func(r rune) bool {
			return !document.IsWordRune(r)
		}) < 0 {
			seen[w.stem] = true
			words = append(words, w)
		}
	}
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(c.rarity(b.stem), c.rarity(a.stem)) })
	var out []string
	for _, w := range words[:min(len(words), mostAsked)] {
		out = append(out, w.fold)
	}
	return strings.Join(out, " ")
}
