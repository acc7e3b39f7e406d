package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

// Every command, and every verb of one, has a row that says what an agent may do with it, and
// every row names what exists.
func TestThePolicyNamesEveryCommand(t *testing.T) {
	t.Parallel()
	known := map[string]*console.Command{}
	for _, c := range Commands() {
		if len(c.Verbs) == 0 {
			known[c.Name] = c
		}
		for _, v := range c.Verbs {
			known[c.Name+" "+v.Name] = c
		}
	}
	seen := map[string]bool{}
	for _, r := range agent.Policy() {
		for _, line := range r.Commands {
			name, flag, _ := strings.Cut(line, " --")
			c := known[name]
			if c == nil {
				t.Errorf("%q is no command", line)
				continue
			}
			if flag != "" && !slices.ContainsFunc(flagNamesOf(c), func(n string) bool { return n == flag }) {
				t.Errorf("%q: %s has no such flag", line, c.Name)
			}
			if seen[line] {
				t.Errorf("%q has two rows", line)
			}
			seen[line] = true
		}
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("the policy has no row for %q", name)
		}
	}
}

// Every flag that takes a file or a folder has a row too, but for those that only read it.
func TestThePolicyNamesEveryFileThatIsWritten(t *testing.T) {
	t.Parallel()
	reads := []string{"remember --batch"}
	file := regexp.MustCompile("`[A-Z-]*(FILE|DIR|FOLDER|PATH)`")
	var rows []string
	for _, r := range agent.Policy() {
		rows = append(rows, r.Commands...)
	}
	found := 0
	for _, c := range Commands() {
		for _, f := range c.Flags {
			line := regexp.MustCompile("^" + c.Name + "( [a-z]+)? --" + f.Names()[0] + "$")
			if d, ok := f.(cli.DocGenerationFlag); !ok || !file.MatchString(d.GetUsage()) {
				continue
			}
			found++
			if !slices.ContainsFunc(slices.Concat(rows, reads), line.MatchString) {
				t.Errorf("%s --%s takes a file, and no row of the policy says whether an agent may write it",
					c.Name, f.Names()[0])
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d flags with files were found", found)
	}
}

func flagNamesOf(c *console.Command) (names []string) {
	for _, f := range c.Flags {
		names = append(names, f.Names()...)
	}
	return names
}

// The table of docs/CLI.md over actor, operation and target: who changes whose text with what
// becomes of it. Every cell has a memory of its own.
func TestWhatBecomesOfEachOperation(t *testing.T) {
	t.Parallel()
	operations := map[string]string{ // REF is the memory, COMMIT the last that changed it
		"update": "update REF --text Rewritten.", "append": "update REF --append More.",
		"set": "update REF --set valid_until=1999-01-01", "scope": "update REF --scope /elsewhere",
		"move": "move REF /elsewhere", "pin": "pin REF", "forget": "forget REF",
		"revert": "revert COMMIT --yes", "restore": "restore REF --at COMMIT~1",
		"edit": "edit REF", "purge": "forget --purge REF --yes", "adopt": "adopt",
		"config": "config set guard.secrets off",
		"steer":  "move REF memories/AGENTS.md", "hide": "move REF .claude/settings.md", "fix": "doctor --fix",
		"review": "review --accept-all", "accept": "review --proposed --accept-all",
	}
	only := strings.Fields("edit purge adopt config steer hide fix review accept") // a person's
	for _, target := range []string{"agent", "person", "edited"} {
		for _, actor := range []string{"person", "agent", "approved", "everything"} {
			t.Run(actor+" on text of "+target, func(t *testing.T) {
				t.Parallel()
				made := newCell(t, actor, target)
				for name, line := range operations {
					want := "written"
					switch {
					case actor != "person" && slices.Contains(only, name):
						want = "refused"
					case actor == "approved", actor == "agent" && target != "agent":
						want = "proposed"
					}
					if got := made.become(t, line); got != want {
						t.Errorf("%s: %s, want %s", name, got, want)
					}
				}
			})
		}
	}
}

// A cell is a vault with one memory, and somebody who is about to change it.
type cell struct {
	t    *testing.T
	host console.Host
	out  *strings.Builder
	head string
}

func newCell(t *testing.T, actor, target string) *cell {
	dir := t.TempDir()
	env := map[string]string{"HOME": dir, "XDG_CONFIG_HOME": filepath.Join(dir, ".config"),
		"EDITOR":          "sed -i s/4711/4712/",
		"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com",
		"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com"}
	c := &cell{t: t, out: &strings.Builder{}}
	c.host = console.Host{Stdio: console.Stdio{In: strings.NewReader(""), Out: c.out, Err: c.out},
		Getenv: func(key string) string { return env[key] }, Dir: filepath.Join(dir, "v"), Now: time.Now}
	if err := os.Mkdir(c.host.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	by := ""
	if target != "person" {
		by = " --as scribe"
	}
	c.must("init .")
	c.must("remember One. --plain --title Other") // what a revert of the memory leaves
	c.must("remember Code4711. --plain --title Gate" + by)
	c.must("update gate --append Second." + by)
	if target == "edited" {
		file := filepath.Join(c.host.Dir, "memories", "gate.md")
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, append(data, "By hand.\n"...), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.must("adopt")
	}
	c.must("log -n 1 --json")
	c.head = regexp.MustCompile(`"rev":"([0-9a-f]{40})"`).FindStringSubmatch(c.out.String())[1]
	switch actor {
	case "person":
		return c
	case "approved":
		c.must("config set memory.write_approval stage --user")
	case "everything":
		c.must("config set agents.edit all")
	}
	env["STET_AGENT"] = "robo"
	return c
}

func (c *cell) run(line string) int {
	c.out.Reset()
	return run(c.t.Context(), append([]string{"stet"}, strings.Fields(line)...), c.host)
}

func (c *cell) must(line string) {
	c.t.Helper()
	if code := c.run(line); code != console.ExitDone {
		c.t.Fatalf("%s: exit %d: %s", line, code, c.out.String())
	}
}

// become runs a command in a copy of the vault and says what became of it.
func (c cell) become(t *testing.T, line string) string {
	dir := filepath.Join(t.TempDir(), "v")
	if err := os.CopyFS(dir, os.DirFS(c.host.Dir)); err != nil {
		t.Fatal(err)
	}
	c.host.Dir, c.out = dir, &strings.Builder{}
	c.host.Out, c.host.Err = c.out, c.out
	code := c.run(strings.NewReplacer("REF", "memories/gate.md", "COMMIT", c.head).Replace(line))
	switch text := c.out.String(); {
	case code == console.ExitRefused:
		return "refused"
	case code != console.ExitDone:
		return fmt.Sprintf("exit %d: %s", code, text)
	case strings.Contains(text, "proposed  "):
		return "proposed"
	}
	return "written"
}
