package vault_test

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/vault"
	"stet/vault/vaulttest"
)

// scaleRapid fixes the seed and the number of runs. It must be called before
// t.Parallel, so that no property runs while the flags change.
func scaleRapid(t *testing.T) {
	t.Helper()
	checks := "10"
	switch {
	case os.Getenv("STET_FULL") != "":
		checks = "100"
	case testing.Short():
		checks = "2"
	}
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.seed": "20261121", "rapid.shrinktime": "5s", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// A machine drives one vault through operations and what people do beside it,
// and keeps two models: what must be committed and what must be on disk.
type machine struct {
	t     *testing.T
	dir   string
	o     vault.Options
	v     *vault.Vault
	head  map[string]string
	disk  map[string]string
	dirs  int
	last  *operation // the newest of stet's operations, nil when something else came after
	count map[string]int
}

// An operation is what undo has to take back.
type operation struct {
	before map[string]string // HEAD's files at its paths before its own commit
	purge  bool              // what it took out is never brought back by an undo
}

func TestEveryOperationBesidePeopleAgainstAModel(t *testing.T) {
	scaleRapid(t)
	t.Parallel()
	count := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, rt, count)
		actions := m.operations()
		maps.Copy(actions, m.people())
		if vaulttest.HaveGit() {
			maps.Copy(actions, m.git())
		}
		for name, act := range actions {
			actions[name] = func(rt *rapid.T) { act(rt); count[name]++ }
		}
		actions[""] = m.check
		rt.Repeat(actions)
		m.end(rt)
	})
	t.Logf("actions: %v", count)
}

func newMachine(t *testing.T, rt *rapid.T, count map[string]int) *machine {
	dir, err := os.MkdirTemp(t.TempDir(), "vault")
	if err != nil {
		rt.Fatal(err)
	}
	f := vaulttest.Fixture{Dir: dir, Clock: vaulttest.NewClock()}
	m := &machine{t: t, dir: dir, o: f.Options(), count: count}
	m.write(rt, "notes/mine.md", "# Mine\n\nline one\nline two\n")
	m.write(rt, "MEMORY.md", "- core\n")
	if _, err := vault.Init(context.Background(), dir, vault.InitOptions{}, m.o); err != nil {
		rt.Fatal(err)
	}
	m.reopen(rt)
	m.disk = m.readDisk(rt)
	m.head = maps.Clone(m.disk)
	return m
}

func (m *machine) reopen(rt *rapid.T) {
	if m.v != nil {
		if err := m.v.Close(); err != nil {
			rt.Fatal(err)
		}
	}
	v, err := vault.Open(context.Background(), m.dir, m.o)
	if err != nil {
		rt.Fatal(err)
	}
	m.v = v
	rt.Cleanup(func() {
		if m.v == v {
			_ = v.Close() // the machine is done with it
		}
	})
}

// check is the invariant after every action.
func (m *machine) check(rt *rapid.T) {
	same(rt, "disk", m.disk, m.readDisk(rt))
	same(rt, "HEAD", m.head, m.readHead(rt))
}

func same(rt *rapid.T, what string, model, real map[string]string) {
	for _, p := range slices.Sorted(maps.Keys(model)) {
		if have, ok := real[p]; !ok {
			rt.Errorf("%s lost %s (%q)", what, p, model[p])
		} else if have != model[p] {
			rt.Errorf("%s has %q at %s, want %q", what, have, p, model[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(real)) {
		if _, ok := model[p]; !ok {
			rt.Errorf("%s has %s besides", what, p)
		}
	}
	if rt.Failed() {
		rt.FailNow()
	}
}

func (m *machine) readDisk(rt *rapid.T) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(m.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(m.dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

func (m *machine) readHead(rt *rapid.T) map[string]string {
	out := map[string]string{}
	s, err := m.v.History().View(context.Background(), "")
	if err != nil {
		rt.Fatal(err)
	}
	for p := range s.Files() {
		data, _, err := s.Read(p)
		if err != nil {
			rt.Fatal(err)
		}
		out[string(p)] = string(data)
	}
	return out
}

// end commits everything and wants the three places to agree.
func (m *machine) end(rt *rapid.T) {
	if _, err := m.v.Adopt(context.Background(), vault.AdoptOptions{All: true, Yes: true}); err != nil {
		rt.Fatalf("adopt at the end: %v", err)
	}
	same(rt, "HEAD after the last adopt", m.disk, m.readHead(rt))
	same(rt, "disk after the last adopt", m.disk, m.readDisk(rt))
	if vaulttest.HaveGit() {
		// Staged and removed from disk: it stays staged, being a person's.
		out, err := vaulttest.Git(m.dir, "status", "--porcelain", "-z")
		for entry := range strings.SplitSeq(out, "\x00") {
			if name, ok := strings.CutPrefix(entry, "AD "); ok && err == nil {
				_, err = vaulttest.Git(m.dir, "rm", "-q", "--cached", "--", name)
			}
		}
		if err != nil {
			rt.Fatal(err)
		}
	}
	for _, problem := range vaulttest.Problems(m.dir) {
		rt.Errorf("check at the end: %s", problem)
	}
}

// memories are the paths of a class in the disk model, in order.
func (m *machine) paths(keep func(vault.Path) bool) []string {
	var out []string
	for p := range m.disk {
		if keep(vault.Path(p)) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// pick draws one of some paths and skips the action when there is none.
func pick(rt *rapid.T, paths []string) string {
	if len(paths) == 0 {
		rt.Skip("nothing to act on")
	}
	return rapid.SampledFrom(paths).Draw(rt, "path")
}

func isMemory(p vault.Path) bool { return vault.ClassOf(p) == vault.ClassMemory }
func isMine(p vault.Path) bool   { return p.IsMarkdown() && vault.ClassOf(p) != vault.ClassConfig }

// text draws a few lines, some with CRLF, some without an end.
func text(rt *rapid.T) string {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta", "gamma", "grün", "été", "- item", "# Head"}), 1, 4).Draw(rt, "words")
	eol := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(rt, "eol")
	out := strings.Join(words, eol)
	if rapid.Bool().Draw(rt, "end") {
		out += eol
	}
	return out
}

// done takes a successful operation into the models: at the paths it names,
// and nowhere else, HEAD and disk are now one.
func (m *machine) done(rt *rapid.T, res *vault.Result, undoable bool) {
	before, real := map[string]string{}, m.readHead(rt)
	for i, own := range res.Commits {
		s, err := m.v.History().View(context.Background(), string(own.Parents[0]))
		if err != nil {
			rt.Fatal(err)
		}
		full, err := m.v.History().CommitAt(context.Background(), string(own.Rev))
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range full.Changes {
			for _, p := range []string{string(c.Path), string(c.From)} {
				if p == "" {
					continue
				}
				if i == len(res.Commits)-1 {
					before[p] = absentFile
					if data, _, err := s.Read(vault.Path(p)); err == nil && data != nil {
						before[p] = string(data)
					}
				}
				if data, ok := real[p]; ok {
					m.head[p], m.disk[p] = data, data
				} else {
					delete(m.head, p)
					delete(m.disk, p)
				}
			}
		}
	}
	if !res.Unchanged {
		m.last = nil
		if undoable {
			m.last = &operation{before: before}
		}
	}
}

const absentFile = "\x00absent"

// wants compares the model with what an undo had to bring back.
func (m *machine) wants(rt *rapid.T, what string, before map[string]string) {
	for p, want := range before {
		if have, ok := m.head[p]; want == absentFile && ok || want != absentFile && have != want {
			rt.Errorf("%s: HEAD has %q at %s, want %q", what, have, p, want)
		}
	}
}

// refused accepts an error of a kind that changes nothing.
func refused(rt *rapid.T, op string, err error, kinds ...error) bool {
	if err == nil {
		return false
	}
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return true
		}
	}
	rt.Fatalf("%s: %v", op, err)
	return true
}

func (m *machine) write(rt *rapid.T, p, content string) {
	full := filepath.Join(m.dir, filepath.FromSlash(p))
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	if err == nil {
		err = os.WriteFile(full, []byte(content), 0o644)
	}
	if err != nil {
		rt.Fatal(err)
	}
	if m.disk != nil {
		m.disk[p] = content
	}
}
