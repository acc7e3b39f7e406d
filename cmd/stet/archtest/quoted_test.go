package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// What a person or an agent copies out of a message and runs must name what it is about, also where that has blanks,
// quotes or dollars in its name: so what a command is printed with comes from Quote, or is of a kind that has none.
func TestPrintedCommandsAreQuoted(t *testing.T) {
	t.Parallel()
	m := load(t)
	for _, s := range m.sources {
		if s.test || testOnly(s.pkg) || strings.HasPrefix(s.pkg, ".ci") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for _, fault := range unquoted(n) {
				t.Errorf("%s: quote %s for the shell", m.at(n), fault)
			}
			return true
		})
	}
}

// The test must see what it is there for.
func TestUnquotedWordsAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`f("\"stet show %s\" shows it", p)`:                           1,
		`f("%s: stet show %s --around %d", x, p, n)`:                  1,
		`f("\"stet move %s %s\" does", m.ID, notes[i].Scope)`:         1,
		`f("\"stet restore %[2]s\", \"stet forget %[2]s\"", p, p)`:    2,
		`x{Hint: "mend it by hand: git add " + string(p)}`:            1,
		`f("\"stet show %s\" shows %s", templates.Quote(p), p)`:       0,
		`f("\"stet revert %s\" takes back %q", c.Rev.Short(), title)`: 0,
		`f("the git folder %q: stet leaves %s", p, p)`:                0,
		`x{Hint: "git add " + templates.Quote(p)}`:                    0,
	} {
		if got := len(faultsIn(t, text, unquoted)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// inCommand is a text that ends within a command to be run, and ofStet one that merely tells of stet or git.
var (
	inCommand = regexp.MustCompile("(?:^|[\"`]|[:;] | {2})(?:stet|git) (?:[a-z]+|-C) [^\";]*$")
	ofStet    = regexp.MustCompile("(?:stet (?:commits|leaves|may|runs)|" +
		"git (?:attribute|config|dir|has|knows|ref)) [^-]*$")
)

// plain are the ends of expressions for what has no letter that a shell reads: ids and commits, keys, and what stands
// in a table.
var plain = regexp.MustCompile(`(^|\.)(Client|Cognitive|Commit|Fingerprint|ID|Key|Marker|Model|Provider|Rev|Run|` +
	`[cC]lient\.Name|[sS]ource\.Name|c\.Name|Short\(|lost|near|newest|rev|run)$|^templates\.Quote\(|^strings\.Join\(`)

// wrapped is what stands around such an expression and changes nothing of that.
var wrapped = regexp.MustCompile(`^(console\.Line1|string)\(`)

// unquoted is what a node puts into a command as it is.
func unquoted(n ast.Node) (out []string) {
	check := func(before string, x ast.Expr) {
		name := strings.TrimRight(wrapped.ReplaceAllString(types.ExprString(x), ""), ")")
		if inCommand.MatchString(before) && !ofStet.MatchString(before) && !plain.MatchString(name) {
			out = append(out, name+" behind "+before)
		}
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		for at, arg := range filled(n) {
			if strings.ContainsAny(at.verb, "sqv") {
				check(at.before, arg)
			}
		}
	case *ast.BinaryExpr:
		_, isText := literal(n.Y)
		if before, ok := literal(n.X); ok && n.Op == token.ADD && !isText {
			check(before, n.Y)
		}
	}
	return out
}
