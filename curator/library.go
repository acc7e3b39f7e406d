package curator

import (
	"context"
	"slices"
	"strings"
	"time"

	"stet/vault"
	"stet/vault/skill"
)

// Actor is who the commits of the curator say did it.
const Actor = "curator"

// A library is the skills of a vault that the curator owns, in the order of their names, and what is known of each.
type library struct {
	base   vault.Revision // HEAD when they were read
	all    []skill.Skill  // whoever owns them
	skills []skill.Skill
	rows   []Row        // of the same skills
	edits  map[int]bool // those of which a person wrote or accepted something, by their rows
}

// read reads the library as it is at a time. Cost: one look at each file below skills/, and one tree comparison per
// commit of the history.
func read(ctx context.Context, v *vault.Vault, now time.Time) (*library, error) {
	l := &library{edits: map[int]bool{}}
	var err error
	if l.base, err = v.Head(); err != nil {
		return nil, err
	}
	all, err := skill.All(ctx, v, false)
	if err != nil {
		return nil, err
	}
	used, err := skill.SharedUsage(ctx, v, now)
	if err != nil {
		return nil, err
	}
	l.all = all
	for _, s := range all {
		if !s.Owned() {
			continue
		}
		u := used[s.Name]
		r := Row{Name: s.Name, State: Active, Pinned: s.Is(skill.Pinned), Used: u.Used, Viewed: u.AgentViewed,
			Patched: u.Patched}
		if s.Metadata[skill.State] == string(Stale) {
			r.State = Stale
		}
		l.skills, l.rows = append(l.skills, s), append(l.rows, r)
	}
	if len(l.rows) == 0 {
		return l, nil
	}
	if err := l.trace(ctx, v); err != nil {
		return nil, err
	}
	return l, l.edited(ctx, v, now)
}

// folders is where the skills stand, by their rows.
func (l *library) folders() map[vault.Path]int {
	at := map[vault.Path]int{}
	for i, s := range l.skills {
		at[s.Folder] = i
	}
	return at
}

// rowOf is the skill that a file belongs to, -1 for none.
func rowOf(at map[vault.Path]int, p vault.Path) int {
	for dir := vault.Path(p.Dir()); dir != "." && dir != ""; dir = vault.Path(dir.Dir()) {
		if i, ok := at[dir]; ok {
			return i
		}
	}
	return -1
}

// edited counts an edit that nobody has committed as activity of this moment.
func (l *library) edited(ctx context.Context, v *vault.Vault, now time.Time) error {
	st, err := v.Status(ctx)
	if err != nil {
		return err
	}
	at := l.folders()
	for _, c := range slices.Concat(st.Changed, st.Staged) {
		for _, p := range []vault.Path{c.Path, c.From} {
			if i := rowOf(at, p); i >= 0 {
				l.rows[i].Committed = now
			}
		}
	}
	return nil
}

// A footprint is what one commit did to one skill.
type footprint struct {
	text    bool       // it changed more than where files stand
	main    bool       // and that of its SKILL.md
	brought bool       // its SKILL.md came back from the archive
	from    vault.Path // where its folder was before, "" where it stayed
	made    bool       // its SKILL.md is new
}

// footprints are what a commit did to the skills that stood at these places after it.
func footprints(c vault.Commit, at map[vault.Path]int) map[int]*footprint {
	out := map[int]*footprint{}
	for _, ch := range c.Changes {
		i := rowOf(at, ch.Path)
		if i < 0 {
			continue
		}
		f := out[i]
		if f == nil {
			f = &footprint{}
			out[i] = f
		}
		f.text = f.text || ch.Status != vault.Renamed || ch.Old != ch.New
		if at, ok := at[vault.Path(ch.Path.Dir())]; !ok || at != i || ch.Path.Base() != skill.File {
			continue
		}
		f.main = ch.Old != ch.New
		switch ch.Status {
		case vault.Renamed:
			f.from = vault.Path(ch.From.Dir())
			f.brought = vault.ClassOf(ch.From) == vault.ClassArchive
		case vault.Added:
			f.made = true
		}
	}
	return out
}

// reported are the runs that history has a report of. Only what carries the name of one is the curator's: anybody can
// write that the curator did it.
func reported(ctx context.Context, v *vault.Vault) (map[string]bool, error) {
	out := map[string]bool{}
	for c, err := range v.Whole().History().Log(ctx, vault.LogOptions{Op: vault.OpReport, Actor: Actor}) {
		if err != nil {
			return nil, err
		}
		out[c.Trailers.Get("Stet-Run")] = true
	}
	delete(out, "")
	return out, nil
}

// trace walks the history back, and notes of each skill when it was made, when anybody but the curator changed it
// last, and whether that took back what the curator did. A merge says nothing that its parents do not say.
func (l *library) trace(ctx context.Context, v *vault.Vault) error {
	at := l.folders()
	settled := make([]bool, len(l.rows))
	took := make([][]vault.Revision, len(l.rows))
	ours, err := reported(ctx, v)
	if err != nil {
		return err
	}
	for c, err := range v.Whole().History().Log(ctx, vault.LogOptions{Path: "skills", Changes: true}) {
		if err != nil {
			return err
		}
		if len(c.Parents) > 1 {
			continue
		}
		own, before := c.Trailers.Get("Stet-Actor") == Actor && ours[c.Trailers.Get("Stet-Run")], map[vault.Path]int{}
		person := !c.ByMachine() || c.Trailers.Get("Stet-Approved-By") != ""
		for i, f := range footprints(c, at) {
			r := &l.rows[i]
			if r.Created = c.When.UTC(); !own && c.When.After(r.Committed) {
				r.Committed = r.Created
			}
			mine := person || c.Trailers.Get("Stet-Because") != ""
			if f.main && mine && !own && c.Op != vault.OpRevert && c.Op != vault.OpRestore {
				l.edits[i] = true
			}
			switch {
			case own:
				r.Kept = r.Kept || slices.Contains(took[i], c.Rev)
			case settled[i]:
			case f.brought:
				r.Kept, settled[i] = person, true
			case f.text:
				if settled[i] = true; person {
					took[i] = c.Reverts()
				}
			}
			if f.from != "" {
				before[f.from] = i
			}
			if f.from != "" || f.made {
				for p, row := range at {
					if row == i {
						delete(at, p)
					}
				}
			}
		}
		for p, i := range before {
			at[p] = i
		}
		for _, ch := range c.Changes {
			i, stands := at[vault.Path(ch.From.Dir())]
			if own && stands && !settled[i] && ch.From.Base() == skill.File {
				l.rows[i].Kept, settled[i] = true, true // archived, and it stands: a merge brought it back
			}
		}
	}
	return nil
}

// yours counts the skills that a person wrote in or accepted, and did not give over: the curator leaves them.
func (l *library) yours() (n int) {
	for i := range l.edits {
		if !l.skills[i].Is(skill.Managed) {
			n++
		}
	}
	return n
}

// cutoffs are the times that these ages reach back to. A year too far for the clock is the beginning.
func cutoffsOf(now time.Time, stale, archive int) Cutoffs {
	back := func(days int) time.Time { return now.AddDate(0, 0, -min(days, 365*1000)) }
	return Cutoffs{Stale: back(stale), Archive: back(archive)}
}

// reason says in words why an action is due.
func (a Action) reason(r Row) string {
	last := map[time.Time]string{r.Committed: "changed", r.Patched: "changed", r.Viewed: "viewed by an agent",
		r.Used: "used"}
	what := last[a.Anchor]
	if what == "" || a.Anchor.IsZero() {
		what = "made"
	}
	day := a.Anchor.Format(time.DateOnly)
	if a.To == Active {
		return strings.Join([]string{what, "again on", day}, " ")
	}
	return strings.Join([]string{"last", what, "on", day}, " ")
}
