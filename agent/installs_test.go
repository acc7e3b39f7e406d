package agent_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/agent"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

// clientFiles are the files in a home that are not ours, with permissions and text, and with folders those as well.
func clientFiles(t *testing.T, home string, folders bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && !folders {
			return nil
		}
		name := strings.TrimPrefix(path, home)
		if strings.HasPrefix(name, "/.local") || strings.HasPrefix(name, "/.config") ||
			strings.Contains(name, ".stet-") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[name] = info.Mode().String()
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			out[name] += string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever step fails, the files of the client are all as they were or all as they shall be.
func TestAnInstallIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := agent.InstallOptions{Client: "codex", Binary: "/opt/stet"}
	vault := filepath.Join(t.TempDir(), "v")
	now := func() time.Time { return time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC) }
	made := agent.NewEnvironment(agent.Options{Getenv: func(string) string { return "" }, Now: now})
	if _, err := made.Init(ctx, agent.InitOptions{Dir: vault}); err != nil {
		t.Fatal(err)
	}
	prepared := func(installed bool) string {
		home := t.TempDir()
		texts := map[string]string{".codex/config.toml": "model = \"x\"\n", ".config/stet/config.yaml": ""}
		for name, text := range texts {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		key := agent.ConfigureOptions{Key: "default_vault", Value: &vault, User: true}
		if _, _, err := host(home, nil).Configure(ctx, key); err != nil {
			t.Fatal(err)
		}
		if installed {
			if _, err := host(home, nil).Install(ctx, o); err != nil {
				t.Fatal(err)
			}
		}
		return home
	}
	for _, installed := range []bool{false, true} {
		run := func(home string, hook durable.Hook) error {
			if installed {
				_, err := host(home, hook).Uninstall(ctx, o)
				return err
			}
			_, err := host(home, hook).Install(ctx, o)
			return err
		}
		var count durabletest.Counter
		home := prepared(installed)
		before := clientFiles(t, home, !installed)
		if err := run(home, count.Hook); err != nil {
			t.Fatal(err)
		}
		after := clientFiles(t, home, !installed)
		if maps.Equal(before, after) || len(count.Steps()) < 10 {
			t.Fatalf("nothing was done, in %d steps", len(count.Steps()))
		}
		for i, step := range count.Steps() {
			home := prepared(installed)
			err := run(home, durabletest.FailAt(i, syscall.EIO, nil))
			got := clientFiles(t, home, !installed)
			if !maps.Equal(got, before) && !maps.Equal(got, after) || err == nil && !maps.Equal(got, after) {
				t.Errorf("uninstall %v: step %d (%s) failed (%v) and left %v", installed, i, step, err, got)
			}
		}
	}
}
