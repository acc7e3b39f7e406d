package curator

import "time"

// A State is where a skill stands in its life.
type State string

// The states. Archived is what stands in the archive; no row has it.
const (
	Active   State = "active"
	Stale    State = "stale"
	Archived State = "archived"
)

// A Row is what decides about one skill. Times are UTC, the zero time says that it never happened.
type Row struct {
	Name   string
	State  State // Active or Stale
	Pinned bool
	// Kept says that a person took back what the curator did to the skill, which is the same since.
	Kept bool
	// When it was last followed, viewed by an agent, changed by stet, and changed by a commit of anybody but the
	// curator; an edit that is not committed counts as one.
	Used, Viewed, Patched, Committed time.Time
	Created                          time.Time // first commit
}

// anchor is the time from which a skill's age counts.
func (r Row) anchor(now time.Time) time.Time {
	var last time.Time
	for _, t := range []time.Time{r.Used, r.Viewed, r.Patched, r.Committed} {
		if t.After(last) {
			last = t
		}
	}
	switch {
	case !last.IsZero():
		return last
	case !r.Created.IsZero():
		return r.Created
	}
	return now
}

// Cutoffs are the times up to which activity is too old: for an active skill to stay active, and for any to stay.
type Cutoffs struct{ Stale, Archive time.Time }

// An Action is the change of one skill's state.
type Action struct {
	Row      int       // its place among the rows
	From, To State     // To is Archived, Stale or Active
	Anchor   time.Time // its last activity
}

// Counts sum up what [Transitions] found.
type Counts struct {
	Checked     int `json:"checked"`
	MarkedStale int `json:"marked_stale"`
	Archived    int `json:"archived"`
	Reactivated int `json:"reactivated"`
}

// Transitions says what becomes of skills, in the order of rows: one whose last activity is not after
// cutoffs.Archive is archived; else an active one whose activity is not after cutoffs.Stale becomes stale; else a stale
// one with newer activity becomes active. Pinned ones, and those that a person took back, are counted as checked and
// left as they are.
func Transitions(rows []Row, now time.Time, cutoffs Cutoffs) ([]Action, Counts) {
	var actions []Action
	counts := Counts{Checked: len(rows)}
	for i, r := range rows {
		a := Action{Row: i, From: r.State, Anchor: r.anchor(now)}
		switch old := !a.Anchor.After(cutoffs.Stale); {
		case r.Pinned || r.Kept:
			continue
		case !a.Anchor.After(cutoffs.Archive):
			a.To = Archived
			counts.Archived++
		case old && r.State == Active:
			a.To = Stale
			counts.MarkedStale++
		case !old && r.State == Stale:
			a.To = Active
			counts.Reactivated++
		default:
			continue
		}
		actions = append(actions, a)
	}
	return actions, counts
}
