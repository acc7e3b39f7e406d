package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestFiltersByDateStateAndPlace(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{
		"memories/jan.md":          "---\ncreated: 2026-01-09T12:00:00Z\nupdated: 2026-01-20T12:00:00Z\npinned: true\n---\nword\n",
		"memories/feb.md":          "---\ncreated: 2026-02-03T12:00:00Z\n---\nword\n",
		"memories/new.md":          "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nsupersedes: [01jc2m8r5t9v3x6y2z4a7c0e1f]\ncreated: 2026-03-10T12:00:00Z\n---\nword\n",
		"memories/old.md":          "---\nid: 01jc2m8r5t9v3x6y2z4a7c0e1f\ncreated: 2025-03-10T12:00:00Z\n---\nword\n",
		"archive/memories/gone.md": "---\ncreated: 2025-12-31T23:00:00Z\nprivate: true\n---\nword\n",
		"sessions/2026/11/talk.md": "---\nstarted: 2026-03-15T12:00:00Z\n---\nword\n",
		"plain.md":                 "word\n",
	})
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(src.dir, "plain.md"), at, at); err != nil {
		t.Fatal(err)
	}
	x := open(t, src, func(o *Options) {
		o.Now = func() time.Time { return time.Date(2026, 3, 15, 18, 0, 0, 0, time.UTC) }
	})
	for query, want := range map[string][]string{
		"word since:2026-03":                {"memories/new.md", "plain.md"},
		"word since:2026-03 in:sessions":    {"sessions/2026/11/talk.md"},
		"word since:2d":                     {"plain.md"},
		"word until:2026-03-14 in:sessions": {},
		"since:yesterday until:yesterday":   {"plain.md"},
		"on:today":                          {},
		"on:today in:sessions":              {"sessions/2026/11/talk.md"},
		"on:2026-01":                        {"memories/jan.md"},
		"on:2026-01-09":                     {},
		"until:2026-02":                     {"memories/feb.md", "memories/jan.md"},
		"until:2025 is:archived":            {"archive/memories/gone.md"},
		"since:2026-02 until:2026-03-10":    {"memories/feb.md", "memories/new.md"},
		"is:pinned":                         {"memories/jan.md"},
		"is:superseded":                     {"memories/old.md"},
		"is:private in:archive":             {"archive/memories/gone.md"},
		"in:sessions":                       {"sessions/2026/11/talk.md"},
		"in:notes word":                     {"plain.md"},
		"in:memories -is:pinned on:2026":    {"memories/feb.md", "memories/new.md"},
		"since:nonsense":                    {}, // text, and nowhere to be found
		"is:purple":                         {},
	} {
		got := paths(t, x, query)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q found %v, want %v", query, got, want)
		}
	}
}

func TestGarbageInAFilterIsSaidAndSearched(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, map[string]string{"a.md": "the since of nonsense\n"}))
	for text, warnings := range map[string]int{
		"since:nonsense": 1, "is:purple since:2026-99": 2, "in:trees": 1, "since:": 0, "https://example.com": 0, "note:this": 0, "since:2w": 0,
	} {
		if res := ask(t, x, Query{Text: text}); len(res.Warnings) != warnings {
			t.Errorf("%q warned %q, want %d warnings", text, res.Warnings, warnings)
		}
	}
	if got := paths(t, x, "since:nonsense"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("the words of a filter that is none found %v", got)
	}
}
