package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

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
