package archtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
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

// The limits above which a package or a type is more than one thing. What is above them today may
// shrink and not grow.
const (
	maxExports = 60 // top-level names; one for a group of constants
	maxMethods = 25 // exported, of one type
)

func aboveLimits() map[string]int {
	return map[string]int{
		"vault": 98,
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

// exportsOf counts the exported types and variables of a declaration, and a group of constants once.
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
	if d.Tok == token.CONST {
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
		frontEnd := below(e.pkg, "cmd")
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
