package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault/skill"
)

// newFields are what of the front matter of an umbrella none of its sources has, but for name, description and what
// stet notes.
func (o *origin) newFields(main []byte) (faults []string) {
	all, err := fields(main)
	if err != nil {
		return []string{"its front matter cannot be read: " + first(err.Error())}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !o.has[key+":"] && key != "metadata" && key != allowedTools {
			faults = append(faults, fmt.Sprintf("its front matter has %s, and that of no skill in it does", key))
		}
		for _, part := range all[key] {
			switch {
			case o.has[key+": "+part]:
			case key == allowedTools:
				faults = append(faults, fmt.Sprintf("it allows the tool %s, which no skill in it did", part))
			default:
				faults = append(faults, fmt.Sprintf("its front matter has %s: %s, and that of no skill in it does", key,
					first(part)))
			}
		}
	}
	return faults
}

// lostFields are the fields of a skill, but its licence, that another one does not have.
func lostFields(gone, into fork.Skill) (lost []string) {
	was, _ := fields(gone.Files[skill.File].Data)
	now, _ := fields(into.Files[skill.File].Data)
	for _, key := range slices.Sorted(maps.Keys(was)) {
		for _, part := range was[key] {
			if key != license && !slices.Contains(now[key], part) {
				lost = append(lost, key+": "+first(part))
			}
		}
	}
	return lost
}

// Names reports whether the front matter of a SKILL.md has a name in a field, other than its own and its description.
func Names(main []byte, name string) bool {
	all, _ := fields(main) // what cannot be read names nothing
	for _, parts := range all {
		if strings.Contains(strings.Join(parts, "\n"), written(name)) {
			return true
		}
	}
	return false
}

// licensed is an umbrella with the licence that all of its sources have, or else with the one it had, and what the
// others have, by their names.
func licensed(u, was fork.Skill, sources []fork.Skill) (fork.Skill, error) {
	var all, parts []string
	of := map[string][]string{}
	for _, s := range sources {
		now, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
		to, _ := rehomed(s, u)
		text, _ := moved([]byte(now.License), to)
		if all = append(all, string(text)); s.Name != was.Name {
			of[string(text)] = append(of[string(text)], s.Name)
		} else if now.License != "" {
			parts = append(parts, now.License)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(of)) {
		if text != "" && !slices.Contains(parts, text) {
			parts = append(parts, fmt.Sprintf("%s (%s)", text, strings.Join(of[text], ", ")))
		}
	}
	if slices.Sort(all); all[0] == all[len(all)-1] {
		parts = all[:1]
	}
	doc, want := markdown.Parse(u.Files[skill.File].Data), strings.Join(parts, "; ")
	if now, _ := skill.Parse(u.Folder, doc.Bytes()); now.License == want {
		return u, nil
	}
	if err := doc.SetMeta(license, markdown.String(want)); err != nil {
		return u, err
	}
	u.Files = maps.Clone(u.Files)
	u.Files[skill.File] = fork.File{Data: doc.Bytes(), Exec: u.Files[skill.File].Exec}
	return u, nil
}

const (
	allowedTools = "allowed-tools"
	license      = "license"
)

// fields are the parts of what front matter says, by key, but for name, description and what stet notes.
func fields(main []byte) (map[string][]string, error) {
	dec := yaml.NewDecoder(bytes.NewReader(main[:len(main)-len(markdown.Parse(main).Body())]))
	var doc yaml.Node
	var all map[string]any
	var more any
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if err := doc.Decode(&all); err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err == nil && more != nil || err != nil && err != io.EOF {
		return nil, errors.New("it is more than one document")
	}
	out := map[string][]string{}
	for key, value := range all {
		if key != "name" && key != "description" {
			out[key] = parts(key, value)
		}
	}
	if said := remarks(&doc); len(said) > 0 {
		out["#"] = said
	}
	return out, nil
}

// remarks are the comments of YAML.
func remarks(n *yaml.Node) (out []string) {
	for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		if text != "" {
			out = append(out, text)
		}
	}
	for _, below := range n.Content {
		out = append(out, remarks(below)...)
	}
	return out
}

// parts are the tools, items or pairs of a value of front matter, else the value.
func parts(key string, value any) (out []string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			out = append(out, parts(key, one)...)
		}
		return out
	case map[string]any:
		for k, one := range v {
			if key == "metadata" && strings.HasPrefix(k, "stet-") {
				continue
			}
			for _, element := range elements(one) {
				out = append(out, k+": "+written(element))
			}
		}
		slices.Sort(out)
		return out
	case string:
		if key == allowedTools {
			return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		}
	}
	return []string{written(value)}
}

// elements are those of a list of words, which an umbrella may join, or else the value itself.
func elements(value any) []any {
	list, ok := value.([]any)
	if !ok || slices.ContainsFunc(list, func(one any) bool { _, word := one.(string); return !word }) {
		return []any{value}
	}
	return list
}

// written is a value of front matter as JSON.
func written(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // a map with keys that are no strings
		return fmt.Sprintf("%#v", value)
	}
	return string(data)
}
