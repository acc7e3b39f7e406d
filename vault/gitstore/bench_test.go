package gitstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stet/vault/durable"
)

// BenchmarkBulkObjects reads many files of 1 KB and stores them as "remember
// --batch" and the first adopt do, to the last fsync, and right after it lets the
// real git store the same files with "git add .". It reports how many times as
// quick that is. Bound: 4. STET_FULL=1 takes 100,000 files as well.
func BenchmarkBulkObjects(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("skip: the ratio needs the real git")
	}
	sizes := []int{10_000}
	if os.Getenv("STET_FULL") != "" {
		sizes = append(sizes, 100_000)
	}
	for _, files := range sizes {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			src := b.TempDir()
			paths := fill(b, src, files)
			var ours, theirs []float64
			for b.Loop() {
				ours = append(ours, storeAll(b, paths))
				theirs = append(theirs, addAll(b, src))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			mid := len(ours) / 2
			b.ReportMetric(theirs[mid]/ours[mid], "x-as-quick")
			b.ReportMetric(float64(files)/ours[mid], "files/s")
			b.ReportMetric(float64(files)/theirs[mid], "git-files/s")
		})
	}
}

// fill writes notes of about 1 KB into 200 folders.
func fill(b *testing.B, dir string, files int) (paths []string) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		at := filepath.Join(dir, "notes", fmt.Sprintf("d%03d", i%200))
		if err := os.MkdirAll(at, 0o777); err != nil {
			b.Fatal(err)
		}
		text := fmt.Appendf(nil, "# Note %d\n\n", i)
		for range 150 {
			text = fmt.Appendf(text, "w%x ", rng.IntN(5000))
		}
		paths = append(paths, filepath.Join(at, fmt.Sprintf("n%d.md", i)))
		if err := os.WriteFile(paths[i], append(text, '\n'), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	return paths
}

// storeAll returns the seconds that reading and storing take.
func storeAll(b *testing.B, paths []string) float64 {
	b.Helper()
	dir := b.TempDir()
	if err := Create(dir, nil); err != nil {
		b.Fatal(err)
	}
	loc, err := Locate(dir)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	r, err := Open(loc, noEnv, nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := r.root.MkdirAll("bench", "stet/tmp", 0o755); err != nil {
		b.Fatal(err)
	}
	o := r.Stage()
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			b.Fatal(err)
		}
		o.PutBlob(data)
	}
	var batch durable.Batch
	f, err := o.Flush("stet/tmp", &batch)
	if err != nil {
		b.Fatal(err)
	}
	mark, err := r.EnsureMark("stet")
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(batch.Sync(), f.Publish(mark), f.Release(), r.Close()); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

// addAll returns the seconds that "git add ." takes in a new repository.
func addAll(b *testing.B, src string) float64 {
	b.Helper()
	gitDir := filepath.Join(b.TempDir(), "git")
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"--git-dir", gitDir, "--work-tree", src}, args...)...)
		cmd.Dir, cmd.Env = src, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	start := time.Now()
	git("add", ".")
	return time.Since(start).Seconds()
}
