package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"stet/agent"
	"stet/templates"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
)

// A Status says how the curator stands.
type Status struct {
	Enabled      bool       `json:"enabled"`
	Paused       bool       `json:"paused"`
	LastLook     string     `json:"last_look,omitempty"` // RFC 3339; "" is never
	NextLook     string     `json:"next_look,omitempty"` // not before then; "" where it does not look by itself
	Runs         int        `json:"runs"`                // reports there are
	LastRun      string     `json:"last_run,omitempty"`  // its id
	LastReport   vault.Path `json:"last_report,omitempty"`
	LastSummary  string     `json:"last_summary,omitempty"`
	Model        string     `json:"model,omitempty"`      // that may merge skills; "" where there is none
	LastMerge    string     `json:"last_merge,omitempty"` // RFC 3339, when it was asked last about skills; "" is never
	NextMerge    string     `json:"next_merge,omitempty"` // as NextLook
	Interval     int        `json:"interval_hours"`
	StaleAfter   int        `json:"stale_after_days"`
	ArchiveAfter int        `json:"archive_after_days"`
	Owned        int        `json:"owned"` // skills that agents made or the person gave over
	Stale        int        `json:"stale"` // of them
	Yours        int        `json:"yours"` // of them, that the person wrote in or accepted: they are left
	Others       int        `json:"others"`
	Archived     int        `json:"archived"` // skills in the archive
	Pinned       []string   `json:"pinned"`   // of those it owns
	// PinnedBy are the lines of those that are pinned otherwise than stet writes it, by their names.
	PinnedBy map[string]string `json:"pinned_by,omitempty"`
	Kept     []string          `json:"kept"` // that a person took back from it
	Oldest   []Standing        `json:"least_recently_active"`
}

// oldest is how many of the least recently active skills a status names.
const oldest = 5

// StatusOf reads how the curator stands.
func StatusOf(ctx context.Context, a *agent.App) (*Status, error) {
	v, _, err := a.Permit(agent.Write{Agent: a.Agent(), DryRun: true}, "curate", "")
	if err != nil {
		return nil, err
	}
	s, now, m := a.Settings(), a.Now(), readMark(v)
	out := &Status{Enabled: s.Bool(settings.Curator), Paused: m.Paused, Interval: s.Int(settings.CuratorEvery),
		StaleAfter: s.Int(settings.CuratorStale), ArchiveAfter: s.Int(settings.CuratorArchive), Pinned: []string{},
		Kept: []string{}, PinnedBy: map[string]string{}, Oldest: []Standing{}}
	at, err := last(ctx, v, now)
	if err = errors.Join(err, out.merges(ctx, a, v)); err != nil {
		return nil, err
	}
	if !at.IsZero() {
		out.LastLook = at.UTC().Format(time.RFC3339)
	}
	if out.Enabled && !out.Paused && !at.IsZero() {
		out.NextLook = at.Add(hours(s, settings.CuratorEvery)).UTC().Format(time.RFC3339)
	}
	all, err := runs(ctx, v)
	if err != nil {
		return nil, err
	}
	if out.Runs = len(all); out.Runs > 0 {
		out.LastRun = all[len(all)-1]
		last := &Report{Run: out.LastRun}
		out.LastReport = last.Path()
		if last, err := Load(ctx, a, out.LastRun); err == nil {
			out.LastSummary = last.Summary()
		}
	}
	lib, err := read(ctx, v, now)
	if err != nil {
		return nil, err
	}
	old, err := skill.All(ctx, v, true)
	out.Owned, out.Others, out.Archived = len(lib.rows), len(lib.all)-len(lib.rows), len(old)
	out.Yours = lib.yours()
	for i, r := range lib.rows {
		out.Oldest = append(out.Oldest, lib.standing(i, now))
		if r.State == Stale {
			out.Stale++
		}
		if r.Pinned {
			out.Pinned = append(out.Pinned, r.Name)
		}
		if s := lib.skills[i]; r.Pinned && s.Metadata[skill.Pinned] != "true" {
			out.PinnedBy[r.Name] = s.Pin
		}
		if r.Kept {
			out.Kept = append(out.Kept, r.Name)
		}
	}
	slices.SortStableFunc(out.Oldest, func(a, b Standing) int {
		return strings.Compare(a.LastActivity, b.LastActivity)
	})
	out.Oldest = out.Oldest[:min(len(out.Oldest), oldest)]
	return out, err
}

// merges says who merges skills, and when.
func (s *Status) merges(ctx context.Context, a *agent.App, v *vault.Vault) error {
	if model, err := a.CuratorOptions(); err == nil {
		s.Model = model.Model
	}
	at, err := lastMerge(ctx, v, a.Now(), false)
	if err != nil || at.IsZero() {
		return err
	}
	s.LastMerge = at.UTC().Format(time.RFC3339)
	if s.Enabled && !s.Paused && s.Model != "" {
		s.NextMerge = at.Add(hours(a.Settings(), settings.CuratorMerge)).UTC().Format(time.RFC3339)
	}
	return nil
}

// Load reads the report of a run, "" for the newest. It fails with [vault.ErrNotFound] where there is none, and with
// [vault.ErrDamaged] where it cannot be read.
func Load(ctx context.Context, a *agent.App, run string) (*Report, error) {
	v, _, err := a.Permit(agent.Write{Agent: a.Agent(), DryRun: true}, "curate", "")
	if err != nil {
		return nil, err
	}
	all, err := runs(ctx, v)
	if err != nil {
		return nil, err
	}
	if run == "" && len(all) == 0 {
		return nil, vault.WithHint(fmt.Errorf("no run yet: %w", vault.ErrNotFound), `"stet curate" makes one`)
	}
	if run == "" {
		run = all[len(all)-1]
	}
	if !slices.Contains(all, run) {
		err := fmt.Errorf("report %q: %w", run, vault.ErrNotFound)
		return nil, vault.WithHint(err, `"stet search kind:report" lists the reports; "stet curate" makes a run`)
	}
	out := &Report{Run: run}
	data, _, err := v.ReadFile(vault.Path(out.Path().Dir() + "/run.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, out); err != nil || out.Run != run {
		err := fmt.Errorf("report %s: %w: run.json cannot be read: %v", run, vault.ErrDamaged, err)
		return nil, vault.WithHint(err, `"git log -p -- %s" shows what it was`, templates.Quote(out.Path().Dir()))
	}
	return out, out.since(ctx, v)
}

// since notes what became of the run: which of its commits later ones took back, where those were not taken back
// themselves, and which skills no longer lie in the archive where it put them.
func (r *Report) since(ctx context.Context, v *vault.Vault) error {
	own, by := map[vault.Revision]bool{}, map[vault.Revision]vault.Revision{}
	for _, c := range r.Commits {
		own[c.Rev] = true
	}
	for c, err := range v.History().Log(ctx, vault.LogOptions{Since: r.StartedAt}) {
		if err != nil {
			return err
		}
		for _, rev := range c.Reverts() {
			if _, off := by[c.Rev]; !off && by[rev] == "" {
				by[rev] = c.Rev
			}
		}
	}
	maps.DeleteFunc(by, func(rev, _ vault.Revision) bool { return !own[rev] })
	r.TakenBack, r.Restored = by, nil
	back := func(name string, archived bool, at vault.Path) {
		if _, err := v.ReadHead(at+"/"+skill.File, 1); archived && errors.Is(err, fs.ErrNotExist) {
			r.Restored = append(r.Restored, name)
		}
	}
	for _, t := range r.Transitions {
		back(t.Name, t.To == Archived, t.Into)
	}
	for _, a := range slices.Concat(r.Consolidated, r.Pruned) {
		back(a.Name, a.Applied, a.To)
	}
	return nil
}

// Page is the REPORT.md of a run, and its path.
func Page(a *agent.App, run *Report) ([]byte, vault.Path, error) {
	v, _, err := a.Permit(agent.Write{Agent: a.Agent(), DryRun: true}, "curate", "")
	if err != nil {
		return nil, "", err
	}
	data, _, err := v.ReadFile(run.Path())
	return data, run.Path(), err
}
