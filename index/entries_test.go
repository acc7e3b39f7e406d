package index

import (
	"fmt"
	"slices"
	"testing"
)

// The entries of notebooks are hits of their own, with their kinds and lines, and the file is one
// only where it says more.
func TestEntriesOfNotebooksAreHitsOfTheirOwn(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{
		"USER.md": "# Me\n\nWrites poems at night.\n\n- [instruction] Never begin with \"Got it\".\n" +
			"- Likes green tea\n  and oolong ->\n\n## Pinned\n\n* [fact] Born in Ulm.\n",
		"MEMORY.md":      "- [instruction] Deploy on Mondays.\n",
		"memories/a.md":  "---\nkind: instruction\n---\nWater the plants.\n",
		"memories/ab.md": "Green apples.\n",
	})
	x := open(t, src)
	for query, want := range map[string][]string{
		"kind:instruction": {"memories/a.md:4", "MEMORY.md:1", "USER.md:5"},
		"oolong":           {"USER.md:7"},
		"green tea":        {"USER.md:6", "memories/ab.md:1"},
		`"green tea"`:      {"USER.md:6"},
		"->":               {"USER.md:7"},
		"oolo*":            {"USER.md:7"},
		"mondaays":         {"MEMORY.md:1"},
		"poems":            {"USER.md:3"},
		"is:pinned":        {"USER.md:11"},
		"in:profile ulm":   {"USER.md:11"},
		"in:profile":       {"USER.md:5", "USER.md:6", "USER.md:11"},
		"in:core ulm":      {},
	} {
		res, err := x.Search(t.Context(), Query{Text: query, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, h := range res.Hits {
			got = append(got, fmt.Sprintf("%s:%d", h.Path, h.Line))
			if (h.Entry == "") != (h.Class == "memory" || query == "poems") {
				t.Errorf("%s: %+v", query, h)
			}
		}
		if !slices.Equal(got, want) || res.Total != len(want) {
			t.Errorf("%q found %d: %q, want %q", query, res.Total, got, want)
		}
		for limit := range len(want) {
			page, err := x.Search(t.Context(), Query{Text: query, Limit: 1, Offset: limit})
			if err != nil || len(page.Hits) != 1 ||
				page.Total != res.Total || page.Hits[0].Line != res.Hits[limit].Line {
				t.Errorf("%q from %d: %+v %v", query, limit, page, err)
			}
		}
		sameAnswer(t, query, fromFiles(t, src, Query{Text: query, Limit: -1}), res)
	}
	src.write(t, "USER.md", "---\nprivate: true\n---\n- Likes green tea\n")
	res, err := x.Search(t.Context(), Query{Text: "tea", public: true})
	if err != nil || len(res.Hits) != 0 {
		t.Errorf("private: %+v %v", res.Hits, err)
	}
}

// Of memories that match alike the important one comes first, then the newer one; neither outranks a
// better match.
func TestImportanceAndAgeDecideAmongEquals(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{
		"memories/a/x.md": "---\nimportance: 0.1\nupdated: 2026-01-01\n---\nThe gate is grey.\n",
		"memories/b/x.md": "---\nimportance: 0.9\nupdated: 2026-01-01\n---\nThe gate is grey.\n",
		"memories/c/x.md": "---\nimportance: 0.1\nupdated: 2026-03-01\n---\nThe gate is grey.\n",
		"memories/d/x.md": "---\nimportance: 0.0\nupdated: 1999-01-01\n---\nThe gate, the gate is grey.\n",
		"memories/e/x.md": "---\nimportance: 1.0\nupdated: 2026-03-01\n---\nThe port is grey.\n",
	})
	want := []string{"memories/d/x.md", "memories/b/x.md", "memories/c/x.md", "memories/a/x.md"}
	if got := paths(t, open(t, src), "gate"); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
