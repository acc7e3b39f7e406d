package door

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/clients"
	"stet/cmd/stet/console"
)

func installCommand() *console.Command {
	return &console.Command{
		Name: "install", Group: console.Doors,
		Summary: "set a client up for stet: its server, its hooks, a skill", Args: "CLIENT | plugin DIR", MaxArgs: 2,
		Words: clientNames(),
		Details: `Adds to the client's own files the server "stet mcp", the hooks "stet hook CLIENT EVENT", the tools
			that only read and memory_save to those that may be called unasked, and a skill that says when to use
			them. The change is shown first, and you are asked. Without a vault and default_vault a vault is made,
			~/notes-stet, and named as default_vault; the vault of the current folder becomes default_vault where
			none is set, and you named it with -C or agree to it. A vault that you made elsewhere is offered instead, as
			far as your state folder knows of it; with --yes it is named and not taken: -C takes it. Where the program
			"claude" is there, it adds the server itself: a running one writes that file anew.

			Only what is added changes: order, comments, indent and all else of your files stay, and "stet uninstall"
			takes out exactly that. A second install changes nothing, also nothing that you changed after the first
			one; of a binary that moved it changes the path, and with --mcp-only or --ask-each it takes out again what
			they leave out. A file that is malformed or read-only is named, and nothing is written. The client's own
			memory is neither used nor switched off.

			vscode, opencode and claude-desktop get no file of theirs changed: what belongs there is printed.
			"install plugin DIR" writes the same as one folder that Claude Code takes as a plugin.`,
		Examples: `stet install claude-code  # shows what would change, and asks
			stet install codex --dry-run  # only shows it
			stet install cursor --project --yes  # in the current folder, unasked
			stet install claude-code --mcp-only  # the server alone
			stet install vscode  # prints what belongs into its file
			stet install --check  # of every client: does it start this stet?
			stet install plugin ./stet-plugin --yes  # as a plugin of Claude Code`,
		Flags: console.Flags(append(wherever(),
			console.Bool("mcp-only", "only the server: no hooks, no skill"),
			console.Bool("ask-each", "name no tools that may be called unasked"),
			console.Bool("print", "print what belongs into each file, and write nothing"),
			console.Bool("check", "say what is installed and whether it starts this stet; exit 6 when not"))...),
		Run: runInstall,
	}
}

func uninstallCommand() *console.Command {
	return &console.Command{
		Name: "uninstall", Group: console.Doors,
		Summary: "take stet out of the files of a client", Args: "CLIENT | plugin DIR", MaxArgs: 2,
		Words: clientNames(),
		Details: `Takes out what "stet install" added, and what it made for that alone; where nothing else was
			changed, the files are as they were. What stood there before the first install stays, and so do a skill
			that you edited, the vault and default_vault. What install added is noted in your state folder
			(installed.json); where that is missing, what starts stet is taken out, and the list of what may be
			called unasked is left.`,
		Examples: `stet uninstall claude-code  # shows what would change, and asks
			stet uninstall codex --dry-run  # only shows it
			stet uninstall cursor --project --yes  # in the current folder, unasked`,
		Flags: console.Flags(wherever()...),
		Run:   runUninstall,
	}
}

func clientNames() []string { return append(clients.Names(), agent.PluginClient) }

// wherever are the flags that both commands have.
func wherever() []cli.Flag {
	return []cli.Flag{
		console.Bool("user", "your own files: the default"),
		console.Bool("project", "the files of the current folder"),
		console.Bool("yes", "write without asking"),
		console.Bool("dry-run", "show what would be written and write nothing"),
	}
}

func installOptions(e *console.Env, in *console.Input) (agent.InstallOptions, error) {
	o := agent.InstallOptions{Write: e.By(in), Client: in.Word(0), MCPOnly: in.Bool("mcp-only"),
		AskEach: in.Bool("ask-each"), Print: in.Bool("print"), Start: start, Has: func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		}}
	switch {
	case o.Client == "" && !in.Bool("check"):
		return o, agent.Usagef("say which client").Suggest("one of %s", strings.Join(clientNames(), ", "))
	case in.Bool("user") && in.Bool("project"):
		return o, agent.Usagef("--user and --project cannot be used together")
	case (o.Client == agent.PluginClient) != (in.Word(1) != ""):
		return o, agent.Usagef("a folder goes with plugin, and only with it").Suggest("stet install plugin DIR")
	case in.Bool("project"):
		o.Project = e.Dir
	case o.Client == agent.PluginClient:
		o.Project = e.Abs(in.Word(1))
	}
	var err error
	if o.Binary, err = binary(); err != nil {
		return o, err
	}
	if in.Bool("yes") {
		return o, nil
	}
	o.Confirm = func(plan *agent.Installation) (bool, error) {
		if !e.CanAsk() {
			return false, agent.Usagef("nobody is here to agree to the change").
				Suggest("--yes writes it unasked, --dry-run shows it")
		}
		if err := e.Show(plan, func(p *console.Printer) { printPlan(p, plan, true) }); err != nil {
			return false, err
		}
		return e.Confirm("write this?")
	}
	return o, nil
}

func runInstall(ctx context.Context, e *console.Env, in *console.Input) error {
	o, err := installOptions(e, in)
	switch {
	case err != nil:
		return err
	case in.Bool("check"):
		return checkInstalled(e, o, in)
	}
	res, err := e.Install(ctx, o)
	return shown(ctx, e, o, res, err, "installed")
}

func runUninstall(ctx context.Context, e *console.Env, in *console.Input) error {
	o, err := installOptions(e, in)
	if err != nil {
		return err
	}
	res, err := e.Uninstall(ctx, o)
	return shown(ctx, e, o, res, err, "uninstalled")
}

func shown(
	ctx context.Context, e *console.Env, o agent.InstallOptions, res *agent.Installation, err error, verb string,
) error {
	if err != nil {
		return err
	}
	e.SetRoot(res.Vault)
	return e.ShowPaged(ctx, res, func(p *console.Printer) {
		if o.Confirm == nil || res.DryRun || res.Printed || res.Unchanged {
			printPlan(p, res, false)
		}
		switch {
		case res.Printed || res.DryRun:
		case res.Unchanged:
			p.Printf("%s: nothing to do\n", res.Title)
		default:
			p.Printf("%s: %s\n", res.Title, verb)
		}
		for _, line := range res.Then {
			p.Folded("then  "+console.Line1(line)+"\n", 6)
		}
	}, res.DryRun)
}

// mostAsked is how many lines of a difference are shown before a question: a terminal has few rows.
const mostAsked = 16

// abridged is a difference for whoever is asked: whole, or how many lines it is. A part of it would look like a
// broken file.
func abridged(diff string) string {
	lines := map[byte]int{'+': -1, '-': -1} // its first two lines name the file
	for line := range strings.Lines(diff) {
		lines[line[0]]++
	}
	if lines['+']+lines['-'] <= mostAsked {
		return diff
	}
	return fmt.Sprintf("\\ %s put in, %s taken out: --dry-run shows them\n",
		agent.Plural(lines['+'], "line"), agent.Plural(lines['-'], "line"))
}

// printPlan shows what becomes of each file, its difference abridged where the user is asked, and of the vault.
func printPlan(p *console.Printer, res *agent.Installation, asked bool) {
	for _, f := range res.Files {
		switch {
		case f.Content != "":
			p.Printf("%s\n", console.Line1(f.Path))
			p.Lines("  ", f.Content)
			continue
		case f.Action == "kept":
			p.Printf("kept  %s  (it differs from the skill of stet: read it; remove it and install again for ours)\n",
				console.Line1(f.Path))
			continue
		case f.Action == "unchanged":
			continue
		case f.Command != "":
			p.Printf("run  %s\n", console.Line1(f.Command))
			continue
		}
		if filepath.Base(f.Path) == "SKILL.md" {
			p.Printf("%s  %s  (%s)\n", f.Action, console.Line1(f.Path),
				agent.Plural(max(strings.Count(f.Diff, "\n+")-1, strings.Count(f.Diff, "\n-")), "line"))
			continue
		}
		p.Printf("%s  %s\n", f.Action, console.Line1(f.Path))
		if asked {
			f.Diff = abridged(f.Diff)
		}
		p.Diff(f.Diff)
	}
	for _, line := range res.About {
		p.Folded(console.Line1(line)+"\n", 4)
	}
	// Last, where who is asked sees it on a terminal of few rows.
	if res.SetsDefault && res.Vault != "" {
		p.Printf("set in your configuration  default_vault = %s\n", console.Line1(res.Vault))
	}
	switch {
	case res.NewVault:
		p.Printf("make a vault  %s\n", console.Line1(res.Vault))
	case asked && res.Vault != "":
		p.Printf("in the vault  %s\n", console.Line1(res.Vault))
	}
}

func checkInstalled(e *console.Env, o agent.InstallOptions, in *console.Input) error {
	o.Project = ""
	if in.Bool("project") {
		o.Project = e.Dir
	}
	found, err := e.Installed(o)
	if err != nil {
		return err
	}
	bad := false
	err = e.Show(map[string]any{"installed": found, "binary": o.Binary}, func(p *console.Printer) {
		for _, s := range found {
			p.Printf("%s  %s  ", s.Client, console.Line1(s.Path))
			switch {
			case s.Problem != "":
				p.Printf("%s: %s\n", console.Line1(s.Problem), s.Hint)
			case s.Skill:
				p.Printf("skill\n")
			case s.Hooks > 0:
				p.Printf("%s\n", agent.Plural(s.Hooks, "hook"))
			default:
				p.Printf("server\n")
			}
		}
		if len(found) == 0 {
			p.Printf("stet is installed in no client\n")
		}
	})
	for _, s := range found {
		bad = bad || s.Problem != ""
	}
	if err == nil && bad {
		return console.ErrProblems
	}
	return err
}

// binary is the path by which this program is started: a name on PATH that leads to it outlives an update.
func binary() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	named, err := exec.LookPath("stet")
	if err != nil || !filepath.IsAbs(named) {
		return exe, nil
	}
	a, err := os.Stat(exe)
	b, berr := os.Stat(named)
	if err == nil && berr == nil && os.SameFile(a, b) {
		return named, nil
	}
	return exe, nil
}

// patience is how long a program of a client's may take.
const patience = time.Minute

// start runs a program of a client's, which can ask nothing.
func start(ctx context.Context, words []string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var said bytes.Buffer
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil {
		return errors.Join(fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String())), ctx.Err())
	}
	return nil
}
