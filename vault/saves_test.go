package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/vaulttest"
)

// A saver is a person's editor, which saves a file before one of stet's steps, or before two of them,
// in a process that dies before another. owed are the saves that stet took off the disk.
type saver struct {
	file             string
	first, then, die int
	step             int
	owed             map[string]bool
}

func (s *saver) hook(durable.Step) error {
	if s.step == s.first || s.step == s.then {
		s.save(fmt.Sprintf("%s\nSaved before steps %d and %d, now %d.\n", gateText, s.first, s.then, s.step))
	}
	if s.step++; s.step > s.die {
		return errors.New("the process is dead")
	}
	return nil
}

// save renames a file over another, as editors do, but keeps what stood there to look at it.
func (s *saver) save(text string) {
	temp, was := s.file+".editor", s.file+".was"
	must(os.WriteFile(temp, []byte(text), 0o644))
	must(os.Rename(s.file, was))
	must(os.Rename(temp, s.file))
	over, err := os.ReadFile(was)
	must(err)
	must(os.Remove(was))
	delete(s.owed, string(over))
	s.owed[text] = true
}

// TestNoSaveIsLostWhereverTheProcessDies: a save that stet took off the disk stands in the
// history, or it is kept in lost/. What the editor itself replaced is no loss of stet's: between
// the two swaps that take a commit's bytes back in favour of a save, the file shows the commit's
// bytes for a moment, and for longer where the process dies there.
func TestNoSaveIsLostWhereverTheProcessDies(t *testing.T) {
	t.Parallel()
	p := prepareOp(t, crashOp{name: "update", run: updateGate, prepare: func(f *crashFixture) {
		f.write("memories/infra/gate.md", gateText)
		f.commit()
	}})
	swap := slices.IndexFunc(p.steps, func(s durabletest.StepInfo) bool { return s.Op == durable.OpExchange })
	begin, end, stride := swap, swap+9, 4 // a save makes the write longer
	if os.Getenv("STET_FULL") != "" {
		begin, end, stride = 0, len(p.steps)+8, 1
	}
	for first := begin; first < end; first++ {
		for then := first; then < end; then++ {
			for die := max(then, swap); die <= end; die++ {
				p.saves(t, &saver{first: first, then: then, die: die})
			}
		}
	}
	// The recovery of a process that died between the two swaps is disturbed and dies as well.
	for then := range end {
		for die := then; die <= then+6; die += stride {
			p.saves(t, &saver{first: swap, then: -1, die: swap + 1}, &saver{first: then, then: -1, die: die})
			p.saves(t, &saver{first: swap, then: swap + 1, die: swap + 2}, &saver{first: then, then: -1, die: die})
		}
	}
}

// saves lets one process after the other write, each beside its saver, and then one alone.
func (p *prepared) saves(t *testing.T, savers ...*saver) {
	t.Helper()
	repo := filepath.Join(crashDir(t), "repo")
	p.copyTo(t, repo)
	defer os.RemoveAll(repo)
	owed, where := map[string]bool{}, ""
	for _, s := range savers {
		s.file, s.owed = filepath.Join(repo, "memories/infra/gate.md"), owed
		where += fmt.Sprintf("saved before steps %d and %d, died before %d; ", s.first, s.then, s.die)
		v, err := vault.Open(ctxb(), repo, crashOptions(s.hook))
		if err != nil {
			continue // it died while it recovered
		}
		_ = p.op.run(v)
		_ = v.Close()
	}
	v, err := vault.Open(ctxb(), repo, crashOptions(nil))
	must(err)
	defer v.Close()
	if _, err := v.Adopt(ctxb(), vault.AdoptOptions{}); err != nil {
		t.Errorf("%sadopt: %v", where, err)
	}
	for text := range owed {
		if !isKept(repo, text) {
			t.Errorf("%slost: %q", where, text)
		}
	}
	for _, problem := range vaulttest.Problems(repo) {
		t.Errorf("%s%s", where, problem)
	}
}

// TestAPersonWhoSavesDoesNotMakeAWriteFail: the write begins again from each save.
func TestAPersonWhoSavesDoesNotMakeAWriteFail(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/infra/gate.md", gateText)
	s := &saver{file: filepath.Join(f.Dir, "memories/infra/gate.md"), owed: map[string]bool{}}
	v, err := vault.Open(ctxb(), f.Dir, crashOptions(func(step durable.Step) error {
		if s.step < 12 && step.Label == "journal" && step.Op == durable.OpWrite {
			s.step++
			s.save(fmt.Sprintf("%s\nSave %d.\n", gateText, s.step))
		}
		return nil
	}))
	must(err)
	defer v.Close()
	if err := updateGate(v); err != nil {
		t.Errorf("after %d saves: %v", s.step, err)
	}
	for text := range s.owed {
		if !isKept(f.Dir, text) {
			t.Errorf("lost: %q", text)
		}
	}
}
