package scan

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// examples are lines of which an expression is made up: each way through what it offers, the others as short as they
// are.
func examples(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		return []string{string(oneOf(re.Rune))}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []string{"z"}
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			out = append(out, examples(sub)...)
		}
		return out
	case syntax.OpStar, syntax.OpQuest:
		return []string{""}
	case syntax.OpCapture, syntax.OpPlus:
		return examples(re.Sub[0])
	case syntax.OpRepeat:
		each := examples(re.Sub[0])
		for i := range each {
			each[i] = strings.Repeat(each[i], re.Min)
		}
		return each
	case syntax.OpConcat:
		out := []string{""}
		for i, sub := range re.Sub {
			ways := examples(sub)
			if sub.Op == syntax.OpWordBoundary && i > 0 && i+1 < len(re.Sub) {
				ways = []string{"", " "}
			}
			var next []string
			for _, way := range ways {
				for _, begin := range out {
					next = append(next, begin+way)
				}
			}
			out = next
		}
		return out
	}
	return []string{""}
}

// oneOf is a character of a class: a space, a quote or a letter where it has one.
func oneOf(ranges []rune) rune {
	for _, r := range " \"/a1" {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return r
			}
		}
	}
	return ranges[0]
}

// Every line that the expression of a rule finds has one of its words: without them the rule would find no more.
func TestTheWordsOfARuleCoverItsExpression(t *testing.T) {
	t.Parallel()
	for _, r := range append(rules(), readsSecret(), sendsIt(), fetches()[0], fetches()[1],
		opensSocket(), givesShell()) {
		re, err := syntax.Parse(r.expr.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		tried, missed := 0, 0
		for _, line := range examples(re.Simplify()) {
			if r.but = nil; !r.expr.MatchString(line) {
				continue
			}
			if tried++; !r.finds(line, strings.ToLower(line)) && missed < 3 {
				missed++
				t.Errorf("%s: its words pass by %q", r.name, line)
			}
		}
		if tried == 0 {
			t.Errorf("%s: no example of %s", r.name, r.expr)
		}
	}
}
