package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

// The errno sweep: a step fails, alone or with all that follow, and the write
// either reports it and has changed nothing, or stands.

// unsureText is in the error of a write whose commit is published while the
// disk refused to say that it will last: the one error after which a write may
// be there.
const unsureText = "may not survive a power cut"

// faults are what steps fail with, and what the caller must be able to ask for.
func faults() map[string]struct{ with, is error } {
	return map[string]struct{ with, is error }{
		"ENOSPC": {syscall.ENOSPC, syscall.ENOSPC},
		"EIO":    {syscall.EIO, syscall.EIO},
		"EROFS":  {syscall.EROFS, vault.ErrReadOnly},
		"EMFILE": {syscall.EMFILE, syscall.EMFILE},
		"short":  {durable.ErrShortWrite, syscall.ENOSPC},
	}
}

func TestFailedStepLeavesOldOrNew(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := prepareOp(t, op)
			failed := 0
			for name, fault := range faults() {
				for _, n := range p.points(t, len(p.steps), 80, 11) {
					if name == "short" && p.steps[n].Op != durable.OpWrite {
						continue
					}
					once := func() (durable.Hook, func()) { return durabletest.FailAt(n, fault.with, nil), func() {} }
					if p.failsAt(t, fmt.Sprintf("%s at step %d (%v)", name, n, p.steps[n]), once, fault.is) {
						failed++
					}
					stays := func() (durable.Hook, func()) { return durabletest.FailFrom(n, fault.with, nil) }
					if p.failsAt(t, fmt.Sprintf("%s from step %d (%v) on", name, n, p.steps[n]), stays, fault.is) {
						failed++
					}
				}
			}
			if failed == 0 {
				t.Error("no write reported a fault: the sweep shows nothing")
			}
		})
	}
}

// failsAt runs the operation with a fault and reports whether it failed.
func (p *prepared) failsAt(t *testing.T, where string, fault func() (durable.Hook, func()), is error) (failed bool) {
	t.Helper()
	repo := filepath.Join(crashDir(t), "repo")
	p.copyTo(t, repo)
	defer os.RemoveAll(repo)
	hook, lift := fault()
	v, err := vault.Open(ctxb(), p.vaultIn(repo), crashOptions(hook))
	if err == nil {
		err = p.op.run(v)
		lift()
		if cerr := v.Close(); cerr != nil {
			t.Errorf("%s: close: %v", where, cerr)
		}
	}
	if err != nil && !errors.Is(err, is) {
		t.Errorf("%s: the error is not %v: %v", where, is, err)
	}
	state := p.judge(t, where, repo, err == nil)
	if err != nil && state == "new" && !strings.Contains(err.Error(), unsureText) {
		t.Errorf("%s: reported as failed and done all the same: %v", where, err)
	}
	return err != nil
}
