package snapshot

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A title may be as long as the file, which may be of short lines.
func TestTheLineOfALongTitleIsFoundInOneGo(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("a: 0\n"), 1<<20/5)
	began := time.Now()
	if line := lineWith(data, strings.Repeat("a: 0 ", 1<<20/5)); line != nil {
		t.Errorf("%q", line)
	}
	if line := lineWith(data, "a: 0"); string(line) != "a: 0\n" {
		t.Errorf("%q", line)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
