package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A source is one Go file of the module.
type source struct {
	name  string // relative to the module, slashes
	pkg   string // folder, "cmd/stet/console"
	test  bool   // _test.go, or a package only tests may import
	file  *ast.File
	lines int
	text  string
}

type module struct {
	root    string
	fset    *token.FileSet
	sources []source
	err     error
}

// load parses the module once for all tests.
func load(t *testing.T) *module {
	t.Helper()
	m := loaded()
	if m.err != nil {
		t.Fatal(m.err)
	}
	if len(m.sources) < 20 {
		t.Fatalf("only %d Go files found below %s: the rules would hold of nothing", len(m.sources), m.root)
	}
	return m
}

var loaded = sync.OnceValue(func() *module {
	m := &module{fset: token.NewFileSet()}
	if m.root, m.err = moduleRoot(); m.err == nil {
		m.err = filepath.WalkDir(m.root, m.visit)
	}
	return m
})

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

func (m *module) visit(p string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		if p != m.root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		return nil
	}
	if !strings.HasSuffix(p, ".go") {
		return nil
	}
	data, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(m.root, p)
	if err != nil {
		return err
	}
	name := filepath.ToSlash(rel)
	file, err := parser.ParseFile(m.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := path.Dir(name)
	m.sources = append(m.sources, source{
		name: name, pkg: pkg, file: file, text: string(data), lines: strings.Count(string(data), "\n"),
		test: strings.HasSuffix(name, "_test.go") || testOnly(pkg),
	})
	return nil
}

// testOnly names the packages that help tests and are imported by tests alone.
func testOnly(pkg string) bool {
	return strings.HasSuffix(pkg, "test") && pkg != "cmd/stet/archtest"
}

// at is the position of a node for a message.
func (m *module) at(n ast.Node) string {
	p := m.fset.Position(n.Pos())
	return p.String()
}

func below(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }
