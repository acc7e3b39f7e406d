package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/vault"
	"stet/vault/names"
)

// TestManyNamesKeepWhatAllHaveInCommon checks that a shell which is told of a part of the names puts nothing on the
// line that not all of them begin with.
func TestManyNamesKeepWhatAllHaveInCommon(t *testing.T) {
	t.Parallel()
	var all []agent.Called
	add := func(slug string, changed int) {
		all = append(all, agent.Called{Known: names.Known{Slug: slug}, Path: vault.Path("memories/" + slug + ".md"),
			Updated: time.Unix(int64(changed), 0)})
	}
	add("alpha", 0)
	for i := range 1000 {
		add(fmt.Sprintf("beta-%04d", i), 1+i)
	}
	add("zeta", 0)
	got := newest(slices.Clone(all))
	if n := len(got); n < mostOffered || n > mostOffered+2 {
		t.Fatalf("%d names", n)
	}
	if got[0].Slug != "alpha" || got[len(got)-1].Slug != "zeta" || got[1].Slug != "beta-0800" {
		t.Errorf("from %s and %s to %s", got[0].Slug, got[1].Slug, got[len(got)-1].Slug)
	}
	byPath := func(a, b agent.Called) int { return strings.Compare(string(a.Path), string(b.Path)) }
	if !slices.IsSortedFunc(got, byPath) {
		t.Error("they are not in path order")
	}
	for i := range all {
		all[i].Updated = time.Time{}.Add(time.Hour)
	}
	if n := len(newest(all)); n > mostOffered+2 {
		t.Errorf("%d names of one time", n)
	}
}
