package guard

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// sampler writes texts that an expression matches. All secrets of these tests
// are made here, at run time: none stands in the repository.
type sampler struct{ *rand.Rand }

func (s sampler) text(re *syntax.Regexp) string {
	var b strings.Builder
	s.write(&b, re)
	return b.String()
}

func (s sampler) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && s.IntN(2) == 0 {
			text = strings.ToLower(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		b.WriteRune(s.of(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(s.of([]rune{'a', 'z'}))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			s.write(b, sub)
		}
	case syntax.OpAlternate:
		s.write(b, re.Sub[s.IntN(len(re.Sub))])
	case syntax.OpStar, syntax.OpQuest:
		s.repeat(b, re.Sub[0], 0, 1)
	case syntax.OpPlus:
		s.repeat(b, re.Sub[0], 1, 2)
	case syntax.OpRepeat:
		most := re.Min + 3
		if re.Max >= 0 {
			most = min(most, re.Max)
		}
		s.repeat(b, re.Sub[0], re.Min, most)
	}
}

func (s sampler) repeat(b *strings.Builder, re *syntax.Regexp, least, most int) {
	for range least + s.IntN(most-least+1) {
		s.write(b, re)
	}
}

// of picks a character of a class, printable ASCII where the class has it.
func (s sampler) of(ranges []rune) rune {
	var can []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := max(ranges[i], '!'); r <= min(ranges[i+1], '~'); r++ {
			can = append(can, r)
		}
	}
	if len(can) == 0 {
		return ranges[0]
	}
	return can[s.IntN(len(can))]
}

// exprs maps the rules to their expressions as text.
func exprs(t *testing.T) map[string]*syntax.Regexp {
	t.Helper()
	out, at := map[string]*syntax.Regexp{}, ""
	for line := range strings.Lines(gitleaksText + stetText) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "rule":
			at = value
		case "expr":
			re, err := syntax.Parse(value, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			out[at] = re
		}
	}
	for _, r := range secretRules().rules {
		if r.behind { // with its keywords
			re, err := syntax.Parse(r.everywhere().expr().String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			out[r.id] = re
		}
	}
	return out
}

// places are surroundings in which a note holds such a text.
func places() []string {
	return []string{"%s\n", "Text before.\n%s\nText after.\n", "# Keys\n\n```sh\n%s\n```\n", "- item\n\n  %s\n", "Note %s\n"}
}

// fileOf is a name that a rule is about: Markdown for nearly all.
func fileOf(r *rule) string {
	if r.expr == nil {
		return "skills/a/assets/cert.p12"
	}
	return "memories/a.md"
}

// whole puts the whole text under every expression, as gitleaks does when one
// of the rule's keywords stands anywhere in it. most is what that finds; least
// what of it has a keyword in the match itself. Secrets looks around keywords
// only: a bare number of 40 digits far from the word it would be a token with
// is no finding.
func (s *ruleSet) whole(name, text string) (least, most []match) {
	v := &view{text: text}
	for i := range s.rules {
		r := s.rules[i].everywhere()
		if r.expr == nil || !r.about(name) || !hasKeyword(r, text) {
			continue
		}
		most = s.run(r, v, window{0, len(text)}, nil, most)
		for at := 0; at < len(text); at = lineEnd(text, at) + 1 { // "$" holds at the end of a line as well
			most = s.run(r, v, window{at, lineEnd(text, at)}, nil, most)
		}
		for _, at := range r.expr().FindAllStringIndex(text, -1) {
			if hasKeyword(r, text[at[0]:at[1]]) {
				in := window{lineStart(text, at[0]), lineEnd(text, max(at[0], at[1]-1))}
				least = s.run(r, v, in, nil, least)
			}
		}
	}
	return least, most
}

// everywhere is a rule whose expression finds a keyword by itself.
func (r rule) everywhere() *rule {
	if !r.behind {
		return &r
	}
	var names []string
	for _, k := range r.keywords {
		name := regexp.QuoteMeta(strings.TrimRight(k, " :=\"'|*`"))
		if ascii(name) {
			name = "(?i:" + name + ")" // other letters are compared as they are
		}
		if len(name) == len("(?i:pw)") {
			name = `\b` + name
		}
		names = append(names, name)
	}
	tail := strings.Replace(r.expr().String(), "^", "", 1)
	expr := regexp.MustCompile("(?:" + strings.Join(names, "|") + ")" + tail)
	r.expr, r.behind = func() *regexp.Regexp { return expr }, false
	return &r
}

func hasKeyword(r *rule, text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc(r.keywords, func(k string) bool { return strings.Contains(low, k) })
}

// compare reports what Secrets misses or has too much: every secret shares bytes
// with a finding, and every finding with a secret, unless it shows only where the
// text is put together.
func (s *ruleSet) compare(t *testing.T, name, text string) (found int) {
	t.Helper()
	got := s.matches(name, text)
	least, most := s.whole(name, text)
	for _, m := range least {
		if !slices.ContainsFunc(got, m.shares) {
			t.Errorf("missed %s %q in %q", m.rule.id, m.secret, text)
		}
	}
	read := plain(text)
	if whole := fragments(&read); read.cuts != nil || whole.text != "" {
		return len(got)
	}
	for _, m := range got {
		if !slices.ContainsFunc(most, m.shares) {
			t.Errorf("found %s %q in %q, and its expression does not", m.rule.id, m.secret, text)
		}
	}
	return len(got)
}

func (m match) shares(o match) bool { return m.start < o.end && o.start < m.end }

func TestEveryRuleFindsItsSamples(t *testing.T) {
	t.Parallel()
	set, caught, tried := secretRules(), 0, 20
	if testing.Short() {
		tried = 5
	}
	re := exprs(t)
	for i := range set.rules {
		r := &set.rules[i]
		if r.expr == nil {
			if found := Secrets(fileOf(r), nil); len(found) == 1 && found[0].Rule == r.id {
				caught++
			} else {
				t.Errorf("%s: %v", r.id, found)
			}
			continue
		}
		s, hits := sampler{rand.New(rand.NewPCG(uint64(i), 7))}, 0
		for n := range tried {
			text := s.text(re[r.id])
			if !hasKeyword(r, text) {
				text = r.keywords[0] + " " + text
			}
			if set.compare(t, fileOf(r), fmt.Sprintf(places()[n%len(places())], text)) > 0 {
				hits++
			}
		}
		if hits*2 > tried { // samples of low entropy, or with a word for samples in them, are rightly passed
			caught++
		} else {
			t.Logf("%s: %d of %d samples", r.id, hits, tried)
		}
	}
	t.Logf("%d of %d rules find their samples", caught, len(set.rules))
	if caught*100 < 95*len(set.rules) {
		t.Errorf("%d of %d rules find their samples, want 95 %%", caught, len(set.rules))
	}
}

// A rule's sample with the secret taken out, or replaced by what stands there
// in documentation, is no finding of that rule.
func TestNoRuleTakesAPlaceholderForASecret(t *testing.T) {
	t.Parallel()
	re := exprs(t)
	for i := range secretRules().rules {
		r := &secretRules().rules[i]
		if r.expr == nil {
			continue
		}
		s := sampler{rand.New(rand.NewPCG(uint64(i), 11))}
		for range 3 {
			text := s.text(re[r.id])
			at := r.everywhere().expr().FindStringSubmatchIndex(text)
			if at == nil {
				continue
			}
			from, to := r.secret(at)
			for _, filler := range []string{"", "${TOKEN}", "<token>", "xxxx", "…", "{{ token }}", "********"} {
				doc := text[:from] + filler + text[to:] + "\n"
				if r.id == "kubernetes-secret-yaml" || r.id == "private-key" || strings.Contains(filler, "x") && strings.HasPrefix(r.id, "curl") {
					continue // their secret is a block, or any word
				}
				for _, f := range Secrets("memories/a.md", []byte(doc)) {
					if f.Rule == r.id {
						t.Errorf("%s finds %+v in %q", r.id, f, doc)
					}
				}
			}
		}
	}
}

// A long text of many samples and much prose is read as gitleaks reads it.
func TestWindowsMissNothing(t *testing.T) {
	t.Parallel()
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	re, set := exprs(t), secretRules()
	words := strings.Fields("the key is in token password secret, api : access auth = a note kind: data: curl -H client > end\n \n\n line , says | so")
	for round := range rounds {
		s := sampler{rand.New(rand.NewPCG(uint64(round), 3))}
		var b strings.Builder
		for range 60 {
			if s.IntN(4) == 0 {
				r := set.rules[s.IntN(len(set.rules))]
				if r.expr != nil {
					b.WriteString(s.text(re[r.id]))
				}
			}
			b.WriteString(words[s.IntN(len(words))] + []string{" ", "\n", "", "\n\n"}[s.IntN(4)])
		}
		set.compare(t, "a.md", b.String())
	}
}

func TestRulesThatCannotBeReadAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"rule a\nfoo bar\n", "rule a\nentropy x\n", "rule a\nallow\nfoo bar\n"} {
		if _, err := parseRules(source{text, nil}); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestEntropy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"": 0, "aaaa": 0, "ab": 1, "abcd": 2, "aabb": 1} {
		if got := entropy(text); got != want {
			t.Errorf("entropy(%q) = %v, want %v", text, got, want)
		}
	}
}

// An expression that needs a token runs on the lines that have one, however many name a password.
func TestLinesWithoutATokenAreNotLookedAt(t *testing.T) {
	t.Parallel()
	v := view{text: strings.Repeat("the password is kept\n", 1000) + "my pass" + "word is Tr0ub4" + "dor1\n"}
	set := secretRules()
	w := newWindows(set.rules, &v)
	set.index.find(v.text, w.add)
	for i, r := range set.rules {
		for _, in := range w.of[i] {
			if r.token > 0 && in.end-in.start > 200 {
				t.Errorf("%s looks at %d bytes", r.id, in.end-in.start)
			}
		}
	}
}
