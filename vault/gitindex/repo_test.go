//go:build linux

package gitindex_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"stet/vault/gitindex"
)

// repo is a repository whose commits are made by git plumbing and whose index is
// written only by Apply, apart from what the test does with git on purpose.
type repo struct {
	t   *testing.T
	dir string
	rnd *rand.Rand
	n   int
	// to says that Apply is told which tree the index is to hold then.
	to bool
}

func newRepo(t *testing.T, seed uint64) *repo {
	t.Helper()
	if os.Getenv("STET_TEST_NOGIT") == "1" {
		t.Skip("SKIPPED: STET_TEST_NOGIT=1, nothing was compared with git")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git binary, nothing was compared with git")
	}
	r := &repo{t: t, dir: t.TempDir(), rnd: rand.New(rand.NewPCG(seed, 7)), to: seed%3 == 0}
	r.git("init", "-q", "-b", "main")
	r.git("config", "gc.auto", "0")
	return r
}

func (r *repo) git(args ...string) string { r.t.Helper(); return r.gitIn("", args...) }

func (r *repo) gitIn(in string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		r.t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func id(t *testing.T, s string) (h [20]byte) {
	t.Helper()
	if n, err := hex.Decode(h[:], []byte(s)); err != nil || n != 20 {
		t.Fatalf("object id %q: %v", s, err)
	}
	return h
}

// trees maps each directory of commit to its tree id; none without a commit.
func (r *repo) trees(rev string) (dirs, files map[string][20]byte) {
	dirs, files = map[string][20]byte{}, map[string][20]byte{}
	if rev == "" {
		return dirs, files
	}
	dirs[""] = id(r.t, r.git("rev-parse", rev+"^{tree}"))
	for line := range strings.SplitSeq(r.git("ls-tree", "-r", "-t", "-z", rev), "\x00") {
		head, path, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		f := strings.Fields(head)
		if f[1] == "tree" {
			dirs[path] = id(r.t, f[2])
		} else {
			files[path] = id(r.t, f[2])
		}
	}
	return dirs, files
}

// mktree writes the trees of files with git mktree and returns the root.
func (r *repo) mktree(files map[string][20]byte) string {
	sub, lines := map[string]map[string][20]byte{}, []string{}
	for path, h := range files {
		name, rest, nested := strings.Cut(path, "/")
		if !nested {
			lines = append(lines, fmt.Sprintf("100644 blob %x\t%s\x00", h, name))
			continue
		}
		if sub[name] == nil {
			sub[name] = map[string][20]byte{}
		}
		sub[name][rest] = h
	}
	for name, below := range sub {
		lines = append(lines, fmt.Sprintf("040000 tree %s\t%s\x00", r.mktree(below), name))
	}
	return r.gitIn(strings.Join(lines, ""), "mktree", "-z")
}

func (r *repo) head() string {
	if _, err := os.Stat(filepath.Join(r.dir, ".git/refs/heads/main")); err != nil && r.git("for-each-ref") == "" {
		return ""
	}
	return r.git("rev-parse", "HEAD")
}

func (r *repo) index() *gitindex.File {
	r.t.Helper()
	name := filepath.Join(r.dir, ".git/index")
	b, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return gitindex.Empty()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	fi, err := os.Stat(name)
	if err != nil {
		r.t.Fatal(err)
	}
	f, err := gitindex.Parse(b)
	if err != nil {
		r.t.Fatal(err)
	}
	return f.WithTimestamp(uint32(fi.ModTime().Unix()))
}

func lstat(t *testing.T, name string) gitindex.Stat {
	t.Helper()
	var s syscall.Stat_t
	if err := syscall.Lstat(name, &s); err != nil {
		t.Fatal(err)
	}
	return gitindex.Stat{
		CtimeSec: uint32(s.Ctim.Sec), CtimeNsec: uint32(s.Ctim.Nsec),
		MtimeSec: uint32(s.Mtim.Sec), MtimeNsec: uint32(s.Mtim.Nsec),
		Dev: uint32(s.Dev), Ino: uint32(s.Ino), UID: s.Uid, GID: s.Gid, Size: uint32(s.Size),
	}
}

var names = []string{"d0", "d0-x", "d0.y", "ü", "a b", `q"t`, "z"}

func (r *repo) path() string {
	p := names[r.rnd.IntN(len(names))]
	for range r.rnd.IntN(3) {
		p += "/" + names[r.rnd.IntN(len(names))]
	}
	return p + "/f" + []string{"", "-1", ".2"}[r.rnd.IntN(3)]
}

// write puts new content at path and returns its edit.
func (r *repo) write(path string) gitindex.Edit {
	r.t.Helper()
	r.n++
	name := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, "content %d\n", r.n), 0o666); err != nil {
		r.t.Fatal(err)
	}
	h := id(r.t, r.git("hash-object", "-w", "--", path))
	return gitindex.Edit{Path: path, Hash: h, Mode: 0o100644, Stat: lstat(r.t, name)}
}

// commit makes a commit of random edits, avoiding the paths in keep.
func (r *repo) commit(keep ...string) {
	r.t.Helper()
	head := r.head()
	_, files := r.trees(head)
	var edits []gitindex.Edit
	done := map[string]bool{}
	for range 1 + r.rnd.IntN(4) {
		path := r.path()
		if len(files) > 0 && r.rnd.IntN(2) == 0 {
			all := make([]string, 0, len(files))
			for p := range files {
				all = append(all, p)
			}
			slices.Sort(all)
			path = all[r.rnd.IntN(len(all))]
		}
		if done[path] || slices.Contains(keep, path) {
			continue
		}
		done[path] = true
		if _, ok := files[path]; ok && r.rnd.IntN(2) == 0 {
			if err := os.Remove(filepath.Join(r.dir, path)); err != nil {
				r.t.Fatal(err)
			}
			delete(files, path)
			edits = append(edits, gitindex.Edit{Path: path, Remove: true})
			continue
		}
		e := r.write(path)
		files[path] = e.Hash
		edits = append(edits, e)
	}
	args := []string{"commit-tree", r.mktree(files), "-m", "x"}
	if head != "" {
		args = append(args, "-p", head)
	}
	next := r.git(args...)
	r.git("update-ref", "refs/heads/main", next)
	r.apply(edits)
}

func (r *repo) apply(edits []gitindex.Edit) {
	r.t.Helper()
	b, err := r.index().Apply(edits)
	if r.to {
		b, err = r.index().ApplyTo(edits, id(r.t, r.git("rev-parse", "HEAD^{tree}")), r.items)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".git/index"), b, 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// checkCacheTree compares each valid node with what git makes of a copy of the
// index that has no cache-tree.
func (r *repo) checkCacheTree() {
	r.t.Helper()
	f := r.index()
	nodes, err := gitindex.CacheTree(f)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.git("ls-files", "-u") != "" {
		return
	}
	name := filepath.Join(r.dir, ".git/copy")
	ls := r.git("ls-files", "-s", "-z")
	r.gitIndex(name, "", "read-tree", "--empty")
	r.gitIndex(name, ls, "update-index", "-z", "--index-info")
	dirs, _ := r.trees(r.gitIndex(name, "", "write-tree"))
	for dir, n := range nodes {
		if n.Count < 0 {
			continue
		}
		prefix, count := dir+"/", 0
		if dir == "" {
			prefix = ""
		}
		for range f.Under(prefix) {
			count++
		}
		if n.Count != count || n.ID != dirs[dir] {
			r.t.Fatalf("cache-tree %q: %d %x, want %d %x", dir, n.Count, n.ID, count, dirs[dir])
		}
	}
	if err := os.Remove(name); err != nil {
		r.t.Fatal(err)
	}
}

// gitIndex runs git on another index file.
func (r *repo) gitIndex(index, in string, args ...string) string {
	r.t.Helper()
	alias := append([]string{"-c", "alias.with=!GIT_INDEX_FILE=" + index + " git", "with"}, args...)
	return r.gitIn(in, alias...)
}

// check compares the index with HEAD; nothing may differ.
func (r *repo) check() {
	r.t.Helper()
	r.checkCacheTree()
	if n := r.checkDiff(""); r.to && n > 0 {
		r.t.Fatalf("%d trees are read after ApplyTo", n)
	}
	// Staged differences first: status alone would refresh the index.
	if s := r.git("diff-index", "--cached", "HEAD"); s != "" {
		r.t.Fatalf("phantom staged files:\n%s", s)
	}
	if s := r.git("--no-optional-locks", "status", "--porcelain"); s != "" {
		r.t.Fatalf("status:\n%s", s)
	}
	ls := r.git("ls-files", "-s")
	tree := r.git("ls-tree", "-r", "--format=%(objectmode) %(objectname) 0%x09%(path)", "HEAD")
	if ls != tree {
		r.t.Fatalf("index\n%s\ntree\n%s", ls, tree)
	}
	// write-tree stores a cache-tree of its own, so only now and then.
	if r.rnd.IntN(4) == 0 {
		if w, h := r.git("write-tree"), r.git("rev-parse", "HEAD^{tree}"); w != h {
			r.t.Fatalf("write-tree %s, HEAD %s", w, h)
		}
	}
}
