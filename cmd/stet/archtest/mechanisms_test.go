package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The last table of docs/ARCHITECTURE.md points at files and commands that
// exist.
func TestMechanismTableIsTrue(t *testing.T) {
	t.Parallel()
	m := load(t)
	doc, err := os.ReadFile(filepath.Join(m.root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	cli, err := os.ReadFile(filepath.Join(m.root, "docs", "CLI.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "## Where each mechanism lives")
	if !ok {
		t.Fatal("the table is gone")
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| ([\w/.]+\.go) \| ([\w/.]+(?:_test\.go|\.txtar)) \| ([^|]+) \|$`).FindAllStringSubmatch(table, -1)
	if len(rows) < 10 || len(rows) != strings.Count(table, "\n| ")-1 /* its head */ {
		t.Fatalf("%d rows can be read of %q", len(rows), table)
	}
	for _, row := range rows {
		for _, file := range row[2:4] {
			if _, err := os.Stat(filepath.Join(m.root, filepath.FromSlash(file))); err != nil {
				t.Errorf("%s: %v", row[1], err)
			}
		}
		if command := strings.TrimSpace(row[4]); command != "-" && !strings.Contains(string(cli), "stet "+command) {
			t.Errorf("%s: docs/CLI.md knows no command %q", row[1], command)
		}
	}
}
