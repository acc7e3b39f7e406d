package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// theirs are files of a client in which other people's entries stand.
func theirs() map[string]string {
	return map[string]string{
		".claude.json": "{\"numStartups\": 7,\r\n \"mcpServers\": {\"other\": {\"command\": \"other\"}}}",
		".claude/settings.json": "{\n\t// mine\n\t\"permissions\": {\"allow\": [\"Bash(ls)\", " +
			"\"mcp__stet__memory_read\"]},\n" +
			"\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n",
	}
}

// clientFiles are the client's files and folders below a home.
func clientFiles(t *testing.T, home string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, top := range []string{".claude.json", ".claude", ".agents"} {
		err := filepath.WalkDir(filepath.Join(home, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // there is none
			}
			name, _ := filepath.Rel(home, p)
			if out[name] = "folder"; d.IsDir() {
				return nil
			}
			data, err := os.ReadFile(p)
			out[name] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestKillSweepOfInstall kills an install, and an uninstall, before each step that changes a file. Whatever of both is
// run next, at the end an uninstall gives back what stood there, and no husk.
func TestKillSweepOfInstall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: the sweep needs SIGKILL")
	}
	stride := 1
	if os.Getenv("STET_FULL") == "" {
		stride = 5
	}
	for _, killed := range []string{"install", "uninstall"} {
		for _, next := range []string{"install", "uninstall"} {
			t.Run(next+" after "+killed, func(t *testing.T) {
				t.Parallel()
				steps := 0
				for step := 1 + len(next)%stride; sweepInstall(t, killed, next, step); step += stride {
					steps++
				}
				if steps < 3 {
					t.Errorf("%d steps were swept", steps)
				}
			})
		}
	}
}

// sweepInstall is one step of it; it reports false behind the last.
func sweepInstall(t *testing.T, killed, next string, step int) bool {
	home := t.TempDir()
	for name, text := range theirs() {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(args ...string) {
		if out, code := child(t, home, home, "", args...); code != 0 {
			t.Fatalf("step %d of %s: %q: exit %d\n%s", step, killed, args, code, out)
		}
	}
	must("init", filepath.Join(home, "vault"))
	must("config", "set", "default_vault", filepath.Join(home, "vault"))
	before := clientFiles(t, home)
	if killed == "uninstall" {
		must("install", "claude-code", "--yes")
	}
	_, code := child(t, home, home, fmt.Sprint("STET_TEST_CRASH=", step), killed, "claude-code", "--yes")
	if code == 0 {
		return false
	}
	must(next, "claude-code", "--yes")
	if next == "install" {
		if all := clientFiles(t, home); strings.Count(all[".claude/settings.json"], "hook claude-code Stop") != 1 ||
			!strings.Contains(all[".claude.json"], `"mcp"`) {
			t.Fatalf("step %d of %s: after the next install: %v", step, killed, all)
		}
	}
	must("uninstall", "claude-code", "--yes")
	if after := clientFiles(t, home); !maps.Equal(before, after) {
		t.Fatalf("step %d of %s, then %s: the client's files are\n%v\nnot\n%v", step, killed, next, after, before)
	}
	return true
}
