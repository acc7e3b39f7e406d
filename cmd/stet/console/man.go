package console

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// ManualName is the name of a command's manual page, "stet-move" for move, "stet" for nil.
func ManualName(c *Command) string {
	if c == nil {
		return "stet"
	}
	return "stet-" + c.Name
}

// Manual is the manual page of one command, or with nil the page of stet itself, as man(7) source.
func Manual(commands []*Command, c *Command) string {
	var b strings.Builder
	summary := "keep what you and your agents know as Markdown files in a git repository"
	usage := "stet [-C DIR] COMMAND [FLAGS] [ARGUMENTS]"
	if c != nil {
		summary, usage = c.Summary, usageOf(c)
	}
	name := ManualName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" stet \"stet manual\"\n.nh\n.ad l\n", roff(strings.ToUpper(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n%s\n", roff(name), roff(summary), roff(usage))
	if c == nil {
		manualOfAll(&b, commands)
		return b.String()
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, p := range c.paragraphs() {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(p))
	}
	b.WriteString(".SH EXAMPLES\n")
	for _, x := range c.ListExamples() {
		fmt.Fprintf(&b, ".PP\n%s:\n.PP\n.RS\n.nf\n%s\n.fi\n.RE\n", roff(x.Says), roff("$ "+x.Line))
	}
	manualFlags(&b, c.Flags)
	b.WriteString(".SH SEE ALSO\n.BR stet (1)\n")
	return b.String()
}

func manualOfAll(b *strings.Builder, commands []*Command) {
	b.WriteString(".SH COMMANDS\n")
	for _, g := range groups() {
		fmt.Fprintf(b, ".SS %s\n", roff(string(g)))
		for _, c := range commands {
			if c.Group == g {
				fmt.Fprintf(b, ".TP\n.BR %s (1)\n%s\n", roff(ManualName(c)), roff(c.Summary))
			}
		}
	}
	manualFlags(b, GlobalFlags())
	b.WriteString(".SH EXIT STATUS\n")
	for _, v := range table() {
		fmt.Fprintf(b, ".TP\n.B %d\n%s\n", v.Exit, roff(v.Meaning))
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, x := range [][2]string{
		{"STET_VAULT", "the vault used where neither -C nor the current folder leads to one"},
		{"STET_AGENT", "the agent that is acting, as --as NAME"},
		{"VISUAL, EDITOR, PAGER", "the programs that edit and show text"},
		{"NO_COLOR", "no colour"},
	} {
		fmt.Fprintf(b, ".TP\n.B \"%s\"\n%s\n", roff(x[0]), roff(x[1]))
	}
}

func manualFlags(b *strings.Builder, flags []cli.Flag) {
	if len(flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
	}
	for _, v := range viewFlags(flags) {
		fmt.Fprintf(b, ".TP\n.B \"%s\"\n%s\n", roff(v.usage()), roff(v.text()))
	}
}

// roff escapes a line, which must not begin like a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`,
		`\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
