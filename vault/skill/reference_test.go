package skill_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/skill"
)

// What the reference library of the format finds is found here as well, in broken skills and in real
// ones. STET_SKILLS_REF names its program ("skills-ref" of npm); .ci/full installs it.
func TestWhatTheReferenceLibraryFindsIsFound(t *testing.T) {
	t.Parallel()
	program := os.Getenv("STET_SKILLS_REF")
	if program == "" {
		t.Skip("skip: STET_SKILLS_REF names no program to compare with")
	}
	rules := []struct {
		says *regexp.Regexp
		ours []string
	}{
		{regexp.MustCompile(`must start with YAML|not properly closed`), []string{"no-front-matter"}},
		{regexp.MustCompile(`Invalid YAML|must be a YAML mapping`), []string{"colon-space", "yaml"}},
		{regexp.MustCompile(`Unexpected fields`), []string{"unknown-key"}},
		{regexp.MustCompile(`Missing required field|must be a (non-empty )?string`), []string{"missing", "not-text"}},
		{regexp.MustCompile(`character limit`), []string{"too-long"}},
		{regexp.MustCompile(`lowercase|hyphen|invalid characters`), []string{"name"}},
		{regexp.MustCompile(`Directory name`), []string{"name-folder"}},
	}
	dir, found := t.TempDir(), 0
	var folders []string
	for i, f := range faults() {
		folder := filepath.Join(dir, fmt.Sprint(i), "deploy")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, skill.File), []byte(f.front), 0o644); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	if data := os.Getenv("STET_DATA"); data != "" {
		for _, name := range []string{"skills-hermes", "skills-superpowers"} {
			unpack(t, filepath.Join(data, name+".tar.gz"), filepath.Join(dir, name))
		}
		if err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
			if filepath.Base(p) == skill.File && strings.HasPrefix(p, filepath.Join(dir, "skills-")) {
				folders = append(folders, filepath.Dir(p))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range folders {
		data, err := os.ReadFile(filepath.Join(folder, skill.File))
		if err != nil {
			t.Fatal(err)
		}
		_, ours := skill.Parse(vault.Path("skills/"+filepath.Base(folder)), data)
		out, err := exec.CommandContext(t.Context(), program, "validate", folder).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "Validation failed") {
			t.Fatalf("%s: %v\n%s", folder, err, out)
		}
		for line := range strings.Lines(string(out)) {
			says, ok := strings.CutPrefix(line, "  - ")
			if !ok {
				continue
			}
			found++
			known := false
			for _, r := range rules {
				if known = r.says.MatchString(says); known {
					same := func(f skill.Finding) bool { return slices.Contains(r.ours, f.Rule) }
					if !slices.ContainsFunc(ours, same) {
						t.Errorf("%s: nothing like %q in %+v\n%s", folder, says, ours, data[:min(len(data), 300)])
					}
					break
				}
			}
			if !known {
				t.Errorf("%s: what is %q?", folder, says)
			}
		}
	}
	t.Logf("%d skills, %d errors of the reference library", len(folders), found)
	if found < 15 {
		t.Errorf("it found %d errors only: nothing was compared", found)
	}
}
