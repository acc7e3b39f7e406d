package watch

import (
	"testing"

	"stet/vault"
)

func TestTemporaryFilesAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".a.md.swp", ".a.md.swo", ".a.md.swx", ".swp.swp", "a.md~", "4913", ".#a.md", "#a.md#", "a.md.part", "a.md.tmp",
		"a.md.tmp.temp", "a.md___jb_tmp___", "a.md___jb_old___", ".goutputstream-XZ12AB", "sedAbCd12", ".~lock.a.md#", ".stet-tmp-1",
	} {
		if !temporary(vault.Path("memories/x/" + name)) {
			t.Errorf("%s is a person's file", name)
		}
	}
	for _, name := range []string{"a.md", "a.swp.md", "4913.md", "#tag.md", "sed.md", "sediments", "tilde~.md", ".a.svg", "part", "tmp.md", "swp"} {
		if temporary(vault.Path("memories/x/" + name)) {
			t.Errorf("%s is temporary", name)
		}
	}
}

func TestOnlyWhatCanMatterConcerns(t *testing.T) {
	t.Parallel()
	for p, want := range map[vault.Path]bool{
		"a.md": true, "x/a.MARKDOWN": true, "a.txt": false, ".a.md": false, "x/.a.md": false,
		"skills/a/b/run.sh": true, ".stet/config.yaml": true, "memories/a.bin": true,
	} {
		if concerns(p) != want {
			t.Errorf("concerns(%s) = %v", p, !want)
		}
	}
}
