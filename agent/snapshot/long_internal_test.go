package snapshot

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

// A brief reads the beginning of a long memory: one look for secrets at all of it takes more memory.
func TestALongMemoryIsReadInPart(t *testing.T) {
	f := vaulttest.New(t)
	const size = 3 << 20
	text := "The plums are ripe.\n" + strings.Repeat("[", size)
	p := vault.Path("memories/plums.md")
	f.Write(string(p), text)
	f.LeaveDirty()
	v := f.Open()
	standing := []index.Standing{{Path: p}}
	Clean("[" + text[:99]) // makes the patterns
	whole := allocated(func() { Clean(text) })
	var got *Excerpt
	var err error
	took := allocated(func() { got, err = Excerpts(t.Context(), v, standing, time.Now(), 100, 1000) })
	if err != nil || len(got.Items) != 1 || !strings.Contains(got.Items[0].text, "ripe") {
		t.Fatal(got, err)
	}
	if n := got.Items[0].Cut; n < size-100 || n > size {
		t.Errorf("%d characters are said to be left out", n)
	}
	if took > whole {
		t.Errorf("an excerpt took %d bytes of memory, masking the text %d", took, whole)
	}
}

// allocated is how many bytes of memory do takes; no test may run beside it.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
