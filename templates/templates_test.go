package templates_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stet/templates"
)

func skeletons() map[string][]byte {
	return map[string][]byte{
		"config.yaml":   templates.VaultConfig(),
		"gitattributes": templates.GitAttributes(),
		"gitignore":     templates.GitIgnore(),
		"unignore":      templates.Unignore(),
	}
}

func TestSkeletonsAreTheFilesAndEndInANewline(t *testing.T) {
	t.Parallel()
	for name, got := range skeletons() {
		want, err := os.ReadFile(filepath.Join("vault", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the function returns other bytes than the file", name)
		}
		if !bytes.HasSuffix(got, []byte("\n")) || bytes.Contains(got, []byte("\r")) {
			t.Errorf("%s must end in a newline and hold no carriage return", name)
		}
	}
}

func TestCallersOwnTheBytes(t *testing.T) {
	t.Parallel()
	b := templates.VaultConfig()
	b[0] = 'X'
	if templates.VaultConfig()[0] == 'X' {
		t.Error("changing the returned bytes changed the template")
	}
}

func TestVaultConfigHoldsTheVersionAndNothingElse(t *testing.T) {
	t.Parallel()
	var keys []string
	for line := range strings.Lines(string(templates.VaultConfig())) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	if len(keys) != 1 || keys[0] != "version: 1" {
		t.Errorf("settings = %q, want only the format version: every other key needs code that reads it", keys)
	}
}

// git itself is the referee of its own pattern language.
func TestGitUnderstandsThePatterns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil || os.Getenv("STET_TEST_NOGIT") != "" {
		t.Skip("skip: needs git")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil && args[0] != "check-ignore" {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	for name, data := range map[string][]byte{".gitattributes": templates.GitAttributes(), ".gitignore": templates.GitIgnore()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"memories/infra/db.md": "unset", "skills/dev/review/SKILL.md": "unset", "sessions/2026/11/a.md": "unset",
		"archive/memories/a.md": "unset", "logs/curator/x/run.json": "unset", ".stet/config.yaml": "unset",
		"MEMORY.md": "unset", "USER.md": "unset",
		"notes/memories/a.md": "unspecified", "sub/MEMORY.md": "unspecified", "readme.md": "unspecified",
	} {
		if got := git("check-attr", "text", path); got != path+": text: "+want {
			t.Errorf("check-attr text %s = %q, want %s", path, got, want)
		}
	}
	for path, ignored := range map[string]bool{
		"memories/.db.md.swp": true, "a.md~": true, "deep/.#a.md": true, "4913": true, ".DS_Store": true,
		".obsidian/workspace.json": true, "memories/.stet-tmp-1": true,
		"memories/a.md": false, ".stet/config.yaml": false, ".obsidian/app.json": false,
	} {
		if got := git("check-ignore", path) != ""; got != ignored {
			t.Errorf("ignored(%s) = %v, want %v", path, got, ignored)
		}
	}
}

func TestEveryFormOfANoteNamesItsKindAndItsTitle(t *testing.T) {
	t.Parallel()
	kinds := templates.NoteKinds()
	if len(kinds) < 5 {
		t.Fatalf("kinds %q", kinds)
	}
	for _, kind := range kinds {
		form, ok := templates.NoteForm(kind)
		if !ok || !bytes.HasPrefix(form, []byte("---\nkind: "+kind+"\n---\n# {{title}}\n")) || !bytes.HasSuffix(form, []byte("\n")) {
			t.Errorf("%s: %q", kind, form)
		}
		for _, word := range strings.Split(string(form), "{{")[1:] {
			name, _, closed := strings.Cut(word, "}}")
			if known := "title kind scope date time"; !closed || !strings.Contains(known, name) {
				t.Errorf("%s: unknown word %q", kind, name)
			}
		}
	}
	for _, name := range []string{"nosuch", "../vault/config", "", "decision.md"} {
		if _, ok := templates.NoteForm(name); ok {
			t.Errorf("%q has a form", name)
		}
	}
}
