package vault_test

import (
	"strings"
	"testing"

	"stet/vault"
)

// A name is made of the beginning of a long text, which is cut where no secret is cut in two.
func TestANameHoldsNoPartOfASecret(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
	for blanks := range 1100 {
		n := vault.Note{Text: strings.Repeat("\n", blanks) + token}
		if got := n.Name("01m87wm0h36pxz0ydgdt99bebm"); !strings.HasPrefix(got, "memory-") {
			t.Fatalf("behind %d blanks: %s", blanks, got)
		}
	}
}
