package vault_test

import (
	"testing"

	"stet/vault/vaulttest"
)

func TestWhatOfTheArchiveCannotBeReadIsWithheld(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	f.Write("archive/a.md/x", "x") // a folder in the place of a file
	withheld, err := f.Open().State().Withheld(t.Context())
	if err != nil || !withheld("archive/a.md") || withheld("archive/none.md") {
		t.Errorf("%v; withheld what cannot be read: %v, what is not there: %v; want true and false", err,
			withheld("archive/a.md"), withheld("archive/none.md"))
	}
}
