package fork

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/agent/llm"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/skill"
)

const (
	maxView = 40_000 // bytes of one answer
	maxFile = 10 << 20
	maxDesk = 64 << 20 // bytes of all files
)

// A Desk holds skills in memory, and does with them what the tool is called to do. A call that fails changes nothing.
// It is not safe for concurrent use.
type Desk struct {
	skills  map[string]*Skill
	removed []Removal
	taken   map[string]bool
	size    int
}

// A Removal is a skill that was taken away, and what the call said of it.
type Removal struct {
	Name   string
	Into   string // the skill that absorbed it, "" for none
	Reason string
}

// NewDesk is the skills of a job, which it does not change.
func NewDesk(job Job) *Desk {
	d := &Desk{skills: map[string]*Skill{}, taken: map[string]bool{}}
	for _, name := range job.Taken {
		d.taken[name] = true
	}
	for _, s := range job.Skills {
		d.skills[s.Name] = &Skill{s.Name, s.Folder, maps.Clone(s.Files)}
		d.taken[s.Name], d.taken[string(s.Folder)] = true, true
		for _, f := range s.Files {
			d.size += len(f.Data)
		}
	}
	return d
}

// Skills are the skills that stand on the desk, by name.
func (d *Desk) Skills() (out []Skill) {
	for _, name := range slices.Sorted(maps.Keys(d.skills)) {
		out = append(out, *d.skills[name])
	}
	return out
}

// Removed are the skills that were taken away, in that order.
func (d *Desk) Removed() []Removal { return slices.Clone(d.removed) }

// Tool describes the tool to a model.
func Tool() llm.Tool {
	text := map[string]any{"type": "string"}
	about := func(s string) map[string]any { return map[string]any{"type": "string", "description": s} }
	schema, _ := json.Marshal(map[string]any{"type": "object", "additionalProperties": false,
		"required": []string{"action"}, "properties": map[string]any{
			"action": map[string]any{"type": "string", "enum": []string{"list", "view", "create", "edit", "patch",
				"write_file", "copy_file", "remove_file", "delete"}},
			"name": text, "category": text, "description": about("what it does and when to use it"),
			"text": about("instructions, or the whole file"), "file": about("else SKILL.md"), "old": text, "new": text,
			"replace_all": map[string]any{"type": "boolean"}, "offset": map[string]any{"type": "integer"},
			"into":          about("of copy_file: the skill that gets the file"),
			"to":            about("of copy_file: its path there, else the same"),
			"absorbed_into": about("of delete: the skill that has all of its use; \"\" for none, with a reason"),
			"reason":        text,
		}}) // texts and numbers always can be
	return llm.Tool{Name: ToolName, Schema: schema, Description: "Skills are folders with SKILL.md and files. edit: " +
		"a whole new SKILL.md; patch: old, once in the file, becomes new; copy_file: a file of name into another " +
		"skill, with its bytes and its mode; delete: into the archive, with absorbed_into always."}
}

// ToolName is what calls name.
const ToolName = "skill"

type arguments struct {
	Action       string  `json:"action"`
	Name         string  `json:"name"`
	Category     string  `json:"category"`
	Description  string  `json:"description"`
	Text         *string `json:"text"`
	File         string  `json:"file"`
	Old          string  `json:"old"`
	New          string  `json:"new"`
	ReplaceAll   bool    `json:"replace_all"`
	Offset       int     `json:"offset"`
	Into         string  `json:"into"`
	To           string  `json:"to"`
	AbsorbedInto *string `json:"absorbed_into"`
	Reason       string  `json:"reason"`
}

// Do carries out a call, and returns what the model is told.
func (d *Desk) Do(c Call) (answer string, err error) {
	if c.Name != ToolName {
		return "", fmt.Errorf("there is no tool %q, but %s", c.Name, ToolName)
	}
	var in arguments
	dec := json.NewDecoder(bytes.NewReader(c.Arguments))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return "", fmt.Errorf("the arguments are not those of %s: %w", ToolName, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return "", fmt.Errorf("the arguments are more than one JSON object")
	}
	switch in.Action {
	case "list":
		return d.list(), nil
	case "create":
		return fmt.Sprintf("created %s, with SKILL.md", in.Name), d.create(in)
	}
	s := d.skills[in.Name]
	if s == nil {
		return "", fmt.Errorf("there is no skill %q here, but %s", in.Name, strings.Join(d.names(), ", "))
	}
	file, err := s.file(in.File)
	if err != nil {
		return "", err
	}
	switch in.Action {
	case "view":
		return s.view(in, file)
	case "edit":
		file = skill.File
		fallthrough
	case "write_file":
		if in.Text == nil {
			return "", fmt.Errorf("%s needs text", in.Action)
		}
		return fmt.Sprintf("written: %s of %s", file, s.Name),
			d.put(s, file, File{[]byte(*in.Text), s.Files[file].Exec})
	case "patch":
		return fmt.Sprintf("patched: %s of %s", file, s.Name), d.patch(s, file, in)
	case "copy_file":
		return fmt.Sprintf("copied: %s of %s to %s of %s", file, s.Name, cmp.Or(in.To, file), in.Into),
			d.copy(s, file, in)
	case "remove_file":
		return fmt.Sprintf("removed: %s of %s", file, s.Name), d.remove(s, file)
	case "delete":
		return fmt.Sprintf("archived: %s, with its files", s.Name), d.delete(s, in)
	}
	return "", fmt.Errorf("there is no action %q", in.Action)
}

func (d *Desk) names() []string { return slices.Sorted(maps.Keys(d.skills)) }

func (d *Desk) list() string {
	var out strings.Builder
	for _, s := range d.Skills() {
		now, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
		fmt.Fprintf(&out, "%s (%s): %s\n", s.Name, templates.Plural(len(s.Files), "file"), now.Description)
	}
	return out.String()
}

// file is the clean name of a file of the skill, SKILL.md for "". Hidden files are none of a model's, and a second
// SKILL.md would be another skill.
func (s *Skill) file(name string) (string, error) {
	if name == "" {
		return skill.File, nil
	}
	p, err := skill.Skill{Folder: s.Folder, Name: s.Name}.At(name)
	if err != nil {
		return "", err
	}
	name = strings.TrimPrefix(string(p), string(s.Folder)+"/")
	_, stands := s.Files[name]
	if !stands && (strings.Contains("/"+name, "/.") || path.Base(name) == skill.File && name != skill.File) {
		return "", fmt.Errorf("%q is no name for a file of a skill", name)
	}
	return name, nil
}

func (s *Skill) view(in arguments, file string) (string, error) {
	f, ok := s.Files[file]
	if !ok {
		return "", fmt.Errorf("skill %q has no file %q, but %s", s.Name, file, s.files())
	}
	if !utf8.Valid(f.Data) {
		return fmt.Sprintf("%s that are no text; copy_file takes it along", templates.Plural(len(f.Data), "byte")), nil
	}
	from := min(max(in.Offset, 0), len(f.Data))
	for from < len(f.Data) && !utf8.RuneStart(f.Data[from]) {
		from++
	}
	end := min(from+maxView, len(f.Data))
	for end < len(f.Data) && !utf8.RuneStart(f.Data[end]) {
		end--
	}
	out := string(f.Data[from:end])
	if end < len(f.Data) {
		out += fmt.Sprintf("\n… %s more: offset %d", templates.Plural(len(f.Data)-end, "byte"), end)
	}
	if file == skill.File && from == 0 {
		out += "\n\n[not in the file] files: " + s.files()
	}
	return out, nil
}

func (s *Skill) files() string { return strings.Join(slices.Sorted(maps.Keys(s.Files)), ", ") }

func (d *Desk) create(in arguments) error {
	if in.Text == nil {
		return fmt.Errorf("create needs text")
	}
	n := skill.New{Name: in.Name, Category: in.Category, Description: in.Description, Text: *in.Text, By: "agent"}
	made, data, err := n.Render()
	if hint, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		err = fmt.Errorf("%w (%s)", err, hint.Hint())
	}
	if err != nil {
		return err
	}
	if d.taken[made.Name] {
		return fmt.Errorf("there is a skill %q already, here or elsewhere in the library", made.Name)
	}
	if d.taken[string(made.Folder)] {
		return fmt.Errorf("the folder %s is that of %s: the name is free, but not in this category; create it without "+
			"one, or in another", made.Folder, d.in(made.Folder))
	}
	s := &Skill{made.Name, made.Folder, map[string]File{}}
	if err := d.put(s, skill.File, File{Data: data}); err != nil {
		return err
	}
	d.skills[s.Name], d.taken[s.Name], d.taken[string(s.Folder)] = s, true, true
	return nil
}

// in is the skill whose folder that is, as a model is told of it.
func (d *Desk) in(folder vault.Path) string {
	for _, s := range d.skills {
		if s.Folder == folder {
			return "the skill " + s.Name
		}
	}
	return "another skill"
}

// put writes a file.
func (d *Desk) put(s *Skill, file string, f File) (err error) {
	was := s.Files[file].Data
	if file == skill.File {
		if f.Data, err = s.main(was, f.Data); err != nil {
			return err
		}
	}
	size := d.size + len(f.Data) - len(was)
	if len(f.Data) > maxFile || size > maxDesk {
		return fmt.Errorf("%q is too long, or all files together are", file)
	}
	d.size, s.Files[file] = size, f
	return nil
}

// main is a new SKILL.md with what stet noted in the old one. It stays one that can be read, and keeps its name.
func (s *Skill) main(was, data []byte) ([]byte, error) {
	old, _ := skill.Parse(s.Folder, was)
	now, found := skill.Parse(s.Folder, data)
	for _, fault := range found {
		if !fault.Warning && (was == nil || now.Problem != "" || now.Description == "") {
			return nil, fmt.Errorf("line %d: %s; write %s", fault.Line, fault.Text, fault.Fix)
		}
	}
	doc := markdown.Parse(data)
	for _, key := range slices.Sorted(maps.Keys(old.Metadata)) {
		if value, has := now.Metadata[key]; strings.HasPrefix(key, "stet-") && !has {
			if err := doc.SetMetaText("metadata", key, old.Metadata[key]); err != nil {
				return nil, err
			}
		} else if has && value != old.Metadata[key] && strings.HasPrefix(key, "stet-") {
			return nil, fmt.Errorf("%s stays %q", key, old.Metadata[key])
		}
	}
	for key := range now.Metadata {
		_, had := old.Metadata[key]
		if had = had || was == nil && key == skill.CreatedBy; !had && strings.HasPrefix(key, "stet-") {
			return nil, fmt.Errorf("%s is not for you to set", key)
		}
	}
	switch {
	case now.Name != s.Name:
		return nil, fmt.Errorf("a skill is not renamed: %q stays its name", s.Name)
	case now.Private:
		return nil, fmt.Errorf("a skill does not become private")
	}
	return doc.Bytes(), nil
}

func (d *Desk) patch(s *Skill, file string, in arguments) error {
	f, ok := s.Files[file]
	n := bytes.Count(f.Data, []byte(in.Old))
	switch {
	case !ok:
		return fmt.Errorf("skill %q has no file %q, but %s", s.Name, file, s.files())
	case in.Old == "" || n == 0:
		return fmt.Errorf("old does not stand in %q", file)
	case n > 1 && !in.ReplaceAll:
		return fmt.Errorf("old stands %s in %q: take more of the text, or replace_all",
			templates.Plural(n, "time"), file)
	}
	if len(f.Data)+n*(len(in.New)-len(in.Old)) > maxFile {
		return fmt.Errorf("%q would be too long", file)
	}
	return d.put(s, file, File{bytes.ReplaceAll(f.Data, []byte(in.Old), []byte(in.New)), f.Exec})
}

func (d *Desk) copy(s *Skill, file string, in arguments) error {
	f, ok := s.Files[file]
	to := d.skills[in.Into]
	if !ok || to == nil || to == s {
		return fmt.Errorf("copy_file needs a file of %q (%s), and into, another skill", s.Name, s.files())
	}
	if in.To == "" {
		in.To = file
	}
	name, err := to.file(in.To)
	if err != nil {
		return err
	}
	if have, stands := to.Files[name]; name == skill.File || stands && !bytes.Equal(have.Data, f.Data) {
		return fmt.Errorf("skill %q has another file %q: give it another name with to", to.Name, name)
	}
	return d.put(to, name, f)
}

func (d *Desk) remove(s *Skill, file string) error {
	f, ok := s.Files[file]
	if !ok || file == skill.File {
		return fmt.Errorf("skill %q has no file %q that can be removed, but %s", s.Name, file, s.files())
	}
	d.size -= len(f.Data)
	delete(s.Files, file)
	return nil
}

func (d *Desk) delete(s *Skill, in arguments) error {
	switch {
	case in.AbsorbedInto == nil:
		return fmt.Errorf("delete needs absorbed_into: the skill that has all of its use, or \"\" with a reason")
	case *in.AbsorbedInto == "" && strings.TrimSpace(in.Reason) == "":
		return fmt.Errorf("delete without absorbed_into needs a reason")
	case *in.AbsorbedInto != "" && (d.skills[*in.AbsorbedInto] == nil || *in.AbsorbedInto == s.Name):
		return fmt.Errorf("absorbed_into %q is no other skill here", *in.AbsorbedInto)
	}
	for _, f := range s.Files {
		d.size -= len(f.Data)
	}
	delete(d.skills, s.Name)
	d.removed = append(d.removed, Removal{s.Name, *in.AbsorbedInto, in.Reason})
	return nil
}
