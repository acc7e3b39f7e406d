package agent_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stet/agent"
	"stet/agent/clients"
	"stet/vault"
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

// The files of a client in every form that holds nothing are taken, and a program whose name nobody could know the
// entries by is refused with its name.
func TestInstallTakesWhatIsEmpty(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, text := range []string{"", "{}", "  \t ", "\n", "\r\n", "\ufeff", "\ufeff{}\r\n",
		"{\r\n}\r\n", "// c\n{ }"} {
		home := t.TempDir()
		env := map[string]string{"HOME": home}
		e := agent.NewEnvironment(agent.Options{Dir: home, Now: time.Now,
			Getenv: func(k string) string { return env[k] }})
		file := filepath.Join(home, ".claude.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := agent.InstallOptions{Client: "claude-code", Binary: "/opt/stet (2)"}
		if _, err := e.Install(ctx, o); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), o.Binary) {
			t.Errorf("%q: %v: %q", text, err, data)
		}
		if _, err := e.Uninstall(ctx, o); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != text {
			t.Errorf("%q: %v: left %q", text, err, data)
		}
		o.Binary = "/opt/other"
		if _, err := e.Install(ctx, o); err == nil || !strings.Contains(err.Error(), o.Binary) {
			t.Errorf("a program of that name: %v", err)
		}
	}
}

// Every client is set up and let go in files of every kind: its files are then as they were, folders included; a
// second install changes nothing, four at once leave one of each, and what cannot be edited is named and left.
func TestInstallOfEveryClientInEveryFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	others := map[string]string{
		"json": "{\n\t\t// mine\n\t\"other\": {\"a\": [1, 2]},\n}\n",
		"toml": "model = \"x\"  # mine\n[mcp_servers.other]\n   command = \"npx\"",
		"yaml": "model: x # mine\nmcp_servers:\n     other:\n        command: npx\n",
	}
	broken := map[string]string{"json": "{\n\"a\": ", "toml": "a = \"x\"\nb = nope\n", "yaml": "a: [1\nb: 2\n"}
	for _, c := range clients.All() {
		if c.Print {
			continue
		}
		for _, kind := range []string{"absent", "empty", "others", "linked", "read-only", "malformed"} {
			t.Run(c.Name+" "+kind, func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				env := map[string]string{"HOME": home}
				e := func() *agent.Environment {
					return agent.NewEnvironment(agent.Options{Dir: home, Now: time.Now, PID: 1,
						Getenv: func(k string) string { return env[k] }})
				}
				for _, at := range []clients.Location{c.Server, c.Hooks} {
					file := filepath.Join(home, strings.TrimPrefix(at.User, "~/"))
					text := map[string]string{"others": others[at.Format], "linked": others[at.Format],
						"read-only": others[at.Format], "malformed": broken[at.Format]}[kind]
					perm := fs.FileMode(0o640)
					if kind == "absent" {
						break
					} else if kind == "read-only" {
						perm = 0o440
					}
					put(t, file, text, perm, kind == "linked")
				}
				was := clientFiles(t, home, true)
				o := agent.InstallOptions{Client: c.Name, Binary: "/opt/stet"}
				if kind == "read-only" || kind == "malformed" {
					want := map[string]error{"read-only": fs.ErrPermission, "malformed": vault.ErrRefused}[kind]
					if _, err := e().Install(ctx, o); !errors.Is(err, want) || !strings.Contains(err.Error(), home) {
						t.Errorf("%v", err)
					}
					if now := clientFiles(t, home, true); !maps.Equal(was, now) {
						t.Errorf("before %v\nafter %v", was, now)
					}
					return
				}
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						if _, err := e().Install(ctx, o); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				set := clientFiles(t, home, true)
				if again, err := e().Install(ctx, o); err != nil || !again.Unchanged {
					t.Errorf("a second install: %+v, %v", again, err)
				}
				found, err := e().Installed(o)
				if err != nil || len(found) < 2 || slices.ContainsFunc(found, func(f agent.Installed) bool {
					return f.Problem != "" && !strings.Contains(f.Problem, "not there") || f.Hooks > len(c.Events)
				}) {
					t.Errorf("%+v, %v", found, err)
				}
				if _, err := e().Uninstall(ctx, o); err != nil {
					t.Error(err)
				}
				now := clientFiles(t, home, true)
				maps.DeleteFunc(now, func(name, _ string) bool { return strings.HasPrefix(name, "/notes-stet") })
				if !maps.Equal(was, now) || len(set) <= len(was) {
					t.Errorf("before %v\nafter %v", was, now)
				}
			})
		}
	}
}

// put writes a file, behind a link where it is linked.
func put(t *testing.T, file, text string, perm fs.FileMode, linked bool) {
	t.Helper()
	real := file
	if linked {
		real = filepath.Join(filepath.Dir(file), "dots", filepath.Base(file))
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(real), 0o755), os.WriteFile(real, []byte(text), perm))
	if linked && err == nil {
		if err = os.Symlink(real, file); errors.Is(err, fs.ErrExist) {
			err = nil // a client's hooks may stand beside its server
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
