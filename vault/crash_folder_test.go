package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/vaulttest"
)

// A folder whose files all move, unchanged, is renamed as a whole.

const deepText = "Far below.\n"

// folderOps move a folder with all that is in it; of one of them half is in no commit yet.
func folderOps() []crashOp {
	op := crashOp{
		name: "folder",
		prepare: func(f *crashFixture) {
			f.write("memories/other.md", "other\n")
			f.write("notes.md", "a note\n")
			f.write("memories/infra/gate.md", gateText)
			f.write("memories/infra/deep/er.md", deepText)
			f.commit()
		},
		run: func(v *vault.Vault) error {
			_, err := v.Transact(ctxb(), vault.Why{Op: vault.OpMove}, false, func(tx *vault.Tx) error {
				return errors.Join(tx.Move("memories/infra/gate.md", "memories/doors/old/gate.md"),
					tx.Move("memories/infra/deep/er.md", "memories/doors/old/deep/er.md"))
			})
			return err
		},
	}
	byHand, prepare := op, op.prepare
	byHand.name, byHand.byHand = "folder-by-hand", []string{gateHand, "deeper\n"}
	byHand.prepare = func(f *crashFixture) {
		prepare(f)
		f.write("memories/infra/gate.md", gateHand)
		f.write("memories/infra/deep/er.md", "deeper\n")
	}
	return []crashOp{op, byHand}
}

// renamed are the new places of the folders that were renamed as a whole.
func (p *prepared) renamed(steps []durabletest.StepInfo) (out []string) {
	for _, s := range steps {
		if s.Op == durable.OpRename && s.Label == "file" && !inGit(s.Path) && !inGit(s.To) {
			out = append(out, s.To)
		}
	}
	return out
}

func inGit(p string) bool { return strings.Contains(filepath.ToSlash(p), "/.git/") }

// ofFolder reports an fsync of what went with its folder: of bytes and names that stood on the disk before the write.
func (p *prepared) ofFolder(s durabletest.StepInfo, steps []durabletest.StepInfo) bool {
	if s.Label != "file" || inGit(s.Path) {
		return false
	}
	within := func(dir string) bool {
		return s.Path == dir || strings.HasPrefix(s.Path, dir+string(filepath.Separator))
	}
	return s.Op == durable.OpSync && !slices.ContainsFunc(steps, func(c durabletest.StepInfo) bool {
		return c.Op == durable.OpCreate && c.Path == s.Path
	}) || s.Op == durable.OpSyncDir && slices.ContainsFunc(p.renamed(steps), within)
}

// TestAFolderIsRenamed: one step for all files, and none of them is written anew.
func TestAFolderIsRenamed(t *testing.T) {
	t.Parallel()
	for _, op := range folderOps() {
		p := prepareOp(t, op)
		got := p.renamed(p.steps)
		if len(got) != 1 || !strings.HasSuffix(filepath.ToSlash(got[0]), "memories/doors/old") {
			t.Errorf("%s: renamed %q", op.name, got)
		}
	}
}

// TestAFolderThatWasNeverSyncedMovesWhole: what an editor wrote a moment ago and nobody synced is durable where it was
// moved to, once the move is reported.
func TestAFolderThatWasNeverSyncedMovesWhole(t *testing.T) {
	t.Parallel()
	r := prepareOp(t, folderOps()[1]).powerRun(t)
	infra, aside := filepath.Join(r.dir, "memories/infra"), filepath.Join(filepath.Dir(r.dir), "aside")
	must(os.Rename(infra, aside))
	var err error
	r.disk, err = durabletest.NewDisk(r.dir)
	must(err)
	must(os.Rename(aside, infra))
	r.run(t, nil)
	steps := r.disk.Steps()
	ref := slices.IndexFunc(steps, func(s durabletest.StepInfo) bool {
		return s.Op == durable.OpRename && s.Label == "ref"
	})
	r.start = ref + 2 // the branch has moved, and its folder is synced
	if bad := r.damage(durabletest.StepInfo{Op: "none"}, r.dir); bad != "" {
		t.Fatal(bad)
	}
	r.trust()
	tried := 0
	for _, s := range steps {
		if r.ofFolder(s, steps) {
			if tried++; r.damage(s, r.dir) == "" {
				t.Errorf("without %s every image is whole", s)
			}
		}
	}
	if tried < 4 {
		t.Errorf("%d fsyncs of what went with its folder", tried)
	}
}

// TestWhatIsSavedWhileAFolderMovesIsKept: a person saves a file of the folder, or makes a new one in it, before each of
// stet's steps, or goes on writing into one that was open, also where the process dies behind that. Where stet lives,
// a save from before the rename stands where it was made.
func TestWhatIsSavedWhileAFolderMovesIsKept(t *testing.T) {
	t.Parallel()
	p := prepareOp(t, folderOps()[0])
	isRename := func(s durabletest.StepInfo) bool {
		return s.Path != "" && len(p.renamed([]durabletest.StepInfo{s})) > 0
	}
	rename := slices.IndexFunc(p.steps, isRename)
	begin := rename - 6
	if full() {
		begin = 0
	}
	alive := len(p.steps) + 50
	for _, how := range []string{"save", "new", "open"} {
		for at := begin; at < len(p.steps); at++ {
			for _, die := range []int{at, at + 1, at + 2, at + 3, alive} {
				where := fmt.Sprintf("%s before step %d, died before %d", how, at, die)
				p.whileMoving(t, how, where, at, die, at <= rename && die == alive)
			}
		}
	}
}

func (p *prepared) whileMoving(t *testing.T, how, where string, at, die int, stays bool) {
	t.Helper()
	repo := p.copyTo(t, filepath.Join(crashDir(t), "repo"))
	defer os.RemoveAll(repo)
	s := &saver{first: at, then: -1, die: die, owed: map[string]bool{}}
	s.file = filepath.Join(repo, "memories/infra/gate.md")
	open, err := os.OpenFile(s.file, os.O_WRONLY|os.O_APPEND, 0)
	must(err)
	if how != "open" {
		must(open.Close())
	}
	text := gateText + "\nSaved.\n"
	v, err := vault.Open(ctxb(), repo, crashOptions(func(step durable.Step) error {
		if s.step == s.first {
			_, gone := os.Stat(filepath.Dir(s.file))
			switch {
			case how == "open":
				_, err := open.WriteString("\nSaved.\n")
				must(errors.Join(err, open.Close()))
				s.owed[text] = true
			case gone != nil: // the editor says that it could not save
			case how == "new":
				text = "New.\n"
				must(os.WriteFile(filepath.Join(filepath.Dir(s.file), "new.md"), []byte(text), 0o644))
				s.owed[text] = true
			default:
				must(os.WriteFile(s.file+".editor", []byte(text), 0o644))
				must(os.Rename(s.file+".editor", s.file))
				s.owed[text] = true
			}
			s.first = -1
		}
		return s.hook(step)
	}))
	must(err)
	_ = p.op.run(v)
	must(v.Close())
	_, gone := os.Stat(filepath.Dir(s.file))
	if stays && how != "open" && gone != nil {
		t.Errorf("%s: %v", where, gone)
	}
	if v, err = vault.Open(ctxb(), repo, crashOptions(nil)); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	defer v.Close()
	if _, err := v.Adopt(ctxb(), vault.AdoptOptions{}); err != nil {
		t.Errorf("%s: adopt: %v", where, err)
	}
	for text := range s.owed {
		if !isKept(repo, text) {
			t.Errorf("%s: lost: %q", where, text)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(repo, ".git/stet/*/lost/*")); len(kept) == 0 {
		for _, problem := range vaulttest.Problems(repo) {
			t.Errorf("%s: %s", where, problem)
		}
	}
}
