package vault_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

// The sabotage tests: with any one fsync of a write left out, the power sweep
// must find damage. So the sweep sees what it is there to see, and no write
// waits for the disk without a reason.

// syncsOf lists the fsyncs of a recorded run, each one once.
func (r *powerRun) syncsOf() []durabletest.StepInfo {
	var out []durabletest.StepInfo
	for _, s := range r.disk.Steps() {
		if (s.Op == durable.OpSync || s.Op == durable.OpSyncDir) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func TestEveryFsyncIsNeeded(t *testing.T) {
	t.Parallel()
	for _, op := range append(crashOps(), lostMark()) {
		switch op.name {
		case "batch", "each", "subfolder", "detached":
			if !full() {
				continue // the same fsyncs, more often
			}
		}
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			r := recordPower(t, op)
			r.trust() // TestPowerLossLeavesOldOrNew tries them
			syncs := slices.DeleteFunc(r.syncsOf(), func(s durabletest.StepInfo) bool {
				// Of the very first write the journal syncs the same folder anew. What goes with its folder is on the disk
				// already, here; else TestAFolderThatWasNeverSyncedMovesWhole.
				return op.name == "first-use" && s.Label == "lockmark" || r.ofFolder(s, r.disk.Steps())
			})
			tried := syncs
			if testing.Short() {
				tried = onePerKind(syncs)
			}
			for _, s := range tried {
				r.sabotage(t, s)
			}
			t.Logf("%d of %d fsyncs left out, one at a time", len(tried), len(syncs))
		})
	}
}

// lostMark is a write after somebody removed the lock mark alone.
func lostMark() crashOp {
	return crashOp{
		name: "lost-mark", run: rememberOne,
		prepare: func(f *crashFixture) {
			f.commit()
			must(os.Remove(filepath.Join(f.dir, ".git/stet/lockmark")))
		},
	}
}

// onePerKind takes the first step of each label and operation.
func onePerKind(steps []durabletest.StepInfo) []durabletest.StepInfo {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(steps), func(s durabletest.StepInfo) bool {
		kind := s.Label + " " + string(s.Op)
		defer func() { seen[kind] = true }()
		return seen[kind]
	})
}

// sabotage makes one fsync count for nothing and demands that some image is
// then damaged: of the write by itself, or of one that follows a killed one.
func (r *powerRun) sabotage(t *testing.T, s durabletest.StepInfo) {
	t.Helper()
	name := strings.ReplaceAll(s.String(), r.dir, "")
	damage := r.damage(s, r.dir)
	if damage == "" && s.Label == "file" && s.Op == durable.OpSyncDir {
		// A swap is durable with either of its folders, and a write that takes a
		// file out syncs our own folder, too.
		damage = r.damage(s, r.dir, filepath.Join(r.dir, filepath.FromSlash(ownTemp)))
	}
	if damage == "" && s.Label == "file" && s.Op == durable.OpSyncDir { // so is the rename of a folder
		var also []string
		for _, to := range r.renamed(r.disk.Steps()) {
			also = append(also, filepath.Dir(to))
		}
		damage = r.damage(s, r.dir, also...)
	}
	if damage == "" && strings.Contains(filepath.ToSlash(s.Path), "/.git") {
		for _, k := range r.afterKills(t) {
			if damage = k.damage(s, r.dir); damage != "" {
				break
			}
		}
	}
	if damage == "" {
		t.Errorf("without %s every image is whole: it is not needed, or the check is blind", name)
		return
	}
	t.Logf("without %s: %s", name, cut(damage))
}

// ownTemp is the folder of unfinished files of a vault at the top of a
// repository.
const ownTemp = ".git/stet/e3b0c442/tmp"

// damage leaves out the fsync s, recorded in folder dir, and those of the folders
// also, and describes the first damaged image, "" when there is none.
func (r *powerRun) damage(s durabletest.StepInfo, dir string, also ...string) string {
	same := append(also, strings.Replace(s.Path, dir, r.dir, 1))
	r.disk.Sabotage(func(x durable.Step) bool { return x.Op == s.Op && x.Label == s.Label && slices.Contains(same, x.Path) })
	defer r.disk.Sabotage(nil)
	for m := range r.disk.Images(powerRand(), durabletest.Modes()...) {
		if m.N < r.start || r.good[m.Key()] {
			continue
		}
		if _, err := r.inspect(m, false); err != nil {
			return fmt.Sprintf("%v: %v", m, err)
		}
	}
	return ""
}

// trust notes which images the sweep finds whole while every fsync counts.
func (r *powerRun) trust() {
	for m := range r.disk.Images(powerRand(), durabletest.Modes()...) {
		r.good[m.Key()] = true
	}
}

// afterKills are runs that follow a kill among the first steps, up to where the
// journal has its name.
func (r *powerRun) afterKills(t *testing.T) []*powerRun {
	t.Helper()
	if r.killed == nil {
		for n, s := range r.steps {
			if s.Op != durable.OpMkdir && s.Op != durable.OpRename {
				continue
			}
			k := r.prepared.afterKill(t, n+1)
			k.trust()
			r.killed = append(r.killed, k)
			if s.Label == "journal" {
				break
			}
		}
	}
	return r.killed
}

// TestFsyncsOfAWrite holds the number of fsyncs of each write against what its
// commit consists of. [TestEveryFsyncIsNeeded] shows that none can go.
func TestFsyncsOfAWrite(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"remember", "update", "forget", "revert", "adopt", "batch"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ops := crashOps()
			op := ops[slices.IndexFunc(ops, func(o crashOp) bool { return o.name == name })]
			p := prepareOp(t, op)
			dir := p.copyTo(t, filepath.Join(t.TempDir(), "repo"))
			before := listing(dir)
			var count durabletest.Counter
			v, err := vault.Open(ctxb(), p.vaultIn(dir), crashOptions(count.Hook))
			if err != nil {
				t.Fatal(err)
			}
			must(op.run(v))
			must(v.Close())
			want, why := expectedSyncs(before, listing(dir))
			t.Logf("%s: %d fsyncs: %s", name, count.Syncs(), why)
			if got := count.Syncs(); got != want {
				t.Errorf("%d fsyncs, want %d (%s):\n%s", got, want, why, syncList(count.Steps(), dir))
			}
		})
	}
}

func syncList(steps []durabletest.StepInfo, dir string) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Op == durable.OpSync || s.Op == durable.OpSyncDir {
			fmt.Fprintln(&b, strings.ReplaceAll(s.String(), dir, ""))
		}
	}
	return b.String()
}

// listing is every name below dir with the contents of files; folders end in a
// slash.
func listing(dir string) map[string]string {
	out := map[string]string{}
	must(filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(p, dir+string(filepath.Separator)))
		switch {
		case err != nil || p == dir:
		case d.IsDir():
			out[rel+"/"] = ""
		default:
			var data []byte
			data, err = os.ReadFile(p)
			out[rel] = string(data)
		}
		return err
	}))
	return out
}

// expectedSyncs works out from what stands on disk before and after a write how
// many fsyncs it needs at least.
func expectedSyncs(before, after map[string]string) (n int, why string) {
	objects, newFolder := 0, 0
	files, dirs := 0, map[string]bool{}
	for name, text := range after {
		old, was := before[name]
		switch dir := path.Dir(name) + "/"; {
		case was && old == text:
		case name == ".git/objects/pack/":
			newFolder = 1
		case strings.HasPrefix(name, ".git/objects/"):
			objects++
		case strings.HasPrefix(name, ".git/"):
		case strings.HasSuffix(name, "/"):
			dirs[path.Dir(strings.TrimSuffix(name, "/"))+"/"] = true
		default:
			files++
			dirs[dir] = true
		}
	}
	for name := range before {
		if _, is := after[name]; is || strings.HasPrefix(name, ".git/") || strings.HasSuffix(name, "/") {
			continue
		}
		dir := path.Dir(name) + "/"
		for dir != "./" && !has(after, dir) {
			dir = path.Dir(strings.TrimSuffix(dir, "/")) + "/"
		}
		dirs[dir] = true
	}
	const fixed = 6 // folder of the packs, journal, ref, folder of the ref, git index, git folder
	n = objects + newFolder + files + len(dirs) + fixed
	return n, fmt.Sprintf("%d for the pack, %d for its folder's name, %d files, %d folders of files and of new folders, %d for the rest",
		objects, newFolder, files, len(dirs), fixed)
}

func has(m map[string]string, k string) bool { _, ok := m[k]; return ok }
