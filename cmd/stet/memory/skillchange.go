package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/templates"
	"stet/vault"
)

// skillWriting runs a use case that changes a skill, and tells what it did.
func skillWriting(
	ctx context.Context, e *console.Env, verb string, write func(agent.Skills) (*agent.SkillWritten, error),
) error {
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := write(a.Skills())
		if err != nil {
			return err
		}
		lines := func(p *console.Printer, verb string) {
			line := verb + "  " + string(res.Skill.Path)
			if res.From != "" {
				line = verb + "  " + string(res.From) + " -> " + string(res.Skill.Path)
			}
			p.Printf("%s  (%s)%s\n", console.Line1(line), agent.Plural(len(res.Changes), "file"), p.Where())
		}
		return console.PrintAs(ctx, e, res, res.Written, console.More{Verb: verb, Lines: lines})
	})
}

func skillNew(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	text, err := textArgument(e, in.String("text"), true)
	if err != nil {
		return err
	}
	if in.String("description") == "" && !strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "---") {
		return agent.Usagef("skill %q: no \"description\" was given", words[0]).
			Suggest("say what it does and when to use it: --description TEXT")
	}
	o := agent.NewSkillOptions{Write: e.ByInSession(in), Name: words[0], Category: in.String("category"),
		Description: in.String("description"), Text: text}
	return skillWriting(ctx, e, "made", func(s agent.Skills) (*agent.SkillWritten, error) {
		res, err := s.New(ctx, o)
		if err == nil && text == "" && !o.DryRun && len(res.Proposed) == 0 {
			e.Note("it has no instructions yet: \"stet skill edit %s\" writes them", templates.Quote(o.Name))
		}
		return res, err
	})
}

func skillEdit(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	file := ""
	if len(words) > 1 {
		file = words[1]
	}
	if in.IsSet("text") {
		text, err := textArgument(e, in.String("text"), true)
		if err != nil {
			return err
		}
		o := agent.PutSkillOptions{Write: e.ByInSession(in), Ref: words[0], File: file, Text: text}
		if in.IsSet("match") {
			o.Change = func(was []byte) ([]byte, error) { return replaceOnce(was, in.String("match"), text) }
		}
		put := func(s agent.Skills) (*agent.SkillWritten, error) { return s.Put(ctx, o) }
		return skillWriting(ctx, e, "edited", put)
	}
	if in.IsSet("match") {
		return agent.Usagef("--match goes with --text")
	}
	if in.Bool("dry-run") {
		return agent.Usagef("--dry-run goes with --text: the editor shows what is written")
	}
	editor, err := editorOf(e, "skill edit",
		`"stet skill edit SKILL FILE --text -" reads the new text from standard input`)
	if err != nil && e.By(in).Agent == "" { // an agent is refused in any case
		return err
	}
	return skillWriting(ctx, e, "edited", func(s agent.Skills) (*agent.SkillWritten, error) {
		return s.Edit(ctx, words[0], file, e.ByInSession(in), editor)
	})
}

// replaceOnce puts text in the place of the one part of a file that is like old.
func replaceOnce(was []byte, old, text string) ([]byte, error) {
	switch n := strings.Count(string(was), old); {
	case n == 0 || old == "":
		return nil, vault.WithHint(fmt.Errorf("%q: %w: the file does not have this text", old, vault.ErrNotFound),
			"\"stet skill view SKILL FILE\" prints it; --match takes its bytes as they stand")
	case n > 1:
		return nil, vault.WithHint(fmt.Errorf("%q: %w: the file has this text %s", old, vault.ErrAmbiguous,
			agent.Plural(n, "time")),
			"give more of what stands around it")
	}
	return []byte(strings.Replace(string(was), old, text, 1)), nil
}

func skillUse(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	return e.With(ctx, true, func(a *agent.App) error {
		s, err := a.Skills().Use(ctx, words[0], e.By(in))
		if err != nil {
			return err
		}
		return e.Show(s, func(p *console.Printer) {
			p.Printf("used  %s  (%s here)\n", console.Line1(s.Name), agent.Plural(s.Usage.Uses, "time"))
		})
	})
}

// skillVerb is a verb that changes one skill.
func skillVerb(
	name, done string, change func(agent.Skills, context.Context, string, agent.Write) (*agent.SkillWritten, error),
) console.Verb {
	return console.Verb{Name: name, Args: "SKILL", Min: 1, Max: 1, Flags: "message again as session dry-run",
		Run: func(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
			return skillWriting(ctx, e, done, func(s agent.Skills) (*agent.SkillWritten, error) {
				return change(s, ctx, words[0], e.ByInSession(in))
			})
		}}
}

// marking is a change that sets or takes away a mark.
func marking(
	mark func(agent.Skills, context.Context, string, bool, agent.Write) (*agent.SkillWritten, error), on bool,
) func(agent.Skills, context.Context, string, agent.Write) (*agent.SkillWritten, error) {
	return func(s agent.Skills, ctx context.Context, ref string, w agent.Write) (*agent.SkillWritten, error) {
		return mark(s, ctx, ref, on, w)
	}
}

func skillInstall(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	o := agent.InstallSkillsOptions{Write: e.By(in), Place: e.Abs(words[0]), Category: in.String("category"),
		Replace: in.Bool("replace")}
	if o.Replace && !in.Bool("yes") {
		o.Confirm = e.ConfirmDiff(ctx, "Replace this?")
		if !e.CanAsk() && !o.DryRun {
			return agent.Usagef("--replace needs a yes").Suggest("--dry-run shows the difference, --yes replaces")
		}
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Skills().Install(ctx, o)
		if res == nil {
			return err
		}
		e.Adopted(res.Commits, "installed", o.DryRun)
		err = errors.Join(err, e.ShowPaged(ctx, res, func(p *console.Printer) {
			if o.Replace {
				p.Change(res.Written, false)
			}
			for _, s := range res.Skills {
				printInstalled(p, s, o.DryRun)
			}
			if res.Unchanged {
				p.Printf("unchanged%s\n", p.Where())
			}
		}))
		if res.Left > 0 {
			e.Note("%s", agent.Plural(res.Left, "file left out, which belongs to no skill",
				"files left out, which belong to no skill"))
		}
		if res.DryRun || res.Unchanged {
			return err
		}
		if !e.CanAsk() || !e.OutTerminal {
			e.Note(`agents are told nothing of them before you accept them: "stet review --proposed"`)
			return err
		}
		return errors.Join(err, askInstalled(ctx, e, a.Skills(), res))
	})
}

func printInstalled(p *console.Printer, s agent.InstalledSkill, dry bool) {
	verb := s.State
	if dry && verb != "unchanged" {
		verb = "would be " + verb
	}
	if s.Reason != "" {
		p.Printf("%s  %s  %s\n", verb, console.Line1(string(s.Path)), console.Line1(s.Reason))
		return
	}
	files := agent.Plural(s.Files, "file")
	if s.Executable > 0 {
		files += fmt.Sprintf(", %d executable", s.Executable)
	}
	p.Printf("%s  %s  %s  (%s)%s\n", verb, console.Line1(string(s.Path)), s.Verdict, files, p.Where())
	choice.Findings(p, s.Findings)
}

// askInstalled asks about what has just come in.
func askInstalled(ctx context.Context, e *console.Env, s agent.Skills, res *agent.SkillsInstalled) error {
	waiting, err := s.Waiting(ctx)
	came := map[vault.Path]bool{}
	for _, one := range res.Skills {
		came[one.Path] = one.State != "refused" && one.State != "unchanged"
	}
	waiting = slices.DeleteFunc(waiting, func(w agent.WaitingSkill) bool { return !came[w.Path] })
	if err != nil || len(waiting) == 0 {
		return err
	}
	return choice.AskSkills(ctx, e, s, waiting)
}
