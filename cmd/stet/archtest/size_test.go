package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

// The limits above which a file or function has lost its one subject.
const (
	maxFile     = 400 // lines
	maxLongFile = 600 // with a "Long:" line that says why, at the head
	maxFunction = 60
	maxPackage  = 40 // files, tests not counted
)

func TestFilesAndFunctionsStayShort(t *testing.T) {
	t.Parallel()
	m := load(t)
	files := map[string]int{}
	for _, s := range m.sources {
		if !s.test {
			files[s.pkg]++
		}
		limit := maxFile
		if s.test || reasonForLength(s.text) {
			limit = maxLongFile
		}
		if s.lines > limit {
			t.Errorf("%s has %d lines, the limit is %d", s.name, s.lines, limit)
		}
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := m.fset.Position(f.End()).Line - m.fset.Position(f.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines, the limit is %d", m.at(f), f.Name.Name, n, maxFunction)
			}
		}
	}
	for pkg, n := range files {
		if n > maxPackage {
			t.Errorf("%s has %d files, the limit is %d", pkg, n, maxPackage)
		}
	}
}

func reasonForLength(text string) bool {
	head := strings.SplitN(text, "\n", 20)
	for _, line := range head[:min(len(head), 19)] {
		if strings.HasPrefix(line, "// Long: ") {
			return true
		}
	}
	return false
}

// maxWidth is the columns of a line of Go, a tab counting as four.
const maxWidth = 120

// wideLines counts the lines of packages that were wider when the limit came, tests included. The
// numbers may shrink and not grow.
func wideLines() map[string]int {
	return map[string]int{
		"agent/approval": 15, "agent/encode": 110, "agent/imports": 80, "agent/ingest": 159, "agent/llm": 85,
		"agent/llm/llmtest": 13, "agent/match": 24, "agent/pipeline": 155, "agent/place": 11,
		"agent/recall": 27, "cmd/stet": 18, "cmd/stet/archtest": 1, "index": 88, "index/document": 4,
		"index/embed": 10, "index/past": 1, "index/query": 16, "index/segfile": 3, "index/store": 13,
		"index/watch": 27, "markdown": 124, "templates": 2, "templates/prompts": 5, "vault": 155,
		"vault/doctor": 26, "vault/durable": 11, "vault/durable/durabletest": 13, "vault/filelock": 1,
		"vault/gitindex": 3, "vault/gitstore": 35, "vault/guard": 151, "vault/lineage": 27,
		"vault/links": 36, "vault/notebook": 49, "vault/proposal": 7, "vault/session": 28,
		"vault/settings": 34, "vault/store": 6, "vault/tombstone": 21, "vault/vaulttest": 1,
		"vault/vaulttest/processtest": 10,
	}
}

func TestLinesStayNarrow(t *testing.T) {
	t.Parallel()
	m := load(t)
	wide, last := map[string]int{}, map[string]string{}
	for _, s := range m.sources {
		number := 0
		for line := range strings.Lines(s.text) {
			number++
			line = strings.TrimRight(line, "\r\n")
			if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > maxWidth {
				wide[s.pkg]++
				last[s.pkg] += fmt.Sprintf(" %s:%d", s.name, number)
			}
		}
	}
	known := wideLines()
	for pkg, n := range wide {
		if n > known[pkg] {
			t.Errorf("%s has %d lines of more than %d columns, %d were there before:%s", pkg, n, maxWidth, known[pkg],
				last[pkg])
		}
	}
}

// The limits above which a package or a type is more than one thing. What is above them today may
// shrink and not grow.
const (
	maxExports = 60 // top-level names as "go doc -short" prints them: one for a group of constants or variables
	maxMethods = 25 // exported, of one type
)

func aboveLimits() map[string]int {
	return map[string]int{
		"vault": 73,
	}
}

func TestPackagesAndTypesStaySmall(t *testing.T) {
	t.Parallel()
	m := load(t)
	exports, methods := map[string]int{}, map[string]int{}
	for _, s := range m.sources {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case !d.Name.IsExported():
				case d.Recv != nil:
					methods[s.pkg+"."+receiver(d)]++
				default:
					exports[s.pkg]++
				}
			case *ast.GenDecl:
				exports[s.pkg] += exportsOf(d)
			}
		}
	}
	above := aboveLimits()
	hold := func(name string, n, limit int, what string) {
		if known, ok := above[name]; ok {
			if n <= limit {
				t.Errorf("%s has %d %s: take it out of the list", name, n, what)
			}
			limit = known
		}
		if n > limit {
			t.Errorf("%s has %d %s, the limit is %d", name, n, what, limit)
		}
	}
	for pkg, n := range exports {
		if pkg != "agent" { // the use cases with their options and results
			hold(pkg, n, maxExports, "exported names")
		}
	}
	for typ, n := range methods {
		hold(typ, n, maxMethods, "methods")
	}
}

// exportsOf counts the exported types of a declaration, and a group of constants or variables once.
func exportsOf(d *ast.GenDecl) int {
	n := 0
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				n++
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					n++
				}
			}
		}
	}
	if d.Tok != token.TYPE {
		return min(n, 1)
	}
	return n
}

func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return "?"
}

// The packages that do the work know nothing of the layer that calls them, and that layer nothing
// of the front ends.
func TestTheApplicationLayerStandsBetweenFrontEndsAndWork(t *testing.T) {
	t.Parallel()
	for _, e := range edges() {
		frontEnd := below(e.pkg, "cmd") || e.pkg == "curator" || e.pkg == "agent/mcp" || e.pkg == "agent/tools"
		for _, to := range e.imports {
			if to == "agent" && !frontEnd {
				t.Errorf("%s does the work and may not import agent", e.pkg)
			}
			if below(to, "cmd") && !frontEnd {
				t.Errorf("%s may not import the front end %s", e.pkg, to)
			}
		}
	}
}
