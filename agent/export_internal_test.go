package agent

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"stet/vault/durable"
)

// At every step that can fail: all files or none.
func TestAFailedExportLeavesNothing(t *testing.T) {
	t.Parallel()
	files := []newFile{{"b", []byte("one")}, {"a", []byte("two")}}
	for fail := 0; ; fail++ {
		dir, step := t.TempDir(), 0
		e := NewEnvironment(Options{})
		e.o.Hook = func(s durable.Step) error {
			if s.Op == durable.OpRemove {
				return nil
			}
			if step++; step == fail+1 {
				return syscall.ENOSPC
			}
			return nil
		}
		err := e.writeNew(dir, files)
		left, readErr := os.ReadDir(dir)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if step <= fail {
			if err != nil || len(left) != 2 || fail < 7 {
				t.Errorf("after %d steps: %v, %d files", fail, err, len(left))
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) || len(left) != 0 {
			t.Errorf("step %d failed: %v, left %v", fail, err, left)
		}
	}
}
