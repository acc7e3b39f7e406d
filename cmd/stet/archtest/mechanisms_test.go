package archtest

import (
	"flag"
	"fmt"
	"go/doc"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/ARCHITECTURE.md anew")

// packageComments lists the package comments by folder.
func packageComments(m *module) map[string]string {
	out := map[string]string{}
	for _, s := range m.sources {
		if s.file.Doc != nil && !strings.HasSuffix(s.name, "_test.go") {
			out[s.pkg] = s.file.Doc.Text()
		}
	}
	return out
}

// generated is the end of docs/ARCHITECTURE.md: what each package is for, and what exists for speed
// alone, both in the words of the package comments.
func generated(m *module) string {
	links := regexp.MustCompile(`\[([\w./]+)\]`)
	plain := func(text string) string {
		return strings.ReplaceAll(links.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1"), "|", `\|`)
	}
	lead := regexp.MustCompile(`^(?:Package|Command) \w+ `)
	alone := regexp.MustCompile(`(?s)exists for speed alone: (.*?)(?:\n\n|$)`)
	item := regexp.MustCompile(`(?m)^  - (\w+\.go): (.*(?:\n    .*)*)`)
	comments := packageComments(m)
	var pkgs []string
	for pkg := range comments {
		pkgs = append(pkgs, pkg)
	}
	slices.Sort(pkgs)
	var packages, speed strings.Builder
	for _, pkg := range pkgs {
		text := comments[pkg]
		fmt.Fprintf(&packages, "| `%s` | %s |\n", pkg,
			plain(lead.ReplaceAllString(new(doc.Package).Synopsis(text), "")))
		if found := alone.FindStringSubmatch(text); found != nil {
			fmt.Fprintf(&speed, "| `%s` | %s |\n", pkg, plain(found[1]))
		}
		for _, found := range item.FindAllStringSubmatch(text, -1) {
			fmt.Fprintf(&speed, "| `%s` | %s |\n", path.Join(pkg, found[1]), plain(found[2]))
		}
	}
	return "| package | what it does |\n|---|---|\n" + packages.String() +
		"\n## What exists for speed alone\n\n| file or package | what it saves |\n|---|---|\n" + speed.String()
}

func TestTheTablesOfPackagesAreGenerated(t *testing.T) {
	t.Parallel()
	m := load(t)
	file := filepath.Join(m.root, "docs", "ARCHITECTURE.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const marker = "do not edit below this line.\n\n"
	head, old, ok := strings.Cut(string(data), marker)
	if !ok {
		t.Fatalf("docs/ARCHITECTURE.md does not say where the generated part begins: %q", marker)
	}
	want := generated(m)
	if strings.Count(want, "\n| `") < 30 {
		t.Fatalf("too few rows: %s", want)
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+marker+want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Error("docs/ARCHITECTURE.md is out of date: run go test ./cmd/stet/archtest -run Tables -update")
	}
}

// Every file, folder and test that docs/ARCHITECTURE.md names exists.
func TestTheArchitectureNamesWhatExists(t *testing.T) {
	t.Parallel()
	m := load(t)
	data, err := os.ReadFile(filepath.Join(m.root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`((?:agent|cmd|docs|index|markdown|templates|vault|\\.ci)/[\\w./-]+)`").
		FindAllStringSubmatch(string(data), -1)
	if len(names) < 60 {
		t.Fatalf("only %d names found: the test looks at the wrong place", len(names))
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(m.root, filepath.FromSlash(name[1]))); err != nil {
			t.Errorf("docs/ARCHITECTURE.md: %v", err)
		}
	}
	tests := regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(string(data), -1)
	if len(tests) < 15 {
		t.Fatalf("only %d tests found: the test looks at the wrong place", len(tests))
	}
	for _, name := range tests {
		has := func(s source) bool { return strings.Contains(s.text, "\nfunc "+name[1]+"(") }
		if !slices.ContainsFunc(m.sources, has) {
			t.Errorf("docs/ARCHITECTURE.md: there is no test %s", name[1])
		}
	}
}
