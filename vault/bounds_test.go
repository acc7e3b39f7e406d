package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stet/markdown"
	"stet/vault"
	"stet/vault/vaulttest"
)

// More than fifty files, and more than one in five, must vanish at once before stet asks.
func TestMassDeletionBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ files, gone, missing int }{
		{60, 50, 0}, {60, 51, 51},
		{300, 60, 0}, {300, 61, 61},
	} {
		t.Run(fmt.Sprint(c.files, c.gone), func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t)
			f.LeaveDirty()
			v := f.Open()
			for i := range c.files - 1 { // .stet/config.yaml counts as well
				f.Write(fmt.Sprintf("memories/n%03d.md", i), fmt.Sprint("note ", i, "\n"))
			}
			if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
				t.Fatal(err)
			}
			for i := range c.gone {
				if err := os.Remove(filepath.Join(f.Dir, "memories", fmt.Sprintf("n%03d.md", i))); err != nil {
					t.Fatal(err)
				}
			}
			_, err := v.Adopt(t.Context(), vault.AdoptOptions{})
			var mass *vault.MassDeletionError
			if errors.As(err, &mass) != (c.missing > 0) || mass != nil && mass.Missing != c.missing {
				t.Fatalf("%d of %d gone: %v", c.gone, c.files, err)
			}
			if c.missing == 0 {
				return
			}
			if res, err := v.Adopt(t.Context(), vault.AdoptOptions{Yes: true}); err != nil || len(res.Adopted) != c.gone {
				t.Errorf("with yes: %v", err)
			}
		})
	}
}

// Windows gives no file the name of a device; names that only resemble one are free.
func TestDeviceNamesAreGivenToNoFile(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	for title, free := range map[string]bool{
		"CON": false, "prn": false, "Aux": false, "nul": false, "com1": false, "COM9": false, "com0": false, "lpt1": false, "LPT9": false,
		"com": true, "com10": true, "coma": true, "lpta": true, "conn": true, "auxiliary": true, "abc1": true,
	} {
		res, err := v.Remember(t.Context(), []vault.Note{{Title: title, Text: "What " + title + " is for."}}, vault.Write{})
		if err != nil {
			t.Fatal(err)
		}
		want, p := markdown.Fold(title)+".md", res.Memories[0].Path
		if (p.Base() == want) != free {
			t.Errorf("a memory called %q is %q", title, p)
		}
	}
}
