package processtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// A desk is one worktree at which stet and a person's git take turns, while the
// same happens at another worktree of the repository.
type desk struct {
	t      *testing.T
	f      *vaulttest.Fixture
	v      *vault.Vault
	name   string
	random *rand.Rand
	said   []string // what stet was told, all of which must be there at the end
	byGit  int
	others int // checkouts and collections
}

// TestRandomCommitsInTwoWorktreesBesideGit mixes commits of stet's with commits,
// checkouts and garbage collections of git's, in two worktrees at once. After
// every few of them git finds nothing changed and the git index is HEAD's tree.
func TestRandomCommitsInTwoWorktreesBesideGit(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	commits := 40
	switch {
	case os.Getenv("STET_FULL") != "":
		commits = 400
	case testing.Short():
		commits = 12
	}
	home := vaulttest.New(t, "memories/a.md", "a\n", "notes/b.md", "b\n")
	home.Git("config", "gc.auto", "0")
	side := vaulttest.At(t, filepath.Join(t.TempDir(), "side"))
	home.Git("worktree", "add", "-q", "-b", "side", side.Dir)
	desks := []*desk{
		{t: t, f: home, v: home.Open(), name: "main", random: rand.New(rand.NewPCG(1, 1))},
		{t: t, f: side, v: side.Open(), name: "side", random: rand.New(rand.NewPCG(2, 2))},
	}
	var working sync.WaitGroup
	for _, d := range desks {
		working.Go(func() {
			for n := 0; n < commits && !t.Failed(); n++ {
				d.step(n)
				if n%4 == 3 {
					d.check()
				}
			}
		})
	}
	working.Wait()
	for _, d := range desks {
		d.check()
		d.find()
		if len(d.said) == 0 || d.byGit == 0 || d.others == 0 {
			t.Errorf("%s: %d commits of stet's, %d of git's, %d other acts: the test shows nothing", d.name, len(d.said), d.byGit, d.others)
		}
		t.Logf("%s: %d commits of stet's, %d of git's, %d checkouts and collections", d.name, len(d.said), d.byGit, d.others)
	}
	if out := home.Git("fsck", "--strict", "--no-dangling"); out != "" {
		t.Errorf("git fsck: %s", out)
	}
}

func (d *desk) step(n int) {
	text := fmt.Sprintf("said at %s as number %d\n", d.name, n)
	switch k := d.random.IntN(10); {
	case k < 5 || n == 0:
		d.stet(func() error {
			_, err := d.v.Remember(d.t.Context(), []vault.Note{{Text: text}}, vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "bot"}})
			return err
		})
		d.said = append(d.said, text)
	case k < 6:
		d.f.Write("memories/a.md", text)
		d.stet(func() error {
			_, err := d.v.Adopt(d.t.Context(), vault.AdoptOptions{All: true, Door: "watch"})
			return err
		})
	case k < 8 || n == 1:
		d.f.Write(fmt.Sprintf("notes/%d.md", d.random.IntN(5)), text)
		d.git("add", "-A")
		d.git("commit", "-q", "-m", text)
		d.byGit++
	case k < 9 || n == 2:
		// Another branch and back again, with a commit on it that stays apart.
		other := fmt.Sprintf("%s-%d", d.name, n)
		d.git("checkout", "-q", "-b", other)
		d.f.Write("notes/apart.md", text)
		d.git("add", "-A")
		d.git("commit", "-q", "-m", text)
		d.git("checkout", "-q", d.name)
		d.byGit++
		d.others++
	default:
		// It may fail: a pack that it is about to read may have been taken away
		// by the other desk's.
		if _, err := vaulttest.Git(d.f.Dir, [][]string{{"gc", "-q"}, {"repack", "-q", "-a", "-d"}, {"pack-refs", "--all"}}[d.random.IntN(3)]...); err == nil {
			d.others++
		}
	}
}

// stet does one of stet's operations, again where it was kept from it: what the
// other desk's git does to refs and packs may take a moment.
func (d *desk) stet(operate func() error) {
	const tries = 50
	var err error
	for range tries {
		if err = operate(); !errors.Is(err, vault.ErrBusy) {
			break
		}
	}
	if err != nil {
		d.t.Errorf("%s: %v", d.name, err)
	}
}

// git runs a command of the person's, again where the other desk held a lock
// that both share.
func (d *desk) git(args ...string) {
	const tries = 50
	var out string
	var err error
	for range tries {
		if out, err = vaulttest.Git(d.f.Dir, args...); err == nil {
			return
		}
		shared := false
		for _, lock := range []string{"packed-refs.lock", "cannot lock ref", "No such file or directory"} {
			shared = shared || strings.Contains(out, lock)
		}
		if !shared {
			break
		}
	}
	d.t.Errorf("%s: git %v: %v\n%s", d.name, args, err, out)
}

func (d *desk) check() {
	for args, want := range map[string]string{"status --porcelain": "", "write-tree": "", "symbolic-ref --short HEAD": d.name} {
		out, err := vaulttest.Git(d.f.Dir, strings.Fields(args)...)
		if args == "write-tree" && err == nil {
			want, err = vaulttest.Git(d.f.Dir, "rev-parse", "HEAD^{tree}")
			want = strings.TrimSpace(want)
		}
		if out = strings.TrimSpace(out); err != nil || out != want {
			d.t.Errorf("%s: git %s: %v\n%s\nwant %q", d.name, args, err, out, want)
		}
	}
}

// find wants everything that stet was told in HEAD.
func (d *desk) find() {
	s, err := d.v.History().View(d.t.Context(), "")
	if err != nil {
		d.t.Fatal(err)
	}
	var all strings.Builder
	for p := range s.Files() {
		data, _, err := s.Read(p)
		if err != nil {
			d.t.Fatal(err)
		}
		all.Write(data)
	}
	for _, text := range d.said {
		if !strings.Contains(all.String(), text) {
			d.t.Errorf("%s: %q is not in HEAD", d.name, text)
		}
	}
}
