package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A vault of another user is refused where git refuses it, and read where git reads it.
func TestAVaultOfAnotherUserIsRefusedAsInGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("skip: only root can give files away")
	}
	const other, config = 65534, ".gitconfig"
	home := t.TempDir()
	dir := filepath.Join(home, "notes")
	if out, code := child(t, home, home, "", "init", dir); code != 0 {
		t.Fatalf("init: exit %d\n%s", code, out)
	}
	give := func(name string, uid int) {
		t.Helper()
		if err := os.Lchown(filepath.Join(dir, name), uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, gave, fault, config string
		code                      int
	}{
		{name: "our own"},
		{name: "the folder is theirs", gave: ".", code: 8},
		{name: "git's folder is theirs", gave: ".git", code: 8},
		{name: "stet's folder is theirs", gave: ".stet", code: 8},
		{name: "theirs, and allowed", gave: ".git", config: "\tdirectory = " + dir + "\n"},
		{name: "theirs, and all are allowed", gave: ".", config: "\tdirectory = *\n"},
		{name: "theirs, and all below are allowed", gave: ".", config: "\tdirectory = " + home + "/*\n"},
		{name: "theirs, allowed and taken back", gave: ".", config: "\tdirectory = *\n\tdirectory =\n", code: 8},
		{name: "theirs, and another one is allowed", gave: ".", config: "\tdirectory = " + home + "\n", code: 8},
		{name: "theirs, who called us with sudo", gave: ".", fault: "SUDO_UID=65534"},
		{name: "theirs, called by somebody else", gave: ".", fault: "SUDO_UID=65533", code: 8},
	} {
		if err := os.WriteFile(filepath.Join(home, config), []byte("[safe]\n"+c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.gave != "" {
			give(c.gave, other)
		}
		for _, args := range [][]string{{"list"}, {"remember", c.name}} {
			out, code := child(t, home, dir, c.fault, args...)
			if code != c.code {
				t.Errorf("%s: %q exits %d, want %d\n%s", c.name, args, code, c.code, out)
			}
			if code == 8 && !strings.Contains(out, "git config --global --add safe.directory "+dir) {
				t.Errorf("%s: %q does not say how to allow it:\n%s", c.name, args, out)
			}
		}
		// Git knows nothing of .stet, and before 2.46 no "/*".
		if hasGit() && c.gave != ".stet" && !strings.Contains(c.config, "/*") {
			git := exec.Command("git", "-C", dir, "status")
			git.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, c.fault}
			if err := git.Run(); (err != nil) != (c.code != 0) {
				t.Errorf("%s: git says %v", c.name, err)
			}
		}
		if c.gave != "" {
			give(c.gave, os.Geteuid())
		}
	}
}
