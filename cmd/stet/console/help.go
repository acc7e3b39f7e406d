package console

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/vault/settings"
)

// pageWidth and pageHeight are how many columns and rows a help page has.
const pageWidth, pageHeight = 80, 24

// wrap breaks a text at its spaces into lines of at most width columns; a longer word has a line
// of its own.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case cells.Width(*last)+1+cells.Width(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// columns prints rows of two texts, the second wrapped beside the first, or below it where the
// first is long.
func columns(b *strings.Builder, rows [][2]string) {
	const most = 30
	width := 0
	for _, r := range rows {
		if n := cells.Width(r[0]); n <= most {
			width = max(width, n)
		}
	}
	for _, r := range rows {
		left := r[0]
		for i, line := range wrap(r[1], pageWidth-width-4) {
			if i > 0 || cells.Width(left) > width {
				if i == 0 {
					fmt.Fprintf(b, "  %s\n", left)
				}
				left = ""
			}
			fmt.Fprintf(b, "  %s  %s\n", cells.Pad(left, width), line)
		}
	}
}

// paragraph prints a text of any length; what goes on is indented.
func paragraph(b *strings.Builder, text, indent string) {
	b.WriteString(strings.Join(wrap(text, pageWidth-len(indent)), "\n"+indent) + "\n")
}

// ShowHelp prints the help of one command, with nil a screen about the commonest ones.
func ShowHelp(ctx context.Context, e *Env, commands []*Command, c *Command) error {
	if c == nil {
		return e.ShowPaged(ctx, viewAll(commands), func(p *Printer) { p.Printf("%s", firstPage(commands)) })
	}
	return e.ShowPaged(ctx, viewCommand(c), func(p *Printer) { p.Printf("%s", page(c)) })
}

// ShowTopic prints one of [Topics]: every command by group, the flags that all take, the exit codes, or what an agent
// may do. It is false for any other.
func ShowTopic(ctx context.Context, e *Env, commands []*Command, topic string) (bool, error) {
	switch topic {
	case "all":
		return true, e.ShowPaged(ctx, viewAll(commands), func(p *Printer) { p.Printf("%s", overview(commands)) })
	case "flags":
		var b strings.Builder
		b.WriteString("Flags for every command, before or behind its name:\n\n")
		writeFlags(&b, GlobalFlags())
		return true, e.ShowPaged(ctx, viewFlags(GlobalFlags()), func(p *Printer) { p.Printf("%s", b.String()) })
	case "exit-codes":
		return true, showExitCodes(ctx, e)
	case "agents":
		return true, showAgents(ctx, e)
	}
	return false, nil
}

// Topics are what "stet help" knows besides commands.
func Topics() []string { return []string{"all", "flags", "exit-codes", "agents"} }

const usageLine = "usage: stet [-C DIR] COMMAND [FLAGS] [ARGUMENTS]\n"

// commonest are the commands of the first page, each of which fits a line of it.
func commonest() []string {
	return []string{"status", "remember", "search", "list", "show", "edit", "forget", "undo", "import", "install"}
}

// alsoCommon are the commands that the first page names without a summary.
func alsoCommon() []string {
	return []string{"new", "today", "move", "links", "history", "log", "diff", "restore", "review", "session"}
}

// firstPage fits a screen of 80 columns and 24 lines.
func firstPage(commands []*Command) string {
	var b strings.Builder
	paragraph(&b, "stet keeps what you and your agents know as Markdown files in a git repository.", "")
	b.WriteString("\n  $ stet init ~/notes                       make a vault of a folder\n" +
		"  $ stet remember \"The gate code is 4711.\" one memory, one file, one commit\n" +
		"  $ stet search gate                        find it again\n\n" + usageLine + "\n")
	var rows [][2]string
	for _, name := range commonest() {
		rows = append(rows, [2]string{name, Find(commands, name).Summary})
	}
	columns(&b, rows)
	b.WriteString("\n")
	paragraph(&b, "Also common: "+strings.Join(alsoCommon(), ", ")+". \"stet help all\" lists every command, "+
		"\"stet help COMMAND\" begins with examples, \"stet help flags\" says what all commands take.", "")
	return b.String()
}

// overview is the list of all commands by group.
func overview(commands []*Command) string {
	var b strings.Builder
	b.WriteString(usageLine)
	for _, g := range groups() {
		var rows [][2]string
		for _, c := range commands {
			if c.Group == g && !c.Hidden {
				rows = append(rows, [2]string{strings.Join(c.Names(), ", "), c.Summary})
			}
		}
		fmt.Fprintf(&b, "\n%s\n", g)
		columns(&b, rows)
	}
	b.WriteString("\n\"stet help COMMAND\" says more; \"stet help flags\" lists what every command takes.\n")
	return b.String()
}

// page is the help of one command, examples first.
func page(c *Command) string {
	var b strings.Builder
	paragraph(&b, fmt.Sprintf("stet %s: %s", c.Name, c.Summary), "  ")
	b.WriteString("\n")
	writeExamples(&b, c)
	b.WriteString("\n")
	paragraph(&b, "usage: "+usageOf(c), "       ")
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "also called: %s\n", strings.Join(c.Aliases, ", "))
	}
	for _, p := range c.paragraphs() {
		b.WriteString("\n")
		paragraph(&b, p, "")
	}
	if len(c.Flags) > 0 {
		b.WriteString("\nflags\n")
		writeFlags(&b, c.Flags)
	}
	b.WriteString("\n\"stet help flags\" lists the flags that every command takes.\n")
	return b.String()
}

// usageOf is the one line that shows how a command is called.
func usageOf(c *Command) string {
	usage := "stet " + c.Name
	if len(c.Flags) > 0 {
		usage += " [FLAGS]"
	}
	if c.Args != "" {
		usage += " " + c.Args
	}
	return usage
}

// writeExamples prints each example, and what it does behind or, where it is long, below it.
func writeExamples(b *strings.Builder, c *Command) {
	width, all := 0, c.ListExamples()
	for _, x := range all {
		width = max(width, len("  $ "+x.Line))
	}
	for _, x := range all {
		line, column := "  $ "+x.Line, min(width, pageWidth/2)
		if len(line) > column || column+2+len(x.Says) > pageWidth {
			fmt.Fprintf(b, "%s\n        %s\n", line, strings.Join(wrap(x.Says, pageWidth-8), "\n        "))
		} else {
			fmt.Fprintf(b, "%-*s  %s\n", column, line, x.Says)
		}
	}
}

func writeFlags(b *strings.Builder, flags []cli.Flag) {
	var rows [][2]string
	for _, v := range viewFlags(flags) {
		rows = append(rows, [2]string{v.usage(), v.text()})
	}
	columns(b, rows)
}

// text is what a flag means and its default.
func (v flagView) text() string {
	if v.Default == "" {
		return v.Meaning
	}
	return v.Meaning + " (default " + v.Default + ")"
}

// showExitCodes prints the exit code table.
func showExitCodes(ctx context.Context, e *Env) error {
	type row struct {
		Exit    int      `json:"exit"`
		Meaning string   `json:"meaning"`
		Codes   []string `json:"codes"`
	}
	var rows []row
	var b strings.Builder
	b.WriteString("The meaning of each exit code, and the codes in JSON that stand for it:\n\n")
	for _, v := range table() {
		rows = append(rows, row{v.Exit, v.Meaning, v.codes()})
		fmt.Fprintf(&b, "%-4d  %s\n      ", v.Exit, v.Meaning)
		paragraph(&b, strings.Join(v.codes(), ", "), "      ")
	}
	return e.ShowPaged(ctx, rows, func(p *Printer) { p.Printf("%s", b.String()) })
}

// showAgents shows what an agent may do.
func showAgents(ctx context.Context, e *Env) error {
	var b strings.Builder
	b.WriteString("What an agent may do. Files that steer programs (CLAUDE.md, dot folders, build\n" +
		"files) and stet's own settings are no agent's to write.\n\n")
	for _, r := range agent.Policy() {
		paragraph(&b, strings.Join(r.Commands, ", "), "  ")
		b.WriteString("      ")
		paragraph(&b, r.Says(), "      ")
	}
	return e.ShowPaged(ctx, agent.Policy(), func(p *Printer) { p.Printf("%s", b.String()) })
}

// codes lists the names of the causes, each once.
func (v verdict) codes() []string {
	var out []string
	for _, c := range v.Causes {
		out = append(out, c.Name)
	}
	if v.Exit == ExitFailed {
		out = append(out, "failed")
	}
	return slices.Compact(out)
}

//go:embed reference.md
var reference string

// Reference is docs/CLI.md: every command, flag, exit code and configuration key, from the
// definitions themselves.
func Reference(commands []*Command) string {
	var flags, keys, exits, may, all strings.Builder
	for _, r := range agent.Policy() {
		fmt.Fprintf(&may, "| `%s` | %s |\n", strings.Join(r.Commands, "`, `"), r.Says())
	}
	referenceFlags(&flags, GlobalFlags())
	for _, k := range settings.Keys() {
		value, set := k.Type.String(), k.SetIn()
		if k.Unit != "" {
			value += ": " + k.Unit
		}
		if k.Stricter {
			set += "; the stricter wins"
		}
		if k.Agents != settings.Free {
			set += "; " + string(k.Agents)
		}
		fmt.Fprintf(&keys, "| `%s` | %s | %s | %s | `%s` | %s |\n", k.Name, value, cmp.Or(k.Default, "none"), set,
			k.Env(), k.Meaning)
	}
	for _, v := range table() {
		fmt.Fprintf(&exits, "| %d | %s | %s |\n", v.Exit, v.Meaning, strings.Join(v.codes(), ", "))
	}
	for _, g := range groups() {
		fmt.Fprintf(&all, "\n## Commands: %s\n", g)
		for _, c := range commands {
			if c.Group == g {
				referenceCommand(&all, c)
			}
		}
	}
	return fmt.Sprintf(reference, flags.String(), keys.String(), exits.String(), may.String(), all.String())
}

func referenceCommand(b *strings.Builder, c *Command) {
	fmt.Fprintf(b, "\n### stet %s\n\n%s%s.\n\n```text\n%s\n\n", c.Name, strings.ToUpper(c.Summary[:1]), c.Summary[1:],
		usageOf(c))
	writeExamples(b, c)
	b.WriteString("```\n")
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "\nAlso called: `%s`.\n", strings.Join(c.Aliases, "`, `"))
	}
	for _, p := range c.paragraphs() {
		fmt.Fprintf(b, "\n%s\n", strings.Join(wrap(p, 100), "\n"))
	}
	if len(c.Flags) > 0 {
		b.WriteString("\n")
		referenceFlags(b, c.Flags)
	}
}

func referenceFlags(b *strings.Builder, flags []cli.Flag) {
	b.WriteString("| flag | meaning | default |\n|---|---|---|\n")
	for _, v := range viewFlags(flags) {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", v.usage(), strings.ReplaceAll(v.Meaning, "|", "\\|"), v.Default)
	}
}
