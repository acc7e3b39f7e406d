package durable_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stet/vault/durable"
)

// What somebody saves in the instant before a file is swapped stays, and is told.
func TestSwapReplacesOnlyWhatWasRead(t *testing.T) {
	t.Parallel()
	const none = "(none)"
	bytesOf := func(text string) []byte {
		if text == none {
			return nil
		}
		return []byte(text)
	}
	for _, c := range []struct{ was, saved, now, left string }{
		{"old", "old", "new", "new"},
		{none, none, "new", "new"},
		{"old", "old", none, none},
		{"", "", "new", "new"},
		{"old", "theirs", "new", "theirs"},
		{none, "theirs", "new", "theirs"},
		{"old", "theirs", none, "theirs"},
		{"old", none, "new", none},
		{"old", none, none, none},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "settings.json")
		put := func(text string) {
			err := os.Remove(file)
			if text != none {
				err = os.WriteFile(file, []byte(text), 0o640)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		put(c.was)
		once := false
		err := durable.Swap("test", ".temp", file, 0o640, bytesOf(c.was), bytesOf(c.now), func(s durable.Step) error {
			if (s.Op == durable.OpExchange || s.Op == durable.OpRename) && !once {
				once = true
				put(c.saved)
			}
			return nil
		})
		if saved := c.saved != c.was; errors.Is(err, durable.ErrSaved) != saved || err != nil && !saved {
			t.Errorf("%+v: %v", c, err)
		}
		got, rerr := os.ReadFile(file)
		if text := string(got); rerr != nil && c.left != none || rerr == nil && text != c.left {
			t.Errorf("%+v: left %q (%v)", c, text, rerr)
		}
		if names, _ := os.ReadDir(dir); len(names) > 1 {
			t.Errorf("%+v: left over: %v", c, names)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o640 {
			t.Errorf("%+v: mode %v", c, info.Mode())
		}
	}
}

// The copy that a killed process left is removed where the file was made from it, and what somebody saved is not.
func TestRewriteRemovesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	for left, stays := range map[string]bool{"old": false, "old+": false, "theirs": true} {
		dir := t.TempDir()
		file, temp := filepath.Join(dir, "a"), filepath.Join(dir, ".a.stet-t0")
		err := errors.Join(os.WriteFile(file, []byte("old+"), 0o600), os.WriteFile(temp, []byte(left), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		add := func(data []byte) ([]byte, error) { return append(bytes.TrimSuffix(data, []byte("+")), '+'), nil }
		if changed, err := durable.Rewrite("test", file, 0o600, add, nil); err != nil || changed {
			t.Errorf("%s: %v (%v)", left, changed, err)
		}
		if _, err := os.Stat(temp); (err == nil) != stays {
			t.Errorf("%s: left over: %v", left, err)
		}
	}
}
