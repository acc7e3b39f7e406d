package console

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"stet/vault/settings"
)

// Overview prints all commands by group.
func Overview(w io.Writer, commands []*Command) error {
	var b strings.Builder
	b.WriteString("stet keeps what you and your agents know as Markdown files in a git repository.\n\n")
	b.WriteString("  $ stet init ~/notes                     make a vault of a folder\n")
	b.WriteString("  $ stet remember \"The gate code is 4711.\" one memory, one file, one commit\n")
	b.WriteString("  $ stet search gate                      find it again\n\n")
	b.WriteString("usage: stet [-C DIR] COMMAND [FLAGS] [ARGUMENTS]\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, g := range Groups() {
		fmt.Fprintf(table, "\n%s\n", g)
		for _, c := range commands {
			if c.Group == g && !c.Hidden {
				fmt.Fprintf(table, "  %s\t%s\n", strings.Join(c.Names(), ", "), c.Summary)
			}
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("\nflags for every command\n")
	writeFlags(&b, GlobalFlags())
	b.WriteString("\n\"stet help COMMAND\" says more; \"stet help exit-codes\" lists the exit codes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Page prints the help of one command, examples first.
func Page(w io.Writer, c *Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "stet %s: %s\n\n", c.Name, c.Summary)
	writeExamples(&b, c)
	fmt.Fprintf(&b, "\nusage: %s\n", Usage(c))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "also called: %s\n", strings.Join(c.Aliases, ", "))
	}
	if c.Details != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Details))
	}
	if len(c.Flags) > 0 {
		b.WriteString("\nflags\n")
		writeFlags(&b, c.Flags)
	}
	b.WriteString("\nflags for every command\n")
	writeFlags(&b, GlobalFlags())
	_, err := io.WriteString(w, b.String())
	return err
}

// Usage is the one line that shows how a command is called.
func Usage(c *Command) string {
	usage := "stet " + c.Name
	if len(c.Flags) > 0 {
		usage += " [FLAGS]"
	}
	if c.Args != "" {
		usage += " " + c.Args
	}
	return usage
}

func writeExamples(b *strings.Builder, c *Command) {
	width := 0
	for _, x := range c.Examples {
		width = max(width, len(x.Line))
	}
	for _, x := range c.Examples {
		fmt.Fprintf(b, "  $ %-*s  %s\n", width, x.Line, x.Says)
	}
}

func writeFlags(b *strings.Builder, flags []cli.Flag) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, f := range flags {
		d := document(f)
		text := d.text
		if d.deflt != "" {
			text += " (default " + d.deflt + ")"
		}
		fmt.Fprintf(table, "  %s\t%s\n", d.names, text)
	}
	// A strings.Builder takes everything.
	_ = table.Flush()
}

// ExitCodes prints the exit code table.
func ExitCodes(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "exit\tmeaning\tcodes in JSON")
	for _, v := range Table() {
		fmt.Fprintf(table, "%d\t%s\t%s\n", v.Exit, v.Meaning, strings.Join(v.Codes(), ", "))
	}
	return table.Flush()
}

// Codes lists the names of the causes, each once.
func (v Verdict) Codes() []string {
	var out []string
	for i, c := range v.Causes {
		if i == 0 || v.Causes[i-1].Name != c.Name {
			out = append(out, c.Name)
		}
	}
	if v.Exit == ExitFailed {
		out = append(out, "failed")
	}
	return out
}

// Reference writes docs/CLI.md: every command, flag, exit code and
// configuration key, from the definitions themselves.
func Reference(commands []*Command) string {
	var b strings.Builder
	b.WriteString("# Command line\n\nGenerated from the command definitions by `go test ./cmd/stet -run Reference -update`; do not edit.\n\n")
	b.WriteString(conventions)
	b.WriteString("\n## Flags for every command\n\n")
	referenceFlags(&b, GlobalFlags())
	referenceKeys(&b)
	b.WriteString("\n## Exit codes\n\n| exit | meaning | `code` in JSON |\n|---:|---|---|\n")
	for _, v := range Table() {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", v.Exit, v.Meaning, strings.Join(v.Codes(), ", "))
	}
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n## Commands: %s\n", g)
		for _, c := range commands {
			if c.Group == g {
				referenceCommand(&b, c)
			}
		}
	}
	return b.String()
}

func referenceKeys(b *strings.Builder) {
	b.WriteString("\n## Configuration\n\n" + configuration +
		"\n| key | value | default | set in | environment | meaning |\n|---|---|---|---|---|---|\n")
	for _, k := range settings.Keys() {
		value := k.Type.String()
		if k.Unit != "" {
			value += ": " + k.Unit
		}
		set := k.SetIn()
		if k.Stricter {
			set += "; the stricter wins"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | `%s` | %s |\n", k.Name, value, cmp.Or(k.Default, "none"), set, k.Env(), k.Meaning)
	}
}

func referenceCommand(b *strings.Builder, c *Command) {
	fmt.Fprintf(b, "\n### stet %s\n\n%s%s.\n\n```text\n%s\n\n", c.Name, strings.ToUpper(c.Summary[:1]), c.Summary[1:], Usage(c))
	writeExamples(b, c)
	b.WriteString("```\n")
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "\nAlso called: `%s`.\n", strings.Join(c.Aliases, "`, `"))
	}
	if c.Details != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(c.Details))
	}
	if len(c.Flags) > 0 {
		b.WriteString("\n")
		referenceFlags(b, c.Flags)
	}
}

func referenceFlags(b *strings.Builder, flags []cli.Flag) {
	b.WriteString("| flag | meaning | default |\n|---|---|---|\n")
	for _, f := range flags {
		d := document(f)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", d.names, strings.ReplaceAll(d.text, "|", "\\|"), d.deflt)
	}
}

// conventions opens docs/CLI.md: what holds for all commands.
const conventions = `Standard output is the answer, standard error is talk, the exit code is the verdict.

* Flags may stand before or after arguments. ` + "`--`" + ` ends flags: text that begins with ` + "`-`" + ` goes after it.
  ` + "`-`" + ` alone is standard input where a command says so; standard input is never read otherwise.
* Which vault: ` + "`-C DIR`" + `, else the nearest ` + "`.stet/config.yaml`" + ` upwards, else ` + "`STET_VAULT`" + `, else
  ` + "`default_vault`" + ` of ` + "`$XDG_CONFIG_HOME/stet/config.yaml`" + ` (` + "`~/.config`" + ` when not set). Every reply to a
  write names the vault's root unless you stand in it.
* Which memory: its path, its id, the first six or more or the last four or more characters of it, its slug or
  its title, as long as only one matches.
* ` + "`--json`" + `: one object ` + "`{schema, vault, command, result, warnings[]}`" + ` on standard output; an error is one line
  ` + "`{schema, error: {code, exit, message, hint, candidates[]}}`" + ` on standard error. ` + "`--dry-run`" + ` gives the same result
  with ` + "`dry_run`" + ` and ` + "`plan: {base, ops[]}`" + ` and writes nothing.
* An agent names itself with ` + "`--as NAME`" + ` or ` + "`STET_AGENT`" + `; without either the person is acting, under git's identity.
* Colour, pager, progress and questions appear on a terminal only. Control characters in stored text are not
  sent to a terminal. ` + "`NO_COLOR`" + `, ` + "`TERM=dumb`" + `, ` + "`PAGER`" + `, ` + "`VISUAL`" + ` and ` + "`EDITOR`" + ` are honoured.
* Ctrl-C stops at the next safe point (exit 130); a second one ends the process at once. Neither tears the vault.
`

// configuration opens the table of keys in docs/CLI.md.
const configuration = `A flag outweighs the environment, the environment the vault's ` + "`.stet/config.yaml`" + `, that the person's own
` + "`$XDG_CONFIG_HOME/stet/config.yaml`" + ` (` + "`~/.config`" + ` when not set), that the default. Keys may be nested
(` + "`watch:`" + ` above ` + "`  commit: true`" + `) or dotted (` + "`watch.commit: true`" + `). In the person's own file an unknown key or a
wrong value is an error (exit 2). In a vault's file it is a warning and is passed over, because a newer stet may share
the vault, and so is a key that only the person may set. ` + "`stet config`" + ` shows and changes all of them.
`
