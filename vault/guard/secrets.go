package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/templates"
)

// Secrets lists what in data is a secret, by gitleaks' rules and ours, in the
// order of lines, one finding for each secret of each rule. name is the path
// of the file: some rules are about certain files, one about names alone.
func Secrets(name string, data []byte) []Finding {
	return secretRules().named(name, secretRules().findings(name, data))
}

// named puts before what was found in a file what its name says.
func (s *ruleSet) named(name string, found []Finding) []Finding {
	for _, r := range s.rules {
		if r.expr == nil && r.path().MatchString(name) {
			found = append([]Finding{{Rule: r.id, Line: 1, Column: 1, Fingerprint: fingerprint(r.id, name)}}, found...)
		}
	}
	return found
}

// Likely lists what may be meant to be kept from others, or may be quite
// harmless: numbers of cards and accounts, seeds of one-time codes, recovery
// phrases. They are no reason to stop anybody.
func Likely(name string, data []byte) []Finding { return likelyRules().findings(name, data) }

// Masked is a text in which a mask takes the place of what [Likely] finds, to the end of its line.
func Masked(text string) string {
	return likelyRules().masked(text, func(rule string) string { return maskOpen + rule + "]" })
}

// Unlikely is a text without what [Likely] or [Secrets] finds, to the end of its line: what a name is made of.
func Unlikely(text string) string {
	none := func(string) string { return "" }
	return likelyRules().masked(secretRules().masked(text, none), none)
}

// Elided is a text in which an ellipsis takes the place of what [Likely] finds, to the end of its line.
func Elided(text string) string {
	return likelyRules().masked(text, func(string) string { return "…" })
}

// maskOpen begins a mask.
const maskOpen = "[masked: "

// HasMask reports whether a mask stands in a text.
func HasMask(text string) bool { return strings.Contains(text, maskOpen) }

func (s *ruleSet) masked(text string, mask func(rule string) string) string {
	var out strings.Builder
	from := 0
	for _, m := range s.matches("x.md", text) {
		if m.start < from {
			continue // a mask stands there
		}
		out.WriteString(text[from:m.start] + mask(m.rule.id))
		line, _, _ := strings.Cut(text[m.end:], "\n")
		from = m.end + len(line)
	}
	return out.String() + text[from:]
}

// MaskedName is [Masked] of a file's name, in which its words are joined.
func MaskedName(name string) string {
	stem, ending := name, ""
	if strings.HasSuffix(name, ".md") {
		stem, ending = name[:len(name)-3], ".md"
	}
	spelled := strings.NewReplacer("wi-fi", "wi-fi", "-", " ", "/", " ").Replace(stem)
	for _, said := range []string{spelled, strings.ToUpper(spelled)} { // numbers of accounts are capitals
		if found := Likely("x.md", []byte(said)); len(found) > 0 {
			return string([]rune(stem)[:found[0].Column-1]) + maskOpen + found[0].Rule + "]" + ending
		}
	}
	return name
}

// NameSecrets is Secrets for a text of one line that is no file: a path, a
// commit's subject.
func NameSecrets(name string) []Finding {
	found := secretRules().findings("", []byte(name))
	for i := range found {
		found[i].Line, found[i].Column = 0, 0
	}
	return found
}

func (s *ruleSet) findings(name string, data []byte) []Finding { return s.findingsIf(name, data, nil) }

// findingsIf lists what is found and meant; nil means all.
func (s *ruleSet) findingsIf(name string, data []byte, meant func(text string, m match) bool) []Finding {
	look := func(text string) []Finding {
		found := s.matches(name, text)
		if meant != nil {
			found = slices.DeleteFunc(found, func(m match) bool { return !meant(text, m) })
		}
		return findings(text, found, unsaid)
	}
	found := look(string(data))
	if text, ok := utf16Text(data); ok {
		found = append(found, look(text)...)
	}
	return distinct(found)
}

// unsaid is the excerpt of a secret: what led to it.
func unsaid(m match) string {
	lead := oneLine(m.lead, excerptWidth)
	if lead != "" && strings.TrimRight(m.lead, " \t") != m.lead {
		lead += " "
	}
	return lead + fmt.Sprintf("[%s]", templates.Plural(utf8.RuneCountInString(m.secret), "character"))
}

// A match is a place where a rule found something.
type match struct {
	rule       *rule
	start, end int    // in the text itself, however the rule saw it
	secret     string // as the rule saw it
	lead       string // what led to it
}

// matches lists what the rules find, in order; no two share a byte. Where
// several rules speak, that which knows the kind of secret is believed rather
// than one for any; what shows when the text is put together, rather than a part.
func (s *ruleSet) matches(name, text string) []match {
	raw := view{text: text}
	read := plain(text)
	whole := fragments(&read)
	looks := [][]match{s.in(name, &whole)}
	if read.cuts != nil {
		looks = append(looks, s.in(name, &read))
	}
	looks = append(looks, s.in(name, &raw))
	var kept []match
	for _, weak := range []bool{false, true} {
		for _, found := range looks {
			var more []match
			for _, m := range found {
				if m.rule.weak == weak {
					more = append(more, m)
				}
			}
			kept = merge(kept, more)
		}
	}
	if s.more != nil {
		kept = merge(kept, s.more(text))
	}
	return kept
}

// merge adds to kept, in order, what of more shares no byte with it.
func merge(kept, more []match) []match {
	slices.SortStableFunc(more, func(a, b match) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	out, i := make([]match, 0, len(kept)+len(more)), 0
	last := 0 // where the last of out ends
	take := func(m match) { out, last = append(out, m), m.end }
	for _, m := range more {
		for ; i < len(kept) && kept[i].start < m.end; i++ {
			take(kept[i])
		}
		if m.start >= last {
			take(m)
		}
	}
	return append(out, kept[i:]...)
}

// in lists every match of every rule in one view of a text.
func (s *ruleSet) in(name string, v *view) []match {
	w := newWindows(s.rules, v)
	s.index.find(v.text, w.add)
	var found []match
	for i := range s.rules {
		if r := &s.rules[i]; len(w.of[i]) > 0 && r.about(name) {
			for _, in := range w.of[i] {
				found = s.run(r, v, in, w.hits[i], found)
			}
		}
	}
	return found
}

// about reports whether a rule holds for a file. Markdown quotes files of every
// kind, so there a rule for one kind of file holds as well.
func (r *rule) about(name string) bool {
	return r.path == nil || markdown(name) || r.path().MatchString(name)
}

func markdown(name string) bool {
	low := strings.ToLower(name)
	return strings.HasSuffix(low, ".md") || strings.HasSuffix(low, ".markdown")
}

// contextBytes is how much of a line is looked at on each side of a match.
const contextBytes = 400

// run finds the matches of one rule in a window.
func (s *ruleSet) run(r *rule, v *view, in window, hits []window, found []match) []match {
	part := v.text[in.start:in.end]
	if !r.worth(v, in) {
		return found
	}
	var line context
	for _, at := range r.all(part, in.start, hits) {
		for ; at != nil; at = r.within(part, at) {
			m, is := s.judge(r, part, at, &line)
			if is {
				m.start, m.end = v.origin(in.start+m.start, in.start+m.end)
				found = append(found, m)
				break
			}
		}
	}
	return found
}

// judge says whether a match in a part of a text counts, and where in the part its secret is.
func (s *ruleSet) judge(r *rule, part string, at []int, line *context) (match, bool) {
	from, to := r.secret(at)
	for from < to && part[from] == '\n' {
		from++
	}
	for to > from && (part[to-1] == '\n' || part[to-1] == '.') { // the end of a line, or of a sentence
		to--
	}
	secret, lead := part[from:to], part[at[0]:from]
	if inMarker(part, at[0]) || r.entropy > 0 && entropy(secret) <= r.entropy ||
		r.check != nil && !r.check(lead, secret) {
		return match{}, false
	}
	whole := strings.Trim(part[at[0]:at[1]], "\n")
	if s.allowed(r, secret, whole, line.of(part, at[0], at[1])) {
		return match{}, false
	}
	return match{r, from, to, secret, lead}, true
}

// within finds the match that begins in what a match that does not count took for its secret, as the name of another
// value may be: in "| key | token = …" the key is not "token". nil for none.
func (r *rule) within(part string, at []int) []int {
	from, to := r.secret(at)
	if r.behind || r.span < 0 || from == at[0] || to-from > contextBytes {
		return nil
	}
	m := r.expr().FindStringSubmatchIndex(part[from:min(len(part), to+contextBytes)])
	if m == nil || m[0] >= to-from {
		return nil
	}
	for i := range m {
		if m[i] >= 0 {
			m[i] += from
		}
	}
	return m
}

// all lists the matches in a part of a text that begins at start; hits are where keywords stand in
// the text.
func (r *rule) all(part string, start int, hits []window) (found [][]int) {
	if !r.behind {
		return r.expr().FindAllStringSubmatchIndex(part, -1)
	}
	const far = 800 // bytes, more than any match has
	end := 0
	i, _ := slices.BinarySearchFunc(hits, start, func(w window, at int) int { return w.start - at })
	for _, hit := range hits[i:] {
		at, from := hit.start-start, hit.end-start
		if at >= len(part) {
			break
		}
		// A name of two letters is no ending of another; what a marker stands for was looked at.
		if at < end || from-at == 2 && at > 0 && wordByte(part[at-1]) ||
			strings.HasPrefix(strings.TrimLeft(part[from:], " :=*_`\"'|"), markerStart) {
			continue
		}
		if m := r.expr().FindStringSubmatchIndex(part[from:min(len(part), from+far)]); m != nil {
			end = from + m[1]
			found = append(found, []int{at, end, from + m[2], from + m[3]})
		}
	}
	return found
}

// inMarker reports a place in what [Marker] put where a secret stood: "password" in it is the
// name of a rule, and what follows is no password.
func inMarker(text string, at int) bool {
	const longest = 64
	before := text[max(0, at-longest):at]
	open := strings.LastIndex(before, markerStart)
	return open >= 0 && !strings.Contains(before[open:], "]")
}

// secret finds the part of a match that is the secret itself.
func (r *rule) secret(at []int) (from, to int) {
	if r.group > 0 {
		return at[2*r.group], at[2*r.group+1]
	}
	for i := 2; i+1 < len(at); i += 2 {
		if at[i] >= 0 && at[i] < at[i+1] {
			return at[i], at[i+1]
		}
	}
	return at[0], at[1]
}

// A context is the part of a line around a match, and what allowances said of it: several
// matches on a line are looked at once.
type context struct {
	start, end int
	text       string
	allows     map[*allowance]bool
}

// of is the context of a match, cut at every contextBytes of a long line.
func (c *context) of(text string, start, end int) *context {
	low := max(0, start/contextBytes-1) * contextBytes
	high := min(len(text), (end/contextBytes+2)*contextBytes)
	low += lineStart(text[low:], start-low)
	high = max(low, lineEnd(text[:high], max(start, end-1)))
	if c.allows == nil || c.start != low || c.end != high {
		*c = context{low, high, text[low:high], map[*allowance]bool{}}
	}
	return c
}

func (s *ruleSet) allowed(r *rule, secret, whole string, line *context) bool {
	for _, all := range [][]allowance{s.global, r.allow} {
		for i := range all {
			if all[i].covers(secret, whole, line) {
				return true
			}
		}
	}
	return false
}

// findings says of matches, which are in order, where in text they are.
func findings(text string, found []match, excerpt func(match) string) []Finding {
	out := make([]Finding, 0, len(found))
	at, line, column := 0, 1, 1
	for _, m := range found {
		if n := strings.Count(text[at:m.start], "\n"); n > 0 {
			line, column, at = line+n, 1, lineStart(text, m.start)
		}
		column += utf8.RuneCountInString(text[at:m.start])
		at = m.start
		out = append(out, Finding{Rule: m.rule.id, Line: line, Column: column, Excerpt: excerpt(m), Fingerprint: fingerprint(m.rule.id, m.secret)})
	}
	return out
}

// distinct drops what is found twice, and sorts by place.
func distinct(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
	seen := make(map[string]bool, len(found))
	return slices.DeleteFunc(found, func(f Finding) bool {
		again := seen[f.Fingerprint]
		seen[f.Fingerprint] = true
		return again
	})
}

// entropy is Shannon's, in bits a character: how far a text is from a word or
// a placeholder.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, r := range s {
		counts[r]++
	}
	bits := 0.0
	for _, n := range counts {
		share := float64(n) / float64(len(s))
		bits -= share * math.Log2(share)
	}
	return bits
}
