package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A ban says which functions may be called below one folder only.
type ban struct {
	pkg    string
	names  []string
	only   []string // folders that may
	reason string
}

func bans() []ban {
	return []ban{
		{"os", []string{"WriteFile", "Create", "Rename", "Mkdir", "MkdirAll", "Remove", "Link", "Symlink", "Truncate",
			"Chmod", "Chtimes"}, []string{"vault/durable"},
			"there is one way to write a file, and tests see every step of it"},
		// A bench without a folder for its vaults works in a temporary one of its own.
		{"os", []string{"RemoveAll", "MkdirTemp", "CreateTemp"}, []string{"vault/durable", "cmd/stet/bench"},
			"there is one way to write a file"},
		{"os", []string{"Getenv", "LookupEnv", "Environ", "Args", "Stdin", "Stdout", "Stderr"}, []string{"cmd/stet"},
			"the environment belongs to the command line"},
		{"os", []string{"Exit"}, []string{"cmd/stet"}, "a library that exits cannot be called"},
		{"time", []string{"Now", "Since", "Until"}, []string{"cmd/stet/console"}, "time comes in through options"},
		{"fmt", []string{"Print", "Printf", "Println"}, nil, "answers go to the writer that was given"},
		{"log", []string{"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic"}, nil,
			"return it or handle it"},
	}
}

func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	m := load(t)
	for _, s := range m.sources {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, b := range bans() {
				if x.Name != b.pkg || !slices.Contains(b.names, sel.Sel.Name) {
					continue
				}
				if !slices.ContainsFunc(b.only, func(dir string) bool { return below(s.pkg, dir) }) {
					t.Errorf("%s: %s.%s: %s", m.at(sel), b.pkg, sel.Sel.Name, b.reason)
				}
			}
			return true
		})
	}
}

// os.Exit stands once in the whole command, in main.
func TestMainIsOneStatement(t *testing.T) {
	t.Parallel()
	m := load(t)
	exits := 0
	for _, s := range m.sources {
		if !below(s.pkg, "cmd") || s.test {
			continue
		}
		exits += strings.Count(s.text, "os.Exit(")
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "main" && len(f.Body.List) != 1 {
				t.Errorf("%s: main has %d statements, want 1", m.at(f), len(f.Body.List))
			}
		}
	}
	if exits != 1 {
		t.Errorf("os.Exit is called %d times below cmd, want 1", exits)
	}
}

// Package state that changes, and work at start-up, are forbidden: they make
// packages depend on the order of things and every command slower to start.
func TestNoInitAndNoMutablePackageState(t *testing.T) {
	t.Parallel()
	m := load(t)
	for _, s := range m.sources {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "init" && d.Recv == nil {
					t.Errorf("%s: init is forbidden", m.at(d))
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					checkVars(t, m, d)
				}
			}
		}
	}
}

func checkVars(t *testing.T, m *module, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		if d.Doc != nil && strings.Contains(commentText(d.Doc), "go:embed") {
			continue
		}
		for i, n := range v.Names {
			var value ast.Expr
			if i < len(v.Values) {
				value = v.Values[i]
			}
			if n.Name != "_" && !strings.HasPrefix(n.Name, "Err") && !strings.HasPrefix(n.Name, "err") && !lazy(value) {
				t.Errorf("%s: package variable %s: a sentinel, an embedded file or sync.OnceValue are allowed", m.at(v),
					n.Name)
			}
		}
	}
}

func commentText(g *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range g.List {
		b.WriteString(c.Text)
	}
	return b.String()
}

// lazy is true for sync.OnceValue and its kin, and for an unexported sentinel.
func lazy(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && (x.Name == "sync" && strings.HasPrefix(sel.Sel.Name, "Once") || x.Name == "errors" &&
		sel.Sel.Name == "New")
}
