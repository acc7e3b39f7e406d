package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stet/agent"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

const mine = "# mine\nlock_wait: 3s # patience\n"

// host is a machine whose person has that home, seen through a hook.
func host(home string, hook durable.Hook) *agent.Environment {
	env := map[string]string{"HOME": home}
	return agent.NewEnvironment(agent.Options{Getenv: func(k string) string { return env[k] }, Dir: home, Hook: hook})
}

func setWait(t *testing.T, home string, hook durable.Hook) error {
	t.Helper()
	wait := "9s"
	_, _, err := host(home, hook).Configure(context.Background(),
		agent.ConfigureOptions{Key: "lock_wait", Value: &wait, User: true})
	return err
}

func homeWith(t *testing.T, text string) (home, file string) {
	t.Helper()
	home = t.TempDir()
	file = filepath.Join(home, ".config", "stet", "config.yaml")
	if text == "" {
		return home, file
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, file
}

// Whatever step fails, the person's file is the old one or the new one, and the
// next try succeeds.
func TestUserFileIsOldOrNewWhateverFails(t *testing.T) {
	t.Parallel()
	for _, before := range []string{mine, ""} {
		var count durabletest.Counter
		home, _ := homeWith(t, before)
		if err := setWait(t, home, count.Hook); err != nil {
			t.Fatal(err)
		}
		if n := len(count.Steps()); n < 6 {
			t.Fatalf("only %d steps", n)
		}
		want := strings.Replace(mine, "3s", "9s", 1)
		if before == "" {
			want = "lock_wait: 9s\n"
		}
		for i := range count.Steps() {
			home, file := homeWith(t, before)
			err := setWait(t, home, durabletest.FailAt(i, syscall.ENOSPC, nil))
			got, rerr := os.ReadFile(file)
			if rerr != nil && before != "" || string(got) != before && string(got) != want {
				t.Errorf("step %d failed (%v): %q, %v", i, err, got, rerr)
			}
			if err == nil && string(got) != want {
				t.Errorf("step %d failed, nothing was said, and the file is %q", i, got)
			}
			if err := setWait(t, home, nil); err != nil {
				t.Errorf("after step %d failed: %v", i, err)
			}
			if got, _ := os.ReadFile(file); string(got) != want {
				t.Errorf("after step %d failed and another try: %q", i, got)
			}
			if info, err := os.Stat(file); before != "" && (err != nil || info.Mode().Perm() != 0o600) {
				t.Errorf("permissions %v, %v", info.Mode(), err)
			}
		}
	}
}

// A power cut at any step leaves the old file or the new one; one that was
// reported as written stays.
func TestUserFileSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, mine)
	disk, err := durabletest.NewDisk(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := setWait(t, home, disk.Wrap(nil)); err != nil {
		t.Fatal(err)
	}
	want, n := strings.Replace(mine, "3s", "9s", 1), 0
	into := t.TempDir()
	for image := range disk.Images(nil, durabletest.Strict, durabletest.Names, durabletest.Torn, durabletest.Zeros,
		durabletest.Data, durabletest.All) {
		if err := image.Write(map[string]string{home: into}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(into, strings.TrimPrefix(file, home)))
		if err != nil || string(got) != mine && string(got) != want || image.N == disk.Len() && string(got) != want {
			t.Errorf("%s: %q, %v", image, got, err)
		}
		n++
	}
	if n < 5 {
		t.Errorf("only %d images", n)
	}
}

// A file that is a symbolic link, into a folder of dotfiles say, stays one.
func TestUserFileMayBeALink(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, "")
	real := filepath.Join(home, "dotfiles", "stet.yaml")
	for _, dir := range []string{filepath.Dir(file), filepath.Dir(real)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(real, []byte(mine), 0o644), os.Symlink(real, file)); err != nil {
		t.Fatal(err)
	}
	if err := setWait(t, home, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if got, _ := os.ReadFile(real); !strings.Contains(string(got), "9s # patience") {
		t.Errorf("%q", got)
	}
}

// Two processes at once lose neither's change.
func TestUserFileIsEditedByOneAtATime(t *testing.T) {
	t.Parallel()
	home, file := homeWith(t, mine)
	done := make(chan error)
	for _, c := range []struct{ key, value string }{{"lock_wait", "8s"}, {"display.color", "never"},
		{"default_vault", "~/n"}, {"guard.secrets", "warn"}} {
		go func() {
			_, _, err := host(home, nil).Configure(context.Background(),
				agent.ConfigureOptions{Key: c.key, Value: &c.value, User: true})
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	got, _ := os.ReadFile(file)
	for _, want := range []string{"lock_wait: 8s # patience", "color: never", "default_vault: ~/n", "secrets: warn"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is lost in %q", want, got)
		}
	}
}
