package guard

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A view is a text as a reader takes it, with the way back to the bytes it was
// made from.
type view struct {
	text string
	cuts []cut // ascending; the first is at 0; none: the text is its own

	looked bool     // for tokens
	tokens []window // that are no words; see hasToken
}

// A cut says where the bytes from at on come from: byte by byte from the same
// number of bytes, or, when whole is set, all of them from all of from..to.
type cut struct {
	at, from, to int
	whole        bool
}

// origin is the part of the first text that start..end was made from.
func (v *view) origin(start, end int) (from, to int) {
	if len(v.cuts) == 0 {
		return start, end
	}
	first, last := v.cut(start), v.cut(max(start, end-1))
	from, to = first.from, last.to
	if !first.whole {
		from += start - first.at
	}
	if !last.whole {
		to = last.from + end - last.at
	}
	return from, max(from, to)
}

func (v *view) cut(at int) cut {
	i, found := slices.BinarySearchFunc(v.cuts, at, func(c cut, at int) int { return c.at - at })
	if !found {
		i--
	}
	return v.cuts[i]
}

// A rewriter makes a view of another one.
type rewriter struct {
	base *view
	out  strings.Builder
	cuts []cut
}

// keep copies a part as it stands.
func (w *rewriter) keep(start, end int) {
	for start < end {
		c, stop := cut{from: start, to: end}, end
		if len(w.base.cuts) > 0 {
			i, found := slices.BinarySearchFunc(w.base.cuts, start, func(c cut, at int) int { return c.at - at })
			if !found {
				i--
			}
			if i+1 < len(w.base.cuts) {
				stop = min(end, w.base.cuts[i+1].at)
			}
			c = cut{whole: w.base.cuts[i].whole}
			c.from, c.to = w.base.origin(start, stop)
		}
		c.at = w.out.Len()
		w.cuts = append(w.cuts, c)
		w.out.WriteString(w.base.text[start:stop])
		start = stop
	}
}

// put writes s in the place of a part.
func (w *rewriter) put(s string, start, end int) {
	if s == "" {
		return
	}
	from, to := w.base.origin(start, end)
	if n := len(w.cuts); n > 0 && w.cuts[n-1].whole && w.cuts[n-1].from == from {
		w.cuts[n-1].to = max(to, w.cuts[n-1].to) // more of what one letter spells
	} else {
		w.cuts = append(w.cuts, cut{w.out.Len(), from, to, true})
	}
	w.out.WriteString(s)
}

func (w *rewriter) view() view { return view{text: w.out.String(), cuts: w.cuts} }

// plain is text as a reader takes it: compatibility forms of letters as the
// letters (NFKC), without the characters that nobody sees, and with the escapes
// of HTML, URLs, JSON and Markdown undone. NUL is one of the unseen: without it
// UTF-16 that no mark announces reads as the letters it spells.
func plain(text string) view {
	if !strings.ContainsAny(text, "\x00&%\\") && ascii(text) {
		return view{text: text}
	}
	// One letter is a sentence of 33 bytes. Another that is as long stands for it: it spells nothing
	// that anything here looks for, and a text of it would grow eleven times.
	text = strings.ReplaceAll(text, "\ufdfa", "\ufdfd")
	base := view{text: text}
	w, kept, changed := rewriter{base: &base}, 0, false
	for at := 0; at < len(text); {
		s, size := unescape(text[at:])
		if c := text[at]; c >= utf8.RuneSelf {
			before := kept
			at = w.letters(&kept, at)
			changed = changed || kept > before
			continue
		} else if c == 0 {
			size = 1
		}
		if size == 0 {
			at++
			continue
		}
		w.keep(kept, at)
		w.put(s, at, at+size)
		at += size
		kept, changed = at, true
	}
	if !changed {
		return base
	}
	w.keep(kept, len(text))
	return w.view()
}

// letters writes a run of characters beyond ASCII, with the letter before them,
// which marks may belong to, and returns its end.
func (w *rewriter) letters(kept *int, at int) int {
	text, end := w.base.text, at
	for end < len(text) && text[end] >= utf8.RuneSelf {
		end++
	}
	if run := text[at:end]; norm.NFKC.IsNormalString(run) && !strings.ContainsFunc(run, invisible) && utf8.ValidString(run) {
		if r, _ := utf8.DecodeRuneInString(run); norm.NFKC.PropertiesString(string(r)).BoundaryBefore() {
			return end
		}
	}
	start := max(*kept, at-1)
	w.keep(*kept, start)
	var it norm.Iter
	it.InitString(norm.NFKC, text[start:end])
	for !it.Done() {
		from := start + it.Pos()
		s := strings.Map(func(r rune) rune {
			if invisible(r) {
				return -1
			}
			return r
		}, string(it.Next()))
		w.put(s, from, start+it.Pos())
	}
	*kept = end
	return end
}

// unescape reads the escape at the beginning of s; size 0 means that there is
// none.
func unescape(s string) (text string, size int) {
	switch s[0] {
	case '&':
		if end := strings.IndexByte(s[:min(len(s), 12)], ';'); end > 0 {
			if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
				return text, end + 1
			}
		}
	case '%':
		if b, err := hex.DecodeString(s[min(1, len(s)):min(3, len(s))]); err == nil && len(b) == 1 && b[0] >= ' ' && b[0] < 0x7f {
			return string(b), 3
		}
	case '\\':
		return backslash(s)
	}
	return "", 0
}

// backslash undoes any number of them at once: a transcript in JSON in JSON has
// seven before a quote.
func backslash(s string) (text string, size int) {
	n := 1
	for n < min(len(s), 16) && s[n] == '\\' {
		n++
	}
	if n == len(s) {
		return "", 0
	}
	switch c := s[n]; {
	case c == 'n' || c == 'r' || c == 't':
		return "\n", n + 1
	case c == 'u' && len(s) >= n+5:
		if r, err := strconv.ParseUint(s[n+1:n+5], 16, 16); err == nil && r >= ' ' {
			return string(rune(r)), n + 5
		}
	case c > ' ' && c < 0x7f && !wordByte(c) || c == '_':
		return string(c), n + 1
	}
	return "", 0
}

// fragments holds what only shows when it is put together: a token that a line
// end cuts in two, and text in base64 or hex, one level of it. Each stands on
// lines of its own, behind the words before it.
func fragments(v *view) view {
	w, text, run := rewriter{base: v}, v.text, runByte()
	for at := 0; at < len(text); at++ {
		if !run[text[at]] {
			continue
		}
		start := at
		for at < len(text) && run[text[at]] {
			at++
		}
		if at-start < shortRun {
			continue
		}
		end := at
		at = w.joined(start, end)
		if !w.decoded(start, at) && at > end {
			w.decoded(start, end) // what follows was no part of it
		}
	}
	return w.view()
}

const (
	shortRun  = 12  // what is shorter is no part of a token
	leadBytes = 48  // of the words before a run that are kept with it
	mostLines = 100 // of a token or a block
)

// runByte are the characters of tokens, base64 and hex.
var runByte = sync.OnceValue(func() *[256]bool {
	var is [256]bool
	for c := range is {
		is[c] = wordByte(byte(c)) || strings.IndexByte("+/=_-.", byte(c)) >= 0
	}
	return &is
})

// joined writes the run that ends at end with what follows on the next lines,
// when the run looks like the beginning of a token, and returns the end of that. One that begins as the tokens of
// somebody do needs no figures.
func (w *rewriter) joined(start, end int) int {
	text, pieces, last := w.base.text, [][2]int{{start, end}}, end
	named := last < len(text) && strings.IndexByte(" \t\r\n>|*+\"'", text[last]) >= 0 && headed(text[start:end])
	for len(pieces) < mostLines && (named && len(pieces) == 1 || mixed(text[last-min(last-start, 64):last])) {
		next := last
		for next < len(text) && next-last < 16 && strings.IndexByte(" \t\r\n>|*+\"'", text[next]) >= 0 {
			next++
		}
		if strings.Count(text[last:next], "\n") != 1 {
			break
		}
		stop := next
		for stop < len(text) && runByte()[text[stop]] {
			stop++
		}
		if piece := text[next:stop]; len(piece) < 2 || wordLike(piece) || like("logLine", piece) ||
			strings.Contains(piece, "=") && !strings.HasSuffix(piece, "=") {
			break
		}
		pieces, last = append(pieces, [2]int{next, stop}), stop
		if stop-next < end-start && stop-next < 40 {
			break // the rest of it
		}
	}
	if len(pieces) == 1 {
		return end
	}
	w.lead(start)
	for _, p := range pieces {
		w.keep(p[0], p[1])
	}
	w.put("\n", last, last)
	return last
}

// headed reports whether a run has the beginning that one kind of token has in it, such as "hf_".
func headed(run string) (is bool) {
	tokenHeads().find(run, func(at, _ int, _ []int) { is = is || at == 0 || !wordByte(run[at-1]) })
	return is
}

// tokenHeads are the keywords that are parts of tokens: those with a mark in them, and the heads of cloud keys.
var tokenHeads = sync.OnceValue(func() *keywordIndex {
	heads := rule{keywords: []string{"akia", "asia", "aiza"}}
	for _, r := range secretRules().rules {
		if r.behind || r.operator {
			continue
		}
		for _, k := range r.keywords {
			if strings.ContainsAny(k, "_-./") && !strings.ContainsAny(k, " :$") {
				heads.keywords = append(heads.keywords, k)
			}
		}
	}
	return newKeywordIndex([]rule{heads})
})

// decoded writes what a run is in base64 or hex, when that is text; a name and "="
// or a host may stand before it.
func (w *rewriter) decoded(start, end int) bool {
	run := w.base.text[start:end]
	if i := strings.IndexByte(run, '='); i > 0 && len(run)-i > shortRun {
		start += i + 1
	} else if host, ok := strings.CutPrefix(run, "//"); ok {
		start += 3 + strings.IndexByte(host+"/", '/')
	}
	if end-start < shortRun {
		return false
	}
	blob := strings.TrimRight(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && runByte()[r] {
			return r
		}
		return -1
	}, w.base.text[start:end]), "=.")
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if b, err := decode(blob); err == nil && len(b) >= 8 && printable(b) {
			w.lead(start)
			w.put(string(b)+"\n", start, end)
			return true
		}
	}
	return false
}

func (w *rewriter) lead(at int) {
	low := max(0, at-leadBytes) // no further back: a line may be long, and hold many runs
	from := low + lineStart(w.base.text[low:], at-low)
	w.keep(from, at)
}

func printable(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f })
}

// mixed reports whether a run has letters and figures in turn, as a token has and
// a word has not.
func mixed(s string) bool {
	turns := 0
	for i := 1; i < len(s); i++ {
		if digit(s[i]) != digit(s[i-1]) && wordByte(s[i]) && wordByte(s[i-1]) {
			turns++
		}
	}
	return turns >= 2 && turns*12 >= len(s)
}

func digit(c byte) bool { return c-'0' < 10 }

func wordByte(c byte) bool { return digit(c) || lower(c)-'a' < 26 }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// utf16Text is the text of a file that begins with the byte order mark of UTF-16,
// as editors on Windows save; ok is false for any other. Bytes behind a mark may be
// UTF-8 all the same, so they are looked at as they are as well.
func utf16Text(data []byte) (text string, ok bool) {
	if len(data) < 2 {
		return "", false
	}
	var order binary.ByteOrder
	switch {
	case data[0] == 0xff && data[1] == 0xfe:
		order = binary.LittleEndian
	case data[0] == 0xfe && data[1] == 0xff:
		order = binary.BigEndian
	default:
		return "", false
	}
	units := make([]uint16, 0, len(data)/2)
	for rest := data[2:]; len(rest) > 1; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return string(utf16.Decode(units)), true
}
