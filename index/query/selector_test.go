package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stet/index/query"
	"stet/vault"
)

func TestSelect(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	bread := vault.ReadMemory("notes/2026/bread.md",
		[]byte("---\ntags: [Kitchen]\npinned: true\n---\nSour #baking/sour, `#code`.\n"))
	bread.Changed = now.AddDate(0, 0, -3)
	for _, c := range []struct {
		words string
		keeps bool
		rest  string
	}{
		{"", true, ""},
		{"tag:kitchen", true, ""},
		{"#KITCHEN", true, ""},
		{"tag:#baking", true, ""},
		{"tag:bak", false, ""},
		{"#code", false, ""},
		{"tag:garden tag:kitchen", true, ""},
		{"tag:kitchen path:archive", false, ""},
		{"NOT tag:kitchen", false, ""},
		{"NOT tag:garden", true, ""},
		{"-tag:kitchen", false, ""},
		{"NOT -tag:kitchen", true, ""},
		{"path:NOTES/2026", true, ""},
		{"in:notes is:pinned", true, ""},
		{"in:memories", false, ""},
		{"since:1w", true, ""},
		{"since:2d", false, ""},
		{"on:2026-03-07", true, ""},
		{"kitchen", true, "kitchen"},
		{"NOT kitchen tag:kitchen", true, "NOT kitchen"},
		{"NOT", true, "NOT"},
		{"tag: # since:never", true, "tag: # since:never"},
		{"-is:odd tag:kitchen", true, "-is:odd"},
	} {
		s, rest := query.Select(strings.Fields(c.words), now)
		if got := s.Keeps(bread); got != c.keeps || !slices.Equal(rest, strings.Fields(c.rest)) {
			t.Errorf("%q: keeps %v, rest %q; want %v, %q", c.words, got, rest, c.keeps, c.rest)
		}
		wrong := strings.Contains(c.words, "never") || strings.Contains(c.words, "odd")
		if s.Wrong() != "" != wrong {
			t.Errorf("%q: wrong: %q", c.words, s.Wrong())
		}
	}
}
