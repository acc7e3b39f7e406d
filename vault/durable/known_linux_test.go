package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// asked lists a folder through known names as [Root.Entries] does and counts how
// often the names were read.
type asked struct {
	t     *testing.T
	dir   string
	known knownFolders
	reads int
}

// same checks that the names are those that the system lists.
func (a *asked) same() {
	a.t.Helper()
	d, err := os.Open(a.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	buf := &dirBuffer{dents: make([]byte, dentsSize)}
	got, err := a.known.names("d", int(d.Fd()), func(fd int) ([]string, error) {
		a.reads++
		return buf.readNames(fd)
	})
	if err := errors.Join(err, d.Close()); err != nil {
		a.t.Fatal(err)
	}
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	want := []string{}
	for _, e := range entries {
		want = append(want, e.Name())
	}
	if !slices.Equal(got, want) {
		a.t.Fatalf("the names are %q, want %q", got, want)
	}
}

func TestNamesAreReadAgainWhenTheirFolderChanged(t *testing.T) {
	t.Parallel()
	a := &asked{t: t, dir: t.TempDir()}
	at := func(name string) string { return filepath.Join(a.dir, name) }
	write := func(name string) error { return os.WriteFile(at(name), []byte(name), 0o600) }
	changes := []func() error{
		func() error { return errors.Join(write("b.md"), write("a.md"), write("c.md")) },
		func() error { return os.Rename(at("b.md"), at("B.md")) },
		func() error { return errors.Join(os.Remove(at("a.md")), os.Remove(at("B.md")), os.Remove(at("c.md"))) },
	}
	for i, change := range changes {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for range knownFrom + 2 {
			a.same() // too young to be known
		}
		before := a.reads
		a.same()
		if a.reads == before {
			t.Fatalf("after change %d the names were known within the second", i)
		}
		time.Sleep((knownAge + 1) * time.Second)
		a.same()
		before = a.reads
		for range 3 {
			a.same()
		}
		if a.reads != before && tellsChangesIn(t, a.dir) {
			t.Fatalf("after change %d the names were read again though the folder is still the same", i)
		}
		// What stands under a name is not what is known of it.
		if i == 0 {
			if err := os.WriteFile(at("a.md"), []byte("changed in place"), 0o600); err != nil {
				t.Fatal(err)
			}
			a.same()
		}
	}
}

func tellsChangesIn(t *testing.T, dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return tellsChanges(int(d.Fd()))
}

// Changes follow on one another within a tick of the clock.
func TestNamesAreNeverThoseOfAMomentAgo(t *testing.T) {
	t.Parallel()
	a := &asked{t: t, dir: t.TempDir()}
	for i := range 500 {
		name := filepath.Join(a.dir, fmt.Sprintf("%d.md", i%7))
		err := os.WriteFile(name, nil, 0o600)
		if i%3 == 0 {
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		a.same()
	}
}
