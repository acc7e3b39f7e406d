package index

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
)

const (
	talkID = "01jd7q8r5t9v3x6y2z4a7c0000"
	newID  = "01jd7q8r5t9v3x6y2z4a7c0e1f"
)

// outdatedVault holds a conversation about two databases, and a memory of its first
// turns that another one has taken the place of.
func outdatedVault(t testing.TB, source string) *folder {
	started := time.Unix(1_770_000_000, 0).UTC()
	return newFolder(t, map[string]string{
		"sessions/2026/02/db.md": strings.Replace(talkFile(t, started, "Databases",
			turn{"user", "The staging database is PostgreSQL."},
			turn{"assistant", "Noted: PostgreSQL it is."},
			turn{"user", "Lunch was good."}, turn{"user", "The weather is fine."}, turn{"user", "The lift is slow."},
			turn{"user", "The billing database is PostgreSQL."}), "started:", "origin: Chat/7\nstarted:", 1),
		"archive/memories/old.md": "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e11\nsource: \"" + source + "\"\n---\nStaging runs on PostgreSQL.\n",
		"memories/new.md":         "---\nid: " + newID + "\nsupersedes: [01jd7q8r5t9v3x6y2z4a7c0e11]\n---\nStaging runs on MySQL.\n",
	})
}

func TestTurnsOfASupersededMemorySaySoAndRankLower(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{"id": "session:" + talkID + "#1-2", "foreign id": "session:chat/7#1-2", "part of the id": "session:01JD7Q8r5t9v#1-2"} {
		src := outdatedVault(t, source)
		before, _, err := src.ReadFile("sessions/2026/02/db.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []func(*Options){func(*Options) {}, func(o *Options) { o.ReadOnly = true }, func(o *Options) { o.AsOf = time.Unix(1_780_000_000, 0) }} {
			res := ask(t, open(t, src, o), Query{Text: "staging billing database PostgreSQL in:sessions", Limit: -1})
			by := map[int]string{}
			first := 0
			for i, h := range res.Hits {
				by[h.Message] = h.SupersededBy
				if i == 0 {
					first = h.Message
				}
			}
			if by[1] != newID || by[2] != newID || by[6] != "" || first != 6 {
				t.Errorf("%s: the first of %v is %d", name, by, first)
			}
			if got := res.Outdated.By(strings.ToUpper(talkID), "", 2); got != newID && source == "session:"+talkID+"#1-2" {
				t.Errorf("%s: turn 2 by id: %q", name, got)
			}
			if got := res.Outdated.By("other", "another", 1) + res.Outdated.By(talkID, "", 3); got != "" {
				t.Errorf("%s: what holds is outdated by %q", name, got)
			}
		}
		x := open(t, src)
		if got := ask(t, x, Query{Text: "staging database"}); len(got.Sessions) != 1 || got.Sessions[0].SupersededBy == "" && got.Sessions[0].Message < 3 {
			t.Errorf("%s: beside the hits: %+v", name, got.Sessions)
		}
		if o, err := x.Outdated(t.Context()); err != nil || o.By(talkID, "Chat/7", 1) != newID {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if after, _, err := src.ReadFile("sessions/2026/02/db.md"); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: the transcript was changed: %v", name, err)
		}
		// What took its place is gone: the turns hold again.
		score := func() (score float64, outdated bool) {
			res := ask(t, x, Query{Text: "staging in:sessions", Limit: 1})
			if len(res.Hits) != 1 || res.Hits[0].Message != 1 {
				t.Fatalf("%s: %+v", name, res.Hits)
			}
			return res.Hits[0].Score, res.Outdated != nil
		}
		low, outdated := score()
		src.remove(t, "memories/new.md")
		high, still := score()
		if low != high/2 || !outdated || still {
			t.Errorf("%s: it scored %v, and %v after the successor went; outdated %v, %v", name, low, high, outdated, still)
		}
	}
}

// A file may name its successor itself, and sources may be nonsense.
func TestSourcesThatNameNoTurnsSayNothing(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"session:" + talkID: "", "session:" + talkID + "#": "", "session:" + talkID + "#x": "", "session:" + talkID + "#2-1": "", "session:#1": "",
		talkID + "#1": "", "session:01jd#1": "", "session:" + talkID + "#1": "some/new.md",
	} {
		src := outdatedVault(t, "elsewhere")
		src.write(t, "memories/self.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e12\nsuperseded_by: some/new.md\nsource: \""+source+"\"\n---\nStaging.\n")
		o, err := open(t, src).Outdated(t.Context())
		if err != nil || o.By(talkID, "", 1) != want || o.By(talkID, "", 2) != "" {
			t.Errorf("%q: %+v, %v", source, o, err)
		}
	}
}

// A memory that may outdate another one stands before it, also in a row and in a ring, on every page.
func TestWhatMayBeOutdatedStandsBehind(t *testing.T) {
	t.Parallel()
	note := func(id, doubts, text string) string {
		return "---\nid: 01jd7q8r5t9v3x6y2z4a7c00" + id + "\nmay_outdate: [" + doubts + "]\n---\n" + text + "\n"
	}
	const id = "01jd7q8r5t9v3x6y2z4a7c00"
	src := newFolder(t, map[string]string{
		"memories/a.md": note("aa", "", "standup"),
		"memories/b.md": note("bb", id+"aa", "The standup is at eleven."),
		"memories/c.md": note("cc", id+"bb", "From Monday on the standup of both teams is at noon in the large room."),
		"memories/d.md": note("dd", id+"ee", "The standup of the others, part one."),
		"memories/e.md": note("ee", id+"dd", "The standup of the others, part two."),
	})
	x := open(t, src)
	for limit := 1; limit < 7; limit++ {
		var got []vault.Path
		for n := 0; n < 5; n += limit {
			for _, h := range ask(t, x, Query{Text: "standup", Limit: limit, Offset: n}).Hits {
				got = append(got, h.Path)
			}
		}
		at := func(p vault.Path) int { return slices.Index(got, p) }
		if len(got) != 5 || at("memories/c.md") > at("memories/b.md") || at("memories/b.md") > at("memories/a.md") {
			t.Errorf("pages of %d: %v", limit, got)
		}
	}
}
