package guard

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Redactor takes secrets out of texts that belong together: a key that is found
// in any of them is taken out of all, also where nothing around it tells. What is
// only likely to be a secret stays where it stands; [Likely] and [Doubtful] name it.
// It is not safe for concurrent use.
type Redactor struct {
	allowed func(Finding) bool
	all     bool
	known   map[string]string // key → rule
	learnt  *strings.Replacer // of them; nil: to be made
	rules   []string
	// What was found last: a text is often learnt from and cleaned one after the other.
	text  string
	found []match
}

// NewRedactor returns a redactor that leaves alone what allowed says.
func NewRedactor(allowed func(Finding) bool) *Redactor {
	return &Redactor{allowed: allowed, known: map[string]string{}}
}

// NewStrictRedactor returns one that takes out what [Doubtful] names as well: for what goes where nobody can take it
// back from, and for comparing with what was taken out so.
func NewStrictRedactor(allowed func(Finding) bool) *Redactor {
	r := NewRedactor(allowed)
	r.all = true
	return r
}

// Rules are the rules that found what was taken out so far, each once.
func (r *Redactor) Rules() []string {
	slices.Sort(r.rules)
	r.rules = slices.Compact(r.rules)
	return r.rules
}

// Learn looks for secrets in one of the texts.
func (r *Redactor) Learn(text string) {
	if decoded, ok := utf16Text([]byte(text)); ok {
		r.Learn(decoded)
	}
	for _, m := range r.find(text) {
		if keyLike(m.secret) || like("pem", m.rule.id) || r.all && spreads(m.secret) {
			r.known[m.secret], r.learnt = m.rule.id, nil
		}
	}
}

// spreads reports whether what only may be a secret is one wherever it stands: it was drawn at random, and is no word
// that a sentence could have as well.
func spreads(s string) bool {
	return len(s) >= 14 && entropy(s) >= 3.3 && strings.ContainsAny(s, "0123456789") && !wordy(s)
}

func (r *Redactor) find(text string) []match {
	if text == r.text {
		return r.found
	}
	found := slices.DeleteFunc(secretRules().matches("x.md", text), func(m match) bool {
		return m.secret == "" || !r.all && !certain(text, m) || r.allowed(Finding{Rule: m.rule.id, Fingerprint: fingerprint(m.rule.id, m.secret)})
	})
	if len(text) >= len(r.text)/16 { // a title in between is looked at twice sooner than a long text
		r.text, r.found = text, found
	}
	return found
}

// Marker stands in the place of a secret. Nothing in it can be taken for one.
func Marker(rule string) string { return markerStart + rule + "]" }

const markerStart = "[redacted: "

// redactRounds bounds how often a text is looked at again: what stands in a
// secret's place may let another rule see more.
const redactRounds = 8

// Clean returns text without secrets. One that no number of looks makes clean
// goes as a whole, and UTF-16 with a secret in it comes back as UTF-8.
func (r *Redactor) Clean(text string) string {
	text = r.clean(text)
	if decoded, ok := utf16Text([]byte(text)); ok {
		if without := r.clean(decoded); without != decoded {
			return without
		}
	}
	return text
}

func (r *Redactor) clean(text string) string {
	text = r.spread(text)
	for range redactRounds {
		found := r.find(text)
		if len(found) == 0 {
			return text
		}
		var b strings.Builder
		at := 0
		for _, m := range found {
			b.WriteString(text[at:m.start] + Marker(m.rule.id))
			r.rules = append(r.rules, m.rule.id)
			at = m.end
		}
		text = b.String() + text[at:]
	}
	r.rules = append(r.rules, "unclear")
	return Marker("unclear")
}

// spread takes out the keys that are known, of two the longer: one may be a part
// of the other.
func (r *Redactor) spread(text string) string {
	if r.learnt == nil {
		keys := slices.SortedFunc(maps.Keys(r.known), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
		var pairs []string
		for _, k := range keys {
			pairs = append(pairs, k, Marker(r.known[k]))
		}
		r.learnt = strings.NewReplacer(pairs...)
	}
	without := r.learnt.Replace(text)
	if without != text {
		for _, rule := range slices.Compact(slices.Sorted(maps.Values(r.known))) {
			if m := Marker(rule); strings.Count(without, m) > strings.Count(text, m) {
				r.rules = append(r.rules, rule)
			}
		}
	}
	return without
}
