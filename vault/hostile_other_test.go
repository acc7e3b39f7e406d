//go:build !linux

package vault_test

import (
	"testing"
	"time"
)

func makeFIFO(t *testing.T, _ string) {
	t.Helper()
	t.Log("no FIFO in this run")
}

// accessTimes are known on Linux only.
func accessTimes(*testing.T, string) map[string]time.Time { return nil }

func ageFolders(*testing.T, string) {}
