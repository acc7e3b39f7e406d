package vault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/gitstore"
	"stet/vault/links"
	"stet/vault/vaulttest"
)

// A crashOp is one kind of write whose every step is made to fail.
type crashOp struct {
	name    string
	sub     string              // the vault's place in the repository, "" = its root
	linked  bool                // sub is a working tree of its own, linked to the repository
	prepare func(*crashFixture) // makes the vault before the write
	run     func(*vault.Vault) error
	byHand  []string // whole contents a person wrote and that must not be lost
	needGit bool     // prepare uses the real git
}

// A crashFixture is a vault in the making; it fails by panic, because it is
// shared by tests.
type crashFixture struct{ repo, dir string }

func (f *crashFixture) write(p, text string) {
	full := filepath.Join(f.dir, filepath.FromSlash(p))
	must(os.MkdirAll(filepath.Dir(full), 0o755))
	must(os.WriteFile(full, []byte(text), 0o644))
}

func (f *crashFixture) git(args ...string) {
	if out, err := vaulttest.Git(f.dir, args...); err != nil {
		panic(fmt.Sprintf("git %v: %v\n%s", args, err, out))
	}
}

func (f *crashFixture) do(fn func(*vault.Vault) error) {
	v, err := vault.Open(context.Background(), f.dir, crashOptions(nil))
	must(err)
	must(fn(v))
	must(v.Close())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// crashOptions give every process the same clock, so that two runs of one
// operation differ in nothing but their random ids.
func crashOptions(hook durable.Hook) vault.Options {
	var ticks atomic.Int64
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return vault.Options{
		Now: func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Second) },
		Env: vaulttest.Env, Hook: hook, SecondLook: time.Nanosecond, LockWait: 2 * time.Second,
	}
}

const (
	gateText = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nkind: fact\n---\nThe gate code is 4711.\n"
	gateHand = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nkind: fact\n---\nThe gate code is 0815, by hand.\n"
	linkHand = "- by hand, [[memories/infra/gate]]\n"
	gateIdx  = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nkind: fact\n---\nThe gate code is 1234, staged.\n"
)

func ctxb() context.Context { return context.Background() }

// crashOps are the writes that the sweeps cover.
func crashOps() []crashOp {
	basic := func(f *crashFixture) {
		f.write("memories/infra/gate.md", gateText)
		f.write("memories/other.md", "other\n")
		f.write("notes.md", "a note\n")
	}
	plain := func(f *crashFixture) {
		basic(f)
		f.commit()
	}
	return append([]crashOp{
		{name: "remember", prepare: plain, run: rememberOne},
		{name: "update", prepare: plain, run: updateGate},
		{
			name: "update-by-hand", needGit: true, byHand: []string{gateIdx, gateHand},
			prepare: func(f *crashFixture) {
				basic(f)
				f.commit()
				f.write("memories/infra/gate.md", gateIdx)
				f.git("add", "memories/infra/gate.md")
				f.write("memories/infra/gate.md", gateHand)
			},
			run: updateGate,
		},
		{name: "forget", prepare: plain, run: func(v *vault.Vault) error {
			_, err := v.Forget(ctxb(), []string{"memories/infra/gate.md"}, vault.Write{})
			return err
		}},
		{
			name: "revert",
			prepare: func(f *crashFixture) {
				basic(f)
				f.commit()
				f.do(updateGate)
			},
			run: func(v *vault.Vault) error {
				_, err := v.History().Revert(ctxb(), vault.RevertOptions{Revs: []string{"HEAD"}})
				return err
			},
		},
		{
			name: "adopt", byHand: []string{gateHand, "fresh\n", "other\n"},
			prepare: func(f *crashFixture) {
				basic(f)
				f.write("memories/gone.md", "gone\n")
				f.commit()
				f.write("memories/infra/gate.md", gateHand)
				f.write("memories/new/fresh.md", "fresh\n")
				must(os.Remove(filepath.Join(f.dir, "memories/gone.md")))
				must(os.Rename(filepath.Join(f.dir, "memories/other.md"), filepath.Join(f.dir, "memories/renamed.md")))
			},
			run: func(v *vault.Vault) error {
				_, err := v.Adopt(ctxb(), vault.AdoptOptions{})
				return err
			},
		},
		{
			// A rename and the links to it, one of them in a file edited by hand.
			name: "move", byHand: []string{linkHand},
			prepare: func(f *crashFixture) {
				basic(f)
				f.write("memories/infra/near.md", "[gate](gate.md) and [[infra/gate]]\n")
				f.write("MEMORY.md", "- by [[memories/infra/gate]]\n")
				f.commit()
				f.write("MEMORY.md", linkHand)
			},
			run: moveGate,
		},
		{name: "each", prepare: plain, run: func(v *vault.Vault) error {
			_, err := v.Remember(ctxb(), manyNotes(3), vault.Write{Each: true})
			return err
		}},
		{name: "batch", prepare: plain, run: func(v *vault.Vault) error {
			_, err := v.Remember(ctxb(), manyNotes(70), vault.Write{}) // a [durable.Batch] holds 64 open
			return err
		}},
		{name: "deposit", prepare: plain, run: depositTalks},
		{
			// The write after which eight packs become one.
			name: "merge packs", run: rememberOne,
			prepare: func(f *crashFixture) {
				plain(f)
				for len(packsIn(f.dir)) < 7 {
					f.do(updateGate)
				}
			},
		},
		{
			name: "detached", needGit: true, run: rememberOne,
			prepare: func(f *crashFixture) {
				basic(f)
				f.commit()
				f.git("checkout", "-q", "--detach")
			},
		},
		{
			name: "subfolder", sub: "notes", needGit: true, run: rememberOne,
			prepare: plain,
		},
		{
			// The first write after the state folder was deleted, into a branch
			// whose ref exists packed only.
			name: "first-use", needGit: true, run: rememberOne,
			prepare: func(f *crashFixture) {
				basic(f)
				f.commit()
				f.git("checkout", "-q", "-b", "topic/deep")
				f.git("pack-refs", "--all")
				must(os.RemoveAll(filepath.Join(f.dir, ".git/stet")))
				must(os.RemoveAll(filepath.Join(f.dir, ".git/refs/heads/topic")))
			},
		},
	}, slices.Concat(lineageOps(), notebookOps(), linkedOps(), folderOps())...)
}

func packsIn(dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.pack"))
	must(err)
	return names
}

func rememberOne(v *vault.Vault) error {
	_, err := v.Remember(ctxb(), []vault.Note{{Text: "Production runs on MySQL 8.4.", Scope: "/db/prod"}}, vault.Write{})
	return err
}

func updateGate(v *vault.Vault) error {
	add := "Ring twice."
	_, err := v.UpdateMemory(ctxb(), "memories/infra/gate.md", vault.Patch{Append: &add}, vault.Write{})
	return err
}

func moveGate(v *vault.Vault) error {
	m, err := v.Resolve(ctxb(), "memories/infra/gate.md")
	if err != nil {
		return err
	}
	_, err = links.Move(ctxb(), v, links.Request{From: []vault.Memory{m}, To: "memories/doors"}, vault.Write{})
	return err
}

func manyNotes(n int) []vault.Note {
	notes := make([]vault.Note, n)
	for i := range notes {
		notes[i] = vault.Note{Text: fmt.Sprintf("Fact number %03d.", i), Scope: fmt.Sprintf("/s%d", i%7)}
	}
	return notes
}

// prepared is a template of one operation: the repository before it, and what
// the operation makes of it.
type prepared struct {
	op     crashOp
	repo   string
	before map[string]string
	after  map[string]string
	steps  []durabletest.StepInfo
}

// vaultIn is the vault's folder in a copy of the repository.
func (p *prepared) vaultIn(repo string) string { return filepath.Join(repo, p.op.sub) }

// prepareOp builds the template and runs the operation once on a copy.
func prepareOp(t *testing.T, op crashOp) *prepared {
	t.Helper()
	if op.needGit {
		vaulttest.NeedGit(t)
	}
	base := crashDir(t)
	p := &prepared{op: op, repo: filepath.Join(base, "template")}
	f := &crashFixture{repo: p.repo, dir: p.vaultIn(p.repo)}
	must(os.MkdirAll(f.dir, 0o755))
	if op.sub != "" {
		top := &crashFixture{repo: p.repo, dir: p.repo}
		top.git("init", "-q", "-b", "main")
		top.write("README.md", "the whole project\n")
		top.git("add", "-A")
		top.git("commit", "-q", "-m", "start")
		if op.linked {
			f.link()
		}
	}
	if _, err := vault.Init(ctxb(), f.dir, vault.InitOptions{}, crashOptions(nil)); err != nil {
		t.Fatal(err)
	}
	op.prepare(f)
	p.before = snapshot(t, p.treeIn(p.repo))
	done := p.copyTo(t, filepath.Join(base, "done"))
	var count durabletest.Counter
	v, err := vault.Open(ctxb(), p.vaultIn(done), crashOptions(count.Hook))
	if err != nil {
		t.Fatal(err)
	}
	if err := op.run(v); err != nil {
		t.Fatalf("%s without any fault: %v", op.name, err)
	}
	must(v.Close())
	p.steps = count.Steps()
	p.after = snapshot(t, p.treeIn(done))
	vaulttest.Check(t, p.vaultIn(done))
	if maps.Equal(p.before, p.after) {
		t.Fatalf("%s changed nothing", op.name)
	}
	return p
}

func (p *prepared) copyTo(t testing.TB, to string) string {
	t.Helper()
	if err := copyTree(p.repo, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// copyTree copies files, folders and hard links between them.
func copyTree(from, to string) error {
	type seen struct {
		info fs.FileInfo
		at   string
	}
	var linked []seen
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(p, from)
		if d.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if base := filepath.Base(p); base == "lockmark" || strings.HasSuffix(base, ".lock") {
			for _, s := range linked {
				if os.SameFile(s.info, info) {
					return os.Link(s.at, target)
				}
			}
			linked = append(linked, seen{info, target})
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}

// normalise takes out what differs between two runs of one operation.
func normalise(data []byte) string {
	return regexp.MustCompile(`(?m)^id: [0-9a-z]{26}$`).ReplaceAllString(string(data), "id: X")
}

// snapshot is everything a person can tell a vault by: the files of HEAD, of
// the git index and of the working tree, how many commits there are, and which
// folders are empty. It reads through the plain readers of the store, and
// fails when any object of HEAD's history is missing.
func snapshot(t testing.TB, repo string) map[string]string {
	t.Helper()
	out, err := trySnapshot(repo)
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return out
}

func trySnapshot(dir string) (out map[string]string, err error) {
	loc, err := gitstore.Locate(dir)
	if err != nil {
		return nil, err
	}
	repo, err := gitstore.Open(loc, vaulttest.Env, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	head, err := repo.Head()
	if err != nil {
		return nil, err
	}
	out = map[string]string{}
	commits := 0
	for c, err := range repo.History(head.ID, gitstore.ID{}) {
		if err != nil {
			return nil, err
		}
		for e, err := range repo.Stage().Walk(c.Tree) {
			if err != nil {
				return nil, err
			}
			data, err := repo.Stage().Blob(e.ID)
			if err != nil {
				return nil, err
			}
			if commits == 0 {
				out["HEAD:"+e.Name] = normalise(data)
			}
		}
		commits++
	}
	out["commits"] = strconv.Itoa(commits)
	index, rebuilt, err := repo.ReadGitIndex(head.ID)
	if err != nil || rebuilt {
		return nil, errors.Join(fmt.Errorf("git index: rebuilt %v", rebuilt), err)
	}
	for e := range index.All() {
		data, err := repo.Stage().Blob(gitstore.ID(e.Hash))
		if err != nil {
			return nil, err
		}
		out["index:"+e.Path] = normalise(data)
	}
	return out, addDisk(dir, out)
}

func addDisk(dir string, out map[string]string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(p, dir), string(filepath.Separator)))
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Name() == ".git" {
			return nil // of a linked working tree: the way to the repository
		}
		if d.IsDir() {
			list, err := os.ReadDir(p)
			if len(list) == 0 {
				out["empty:"+rel] = ""
			}
			return err
		}
		data, err := os.ReadFile(p)
		out["disk:"+rel] = normalise(data)
		return err
	})
}

// withoutEmpty leaves out empty folders, which git does not keep either.
func withoutEmpty(s map[string]string) map[string]string {
	out := maps.Clone(s)
	maps.DeleteFunc(out, func(k, _ string) bool { return strings.HasPrefix(k, "empty:") })
	return out
}

// which says whether a state is the old one, the new one or, with an
// explanation, neither.
func (p *prepared) which(now map[string]string) (state, diff string) {
	now = withoutEmpty(now)
	if maps.Equal(now, withoutEmpty(p.after)) {
		return "new", ""
	}
	if maps.Equal(now, withoutEmpty(p.before)) {
		return "old", ""
	}
	against, name := p.before, "old"
	if now["commits"] == p.after["commits"] {
		against, name = p.after, "new"
	}
	return "torn", "neither old nor new; from " + name + ": " + differences(withoutEmpty(against), now)
}

func differences(want, have map[string]string) string {
	keys := slices.Collect(maps.Keys(want))
	for k := range have {
		if _, ok := want[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		w, inWant := want[k]
		h, inHave := have[k]
		if w != h || inWant != inHave {
			fmt.Fprintf(&b, "\n  %s: want %q (%v), have %q (%v)", k, cut(w), inWant, cut(h), inHave)
		}
	}
	return b.String()
}

func cut(s string) string { return s[:min(len(s), 160)] }

// isKept reports whether bytes are on disk, staged, or in HEAD's history.
func isKept(dir, content string) bool {
	loc, err := gitstore.Locate(dir)
	must(err)
	repo, err := gitstore.Open(loc, vaulttest.Env, nil)
	must(err)
	defer repo.Close()
	id := gitstore.HashBlob([]byte(content))
	found := false
	must(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, rerr := os.ReadFile(p)
			found = found || rerr == nil && gitstore.HashBlob(data) == id
		}
		return err
	}))
	head, err := repo.Head()
	must(err)
	if index, _, err := repo.ReadGitIndex(head.ID); err == nil {
		for e := range index.All() {
			if gitstore.ID(e.Hash) == id {
				_, err := repo.Stage().Blob(id)
				found = found || err == nil
			}
		}
	}
	for c, err := range repo.History(head.ID, gitstore.ID{}) {
		must(err)
		for e, err := range repo.Stage().Walk(c.Tree) {
			must(err)
			found = found || e.ID == id
		}
	}
	return found
}

// The environment of a child process: what to do, where, and before which step
// to die.
const childOp, childDir, childStep = "STET_CRASH_OP", "STET_CRASH_DIR", "STET_CRASH_STEP"

const childOpen = "open" // the operation of a child that only opens the vault

func TestMain(m *testing.M) {
	name := os.Getenv(childOp)
	if name == "" {
		vaulttest.InMemory()
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(os.Getenv(childStep))
	must(err)
	o := crashOptions(durabletest.KillAt(n, nil))
	if name == childInit {
		initChild(os.Getenv(childDir), o)
	}
	v, err := vault.Open(ctxb(), os.Getenv(childDir), o)
	must(err)
	for _, op := range crashOps() {
		if op.name == name {
			must(op.run(v))
		}
	}
	fmt.Println("ACK")
	must(v.Close())
	os.Exit(0)
}

// child runs an operation in a process of its own that dies before step n. It
// reports whether the operation was acknowledged and whether the process ended
// by itself.
func child(t testing.TB, op, dir string, n int) (acked, ended bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childOp+"="+op, childDir+"="+dir, childStep+"="+strconv.Itoa(n), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		t.Fatalf("%s, step %d: the child failed by itself: %v\n%s", op, n, err, out)
	}
	return strings.Contains(string(out), "ACK\n"), err == nil
}

// full reports whether every point is to be tried (STET_FULL=1, continuous
// integration); otherwise points are taken at a fixed stride.
func full() bool { return os.Getenv("STET_FULL") == "1" }

// points lists the steps to try of n, the last always, and says when it leaves
// some out.
func (p *prepared) points(t testing.TB, n, short, normal int) []int {
	t.Helper()
	stride := normal
	if testing.Short() {
		stride = short
	}
	if long := 150; n > long {
		stride *= n / long // a batch repeats one step for each note
	}
	if full() {
		stride = 1
	}
	var out []int
	for i := 0; i < n; i += stride {
		out = append(out, i)
	}
	if stride > 1 {
		t.Logf("a sample: every %dth of %d points (STET_FULL=1 tries all)", stride, n)
		out = append(out, n-1)
	}
	return out
}

// crashDir is a temporary folder, in memory where the system has such a place:
// the sweeps fsync tens of thousands of times and never look at the medium.
func crashDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stet-crash-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(os.RemoveAll(dir)) })
	return dir
}
