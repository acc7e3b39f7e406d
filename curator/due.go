package curator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"stet/agent"
	"stet/curator/fork"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
)

// markName is where local state says how far the curator is.
const markName = "curator"

// A mark is what a clone knows of its runs, beside the reports. What cannot be read of it counts as nothing.
type mark struct {
	Last    time.Time `json:"last,omitzero"`   // when it looked last, whether or not there was anything to do
	Merged  time.Time `json:"merged,omitzero"` // when a model was asked last
	Paused  bool      `json:"paused,omitempty"`
	Running *running  `json:"running,omitempty"` // a run that has not reported yet
	// Asked is when a model was asked last about clusters, by a skill or the file of a memory of each.
	Asked map[string]time.Time `json:"asked,omitempty"`
	// Refused is why what a model made of clusters was not done, by the first skill of each.
	Refused map[string]refusal `json:"refused,omitempty"`
}

type running struct {
	Run   string    `json:"run"`
	Begun time.Time `json:"begun"`
}

func readMark(v *vault.Vault) (m mark) {
	data, err := v.State().Seen(markName)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return mark{}
	}
	return m
}

func setMark(ctx context.Context, v *vault.Vault, change func(*mark)) error {
	return v.State().SetSeen(context.WithoutCancel(ctx), markName, func(now []byte) ([]byte, error) {
		var m mark
		if json.Unmarshal(now, &m) != nil {
			m = mark{}
		}
		change(&m)
		return json.Marshal(m)
	})
}

// cloneID is the name under which this clone shares its counts; it is made when it is needed first.
func cloneID(ctx context.Context, v *vault.Vault) (string, error) {
	id := ""
	err := v.State().SetSeen(ctx, "clone", func(now []byte) ([]byte, error) {
		id = strings.TrimSpace(string(now))
		if len(id) != 26 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
			id = strings.ToLower(rand.Text())
		}
		return []byte(id + "\n"), nil
	})
	return id, err
}

// runs are the ids of the runs that there are reports of, oldest first.
func runs(ctx context.Context, v *vault.Vault) ([]string, error) {
	files, err := v.Whole().Files(ctx, vault.WalkOptions{Reports: true})
	var out []string
	for _, f := range files {
		out = append(out, path.Base(f.Path.Dir()))
	}
	slices.Sort(out)
	return out, err
}

// begunAt is the time in the id of a run.
func begunAt(id string) (time.Time, error) {
	const form = "20060102-150405"
	return time.Parse(form, id[:min(len(id), len(form))])
}

// last is when the curator ran last, in this clone or in one whose reports came here; zero is never.
func last(ctx context.Context, v *vault.Vault, now time.Time) (time.Time, error) {
	at := readMark(v).Last
	all, err := runs(ctx, v)
	for _, id := range all {
		begun, perr := begunAt(id)
		if perr == nil && begun.After(at) && !begun.After(now) {
			at = begun
		}
	}
	if at.After(now) {
		at = now // the clock went back
	}
	return at, err
}

// IfDue makes a run where one is due: after curator.interval_hours, when nobody has said anything for
// curator.min_idle_hours, unless it is switched off or paused. The first look is deferred for one interval. One that
// finds nothing to do leaves a mark in local state and nothing else; then, and where nothing is due, the result is nil.
// With model, which may be nil, it has the second tier as well after curator.consolidate_hours.
func IfDue(ctx context.Context, a *agent.App, w agent.Write, model fork.Runner) (*Report, error) {
	v, _, err := a.Permit(w, "curate-due", "")
	if err != nil {
		return nil, err
	}
	s, now, m := a.Settings(), a.Now(), readMark(v)
	if !s.Bool(settings.Curator) || m.Paused {
		return nil, nil
	}
	at, err := last(ctx, v, now)
	switch {
	case err != nil:
		return nil, err
	case at.IsZero():
		return nil, setMark(ctx, v, func(m *mark) { m.Last = now })
	case m.Running == nil && now.Sub(at) < hours(s, settings.CuratorEvery):
		return nil, nil
	}
	said, err := a.Sessions().List(ctx, agent.SessionFilter{Since: now.Add(-hours(s, settings.CuratorIdle)), Limit: 1})
	if err != nil || said.Total > 0 {
		return nil, err
	}
	out, err := Run(ctx, a, Options{Write: w, Runner: model, due: true})
	if errors.Is(err, vault.ErrBusy) {
		err = nil // somebody is at it
	}
	if out != nil && a.Agent() != "" { // names may be private
		counts := emptyReport(out.Run, out.StartedAt)
		counts.AutoTransitions, counts.Counts = out.AutoTransitions, out.Counts
		out = counts
	}
	return out, err
}

func hours(s settings.Settings, key settings.Name) time.Duration {
	return time.Duration(min(s.Int(key), 24*365*100)) * time.Hour
}

// Pause keeps the curator from looking by itself, or with paused false lets it again.
func Pause(ctx context.Context, a *agent.App, w agent.Write, paused bool) error {
	v, _, err := a.Permit(w, "curate", "")
	if err != nil || w.DryRun {
		return err
	}
	return setMark(ctx, v, func(m *mark) { m.Paused = paused })
}

// interrupted writes the report of a run whose process ended before it could, from the commits that it left, and
// reports whether there was one.
func interrupted(ctx context.Context, r *runner) (was bool, _ error) {
	m := readMark(r.v)
	if m.Running == nil {
		return false, nil
	}
	out := emptyReport(m.Running.Run, m.Running.Begun)
	out.Interrupted = true
	var own []vault.Commit
	reported := false
	since := vault.LogOptions{Since: m.Running.Begun.Add(-time.Minute), Changes: true}
	for c, err := range r.v.Whole().History().Log(ctx, since) {
		if err != nil {
			return true, err
		}
		if c.Trailers.Get("Stet-Run") != m.Running.Run || c.Trailers.Get("Stet-Actor") != Actor {
			continue
		}
		if reported = c.Op == vault.OpReport; reported {
			break
		}
		own = append(own, c)
	}
	if !reported {
		slices.Reverse(own)
		err := out.list(ctx, r.v, own, false)
		for _, c := range own {
			err = errors.Join(err, out.recover(ctx, r.v, c))
		}
		if err == nil {
			err = out.save(ctx, r)
		}
		if err != nil {
			return true, err
		}
	}
	return true, setMark(ctx, r.v, func(m *mark) { m.Running = nil })
}

// recover notes what a commit did, as far as it tells.
func (r *Report) recover(ctx context.Context, v *vault.Vault, c vault.Commit) error {
	view, err := v.Whole().History().View(ctx, string(c.Rev))
	if err != nil {
		return err
	}
	if c.Op == vault.OpMerge && c.Trailers.Get("Stet-Memory") != "" {
		r.Memories.recover(c)
		return nil
	}
	if c.Op == vault.OpMerge {
		return r.recoverMerge(view, c)
	}
	var all []Transition
	for _, ch := range c.Changes {
		data, _, err := view.Read(ch.Path)
		if err != nil {
			return err
		}
		ended := Ended{Path: ch.From, Into: ch.Path, Why: c.Trailers.Get("Stet-Reason"), Evidence: "the commit",
			Commit: c.Rev}
		switch m := vault.ReadMemory(ch.Path, data); {
		case m.Class == vault.ClassMemory:
			ended.Path = vault.Path(m.Source)
			r.Memories.Moved = append(r.Memories.Moved, ended)
			continue
		case vault.ClassOf(ch.From) == vault.ClassMemory:
			r.Memories.Archived = append(r.Memories.Archived, ended)
			continue
		case ch.Path.Base() != skill.File:
			continue
		}
		s, _ := skill.Parse(vault.Path(ch.Path.Dir()), data)
		t := Transition{Name: s.Name, From: Stale, To: Active, Path: s.Folder, Into: s.Folder, Commit: c.Rev,
			Why: c.Trailers.Get("Stet-Reason"), Evidence: "the commit"}
		if ch.From != "" {
			t.Path = vault.Path(ch.From.Dir())
		}
		stale := s.Metadata[skill.State] == string(Stale)
		switch {
		case c.Op == vault.OpArchive && stale:
			t.From, t.To = Stale, Archived
		case c.Op == vault.OpArchive:
			t.From, t.To = Active, Archived
		case stale:
			t.From, t.To = Active, Stale
		}
		all = append(all, t)
	}
	if c.Op == vault.OpArchive && len(all) > 1 { // a skill may hold material that is called so
		slices.SortFunc(all, func(a, b Transition) int { return len(a.Into) - len(b.Into) })
		all = all[:1]
	}
	for _, t := range all {
		r.did(t)
	}
	return nil
}
