package place_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/place"
	"stet/templates/lexicon"
)

// A memory is what a test's vault holds.
type memory struct {
	text, scope string
	categories  []string
	importance  float64
}

// usage is what the index would say of memories.
func usage(in []memory) place.Usage {
	u := place.Usage{Memories: len(in), Scopes: map[string]int{}, Categories: map[string]int{}}
	for _, m := range in {
		u.Scopes[m.scope]++
		for _, c := range m.categories {
			u.Categories[c]++
		}
	}
	return u
}

func learn(vault []memory) *place.Known {
	tagged := map[string]map[string]int{}
	for _, m := range vault {
		if tagged[m.scope] == nil {
			tagged[m.scope] = map[string]int{}
		}
		for _, c := range m.categories {
			tagged[m.scope][c]++
		}
	}
	return place.Learn(usage(vault), tagged)
}

// ask is a note as the index would present it: words are compared as they stand.
func ask(vault []memory, title, text string) place.Note {
	with := func(words []string) place.Usage {
		var out []memory
		for _, m := range vault {
			if slices.ContainsFunc(strings.Fields(strings.ToLower(m.text)), func(w string) bool { return slices.Contains(words, w) }) {
				out = append(out, m)
			}
		}
		return usage(out)
	}
	n := place.Note{Title: title, Text: text}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		n.Words = append(n.Words, place.Word{Text: w, Usage: with([]string{w})})
	}
	for _, t := range place.Topics(title, text) {
		n.Topics = append(n.Topics, place.Word{Text: t.Name, Usage: with(strings.Fields(t.Words))})
	}
	for i := range vault {
		n.Near = append(n.Near, place.Neighbour{Text: vault[i].text, Importance: &vault[i].importance})
	}
	return n
}

// household is a vault of two subjects with four memories each, and of twelve more.
func household() []memory {
	out := []memory{
		{"the boiler needs service in autumn", "/home/heating", []string{"maintenance"}, 0.6},
		{"bleed the radiators before winter", "/home/heating", []string{"maintenance"}, 0.6},
		{"the heat pump hums at night", "/home/heating", []string{"energy"}, 0.3},
		{"the thermostat in the hall is off by two degrees", "/home/heating", []string{"energy"}, 0.4},
		{"tomatoes are sown in march", "/home/garden", []string{"plants"}, 0.4},
		{"the hedge is cut in february", "/home/garden", []string{"plants"}, 0.5},
		{"compost goes on the beds in spring", "/home/garden", []string{"plants"}, 0.4},
		{"the lawn mower stands in the shed", "/home/garden", []string{"tools"}, 0.3},
	}
	for i := range 12 {
		out = append(out, memory{fmt.Sprintf("filler number%d of nothing", i), "/", nil, 0.5})
	}
	for i := range 6 {
		out = append(out, memory{fmt.Sprintf("budget line%d of the household", i), "/finance", []string{"cost"}, 0.5})
	}
	return out
}

func TestWhereANoteBelongs(t *testing.T) {
	t.Parallel()
	vault := household()
	known := learn(vault)
	for _, c := range []struct{ text, scope, category string }{
		{"the radiators hum when the boiler starts", "/home/heating", ""}, // half of the scope is energy: too few
		{"lettuce and roses next to the compost", "/home/garden", "plants"},
		{"the chimney smokes", "/home/heating", ""}, // no word of it is known, the subject is
		{"the keys are with Ann", "/", ""},
		{"", "/", ""},
	} {
		p := known.Place(ask(vault, "", c.text))
		if p.Scope.Value != c.scope || (p.Scope.Rule == "") != (c.scope == "/") {
			t.Errorf("%q: scope %+v, want %s", c.text, p.Scope, c.scope)
		}
		if c.category == "" && len(p.Categories.Value) > 0 {
			t.Errorf("%q: categories %+v, want none", c.text, p.Categories)
		}
		if c.category != "" && !slices.Contains(p.Categories.Value, c.category) {
			t.Errorf("%q: categories %+v, want %s among them", c.text, p.Categories, c.category)
		}
	}
}

// Where words of two scopes stand side by side, what is above them both is the answer.
func TestWithTwoScopesTheOneAboveIsTheAnswer(t *testing.T) {
	t.Parallel()
	vault := household()
	if p := learn(vault).Place(ask(vault, "", "bleed compost")); p.Scope.Value != "/home" {
		t.Errorf("got %+v", p.Scope)
	}
}

func TestWhatReplacesAMemoryBelongsWhereThatOneWas(t *testing.T) {
	t.Parallel()
	vault := household()
	n := ask(vault, "", "tomatoes and compost")
	n.Replaces = "/home/heating"
	if p := learn(vault).Place(n); p.Scope.Value != "/home/heating" || p.Scope.Rule != "scope-replaced@1" {
		t.Errorf("got %+v", p.Scope)
	}
	n.Replaces = "/nowhere"
	if p := learn(vault).Place(n); p.Scope.Value != "/home/garden" {
		t.Errorf("a scope that nobody uses: %+v", p.Scope)
	}
}

// A single project needs more: what lies in one is compared with nothing outside.
func TestAProjectIsNamedOrCertain(t *testing.T) {
	t.Parallel()
	vault := household()
	for i := range 4 {
		vault = append(vault, memory{fmt.Sprintf("kestrel ships in week%d", i), "/projects/kestrel", nil, 0.5})
	}
	if p := learn(vault).Place(ask(vault, "", "kestrel has a new logo")); p.Scope.Value != "/projects/kestrel" {
		t.Errorf("named: %+v", p.Scope)
	}
	if p := learn(vault).Place(ask(vault, "", "the parcel ships tomorrow")); p.Scope.Value == "/projects/kestrel" {
		t.Errorf("not named: %+v", p.Scope)
	}
}

func TestASmallVaultTeachesNothing(t *testing.T) {
	t.Parallel()
	vault := household()[:8]
	p := learn(vault).Place(ask(vault, "", "the boiler and the radiators"))
	if p.Scope.Rule+p.Categories.Rule+p.Importance.Rule != "" {
		t.Errorf("got %+v", p)
	}
	// Nor does one whose scopes stet would not make.
	if p = place.Learn(place.Usage{Memories: 40}, nil).Place(place.Note{Text: "the boiler"}); p.Scope.Rule != "" {
		t.Errorf("got %+v", p)
	}
	if p = learn(nil).Place(ask(nil, "", "I am allergic to nuts.")); p.Importance.Rule == "" || p.Importance.Value < 0.7 {
		t.Errorf("what speaks for itself: %+v", p.Importance)
	}
}

// The words alone: each text matters more than the next.
func TestHowMuchATextMatters(t *testing.T) {
	t.Parallel()
	texts := []string{
		"She is allergic to penicillin and must never get any.",
		"The return must be filed by Friday at the latest.",
		"From now on we use tabs.",
		"The office is in Bern.",
		"Perhaps it seems slow.",
		"Yesterday Tom told a funny story, haha.",
	}
	vault := household()
	known := learn(vault)
	last := 1.0
	for _, text := range texts {
		p := known.Place(place.Note{Text: text})
		if p.Importance.Value >= last {
			t.Errorf("%q: %.2f after %.2f", text, p.Importance.Value, last)
		}
		last = p.Importance.Value
	}
	plain := known.Place(place.Note{Text: texts[3]}).Importance
	if plain.Rule != "" || plain.Value != 0.5 {
		t.Errorf("a plain fact: %+v", plain)
	}
	one := 1.0
	near := []place.Neighbour{{Text: "The office in Bern is the head office.", Importance: &one}, {Text: "Unlike anything."}}
	if f := known.Place(place.Note{Text: texts[3], Near: near}).Importance; f.Value <= 0.5 || f.Rule != "importance-near@1" {
		t.Errorf("beside one that matters: %+v", f)
	}
}

func TestEveryLineOfImportanceHasAWeight(t *testing.T) {
	t.Parallel()
	for _, e := range lexicon.Entries("importance") {
		if n, err := strconv.ParseFloat(e.Head, 64); err != nil || n == 0 || math.Abs(n) > 2 {
			t.Errorf("%q: %v", e.Head, err)
		}
	}
}

func TestTopicsAreWellFormed(t *testing.T) {
	t.Parallel()
	got := place.Topics("Invoice", "The doctor prescribed a pill; the pharmacy sent the invoice.")
	if len(got) < 2 || got[0].Name != "medicine" || !strings.Contains(got[0].Words, "pharmacy") {
		t.Errorf("got %+v", got)
	}
	if got := place.Topics("", "It is what it is."); len(got) != 0 {
		t.Errorf("got %+v of nothing", got)
	}
}

// Whatever a vault holds and a note says: nothing that the vault does not have, what
// is given stays, and the order of what resembles the note does not matter.
func TestPlaceProperties(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom(strings.Fields("boiler never garden tomato must doctor pill invoice bank maybe funny xyzzy Ärger 東京 12 /home home kestrel ? deadline due café"))
	scope := rapid.SampledFrom([]string{"/", "/home", "/home/garden", "/home/garden/beds", "/projects/kestrel", "/finance", "/東京"})
	category := rapid.SampledFrom([]string{"rule", "deadline", "MySQL", "plants", "été"})
	rapid.Check(t, func(t *rapid.T) {
		say := func(label string) string {
			return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, label), " ")
		}
		vault := make([]memory, rapid.IntRange(0, 40).Draw(t, "memories"))
		for i := range vault {
			vault[i] = memory{say("text"), scope.Draw(t, "scope"), slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(category, 0, 3).Draw(t, "categories")))), rapid.Float64Range(0, 1).Draw(t, "importance")}
		}
		known, n := learn(vault), ask(vault, say("title"), say("note"))
		if rapid.Bool().Draw(t, "given scope") {
			n.Scope = scope.Draw(t, "its scope")
		}
		if rapid.Bool().Draw(t, "given categories") {
			n.Categories = []string{category.Draw(t, "its category")}
		}
		if rapid.Bool().Draw(t, "given importance") {
			f := 0.25
			n.Importance = &f
		}
		p := known.Place(n)
		check(t, vault, n, p)
		shuffled := n
		shuffled.Near = slices.Clone(n.Near)
		rand.New(rand.NewPCG(uint64(len(vault)), 7)).Shuffle(len(shuffled.Near), func(i, j int) {
			shuffled.Near[i], shuffled.Near[j] = shuffled.Near[j], shuffled.Near[i]
		})
		if q := learn(vault).Place(shuffled); !reflect.DeepEqual(p, q) {
			t.Fatalf("another order: %+v and %+v", p, q)
		}
	})
}

func check(t *rapid.T, vault []memory, n place.Note, p place.Placing) {
	if n.Scope != "" && p.Scope.Rule != "" || len(n.Categories) > 0 && p.Categories.Rule != "" || n.Importance != nil && p.Importance.Rule != "" {
		t.Fatalf("what was given is not kept: %+v", p)
	}
	if s := p.Scope.Value; p.Scope.Rule != "" && !slices.ContainsFunc(vault, func(m memory) bool { return m.scope == s || strings.HasPrefix(m.scope, s+"/") }) {
		t.Fatalf("scope %q is nobody's", s)
	}
	if p.Scope.Rule != "" && p.Scope.Value == "/" || p.Scope.Confidence < 0 || p.Scope.Confidence > 1 {
		t.Fatalf("got %+v", p.Scope)
	}
	if len(p.Categories.Value) > 3 || (len(p.Categories.Value) == 0) != (p.Categories.Rule == "") {
		t.Fatalf("got %+v", p.Categories)
	}
	for _, c := range p.Categories.Value {
		if !slices.ContainsFunc(vault, func(m memory) bool { return slices.Contains(m.categories, c) }) {
			t.Fatalf("category %q is nobody's", c)
		}
	}
	if v := p.Importance.Value; !(v >= 0 && v <= 1) {
		t.Fatalf("importance %v", v)
	}
}

// Of a book only the beginning is read: whatever follows changes nothing.
func TestABookIsReadAtItsBeginning(t *testing.T) {
	t.Parallel()
	vault := household()
	n := ask(vault, "", "the boiler and the radiators")
	n.Text += strings.Repeat(" and so on", 2000)
	want := learn(vault).Place(n)
	n.Text += strings.Repeat(" never tomatoes", 100000)
	n.Near[0].Text += strings.Repeat(" boiler", 100000)
	if got := learn(vault).Place(n); !reflect.DeepEqual(got, want) || got.Scope.Value != "/home/heating" {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func BenchmarkPlace(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	all := place.Usage{Memories: 10000, Scopes: map[string]int{}, Categories: map[string]int{}}
	tagged := map[string]map[string]int{}
	for i := range 200 {
		scope := fmt.Sprintf("/a%d/b%d", i%20, i)
		all.Scopes[scope] = 50
		tagged[scope] = map[string]int{}
		for range 20 {
			c := fmt.Sprintf("c%d", r.IntN(80))
			tagged[scope][c] += 2
			all.Categories[c] += 2
		}
	}
	n := place.Note{Text: strings.Repeat("The doctor must never forget the invoice of the garden. ", 10)}
	for i := range 20 {
		u := place.Usage{Scopes: map[string]int{}, Categories: map[string]int{}}
		for range 30 {
			k := r.IntN(200)
			u.Scopes[fmt.Sprintf("/a%d/b%d", k%20, k)]++
			u.Categories[fmt.Sprintf("c%d", r.IntN(80))]++
			u.Memories++
		}
		n.Words = append(n.Words, place.Word{Text: fmt.Sprintf("word%d", i), Usage: u})
	}
	for b.Loop() {
		place.Learn(all, tagged).Place(n)
	}
}
