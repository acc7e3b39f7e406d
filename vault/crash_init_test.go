package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// childInit is the operation of a child that makes a vault.
const childInit = "init"

func initChild(dir string, o vault.Options) {
	_, err := vault.Init(ctxb(), dir, vault.InitOptions{}, o)
	must(err)
	fmt.Println("ACK")
	os.Exit(0)
}

// TestInitKilledAtEveryStep: whoever comes next, and need not be "init", finds no vault
// or a whole one; the person's notes are as they were.
func TestInitKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, inside := range []bool{false, true} {
		t.Run(fmt.Sprintf("repository=%v", inside), func(t *testing.T) {
			t.Parallel()
			notes, stride, vaults, none := withoutVault(t, inside), 1, 0, 0
			if testing.Short() {
				stride = 4
			}
			for n := 0; ; n += stride {
				dir := crashDir(t)
				must(os.CopyFS(dir, os.DirFS(notes)))
				acked, ended := child(t, childInit, dir, n)
				if initLeft(t, fmt.Sprintf("killed before step %d", n), dir, acked) {
					vaults++
				} else {
					none++
				}
				must(os.RemoveAll(dir))
				if ended {
					break
				}
			}
			if vaults < 3 || none < 3 {
				t.Errorf("%d vaults and %d times none: the sweep did not reach both", vaults, none)
			}
		})
	}
}

// withoutVault is a folder with a person's note in it, in a repository or in none, that tests copy.
func withoutVault(t *testing.T, repository bool) string {
	dir := crashDir(t)
	must(os.WriteFile(filepath.Join(dir, "mine.md"), []byte("mine\n"), 0o644))
	if repository {
		f := &crashFixture{repo: dir, dir: dir}
		f.git("init", "-q", "-b", "main")
		f.git("add", "-A")
		f.git("commit", "-q", "-m", "start")
	}
	return dir
}

// initLeft checks what a killed Init left, and reports whether it is a vault.
func initLeft(t *testing.T, where, dir string, acked bool) bool {
	t.Helper()
	_, uncommitted := vaulttest.Git(dir, "cat-file", "-e", "HEAD:"+string(vault.Marker))
	v, err := openFound(dir)
	made := err == nil
	if made != (uncommitted == nil) {
		t.Errorf("%s: a vault: %v, although it is committed: %v", where, made, uncommitted == nil)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git/index.lock")); err == nil {
		t.Errorf("%s: git is locked out", where)
	}
	if !made && (!errors.Is(err, vault.ErrNotVault) || acked) {
		t.Errorf("%s: open: %v (acknowledged: %v)", where, err, acked)
	}
	if !made {
		if _, err := vault.Init(ctxb(), dir, vault.InitOptions{}, crashOptions(nil)); err != nil {
			t.Errorf("%s: init again: %v", where, err)
			return made
		}
		if v, err = openFound(dir); err != nil {
			t.Errorf("%s: open after init: %v", where, err)
			return made
		}
	}
	defer v.Close()
	if err := rememberOne(v); err != nil {
		t.Errorf("%s: a following write: %v", where, err)
	}
	for _, problem := range vaulttest.Problems(dir) {
		t.Errorf("%s: %s", where, problem)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "mine.md")); string(data) != "mine\n" {
		t.Errorf("%s: the person's note is %q, %v", where, data, err)
	}
	return made
}

// openFound opens the vault as a command does that was typed in its folder.
func openFound(dir string) (*vault.Vault, error) {
	root, err := vault.Find(dir)
	if err != nil {
		return nil, err
	}
	return vault.Open(ctxb(), root, crashOptions(nil))
}

// TestInitFailedStep: a step of init fails, alone or with all that follow. What init then says
// is so, and whoever comes next finds no vault or a whole one.
func TestInitFailedStep(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for name, fault := range faults() {
		for _, inside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s repository=%v", name, inside), func(t *testing.T) {
				t.Parallel()
				notes, stride, failed := withoutVault(t, inside), 1, 0
				if testing.Short() {
					stride = 5
				}
				for n, reached := 0, true; reached; n += stride {
					for _, stays := range []bool{false, true} {
						var wrong bool
						if reached, wrong = initFails(t, notes, name, n, stays, fault.with, fault.is); wrong {
							failed++
						}
					}
				}
				if failed == 0 {
					t.Error("init reported no fault: the sweep shows nothing")
				}
			})
		}
	}
}

// initFails copies notes and fails step n, and with stays all that follow. It tells whether that was reached, and
// whether init told of it.
func initFails(t *testing.T, notes, name string, n int, stays bool, with, is error) (reached, told bool) {
	t.Helper()
	dir := crashDir(t)
	defer os.RemoveAll(dir)
	must(os.CopyFS(dir, os.DirFS(notes)))
	step := 0
	res, err := vault.Init(ctxb(), dir, vault.InitOptions{}, crashOptions(func(s durable.Step) error {
		step++
		if step-1 != n && (!stays || step <= n) || with == durable.ErrShortWrite && s.Op != durable.OpWrite {
			return nil
		}
		return with
	}))
	where := fmt.Sprintf("%s at step %d, stays=%v", name, n, stays)
	if err != nil && !errors.Is(err, is) && !strings.Contains(err.Error(), unsureText) {
		t.Errorf("%s: init says %v, want %v", where, err, is)
	}
	made := initLeft(t, where, dir, err == nil)
	if made && err != nil && !strings.Contains(err.Error(), unsureText) {
		t.Errorf("%s: init says %v, and made a vault", where, err)
	}
	if err == nil && len(res.Files) == 0 {
		t.Errorf("%s: init says it wrote nothing", where)
	}
	return step > n, err != nil
}
