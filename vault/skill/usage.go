package skill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"stet/vault"
)

// Usage is how often a skill was used in this clone, and when last (UTC).
type Usage struct {
	Views       int       `json:"views"`
	Viewed      time.Time `json:"viewed,omitzero"`
	AgentViewed time.Time `json:"agent_viewed,omitzero"` // by an agent
	Uses        int       `json:"uses"`
	Used        time.Time `json:"used,omitzero"`
	Patches     int       `json:"patches"` // changes of its files by stet
	Patched     time.Time `json:"patched,omitzero"`
}

// View counts that somebody looked at the skill, an agent if byAgent is set.
func (u *Usage) View(now time.Time, byAgent bool) {
	u.Views, u.Viewed = u.Views+1, now
	if byAgent {
		u.AgentViewed = now
	}
}

// Use counts that the skill was followed.
func (u *Usage) Use(now time.Time) { u.Uses, u.Used = u.Uses+1, now }

// Patch counts a change.
func (u *Usage) Patch(now time.Time) { u.Patches, u.Patched = u.Patches+1, now }

// usageMark names the counts in local state.
const usageMark = "skills"

// Usages are the counts of this clone by name. What cannot be read of them counts as nothing.
func Usages(v *vault.Vault) map[string]Usage {
	data, err := v.State().Seen(usageMark)
	if err != nil {
		return map[string]Usage{}
	}
	return decodeUsage(data)
}

// Count changes the counts of a skill; they are no part of the vault.
func Count(ctx context.Context, v *vault.Vault, name string, change func(*Usage)) error {
	return v.State().SetSeen(ctx, usageMark, func(now []byte) ([]byte, error) {
		all := decodeUsage(now)
		u := all[name]
		change(&u)
		all[name] = u
		return json.Marshal(map[string]any{"v": 1, "skills": all})
	})
}

// maxUsage bounds a file of counts that another clone wrote.
const maxUsage = 4 << 20

// SharedUsage are the counts of this clone, each with the latest times of all clones. A time that is still to come
// counts for nothing, and so does a file that cannot be read.
func SharedUsage(ctx context.Context, v *vault.Vault, now time.Time) (map[string]Usage, error) {
	out := Usages(v)
	o := vault.WalkOptions{Under: vault.UsageFolder, All: true, Hidden: true}
	files, err := v.Whole().Files(ctx, o)
	if ctx.Err() != nil {
		return nil, err
	}
	for _, f := range files { // none where a link or a file stands in the folder's place
		data, _, err := v.Whole().ReadFile(f.Path)
		if err != nil || len(data) > maxUsage {
			continue
		}
		for name, u := range decodeUsage(data) {
			all := out[name]
			for _, t := range [][2]*time.Time{{&all.Viewed, &u.Viewed}, {&all.AgentViewed, &u.AgentViewed},
				{&all.Used, &u.Used}, {&all.Patched, &u.Patched}} {
				if t[1].After(*t[0]) && !t[1].After(now) {
					*t[0] = t[1].UTC()
				}
			}
			out[name] = all
		}
	}
	return out, nil
}

// ShareUsage stages the counts that this clone has of these skills, as the file of the clone.
func ShareUsage(v *vault.Vault, tx *vault.Tx, clone string, names map[string]bool) error {
	counts := Usages(v)
	for name, u := range counts {
		if !names[name] || u == (Usage{}) {
			delete(counts, name)
		}
	}
	p := vault.Path(vault.UsageFolder + "/" + clone + ".json")
	_, was, err := tx.Read(p)
	_, file, _ := tx.Read(vault.UsageFolder)
	if errors.Is(err, vault.ErrBadPath) || file != "" || len(counts) == 0 {
		return nil // something else stands in the folder's place, and nothing is shared
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{"v": 1, "skills": counts}); err != nil {
		return err
	}
	return tx.Put(p, was, out.Bytes())
}

func decodeUsage(data []byte) map[string]Usage {
	var file struct {
		Skills map[string]json.RawMessage `json:"skills"`
	}
	out := map[string]Usage{}
	if json.Unmarshal(data, &file) != nil {
		return out
	}
	for name, raw := range file.Skills {
		var u Usage
		if json.Unmarshal(raw, &u) == nil {
			out[name] = u
		}
	}
	return out
}
