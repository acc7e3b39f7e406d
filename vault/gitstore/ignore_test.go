package gitstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The rules that people were hurt by, and those that go-git's matcher gets wrong.
var toldRules = []string{
	"memories/infra/**\n!memories/infra/*.md\n",
	"/memories/secret/\n!/memories/secret/**\n",
	"memories/**\n!memories/**/\n!memories/**/keep*.md\n",
	"memories/*\n!memories/q\n/memories/q/*.md\n!keep.md\n",
	"a**/b\n**b/*\n[!a]*\n", "a/**/b\n**/ab/\n", "[[:upper:]]*\n[]a]\n[a-]b\n[a/b]b\n",
	"\\!a\n\\#b\na\\ \nb \n\\\n!\n/\n**\n!*/\n",
	"*\n!*.md\n!*/\n", "x.md\r\n!memories/q/x.md\r\n", "memories\n!memories/secret/x.md\n",
}

var ignoredPaths = func() (out []string) {
	names := []string{"a", "b", "ab", "A", "aB", "b.md", "-b", "]", "é", "#b", "!a", "a "}
	for _, dir := range []string{"a", "b/ab", "ab/b/a", "A"} {
		for _, n := range names[1:] {
			out = append(out, dir+"/1/"+n, dir+"/"+n+"/x")
		}
	}
	return append(out, strings.Fields("memories/infra/x.md memories/infra/q/x.md memories/infra/x memories/secret/x.md "+
		"memories/q/x.md memories/q/keep.md memories/q/r/keep1.md memories/keep.md x.md Memories/x.md ] !a #b")...)
}()

// gitIgnores asks the real git which of these paths it ignores.
func gitIgnores(t *testing.T, dir string, paths []string, config ...string) map[string]string {
	t.Helper()
	args := slices.Concat([]string{"-C", dir}, config, strings.Fields("check-ignore -v -z --no-index --stdin"))
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir,
		"XDG_CONFIG_HOME=")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
	text, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	out, fields := map[string]string{}, strings.Split(string(text), "\x00")
	for ; len(fields) > 4; fields = fields[4:] {
		if !strings.HasPrefix(fields[2], "!") {
			out[fields[3]] = fields[1] + ":" + fields[2]
		}
	}
	return out
}

// Every set of rules stands in a folder of its own; git is asked once about all.
func TestIgnoreAgreesWithGitOverAnyRules(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	runGit(t, dir, "status") // or skip
	sets := slices.Clone(toldRules)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	pieces := append(strings.Fields("* ** ? / / /**/ a b B a ab .md [ab] [!a] [^b-z] [A-C] [[:alpha:]] é [ - 1 x"),
		`\a`, `\*`, " ")
	for len(sets) < 60 {
		var rules strings.Builder
		for range 1 + random.IntN(3) {
			if random.IntN(3) == 0 {
				rules.WriteByte('!')
			}
			for range 1 + random.IntN(5) {
				rules.WriteString(pieces[random.IntN(len(pieces))])
			}
			rules.WriteString("\n")
		}
		sets = append(sets, rules.String())
	}
	var paths []string
	for i := range sets {
		for _, p := range ignoredPaths {
			p = fmt.Sprintf("%d/%s", i, p)
			paths = append(paths, p)
			if err := os.MkdirAll(filepath.Join(dir, path.Dir(p)), 0o755); err != nil {
				t.Fatal(err)
			}
			for at := path.Dir(p); strings.Contains(at, "/"); at = path.Dir(at) {
				paths = append(paths, at)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i), ".gitignore"), []byte(sets[i]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, fold := range []string{"false", "true"} {
		want := gitIgnores(t, dir, paths, "-c", "core.ignorecase="+fold)
		if len(want) < len(paths)/20 {
			t.Fatalf("git ignores %d of %d paths: too few to say much", len(want), len(paths))
		}
		for i, rules := range sets {
			base, err := r.Ignore()
			if err != nil {
				t.Fatal(err)
			}
			base.fold = fold == "true"
			ig := base.In(fmt.Sprint(i), []byte(rules))
			for _, p := range paths {
				if !strings.HasPrefix(p, fmt.Sprint(i, "/")) {
					continue
				}
				info, err := os.Stat(filepath.Join(dir, p))
				rule, hidden := ig.Match(p, err == nil && info.IsDir())
				got := ""
				if hidden {
					got = fmt.Sprint(rule.Line, ":", strings.TrimRight(rule.Text, " "))
				}
				if strings.TrimRight(want[p], " ") != got {
					t.Errorf("seed %d, ignorecase %s, %q: %s is ignored by %q, git says %q", seed, fold, rules, p, got,
						want[p])
				}
			}
		}
	}
}

func TestIgnoreFindsTheExcludesFileWhereGitDoes(t *testing.T) {
	t.Parallel()
	_, dir := newRepo(t)
	runGit(t, dir, "config", "core.excludesFile", "notes/hide")
	runGit(t, dir, "config", "core.ignorecase", "true")
	if err := os.MkdirAll(filepath.Join(dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes/hide"), []byte("/SECRET\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ig, err := openRepo(t, dir).Ignore()
	if err != nil {
		t.Fatal(err)
	}
	want := gitIgnores(t, dir, []string{"secret/x.md", "open/x.md"})
	for _, p := range []string{"secret/x.md", "open/x.md"} {
		if _, hidden := ig.Match(p, false); hidden != (want[p] != "") {
			t.Errorf("%s: ignored %v, git says %q", p, hidden, want[p])
		}
	}
	if len(want) != 1 {
		t.Errorf("git ignores %v", want)
	}
}
