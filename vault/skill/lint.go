package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

// A Finding is one thing that is wrong with a skill.
type Finding struct {
	Path    vault.Path `json:"path"`
	Line    int        `json:"line"`   // from 1
	Column  int        `json:"column"` // in characters, from 1
	Rule    string     `json:"rule"`
	Warning bool       `json:"warning"` // other programs may take it
	Text    string     `json:"text"`
	Fix     string     `json:"fix"` // what to write, or to do
}

// The rules. Those of the format's reference library are errors.
const (
	colonSpace    = "colon-space"
	noFrontMatter = "no-front-matter"
	badYAML       = "yaml"
	unknownKey    = "unknown-key"
	badName       = "name"
	nameFolder    = "name-folder"
	nameTwice     = "name-twice"
	badText       = "not-text"
	missing       = "missing"
	tooLong       = "too-long"
	badMetadata   = "metadata"
	noFile        = "no-file"
	deadLink      = "dead-link"
)

// The most characters that the format allows, as programs count that count them in UTF-16.
const (
	maxName          = 64
	MaxDescription   = 1024
	maxCompatibility = 500
)

// keys are the keys of the format.
func keys() []string {
	return []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
}

func (f *front) fault(line, column int, rule, text, fix string) {
	f.faults = append(f.faults, Finding{Line: line, Column: column, Rule: rule, Text: text, Fix: fix})
}

func (f *front) at(n *yaml.Node, rule, fix, format string, args ...any) {
	f.fault(n.Line, n.Column, rule, fmt.Sprintf(format, args...), fix)
}

func (f *front) warn(n *yaml.Node, rule, fix, format string, args ...any) {
	f.at(n, rule, fix, format, args...)
	f.faults[len(f.faults)-1].Warning = true
}

// lint completes the faults of a front matter with what the format says of keys and values.
func lint(s Skill, f *front) []Finding {
	if f.root != nil {
		for i := range len(f.root.Content) / 2 {
			f.lintKey(s, i)
		}
	}
	if f.end > 0 {
		for _, key := range keys()[:2] {
			if _, has := f.doc.Meta(key); !has && f.text(key) == "" {
				fix := key + ": what it does, and when to use it"
				if key == "name" {
					fix = "name: " + path.Base(string(s.Folder))
				}
				f.fault(f.end, 1, missing, fmt.Sprintf("there is no %q", key), fix)
			}
		}
	}
	for i := range f.faults {
		f.faults[i].Path = s.Main()
	}
	slices.SortStableFunc(f.faults, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.faults
}

func (f *front) lintKey(s Skill, i int) {
	key, value := pair(f.root, i)
	text, plain := value.Value, value.Kind == yaml.ScalarNode && value.Tag != "!!null"
	if value.Tag == "!!null" {
		value = key // nothing has a place
	}
	long := func(most int) {
		if n := len(utf16.Encode([]rune(text))); n > most {
			f.at(value, tooLong, fmt.Sprintf("say it in %s, and the rest below the front matter",
				templates.Plural(most, "character")),
				"%q has %d characters, at most %d are allowed", key.Value, n, most)
		}
	}
	switch {
	case !slices.Contains(keys(), key.Value):
		f.at(key, unknownKey, "move it below metadata, as a text, or take it out",
			"%q is no key of the format (%s)", key.Value, strings.Join(keys(), ", "))
	case key.Value == "metadata":
		f.lintMetadata(key, value)
	case key.Value == "allowed-tools" && value.Kind == yaml.SequenceNode:
		var tools []string
		for _, n := range value.Content {
			tools = append(tools, n.Value)
		}
		f.warn(value, badText, "allowed-tools: "+strings.Join(tools, " "),
			"%q has to be one text, with blanks between", key.Value)
	case !plain || strings.TrimSpace(text) == "":
		f.at(value, badText, key.Value+": some text", "%q has to be a text that is not empty", key.Value)
	case key.Value == "name":
		f.lintName(s, value)
		long(maxName)
	case key.Value == "description":
		long(MaxDescription)
	case key.Value == "compatibility":
		if value.Tag != "!!str" {
			f.at(value, badText, "compatibility: "+quoted(text), "%q has to be a text, not a number or the like",
				key.Value)
		}
		long(maxCompatibility)
	}
}

func (f *front) lintName(s Skill, value *yaml.Node) {
	name, folder := norm.NFKC.String(strings.TrimSpace(value.Value)), path.Base(string(s.Folder))
	var wrong []string
	if name != strings.ToLower(name) {
		wrong = append(wrong, "it has capital letters")
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		wrong = append(wrong, "it begins or ends with a hyphen")
	}
	if strings.Contains(name, "--") {
		wrong = append(wrong, "it has two hyphens in a row")
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		wrong = append(wrong, "it has characters that are neither letters, digits nor hyphens")
	}
	if len(wrong) > 0 {
		f.at(value, badName, "name: "+markdown.Slug(name, maxName), "%q cannot be the name of a skill: %s", name,
			strings.Join(wrong, "; "))
	}
	if norm.NFKC.String(folder) != name {
		fix := fmt.Sprintf("name: %s, or rename the folder to %s", folder, markdown.Slug(name, maxName))
		f.at(value, nameFolder, fix, "the skill is called %q and its folder %q: they have to be the same", name, folder)
	}
}

func (f *front) lintMetadata(key, value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		f.warn(value, badMetadata, "metadata:\n  key: \"value\"", "%q has to be keys with texts below it", key.Value)
		return
	}
	for i := range len(value.Content) / 2 {
		k, v := pair(value, i)
		switch {
		case v.Kind != yaml.ScalarNode:
			f.warn(k, badMetadata, k.Value+`: "…"`,
				"the format has texts in metadata, and %q is none; stet keeps it as it is", k.Value)
		case v.Tag != "!!str":
			f.warn(v, badMetadata, k.Value+": "+quoted(v.Value),
				"the format has texts in metadata, and %q is none without quotes", k.Value)
		}
	}
}

// Lint says what is wrong with skills of the working tree, file by file; all are those that its names
// are compared with.
func Lint(ctx context.Context, v *vault.Vault, some, all []Skill) ([]Finding, error) {
	out := []Finding{}
	for _, s := range some {
		data, _, err := v.ReadFile(s.Main())
		if errors.Is(err, vault.ErrTooLarge) || errors.Is(err, fs.ErrPermission) {
			out = append(out, Finding{Path: s.Main(), Line: 1, Column: 1, Rule: noFile,
				Text: "it cannot be read: " + err.Error(),
				Fix:  "a SKILL.md of a few pages that this user may read; what is long belongs into references/"})
			continue
		}
		if err != nil {
			return nil, err
		}
		now, found := Parse(s.Folder, data)
		for _, other := range all {
			if other.Name == now.Name && other.Folder != s.Folder {
				at := Finding{Path: s.Main(), Line: 1, Column: 1}
				f := readFront(data)
				if f.readTree(); f.root != nil {
					at.Line, at.Column = placeOf(f.root, "name")
				}
				at.Rule, at.Fix = nameTwice, "give one of them another name"
				at.Text = fmt.Sprintf("%s is called %q as well", other.Folder, now.Name)
				found = append(found, at)
			}
		}
		files, err := s.Contents(ctx, v, func(p vault.Path, ignored bool) {
			if ignored {
				return
			}
			found = append(found, Finding{Path: p, Line: 1, Column: 1, Rule: noFile, Warning: true,
				Text: "it is a link or no file at all, and the skill cannot be archived with it",
				Fix:  "put the file itself there"})
		})
		if err != nil {
			return nil, err
		}
		dead, err := s.dead(v, files)
		if err != nil {
			return nil, err
		}
		out = append(append(out, found...), dead...)
	}
	return out, nil
}

// dead finds the links of a skill's files to files that are not there.
func (s Skill) dead(v *vault.Vault, files []vault.File) (out []Finding, _ error) {
	there := map[string]bool{}
	for _, f := range files {
		for at := string(f.Path); at != "." && !there[at]; at = path.Dir(at) {
			there[at] = true // folders as well
		}
	}
	for _, f := range files {
		if !f.Path.IsMarkdown() {
			continue
		}
		data, _, err := v.ReadFile(f.Path)
		if errors.Is(err, vault.ErrTooLarge) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, l := range markdown.Parse(data).Links() {
			to := path.Join(f.Path.Dir(), l.Target)
			if l.Kind != markdown.RelativeLink && l.Kind != markdown.RelativeImage || l.Target == "" || there[to] ||
				path.IsAbs(l.Target) || strings.HasPrefix(to, "..") {
				continue
			}
			_, _, err := v.ReadFile(vault.Path(to))
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vault.ErrNotFound) || errors.Is(err, vault.ErrRefused) {
				out = append(out, Finding{Path: f.Path, Line: l.Line, Column: 1, Rule: deadLink, Warning: true,
					Text: fmt.Sprintf("it links to %q, which is not there", l.Target),
					Fix:  "put the file there, or take the link out"})
			}
		}
	}
	return out, nil
}

// placeOf is where the value of a key of the top stands, 1 and 1 for none.
func placeOf(root *yaml.Node, key string) (line, column int) {
	for i := range len(root.Content) / 2 {
		if k, v := pair(root, i); k.Value == key {
			return v.Line, v.Column
		}
	}
	return 1, 1
}
