package index

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"stet/vault"
)

func smallVault() map[string]string {
	return map[string]string{
		"memories/db/mysql.md":     "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nkind: fact\ncategories: [mysql, migration]\nsupersedes: [01jc2m8r5t9v3x6y2z4a7c0e1f]\n---\nProduction runs on MySQL 8.4 since 9 January; PostgreSQL is gone.\n",
		"memories/db/old.md":       "---\nid: 01jc2m8r5t9v3x6y2z4a7c0e1f\nkind: fact\n---\nProduction runs on PostgreSQL 14.\n",
		"memories/dbx/cache.md":    "---\nkind: decision\ncategories: [cache]\n---\nWe chose Redis as the cache for sessions.\n",
		"archive/memories/gone.md": "The old staging host used PostgreSQL too.\n",
		"notes/names.md":           "# Naming\n\nThe option `max_open_conns` is read by getUserName in app.config.yaml, written in C++.\nCafé Müller serves naïve visitors.\n",
		"notes/cjk.md":             "数据库迁移计划在一月完成。\nデータベース\n",
		"notes/phrase.md":          "The quick brown fox.\nBrown quick fox? No: to be or not to be.\n",
		"notes/emoji.md":           "Release party 🎉 on Friday -> bring cake.\n",
		"USER.md":                  "- [fact] Wife's birthday: March 15th\n",
	}
}

func TestQueriesFindWhatTheySay(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, smallVault()))
	for _, tc := range []struct {
		query string
		want  []string // all hits, in order
	}{
		{"which database does production run on?", []string{"memories/db/mysql.md"}},
		{"When is my wife's birthday?", []string{"USER.md"}},
		{"PostgreSQL", []string{"memories/db/mysql.md"}},
		{`"quick brown"`, []string{"notes/phrase.md"}},
		{`"brown quick"`, []string{"notes/phrase.md"}},
		{`"fox quick"`, []string{}},
		{`"to be or not to be"`, []string{"notes/phrase.md"}},
		{"to be or not to be", []string{"notes/phrase.md"}},
		{"max_open_conns", []string{"notes/names.md"}},
		{"conns", []string{"notes/names.md"}},
		{"app.config.yaml", []string{"notes/names.md"}},
		{"config.yaml", []string{"notes/names.md"}},
		{"user name", []string{"notes/names.md", "USER.md"}},
		{"GETUSERNAME", []string{"notes/names.md"}},
		{"c++", []string{"notes/names.md"}},
		{"cafe MULLER naive", []string{"notes/names.md"}},
		{"迁移", []string{"notes/cjk.md"}},
		{"库", []string{"notes/cjk.md"}},
		{`"数据库迁移"`, []string{"notes/cjk.md"}},
		{`"迁移数据"`, []string{}},
		{"ﾃﾞｰﾀ", []string{"notes/cjk.md"}},
		{"🎉", []string{"notes/emoji.md"}},
		{"->", []string{"notes/emoji.md"}},
		{"serv*", []string{"notes/names.md"}},
		{`+production -"mysql"`, []string{}},
		{`production -"redis"`, []string{"memories/db/mysql.md"}},
		{`production NOT "redis"`, []string{"memories/db/mysql.md"}},
		{"production -redis", []string{"memories/dbx/cache.md", "memories/db/mysql.md"}}, // as commands have it
		{"kind:fact -redis", []string{"memories/db/mysql.md", "USER.md"}},                // nothing has the word: an exclusion
		{"tag:mysql NOT scope:/db", []string{}},
		{"cache kind:decision", []string{"memories/dbx/cache.md"}},
		{"kind:fact", []string{"memories/db/mysql.md", "USER.md"}},
		{"scope:/db", []string{"memories/db/mysql.md"}},
		{"scope:/db scope:/dbx", []string{"memories/db/mysql.md", "memories/dbx/cache.md"}},
		{"-scope:/db tag:mysql", []string{}},
		{"category:cache", []string{"memories/dbx/cache.md"}},
		{"tag:nothing", []string{}},
		{"nosuchwordanywhere", []string{}},
	} {
		if got := paths(t, x, tc.query); !slices.Equal(got, tc.want) {
			t.Errorf("%q found %v, want %v", tc.query, got, tc.want)
		}
	}
}

func TestTheArchiveAndSupersededMemoriesAreAsked(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, smallVault()))
	res := ask(t, x, Query{Text: "postgresql", Archived: true})
	got := hitPaths(res)
	slices.Sort(got)
	want := []string{"archive/memories/gone.md", "memories/db/mysql.md", "memories/db/old.md"}
	if !slices.Equal(got, want) {
		t.Errorf("with the archive: %v, want %v", got, want)
	}
	for _, h := range res.Hits {
		if want := map[vault.Path]string{"memories/db/old.md": "01jd7q8r5t9v3x6y2z4a7c0e1f"}[h.Path]; h.SupersededBy != want {
			t.Errorf("%s is superseded by %q, want %q", h.Path, h.SupersededBy, want)
		}
	}
	res = ask(t, x, Query{Text: "postgresql", Class: []vault.Class{vault.ClassArchive}})
	if got := hitPaths(res); !slices.Equal(got, []string{"archive/memories/gone.md"}) {
		t.Errorf("only the archive: %v", got)
	}
}

func TestAHitShowsTheLineThatEarnedItsRank(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{
		"a.md": "---\ntitle: Databases\n---\n# About\n\nnothing here\nthe migration of the database is done\nthe database\n",
		"b.md": strings.Repeat("filler text goes on ", 60) + "the needle stands here" + strings.Repeat(" and on", 60) + "\n",
	})
	x := open(t, src)
	hit := ask(t, x, Query{Text: "database migration"}).Hits[0]
	if hit.Line != 7 || hit.Snippet != "the migration of the database is done" {
		t.Errorf("line %d %q, want line 7", hit.Line, hit.Snippet)
	}
	var marked []string
	for _, r := range hit.Highlights {
		marked = append(marked, hit.Snippet[r.Start:r.End])
	}
	if !slices.Equal(marked, []string{"migration", "database"}) {
		t.Errorf("highlights %q", marked)
	}
	if hit.Title != "Databases" || hit.Score <= 0 {
		t.Errorf("hit %+v", hit)
	}
	long := ask(t, x, Query{Text: "needle"}).Hits[0]
	if len(long.Snippet) > 240 || !strings.Contains(long.Snippet, "needle") || len(long.Highlights) != 1 {
		t.Errorf("long line gave %q %v", long.Snippet, long.Highlights)
	}
}

// What stet notes in front matter is nobody's text; a row of a table of contents gives way to its section.
func TestNeitherNotedKeysNorTablesOfContentsAreShown(t *testing.T) {
	t.Parallel()
	const toc = "| [publish-wheel](#publish-wheel) | publish a wheel to the index |\n"
	x := open(t, newFolder(t, map[string]string{
		"memories/a.md": "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nclassified_by: scorer@1\nencoding: rules\n" +
			"may_outdate:\n  - 01jc2m8r5t9v3x6y2z4a7c0e1f\nreviewer: scorpio\n---\nThe standup is at 11:00.\n",
		"skills/r/SKILL.md": "# Releases\n\n" + toc + "\n## other\n\n- Publish a note.\n\n## publish-wheel\n\n" +
			"### Steps\n\n- Publish the wheel.\n\n## last\n\npublish to the index of links\n",
	}))
	for _, q := range []string{"scorer", "scorer@1", "1 scorer", "rules"} {
		if hits := ask(t, x, Query{Text: q}).Hits; len(hits) > 0 {
			t.Errorf("%q: %+v", q, hits)
		}
	}
	for q, want := range map[string]int{"scorpio": 7, "01jc2m8r5t9v3x6y2z4a7c0e1f": 6,
		"01jd7q8r5t9v3x6y2z4a7c0e1f": 2, "standup 11": 9, "publish a wheel to the index": 13} {
		hits := ask(t, x, Query{Text: q}).Hits
		if len(hits) == 0 || hits[0].Line != want {
			t.Errorf("%q: line %d wanted: %+v", q, want, hits)
		}
	}
}

func TestLimitOffsetAndTotalAgree(t *testing.T) {
	t.Parallel()
	src := newFolder(t, nil)
	for i := range 30 {
		src.write(t, "n/"+string(rune('a'+i%26))+strings.Repeat("x", i/26)+".md", "same words everywhere\n")
	}
	x := open(t, src)
	all := ask(t, x, Query{Text: "same words", Limit: -1})
	if len(all.Hits) != 30 || all.Total != 30 {
		t.Fatalf("%d hits of %d, want 30", len(all.Hits), all.Total)
	}
	if !slices.IsSorted(hitPaths(all)) {
		t.Errorf("equal scores are not in path order: %v", hitPaths(all))
	}
	var paged []string
	for off := 0; off < 30; off += 7 {
		res := ask(t, x, Query{Text: "same words", Limit: 7, Offset: off})
		if res.Total != 30 {
			t.Errorf("page at %d: total %d", off, res.Total)
		}
		paged = append(paged, hitPaths(res)...)
	}
	if !slices.Equal(paged, hitPaths(all)) {
		t.Errorf("pages %v differ from the whole", paged)
	}
}

func TestExplainAddsUpToTheScore(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, smallVault()))
	for _, text := range []string{"production mysql", `"quick brown" fox`, "serv* cafe", "max_open_conns", "prodution redis"} {
		for _, hit := range ask(t, x, Query{Text: text, Explain: true}).Hits {
			head, parts, _ := strings.Cut(hit.Explain, "\n")
			sum := 0.0
			for part := range strings.Lines(parts) {
				var v float64
				if _, err := fmt.Sscanf(part, "%f", &v); err != nil {
					t.Fatalf("%q: %q: %v", text, part, err)
				}
				sum += v
			}
			// Each part is rounded to four digits.
			if math.Abs(sum-hit.Score) > 0.001 || !strings.Contains(head, hit.Tier) {
				t.Errorf("%q: the parts make %.4f, the score is %.4f\n%s", text, sum, hit.Score, hit.Explain)
			}
		}
	}
}

func TestTiersFillUpBehindOneAnother(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, map[string]string{
		"all.md":   strings.Repeat("long text about everything else ", 40) + "the database migration plan\n",
		"some.md":  "migration migration migration\n",
		"typo.md":  "kubernetes cluster\n",
		"other.md": "gardening\n",
	}))
	res := ask(t, x, Query{Text: "database migration plan"})
	if got := hitPaths(res); !slices.Equal(got, []string{"all.md", "some.md"}) || res.Tier != "relaxed" || res.Hits[0].Tier != "strict" {
		t.Errorf("%v, tiers %s %s", got, res.Tier, res.Hits[0].Tier)
	}
	res = ask(t, x, Query{Text: "kuberntes migration"})
	if got := hitPaths(res); !slices.Equal(got, []string{"some.md", "all.md", "typo.md"}) || res.Tier != "fuzzy" {
		t.Fatalf("%v, tier %s", got, res.Tier)
	}
	hit := res.Hits[2]
	if len(hit.Highlights) != 1 || hit.Snippet[hit.Highlights[0].Start:hit.Highlights[0].End] != "kubernetes" {
		t.Errorf("the guess is not marked: %q %v", hit.Snippet, hit.Highlights)
	}
	for _, text := range []string{"+kuberntes", `"kuberntes cluster"`, `gardeners -"gardening"`} {
		if res := ask(t, x, Query{Text: text}); len(res.Hits) != 0 || res.Tier != "" {
			t.Errorf("%s found %v", text, hitPaths(res))
		}
	}
}
