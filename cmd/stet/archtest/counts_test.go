package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a person reads with a number in it must be right for 0, 1 and 2. So a noun that is counted comes from Plural,
// and a verb that goes with it stands in both of its forms there.
func TestNumbersAgreeWithTheirWords(t *testing.T) {
	t.Parallel()
	m := load(t)
	for _, s := range m.sources {
		if s.test || testOnly(s.pkg) || strings.HasPrefix(s.pkg, ".ci") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for _, fault := range countFaults(n) {
				t.Errorf("%s: %s", m.at(n), fault)
			}
			return true
		})
	}
}

// The test must see what it is there for.
func TestCountFaultsAreSeen(t *testing.T) {
	t.Parallel()
	const bad = `f("%d files", n)
f("%d more files", n)
f("turn(s)")
f("the %d entries of %s", n, x)
f("%d wait", n)
f("%d of %d lines", n, k)
f("%s are new", Plural(n, "file"))
f("%s of %s has gone", x, agent.Plural(n, "file"))
f("x" + Plural(n, "file") + " were seen")
f(Plural(n, "memory"))
f(Plural(n, "commit of an agent"))
f(Plural(n, "files"))
f(strconv.Itoa(n) + " files")
f(Plural(n, "file", "file"))
f("%[2]d files", x, n)`
	const good = `f("%d new", n)
f("at most %d files", n)
f("line %d links to %q", n, x)
f("%d bytes, at most %d", n, k)
f("%s are new", x)
f("%d ms", n)
f("%s: %s, left", Plural(n, "file"), x)
f(Plural(n, "memory", "memories"))
f(Plural(n, "file waits", "files wait"))
f("it is %d of %s", n, Plural(k, "file"))`
	for text := range strings.SplitSeq(bad, "\n") {
		if len(faultsIn(t, text, countFaults)) == 0 {
			t.Errorf("%s passes", text)
		}
	}
	for text := range strings.SplitSeq(good, "\n") {
		if got := faultsIn(t, text, countFaults); len(got) > 0 {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func faultsIn(t *testing.T, text string, faults func(ast.Node) []string) (out []string) {
	t.Helper()
	x, err := parser.ParseExpr(text)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(x, func(n ast.Node) bool {
		out = append(out, faults(n)...)
		return true
	})
	return out
}

var (
	handMade = regexp.MustCompile(`[a-z]\(s\)`)
	// counted is a number and the word behind it, with what stands before.
	counted = regexp.MustCompile(`([\w.]+ |)%(?:\[\d+\])?d (?:more )?([a-z]+)\b`)
	atMost  = regexp.MustCompile(`^,? \(?at most`)
	// bound words stand before a number that is never 1.
	bound = regexp.MustCompile(`^(most|than|first|least|within|last) $`)
	// named words stand before a number that counts nothing.
	named = regexp.MustCompile(`^(line|message|note|version|document|entry|column|stage|place|turn|to|pid|-n) $`)
	// inflected words differ between one and many.
	inflected = regexp.MustCompile(`^ (is|are|was|were|has|have|does|do|waits?|needs?|stays?|says?|names?|begins?)\b`)
	verbs     = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?(\*|\d+)?(\.(\*|\d+))?[a-zA-Z%]`)
)

// countFaults says what is wrong with a node by itself.
func countFaults(n ast.Node) (out []string) {
	switch n := n.(type) {
	case *ast.BasicLit:
		return textFaults(n)
	case *ast.BinaryExpr:
		after, isText := literal(n.Y)
		if left, ok := n.X.(*ast.BinaryExpr); ok && n.Op == token.ADD {
			n = &ast.BinaryExpr{X: left.Y, Op: n.Op, Y: n.Y}
		}
		call, isCall := n.X.(*ast.CallExpr)
		switch {
		case n.Op != token.ADD || !isText || !isCall:
		case callee(call) == "Plural" && inflected.MatchString(after):
			out = append(out, "give Plural the verb in both forms: "+after)
		case callee(call) == "Itoa" && pluralWord(strings.TrimSpace(strings.SplitN(after+" ", " ", 3)[1])):
			out = append(out, "let Plural count: "+after)
		}
	case *ast.CallExpr:
		if callee(n) == "Plural" {
			return nounFaults(n)
		}
		return formatFaults(n)
	}
	return out
}

func textFaults(lit *ast.BasicLit) (out []string) {
	text, ok := literal(lit)
	if !ok {
		return nil
	}
	if handMade.MatchString(text) {
		out = append(out, "let Plural write the plural: "+text)
	}
	for _, at := range counted.FindAllStringSubmatchIndex(text, -1) {
		before, word := text[at[2]:at[3]], text[at[4]:at[5]]
		if bound.MatchString(before) || named.MatchString(before) || atMost.MatchString(text[at[1]:]) {
			continue
		}
		verb := slices.Contains([]string{"are", "were", "have", "wait", "do"}, word) && before != "and "
		if verb || pluralWord(word) {
			out = append(out, "let Plural count: "+text)
		}
	}
	return out
}

// pluralWord reports whether a word is a noun that is counted as many.
func pluralWord(word string) bool {
	return strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") &&
		!slices.Contains([]string{"is", "was", "has", "as", "its", "this", "ms", "shows"}, word)
}

// nounFaults says what is wrong with what a call of Plural counts.
func nounFaults(call *ast.CallExpr) (out []string) {
	if len(call.Args) < 2 {
		return nil
	}
	one, ok := literal(call.Args[1])
	if !ok {
		return nil
	}
	words := strings.Fields(one)
	if pluralWord(words[0]) && len(words) == 1 {
		out = append(out, "one of them is no plural: "+one)
	}
	if len(call.Args) == 2 && irregular.MatchString(one) {
		out = append(out, "say what many are called: "+one)
	}
	if len(call.Args) == 3 {
		if many, ok := literal(call.Args[2]); ok && many == one && !slices.Contains(invariant(), one) {
			out = append(out, "one and many are called the same: "+one)
		}
	}
	return out
}

// irregular is what an s at the end does not make many of.
var irregular = regexp.MustCompile(`[^aeiou]y$|(s|x|ch|sh|z)$| (of|from|in|with|to|that|for|by|is|waits) `)

func invariant() []string { return []string{"archived"} }

// formatFaults finds verbs behind what Plural counts, which agree with it for some numbers alone.
func formatFaults(call *ast.CallExpr) (out []string) {
	for at, arg := range filled(call) {
		c, ok := arg.(*ast.CallExpr)
		if ok && callee(c) == "Plural" && inflected.MatchString(at.after) {
			out = append(out, "give Plural the verb in both forms: "+at.before+at.after)
		}
	}
	return out
}

// A place is where a format puts one of its arguments, between what stands before and behind.
type place struct{ before, verb, after string }

// filled are the places of a call's format and what comes there.
func filled(call *ast.CallExpr) iter.Seq2[place, ast.Expr] {
	return func(yield func(place, ast.Expr) bool) {
		for i, arg := range call.Args {
			format, ok := literal(arg)
			if !ok || !strings.Contains(format, "%") {
				continue
			}
			next := i + 1
			for _, at := range verbs.FindAllStringSubmatchIndex(format, -1) {
				if format[at[1]-1] == '%' {
					continue
				}
				if at[2] >= 0 {
					n, _ := strconv.Atoi(format[at[2]+1 : at[3]-1])
					next = i + n
				}
				next += strings.Count(format[at[0]:at[1]], "*")
				p := place{format[:at[0]], format[at[0]:at[1]], format[at[1]:]}
				if next < len(call.Args) && !yield(p, call.Args[next]) {
					return
				}
				next++
			}
			return
		}
	}
}

func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal is the text of a string, also of one that is put together of literals.
func literal(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			text, err := strconv.Unquote(x.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		a, ok := literal(x.X)
		b, ok2 := literal(x.Y)
		return a + b, ok && ok2 && x.Op == token.ADD
	}
	return "", false
}
