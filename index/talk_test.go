package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/markdown"
)

// A turn is one message of a test: role or "role · name", then its text.
type turn struct{ who, text string }

func talkFile(t testing.TB, started time.Time, title string, turns ...turn) string {
	t.Helper()
	in := &markdown.Transcript{ID: fmt.Sprintf("01jd7q8r5t9v3x6y2z4a7c%04d", started.Unix()%10000), Title: title, Started: started}
	for i, u := range turns {
		role, name, _ := strings.Cut(u.who, " · ")
		in.Messages = append(in.Messages, markdown.Message{
			Role: role, Name: name, Time: started.Add(time.Duration(i) * time.Minute), Ref: fmt.Sprintf("r%d", i+1), Content: []byte(u.text),
		})
	}
	text, _, err := markdown.RenderTranscript(in, markdown.TranscriptOptions{Name: "x.md"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func talkVault(t testing.TB) *folder {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 9, 0, 0, 0, time.UTC) }
	return newFolder(t, map[string]string{
		"memories/dog.md": "The neighbour's dog is called Rex.\n",
		"sessions/2026/03/pets.md": talkFile(t, day(2), "Pets",
			turn{"user · Anna", "Did you get a dog in the end?"},
			turn{"user · Ben", "Yes! He is called Biscuit and he sleeps all day."},
			turn{"user · Anna", "How sweet."}),
		"sessions/2026/03/deploy.md": talkFile(t, day(5), "Deploying",
			turn{"user", "How do we deploy the billing service?"},
			turn{"assistant", "The billing service is deployed by pushing a tag; the pipeline in deploy_billing.yaml does the rest."},
			turn{"tool · bash", "first line of output\n" + strings.Repeat("padding words here\n", 400) + "needle_in_middle\n" + strings.Repeat("padding words here\n", 400) + "the last line says kumquat"},
			turn{"user", "We moved the billing service to the new cluster last week."}),
		"sessions/2026/03/notes.md": "Just a note someone left in this folder about kohlrabi.\n",
	})
}

func messages(t testing.TB, x *Index, text string) []string {
	t.Helper()
	res := ask(t, x, Query{Text: text + " in:sessions", Limit: -1})
	if res.Degraded != "" {
		t.Fatalf("Search(%q) is degraded: %s", text, res.Degraded)
	}
	return briefly(res.Hits)
}

func briefly(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s#%d", strings.TrimSuffix(h.Path.Base(), ".md"), h.Message))
	}
	return out
}

// A title that is what somebody said first counts once, whoever made it of how
// many words; one that a person chose is found.
func TestATitleMadeOfTheFirstWordsAddsNothing(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	score := func(title string) float64 {
		t.Helper()
		x := open(t, newFolder(t, map[string]string{
			"sessions/a.md": talkFile(t, day, title, turn{"assistant", "Hello!"}, turn{"user", "**Which** port, please, does the billing service use?"}, turn{"assistant", "Port 4711."}),
			"sessions/b.md": talkFile(t, day, "", turn{"user", "Nothing to do with it."}),
		}))
		res := ask(t, x, Query{Text: "hello billing port in:sessions"})
		sum := 0.0
		for _, h := range res.Hits {
			sum += h.Score
		}
		return sum
	}
	none := score("")
	for _, title := range []string{"Which port, please, does the billing service use?", "Which port please", "Which port, please, does the billing serv…"} {
		if got := score(title); got != none {
			t.Errorf("titled %q the messages score %v, untitled %v", title, got, none)
		}
	}
	if got := score("Billing port"); got <= none {
		t.Errorf("a title of a person's scores %v, none scores %v", got, none)
	}
}

func TestMessagesAreFound(t *testing.T) {
	t.Parallel()
	x := open(t, talkVault(t))
	for _, tc := range []struct {
		query string
		first string // best hit, "" for none
		not   string // no hit
	}{
		{"what is Ben's dog called?", "pets#2", ""},
		{"biscuit", "pets#2", ""},
		{"kohlrabi", "notes#0", ""},
		{"needle_in_middle", "deploy#3", ""},
		{"kumquat", "deploy#3", ""},
		{"deploy_billing.yaml", "deploy#2", ""},
		{"needle_in_middle padding", "deploy#3", ""},
		{"+deploy_billing.yaml", "deploy#2", "deploy#1"},
		{"when did we move billing?", "deploy#4", ""},
		{`"billing service"`, "deploy#4", "pets#1"},
		{`"service billing"`, "", ""},
		{`billing -"new cluster"`, "deploy#1", "deploy#4"},
		{"+billing +pushing", "deploy#2", "deploy#4"},
		{"deploi", "deploy#1", ""},
		{`did we move "the new billing cluster" lately?`, "deploy#4", ""},
		{"bisc*", "pets#2", ""},
		{"nosuchwordanywhere", "", ""},
		{"dog on:2026-03-05", "", ""},
		{"billing since:2026-03-05", "deploy#1", "pets#1"},
	} {
		got := messages(t, x, tc.query)
		if tc.first == "" && len(got) > 0 || tc.first != "" && (len(got) == 0 || got[0] != tc.first) || tc.not != "" && slices.Contains(got, tc.not) {
			t.Errorf("%q found %v, want %q first and not %q", tc.query, got, tc.first, tc.not)
		}
	}
}

func TestAnAnswerThatRepeatsNoWordIsFoundBesideTheQuestion(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	x := open(t, newFolder(t, map[string]string{
		"sessions/a.md": talkFile(t, day, "", turn{"user", "Which instrument do you play?"}, turn{"user", "The oboe, since school."}, turn{"user", "Fine weather."}),
		"sessions/b.md": talkFile(t, day, "", turn{"user", "The match begins at eight."}, turn{"user", "See you there."}),
	}))
	if got := messages(t, x, "instrument play"); len(got) < 2 || got[1] != "a#2" {
		t.Errorf("found %v, want the message after the question second", got)
	}
	if got := messages(t, x, "+instrument"); !slices.Equal(got, []string{"a#1"}) {
		t.Errorf("a required word gave %v", got)
	}
}

func TestSessionsStandApartFromNotes(t *testing.T) {
	t.Parallel()
	x := open(t, talkVault(t))
	res := ask(t, x, Query{Text: "dog called"})
	if got := hitPaths(res); !slices.Equal(got, []string{"memories/dog.md"}) || res.Total != 1 {
		t.Errorf("notes %v of %d", got, res.Total)
	}
	if got := briefly(res.Sessions); !slices.Equal(got, []string{"pets#2"}) {
		t.Errorf("sessions %v, want the best message of one conversation", got)
	}
	hit := res.Sessions[0]
	if hit.Role != "user" || hit.Speaker != "Ben" || hit.Ref != "r2" || hit.Title != "Pets" || !strings.Contains(hit.Snippet, "Biscuit") ||
		!hit.Updated.Equal(time.Date(2026, 3, 2, 9, 1, 0, 0, time.UTC)) {
		t.Errorf("hit %+v", hit)
	}
	if hit.Reply != nil {
		t.Errorf("no agent spoke there, and the reply is %+v", hit.Reply)
	}
	for query, want := range map[string]string{
		"deploy the billing service": "deploy#1 deploy#2", "new cluster": "deploy#4",
		"deploy_billing.yaml pipeline": "deploy#2",
	} {
		got := ask(t, x, Query{Text: query}).Sessions[:1]
		if r := got[0].Reply; r != nil {
			got = append(got, *r)
		}
		if strings.Join(briefly(got), " ") != want {
			t.Errorf("%q: message and reply %v, want %s", query, briefly(got), want)
		}
	}
	if res := ask(t, x, Query{Text: "dog called", Offset: 1}); len(res.Sessions) > 0 {
		t.Error("the second page shows sessions again")
	}
	if res := ask(t, x, Query{Text: "dog called in:memories"}); len(res.Sessions) > 0 {
		t.Error("memories alone were asked for")
	}
	explained := ask(t, x, Query{Text: "dog in:sessions", Explain: true}).Hits[0].Explain
	for _, part := range []string{"own words", "from the conversation", "body:dog"} {
		if !strings.Contains(explained, part) {
			t.Errorf("the explanation lacks %q:\n%s", part, explained)
		}
	}
}

// Sessions, however they came into the index, are found as if the files were
// read.
func TestTalkIncrementalEqualsFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	n := 0
	words := strings.Fields("alpha beta gamma running runs database foo_bar.baz the of 数据库 café")
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 9).Draw(t, "words"), " ")
	})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		src := &folder{dir: filepath.Join(dir, "v"), state: filepath.Join(dir, "s")}
		x, err := Open(src, Options{Now: time.Now})
		if err != nil {
			rt.Fatal(err)
		}
		defer x.Close()
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			p := rapid.SampledFrom([]string{"sessions/a.md", "sessions/b/c.md", "skills/d.md", "m.md"}).Draw(rt, "file")
			if rapid.IntRange(0, 4).Draw(rt, "step") == 0 {
				os.Remove(filepath.Join(src.dir, p))
			} else {
				var turns []turn
				for range rapid.IntRange(0, 6).Draw(rt, "turns") {
					turns = append(turns, turn{rapid.SampledFrom([]string{"user · Alpha", "assistant", "tool"}).Draw(rt, "who"), line.Draw(rt, "text")})
				}
				src.write(t, p, talkFile(t, time.Date(2026, 1, 1+len(turns), 0, 0, 0, 0, time.UTC), "", turns...))
			}
			parts := []string{rapid.SampledFrom([]string{"in:sessions", ""}).Draw(rt, "in")}
			for range rapid.IntRange(1, 3).Draw(rt, "parts") {
				w := rapid.SampledFrom(words).Draw(rt, "word")
				parts = append(parts, rapid.SampledFrom([]string{w, w, w, "+" + w, "-" + w, `"` + w + ` beta"`, `-"alpha ` + w + `"`, w[:1] + "*", w + "x"}).Draw(rt, "form"))
			}
			q := Query{Text: strings.Join(parts, " "), Limit: -1}
			got := ask(t, x, q)
			if got.Degraded != "" {
				rt.Fatalf("degraded: %s", got.Degraded)
			}
			sameAnswer(t, q.Text, got, fromFiles(t, src, q))
		}
		if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
			rt.Fatalf("check: %v %v", bad, err)
		}
	})
}

func TestADamagedTalkIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	src := talkVault(t)
	q := Query{Text: "billing service in:sessions", Limit: -1}
	want := ask(t, open(t, src), q)
	if len(want.Hits) < 3 {
		t.Fatalf("%d hits", len(want.Hits))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		files := indexFiles(t, src)
		file := files[rnd.IntN(len(files))]
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		sameAnswer(t, fmt.Sprintf("flip %d in %s", i, filepath.Base(file)), ask(t, open(t, src), q), want)
	}
}

// Messages that have the words of a phrase in another order are no hits and
// take none away, however many and however good they are. The scanner knows
// words and spaces only and shares no code with the index.
func TestPhrasesAreFoundBehindAnyNumberOfLookalikes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	said := map[string]string{}
	files := map[string]string{}
	add := func(name string, texts ...string) {
		var turns []turn
		for i, text := range texts {
			turns = append(turns, turn{"user", text})
			said[fmt.Sprintf("%s#%d", name, i+1)] = text
		}
		files["sessions/"+name+".md"] = talkFile(t, start, "", turns...)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for f := range 8 {
		texts := make([]string, 150)
		for i := range texts {
			texts[i] = "violin with a zebra"
			if i%10 == 0 {
				texts[i] = strings.Repeat("flute violin drum ", rnd.IntN(3)) + "zebra crossing"
			}
		}
		add(fmt.Sprint("talk", f), texts...)
	}
	filler := strings.Repeat("quite another matter of gardens and rain ", 60)
	add("long", filler+"and then a zebra violin "+filler, filler+"a drum zebra violin with a zebra", filler)
	x := open(t, newFolder(t, files))
	for _, tc := range []struct {
		query string
		is    func(text string) bool
	}{
		{`"zebra violin"`, func(s string) bool { return strings.Contains(s, "zebra violin") }},
		{`"violin drum" "zebra crossing"`, func(s string) bool {
			return strings.Contains(s, "violin drum") && strings.Contains(s, "zebra crossing")
		}},
		{`+zebra -"violin with a zebra"`, func(s string) bool {
			return strings.Contains(s, "zebra") && !strings.Contains(s, "violin with a zebra")
		}},
		{`+drum -"violin with" -"flute violin"`, func(s string) bool {
			return strings.Contains(s, "drum") && !strings.Contains(s, "violin with") && !strings.Contains(s, "flute violin")
		}},
	} {
		var want []string
		for name, text := range said {
			if tc.is(text) {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		got := messages(t, x, tc.query)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s found %d messages %.200v, want %d %.200v", tc.query, len(got), got, len(want), want)
		}
		if page := ask(t, x, Query{Text: tc.query + " in:sessions", Limit: 1}); page.Total != len(want) || len(page.Hits) != min(1, len(want)) {
			t.Errorf("%s: a page shows %d of %d, want 1 of %d", tc.query, len(page.Hits), page.Total, len(want))
		}
	}
	// Beside notes too, and no neighbour comes in that is excluded.
	if res := ask(t, x, Query{Text: `"zebra violin"`}); !slices.Equal(briefly(res.Sessions), []string{"long#2"}) && !slices.Equal(briefly(res.Sessions), []string{"long#1"}) {
		t.Errorf("beside notes: %v", briefly(res.Sessions))
	}
	for _, name := range messages(t, x, `crossing -"with a"`) {
		if strings.Contains(said[name], "with a") {
			t.Errorf("%s is excluded, and found", name)
			break
		}
	}
}

// What stands in the date of a message, and in titles, which few conversations have, must not outweigh what was said.
func TestQuestionsWeighWhatWasSaid(t *testing.T) {
	t.Parallel()
	day := func(month time.Month, n int) time.Time { return time.Date(2026, month, n, 9, 0, 0, 0, time.UTC) }
	said := func(on time.Time, title, text string) string { return talkFile(t, on, title, turn{"user", text}) }
	files := map[string]string{
		"sessions/a.md": said(day(time.June, 3), "", "Only the last append file can be truncated."),
		"sessions/b.md": said(day(time.May, 8), "", "Move the function that loads a file."),
		"sessions/c.md": said(day(time.July, 3), "Loading files with the toolchain before upgrades",
			"Please have a look at this."),
		"sessions/d.md": said(day(time.July, 4), "", "The toolchain needs an upgrade for CVE-2023-45288."),
		"sessions/e.md": said(day(time.July, 5), "", "A file in utf-8 cannot be decoded."),
	}
	for i := range 40 {
		files[fmt.Sprintf("sessions/n%d.md", i)] = said(day(time.January, 1+i%28), "",
			"We load a file with the toolchain before an upgrade.")
	}
	x := open(t, newFolder(t, files))
	for query, first := range map[string]string{
		"which files may be truncated when they are loaded?":              "a#1",
		"what did we say about files in may?":                             "b#1",
		"may file":                                                        "b#1",
		"what of the toolchain upgrade before a file is loaded, the CVE?": "d#1",
		"is there a function to move utf-8?":                              "e#1",
	} {
		if got := messages(t, x, query); len(got) == 0 || got[0] != first {
			t.Errorf("%q found %.100v, want %s first", query, got, first)
		}
	}
}
