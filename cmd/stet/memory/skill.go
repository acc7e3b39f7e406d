package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func skillCommand() *console.Command {
	const writes = "message again as session dry-run"
	return &console.Command{
		Name: "skill", Group: console.Memory,
		Summary: "show, check and change skills: folders with a SKILL.md",
		Args: "[list | view SKILL [FILE] | new SKILL | edit SKILL [FILE] | lint [SKILL...] | install PATH | use | " +
			"pin | unpin | manage | unmanage | archive | restore]", MaxArgs: -1,
		Verbs: []console.Verb{
			{Name: "list", Flags: "archived as", Run: skillList},
			{Name: "view", Args: "SKILL [FILE]", Min: 1, Max: 2, Flags: "as", Run: skillView},
			{Name: "new", Args: "SKILL", Min: 1, Max: 1, Flags: "category description text " + writes, Run: skillNew},
			{Name: "edit", Args: "SKILL [FILE]", Min: 1, Max: 2, Flags: "text match " + writes, Run: skillEdit},
			{Name: "lint", Args: "[SKILL...]", Max: -1, Run: skillLint},
			{Name: "install", Args: "PATH", Min: 1, Max: 1, Flags: "category replace yes message as dry-run",
				Run: skillInstall},
			{Name: "use", Args: "SKILL", Min: 1, Max: 1, Flags: "as", Run: skillUse},
			skillVerb("pin", "pinned", marking(agent.Skills.Pin, true)),
			skillVerb("unpin", "unpinned", marking(agent.Skills.Pin, false)),
			skillVerb("manage", "given over", marking(agent.Skills.Manage, true)),
			skillVerb("unmanage", "taken back", marking(agent.Skills.Manage, false)),
			skillVerb("archive", "archived", agent.Skills.Archive),
			skillVerb("restore", "restored", agent.Skills.Restore),
		},
		Details: `A skill is a folder at any depth below skills/ whose SKILL.md names and describes it in its front
			matter, as the Agent Skills format has it. SKILL is its name, or its folder where several have the name.
			Nothing in a skill is ever run. list shows names and descriptions; view prints SKILL.md and names the
			other files; with FILE, as seen from the skill's folder, it prints that one.

			lint says what is wrong, at which line and column, and how to mend it (exit 6 where there is an error). A
			skill with errors is listed and shown all the same.

			archive moves the whole folder, files of any kind with their bytes and permissions, to archive/, and restore
			moves it back. use notes that a skill was followed; uses, views and changes are counted in this clone alone.

			install brings in skills from elsewhere: PATH is the folder of one or of many, never a SKILL.md alone,
			or an archive of such (.tar.gz, .tar, .zip). Bytes, folders and permissions stay as they are, in one
			commit. A scan says what to look at: orders to a model, words that hide, commands that run what comes
			from a network or send what is secret, programs; it is advice and no proof. Agents are told nothing of
			the skills before you accept them: on a terminal you are asked at once, else "stet review --proposed"
			asks. A skill with a link, a secret or a file that is too large is refused whole, and the others come
			in (exit 8).

			An agent changes skills that agents made, and those that manage gave over to them; what it wants to change
			in another becomes a proposal, and so does what the scan finds. No agent changes a skill that is pinned.`,
		Examples: `stet skill  # names and descriptions
			stet skill view deploy-website  # its SKILL.md, and which files it has
			stet skill view deploy-website references/hosts.md  # one of them
			stet skill lint  # what is wrong with any
			stet skill new deploy --description "Puts the site up" --text -  # from standard input
			stet skill edit deploy-website references/hosts.md  # a file of it, in your editor
			stet skill edit deploy-website --match "port 80" --text "port 443"  # one place of it
			stet skill install ~/Downloads/skills.tar.gz --dry-run  # what is in it, and what the scan says
			stet skill install ~/Downloads/skills.tar.gz --category others  # into skills/others
			stet skill archive deploy-website  # the whole folder; restore brings it back`,
		Flags: skillFlags(),
		Run:   console.RunVerb,
	}
}

func skillFlags() []cli.Flag {
	return console.WriteFlags(
		console.Bool("archived", "skills of the archive"),
		console.Text("category", "the `CATEGORY` that it goes into, a folder below skills/"),
		console.Text("description", "what it does and when to use it, `TEXT`"),
		console.Text("match", "edit: replace this `TEXT`, which stands once in the file, by that of --text"),
		console.Bool("replace", "install: in place of a skill of yours, or one edited since; shows the difference"),
		console.Bool("yes y", "with --replace: do not ask"),
		console.Text("text", "the instructions, or the file, as `TEXT`; \"-\" reads standard input"),
		console.MessageFlag(),
		console.AgainFlag(),
	)
}

func skillList(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	return console.Reading(ctx, e, func(a *agent.App) (*agent.SkillList, error) {
		return a.Skills().List(ctx, in.Bool("archived"))
	}, func(p *console.Printer, found *agent.SkillList) {
		if len(found.Skills) == 0 {
			p.Note("no skills")
		}
		for _, s := range found.Skills {
			line := p.Paint(console.Cyan, console.Line1(s.Name)) + "  " + console.Line1(s.Description)
			var marks []string
			if s.Pinned {
				marks = append(marks, "pinned")
			}
			if s.Waits {
				marks = append(marks, "waits for you: stet review --proposed")
			}
			if s.State == "stale" {
				marks = append(marks, s.State)
			}
			if s.Problem != "" {
				marks = append(marks, "front matter cannot be read as it stands, see stet skill lint")
			}
			if len(marks) > 0 {
				line += "  [" + strings.Join(marks, ", ") + "]"
			}
			p.Printf("%s\n", line)
		}
	})
}

func skillView(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	file := ""
	if len(words) > 1 {
		file = words[1]
	}
	return e.With(ctx, true, func(a *agent.App) error {
		s, err := a.Skills().View(ctx, words[0], file)
		if err != nil {
			return err
		}
		if s.Waits {
			e.Note("it comes from elsewhere, and agents do not see it until you accept it: \"stet review --proposed\"")
		}
		if len(s.Files) > 1 {
			var names []string
			for _, f := range s.Files[1:] {
				names = append(names, f.File)
			}
			e.Note("other files: %s", console.Line1(strings.Join(names, ", ")))
		}
		return e.ShowPaged(ctx, s, func(p *console.Printer) {
			data := s.Data()
			if p.OutTerminal && !utf8.Valid(data) {
				p.Printf("(%s, no text)\n", agent.Plural(len(data), "byte"))
				return
			}
			text := p.Stored(string(data))
			if p.OutTerminal && text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			p.Printf("%s", text)
		})
	})
}

func skillLint(ctx context.Context, e *console.Env, _ *console.Input, words []string) error {
	return e.With(ctx, true, func(a *agent.App) error {
		found, err := a.Skills().Lint(ctx, words)
		if err != nil {
			return err
		}
		err = e.ShowPaged(ctx, found, func(p *console.Printer) {
			for _, f := range found.Findings {
				level := "error"
				if f.Warning {
					level = "warning"
				}
				at := p.Paint(console.Cyan, console.Line1(fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)))
				p.Printf("%s  %s  %s: %s\n", at, level, f.Rule, console.Line1(f.Text))
				p.Lines("    ", f.Fix)
			}
		})
		e.Note("%s checked, %s, %s", agent.Plural(found.Checked, "skill"), agent.Plural(found.Errors, "error"),
			agent.Plural(len(found.Findings)-found.Errors, "warning"))
		if found.Errors > 0 {
			err = errors.Join(err, console.ErrProblems)
		}
		return err
	})
}
