package guard

import (
	"cmp"
	"slices"
	"strings"
)

// A Redactor takes secrets out of texts that belong together: what is found to
// be one in any of them is taken out of all, also where nothing around it tells.
// It is not safe for concurrent use.
type Redactor struct {
	allowed func(Finding) bool
	known   map[string]string // secret → rule
	rules   []string
}

// NewRedactor returns a redactor that leaves alone what allowed says.
func NewRedactor(allowed func(Finding) bool) *Redactor {
	return &Redactor{allowed: allowed, known: map[string]string{}}
}

// Rules are the rules that found what was taken out so far, each once.
func (r *Redactor) Rules() []string {
	slices.Sort(r.rules)
	r.rules = slices.Compact(r.rules)
	return r.rules
}

// shortSecret is the length below which a secret is taken out only where a rule
// finds it: elsewhere it could be any word.
const shortSecret = 8

// Learn looks for secrets in one of the texts.
func (r *Redactor) Learn(text string) {
	found := r.find(text)
	if plain := plainText(text); plain != text {
		found = append(found, r.find(plain)...)
	}
	for _, m := range found {
		if len(m.secret) >= shortSecret {
			r.known[m.secret] = m.Rule
		}
	}
}

func (r *Redactor) find(text string) []match {
	return slices.DeleteFunc(secretRules().matches("x.md", text), func(m match) bool {
		return m.secret == "" || r.allowed(m.Finding)
	})
}

// Marker stands in the place of a secret. Nothing in it can be taken for one.
func Marker(rule string) string { return "[redacted: " + rule + "]" }

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
	text = r.replace(text, r.known)
	for range redactRounds {
		found := r.find(text)
		if len(found) > 0 {
			here := map[string]string{}
			for _, m := range found {
				here[m.secret] = m.Rule
			}
			text = r.replace(text, here)
			continue
		}
		plain := plainText(text)
		if plain == text || len(r.find(plain)) == 0 {
			return text
		}
		text = plain // characters that nobody sees stood in the secret
	}
	r.rules = append(r.rules, "unclear")
	return Marker("unclear")
}

// replace puts markers in the place of secrets, of the longest first: one may be
// a part of another.
func (r *Redactor) replace(text string, secrets map[string]string) string {
	var list []string
	for s := range secrets {
		if strings.Contains(text, s) {
			list = append(list, s)
			r.rules = append(r.rules, secrets[s])
		}
	}
	if len(list) == 0 {
		return text
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, s := range list {
		pairs = append(pairs, s, Marker(secrets[s]))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
