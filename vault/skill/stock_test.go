package skill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"stet/vault"
	"stet/vault/skill"
	"stet/vault/vaulttest"
)

// One walk over many skills finds in each what a walk of its folder alone finds: links, skills inside of it and what
// git ignores as well.
func TestStockOfManyIsTheStockOfEach(t *testing.T) {
	t.Parallel()
	files := []string{".gitignore", "*.log\n/skills/s07/\n", "skills/s03/.gitignore", "*.tmp\n",
		"skills/s03/a.tmp", "x\n", "skills/s04/run.log", "x\n", "skills/s05/inner/SKILL.md", good,
		"skills/s05/inner/b.md", "b\n", "skills/s06/references/SKILL.md", good, "skills/s08/.hidden/x", "x\n"}
	for i := range 20 {
		at := fmt.Sprintf("skills/s%02d/", i)
		files = append(files, at+"SKILL.md", good, at+"Z.md", "z\n", at+"scripts/A.sh", "echo\n")
	}
	f := vaulttest.New(t, files...)
	f.LeaveDirty()
	v := f.Open()
	all, err := skill.All(t.Context(), v, false)
	if err != nil || len(all) < 20 {
		t.Fatalf("%d skills, %v", len(all), err)
	}
	all = append(all, skill.Skill{Folder: "skills/none"}, skill.Skill{Folder: "skills/s10x"})
	if err := errors.Join(os.Symlink("Z.md", filepath.Join(f.Dir, "skills/s01/link.md")),
		os.Remove(filepath.Join(f.Dir, "skills/s02/SKILL.md"))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(f.Dir, "skills/s11/.git"), 0o777); err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Files  []vault.File
		Passed map[vault.Path]bool
	}
	look := func(skills []skill.Skill, s skill.Skill) (out seen) {
		stock, err := skill.Look(t.Context(), v, skills)
		if err != nil {
			t.Fatal(err)
		}
		out.Passed = map[vault.Path]bool{}
		out.Files = stock.Contents(s, func(p vault.Path, ignored bool) { out.Passed[p] = ignored })
		return out
	}
	for _, s := range all {
		many, one := look(all, s), look([]skill.Skill{s}, s)
		if !reflect.DeepEqual(many, one) {
			t.Errorf("%s:\n%+v\nof its folder alone:\n%+v", s.Folder, many, one)
		}
	}
}
