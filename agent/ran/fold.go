package ran

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A form is a set of the forms that texts are known by.
type form struct {
	// The parts of an error line that are other ones each time: colours, when it was, where in which file, in which
	// folder, and every address and number.
	colour, stamped, located, folder, address *regexp.Regexp
	// errorish are words by which the line of an output that matters is told.
	errorish *regexp.Regexp
	// Of commands: where output goes, which makes no other command; variables that are set for it; and the beginning of
	// a text that stands on the lines behind it.
	redirected, assigned, heredoc *regexp.Regexp
	// exitLine is a line in which a client, or a command, says with what code something ended.
	exitLine *regexp.Regexp
}

var forms = sync.OnceValue(func() *form {
	re := regexp.MustCompile
	return &form{
		colour:  re("\x1b\\[[0-9;]*[A-Za-z]"),
		stamped: re(`^[\[(]?\d{2,4}[-/:]\d\d[-/:]\d\d(?:[T ]\d\d:\d\d:\d\d)?\S*\s+`),
		located: re(`(?:[A-Za-z]:)?[\w.~@+/\\-]*[\w~@+-]\.\w{1,6}(?::\d+){1,2}`),
		folder:  re(`(?:[A-Za-z]:)?[\w.~@+-]*(?:[/\\][\w.@+~-]+)+[/\\]?`),
		address: re(`\b(?:0x)?[0-9a-fA-F]*\d[0-9a-fA-F-]*[0-9a-fA-F]\b|\d+`),
		errorish: re(`(?i)error|fail|fatal|panic|cannot|can't|could not|not found|undefined|denied|exception|unable|` +
			`invalid|refused|no such|missing|unexpected|expected|unknown|must |not |warning|traceback`),
		redirected: re(`\s*\d?>{1,2}\s*(?:&\d|/dev/null)`),
		assigned:   re(`^(?:[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\S*)\s+)+`),
		heredoc:    re(`^<<(-?)[ \t]*["'\\]?([\w.-]+)["']?`),
		exitLine: re(`(?i)^\W*(?:process )?exit(?:ed)?(?: with)?(?: status| code)?` +
			`\s*[:=]?\s*(-?\d{1,3})\W*$`),
	}
})

// How near a line is to the one that is looked for.
const (
	verbatim = iota // it stands there as it is
	numbered        // but for places, times, addresses and numbers
	anywhere        // but for paths as well
	inWords         // most of its words stand there
	apart
)

// Match names of these, as answers have them.
func matchName(near int) string {
	return [...]string{"verbatim", "numbers", "paths", "words", ""}[near]
}

// A wanted is one line of an error that somebody looks for, in all its forms.
type wanted struct {
	forms [3]string // by verbatim, numbered and anywhere; "" where the form says too little
	words []string
	key   string // the longest word, without which a line has none of the forms
}

// mostLines is how many lines of a pasted error are looked for.
const mostLines = 6

// looked are the lines of a pasted error that are looked for, those that say what went wrong before others.
func looked(pasted string) (out []wanted) {
	var plain []wanted
	for line := range strings.Lines(pasted) {
		w := want(line)
		switch {
		case len(w.words) == 0:
		case forms().errorish.MatchString(line):
			out = append(out, w)
		default:
			plain = append(plain, w)
		}
	}
	if len(out) == 0 {
		out = plain
	}
	return out[:min(len(out), mostLines)]
}

func want(line string) (w wanted) {
	line = clean(line)
	w.words = wordsOf(folded(line, anywhere))
	if len(w.words) == 0 {
		w.words = wordsOf(line)
	}
	for _, f := range strings.FieldsFunc(folded(line, anywhere), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(f) > len(w.key) {
			w.key = f
		}
	}
	for near := range w.forms {
		form := folded(line, near)
		if near == verbatim || letters(form) >= 10 || letters(form) >= letters(line) && letters(form) >= 4 {
			w.forms[near] = form
		}
	}
	return w
}

// clean takes colours and times off a line.
func clean(line string) string {
	line = strings.TrimSpace(forms().colour.ReplaceAllString(line, ""))
	return strings.TrimSpace(forms().stamped.ReplaceAllString(line, ""))
}

// folded is a clean line without what is another one each time.
func folded(line string, near int) string {
	if near >= numbered {
		line = forms().located.ReplaceAllString(line, "@")
	}
	if near >= anywhere {
		line = forms().folder.ReplaceAllString(line, "@")
	}
	if near >= numbered {
		line = forms().address.ReplaceAllString(line, "#")
	}
	return strings.Join(strings.Fields(line), " ")
}

func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// wordsOf are the words of a line in small letters, each once.
func wordsOf(line string) (out []string) {
	for _, f := range strings.FieldsFunc(strings.ToLower(line),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if utf8.RuneCountInString(f) > 1 && letters(f) > 0 && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// mostLine is how much of one line is compared: a bundle of a program is one line.
const mostLine = 2000

// in finds the nearest of the lines of a text, and how near it is; apart for none. Words are compared where loose says
// so, which takes longer.
func in(list []wanted, text []byte, loose bool) (near int, line string) {
	near = apart
	for i := range list {
		w := &list[i]
		if loose {
			if at := w.share(text); at != "" && near == apart {
				near, line = inWords, clean(at)
			}
		}
		linesWith(text, []byte(w.key), func(from, to int) bool {
			one := clean(string(text[from:min(to, from+mostLine)]))
			for n := 0; n < min(near, len(w.forms)); n++ {
				if w.forms[n] != "" && strings.Contains(folded(one, n), w.forms[n]) {
					near, line = n, one
					break
				}
			}
			return near > verbatim
		})
	}
	return near, line
}

// linesWith calls f for each line that has a word, until it says false.
func linesWith(text, word []byte, f func(from, to int) bool) {
	for at := 0; at < len(text); {
		found := bytes.Index(text[at:], word)
		if found < 0 {
			return
		}
		from := bytes.LastIndexByte(text[:at+found], '\n') + 1
		to := len(text)
		if end := bytes.IndexByte(text[at+found:], '\n'); end >= 0 {
			to = at + found + end
		}
		if at = to + 1; !f(from, to) {
			return
		}
	}
}

// share is the first line of a text that has most words of the one that is looked for, "" for none.
func (w *wanted) share(text []byte) (line string) {
	if len(w.words) < 2 {
		return ""
	}
	low := bytes.ToLower(text)
	if len(low) != len(text) {
		text = low // of some letters the small ones are longer
	}
	longest := slices.Clone(w.words)
	slices.SortStableFunc(longest, func(a, b string) int { return len(b) - len(a) })
	most := (3*len(w.words) + 3) / 4
	for _, word := range longest[:len(w.words)-most+1] { // a line without any of these lacks too many
		linesWith(low, []byte(word), func(from, to int) bool {
			n := 0
			for _, other := range w.words {
				if bytes.Contains(low[from:min(to, from+mostLine)], []byte(other)) {
					n++
				}
			}
			if n >= most {
				line = string(text[from:min(to, from+mostLine)])
			}
			return line == ""
		})
		if line != "" {
			break
		}
	}
	return line
}

// Holds tells of transcripts which may have a line of a pasted error: one that differs in places and numbers alone. One
// that keeps texts in other forms always may.
func Holds(pasted string) func(transcript []byte) bool {
	list := looked(pasted)
	return func(transcript []byte) bool {
		near, _ := in(list, transcript, false)
		return near < apart || bytes.Contains(transcript, []byte(`"file":"`)) ||
			bytes.Contains(transcript, []byte(wrapping))
	}
}

// ErrorWords are the words of a pasted error by which the conversations that had it are found: of the line that says
// most, without what is another one each time.
func ErrorWords(pasted string) string {
	var best []string
	for _, w := range looked(pasted) {
		if len(w.words) > len(best) {
			best = w.words
		}
	}
	return strings.Join(best, " ")
}
