package snapshot_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/snapshot"
	"stet/vault"
)

const oldBlock = "<stet-context date=\"2026-01-01\">\nold\n  ```\n\n## x\n</stet-context>"
const newBlock = "<stet-context date=\"2026-02-02\">\nnew\n- a\n</stet-context>"

func TestABlockTakesThePlaceOfTheOldOneAndEveryOtherByteStays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ before, after string }{
		{"", newBlock + "\n"},
		{"\ufeff", "\ufeff" + newBlock + "\n"},
		{"# Mine\n", "# Mine\n\n" + newBlock + "\n"},
		{"# Mine", "# Mine\n\n" + newBlock + "\n"},
		{"# Mine\r\n", "# Mine\r\n\r\n" + strings.ReplaceAll(newBlock, "\n", "\r\n") + "\r\n"},
		{oldBlock, newBlock},
		{"\ufeff" + oldBlock + "\n", "\ufeff" + newBlock + "\n"},
		{"a \n" + oldBlock + " tail\n\n\n b", "a \n" + newBlock + " tail\n\n\n b"},
		{"a\r\n" + strings.ReplaceAll(oldBlock, "\n", "\r\n") + "\r\nb\n",
			"a\r\n" + strings.ReplaceAll(newBlock, "\n", "\r\n") + "\r\nb\n"},
		{"````\n" + oldBlock + "\n````\n" + oldBlock + "\n", "````\n" + oldBlock + "\n````\n" + newBlock + "\n"},
		{"say `<stet-context` and </stet-context>\n", "say `<stet-context` and </stet-context>\n\n" + newBlock + "\n"},
	} {
		got, err := snapshot.Embed([]byte(tc.before), newBlock+"\n")
		if err != nil || string(got) != tc.after {
			t.Errorf("%q became\n%q, want\n%q (%v)", tc.before, got, tc.after, err)
		}
		if again, err := snapshot.Embed(got, newBlock+"\n"); err != nil || string(again) != string(got) {
			t.Errorf("%q becomes %q the second time (%v)", got, again, err)
		}
	}
}

func TestAnUnclearBlockIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for before, line := range map[string]string{
		"a\n<stet-context date=\"2026-01-01\">\nold\n":                     "line 2: ",
		"a\n" + strings.TrimSuffix(oldBlock, "</stet-context>") + oldBlock: "line 2: ",
		"a\nb\n</stet-context>\n":                                          "line 3: ",
		oldBlock + "\n" + oldBlock + "\n":                                  "line 7: ",
		"a\n~~~\nb\n":                                                      "line 2: ",
		"~~~\n" + oldBlock + "\n":                                          "line 2: ",
	} {
		if got, err := snapshot.Embed([]byte(before), newBlock); !errors.Is(err, vault.ErrConflict) ||
			!strings.HasPrefix(err.Error(), line) {
			t.Errorf("%q: %q %v", before, got, err)
		}
	}
	if _, err := snapshot.Embed([]byte("\xff\xfea\x00"), newBlock); !errors.Is(err, vault.ErrInvalid) {
		t.Errorf("UTF-16: %v", err)
	}
}

// Whatever stands in the file: what is not the block comes out as it was, or nothing does.
func TestEmbedKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "\n", "\r\n", "```", "~~~\n", "<stet-context", "<stet-context date=\"2026-01-01\">\n",
		"\n</stet-context>", "\n" + oldBlock + "\n", "\ufeff", " ", "- x\n"}
	rapid.Check(t, func(r *rapid.T) {
		before := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(r, "pieces"), "")
		got, err := snapshot.Embed([]byte(before), newBlock+"\n")
		if err != nil {
			return
		}
		block := newBlock
		if !strings.Contains(string(got), block) {
			block = strings.ReplaceAll(newBlock, "\n", "\r\n")
		}
		head, tail, ok := strings.Cut(string(got), block)
		if !ok || !strings.HasPrefix(before, strings.TrimRight(head, "\r\n")) ||
			!strings.HasSuffix(before, tail) && strings.TrimSpace(tail) != "" {
			r.Errorf("%q became %q", before, got)
		}
		if again, err := snapshot.Embed(got, newBlock+"\n"); err != nil || string(again) != string(got) {
			r.Errorf("%q becomes %q the second time (%v)", got, again, err)
		}
	})
}
