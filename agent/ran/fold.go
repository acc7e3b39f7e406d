package ran

import (
	"bytes"
	"cmp"
	"errors"
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
	// errorish are words by which the line of an output that matters is told, warning those of one that matters less.
	errorish, warning *regexp.Regexp
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
		warning:    re(`(?i)^\W*(?:\w+\W+){0,2}warn(?:ing)?\b|^traceback|^\W*exit(?:ed)?\b`),
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
	ending          // but for what stands before it: the last half of the line, or more
	inWords         // most of its words stand there, or it is within the line
	apart
)

// matchNames are the names of these in answers.
func matchNames() []string { return []string{"verbatim", "numbers", "paths", "end", "words", ""} }

// A wanted is one line of an error that somebody looks for, in all its forms.
type wanted struct {
	forms [3]string // by verbatim, numbered and anywhere; "" where the form says too little
	ends  []string  // of the last of them, longest first: without the words that it begins with
	words []string
	all   []string // those of paths and numbers as well
	key   string   // the longest word of the shortest end, without which a line has none of the forms
}

// mostLines is how many lines of a pasted error are looked for.
const mostLines = 6

// looked are the lines of a pasted error that are looked for: those that say what went wrong, or else warnings, or else
// any. Of what is longer than 64 KiB the first and the last half of that are read.
func looked(pasted string) (out []wanted) {
	var errors, warnings, plain []wanted
	known := map[string]bool{}
	for line := range strings.Lines(Ends(pasted)) {
		line = clean(line[:min(len(line), mostLine)])
		form := folded(line, anywhere)
		if known[form] || len(errors) == mostLines {
			continue
		}
		known[form] = true
		list := &plain
		if f := forms(); f.warning.MatchString(line) {
			list = &warnings
		} else if f.errorish.MatchString(line) {
			list = &errors
		}
		if w := want(line); len(w.words) > 0 && len(*list) < mostLines {
			*list = append(*list, w)
		}
	}
	for _, out = range [][]wanted{errors, warnings, plain} {
		if len(out) > 0 {
			break
		}
	}
	return out
}

// mostPasted is how much of an error is read, in bytes.
const mostPasted = 64 << 10

// Ends are the first and the last 32 KiB of a text, or all of one that is no longer.
func Ends(text string) string {
	if len(text) <= mostPasted {
		return text
	}
	return strings.ToValidUTF8(text[:mostPasted/2]+"\n"+text[len(text)-mostPasted/2:], "")
}

func want(line string) (w wanted) {
	form := folded(line, anywhere)
	w.words, w.all = wordsOf(form), wordsOf(line)
	if len(w.words) == 0 {
		w.words = w.all
	}
	w.ends = endsOf(form)
	last := form
	if n := len(w.ends); n > 0 {
		last = w.ends[n-1]
	}
	for _, f := range strings.FieldsFunc(last, func(r rune) bool { return !unicode.IsLetter(r) }) {
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

// endsOf are the ends of a line that say enough of it: at least half of its letters, in three words or more.
func endsOf(line string) (out []string) {
	least := max(10, (letters(line)+1)/2)
	for at, r := range line {
		if end := line[at:]; r == ' ' && letters(end) >= least && strings.Count(end, " ") > 2 {
			out = append(out, end[1:])
		}
	}
	return out
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

// A standing is how one of the lines that are looked for, or more of them, stand in a text.
type standing struct {
	near  int    // of the nearest; apart for none
	line  string // that one, as it stands there
	lines int    // how many of them stand there
	words int    // how many words of the pasted line it has, those of paths and numbers as well
}

// in finds the nearest of the lines in a text. Ends and words are compared where loose says so, which takes longer.
func in(list []wanted, text []byte, loose bool) (best standing) {
	best.near = apart
	for i := range list {
		w := &list[i]
		near, line := w.nearest(text, loose)
		if near == apart && loose {
			if at := w.share(text); at != "" {
				near, line = inWords, clean(at)
			}
		}
		if near == apart {
			continue
		}
		best.lines++
		if words := common(w.all, wordsOf(line)); near < best.near || near == best.near && words > best.words {
			best.near, best.line, best.words = near, line, words
		}
	}
	return best
}

// nearest finds the line of a text that is nearest to the wanted one, but for its words.
func (w *wanted) nearest(text []byte, loose bool) (near int, line string) {
	near = apart
	linesWith(text, []byte(w.key), func(from, to int) bool {
		one := clean(string(text[from:min(to, from+mostLine)]))
		for n := 0; n < min(near, len(w.forms)); n++ {
			if w.forms[n] != "" && strings.Contains(folded(one, n), w.forms[n]) {
				near, line = n, one
				break
			}
		}
		if near == apart && loose {
			form := folded(one, anywhere)
			if slices.ContainsFunc(w.ends, func(end string) bool { return strings.Contains(form, end) }) {
				near, line = ending, one
			}
		}
		return near > verbatim
	})
	return near, line
}

func common(a, b []string) (n int) {
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	return n
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

// share is the first line of a text that has most words of the one that is looked for, or half of them and hardly any
// other, "" for none.
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
	most, half := (3*len(w.words)+3)/4, max(3, (len(w.words)+1)/2)
	for _, word := range longest[:len(w.words)-min(most, half)+1] { // a line without any of these lacks too many
		linesWith(low, []byte(word), func(from, to int) bool {
			n, to := 0, min(to, from+mostLine)
			for _, other := range w.words {
				if bytes.Contains(low[from:to], []byte(other)) {
					n++
				}
			}
			if n >= most || n >= half && w.surrounds(string(text[from:to])) {
				line = string(text[from:to])
			}
			return line == ""
		})
		if line != "" {
			break
		}
	}
	return line
}

// surrounds reports a line of an error that has hardly a word that the pasted line has not.
func (w *wanted) surrounds(line string) bool {
	words := wordsOf(folded(clean(line), anywhere))
	return len(words)-common(words, w.words) <= len(words)/8 && forms().errorish.MatchString(line)
}

// A Try is one way to find the conversations that had an error.
type Try struct {
	Words string                       // which they have
	Holds func(transcript []byte) bool // whether one has a line of the error; nil where other wordings do
	next  string                       // the matches for which a later try may find nearer ones
}

// Enough reports that a try found what none behind it finds better.
func (t Try) Enough(found []Fix) bool {
	return len(found) > 0 && !strings.Contains(t.next, found[0].Match)
}

// Better reports that found is nearer to the error than what another try found, or as near and not shorter.
func Better(found, than []Fix) bool {
	if len(found) == 0 || len(than) == 0 {
		return len(found) > 0
	}
	near := func(f Fix) int { return slices.Index(matchNames(), f.Match) }
	return cmp.Or(near(than[0])-near(found[0]), len(found)-len(than)) >= 0
}

// ErrNoWords reports a text in which there is no word to look for.
var ErrNoWords = errors.New("no error to look for")

// Tries are the ways to find the conversations that had a pasted error, by the line that says most: without what is
// another one each time, without what stands before it, and by all words.
func Tries(pasted string) ([]Try, error) {
	list := looked(pasted)
	if len(list) == 0 {
		return nil, ErrNoWords
	}
	best := list[0]
	for _, w := range list {
		if len(w.words) > len(best.words) {
			best = w
		}
	}
	tries := []Try{{strings.Join(best.words, " "), holds(list, false), "end words"}}
	if n := len(best.ends); n > 0 {
		end := strings.Join(wordsOf(best.ends[n-1]), " ")
		tries = append(tries, Try{end, holds(list, true), "words"})
	}
	return append(tries, Try{Words: strings.Join(best.all, " ")}), nil
}

// holds tells of transcripts which may have one of the lines: one that differs in places and numbers alone, or, where
// ends says so, in what stands before it. One that keeps texts in other forms always may.
func holds(list []wanted, ends bool) func(transcript []byte) bool {
	return func(transcript []byte) bool {
		return slices.ContainsFunc(list, func(w wanted) bool {
			near, _ := w.nearest(transcript, ends)
			return near < apart
		}) || bytes.Contains(transcript, []byte(`"file":"`)) || bytes.Contains(transcript, []byte(wrapping))
	}
}
