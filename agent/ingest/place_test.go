package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/ingest"
	"stet/index"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/vaulttest"
)

// A labelled memory, written by us: see agent/place/testdata.
type labelled struct {
	Text       string   `json:"text"`
	Scope      string   `json:"scope"`
	Categories []string `json:"categories"`
	Importance float64  `json:"importance"`
}

func readLabelled(t testing.TB, name string) []labelled {
	t.Helper()
	data, err := os.ReadFile("../place/testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []labelled
	for line := range bytes.Lines(data) {
		var l labelled
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// seeded is a vault with memories and its index.
func seeded(t testing.TB, seeds []labelled) (*vault.Vault, *index.Index) {
	t.Helper()
	var files []string
	for i, s := range seeds {
		files = append(files, fmt.Sprintf("memories%s/seed-%03d.md", s.Scope, i),
			fmt.Sprintf("---\nid: 01jd7q8r5t9v3x6y2z4a7c%04d\ncategories: [%s]\nimportance: %g\n---\n%s\n", i, strings.Join(s.Categories, ", "), s.Importance, s.Text))
	}
	f := vaulttest.New(t, files...)
	v := f.Open()
	return v, indexOf(t, v)
}

func indexOf(t testing.TB, v *vault.Vault) *index.Index {
	t.Helper()
	x, err := index.Open(v, index.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestPlacing measures the rules on memories whose place a person has written down:
// a vault of other memories of the same scopes, and each one as if it were new. A
// scope is right when it is the one written down, or one above it that is not the
// top; categories are right when one of them is; importance is right for each pair
// of memories whose labels are 0.2 or more apart and that come out in this order.
//
// A category is given from a confidence of .6 on. Half of the memories then get a right one,
// and of those given .70 and .81 are right; at .4 seven to ten of a hundred more get a right
// one and half of all given are wrong (.51 and .71). A wrong category is in the vault for
// good, a missing one is given by a model or a person later: so precision has the floor of
// .70, and how many get one .45. Nobody has looked at what becomes of single memories of the second half.
func TestPlacing(t *testing.T) {
	t.Parallel()
	v, x := seeded(t, readLabelled(t, "seeds"))
	for _, name := range []string{"tune", "kept"} {
		items := readLabelled(t, name)
		got := make([]vault.Memory, len(items))
		for i, l := range items {
			res, err := ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: l.Text}}, vault.Write{DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			got[i] = res.Memories[len(res.Memories)-1]
		}
		s := scored(items, got)
		t.Logf("%s: %s", name, s)
		if s.scope < 0.70 || s.category < 0.45 || s.precise < 0.70 || s.order < 0.75 {
			t.Errorf("%s: below the floors of 0.70, 0.45, 0.70 and 0.75: %s", name, s)
		}
	}
}

// Notes that belong to none of the scopes mostly stay at the top: the first half was
// looked at, the second was not.
func TestStrangersStayAtTheTop(t *testing.T) {
	t.Parallel()
	v, x := seeded(t, readLabelled(t, "seeds"))
	for _, name := range []string{"strange", "strange_kept"} {
		items, filed := readLabelled(t, name), 0.0
		for _, l := range items {
			res, err := ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: l.Text}}, vault.Write{DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			if res.Memories[len(res.Memories)-1].Scope != "/" {
				filed += 1 / float64(len(items))
			}
		}
		t.Logf("%s: %.2f of the strangers were filed", name, filed)
		if filed > 0.40 {
			t.Errorf("%s: %.2f of the strangers were filed, at most 0.40 may be", name, filed)
		}
	}
}

type placingScore struct{ scope, exact, wrong, category, precise, order float64 }

func (s placingScore) String() string {
	return fmt.Sprintf("scope right or above %.2f (exactly %.2f, wrong %.2f), a right category %.2f (of all given right %.2f), importance in order %.2f",
		s.scope, s.exact, s.wrong, s.category, s.precise, s.order)
}

func scored(items []labelled, got []vault.Memory) placingScore {
	var s placingScore
	n, given, right, tagged := float64(len(items)), 0.0, 0.0, 0.0
	for i, l := range items {
		m := got[i]
		switch {
		case m.Scope == l.Scope:
			s.exact += 1 / n
			s.scope += 1 / n
		case m.Scope == "/":
		case vault.Scope(l.Scope).In(m.Scope):
			s.scope += 1 / n
		default:
			s.wrong += 1 / n
		}
		one := 0.0
		for _, c := range m.Categories {
			given++
			if slices.Contains(l.Categories, c) {
				right, one = right+1, 1
			}
		}
		if len(l.Categories) > 0 {
			tagged++
			s.category += one
		}
	}
	s.category /= tagged
	s.precise = right / math.Max(1, given)
	pairs := 0.0
	for i := range items {
		for j := range items {
			if items[i].Importance >= items[j].Importance+0.2-1e-9 {
				pairs++
				if importance(got[i]) > importance(got[j]) {
					s.order++
				}
			}
		}
	}
	s.order /= pairs
	return s
}

func importance(m vault.Memory) float64 {
	if m.Importance == nil {
		return 0.5
	}
	return *m.Importance
}

func TestWhatIsGivenIsNotFiled(t *testing.T) {
	t.Parallel()
	v, x := seeded(t, readLabelled(t, "seeds"))
	const text = "The plumber replaced the leaking valve of the boiler."
	remember := func(mind *ingest.Mind, n vault.Note, w vault.Write) (*ingest.Result, vault.Memory) {
		t.Helper()
		n.Text, w.DryRun = text, true
		res, err := ingest.Remember(t.Context(), v, x, mind, []vault.Note{n}, w)
		if err != nil {
			t.Fatal(err)
		}
		return res, res.Memories[len(res.Memories)-1]
	}
	res, m := remember(nil, vault.Note{}, vault.Write{})
	if m.Scope != "/home/repairs" || len(m.Categories) == 0 || len(res.Plan.Placed()) != 1 || !strings.Contains(res.Diff, "classified_by: scope-words@1, category-words@1") {
		t.Fatalf("not filed: %s %v\n%s", m.Scope, m.Categories, res.Diff)
	}
	if !slices.Equal(res.Commits[0].Trailers.All("Stet-Rule"), []string{"scope-words@1", "category-words@1"}) {
		t.Errorf("the commit says %v", res.Commits[0].Trailers)
	}
	quarter := 0.25
	res, m = remember(nil, vault.Note{Scope: "/", Categories: []string{"own"}, Importance: &quarter}, vault.Write{})
	if m.Scope != "/" || !slices.Equal(m.Categories, []string{"own"}) || importance(m) != 0.25 || res.Plan.Placed() != nil {
		t.Errorf("got %+v, %+v", m, res.Plan.Placed())
	}
	res, m = remember(nil, vault.Note{Scope: "/Home/Garden"}, vault.Write{})
	if m.Scope != "/home/garden" || res.Plan.Placed()[0].Scope != nil || res.Plan.Placed()[0].Categories == nil {
		t.Errorf("got %+v, %+v", m, res.Plan.Placed())
	}
	// With a model the rules keep silent, unless it is asked nothing. When it fails, what they
	// are sure of stands, and importance is the model's to give later.
	deaf := &puppet{judge: func(prompts.Judge) string { return "" }}
	res, m = remember(&ingest.Mind{Model: deaf}, vault.Note{}, vault.Write{})
	if m.Scope != "/home/repairs" || m.Importance != nil || len(res.Plan.Placed()) != 1 || res.Plan.Placed()[0].Scope.Confidence < 0.9 || !strings.Contains(res.Diff, "encoding: pending") {
		t.Errorf("got %+v, %+v", m, res.Plan.Placed())
	}
	silent := &puppet{judge: all("keep", "", 1)}
	_, m = remember(&ingest.Mind{Model: silent}, vault.Note{Scope: "/home/repairs", Importance: &quarter}, vault.Write{})
	if len(m.Categories) == 0 || slices.ContainsFunc(silent.told, func(s string) bool { return strings.HasPrefix(s, "classify") }) {
		t.Errorf("got %+v after %q", m, silent.told)
	}
}

func TestAMachineLearnsNothingFromPrivateMemories(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 14 {
		files = append(files, fmt.Sprintf("memories/diary/%02d.md", i), fmt.Sprintf("---\nprivate: true\ncategories: [secret]\n---\nThe zeppelin flew over hill %d.\n", i),
			fmt.Sprintf("memories/office/%02d.md", i), fmt.Sprintf("The printer on floor %d hums.\n", i))
	}
	f := vaulttest.New(t, files...)
	v := f.Open()
	x := indexOf(t, v)
	for actor, want := range map[string]string{"": "/diary", "agent": "/"} {
		res, err := ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: "Over which hill the zeppelin flies is a riddle."}}, vault.Write{DryRun: true, Writer: vault.Writer{Actor: actor}})
		if err != nil {
			t.Fatal(err)
		}
		if m := res.Memories[0]; m.Scope != want {
			t.Errorf("%q: %s %v, want %s", actor, m.Scope, m.Categories, want)
		}
	}
}
