package snapshot

import (
	"context"
	"io/fs"
	"strings"

	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

// maxDescription is how many characters of a skill's description the catalogue shows: enough to tell
// when it is of use, so that many fit.
const maxDescription = 160

// readSkills reads the catalogue, by name.
func (t *taking) readSkills(ctx context.Context) error {
	heads := map[vault.Path][]byte{}
	all, err := skill.Read(skill.Paths(t.files), func(p vault.Path) ([]byte, error) {
		data, err := t.read(ctx, p)
		if err == nil && data == nil {
			err = fs.ErrNotExist
		}
		heads[p] = data
		return data, err
	})
	if err != nil {
		return err
	}
	of, err := t.v.State().Elsewhere(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, waits := of(s.Folder); waits || s.Private {
			continue
		}
		one := Skill{Name: s.Name, Description: s.Description, CreatedBy: s.By()}
		data := heads[s.Main()]
		front := data[:len(data)-len(markdown.Parse(data).Body())]
		said := spelled(s.Name) + ": " + s.Description
		if one.Orders, one.Masked, err = t.orders(ctx, s.Main(), said, front); err != nil {
			return err
		}
		if one.Masked {
			one.Name, one.Description = maskOf(one.Orders), ""
		}
		t.skills = append(t.skills, one)
	}
	return nil
}

func (s Skill) render() string {
	if s.Masked {
		return "- " + s.Name + "\n"
	}
	text := oneLine(s.Description)
	if runes := []rune(text); len(runes) > maxDescription {
		text = strings.TrimSpace(string(runes[:maxDescription-1])) + "…"
	}
	if text = oneLine(s.Name) + ": " + text; len(s.Orders) > 0 {
		text += ordersOfUser
	} else if s.CreatedBy == "agent" {
		text += " (by an agent)"
	}
	return "- " + text + "\n"
}
