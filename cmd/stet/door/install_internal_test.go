package door

import (
	"fmt"
	"strings"
	"testing"
)

// TestAbridged: whoever is asked sees each thing that changes, and not the same brackets for each of many hooks.
func TestAbridged(t *testing.T) {
	t.Parallel()
	diff := "--- a/f\n+++ b/f\n@@ -1,2 +1,40 @@\n {\n-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n"
	for i := range 9 {
		diff += fmt.Sprintf("+  {\n+    \"command\": \"stet hook %d\",\n+    \"timeout\": 5\n+  },\n", i)
	}
	got := abridged(diff)
	for i := range 9 {
		if !strings.Contains(got, fmt.Sprintf("stet hook %d", i)) {
			t.Errorf("hook %d is not in %s", i, got)
		}
	}
	if n := strings.Count(got, "\n"); n > 18 || !strings.Contains(got, "24 more lines like these left out: --dry-run") {
		t.Errorf("%d lines: %s", n, got)
	}
	if !strings.HasPrefix(got, "--- a/f\n+++ b/f\n") {
		t.Errorf("the file is not named: %s", got)
	}
	if short := "+a\n+a\n"; abridged(short) != short {
		t.Error("a short one is abridged")
	}
}
