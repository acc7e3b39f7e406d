package embed_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stet/index/embed"
	"stet/vault/durable"
	"stet/vault/filelock"
)

func cache(t *testing.T, dir, model string) *embed.Cache {
	t.Helper()
	root, err := durable.OpenRoot(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	c := embed.NewCache(root, model)
	if err := c.Load(); err != nil {
		t.Fatal(err)
	}
	return c
}

func vectorOf(n int) []float32 { return []float32{float32(n), 1, -0.5} }

func add(t *testing.T, c *embed.Cache, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := c.Add(t.Context(), []embed.Key{{byte(n)}}, [][]float32{vectorOf(n)}); err != nil {
			t.Fatal(err)
		}
	}
}

func known(c *embed.Cache, n int) bool {
	got := c.Get(embed.Key{byte(n)})
	return got != nil && slices.Equal(got, vectorOf(n))
}

func fileOf(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "vectors-*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of vectors: %v, %v", found, err)
	}
	return found[0]
}

func TestCacheKeepsVectorsOfOneModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := cache(t, dir, "m"), cache(t, dir, "m")
	add(t, a, 1, 2)
	if err := b.Load(); err != nil || !known(b, 1) || !known(b, 2) || b.Dims() != 3 {
		t.Errorf("the other process knows nothing: %v", err)
	}
	if other := cache(t, dir, "n"); known(other, 1) {
		t.Error("another model has this one's vectors")
	}
	if err := a.Add(t.Context(), []embed.Key{{9}}, [][]float32{{1}}); !errors.Is(err, embed.ErrAbsurd) {
		t.Errorf("a vector of another length: %v", err)
	}
	if err := a.Keep(t.Context(), func(k embed.Key) bool { return k[0] == 2 }); err != nil {
		t.Fatal(err)
	}
	if c := cache(t, dir, "m"); known(c, 1) || !known(c, 2) {
		t.Error("Keep kept the wrong ones")
	}
}

// Whatever becomes of the file, a vector is right or not there, the others
// are, and the next vector is kept beside them.
func TestCacheSurvivesDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	add(t, cache(t, dir, "m"), 1, 2, 3)
	name := fileOf(t, dir)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var damaged [][]byte
	for n := range len(whole) {
		damaged = append(damaged, whole[:n])
	}
	for range 200 {
		b := slices.Clone(whole)
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		damaged = append(damaged, b)
	}
	for _, data := range damaged {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c := cache(t, dir, "m")
		before := 0
		for n := 1; n <= 3; n++ {
			if c.Get(embed.Key{byte(n)}) != nil && !known(c, n) {
				t.Fatalf("a wrong vector of %d after damage", n)
			}
			if known(c, n) {
				before++
			}
		}
		add(t, c, 4)
		after := cache(t, dir, "m")
		n := 0
		for i := 1; i <= 3; i++ {
			if known(after, i) {
				n++
			}
		}
		if !known(after, 4) || n != before {
			t.Fatalf("after damage %d vectors, after the next %d and the new one: %v", before, n, known(after, 4))
		}
	}
}

func TestCacheDoesNotWaitForAnotherWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := durable.OpenRoot(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	lock, err := filelock.Acquire(t.Context(), root, "vectors.lock", filelock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := cache(t, dir, "m")
	add(t, c, 1)
	if !known(c, 1) {
		t.Error("what could not be written is forgotten at once")
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if known(cache(t, dir, "m"), 1) {
		t.Error("written without the lock")
	}
}
