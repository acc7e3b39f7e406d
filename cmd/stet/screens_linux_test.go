package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stet/vault/vaulttest"
)

// The screens of the commands that README and help name, on a terminal of 80 columns and 24 lines, over a vault with
// wide, right-to-left and combining letters. "go test ./cmd/stet -run Screens -update" writes them anew: read what
// changed. In a pipe the lines are those for programs, in a file of their own.
func TestScreens(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	w := newWorld(t)
	var onTerminal, inPipe strings.Builder
	for _, line := range screens() {
		said := w.settled(w.screen(line, "NO_COLOR=1"))
		fmt.Fprintf(&onTerminal, "$ %s\n%s\n", line, said)
		for text := range strings.Lines(said) {
			word := !strings.ContainsRune(text, ' ') // a path, to be copied
			if n := columnsTaken(strings.TrimRight(text, "\n")); n > 80 && !word {
				t.Errorf("%s: %d columns: %s", line, n, text)
			}
		}
		if dumb := w.settled(w.screen(line, "TERM=dumb")); dumb != said {
			t.Errorf("%s: with TERM=dumb it says\n%swith NO_COLOR\n%s", line, dumb, said)
		}
		if coloured := w.settled(escape.ReplaceAllString(w.screen(line), "")); coloured != said {
			t.Errorf("%s: with colours it says\n%swithout\n%s", line, coloured, said)
		}
		piped := w.pipe(line)
		fmt.Fprintf(&inPipe, "$ %s\n%s\n", line, piped)
		for kind, out := range map[string]string{"NO_COLOR": said, "a pipe": piped} {
			if strings.Contains(out, "\x1b") {
				t.Errorf("%s: an escape sequence with %s: %q", line, kind, out)
			}
		}
	}
	if !strings.Contains(w.screen("stet list"), "\x1b[36m") {
		t.Error("a terminal gets no colours")
	}
	w.golden("terminal.txt", onTerminal.String())
	w.golden("pipe.txt", inPipe.String())
}

func screens() []string {
	return strings.Split(strings.TrimSpace(`
stet
stet help
stet help list
stet help flags
stet list
stet list notes
stet list /ops --long
stet list --paths
stet search code
stet search 门禁
stet search 4711
stet search lundi
stet search fox house
stet search plants
stet search staging database
stet search --paths staging
stet show vault-keys
stet log
stet log -n 1 -p
stet log plants --changes
stet review --dry-run
stet review --dry-run --stat
stet review --proposed --dry-run
stet history plants
stet blame plants
stet why plants
stet diff
stet conflicts
stet scopes
stet tags
stet links
stet session list
stet session search tide
stet skill list
stet profile show
stet config list
stet usage
stet doctor
stet forget nosuchmemory
stet undo --dry-run
`), "\n")
}

// columnsTaken counts as terminals do, apart from the code under test: by the ranges of the letters in this vault.
func columnsTaken(line string) (n int) {
	for _, r := range escape.ReplaceAllString(line, "") {
		switch {
		case r >= 0x300 && r <= 0x36f, r >= 0x591 && r <= 0x5c7, r >= 0x64b && r <= 0x65f, r == 0x200d:
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
			r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
			n += 2
		default:
			n++
		}
	}
	return n
}

var escape = regexp.MustCompile(`\x1b\[[0-9;]*[mK]|\r`)

// A world is a vault whose clock the test sets.
type world struct {
	t         *testing.T
	home, dir string
	now       string
	names     map[string]string // what stands for what chance made
}

func newWorld(t *testing.T) *world {
	home := t.TempDir()
	w := &world{t: t, home: home, dir: filepath.Join(home, "notes"),
		now: "2026-01-09T10:00:00Z", names: map[string]string{}}
	w.do("stet", "init", w.dir)
	for _, m := range []struct {
		now, as string
		words   []string
	}{
		{"2026-01-09T10:00:00Z", "", []string{"The vault keys hang behind the 🦊 picture.", "--title", "Vault keys"}},
		{"2026-01-09T10:01:00Z", "", []string{"--scope", "/家庭/门禁",
			"门禁代码是四七一一，每个季度由物业更换一次，更换之后请立即更新这一条记录，不要忘记通知所有的家庭成员。"}},
		{"2026-02-01T10:00:00Z", "", []string{"--scope", "/בית",
			"קוד השער הוא 4711 והוא מתחלף בכל רבעון, אז צריך לעדכן את הרשימה"}},
		{"2026-02-01T10:01:00Z", "", []string{"--scope", "/بيت", "--pin",
			"رَمْزُ البَوَّابَة هو 4711 ويتغير كل ثلاثة أشهر"}},
		{"2026-02-02T10:00:00Z", "", []string{"--scope", "/école",
			"Le cafe\u0301 de l'e\u0301cole est ferme\u0301 le lundi et le mardi, sauf en e\u0301te\u0301."}},
		{"2026-03-06T10:00:00Z", "", []string{"--scope", "/club",
			"The fire brigade 👩‍🚒 meets at the fox 🦊 house ❤️ on Mondays."}},
		{"2026-03-06T11:00:00Z", "", []string{"The plants are watered on Fridays.", "--title", "Plants"}},
		{"2026-03-08T10:00:00Z", "claude-code", []string{"--scope", "/ops/infra/deployments", "-c", "deploy",
			"--kind", "procedure",
			"Deploys go out on Tuesday mornings after the standup, and the on-call engineer watches the dashboards."}},
		{"2026-03-09T09:50:00Z", "codex", []string{"--scope", "/ops", "The staging database listens on port 5433."}},
	} {
		w.now = m.now
		args := append([]string{"stet", "remember", "--plain"}, m.words...)
		if m.as != "" {
			args = append(args, "--as", m.as)
		}
		w.do(args...)
	}
	w.now = "2026-03-09T10:55:00Z"
	w.do("stet", "observe", "--session", "ports", "--role", "user", "--as", "codex",
		"Which port has the staging database after the move?")
	w.do("stet", "observe", "--session", "ports", "--role", "assistant", "--as", "codex",
		"5433: `psql -p 5433` answers on the host of the staging database, and the old port is closed.")
	w.do("stet", "session", "end", "ports")
	w.now = "2026-03-09T11:00:00Z"
	w.do("stet", "update", "plants", "--text", "The plants are watered on Saturdays.")
	w.do("stet", "update", "plants", "--text", "The plants need no water.", "--as", "codex") // waits for the user
	w.do("stet", "profile", "add", "Prefers 短 answers.")
	w.do("stet", "observe", "--session", "tide", "--role", "user", "--as", "codex", "When is 高潮, the high tide, in "+
		"Whitby on the day of the regatta, and does the harbour have water enough for us at half past six?")
	w.file("notes/计划 🦊.md", "# 计划 🦊\n\nSee [[Plants]] and [[nowhere]].\n")
	w.do("stet", "adopt", "--yes")
	w.file("notes/今天.md", "# 今天\n")
	w.now = "2026-03-09T12:00:00Z"
	// What chance made gets names of the same width, in the order of time.
	ids := w.do("stet", "list", "--all", "--sort", "created", "--format", "{{.ID}}:{{.Short}}")
	for i, line := range strings.Fields(ids) {
		id, short, _ := strings.Cut(line, ":")
		if id != "" {
			name := strings.Repeat(string(rune('a'+i)), len(id))
			w.names[id], w.names[short] = name, name[:len(short)]
		}
	}
	return w
}

func (w *world) file(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		w.t.Fatal(err)
	}
	now, err := time.Parse(time.RFC3339, w.now)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o666)
	}
	if err == nil {
		err = os.Chtimes(file, now, now)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) command(words ...string) *exec.Cmd {
	c := exec.Command(words[0], words[1:]...)
	c.Dir = w.dir
	if _, err := os.Stat(w.dir); err != nil {
		c.Dir = w.home
	}
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.home, "TZ=UTC", "PAGER=cat",
		"TERM=xterm", "GIT_AUTHOR_NAME=Test Person", "GIT_AUTHOR_EMAIL=person@example.com",
		"GIT_COMMITTER_NAME=Test Person", "GIT_COMMITTER_EMAIL=person@example.com", "STET_TEST_NOW=" + w.now}
	return c
}

// do runs a command that must succeed, and returns its standard output.
func (w *world) do(words ...string) string {
	w.t.Helper()
	c := w.command(words...)
	var talk strings.Builder
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil {
		w.t.Fatalf("%q: %v\n%s%s", words, err, out, talk.String())
	}
	return string(out)
}

// pipe is what a command line prints where no terminal is.
func (w *world) pipe(line string) string {
	c := w.command(strings.Fields(line)...)
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return w.settled(string(out))
}

// screen is what a command line prints on a terminal of 80 columns and 24 lines.
func (w *world) screen(line string, env ...string) string {
	w.t.Helper()
	master, slave := terminal(w.t)
	c := w.command(strings.Fields(line)...)
	c.Env = append(c.Env, env...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	slave.Close()
	out, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // the other side is closed
		w.t.Fatal(err)
	}
	_ = c.Wait() // exit codes have their own tests
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// terminal is both sides of a new one.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("skip: there are no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

var (
	commits = regexp.MustCompile(`\b[0-9a-f]{10}\b|\b[0-9a-f]{40}\b`)
	words   = regexp.MustCompile(`\b[0-9a-z]{4,26}\b`)
	ids     = regexp.MustCompile(`\b01[0-9a-z]{24}\b`)
	took    = regexp.MustCompile(`(?m), \d+(\.\d+)?m?s$`)
)

// settled puts what stands for it in the place of what chance made.
func (w *world) settled(text string) string {
	text = commits.ReplaceAllStringFunc(text, func(rev string) string { return strings.Repeat("c0ffee", 7)[:len(rev)] })
	text = words.ReplaceAllStringFunc(text, func(word string) string { return cmp.Or(w.names[word], word) })
	text = strings.ReplaceAll(text, w.home, "/home/me")
	text = ids.ReplaceAllStringFunc(text, func(id string) string { return strings.Repeat("z", len(id)) })
	return took.ReplaceAllString(text, ", 5ms")
}

func (w *world) golden(name, got string) {
	w.t.Helper()
	file := filepath.Join("testdata", "screens", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	old := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(old) || line != old[i] {
			was := append(old, "")[min(i, len(old))]
			w.t.Errorf("%s, line %d: %q, and not %q; -update takes it in", name, i+1, line, was)
			return
		}
	}
	w.t.Errorf("%s: lines are missing at its end", name)
}
