package tombstone

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	const long = "The nightly backup of the production database is kept for thirty days in the Frankfurt bucket and then removed"
	for _, c := range []struct {
		name, rejected, text, want string
	}{
		{"the same", "The gate code is 4711.", "The gate code is 4711.", "text"},
		{"case, space and the last full stop", "The gate code is 4711.", "  the GATE code\nis 4711", "text"},
		{"as a list entry with a kind", "Ring twice.", "- [fact] Ring twice", "text"},
		{"another value", "The gate code is 4711.", "The gate code is 4712.", ""},
		{"one word more in a long text", long, long + " automatically", "words"},
		{"a negation in a long text", long, strings.Replace(long, "is kept", "is not kept", 1), ""},
		{"a contraction", long, strings.Replace(long, "is kept", "isn't kept", 1), ""},
		{"another name in a long text", long, strings.Replace(long, "Frankfurt", "Dublin", 1), ""},
		{"another number in a long text", strings.Replace(long, "thirty", "30", 1), strings.Replace(long, "thirty", "60", 1), ""},
		{"opposites", "tests are always run with the cache enabled on every branch of the whole big repository here", "tests are always run with the cache disabled on every branch of the whole big repository here", ""},
		{"half the words", "the gate squeaks when it rains", "the roof leaks when it rains", ""},
		{"signs without spaces", "数据库每天晚上备份到法兰克福的存储桶里然后删除旧的文件", "数据库每天晚上备份到法兰克福的存储桶里然后删除旧文件", "words"},
		{"a sign that denies", "数据库每天晚上备份到法兰克福的存储桶里然后删除旧的文件", "数据库每天晚上不备份到法兰克福的存储桶里然后删除旧的文件", ""},
		{"letters of other scripts that look alike", "The gate code is 4711.", "Тhе gаte сοde is ４７１１.", "text"},
		{"Latin letters in another script", "Код ворот 4711, от двора.", "Koд вopoт 4711, oт двopa.", "words"},
		{"look-alikes and another value", "The gate code is 4711.", "Тhе gаte сοde is ４７１２.", ""},
		{"what sounds alike", "Мой код 4711.", "Moj kod 4711.", ""},
		{"nothing said", "The gate code is 4711.", "", ""},
		{"without small words", "The gate code is 4711.", "Gate code: 4711", "contains"},
		{"with other small words", "The gate code is 4711.", "the code of the gate is 4711", "contains"},
		{"another ending", "The neighbour pays 50 euros.", "The neighbour pays 50 Euro.", "contains"},
		{"another spelling", "The neighbour pays 50 euros.", "The neighbor pays 50 euros.", "contains"},
		{"small words and another value", "The gate code is 4711.", "Gate code: 4712", ""},
		{"a small word that denies", "The gate code is 4711.", "The gate code is not 4711.", ""},
		{"another direction", "Flies to Berlin on Monday.", "Flies from Berlin on Monday.", ""},
	} {
		s := Stone{Action: Undo, TextHash: Hash(c.rejected)}
		if got := s.Matches(Candidate{Text: c.text}, func() *Said { return Read(c.rejected) }); got != c.want {
			t.Errorf("%s: %q against %q: %q, want %q", c.name, c.text, c.rejected, got, c.want)
		}
	}
}

func TestMatchesByIDTurnsAndSlot(t *testing.T) {
	t.Parallel()
	const said = "The user prefers tea over coffee in the afternoon"
	s := Stone{Action: Undo, IDs: []string{"01jd7q8r5t9v3x6y2z4a7c0e1f"}, TextHash: Hash(said), Session: "s1", Turns: []int{3, 4}, Slot: "user.port"}
	text := func() *Said { return Read(said) }
	again := "In the afternoon the user likes tea more than coffee"
	for _, c := range []struct {
		name string
		c    Candidate
		want string
	}{
		{"the id", Candidate{IDs: []string{"01jd7q8r5t9v3x6y2z4a7c0e1f"}, Text: "anything"}, "id"},
		{"another id", Candidate{IDs: []string{"01jd7q8r5t9v3x6y2z4a7c0e1g"}, Text: "anything"}, ""},
		{"reworded from the same turns", Candidate{Text: again, Session: "s1", Turns: []int{4}}, "turns"},
		{"reworded from other turns", Candidate{Text: again, Session: "s1", Turns: []int{5}}, ""},
		{"reworded in another session", Candidate{Text: again, Session: "s2", Turns: []int{4}}, ""},
		{"another fact of the same turn", Candidate{Text: "The user lives near the harbour", Session: "s1", Turns: []int{4}}, ""},
	} {
		if got := s.Matches(c.c, text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	port := Stone{TextHash: Hash("The server listens on port 8080"), Slot: "server.port"}
	listens := func() *Said { return Read("The server listens on port 8080") }
	for text, want := range map[string]string{"It is reachable through 8080": "slot", "It is reachable through 8081": ""} {
		if got := port.Matches(Candidate{Text: text, Slot: "server.port"}, listens); got != want {
			t.Errorf("slot: %q: %q, want %q", text, got, want)
		}
	}
}

// Two texts of the same length that differ in one word of twelve say two things.
func TestATextThatIsOnlySimilarIsNotTheRejectedOne(t *testing.T) {
	t.Parallel()
	const rejected = "the lift is slow on rainy days and needs a new motor"
	other := strings.Replace(rejected, "motor", "cable", 1)
	if like := Jaccard(words(rejected), words(other)); like < 0.75 || like >= 0.85 {
		t.Fatalf("likeness is %.3f: the pair tests nothing", like)
	}
	s := Of(Undo, rejected)
	got := s.Matches(Candidate{Text: other}, func() *Said { return Read(rejected) })
	if got != "" {
		t.Errorf("%q is taken for the rejected one by %q", other, got)
	}
}

// A stone of a purge holds ids only, and one whose text is gone from the
// repository still knows it by its hash.
func TestMatchesWithoutTheText(t *testing.T) {
	t.Parallel()
	none := func() *Said { return nil }
	purged := Stone{Action: Purge, IDs: []string{"01jd7q8r5t9v3x6y2z4a7c0e1f"}}
	if got := purged.Matches(Candidate{Text: "secret"}, none); got != "" {
		t.Errorf("purged by text: %q", got)
	}
	s := Stone{TextHash: Hash("gone")}
	if got := s.Matches(Candidate{Text: "Gone."}, none); got != "text" {
		t.Errorf("by hash: %q", got)
	}
	if Hash(" -- ") != "" || Hash("") != "" {
		t.Error("a text that says nothing has a hash")
	}
}

func TestAddedIsWhatTheBodyGained(t *testing.T) {
	t.Parallel()
	before, after := "---\nid: a\n---\none\ntwo\n", "---\nid: b\nkind: fact\n---\none\nnew\ntwo\n"
	if got := Added([]byte(before), []byte(after)); got != "new\n" {
		t.Errorf("changed: %q", got)
	}
	if got := Added(nil, []byte(after)); got != "one\nnew\ntwo\n" {
		t.Errorf("new file: %q", got)
	}
}

func stones() *rapid.Generator[[]Stone] {
	text := rapid.OneOf(rapid.StringMatching(`[a-z0-9 .:#'"\\{}\[\]-]{0,20}`), rapid.SampledFrom([]string{"", "yes", "1e5", "0x1f", "~", "- a", "Ada Lovelace", "Zoë\n", "null", "12", "memories/a b.md", "key: value"}))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Stone {
		return Stone{
			Action: rapid.SampledFrom([]string{Revert, Undo, Reject, Restore, Forget, Purge}).Draw(t, "action"),
			At:     time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).UTC(),
			By:     text.Draw(t, "by"), Actor: text.Draw(t, "actor"), Within: text.Draw(t, "within"),
			IDs:   rapid.SliceOfN(rapid.StringMatching(`[0-9a-z]{1,26}`), 0, 3).Draw(t, "ids"),
			Words: rapid.IntRange(0, 50).Draw(t, "words"), TextHash: rapid.StringMatching(`([0-9a-f]{64})?`).Draw(t, "hash"), Blob: rapid.StringMatching(`([0-9]{40}|[0-9a-f]{40})?`).Draw(t, "blob"),
			Slot: text.Draw(t, "slot"), Session: text.Draw(t, "session"), Turns: rapid.SliceOfN(rapid.IntRange(1, 99), 0, 3).Draw(t, "turns"),
		}
	}), 0, 4)
}

// What is encoded is read back, whatever the texts hold.
func TestEncodedStonesAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := stones().Draw(rt, "stones")
		data := Encode(in)
		parts, err := Decode(data)
		if err != nil {
			rt.Fatalf("decode: %v\n%s", err, data)
		}
		if len(parts) != len(in) {
			rt.Fatalf("%d parts of %d\n%s", len(parts), len(in), data)
		}
		for i, p := range parts {
			want := in[i]
			for _, list := range []*[]string{&want.IDs, &p.IDs} {
				if len(*list) == 0 {
					*list = nil
				}
			}
			for _, list := range []*[]int{&want.Turns, &p.Turns} {
				if len(*list) == 0 {
					*list = nil
				}
			}
			if !reflect.DeepEqual(p.Stone, want) {
				rt.Fatalf("read %+v, wrote %+v\n%s", p.Stone, want, data)
			}
		}
		if string(Join(parts)) != string(data) {
			rt.Fatalf("joined parts differ from the file")
		}
	})
}

func TestOneBadPartLeavesTheOthers(t *testing.T) {
	t.Parallel()
	good := Encode([]Stone{{Action: Undo, IDs: []string{"a1"}}})
	data := string(good) + "---\naction: [\n" + string(good)
	parts, err := Decode([]byte(data))
	if err == nil || len(parts) != 3 || parts[0].Ignored || !parts[1].Ignored || parts[2].Ignored {
		t.Errorf("%d parts, error %v; want 3 with the middle one passed over, and an error", len(parts), err)
	}
}

// Whatever is in a file, its parts are all its bytes.
func TestPartsAreTheWholeFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		docs := rapid.SliceOf(rapid.SampledFrom([]string{"---\n", "# a comment\n", "\n", "---\naction: [\n", "---\nnote: mine\n", "---\naction: undo\nids: [a1]\n", "no end"}))
		data := strings.Join(docs.Draw(rt, "documents"), "")
		parts, _ := Decode([]byte(data))
		if got := string(Join(parts)); got != data {
			rt.Fatalf("%q became %q", data, got)
		}
		for _, p := range parts {
			if p.Ignored != (p.Action == "") {
				rt.Fatalf("%q: ignored %v, action %q", p.Bytes, p.Ignored, p.Action)
			}
		}
	})
}

func TestMergeTakesPartsInAndOut(t *testing.T) {
	t.Parallel()
	a, b, c := Stone{Action: Undo, IDs: []string{"aa"}}, Stone{Action: Forget, IDs: []string{"bb"}}, Stone{Action: Revert, IDs: []string{"cc"}}
	file := func(s ...Stone) []byte { return Encode(s) }
	for _, x := range []struct {
		name                     string
		base, ours, theirs, want []byte
	}{
		{"theirs lost one", file(a, b), file(a, b), file(a), file(a)},
		{"theirs got one back", file(a), file(a), file(a, b), file(a, b)},
		{"ours lost another meanwhile", file(a, b), file(b), file(a, b, c), file(b, c)},
		{"both gone", file(a), nil, nil, nil},
		{"ours got one meanwhile", file(a), file(a, b), file(a, c), file(a, b, c)},
	} {
		if got := Merge(x.base, x.ours, x.theirs); string(got) != string(x.want) {
			t.Errorf("%s:\n%s\nwant\n%s", x.name, got, x.want)
		}
	}
}

// Texts that were read are as much alike as their words, and what stops early is not alike enough.
func TestTextsThatWereReadCompareAsTheirWords(t *testing.T) {
	t.Parallel()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(strings.Fields("the tea not 4711 Berlin colour a.b 不备份 ß - [x](y)")), 1, 9),
		func(w []string) string { return strings.Join(w, " ") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := Jaccard(words(a), words(b))
		for _, least := range []float64{0, sibling, near} {
			got, _ := Read(a).like(Read(b), least)
			if got != want && (got != 0 || want >= least) {
				t.Fatalf("%q and %q: %.3f, want %.3f, or 0 if that is under %.2f", a, b, got, want, least)
			}
		}
	})
}
