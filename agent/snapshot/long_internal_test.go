package snapshot

import (
	"strings"
	"testing"
	"time"

	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

// A brief reads the beginning of a long memory: one look for secrets at all of it takes longer.
func TestALongMemoryIsReadInPart(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	const size = 3 << 20
	text := "The plums are ripe.\n" + strings.Repeat("[", size)
	p := vault.Path("memories/plums.md")
	f.Write(string(p), text)
	f.LeaveDirty()
	v := f.Open()
	standing := []index.Standing{{Path: p}}
	Clean("[" + text[:99]) // makes the patterns
	began := time.Now()
	Clean(text)
	whole := time.Since(began)
	began = time.Now()
	got, err := Excerpts(t.Context(), v, standing, time.Now(), 100, 1000)
	took := time.Since(began)
	if err != nil || len(got.Items) != 1 || !strings.Contains(got.Items[0].text, "ripe") {
		t.Fatal(got, err)
	}
	if n := got.Items[0].Cut; n < size-100 || n > size {
		t.Errorf("%d characters are said to be left out", n)
	}
	if took > whole/3 {
		t.Errorf("an excerpt took %s, masking the text %s", took, whole)
	}
}
