package gitstore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/vault/gitstore"
	"stet/vault/vaulttest"
)

// On random histories with branches and merges, even where clocks go backwards,
// what is left is what git rev-list A ^B lists.
func TestHistoryWithoutIsRevList(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for seed := range 6 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		dir := t.TempDir()
		git := func(in string, args ...string) string {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
			cmd.Stdin = strings.NewReader(in)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		git("", "init", "-q", "-b", "main")
		var s strings.Builder
		const commits = 50
		for n := 1; n <= commits; n++ {
			at := 1_770_000_000 + 60*n
			if seed%2 == 1 && r.IntN(5) == 0 {
				at -= 60 * r.IntN(4) // a clock that is a little behind
			}
			fmt.Fprintf(&s, "commit refs/heads/b%d\nmark :%d\ncommitter A <a@example.org> %d +0000\ndata 1\nx\n", n, n, at)
			if n > 1 {
				parent := max(1, n-1-r.IntN(5))
				fmt.Fprintf(&s, "from :%d\n", parent)
				if other := max(1, n-1-r.IntN(8)); other != parent && r.IntN(3) == 0 {
					fmt.Fprintf(&s, "merge :%d\n", other)
				}
			}
			fmt.Fprintf(&s, "M 100644 inline f\ndata 2\n%02d\n", n)
		}
		git(s.String(), "fast-import", "--quiet")
		repo := opened(t, dir)
		for range 20 {
			// The names could be read as short ids: for git they are names first.
			a, b := fmt.Sprintf("b%d", 1+r.IntN(commits)), fmt.Sprintf("b%d", 1+r.IntN(commits))
			from, errA := repo.Resolve(a)
			other, errB := repo.Resolve(b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			var got []string
			for c, err := range repo.History(from, other) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c.ID.String())
			}
			want := strings.Fields(git("", "rev-list", a, "^"+b))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %s ^%s: %d commits, git lists %d", seed, a, b, len(got), len(want))
			}
		}
	}
}

// A commit that is gone leaves nothing out; one that the disk cannot give up just
// now is not gone.
func TestHistoryWithoutTellsGoneFromUnreadable(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	dir := t.TempDir()
	git := gitIn(t, dir)
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "one")
	old := git("commit-tree", "-m", "of another branch", "HEAD^{tree}")
	count := func() (n int, err error) {
		t.Helper()
		repo := opened(t, dir)
		head, err := repo.Head()
		if err != nil {
			t.Fatal(err)
		}
		other, err := gitstore.ParseID(old)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range repo.History(head.ID, other) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	if n, err := count(); n != 1 || err != nil {
		t.Fatalf("%d commits, %v; want 1", n, err)
	}
	object := filepath.Join(dir, ".git", "objects", old[:2], old[2:])
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(object, object); err != nil { // a file that nobody can open, not even root
		t.Skipf("skip: no symbolic links here: %v", err)
	}
	if n, err := count(); err == nil {
		t.Errorf("unreadable: %d commits and no error", n)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if n, err := count(); n != 1 || err != nil {
		t.Errorf("gone: %d commits, %v; want the one that there is", n, err)
	}
}

// gitIn runs the real git in dir.
func gitIn(t *testing.T, dir string) func(args ...string) string {
	return func(args ...string) string {
		t.Helper()
		out, err := vaulttest.Git(dir, args...)
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(out)
	}
}

// opened opens the repository in dir and closes it when the test ends.
func opened(t *testing.T, dir string) *gitstore.Repo {
	t.Helper()
	loc, err := gitstore.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := gitstore.Open(loc, func(string) string { return "" }, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}
