package curator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/curator/merge"
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

// A Mention is a line of a skill that still names one which became a section of another.
type Mention struct {
	Path vault.Path `json:"path"`
	Line int        `json:"line"` // from 1
	Name string     `json:"name"`
	Into string     `json:"into"` // where it is a section now
}

// Where is the place of the line, as path:12.
func (m Mention) Where() string { return fmt.Sprintf("%s:%d", m.Path, m.Line) }

// Twins are skills of one name.
type Twins struct {
	Name    string       `json:"name"`
	Folders []vault.Path `json:"folders"`
}

const (
	maxMentioning = 1 << 20 // bytes of a file in which names are looked for
	maxMentions   = 200     // of a report
)

// mentions notes where other skills, whoever owns them, name those that the steps made sections of others: in text, in
// code and in front matter. Nothing there is changed. Links that lead to the umbrella by now are none. Cost: a look at
// each file of each skill.
func (t *second) mentions(ctx context.Context, done []*step) error {
	all, err := skill.All(ctx, t.v, false)
	if err != nil {
		return err
	}
	stock, err := skill.Look(ctx, t.v, all)
	if err != nil {
		return err
	}
	var marks []marked
	for _, one := range done {
		if one.Umbrella.Files != nil {
			marks = append(marks, marksOf(one))
		}
	}
	for _, s := range all {
		if s.Private || s.Waits {
			continue
		}
		for _, f := range stock.Contents(s, nil) {
			data, _, err := t.v.ReadFile(f.Path)
			if err != nil || len(data) > maxMentioning || !utf8.Valid(data) {
				continue // it may be gone by now, and what cannot be read names nothing to a reader
			}
			for _, one := range marks {
				if one.Umbrella.Folder != s.Folder {
					t.out.StillNamed = append(t.out.StillNamed, one.named(f.Path, data)...)
				}
			}
		}
	}
	t.out.StillNamed = t.out.StillNamed[:min(len(t.out.StillNamed), maxMentions)]
	return nil
}

// marked is a step with what finds its names in a text.
type marked struct {
	*step
	link  *regexp.Regexp   // a link that leads to the umbrella
	names []*regexp.Regexp // of each absorbed skill, in their order
}

func marksOf(s *step) marked {
	m := marked{step: s, link: regexp.MustCompile(
		`\[[^\[\]]*\]\([^()\s]*` + regexp.QuoteMeta(string(s.Umbrella.Folder.Base())) + `(?:/[^()]*)?\)`)}
	for _, gone := range s.Absorbed {
		m.names = append(m.names,
			regexp.MustCompile(`(?:^|[^\pL\pN_-])`+regexp.QuoteMeta(gone.Name)+`(?:$|[^\pL\pN_-])`))
	}
	return m
}

// named are the lines of a file that name a skill of the step, each skill once. A name of one word is a word like
// others but where the line has to do with skills.
func (s marked) named(p vault.Path, data []byte) (out []Mention) {
	front := 0
	if p.Base() == skill.File {
		front = markdown.Parse(data).BodyLine() - 1
	}
	for i, gone := range s.Absorbed {
		if !bytes.Contains(data, []byte(gone.Name)) {
			continue
		}
		fields := front > 0 && merge.Names(data, gone.Name)
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			var is bool
			switch {
			case n <= front:
				is = fields
			case strings.ContainsAny(gone.Name, "-_"):
				is = true
			default:
				is = strings.Contains(markdown.Fold(line), "skill")
			}
			if is && s.names[i].MatchString(s.link.ReplaceAllString(line, "")) {
				out = append(out, Mention{p, n, gone.Name, s.Umbrella.Name})
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Mention) int { return cmp.Compare(a.Line, b.Line) })
	return out
}

// twins notes which skills have the name of another.
func (r *Report) twins(all []skill.Skill) {
	r.Twins = nil
	for _, s := range all {
		if s.Private || s.Waits {
			continue
		}
		n := len(r.Twins) - 1 // they come name by name
		if n < 0 || r.Twins[n].Name != s.Name {
			r.Twins, n = append(r.Twins, Twins{Name: s.Name}), n+1
		}
		r.Twins[n].Folders = append(r.Twins[n].Folders, s.Folder)
	}
	r.Twins = slices.DeleteFunc(r.Twins, func(t Twins) bool { return len(t.Folders) < 2 })
}
