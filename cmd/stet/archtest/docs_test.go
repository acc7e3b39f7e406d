package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItPromises(t *testing.T) {
	t.Parallel()
	m := load(t)
	docs := map[string]string{}
	for _, s := range m.sources {
		if strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		if _, ok := docs[s.pkg]; !ok {
			docs[s.pkg] = ""
		}
		if s.file.Doc == nil {
			continue
		}
		if docs[s.pkg] != "" {
			t.Errorf("%s: the package has a second package comment", s.name)
		}
		docs[s.pkg] = s.file.Doc.Text()
		want := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			want = "Command stet "
		}
		if !strings.HasPrefix(docs[s.pkg], want) {
			t.Errorf("%s: the package comment must begin with %q", s.name, want)
		}
	}
	for pkg, doc := range docs {
		if doc == "" {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	m := load(t)
	for _, s := range m.sources {
		if strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown(d) {
					t.Errorf("%s: %s has no comment", m.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				checkGroup(t, m, d)
			}
		}
	}
}

func checkGroup(t *testing.T, m *module, d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
				t.Errorf("%s: type %s has no comment", m.at(spec), spec.Name.Name)
			}
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				if n.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					t.Errorf("%s: %s has no comment", m.at(spec), n.Name)
				}
			}
		}
	}
}

// exportedReceiver is true for functions and for methods others can call.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// wellKnown methods say all there is in their name, which the standard library
// defines.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && (d.Name.Name == "Error" || d.Name.Name == "Unwrap" || d.Name.Name == "String")
}

// Nothing in the tree may name a folder of the machine it was written on.
func TestNoMachinePathsInTheTree(t *testing.T) {
	t.Parallel()
	m := load(t)
	// Written apart, so that this file does not match itself.
	bad := regexp.MustCompile(`(^|[\s"'=(` + "`" + `])/(` + "wo" + `rk|` + "ro" + `ot)/`)
	for _, file := range textFiles(t, m) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if at := bad.FindIndex(data); at != nil {
			t.Errorf("%s names a path of this machine: %q", file, data[at[0]:min(len(data), at[1]+20)])
		}
	}
}

func textFiles(t *testing.T, m *module) []string {
	t.Helper()
	var out []string
	for _, s := range m.sources {
		out = append(out, filepath.Join(m.root, filepath.FromSlash(s.name)))
	}
	for _, pattern := range []string{"*.md", "docs/*.md", ".ci/*", ".ci/*/*", "go.mod", "cmd/stet/testdata/script/*", "templates/*/*"} {
		found, err := filepath.Glob(filepath.Join(m.root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if info, err := os.Stat(name); err != nil {
				t.Fatal(err)
			} else if info.Mode().IsRegular() {
				out = append(out, name)
			}
		}
	}
	return out
}

// Every sentinel that vault, its settings, index or models export is in the exit code table.
func TestEverySentinelHasAnExitCode(t *testing.T) {
	t.Parallel()
	m := load(t)
	var table string
	for _, s := range m.sources {
		if s.name == "cmd/stet/console/exit.go" {
			table = s.text
		}
	}
	found := 0
	for _, s := range m.sources {
		if !slices.Contains([]string{"vault", "vault/settings", "index", "agent", "agent/llm"}, s.pkg) || s.test {
			continue
		}
		for _, name := range sentinels(s.file) {
			found++
			if !regexp.MustCompile(`\b` + path.Base(s.pkg) + `\.` + name + `\b`).MatchString(table) {
				t.Errorf("%s.%s has no exit code in cmd/stet/console/exit.go", s.pkg, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d sentinels found: the test looks at the wrong place", found)
	}
}

func sentinels(f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			for _, n := range spec.(*ast.ValueSpec).Names {
				if strings.HasPrefix(n.Name, "Err") {
					out = append(out, n.Name)
				}
			}
		}
	}
	return out
}

// Every door through which stet writes is in the table of trailers.
func TestFormatNamesEveryDoor(t *testing.T) {
	t.Parallel()
	m := load(t)
	format, err := os.ReadFile(filepath.Join(m.root, "docs", "FORMAT.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `Stet-Door` \\|.*$").FindString(string(format))
	constant := regexp.MustCompile(`(?m)^const [dD]oor = "(\w+)"$`)
	found := 0
	for _, s := range m.sources {
		for _, match := range constant.FindAllStringSubmatch(s.text, -1) {
			found++
			if !regexp.MustCompile(`\b` + match[1] + `\b`).MatchString(row) {
				t.Errorf("%s: docs/FORMAT.md does not name the door %q: %s", s.name, match[1], row)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d doors found: the test looks at the wrong place", found)
	}
}
