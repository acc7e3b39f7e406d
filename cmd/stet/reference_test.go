package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stet/cmd/stet/console"
)

// docs/CLI.md says exactly what the definitions say.
func TestReferenceIsGeneratedFromTheDefinitions(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "CLI.md")
	want := console.Reference(Commands())
	if update() {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(want, " \n") {
		t.Errorf("docs/CLI.md has lines that end in blanks")
	}
	if string(got) != want {
		t.Errorf("docs/CLI.md is out of date: run go test ./cmd/stet -run Reference -update")
	}
}

func TestEveryCommandIsWholeAndSaysHowItIsUsed(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, c := range Commands() {
		for _, name := range c.Names() {
			if other, ok := seen[name]; ok {
				t.Errorf("%q names both %s and %s", name, other, c.Name)
			}
			seen[name] = c.Name
		}
		if c.Run == nil || c.Summary == "" || len(c.ListExamples()) == 0 {
			t.Errorf("%s: a command needs Run, Summary and Examples", c.Name)
		}
		if strings.HasSuffix(c.Summary, ".") || c.Summary != strings.TrimSpace(c.Summary) {
			t.Errorf("%s: summary %q must be a phrase without a full stop", c.Name, c.Summary)
		}
		for _, x := range c.ListExamples() {
			if !strings.Contains(x.Line, "stet "+c.Name) && c.Name != "help" {
				t.Errorf("%s: example %q does not use the command", c.Name, x.Line)
			}
		}
		checkFlags(t, c)
	}
}

// checkFlags finds flags that another flag hides; only revert gives a flag of
// its own the name of a general one, and no command hides a global flag.
func checkFlags(t *testing.T, c *console.Command) {
	seen := map[string]bool{}
	for _, f := range console.GlobalFlags() {
		for _, n := range f.Names() {
			seen[n] = true
		}
	}
	for _, f := range c.Flags {
		for _, n := range f.Names() {
			if seen[n] {
				t.Errorf("%s: flag %q is defined twice", c.Name, n)
			}
			seen[n] = true
		}
	}
}

// A command that writes can be asked what it would write; edit shows it in the
// editor, observe and hook write local state alone, tools preview as their schemas say, watch goes on and
// "adopt --dry-run" asks for it, and the search index and the vaults of bench are nobody's data.
func TestEveryWritingCommandHasADryRun(t *testing.T) {
	t.Parallel()
	// One line a package, so that two people can add to them.
	writes := strings.Fields(`
		init doctor config
		remember update forget conflicts encode move pin unpin new today context
		profile core skill
		session nudge
		import
		adopt undo redo revert restore review
		install uninstall
		curate
	`)
	reads := strings.Fields(`
		status reindex watch bench export
		search list show edit links scopes tags
		log history blame diff
		tool mcp
		observe why worker
		usage remind hook curator-fork
		help version completion man
	`)
	for _, c := range Commands() {
		var names []string
		for _, f := range c.Flags {
			names = append(names, f.Names()...)
		}
		dry := slices.Contains(names, "dry-run")
		if !slices.Contains(writes, c.Name) && !slices.Contains(reads, c.Name) {
			t.Errorf("%s is in neither list of this test", c.Name)
		}
		if dry != slices.Contains(writes, c.Name) {
			t.Errorf("%s: has --dry-run: %v", c.Name, dry)
		}
	}
}

// A help page fits a terminal of 80 columns.
func TestHelpFitsEightyColumns(t *testing.T) {
	t.Parallel()
	topics := append(append(console.CommandNames(Commands()), console.Topics()...), "")
	for _, topic := range topics {
		var out strings.Builder
		host := console.Host{Stdio: console.Stdio{In: strings.NewReader(""), Out: &out, Err: t.Output()},
			Getenv: func(string) string { return "" }, Dir: t.TempDir(), Now: time.Now}
		if code := run(t.Context(), strings.Fields("stet help "+topic), host); code != console.ExitDone {
			t.Errorf("help %s: exit %d", topic, code)
		}
		if lines := strings.Count(out.String(), "\n"); topic == "" && lines > 22 { // less asks for a key
			t.Errorf("help: %d lines are no screen", lines)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("help %s: %d columns: %s", topic, n, line)
			}
		}
	}
}
