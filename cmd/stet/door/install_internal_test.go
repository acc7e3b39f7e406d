package door

import (
	"strings"
	"testing"
)

// TestAbridged: whoever is asked sees a short difference whole and of a long one no part, which would look like a
// broken file.
func TestAbridged(t *testing.T) {
	t.Parallel()
	diff := "--- a/f\n+++ b/f\n@@ -1,2 +1,40 @@\n {\n-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n"
	if got := abridged(diff); got != diff {
		t.Errorf("a short one is %q", got)
	}
	diff += strings.Repeat("+  {\n+    \"timeout\": 5\n+  },\n", 9)
	if got, want := abridged(diff), "\\ 28 lines put in, 1 line taken out: --dry-run shows them\n"; got != want {
		t.Errorf("a long one is %q, want %q", got, want)
	}
}
