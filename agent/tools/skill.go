package tools

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/agent"
)

func skills() tool {
	return tool{name: "skill", run: useSkill, hint: Hint{Title: "Skills", Destructive: true, Long: true},
		reads: []string{"list", "view"},
		about: `Skills say how to do something: a folder with SKILL.md and files. edit: a whole new SKILL.md; patch:
		old, once in the file, becomes new; delete: into the archive. A pinned one stays.`,
		params: []param{
			{name: "action", kind: text, required: true, subject: true, enum: []string{
				"list", "view", "create", "edit", "patch", "write_file", "remove_file", "delete"}},
			{name: "name", kind: text, subject: true},
			{name: "category", kind: text},
			{name: "description", kind: text, about: "what for, and when"},
			{name: "text", kind: text, about: "instructions, or the whole file"},
			{name: "file", kind: text, subject: true, about: "else SKILL.md"},
			{name: "old", kind: text},
			{name: "new", kind: text},
			{name: "replace_all", kind: boolean},
			{name: "absorbed_into", kind: text, about: "of delete: the skill that replaces it"},
			{name: "reason", kind: text},
			{name: "offset", kind: integer},
		}}
}

// actions are what each action of the tool skill needs, and what goes with it.
func actions() map[string]struct{ needs, takes []string } {
	w := strings.Fields
	return map[string]struct{ needs, takes []string }{
		"list":        {nil, w("category")},
		"view":        {w("name"), w("file offset")},
		"create":      {w("name text"), w("category description")},
		"edit":        {w("name text"), nil},
		"patch":       {w("name old new"), w("file replace_all")},
		"write_file":  {w("name file text"), nil},
		"remove_file": {w("name file"), nil},
		"delete":      {w("name reason"), w("absorbed_into")},
	}
}

func useSkill(ctx context.Context, b *Box, in arguments) (any, error) {
	action, name := in.text("action"), in.text("name")
	a := actions()[action]
	for _, n := range a.needs {
		if _, ok := in[n]; !ok || in.text(n) == "" && n != "new" {
			return nil, agent.Usagef("%s needs %s", action, n)
		}
	}
	if err := in.only(action, slices.Concat([]string{"action"}, a.needs, a.takes)...); err != nil {
		return nil, err
	}
	s := b.app.Skills()
	switch action {
	case "list":
		return b.listSkills(ctx, in.text("category"))
	case "view":
		return b.viewSkill(ctx, in)
	case "create":
		res, err := s.New(ctx, agent.NewSkillOptions{Write: b.by(), Name: name, Category: in.text("category"),
			Description: in.text("description"), Text: in.text("text")})
		return changedSkill(res, err, "created")
	case "remove_file":
		if err := b.viewedFirst(name, in.text("file")); err != nil {
			return nil, err
		}
		res, err := s.RemoveFile(ctx, name, in.text("file"), b.by())
		return changedSkill(res, err, "removed")
	case "delete":
		if err := b.viewedFirst(name, ""); err != nil {
			return nil, err
		}
		res, err := s.Retire(ctx, agent.RetireOptions{Write: b.by(), Ref: name, Into: in.text("absorbed_into"),
			Reason: in.text("reason")})
		return changedSkill(res, err, "archived")
	}
	res, err := s.Put(ctx, agent.PutSkillOptions{Write: b.by(), Ref: name, File: in.text("file"),
		Change: func(was []byte) ([]byte, error) {
			if was != nil {
				if err := b.viewedFirst(name, in.text("file")); err != nil {
					return nil, err
				}
			}
			if action != "patch" {
				return []byte(in.text("text")), nil
			}
			text, err := b.replaced(string(was), in.text("old"), in.text("new"), in.flag("replace_all"))
			if err != nil {
				return nil, err
			}
			return []byte(*text), nil
		}})
	return changedSkill(res, err, "changed")
}

// viewedFirst fails in a review where the file was not viewed: what was not read is not changed.
func (b *Box) viewedFirst(name, file string) error {
	if !b.o.Review || b.past.seen(viewKey(name, file)) {
		return nil
	}
	return agent.Usagef("a review changes only what it has viewed").
		Suggest("view it first: action view, name %s, file %s", name, file)
}

func (m *memory) view(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.viewed[key] = true
}

func (m *memory) seen(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.viewed[key]
}

func viewKey(name, file string) string {
	if file == "" {
		file = "SKILL.md"
	}
	return name + "\x00" + file
}

func changedSkill(res *agent.SkillWritten, err error, did string) (any, error) {
	if err != nil {
		return nil, err
	}
	d := wrote(res.Written, did)
	if d.Done != "proposed" {
		d.Path = string(res.Skill.Path)
	}
	return d, nil
}

// A named is one skill of a list.
type named struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Category    string `json:"category,omitempty"`
	By          string `json:"created_by,omitempty"`
	Pinned      bool   `json:"pinned,omitempty"`
	Problem     string `json:"problem,omitempty"`
}

func (b *Box) listSkills(ctx context.Context, category string) (any, error) {
	res, err := b.app.Skills().List(ctx, false)
	if err != nil {
		return nil, err
	}
	out, room, left := []named{}, maxText, 0
	for _, s := range res.Skills {
		if category != "" && s.Category != category {
			continue
		}
		one := named{s.Name, cut(s.Description, maxSnippet/2), s.Category, s.CreatedBy, s.Pinned, cut(s.Problem, 100)}
		if room -= len(one.Name) + len(one.Description) + 40; room < 0 {
			left++
			continue
		}
		out = append(out, one)
	}
	return map[string]any{"ok": true, "skills": out, "left_out": left}, nil
}

// A skillFile is one file of a skill, or the part of it that fits.
type skillFile struct {
	OK      bool     `json:"ok"`
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	File    string   `json:"file"`
	By      string   `json:"created_by,omitempty"`
	Pinned  bool     `json:"pinned,omitempty"`
	Managed bool     `json:"managed,omitempty"`
	State   string   `json:"state"`
	Files   []string `json:"files,omitempty"` // beside SKILL.md
	LeftOut int      `json:"left_out,omitempty"`
	Binary  int      `json:"binary_bytes,omitempty"` // in place of a text
	agent.Label
	part
}

func (b *Box) viewSkill(ctx context.Context, in arguments) (any, error) {
	res, err := b.app.Skills().View(ctx, in.text("name"), in.text("file"))
	if err != nil {
		return nil, err
	}
	out := skillFile{OK: true, Name: res.Name, Path: string(res.Path), File: res.File, By: res.CreatedBy,
		Pinned: res.Pinned, Managed: res.Managed, State: res.State, Label: res.Label}
	for i, f := range res.Files {
		switch {
		case i == 0: // SKILL.md
		case len(out.Files) < 5*maxNamed:
			out.Files = append(out.Files, f.File)
		default:
			out.LeftOut++
		}
	}
	if !utf8.Valid(res.Data()) {
		out.Binary = len(res.Data())
		return out, nil
	}
	out.part = partOf(res.Text, in.whole("offset", 0))
	b.past.view(viewKey(in.text("name"), in.text("file")))
	return out, nil
}
