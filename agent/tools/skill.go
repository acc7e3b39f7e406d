package tools

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/agent"
)

func skills() tool {
	return tool{name: "skill", run: useSkill, hint: Hint{Title: "Skills", Destructive: true},
		about: `Skills are how to do something: a folder with a SKILL.md and files
		beside it. list: names and descriptions; view: one in full, or with file one file of it; create: a new one;
		edit: a whole new SKILL.md; patch: old, which must stand in the file exactly once, becomes new; write_file and
		remove_file: a file beside SKILL.md; delete: into the archive, from which the user can bring it back. A pinned
		skill stays as it is; a change of one that the user wrote waits for the user.`,
		params: []param{
			{name: "action", kind: text, required: true, subject: true, about: "what to do", enum: []string{
				"list", "view", "create", "edit", "patch", "write_file", "remove_file", "delete"}},
			{name: "name", kind: text, subject: true, about: "the skill: lower case letters, digits and hyphens"},
			{name: "category", kind: text, about: "of list: only those; of create: the folder it stands in"},
			{name: "description", kind: text,
				about: "of create: what it does and when to use it, in a sentence; SKILL.md may say it instead"},
			{name: "text", kind: text, about: "of create: the instructions; of edit and write_file: the whole file"},
			{name: "file", kind: text, subject: true,
				about: "of view, patch, write_file, remove_file: as seen from the folder; else SKILL.md"},
			{name: "old", kind: text, about: "of patch: the part that changes, as it stands there"},
			{name: "new", kind: text, about: "of patch: what stands there instead; empty takes it out"},
			{name: "replace_all", kind: boolean, about: "of patch: wherever old stands"},
			{name: "absorbed_into", kind: text, about: "of delete: the skill that has what was useful of it"},
			{name: "reason", kind: text, about: "of delete: why, in a sentence"},
			{name: "offset", kind: integer, about: "of view: go on from here, as next_offset says"},
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
	for n := range in {
		if n != "action" && !slices.Contains(a.needs, n) && !slices.Contains(a.takes, n) {
			return nil, agent.Usagef("%s takes no %s", action, n).
				Suggest("it takes %s", strings.Join(slices.Concat(a.needs, a.takes), ", "))
		}
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
			text, err := replaced(string(was), in.text("old"), in.text("new"), in.flag("replace_all"))
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
