package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// Manual writes the manual page of one command, or with nil the page of stet
// itself, as man(7) source.
func Manual(w io.Writer, commands []*Command, c *Command) error {
	var b strings.Builder
	if c == nil {
		manualOfAll(&b, commands)
	} else {
		manualOf(&b, c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ManualName is the name of the page, "stet-move" for move.
func ManualName(c *Command) string {
	if c == nil {
		return "stet"
	}
	return "stet-" + c.Name
}

func manualOfAll(b *strings.Builder, commands []*Command) {
	manualHead(b, nil, "keep what you and your agents know as Markdown files in a git repository", "stet [-C DIR] COMMAND [FLAGS] [ARGUMENTS]")
	b.WriteString(".SH COMMANDS\n")
	for _, g := range Groups() {
		fmt.Fprintf(b, ".SS %s\n", roff(string(g)))
		for _, c := range commands {
			if c.Group == g {
				fmt.Fprintf(b, ".TP\n.BR %s (1)\n%s\n", roff(ManualName(c)), roffLine(c.Summary))
			}
		}
	}
	manualFlags(b, "OPTIONS", GlobalFlags())
	b.WriteString(".SH EXIT STATUS\n")
	for _, v := range Table() {
		fmt.Fprintf(b, ".TP\n.B %d\n%s\n", v.Exit, roffLine(v.Meaning))
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, x := range [][2]string{
		{"STET_VAULT", "the vault used where neither -C nor the current folder leads to one"},
		{"STET_AGENT", "the agent that is acting, as --as"},
		{"VISUAL, EDITOR, PAGER", "the programs that edit and show text"},
		{"NO_COLOR", "no colour"},
	} {
		fmt.Fprintf(b, ".TP\n.B \"%s\"\n%s\n", roff(x[0]), roffLine(x[1]))
	}
}

func manualOf(b *strings.Builder, c *Command) {
	manualHead(b, c, c.Summary, Usage(c))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, ".PP\nAlso called: %s\n", roffLine(strings.Join(c.Aliases, ", ")))
	}
	if c.Details != "" {
		b.WriteString(".SH DESCRIPTION\n")
		for line := range strings.SplitSeq(strings.TrimSpace(c.Details), "\n") {
			b.WriteString(roffLine(line) + "\n")
		}
	}
	b.WriteString(".SH EXAMPLES\n")
	for _, x := range c.Examples {
		fmt.Fprintf(b, ".PP\n%s:\n.PP\n.RS\n.nf\n%s\n.fi\n.RE\n", roffLine(x.Says), roffLine("$ "+x.Line))
	}
	if len(c.Flags) > 0 {
		manualFlags(b, "OPTIONS", c.Flags)
	}
	b.WriteString(".SH SEE ALSO\n.BR stet (1)\n")
}

func manualHead(b *strings.Builder, c *Command, summary, usage string) {
	name := ManualName(c)
	fmt.Fprintf(b, ".TH %s 1 \"\" stet \"stet manual\"\n.nh\n.ad l\n", roff(strings.ToUpper(name)))
	fmt.Fprintf(b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n%s\n", roff(name), roff(summary), roffLine(usage))
}

func manualFlags(b *strings.Builder, heading string, flags []cli.Flag) {
	fmt.Fprintf(b, ".SH %s\n", heading)
	for _, f := range flags {
		d := document(f)
		text := d.text
		if d.deflt != "" {
			text += " (default " + d.deflt + ")"
		}
		fmt.Fprintf(b, ".TP\n.B \"%s\"\n%s\n", roff(d.names), roffLine(text))
	}
}

// roff escapes text inside a line.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(s)
}

// roffLine escapes a whole line, which must not begin like a request.
func roffLine(s string) string {
	s = roff(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
