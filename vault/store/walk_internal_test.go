package store

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a walk takes for a plain name is a path that ParsePath takes as it is.
func TestAPlainNameNeedsNoParsing(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9._~ -]{1,12}`), rapid.String(),
		rapid.SampledFrom([]string{"..", ".", ".git", "GIT~1", "git~1", ".git ", "a", "x.md", "git", strings.Repeat("a", 256)}))
	rapid.Check(t, func(t *rapid.T) {
		s := name.Draw(t, "name")
		if s == "" || strings.Contains(s, "/") || !simpleName(s) {
			return
		}
		for _, at := range []string{"", "notes/"} {
			if p, err := ParsePath(at + s); err != nil || p != Path(at+s) {
				t.Fatalf("%q is plain, but ParsePath says %q, %v", at+s, p, err)
			}
		}
	})
	if !simpleName("some-note_1.md") || simpleName(".hidden") || simpleName("git~1") {
		t.Error("the plain are not told from the others")
	}
}
