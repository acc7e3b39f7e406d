package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

// ExportCommand returns the definition of "stet export".
func ExportCommand() *console.Command {
	return &console.Command{
		Name: "export", Group: console.Start,
		Summary: "write memories for other programs: JSON lines, or Hermes' files",
		Args:    "[SCOPE]", MaxArgs: 1,
		Details: `jsonl is one JSON object a line, with the keys of "stet show --json"; each entry of a notebook
			is a line of its own; --json answers with all of them as one list of items. hermes is a folder with
			MEMORY.md and USER.md as Hermes keeps them: the entries of the two notebooks with a line of "§" between
			them. What is marked private is left out unless --private is given.`,
		Examples: `stet export > memories.jsonl  # memories and notebooks
			stet export /infra --output infra.jsonl  # one scope into a file
			stet export --all | jq -r .title  # notes, skills and sessions as well
			stet export --format hermes --output ~/.hermes-new/memories  # the notebooks for Hermes`,
		Flags: console.Flags(
			console.Text("format f", "`FORM` jsonl or hermes", "jsonl"),
			console.Text("output o", "write to the new `FILE`, for hermes the folder, instead of standard output"),
			console.List("class", "only the `CLASS` memory, core, profile, skill, session, archive or note"),
			console.Bool("all a", "notes and all other Markdown files as well"),
			console.Bool("archived", "what was forgotten or replaced, instead"),
			console.Bool("private", "what is marked private too"),
		),
		Run: export,
	}
}

func export(ctx context.Context, e *console.Env, in *console.Input) error {
	classes, err := classesOf(in)
	if err != nil {
		return err
	}
	format, output := in.String("format"), in.String("output")
	switch {
	case format != "jsonl" && format != "hermes":
		return agent.Usagef("no format %q", format).Suggest("jsonl or hermes")
	case format == "hermes" && output == "":
		return agent.Usagef("hermes is two files").Suggest("name a folder for them: --output DIR")
	case format == "hermes" && (len(in.Words) > 0 || len(classes) > 0 || in.Bool("all") || in.Bool("archived")):
		return agent.Usagef("hermes takes the two notebooks and nothing else").
			Suggest("--format jsonl takes all there is")
	}
	o := agent.ExportOptions{Filter: vault.Filter{Classes: classes, Archived: in.Bool("archived")},
		Private: in.Bool("private")}
	switch {
	case in.Bool("all"):
		o.Classes = agent.LiveClasses()
	case len(in.Words) == 0 && len(classes) == 0:
		o.Classes = []vault.Class{vault.ClassMemory, vault.ClassCore, vault.ClassProfile}
	}
	if len(in.Words) == 1 {
		o.Scope = in.Words[0]
	}
	return e.With(ctx, true, func(a *agent.App) error {
		if format == "hermes" {
			done, err := a.Memories().ExportHermes(ctx, e.By(in), e.Abs(output), o.Private)
			if err != nil {
				return err
			}
			return exported(e, done)
		}
		found, err := a.Memories().Export(ctx, o)
		if err != nil {
			return err
		}
		if output == "" {
			warnSkipped(e, "exported", found.Skipped)
			return e.Show(found, func(p *console.Printer) { p.Fail(exportLines(p, found.Items)) })
		}
		var b bytes.Buffer
		if err := errors.Join(exportLines(&b, found.Items),
			a.WriteFile(e.By(in), e.Abs(output), b.Bytes())); err != nil {
			return err
		}
		return exported(e, &agent.ExportedFiles{Exported: len(found.Items), Files: []string{e.Abs(output)},
			Skipped: found.Skipped})
	})
}

func exportLines(w io.Writer, items []agent.Memory) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, m := range items {
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return nil
}

func exported(e *console.Env, done *agent.ExportedFiles) error {
	warnSkipped(e, "exported", done.Skipped)
	return e.Show(done, func(p *console.Printer) {
		p.Printf("exported  %d  to %s\n", done.Exported, strings.Join(done.Files, ", "))
	})
}
