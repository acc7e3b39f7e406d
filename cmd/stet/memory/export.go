package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
)

// ExportCommand returns the definition of "stet export".
func ExportCommand() *console.Command {
	return &console.Command{
		Name: "export", Group: console.Start,
		Summary: "write memories for other programs: JSON lines, or Hermes' files",
		Args:    "[SCOPE]", MaxArgs: 1,
		Details: "jsonl is one JSON object a line, with the keys of \"stet show --json\"; each entry of a\n" +
			"notebook is a line of its own; --json answers with all of them as one list of items. hermes is a folder with MEMORY.md and USER.md as Hermes\n" +
			"keeps them: the entries of the two notebooks with a line of \"§\" between them.\n" +
			"What is marked private is left out unless --private is given.",
		Examples: []console.Example{
			{Line: "stet export > memories.jsonl", Says: "memories and notebooks"},
			{Line: "stet export /infra --output infra.jsonl", Says: "one scope into a file"},
			{Line: "stet export --all | jq -r .title", Says: "notes, skills and sessions as well"},
			{Line: "stet export --format hermes --output ~/.hermes-new/memories", Says: "the notebooks for Hermes"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "jsonl", Usage: "`FORM` jsonl or hermes"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to the new `FILE`, for hermes the folder, instead of standard output"},
			&cli.StringSliceFlag{Name: "class", Usage: "only the `CLASS` memory, core, profile, skill, session, archive or note"},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "notes and all other Markdown files as well"},
			&cli.BoolFlag{Name: "archived", Usage: "what was forgotten or replaced, instead"},
			&cli.BoolFlag{Name: "private", Usage: "what is marked private too"},
		},
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
		return agent.Usagef("hermes takes the two notebooks and nothing else").Suggest("--format jsonl takes all there is")
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	f := vault.Filter{Classes: classes, Archived: in.Bool("archived")}
	switch {
	case format == "hermes":
		f.Classes = []vault.Class{vault.ClassCore, vault.ClassProfile}
	case len(in.Words) == 1:
		f.Scope = in.Words[0]
	case len(classes) == 0 && !in.Bool("all"):
		f.Classes = []vault.Class{vault.ClassMemory, vault.ClassCore, vault.ClassProfile}
	}
	if in.Bool("all") {
		f.Classes = liveClasses()
	}
	out, err := exportable(ctx, e, v, f, in.Bool("private"))
	if err != nil {
		return err
	}
	if format == "hermes" {
		return exportHermes(e, out, e.Abs(output))
	}
	return exportLines(e, out, output)
}

// An exporting is what leaves, and what would and cannot be read.
type exporting struct {
	found   []vault.Memory
	skipped []vault.Path
}

// exportable lists what may leave; private files are counted on standard error.
func exportable(ctx context.Context, e *console.Env, v *vault.Vault, f vault.Filter, private bool) (exporting, error) {
	var out exporting
	f.Skipped = func(p vault.Path, _ error) { out.skipped = append(out.skipped, p) }
	all, err := v.List(ctx, f)
	if err != nil {
		return out, err
	}
	warnSkipped(e, "exported", out.skipped)
	for _, m := range all {
		if private || !m.Private {
			out.found = append(out.found, m)
		}
	}
	if n := len(all) - len(out.found); n > 0 {
		e.Note("%d marked private left out; --private takes them too", n)
	}
	return out, nil
}

func exportLines(e *console.Env, out exporting, output string) error {
	lines := []agent.Memory{}
	for _, m := range out.found {
		lines = append(lines, records(m)...)
	}
	write := func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, l := range lines {
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
		return nil
	}
	if output == "" {
		result := struct {
			Items   []agent.Memory `json:"items"`
			Skipped []vault.Path   `json:"skipped,omitempty"` // cannot be read
		}{lines, out.skipped}
		return e.Answer(result, write)
	}
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	file := e.Abs(output)
	if err := writeNew(e, filepath.Dir(file), []newFile{{filepath.Base(file), b.String()}}); err != nil {
		return err
	}
	return exported(e, len(lines), []string{file}, out.skipped)
}

// records are the lines of one file: one, or one for each entry of a notebook.
func records(m vault.Memory) []agent.Memory {
	view := func(m vault.Memory, text string) agent.Memory {
		v := agent.ViewMemory(m)
		text = strings.ToValidUTF8(text, "\ufffd")
		v.Body = &text
		return v
	}
	if m.Class != vault.ClassCore && m.Class != vault.ClassProfile {
		return []agent.Memory{view(m, string(m.Body))}
	}
	var out []agent.Memory
	for _, entry := range markdown.Parse(m.Body).Entries() {
		v := view(m, entry.Text)
		v.Path, v.Kind, v.Title, v.Hash = vault.Path(string(m.Path)+"#"+entry.Hash()), entry.Kind, "", ""
		out = append(out, v)
	}
	return out
}

// A hermesFile is a file that Hermes keeps, with the characters that Hermes
// itself lets it hold.
type hermesFile struct {
	name  string
	limit int
}

func hermesFiles() []hermesFile { return []hermesFile{{"MEMORY.md", 2200}, {"USER.md", 1375}} }

func exportHermes(e *console.Env, out exporting, dir string) error {
	texts, n := map[string]string{}, 0
	for _, m := range out.found {
		var entries []string
		for _, entry := range markdown.Parse(m.Body).Entries() {
			// A line of the delimiter alone would end the entry there.
			text := strings.ReplaceAll("\n"+entry.Text+"\n", "\n§\n", "\n §\n")
			if text = strings.TrimSpace(text); text != "" {
				entries = append(entries, text)
			}
		}
		n += len(entries)
		texts[string(m.Path)] = strings.Join(entries, "\n§\n")
	}
	var files []newFile
	var paths []string
	for _, h := range hermesFiles() {
		text := texts[h.name]
		if size := utf8.RuneCountInString(text); size > h.limit {
			e.Warn("%s: %d characters; Hermes keeps %d and refuses to add until there are fewer", h.name, size, h.limit)
		}
		files = append(files, newFile{h.name, text})
		paths = append(paths, filepath.Join(dir, h.name))
	}
	if err := writeNew(e, dir, files); err != nil {
		return err
	}
	return exported(e, n, paths, out.skipped)
}

type newFile struct{ name, text string }

// writeNew writes files that must not exist into a folder that is made: all of
// them or none.
func writeNew(e *console.Env, dir string, files []newFile) (err error) {
	if err := durable.MakeFolder("export", dir, 0o777, e.Hook); err != nil {
		return err
	}
	root, err := durable.OpenRoot(dir, e.Hook)
	if err != nil {
		return err
	}
	var made []string
	defer func() {
		if err != nil {
			for _, name := range made {
				err = errors.Join(err, root.Remove("export", name))
			}
		}
		err = errors.Join(err, root.Close())
	}()
	for _, f := range files {
		if root.Exists(f.name) {
			return vault.WithHint(fmt.Errorf("export to %q: %w: it exists", root.Abs(f.name), vault.ErrConflict), "name another place, or move it away first")
		}
	}
	for _, f := range files {
		err := root.CreateSync("export", f.name, []byte(f.text), 0o666)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("export to %q: %w: it exists", root.Abs(f.name), vault.ErrConflict)
		}
		if err != nil {
			return err
		}
		made = append(made, f.name)
	}
	return root.SyncDir("export", ".")
}

func exported(e *console.Env, n int, files []string, skipped []vault.Path) error {
	result := struct {
		Exported int          `json:"exported"`
		Files    []string     `json:"files"`
		Skipped  []vault.Path `json:"skipped,omitempty"` // cannot be read
	}{n, files, skipped}
	return e.Answer(result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "exported  %d  to %s\n", n, strings.Join(files, ", "))
		return err
	})
}
