package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"stet/vault/durable"
)

// TestPacksOfGitAreReadAsGitReadsThem covers deltas of both kinds, large offsets
// excepted, and objects of every type.
func TestPacksOfGitAreReadAsGitReadsThem(t *testing.T) {
	t.Parallel()
	_, dir := newRepo(t)
	rng := rand.New(rand.NewPCG(1, 1))
	lines := make([]string, 400)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", rng.Int())
	}
	for i := range 60 {
		lines[rng.IntN(len(lines))] = fmt.Sprint("changed ", i)
		name := filepath.Join(dir, fmt.Sprintf("f%d.md", i%3))
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-q", "-m", fmt.Sprint("c", i))
	}
	runGit(t, dir, "tag", "-a", "-m", "annotated", "v1")
	for _, args := range [][]string{
		{"repack", "-a", "-d", "-q", "--depth=50", "--window=50"},
		{"-c", "repack.useDeltaBaseOffset=false", "repack", "-a", "-d", "-f", "-q", "--depth=30"},
	} {
		runGit(t, dir, args...)
		if left := runGit(t, dir, "count-objects"); !strings.HasPrefix(left, "0 ") {
			t.Fatalf("not all objects are packed: %s", left)
		}
		again := openRepo(t, dir)
		deltas := strings.Count(runGit(t, dir, "verify-pack", "-v", packFiles(t, dir, ".idx")[0]), "\n")
		n := 0
		for line := range strings.Lines(runGit(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) %(objectsize)")) {
			var hex, kind string
			var size int
			if _, err := fmt.Sscan(line, &hex, &kind, &size); err != nil {
				t.Fatal(err)
			}
			id, err := ParseID(hex)
			if err != nil {
				t.Fatal(err)
			}
			obj, found := again.packs.object(id)
			if !found || obj.kind.String() != kind || len(obj.data) != size || hashOf(obj.kind, obj.data) != id {
				t.Fatalf("%s %s of %d bytes: found %v, %s of %d bytes", kind, hex, size, found, obj.kind, len(obj.data))
			}
			n++
		}
		if n < 180 || deltas < n {
			t.Fatalf("%d objects, %d lines of verify-pack: the test lost its subject", n, deltas)
		}
	}
}

// TestDamagedPackIsNeverBelieved flips each byte in turn of a small pack and of
// its index: an object is read right or not at all.
func TestDamagedPackIsNeverBelieved(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	texts := map[ID]string{}
	objects := r.Stage()
	for i := range 3 {
		text := strings.Repeat(fmt.Sprint("text ", i, " "), 5)
		texts[objects.PutBlob([]byte(text))] = text
	}
	flush(t, objects)
	again := openRepo(t, dir)
	for _, ext := range []string{".pack", ".idx"} {
		name := packFiles(t, dir, ext)[0]
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		must(t, os.Chmod(name, 0o644))
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 8)
			must(t, os.WriteFile(name, bad, 0o644))
			again.packs.close()
			again.newPacks()
			for id, text := range texts {
				if data, err := again.Stage().Blob(id); err == nil && string(data) != text || err != nil && !errors.Is(err, ErrMissing) {
					t.Fatalf("byte %d of %s flipped: %q, %v", i, ext, data, err)
				}
			}
		}
		must(t, os.WriteFile(name, good, 0o644))
	}
}

func TestMergedPacksKeepEveryObjectInFewPacks(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	reader := openRepo(t, dir) // another process, with its own idea of the packs
	var ids []ID
	rng := rand.New(rand.NewPCG(2, 2))
	most := 0
	for i := range 300 {
		objects := r.Stage()
		data := make([]byte, 20+rng.IntN(3000))
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		ids = append(ids, objects.PutBlob(data))
		if i%5 == 0 {
			objects.PutBlob([]byte("the same again")) // in many packs
		}
		flush(t, objects)
		must(t, r.markIn("stet").MergePacks("stet/tmp"))
		most = max(most, len(packFiles(t, dir, ".pack")))
		for _, id := range []ID{ids[i], ids[rng.IntN(len(ids))]} {
			if _, err := reader.Stage().Blob(id); err != nil {
				t.Fatalf("after %d packs: %v", i+1, err)
			}
		}
	}
	if most > 3*mergeAt {
		t.Errorf("up to %d packs at once", most)
	}
	again := openRepo(t, dir)
	for _, id := range ids {
		if _, err := again.Stage().Blob(id); err != nil {
			t.Fatal(err)
		}
	}
	if out := runGit(t, dir, "fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Errorf("fsck: %s", out)
	}
	if out := runGit(t, dir, "count-objects", "-v"); !strings.Contains(out, "garbage: 0\n") {
		t.Errorf("count-objects: %s", out)
	}
}

// TestAPackThatGoesBehindTheListIsNoticed: whoever lists packs while another
// process puts them together may list none that is still there when it looks.
func TestAPackThatGoesBehindTheListIsNoticed(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	var ids []ID
	for i := range mergeAt {
		objects := r.Stage()
		ids = append(ids, objects.PutBlob(fmt.Append(nil, "text ", i)))
		flush(t, objects)
	}
	reader := openRepo(t, dir)
	reader.packs.list()
	must(t, r.markIn("stet").MergePacks("stet/tmp"))
	if _, found := reader.packs.object(ids[0]); found || !reader.packs.gone {
		t.Errorf("found %v, gone %v", found, reader.packs.gone)
	}
	reader.newPacks()
	if _, found := reader.packs.object(ids[0]); !found || reader.packs.gone {
		t.Errorf("in a fresh list: found %v, gone %v", found, reader.packs.gone)
	}
	var none ID
	none[0] = 1
	if _, err := reader.Stage().Blob(none); !errors.Is(err, ErrMissing) || reader.packs.gone {
		t.Errorf("an object that nobody has: %v", err)
	}
}

func TestMergePacksLeavesAloneWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"kept packs": func(t *testing.T, dir string) {
			for _, p := range packFiles(t, dir, ".pack") {
				must(t, os.WriteFile(strings.TrimSuffix(p, ".pack")+".keep", nil, 0o644))
			}
		},
		"multi-pack-index": func(t *testing.T, dir string) { runGit(t, dir, "multi-pack-index", "write") },
		"packs of git": func(t *testing.T, dir string) {
			for i := range 2 * mergeAt {
				id := strings.TrimSpace(runGit(t, dir, "hash-object", "-w", filepath.Join(dir, ".git/HEAD")))
				must(t, os.WriteFile(filepath.Join(dir, "x"), fmt.Append(nil, "of git ", i), 0o644))
				other := strings.TrimSpace(runGit(t, dir, "hash-object", "-w", filepath.Join(dir, "x")))
				cmd := exec.Command("git", "-C", dir, "pack-objects", "-q", filepath.Join(dir, ".git/objects/pack/pack"))
				cmd.Stdin = strings.NewReader(id + "\n" + other + "\n")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			for _, p := range packFiles(t, dir, ".pack") { // ours, which came first
				if data, err := os.ReadFile(p); err == nil && bytes.Contains(data, []byte(fastest)) {
					must(t, os.Remove(p), os.Remove(strings.TrimSuffix(p, ".pack")+".idx"))
				}
			}
		},
		"damaged packs": func(t *testing.T, dir string) {
			for _, p := range packFiles(t, dir, ".pack") {
				data, err := os.ReadFile(p)
				must(t, err, os.Chmod(p, 0o644))
				data[len(data)/2] ^= 1
				must(t, os.WriteFile(p, data, 0o644))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := newRepo(t)
			for i := range 2 * mergeAt {
				objects := r.Stage()
				objects.PutBlob(fmt.Append(nil, strings.Repeat("x", 100), i))
				flush(t, objects)
			}
			prepare(t, dir)
			before := packFiles(t, dir, "")
			must(t, r.markIn("stet").MergePacks("stet/tmp"))
			if after := packFiles(t, dir, ""); strings.Join(after, " ") != strings.Join(before, " ") {
				t.Errorf("before %d files, after %d", len(before), len(after))
			}
		})
	}
}

func TestHalvesOfAPackGo(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	objects := r.Stage()
	id := objects.PutBlob([]byte("hello\n"))
	flush(t, objects)
	pack, idx := packFiles(t, dir, ".pack")[0], packFiles(t, dir, ".idx")[0]
	// Killed between the two names: the index still waits aside.
	temp := filepath.Join(dir, ".git/stet/tmp", filepath.Base(idx))
	must(t, os.Rename(idx, temp))
	must(t, r.DropHalf("pack-unknown.part"), r.DropHalf(filepath.Base(idx)))
	if _, err := os.Stat(pack); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pack without an index is still there: %v", err)
	}
	// Killed between the two removals.
	must(t, os.Rename(temp, idx))
	must(t, r.markIn("stet").MergePacks("stet/tmp"))
	if left := packFiles(t, dir, ""); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	// A whole pack whose index also waits aside, of a write repeated, stays.
	objects = r.Stage()
	objects.PutBlob([]byte("hello\n"))
	flush(t, objects)
	must(t, r.DropHalf(filepath.Base(idx)))
	if _, err := r.Stage().Blob(id); err != nil {
		t.Error(err)
	}
}

// TestMergePacksFailsSafe lets each step fail in turn: no object is ever missing.
func TestMergePacksFailsSafe(t *testing.T) {
	t.Parallel()
	for fail := 1; ; fail++ {
		_, dir := newRepo(t)
		steps, hook := 0, func(durable.Step) error { return nil }
		loc, err := Locate(dir)
		must(t, err)
		r, err := Open(loc, noEnv, func(s durable.Step) error { return hook(s) })
		must(t, err)
		var ids []ID
		for i := range mergeAt {
			objects := r.Stage()
			ids = append(ids, objects.PutBlob(fmt.Append(nil, "text ", i)))
			flush(t, objects)
		}
		hook = func(durable.Step) error {
			if steps++; steps == fail {
				return errors.New("injected")
			}
			return nil
		}
		err = r.markIn("stet").MergePacks("stet/tmp")
		hook = func(durable.Step) error { return nil }
		if steps < fail {
			must(t, err, r.Close())
			if fail < 8 {
				t.Fatalf("only %d steps: nothing was merged", steps)
			}
			return
		}
		if err == nil {
			t.Errorf("step %d failed and nobody was told", fail)
		}
		again := openRepo(t, dir)
		for _, id := range ids {
			if obj, err := again.object(plumbing.BlobObject, id); err != nil {
				t.Errorf("after a failure of step %d: %q, %v", fail, obj, err)
			}
		}
		must(t, r.Close())
	}
}

func packFiles(t *testing.T, dir, ext string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*"+ext))
	must(t, err)
	return names
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
