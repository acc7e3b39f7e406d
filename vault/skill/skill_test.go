package skill_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/skill"
	"stet/vault/vaulttest"
)

func names(all []skill.Skill) (out []string) {
	for _, s := range all {
		out = append(out, s.Name)
	}
	return out
}

const (
	valid = "---\nname: deploy\ndescription: Deploys it.\nmetadata:\n  stet-pinned: \"true\"\n---\nBody.\n"
	good  = "---\nname: deploy\ndescription: Deploys it.\nmetadata:\n  stet-pinned: \"true\"\n  n: 1\n---\nBody.\n"
)

func TestSkillsAreFoundAtAnyDepthAndMaterialIsNone(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "skills/web/deploy/SKILL.md", good, "skills/web/deploy/references/old/SKILL.md", good,
		"skills/web/deploy/inner/SKILL.md", "---\nname: inner\ndescription: d\n---\n",
		"skills/web/deploy/inner/scripts/x.sh", "echo\n", "skills/web/deploy/a.txt", "a\n",
		"skills/scripts/plain/SKILL.md", "no front matter\n", "skills/SKILL.md", good, "memories/SKILL.md", good,
		"archive/skills/gone/SKILL.md", good)
	all, err := skill.All(t.Context(), f.Open(), false)
	if got := names(all); err != nil || !slices.Equal(got, []string{"deploy", "inner", "plain"}) {
		t.Fatalf("%v, %v", got, err)
	}
	if d := all[0]; d.Category() != "web" || !d.Is(skill.Pinned) || d.Metadata["n"] != "1" || d.Archived() {
		t.Errorf("%+v", d)
	}
	files, err := all[0].Contents(t.Context(), f.Open(), nil)
	var got []string
	for _, x := range files {
		got = append(got, strings.TrimPrefix(string(x.Path), "skills/web/deploy/"))
	}
	if err != nil || !slices.Equal(got, []string{"SKILL.md", "a.txt", "references/old/SKILL.md"}) {
		t.Errorf("%v, %v", got, err)
	}
	if old, err := skill.All(t.Context(), f.Open(), true); err != nil || len(old) != 1 || !old[0].Archived() ||
		old[0].Category() != "" {
		t.Errorf("archive: %+v, %v", old, err)
	}
}

func TestASkillIsNamedByItsNameOrItsFolder(t *testing.T) {
	t.Parallel()
	all, _ := skill.Read([]vault.Path{"skills/a/one/SKILL.md", "skills/b/two/SKILL.md", "skills/c/three/SKILL.md"},
		func(p vault.Path) ([]byte, error) {
			name := map[vault.Path]string{"skills/a/one/SKILL.md": "same", "skills/b/two/SKILL.md": "same"}[p]
			return []byte("---\nname: " + name + "\n---\n"), nil
		})
	for ref, want := range map[string]string{"a/one": "skills/a/one", "two": "skills/b/two", "three": "skills/c/three",
		"skills/c/three/": "skills/c/three", "skills/b/two/SKILL.md": "skills/b/two"} {
		if s, err := skill.Find(all, ref); err != nil || string(s.Folder) != want {
			t.Errorf("%s: %s, %v", ref, s.Folder, err)
		}
	}
	if _, err := skill.Find(all, "same"); !errors.Is(err, vault.ErrAmbiguous) {
		t.Errorf("two skills of one name: %v", err)
	}
	if _, err := skill.Find(all, "thre"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("part of a name: %v", err)
	}
	for _, file := range []string{"../x", "/etc/passwd", "a/../../x", "a/../b", ".git/x", ""} {
		if p, err := all[0].At(file); !errors.Is(err, vault.ErrBadPath) {
			t.Errorf("%q: %s, %v", file, p, err)
		}
	}
}

type fault struct{ front, rule, at, fix string }

// faults are a SKILL.md for each rule, with the place it names and the text that mends it.
func faults() []fault {
	long := strings.Repeat("x", 1025)
	return []fault{
		{"---\nname: deploy\ndescription: Use when: always\n---\n", "colon-space", "3:22",
			`description: "Use when: always"`},
		{"---\nname: deploy\ndescription: Say \"x: y\" too: it's\n---\n", "colon-space", "3:20",
			`description: 'Say "x: y" too: it''s'`},
		{"---\nname: deploy\ndescription: Use\n  when: always\n\nlicense: MIT\n---\n", "colon-space", "4:7",
			`description: "Use when: always"`},
		{"---\nname: deploy\ndescription: d\nmetadata:\n  a: b: c\n---\n", "colon-space", "5:7", `  a: "b: c"`},
		{"name: x\n", "no-front-matter", "1:1", "---\nname: …\ndescription: …\n---"},
		{"---\nname: deploy\n", "no-front-matter", "1:1", "--- on a line below the last key"},
		{"---\nname: deploy\ndescription: [a\n---\n", "yaml", "3:1", "a line for each key"},
		{"---\nname: deploy\ndescription: d\nname: deploy\n---\n", "yaml", "4:1", "a line for each key"},
		{"---\ndescription: d\n---\n", "missing", "3:1", "name: deploy"},
		{"---\nname: deploy\n---", "missing", "3:1", "description: what it does"},
		{"---\nname: deploy\ndescription:\n---\n", "not-text", "3:1", "description: some text"},
		{"---\nname: deploy\ndescription: d\nversion: 1\n---\n", "unknown-key", "4:1", "move it below metadata"},
		{"---\nname: Deploy_It\ndescription: d\n---\n", "name", "2:7", "name: deploy-it"},
		{"---\nname: -a--b\ndescription: d\n---\n", "name", "2:7", "name: a-b"},
		{"---\nname: other\ndescription: d\n---\n", "name-folder", "2:7", "name: deploy, or rename the folder"},
		{"---\nname: deploy\ndescription: " + long + "\n---\n", "too-long", "3:14", "say it in 1024"},
		{"---\nname: deploy\ndescription: d\ncompatibility: 3\n---\n", "not-text", "4:16", `compatibility: "3"`},
		{"---\nname: deploy\ndescription: d\nallowed-tools: [Bash]\n---\n", "not-text", "4:16", "allowed-tools: Bash"},
		{"---\nname: deploy\ndescription: d\nmetadata: x\n---\n", "metadata", "4:11", "metadata:"},
		{"---\nname: deploy\ndescription: d\nmetadata:\n  v: 1.0\n---\n", "metadata", "5:6", `v: "1.0"`},
	}
}

func TestWhatIsWrongIsSaidWithPlaceAndFix(t *testing.T) {
	t.Parallel()
	for _, test := range faults() {
		s, found := skill.Parse("skills/deploy", []byte(test.front))
		i := slices.IndexFunc(found, func(f skill.Finding) bool { return f.Rule == test.rule })
		if i < 0 {
			t.Errorf("%q: no %s in %+v", test.front, test.rule, found)
			continue
		}
		f := found[i]
		at := place(f)
		if at != test.at || !strings.HasPrefix(f.Fix, test.fix) || f.Path != "skills/deploy/SKILL.md" {
			t.Errorf("%q: %s: %s %q at %s", test.front, test.rule, at, f.Fix, f.Path)
		}
		if s.Name == "" || s.Folder == "" {
			t.Errorf("%q cannot be read: %+v", test.front, s)
		}
		if test.rule == "colon-space" {
			if s.Description == "" || s.Problem == "" || s.Private {
				t.Errorf("%q reads as %+v", test.front, s)
			}
			if found[0].Rule != test.rule {
				t.Errorf("%q: %s comes first", test.front, found[0].Rule)
			}
			mended, key := strings.Split(test.front, "\n"), f.Fix[:strings.Index(f.Fix, ":")+1]
			mended[strings.Count(test.front[:strings.Index(test.front, key)], "\n")] = f.Fix
			if strings.Contains(test.front, "\n\nlicense") {
				mended = append(mended[:3], mended[5:]...)
			}
			if _, left := skill.Parse("skills/deploy", []byte(strings.Join(mended, "\n"))); len(left) > 0 {
				t.Errorf("%q mended is %q: %+v", test.front, mended, left)
			}
		}
	}
	right := "---\nname: deploy\ndescription: |\n  a: b\nlicense: 'a: b'\n" +
		"compatibility: x:y\nmetadata: {}\n---\n"
	_, found := skill.Parse("skills/deploy", []byte(strings.ReplaceAll(right, "\n", "\r\n")))
	if len(found) > 0 {
		t.Errorf("nothing is wrong: %+v", found)
	}
	for _, front := range []string{"private: true\nname: [", "private: yes\ndescription: a: b"} {
		private := "---\n" + front + "\n---\n"
		if s, _ := skill.Parse("skills/deploy", []byte(private)); !s.Private {
			t.Errorf("%q is private", private)
		}
	}
}

// No list shows megabytes of what somebody calls a description, whether YAML reads it or not.
func TestADescriptionWithoutEndIsCut(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"é", "[", "x"} {
		description := strings.Repeat(one, 1<<20)
		s, found := skill.Parse("skills/deploy", []byte("---\nname: deploy\ndescription: "+description+"\n---\n"))
		if s.Description != string([]rune(description)[:4096])+"…" || len(found) != 1 {
			t.Errorf("%d characters, %+v", len([]rune(s.Description)), found)
		}
	}
}

func place(f skill.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }

func TestLintTellsOfTwoSkillsOfOneNameAndOfLinks(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "skills/a/deploy/SKILL.md", valid, "skills/b/deploy/SKILL.md", valid)
	link(t, f, "skills/a/deploy/x", "../../b")
	v := f.Open()
	all, err := skill.All(context.Background(), v, false)
	if err != nil {
		t.Fatal(err)
	}
	found, err := skill.Lint(t.Context(), v, all[:1], all)
	if err != nil || len(found) != 2 || found[0].Rule != "name-twice" || place(found[0]) != "2:7" ||
		found[1].Rule != "no-file" || found[1].Path != "skills/a/deploy/x" {
		t.Errorf("%+v, %v", found, err)
	}
}
