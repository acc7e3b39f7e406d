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

// The lines of attributes that people write, and those that go-git's matcher gets wrong.
var toldAttributes = []string{
	"*.md filter=crypt\n!*.md filter=no\n/b.md -filter\n", "memories/** filter=crypt\nmemories/q/** !filter\n",
	"**/secret/x.md filter=a text=auto\n", "memories/ filter=all\nmemories filter=dir\n", "a/**/b text\n**b/* ident\n",
	"[attr]sealed filter=crypt -text\n*.md sealed\nmemories/q/x.md !sealed -filter\n",
	"*.md binary\n*.md text\nx.md -binary\n",
	"\"a\\ttab\" text\n\"b.md\" ident\n\\!a text\n\\#b text\n",
	"*.md text -text\n*.md eol=lf text=auto\n", "a-b* te!xt\n* a\n",
	"  # no\n\t* crlf\r\n", "* text=auto\n*.md working-tree-encoding=UTF-16\n[[:upper:]]* ident\n",
}

var askedAttributes = []string{"filter", "ident", "working-tree-encoding", "text", "eol", "crlf", "a"}

// gitAttributes asks the real git what holds for these paths.
func gitAttributes(t *testing.T, dir string, paths []string, config ...string) map[string]string {
	t.Helper()
	args := slices.Concat([]string{"-C", dir}, config, strings.Fields("check-attr -z --stdin"), askedAttributes)
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"HOME="+dir, "XDG_CONFIG_HOME=")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out, fields := map[string]string{}, strings.Split(string(text), "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		out[fields[0]+" "+fields[1]] = fields[2]
	}
	return out
}

// Every set of lines stands in a folder of its own, below macros for all; git is asked once about all.
func TestAttributesAgreeWithGitOverAnyLines(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	runGit(t, dir, "status") // or skip
	sets := slices.Clone(toldAttributes)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	pieces := strings.Fields("* ** ? / / /**/ a b B a ab .md [ab] [!a] [^b-z] [A-C] [[:alpha:]] é [ - 1 x \\a \\*")
	words := strings.Fields("text -text !text text=auto filter=x -filter eol=lf crlf ident mine -mine binary a=b a- =c")
	for len(sets) < 60 {
		var lines strings.Builder
		for range 1 + random.IntN(4) {
			for range 1 + random.IntN(4) {
				lines.WriteString(pieces[random.IntN(len(pieces))])
			}
			for range 1 + random.IntN(3) {
				lines.WriteString(" " + words[random.IntN(len(words))])
			}
			lines.WriteString("\n")
		}
		sets = append(sets, lines.String())
	}
	top := "[attr]mine filter=mine ident\n[attr]sealed ident\nmemories eol=crlf\n"
	if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(top), 0o644); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i, lines := range sets {
		for _, p := range append(ignoredPaths, "a\ttab") {
			paths = append(paths, path.Join(fmt.Sprint(i), p))
		}
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i), ".gitattributes"), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, fold := range []bool{false, true} {
		want := gitAttributes(t, dir, paths, "-c", fmt.Sprint("core.ignorecase=", fold))
		base, err := r.Attributes()
		if err != nil {
			t.Fatal(err)
		}
		base.fold = fold
		base = base.In("", []byte(top))
		said := 0
		for _, p := range paths {
			number, _, _ := strings.Cut(p, "/")
			i := 0
			fmt.Sscan(number, &i)
			got := base.In(number, []byte(sets[i])).of(p)
			for _, name := range askedAttributes {
				have, known := got[name]
				if !known {
					have = attributeUnspecified
				} else {
					said++
				}
				if want[p+" "+name] != have {
					t.Errorf("seed %d, fold %v: %q of %q is %q, git says %q, by\n%s",
						seed, fold, name, p, have, want[p+" "+name], sets[i])
				}
			}
		}
		if said < len(paths)/10 {
			t.Fatalf("%d attributes of %d paths: too few to say much", said, len(paths))
		}
	}
}

// What git reads for the person: other files by condition, homes of others, a file that is named empty.
func TestConfigOfAPersonAgreesWithGit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "work", "deep", "repo")
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("work/deep/repo/a.md", "x")
	if err := Create(dir, nil); err != nil {
		t.Fatal(err)
	}
	write("one", "[user]\n\temail = one@example.org\n")
	write(".config/git/ignore", "a.md\n")
	write(".config/git/attributes", "a.md filter=crypt\n")
	env := map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"))
		out, _ := cmd.Output() // no such key is an error as well
		return strings.TrimSpace(string(out))
	}
	runGit(t, dir, "status") // or skip
	for _, c := range []string{
		"gitdir:~/work/", "gitdir:~/other/", "gitdir:work/", "gitdir:~/work/deep/repo/.git", "gitdir:~/work/deep/repo",
		"gitdir:./work/", "gitdir:./work", "gitdir/i:~/WORK/", "gitdir:~/WORK/", "gitdir:~/work/*/repo/.git",
		"gitdir:deep/repo/.git",
		"onbranch:main", "onbranch:m*", "onbranch:other", "onbranch:main/", "hasconfig:remote.*.url:x",
		"excludesFile=", "excludesFile=~/nowhere", "excludesFile=~root/nowhere", "attributesFile=", "attributesFile=one",
	} {
		key, value, isCore := strings.Cut(c, "=")
		config := fmt.Sprintf("[includeIf %q]\n\tpath = one\n", c)
		if isCore {
			config = fmt.Sprintf("[core]\n\t%s = %s\n", key, value)
		}
		write(".gitconfig", "[user]\n\tname = Me\n\temail = me@example.org\n"+config)
		loc, err := Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(loc, func(k string) string { return env[k] }, nil)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if got, want := r.Config().Identity("AUTHOR").Email, git("config", "user.email"); got != want {
			t.Errorf("%s: %s, git says %s", c, got, want)
		}
		ig, err := r.Ignore()
		if err != nil {
			t.Fatal(err)
		}
		if _, got := ig.Match("a.md", false); got != (git("check-ignore", "a.md") != "") {
			t.Errorf("%s: ignored is %v", c, got)
		}
		rules, err := r.Attributes()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.HasSuffix(git("check-attr", "filter", "a.md"), "crypt")
		if got := rules.of("a.md")["filter"] == "crypt"; got != want {
			t.Errorf("%s: a filter is %v, git says %v", c, got, want)
		}
		r.Close()
	}
}
