package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Secrets lists what in data looks like a secret by gitleaks' rules, in the
// order of lines, one finding for each secret of each rule. name is the path
// of the file: some rules are about certain files, one about names alone.
func Secrets(name string, data []byte) []Finding {
	found := scanText(name, string(data))
	if text, ok := utf16Text(data); ok {
		found = join(found, scanText(name, text))
	}
	return found
}

func scanText(name, text string) []Finding {
	found := secretRules().scan(name, text)
	if plain := plainText(text); plain != text {
		// A secret with an invisible character in it is still a secret.
		found = join(found, secretRules().scan(name, plain))
	}
	return found
}

// NameSecrets is Secrets for a text of one line that is no file: a path, a
// commit's subject.
func NameSecrets(name string) []Finding {
	found := scanText("", name)
	for i := range found {
		found[i].Line, found[i].Column = 0, 0
	}
	return found
}

// match is a finding with what is needed to compare it with others.
type match struct {
	Finding
	secret  string
	generic bool
}

func (s *ruleSet) scan(name, text string) []Finding {
	return distinct(s.matches(name, text))
}

// matches lists every match of every rule.
func (s *ruleSet) matches(name, text string) []match {
	w := windows{rules: s.rules, text: text, of: map[int][]window{}}
	s.index.find(text, w.add)
	var found []match
	for i := range s.rules {
		r := &s.rules[i]
		if r.expr == nil {
			if r.path != nil && r.path().MatchString(name) {
				found = append(found, match{Finding: Finding{Rule: r.id, Fingerprint: fingerprint(r.id, name)}})
			}
			continue
		}
		if len(w.of[i]) == 0 || !r.about(name) {
			continue
		}
		for _, in := range w.of[i] {
			found = s.run(r, text, in, found)
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

// run finds the matches of one rule in a window.
func (s *ruleSet) run(r *rule, text string, in window, found []match) []match {
	part := text[in.start:in.end]
	for _, at := range r.expr().FindAllStringSubmatchIndex(part, -1) {
		from, to := r.secret(at)
		secret := strings.Trim(part[from:to], "\n")
		if r.entropy > 0 && entropy(secret) <= r.entropy {
			continue
		}
		whole := strings.Trim(part[at[0]:at[1]], "\n")
		if s.allowed(r, secret, whole, part[lineStart(part, at[0]):lineEnd(part, max(at[0], at[1]-1))]) {
			continue
		}
		f := Finding{Rule: r.id, Fingerprint: fingerprint(r.id, secret)}
		f.Line, f.Column = place(text, in.start+from)
		f.Excerpt = oneLine(part[at[0]:from], excerptWidth) + fmt.Sprintf("[%d characters]", utf8.RuneCountInString(secret))
		found = append(found, match{f, secret, strings.Contains(r.id, "generic")})
	}
	return found
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

func (s *ruleSet) allowed(r *rule, secret, whole, line string) bool {
	covers := func(a allowance) bool { return a.covers(secret, whole, line) }
	return slices.ContainsFunc(s.global, covers) || slices.ContainsFunc(r.allow, covers)
}

func distinct(found []match) []Finding {
	var out []Finding
	for _, m := range unique(found) {
		out = append(out, m.Finding)
	}
	sortFindings(out)
	return out
}

// unique drops what is found twice, and what the rule for any key found
// where a rule that knows the kind of key found the same.
func unique(found []match) []match {
	var out []match
	seen := map[string]bool{}
	for _, m := range found {
		better := func(o match) bool { return !o.generic && o.Line == m.Line && strings.Contains(o.secret, m.secret) }
		if seen[m.Fingerprint] || m.generic && slices.ContainsFunc(found, better) {
			continue
		}
		seen[m.Fingerprint] = true
		out = append(out, m)
	}
	return out
}

func sortFindings(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
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
