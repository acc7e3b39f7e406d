package merge

import (
	"strings"
	"testing"
	"time"
)

// A paragraph of many lines is one unit, built once: with a copy for each line this one takes ten minutes.
func TestALongParagraphIsOneUnit(t *testing.T) {
	t.Parallel()
	const lines = 1 << 18
	begun := time.Now()
	got := units([]byte("# Head\n\n" + strings.Repeat("a b c\n", lines) + "\n- item\n"))
	if len(got) != 3 || len(got[1].text) != 6*lines-1 || len(got[1].raw) != 6*lines-1 {
		t.Error(len(got))
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Error(took)
	}
}
