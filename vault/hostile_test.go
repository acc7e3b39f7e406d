package vault_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// outside is a folder beside the vault that nothing may reach.
func outside(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret.md"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("skip: no symbolic links here: %v", err)
	}
}

func TestSymbolicLinksAreNeitherWrittenThroughNorFollowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, link, to, path string }{
		{"file", "memories/x.md", "secret.md", "memories/x.md"},
		{"parent", "memories/deep", "", "memories/deep/secret.md"},
		{"memories itself", "memories", "", "memories/secret.md"},
		{"grandparent", "memories/deep", "", "memories/deep/new/er/x.md"},
		{"archive", "archive", "", "archive/secret.md"},
		{"dangling", "memories/x.md", "nothing.md", "memories/x.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t, "notes/a.md", "a\n")
			f.LeaveDirty() // links of a person's are no business of stet's
			away := outside(t)
			symlink(t, filepath.Join(away, c.to), filepath.Join(f.Dir, c.link))
			before, disk := vaulttest.Image(t, away), vaulttest.Image(t, f.Dir, ".git")
			v := f.Open()
			p := vault.Path(c.path)
			_, err := v.Transact(t.Context(), vault.Why{Op: vault.OpUpdate, Subject: "x"}, false, func(tx *vault.Tx) error { return tx.Put(p, "", []byte("mine\n")) })
			if !errors.Is(err, vault.ErrBadPath) {
				t.Errorf("put: %v, want ErrBadPath", err)
			}
			_, err = v.Transact(t.Context(), vault.Why{Op: vault.OpUpdate, Subject: "x"}, false, func(tx *vault.Tx) error {
				return tx.Remove(p, vault.ReadMemory(p, []byte("secret\n")).Hash)
			})
			if !errors.Is(err, vault.ErrBadPath) {
				t.Errorf("remove: %v, want ErrBadPath", err)
			}
			if data, _, err := v.ReadFile(p); err == nil {
				t.Errorf("read %q through the link", data)
			}
			files, err := v.Files(t.Context(), vault.WalkOptions{Archive: true})
			if err != nil || len(files) != 1 {
				t.Errorf("the walk found %+v (%v), want notes/a.md alone", files, err)
			}
			if res, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true}); err != nil || !res.Unchanged {
				t.Errorf("adopt: %+v, %v", res, err)
			}
			if c.link == "memories" {
				if _, err := v.Remember(t.Context(), []vault.Note{{Text: "x"}}, vault.Write{}); !errors.Is(err, vault.ErrBadPath) {
					t.Errorf("remember: %v, want ErrBadPath", err)
				}
			}
			vaulttest.SameImage(t, before, vaulttest.Image(t, away))
			vaulttest.SameImage(t, disk, vaulttest.Image(t, f.Dir, ".git"))
		})
	}
}

// A folder that turns into a link between the look and the write.
func TestALinkPutInTheWayDuringAWriteLeadsNowhere(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/deep/a.md", "a\n")
	f.LeaveDirty()
	away := outside(t)
	before := vaulttest.Image(t, away)
	deep := filepath.Join(f.Dir, "memories", "deep")
	o, swapped := f.Options(), false
	o.Hook = func(s durable.Step) error {
		if s.Label == "ref" && s.Op == durable.OpRename && !swapped { // the last moment before the files
			swapped = true
			if err := os.Rename(deep, filepath.Join(filepath.Dir(f.Dir), "away")); err != nil {
				return err
			}
			return os.Symlink(away, deep)
		}
		return nil
	}
	v := f.OpenWith(o)
	_, err := v.Transact(t.Context(), vault.Why{Op: vault.OpUpdate, Subject: "x"}, false, func(tx *vault.Tx) error { return tx.Put("memories/deep/secret.md", "", []byte("mine\n")) })
	if err != nil { // the commit stands; its file is left to the next command
		t.Logf("the write ended with %v", err)
	}
	if !swapped {
		t.Error("the link was never put in the way")
	}
	vaulttest.SameImage(t, before, vaulttest.Image(t, away))
}

func TestSpecialFilesAndOddNamesArePassedOver(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: such names are not to be had")
	}
	f := vaulttest.New(t, "memories/good.md", "good\n")
	socket, err := net.Listen("unix", filepath.Join(f.Dir, "s.md"))
	if err != nil {
		t.Logf("no socket: %v", err)
	} else {
		t.Cleanup(func() { _ = socket.Close() })
	}
	makeFIFO(t, filepath.Join(f.Dir, "memories", "fifo.md"))
	odd := []string{"new\nline.md", "tab\t.md", "bad\xff.md", "bell\a.md", "del\x7f.md"}
	for _, name := range append(odd, "memories/bad\xfe.md") {
		f.Write(name, "odd\n")
	}
	good := []string{"back\\slash.md", "quote\".md", "trailing.md.", "spaces  .md", "-rf.md", "$(x).md", strings.Repeat("n", 252) + ".md", "日本語.md"}
	for _, name := range good {
		f.Write("memories/"+name, name)
	}
	if vaulttest.HaveGit() {
		f.LeaveDirty() // the odd ones stay untracked
	}
	v := f.Open()
	res, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range good {
		_, data, err := v.History().ReadAt(t.Context(), "", "memories/"+name)
		if err != nil || string(data) != name {
			t.Errorf("%q: committed %q, %v", name, data, err)
		}
	}
	for _, p := range res.Adopted {
		for _, name := range odd {
			if strings.Contains(string(p), name) {
				t.Errorf("adopted %q", p)
			}
		}
	}
	work(t, v)
	for _, name := range odd {
		if f.Read(name) != "odd\n" {
			t.Errorf("%q changed", name)
		}
	}
	if _, err := v.Forget(t.Context(), []string{"memories/back\\slash.md"}, vault.Write{}); err != nil {
		t.Error(err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Error(err)
	}
	if got := f.Read("memories/back\\slash.md"); got != "back\\slash.md" {
		t.Errorf("came back as %q", got)
	}
}

func TestPathsThatLeaveTheVaultAreRefused(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	disk := vaulttest.Image(t, filepath.Dir(f.Dir), "notes/.git/stet")
	for _, p := range []vault.Path{"", ".", "..", "../x.md", "a/../../x.md", "/etc/x.md", ".git/config", ".GIT/config", "a/.git/x", ".git /x", ".git./x", "GIT~1/config",
		".git::$INDEX_ALLOCATION/x", "memories/.g\u200cit/x", "a\x00b.md", "a\nb.md", "bad\xff.md", "memories//x.md", "memories/./x.md", vault.Path(strings.Repeat("n", 256) + ".md")} {
		_, err := v.Transact(t.Context(), vault.Why{Op: vault.OpUpdate, Subject: "x"}, false, func(tx *vault.Tx) error { return tx.Put(p, "", []byte("x\n")) })
		if !errors.Is(err, vault.ErrBadPath) {
			t.Errorf("%q: %v, want ErrBadPath", p, err)
		}
	}
	vaulttest.SameImage(t, disk, vaulttest.Image(t, filepath.Dir(f.Dir), "notes/.git/stet"))
}

func TestFileAboveTheLimitIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	f.LeaveDirty()
	v, limit := f.Open(), vault.MaxFileSize
	if testing.Short() { // the race detector makes 10 MiB minutes
		limit = 1 << 20
		v = with(f, map[settings.Name]string{settings.GuardMaxBytes: "1MiB"})
	}
	big := strings.Repeat("0123456789abcde\n", limit/16)
	f.Write("memories/fits.md", big)
	f.Write("memories/big.md", big+"x")
	res, err := v.Adopt(t.Context(), vault.AdoptOptions{})
	if err != nil || len(res.Adopted) != 1 || res.Adopted[0] != "memories/fits.md" {
		t.Errorf("adopted %v, %v", res, err)
	}
	add := "more"
	if _, err := v.UpdateMemory(t.Context(), "memories/big.md", vault.Patch{Append: &add}, vault.Write{}); !errors.Is(err, vault.ErrTooLarge) {
		t.Errorf("update: %v, want ErrTooLarge", err)
	}
	if _, err := v.UpdateMemory(t.Context(), "memories/fits.md", vault.Patch{Append: &add}, vault.Write{}); !errors.Is(err, vault.ErrTooLarge) {
		t.Errorf("update past the limit: %v, want ErrTooLarge", err)
	}
	if _, err := v.Remember(t.Context(), []vault.Note{{Text: big + "x"}}, vault.Write{}); !errors.Is(err, vault.ErrTooLarge) {
		t.Errorf("remember: %v, want ErrTooLarge", err)
	}
	if f.Read("memories/big.md") != big+"x" || f.Read("memories/fits.md") != big {
		t.Error("a file changed")
	}
	st, err := v.Status(t.Context())
	if err != nil || len(st.Problems) != 1 {
		t.Errorf("status names %+v (%v), want the file", st.Problems, err)
	}
	remember(t, v, "Goes on.")
}

func TestTenThousandFiles(t *testing.T) {
	t.Parallel()
	files, limit := 10_000, 20*time.Second
	if testing.Short() {
		files = 1_000
	}
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "notes"))
	for i := range files {
		f.Write(fmt.Sprintf("notes/%02d/%d.md", i%100, i), fmt.Sprintf("note %d\n", i))
	}
	start := time.Now()
	initAt(t, f, f.Dir)
	took := time.Since(start)
	v := f.Open()
	remember(t, v, "warm")
	start = time.Now()
	const each = 5
	for i := range each {
		remember(t, v, fmt.Sprintf("memory %d", i))
	}
	write := time.Since(start) / each
	start = time.Now()
	if _, err := v.Files(t.Context(), vault.WalkOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files: init %v, remember %v, one walk %v", files, took.Round(time.Millisecond), write.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
	if took > limit {
		t.Errorf("init took %v", took)
	}
}

// Listing a folder leaves its mark in the folder's access time; the test first
// makes sure that a walk does so here.
func TestRememberNeverListsOtherFolders(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "notes/a.md", "a\n", "memories/other/b.md", "b\n")
	v := f.Open()
	m := remember(t, v, "before")
	ageFolders(t, f.Dir)
	seen := accessTimes(t, f.Dir)
	if seen == nil {
		t.Skip("skip: this file system keeps no access times of folders")
	}
	if _, err := v.Files(t.Context(), vault.WalkOptions{}); err != nil {
		t.Fatal(err)
	}
	if walked := accessTimes(t, f.Dir); walked["notes"].Equal(seen["notes"]) {
		t.Skip("skip: a walk leaves no trace in access times here")
	}
	ageFolders(t, f.Dir)
	seen = accessTimes(t, f.Dir)
	remember(t, v, "after")
	kind := "fact"
	if _, err := v.UpdateMemory(t.Context(), string(m.Path), vault.Patch{Kind: &kind}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	now := accessTimes(t, f.Dir)
	for _, dir := range []string{"notes", "memories/other"} {
		if !now[dir].Equal(seen[dir]) {
			t.Errorf("%s was listed", dir)
		}
	}
}

// A commit may say of itself that it takes another back, at any date that fits
// a number: no such date may keep the vault from being written.
func TestACommitOfAnyDateCanTakeAnotherBack(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for date, year := range map[string]int{"-100": 1970, "-9223372036854775808": 1970, "0": 1970, "253402300799": 9999,
		"253402300800": 9999, "400000000000": 9999, "9223372036854775807": 1970} {
		t.Run(date, func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t)
			f.LeaveDirty() // git fsck complains of such dates
			v := f.Open()
			remember(t, v, "The gate code is 4711.")
			head := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
			raw := fmt.Sprintf("tree %sparent %s\nauthor Ada <ada@example.org> %[3]s +0000\ncommitter Ada <ada@example.org> %[3]s +0000\n\n"+
				"Revert \"the gate\"\n\nThis reverts commit %[2]s.\n", f.Git("rev-parse", "HEAD^{tree}"), head, date)
			cmd := vaulttest.Command(f.Dir, "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
			cmd.Stdin = strings.NewReader(raw)
			id, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			f.Git("update-ref", "refs/heads/main", strings.TrimSpace(string(id)))
			remember(t, v, "Another matter.")
			if s := stones(t, f); len(s) != 1 || s[0].At.Year() != year {
				t.Errorf("tombstones %+v, want one of the year %d", s, year)
			}
			_, err = say(v, agent(), "the gate code is 4711")
			wantRejected(t, "what was taken back", err, "text")
		})
	}
}
