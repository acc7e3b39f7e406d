package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/vault"
)

func at(ms int) time.Time {
	return time.Date(2026, 1, 9, 14, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

func TestAPathIsTakenWhenItHasBeenLeftAlone(t *testing.T) {
	t.Parallel()
	p := debouncer{wait: 100 * time.Millisecond, limit: 10}
	p.add("a.md", at(0))
	p.add("b.md", at(60))
	p.add("a.md", at(90)) // again
	if got, _, _ := p.take(at(159)); len(got) != 0 {
		t.Errorf("taken too early: %v", got)
	}
	if got, _, since := p.take(at(160)); !slices.Equal(got, []vault.Path{"b.md"}) || !since.Equal(at(60)) {
		t.Errorf("at 160: %v since %v", got, since)
	}
	if next, ok := p.next(); !ok || !next.Equal(at(190)) {
		t.Errorf("next %v %v", next, ok)
	}
	if got, _, _ := p.take(at(190)); !slices.Equal(got, []vault.Path{"a.md"}) {
		t.Errorf("at 190: %v", got)
	}
	if _, ok := p.next(); ok || size(&p) != 0 {
		t.Error("something is left")
	}
}

func TestAPathThatNeverRestsIsTakenAtLast(t *testing.T) {
	t.Parallel()
	p := debouncer{wait: 100 * time.Millisecond, most: 300 * time.Millisecond, limit: 10}
	for ms := 0; ms < 300; ms += 20 {
		p.add("a.md", at(ms))
		if got, _, _ := p.take(at(ms)); len(got) != 0 {
			t.Fatalf("taken at %d", ms)
		}
	}
	if got, _, _ := p.take(at(300)); len(got) != 1 {
		t.Error("not taken after the longest wait")
	}
}

func TestTooManyPathsBecomeEverything(t *testing.T) {
	t.Parallel()
	p := debouncer{wait: 100 * time.Millisecond, limit: 3}
	for i := range 4 {
		p.add(vault.Path(fmt.Sprintf("%d.md", i)), at(i))
	}
	if size(&p) != 1 || !p.has("anything.md") {
		t.Errorf("%d entries", size(&p))
	}
	p.add("late.md", at(80))
	got, all, _ := p.take(at(103))
	if len(got) != 0 || !all {
		t.Errorf("at 103: %v, everything %v", got, all)
	}
	if !p.has("late.md") || p.has("0.md") {
		t.Error("the path that came later must wait on, alone")
	}
}

func TestEditsMadeTogetherAreTakenTogether(t *testing.T) {
	t.Parallel()
	p := debouncer{wait: 100 * time.Millisecond, group: 300 * time.Millisecond, limit: 10}
	p.add("a.md", at(0))
	p.add("b.md", at(90))
	if got, _, _ := p.take(at(150)); len(got) != 0 {
		t.Errorf("taken apart: %v", got)
	}
	if got, _, _ := p.take(at(190)); len(got) != 2 {
		t.Errorf("at 190: %v", got)
	}
	// What never rests does not hold the others back for long.
	p.add("a.md", at(1000))
	for ms := 1000; ms < 1400; ms += 50 {
		p.add("busy.md", at(ms))
	}
	if got, _, _ := p.take(at(1399)); len(got) != 0 {
		t.Errorf("at 1399: %v", got)
	}
	if got, _, _ := p.take(at(1400)); !slices.Equal(got, []vault.Path{"a.md"}) {
		t.Errorf("at 1400: %v", got)
	}
}

func TestAFolderThatWaitsHoldsWhatIsInIt(t *testing.T) {
	t.Parallel()
	p := debouncer{wait: time.Second, limit: 10}
	p.add("x/y", at(0))
	for path, want := range map[vault.Path]bool{"x/y": true, "x/y/z/a.md": true, "x/yy": false, "x/a.md": false, "x": false} {
		if p.has(path) != want {
			t.Errorf("has(%q) = %v", path, !want)
		}
	}
}

// Whatever is added comes out, never before its wait is over, and next never
// lies behind the moment at which something is due.
func TestTheDebouncerLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := debouncer{
			wait: time.Duration(rapid.IntRange(1, 50).Draw(t, "wait")) * time.Millisecond, limit: rapid.IntRange(1, 4).Draw(t, "limit"),
			most:  time.Duration(rapid.IntRange(0, 90).Draw(t, "most")) * time.Millisecond,
			group: time.Duration(rapid.IntRange(0, 90).Draw(t, "group")) * time.Millisecond,
		}
		owed := map[vault.Path]int{} // since when
		ms := 0
		take := func() {
			next, waiting := p.next()
			got, all, _ := p.take(at(ms))
			if (len(got) > 0 || all) && (!waiting || next.After(at(ms))) {
				t.Fatalf("taken at %d, next said %v", ms, next)
			}
			for _, path := range got {
				if _, ok := owed[path]; !ok {
					t.Fatalf("%s was not added", path)
				}
				delete(owed, path)
			}
			if all {
				for path := range owed {
					if !p.has(path) {
						delete(owed, path)
					}
				}
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			ms += rapid.IntRange(0, 20).Draw(t, "pause")
			if rapid.Bool().Draw(t, "add") {
				path := vault.Path(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "path"))
				p.add(path, at(ms))
				if !p.has(path) {
					t.Fatalf("%s was added and is not waiting", path)
				}
				owed[path] = ms
			} else {
				take()
			}
		}
		for range 10 {
			next, waiting := p.next()
			if !waiting {
				break
			}
			ms = max(ms, int(next.Sub(at(0)).Milliseconds()))
			take()
		}
		if len(owed) > 0 || size(&p) > 0 {
			t.Fatalf("left over: %v, %d in the debouncer", owed, size(&p))
		}
	})
}

// size counts what is waiting; everything counts as one.
func size(p *debouncer) int {
	if p.all.none() {
		return len(p.at)
	}
	return len(p.at) + 1
}
