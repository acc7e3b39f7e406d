package ran

import (
	"bytes"
	"slices"
	"testing"

	"stet/index/document"
)

// What is another one each time does not keep a line from being found.
func TestLinesAreFolded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pasted, stands string
		near           int
	}{
		{"undefined: fsnotify", "pkg/a.go:12:2: undefined: fsnotify", verbatim},
		{"b_test.go:7: undefined: fsnotify", "pkg/a.go:12:2: undefined: fsnotify", numbered},
		{"2026-01-02T03:04:05Z panic at 0x7fff12ab after 1.5s", "panic at 0xdeadbeef12 after 12.25s", numbered},
		{"\x1b[31mError:\x1b[0m listen tcp :8080: address in use", "Error: listen tcp :4711: address in use", numbered},
		{"open /etc/stet/key.pem: permission denied", "open /var/lib/other.pem: permission denied", anywhere},
		{"ENOENT: no such file, open '/a/b/package.json'", "ENOENT: no such file, open 'C:/c/x.json'", anywhere},
		{"the port 4711 is already taken by a server", "port 80 is taken already by that server", inWords},
		{"ci[512]: ERROR bash: line 1: cat: a.initials: no such file", "cat: a.initials: no such file", ending},
		{"I get cat: a.initials: no such file when I list", "cat: a.initials: no such file", inWords},
		{"open /etc/stet/key.pem: permission denied", "ssh: permission denied", apart},
		{"undefined: fsnotify", "undefined: bufio", apart},
		{"a.go:1:2: x", "b.go:3:4: y", apart},
	} {
		if got := in(looked(c.pasted), []byte("before\n"+c.stands+"\nafter\n"), true); got.near != c.near {
			t.Errorf("%q in %q: %d, want %d", c.pasted, c.stands, got.near, c.near)
		}
		if got := in(looked(c.pasted), []byte(c.stands), false); c.near < ending && got.near != c.near {
			t.Errorf("%q in %q alone: %d, want %d", c.pasted, c.stands, got.near, c.near)
		}
	}
}

// A command is parted at what joins commands, and not within quotes or a text that follows it.
func TestCommandsAreParted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"cd /x && A=1 go test ./... 2>&1 | tail -3":       {"A=1 go test ./..."},
		`grep -E "a|b; c" f; rm f`:                        {"rm f"},
		"cat > f <<'EOF'\nrm -rf x && y\nEOF\ngofmt -w f": {"gofmt -w f"},
		"cat > f <<EOF\nnever closed":                     nil,
		`git commit -m "it's; done" && git push`:          {`git commit -m "it's; done"`, "git push"},
		"# a remark\ngo vet ./a\\;b":                      {`go vet ./a\;b`},
		"echo x >/dev/null; ls":                           nil,
		"cat <<< \"foo\"\ngo test ./a":                    {"go test ./a"},
		"echo $((1<<3))\ngo test ./a":                     {"go test ./a"},
		"cat <<EOF | grep x\nrm -rf a\nEOF":               nil,
		"cat <<EOF > f && go vet .\nrm -rf a\nEOF":        {"go vet ."},
		"cat <<A <<-B\nrm a\nA\nrm b\n\tB\ngo vet .":      {"go vet ."},
		`echo "a\\" && go vet`:                            {"go vet"},
	} {
		if got := parts(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"cd x && go test ./a", "go test ./a 2>&1 | tail", sameLine},
		{"go test ./a", "go test ./...", sameWork},
		{"go test ./a -run X", "gofmt -w . && go test ./a", sameWork},
		{"go test ./a", "go test ./b", likeIt},
		{"go test ./a", "go build ./a", another},
		{"python3 tools/build.py", "python3 build.py", sameWork},
		{"ls a", "ls b", another},
	} {
		if got := again(c.a, c.b); got != c.want {
			t.Errorf("%q after %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// A stem may differ from its word in the middle, and letters may be folded.
func TestStemsOfOtherLanguagesAreFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"german", document.English} {
		lang, err := document.LanguageOf(name)
		if err != nil {
			t.Fatal(err)
		}
		talk := &Talk{steps: []step{{result: 2, raw: []byte(`{"command":"make prüfen"}`)}}}
		if got := Commands([]*Talk{talk}, "prüfen", lang); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A try that finds less, or what is farther from the error, takes no place of one before.
func TestTheNearerAnswerStays(t *testing.T) {
	t.Parallel()
	fixes := func(matches ...string) (out []Fix) {
		for _, m := range matches {
			out = append(out, Fix{Match: m})
		}
		return out
	}
	words, two, end := fixes("words"), fixes("words", "words"), fixes("end", "words")
	for i, tc := range []struct {
		found, than []Fix
		want        bool
	}{{words, nil, true}, {nil, nil, false}, {nil, words, false}, {words, two, false}, {two, words, true},
		{end, two, true}, {two, end, false}, {fixes("verbatim"), end, true}} {
		if got := Better(tc.found, tc.than); got != tc.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// Paths stand once each, those that were changed first.
func TestChangedFilesComeFirst(t *testing.T) {
	t.Parallel()
	talk := &Talk{}
	for _, raw := range []string{
		`{"path":"a/x.go"}`, `{"path":"z/x.go","new_string":"n"}`, `{"path":"m/x.go","new_string":"n"}`,
		`{"path":"z/x.go","new_string":"o"}`, `{"path":"m/x.go"}`,
	} {
		talk.steps = append(talk.steps, step{result: 2, raw: []byte(raw)})
	}
	got := Touched([]*Talk{talk}, "x.go")
	if len(got) != 1 || !slices.Equal(got[0].Files, []string{"z/x.go", "m/x.go", "a/x.go"}) {
		t.Errorf("%+v", got)
	}
}

// Clients say in several ways that something failed.
func TestResultsAreJudged(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]int{
		"ok": -1, "": -1, "Exit code 1\nno": 1, "Process exited with code 0\nOutput:\nx": 0,
		"Exit Code: 127": 127, `{"output":"x","metadata":{"exit_code":2}}`: 2, "x\nexit: 3": 3,
		"the exit code 3 is odd": -1, `{"exit_code":"none"}`: -1,
	} {
		talk := Talk{steps: []step{{out: []byte(out)}}}
		if s := talk.step(0); s.exit == nil && want >= 0 || s.exit != nil && *s.exit != want || s.failed != (want > 0) {
			t.Errorf("%q: %v, failed %v", out, s.exit, s.failed)
		}
	}
}

// Where no exit code is kept, a program that does nothing but complain failed; what it reads may look like that.
func TestComplaintsAreFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command, out string
		want         bool
	}{
		{"cd a && cat x", "cat: x: No such file or directory", true},
		{"git checkout x", "error: pathspec 'x' did not match any file(s) known to git", true},
		{"git show a:b", "fatal: ambiguous argument 'a:b'\nUse '--' to separate paths", true},
		{"python3 a.py", "Traceback (most recent call last):\n  File \"a.py\", line 1", true},
		{"nosuch -v", "bash: line 1: nosuch: command not found", true},
		{"grep -r port .", "grep: ./x: Permission denied\n./y: port 80", false},
		{"cat notes", "fatal: that is what git said", false},
		{"cat notes", "error: so it begins\nand this is how it ends", false},
		{"cat notes", "error: the deploy broke", false},
		{"echo 'hint: try this'", "hint: try this", false},
		{"cat build.log", "Traceback (most recent call last):\n  File \"a.py\", line 1", false},
		{"make test", "ok", false},
	} {
		if got := complains(c.command, c.out); got != c.want {
			t.Errorf("%q, %q: %v", c.command, c.out, got)
		}
	}
}

// Lines without the words of an error are passed over: transcripts have a million of them.
func TestLooseLinesCostNothing(t *testing.T) {
	text := bytes.Repeat([]byte("a line of the output of 12 tests in /some/where/else.go:7\n"), 10_000)
	list := looked("the frobnicator server cannot be started on port 80")
	if n := testing.AllocsPerRun(1, func() { in(list, text, true) }); n > 100 {
		t.Errorf("%v allocations for 10,000 lines", n)
	}
}
