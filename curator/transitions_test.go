package curator

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const day = 24 * time.Hour

func now() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

func cutoffs() Cutoffs { return Cutoffs{Stale: now().Add(-30 * day), Archive: now().Add(-90 * day)} }

// Every state, at every age, with the activity of every kind: an age below, at and above each cutoff.
func TestAnUnusedSkillBecomesStaleThenGoesToTheArchive(t *testing.T) {
	t.Parallel()
	ages := []struct {
		age                   time.Duration
		fromActive, fromStale State
	}{
		{0, Active, Active},
		{30*day - time.Second, Active, Active},
		{30 * day, Stale, Stale},
		{30*day + time.Second, Stale, Stale},
		{90*day - time.Second, Stale, Stale},
		{90 * day, Archived, Archived},
		{90*day + time.Second, Archived, Archived},
		{4000 * day, Archived, Archived},
		{-5 * day, Active, Active}, // a clock that went back
	}
	long := now().Add(-1000 * day)
	kinds := map[string]func(at time.Time) Row{
		"used":      func(at time.Time) Row { return Row{Used: at, Viewed: long, Patched: long, Committed: long} },
		"viewed":    func(at time.Time) Row { return Row{Viewed: at, Used: long} },
		"patched":   func(at time.Time) Row { return Row{Patched: at, Committed: long} },
		"hand edit": func(at time.Time) Row { return Row{Committed: at, Used: long, Created: long} },
		"made":      func(at time.Time) Row { return Row{Created: at} },
	}
	for _, a := range ages {
		for kind, row := range kinds {
			for _, from := range []State{Active, Stale} {
				want := a.fromActive
				if from == Stale {
					want = a.fromStale
				}
				if kind == "made" && a.age < 0 {
					continue
				}
				r := row(now().Add(-a.age))
				if a.age > 900*day && kind != "made" && kind != "hand edit" {
					want = Archived // the other times are nearer, and too old as well
				}
				r.State = from
				if got := after(r); got != want {
					t.Errorf("%s, %s %v ago: %s, want %s", from, kind, a.age, got, want)
				}
				for _, left := range []string{"pinned", "kept"} {
					kept := r
					kept.Pinned, kept.Kept = left == "pinned", left == "kept"
					if got := after(kept); got != from {
						t.Errorf("%s %s, %s %v ago: %s", left, from, kind, a.age, got)
					}
				}
			}
		}
	}
	if got := after(Row{State: Active}); got != Active {
		t.Errorf("nothing is known of it: %s", got)
	}
	if got := after(Row{State: Stale}); got != Active {
		t.Errorf("nothing is known of it, stale: %s", got)
	}
}

// after is the state that one skill has after a run.
func after(r Row) State {
	actions, _ := Transitions([]Row{r}, now(), cutoffs())
	if len(actions) == 0 {
		return r.State
	}
	return actions[0].To
}

func TestCutoffsInTheWrongOrderArchiveFirst(t *testing.T) {
	t.Parallel()
	wrong := Cutoffs{Stale: now().Add(-90 * day), Archive: now().Add(-30 * day)}
	rows := []Row{{State: Active, Used: now().Add(-40 * day)}, {State: Active, Used: now().Add(-20 * day)}}
	actions, counts := Transitions(rows, now(), wrong)
	if want := (Counts{Checked: 2, Archived: 1}); counts != want || len(actions) != 1 || actions[0].Row != 0 {
		t.Errorf("%+v, %+v", actions, counts)
	}
}

// oracle is the sentence of the design, word for word.
func oracle(r Row, at time.Time, c Cutoffs) State {
	anchor := slices.MaxFunc([]time.Time{r.Used, r.Viewed, r.Patched, r.Committed}, time.Time.Compare)
	if anchor.IsZero() {
		anchor = r.Created
	}
	if anchor.IsZero() {
		anchor = at
	}
	notAfter := func(cutoff time.Time) bool { return anchor.Before(cutoff) || anchor.Equal(cutoff) }
	if r.Pinned || r.Kept {
		return r.State
	} else if notAfter(c.Archive) {
		return Archived
	} else if notAfter(c.Stale) {
		return Stale
	}
	return Active
}

func TestTransitionsAreTheSentenceOfTheDesignAndRunOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.Bool().Draw(t, "never") {
				return time.Time{}
			}
			return now().Add(time.Duration(rapid.IntRange(-100, 5).Draw(t, "days")) * day)
		})
		row := rapid.Custom(func(t *rapid.T) Row {
			return Row{State: rapid.SampledFrom([]State{Active, Stale}).Draw(t, "state"),
				Pinned: rapid.Bool().Draw(t, "pinned"), Kept: rapid.Bool().Draw(t, "kept"),
				Used: moment.Draw(t, "used"), Viewed: moment.Draw(t, "viewed"), Patched: moment.Draw(t, "patched"),
				Committed: moment.Draw(t, "committed"), Created: moment.Draw(t, "created")}
		})
		rows := rapid.SliceOfN(row, 0, 8).Draw(t, "rows")
		c := Cutoffs{Stale: moment.Draw(t, "stale"), Archive: moment.Draw(t, "archive")}
		if c.Stale.Before(c.Archive) {
			c.Stale, c.Archive = c.Archive, c.Stale
		}
		actions, counts := Transitions(rows, now(), c)
		states := map[State]int{}
		to := map[int]State{}
		for _, a := range actions {
			to[a.Row] = a.To
			states[a.To]++
		}
		want := Counts{Checked: len(rows), MarkedStale: states[Stale], Archived: states[Archived],
			Reactivated: states[Active]}
		if counts != want {
			t.Fatalf("counts %+v of %+v", counts, actions)
		}
		var live []Row
		for i, r := range rows {
			got, changed := to[i]
			if !changed {
				got = r.State
			}
			if want := oracle(r, now(), c); got != want || changed && got == r.State {
				t.Fatalf("%s: %s, the sentence says %s", fmt.Sprintf("%+v", r), got, want)
			}
			if r.State = got; got != Archived {
				live = append(live, r)
			}
		}
		if again, _ := Transitions(live, now(), c); len(again) > 0 {
			t.Fatalf("the second run does %+v", again)
		}
	})
}
