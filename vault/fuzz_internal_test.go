package vault

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What ParsePath accepts stays inside the vault, out of git's own folder, and
// is what it parses to.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"memories/a.md", "a/../b.md", "./x", "../x", "/x", ".git/config", ".GIT", "git~1/x", ".git::$DATA", ".g\u200cit/x", "a\\b.md", "a//b", "a/", "日本語.md", "bad\xff", "a\nb", strings.Repeat("n", 256), ".git . . /x", "CON.md"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			if p != "" {
				t.Errorf("refused %q and returned %q", s, p)
			}
			return
		}
		if again, err := ParsePath(string(p)); err != nil || again != p {
			t.Errorf("%q parses to %q, which parses to %q (%v)", s, p, again, err)
		}
		if !filepath.IsLocal(filepath.FromSlash(string(p))) {
			t.Errorf("%q is not local", p)
		}
		for part := range strings.SplitSeq(string(p), "/") {
			if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
				t.Errorf("%q has the part %q", p, part)
			}
		}
		if got := Path(p.Dir() + "/" + p.Base()); got != p && got != "./"+p {
			t.Errorf("%q splits into %q", p, got)
		}
		if q, rest, err := unquotePath(quotePath(p)); err != nil || q != p || rest != "" {
			t.Errorf("%q quotes to %s, which reads as %q, %q (%v)", p, quotePath(p), q, rest, err)
		}
	})
}

func messageSeeds(add func(op, subject, body, actor, session, memory, from, to, key, value string)) {
	add("remember", "a plain subject", "", "", "", "01jd7q8r5t", "", "", "", "")
	add("move", "x: y", "free text\n\nmore", "agent", "s1", "USER.md#0a1b2c3d", "a b.md", "\"q\".md", "Stet-Rule", "negation@2")
	add("update", "two\nlines\r\n", "Stet-Op: forget", "cur\nator", "a\x00b", "x", "new\\line.md", "日本語.md", "Stet-Mode", "undo")
	add("revert", strings.Repeat("long ", 40), "Reverts: x\nSigned-off-by: y", "", "", "", "a", "b", "K", ": v")
	add("adopt", "", "\n\n\n", "", "\u2028", "", "", "", "Key", "v\u0085w")
	add("forget", "bad \xff", "bad \xfe\n---\nend", "user", "", "", "", "", "", "")
	add("pin", "# hash", "(cherry picked from commit x)\n # indented\n\n  K: v", "", "", "", "", "", "", "")
}

func messageOf(op, subject, body, actor, session, memory, from, to, key, value string) *Why {
	w := &Why{Op: Op(op), Subject: subject, Body: body, Writer: Writer{Actor: actor, Session: session}}
	if memory != "" {
		w.Memories = []string{memory, memory}
	}
	if a, err := ParsePath(from); err == nil {
		if b, err := ParsePath(to); err == nil {
			w.Moved = [][2]Path{{a, b}}
		}
	}
	if key != "" {
		w.Trail("Stet-Rule", value)
	}
	return w
}

// trailerKey reports what a caller may use as a key: what git takes for one.
func trailerKey(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return s != ""
}

// Whatever the texts are, the trailers of a message read back as they were.
func FuzzMessage(f *testing.F) {
	messageSeeds(func(op, subject, body, actor, session, memory, from, to, key, value string) {
		f.Add(op, subject, body, actor, session, memory, from, to, key, value)
	})
	f.Fuzz(func(t *testing.T, op, subject, body, actor, session, memory, from, to, key, value string) {
		if !trailerKey(op) || key != "" && !trailerKey(key) {
			t.Skip("not a word of stet's own")
		}
		w := messageOf(op, subject, body, actor, session, memory, from, to, key, value)
		msg := w.Message()
		line, _, got := parseMessage(msg)
		if want := w.trailers(); !slices.Equal(got, want) {
			t.Errorf("message %q reads as %q, want %q", msg, got, want)
		}
		if !strings.HasPrefix(line, op+":") || strings.ContainsAny(line, "\r\n\x00") {
			t.Errorf("subject line is %q", line)
		}
		if moves := got.moves(); !slices.Equal(moves, w.Moved) {
			t.Errorf("moves %q, want %q", moves, w.Moved)
		}
		if strings.ContainsRune(msg, 0) {
			t.Errorf("message %q holds a NUL, at which git would cut it", msg)
		}
	})
}

// The real git reads the same trailers.
func TestGitReadsTheSameTrailers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil || os.Getenv("STET_TEST_NOGIT") != "" {
		t.Skip("skip: needs git, and STET_TEST_NOGIT unset")
	}
	dir := t.TempDir()
	messageSeeds(func(op, subject, body, actor, session, memory, from, to, key, value string) {
		msg := messageOf(op, subject, body, actor, session, memory, from, to, key, value).Message()
		cmd := exec.Command("git", "interpret-trailers", "--parse", "--no-divider")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(msg)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, _, want := parseMessage(msg)
		var got trailers
		for l := range strings.Lines(string(out)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ":")
			got = append(got, trailerLine{key, strings.TrimSpace(value)})
		}
		if !slices.Equal(got, want) {
			t.Errorf("message %q: git reads %q, stet %q", msg, got, want)
		}
	})
}

// The document names the trailers of the table and no other.
func TestFormatNamesTheTrailers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| trailer | value |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want, have []string
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				want = append(want, part)
			}
		}
	}
	for _, k := range trailerKeys() {
		have = append(have, k.key)
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("docs/FORMAT.md has %q, vault/why.go %q", want, have)
	}
}

func TestATombstoneHoldsTheNearestTimeThatItCan(t *testing.T) {
	t.Parallel()
	first, last := time.Unix(0, 0), time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	for _, c := range []struct{ at, want time.Time }{
		{first.AddDate(-1, 0, 0), first}, {last.AddDate(1, 0, 0), last}, {time.Unix(5, 7), time.Unix(5, 0)},
	} {
		if got := keptTime(c.at); !got.Equal(c.want) {
			t.Errorf("%v is kept as %v, want %v", c.at, got, c.want)
		}
	}
}
