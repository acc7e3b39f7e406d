package console_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func someCommands() []*console.Command {
	return []*console.Command{
		{Name: "remember", Aliases: []string{"add"}, MaxArgs: -1, Flags: []cli.Flag{
			&cli.StringFlag{Name: "scope"}, &cli.StringSliceFlag{Name: "category", Aliases: []string{"c"}},
			&cli.BoolFlag{Name: "pin", Aliases: []string{"p"}}, &cli.IntFlag{Name: "limit", Aliases: []string{"n"}},
		}},
		{Name: "revert", Flags: []cli.Flag{&cli.StringFlag{Name: "session"}}},
	}
}

func TestFlagsMayStandAnywhereBeforeTheDashes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, argv string }{
		{"remember a --scope /x b", "stet remember --scope /x -- a b"},
		{"add a", "stet remember -- a"},
		{"remember a --json -C d", "stet --json -C d remember -- a"},
		{"-C remember remember x", "stet -C remember remember -- x"},
		{"--json remember - --pin", "stet --json remember --pin -- -"},
		{"remember -- --pin -x", "stet remember -- --pin -x"},
		{"remember -- -- a", "stet remember -- -- a"},
		{"remember --scope=/x --pin=false a", "stet remember --scope=/x --pin=false -- a"},
		{"remember --scope --pin a", "stet remember --scope --pin -- a"},
		{"remember -n5 a", "stet remember -n 5 -- a"},
		{"remember -pn5", "stet remember -p -n 5 --"},
		{"remember -c a -c b", "stet remember -c a -c b --"},
		{"remember help", "stet remember -- help"},
		{"", "stet"},
		{"--json", "stet --json"},
	} {
		line, err := console.Parse(someCommands(), append([]string{"stet"}, strings.Fields(c.in)...))
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		if got := strings.Join(line.Argv, " "); got != c.argv {
			t.Errorf("Parse(%q) = %q, want %q", c.in, got, c.argv)
		}
	}
}

func TestParseErrorsAreUsageErrorsWithANextStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, text, hint string }{
		{"remembr x", `unknown command "remembr"`, `"stet remember"`},
		{"rveert x", `unknown command "rveert"`, `"stet revert"`},
		{"xyzzy", `unknown command "xyzzy"`, "stet help"},
		{"remember --scop /x", `no flag "--scop"`, "--scope"},
		{"remember -5", `no flag "-5"`, `after "--"`},
		{"remember a --frobnicate", `no flag "--frobnicate"`, `after "--"`},
		{"remember --scope", "--scope needs a value", ""},
		{"--scope /x remember", `stet has no flag "--scope"`, "stet COMMAND --scope"},
		{"-- remember", "", ""},
	} {
		_, err := console.Parse(someCommands(), append([]string{"stet"}, strings.Fields(c.in)...))
		if c.text == "" {
			if err != nil && !errors.Is(err, agent.ErrUsage) {
				t.Errorf("Parse(%q): %v", c.in, err)
			}
			continue
		}
		var usage *agent.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("Parse(%q) = %v, want a usage error", c.in, err)
			continue
		}
		if !strings.Contains(usage.Error(), c.text) || !strings.Contains(usage.Hint(), c.hint) {
			t.Errorf("Parse(%q) = %q, hint %q; want %q, hint %q", c.in, usage.Error(), usage.Hint(), c.text, c.hint)
		}
	}
}

func TestOwnFlagsWinAndDashesAreCounted(t *testing.T) {
	t.Parallel()
	line, err := console.Parse(someCommands(), []string{"stet", "revert", "a", "--session", "s", "--", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if line.Literal != 1 || !slices.Equal(line.Words, []string{"a", "b"}) {
		t.Errorf("words %q, literal %d; want [a b], 1", line.Words, line.Literal)
	}
}

func TestJSONIsKnownEvenWhenTheLineIsWrong(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"nosuch --json": true, "remember --nosuch --json": true,
		"nosuch -- --json": false, "nosuch": false} {
		line, err := console.Parse(someCommands(), append([]string{"stet"}, strings.Fields(in)...))
		if err == nil || line.JSON != want {
			t.Errorf("Parse(%q): JSON %v, error %v; want %v and an error", in, line.JSON, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"remember a --scope /x", "-C", "add -pn5 -- -x", "--json=true remember", "remember -=",
		"-- x", "remember --=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		args := append([]string{"stet"}, strings.Split(in, " ")...)
		line, err := console.Parse(someCommands(), args)
		if err != nil {
			if !errors.Is(err, agent.ErrUsage) {
				t.Fatalf("Parse(%q) = %v, want a usage error", in, err)
			}
			return
		}
		// Every word is one of the arguments, in order, and none is lost after "--".
		rest := args[1:]
		for _, w := range line.Words {
			i := slices.Index(rest, w)
			if i < 0 {
				t.Fatalf("Parse(%q): word %q is not among the arguments", in, w)
			}
			rest = rest[i+1:]
		}
		if line.Literal > len(line.Words) {
			t.Fatalf("Parse(%q): literal %d of %d words", in, line.Literal, len(line.Words))
		}
	})
}
