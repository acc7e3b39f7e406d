package vault_test

import (
	"testing"
	"time"

	"stet/vault"
	"stet/vault/vaulttest"
)

// A clock that was never set, or runs before 1970, stops no write: what stet makes of it, git reads.
func TestAClockBefore1970(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{time.Date(1965, 3, 1, 12, 0, 0, 0, time.UTC), {}, time.Unix(0, 0)} {
		f := vaulttest.New(t)
		o := crashOptions(nil)
		o.Now = func() time.Time { return now }
		v, err := vault.Open(t.Context(), f.Dir, o)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		m := remember(t, v, "The gate code is 4711.")
		if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
			t.Errorf("%v: forget: %v", now, err)
		}
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Errorf("%v: undo: %v", now, err)
		}
		if got, err := v.Resolve(t.Context(), m.ID); err != nil || got.Problem != "" {
			t.Errorf("%v: %+v, %v", now, got, err)
		}
	}
}
