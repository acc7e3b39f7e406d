package remind

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/index/document"
)

func reader(t *testing.T) *Reader {
	t.Helper()
	lang, err := document.LanguageOf("")
	if err != nil {
		t.Fatal(err)
	}
	return NewReader(lang)
}

// A shelf is memories, and the words of all of them counted.
type shelf struct {
	ids      []string
	memories []*Memory
	counts   Counts
}

func (s *shelf) add(r *Reader, id, text string) {
	m := r.Memory("", text)
	s.ids, s.memories = append(s.ids, id), append(s.memories, m)
	if s.counts.Having == nil {
		s.counts.Having = map[string]int{}
	}
	s.counts.Files++
	for _, stem := range m.Stems() {
		s.counts.Having[stem]++
	}
}

// shown are the ids of what a prompt is given that needs are at least that.
func (s *shelf) shown(needs []float64, least float64) (out []string) {
	for _, i := range Choose(needs, least) {
		out = append(out, s.ids[i])
	}
	return out
}

func lines(t *testing.T, name string, each func(data []byte) error) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", ".ci", "train", "data", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if err := each(s.Bytes()); err != nil {
			t.Fatal(name, err)
		}
	}
}

// The prompts are those that the weights were fitted to: this holds the model together and says nothing of others.
func TestPromptsAreGivenWhatTheyNeed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"own.jsonl", "dev.jsonl"} {
		if testing.Short() && name == "dev.jsonl" {
			t.Skip("the larger vault: not with -short")
		}
		r, s := reader(t), &shelf{}
		lines(t, "vault-"+name, func(data []byte) error {
			var m struct{ ID, Text string }
			err := json.Unmarshal(data, &m)
			s.add(r, m.ID, m.Text)
			return err
		})
		var prompts []asked
		lines(t, "recall-"+name, func(data []byte) error {
			var p asked
			err := json.Unmarshal(data, &p)
			p.needs = r.Prompt(p.Prompt).Needs(s.memories, s.counts)
			prompts = append(prompts, p)
			return err
		})
		least := Least()
		found, falsely := s.rates(prompts, least)
		t.Logf("%s: found %.2f, shown falsely %.2f", name, found, falsely)
		if found < 0.55 || falsely > 0.15 {
			t.Errorf("%s: found %.2f, and something shown on %.2f of those that need nothing", name, found, falsely)
		}
		for ; falsely > 0.05; least += 0.01 {
			found, falsely = s.rates(prompts, least)
		}
		t.Logf("%s: found %.2f, shown falsely %.2f", name, found, falsely)
		if found < 0.35 {
			t.Errorf("%s: found %.2f where something is shown on %.2f of those that need nothing", name, found, falsely)
		}
	}
}

// asked is a prompt, the ids of the memories it needs, and how much it needs each of all.
type asked struct {
	Prompt string
	Need   []string
	needs  []float64
}

// rates are the parts of the prompts that are shown a memory they need, and of those that need none and are shown one.
func (s *shelf) rates(prompts []asked, least float64) (found, falsely float64) {
	var needing, others float64
	for _, p := range prompts {
		shown := s.shown(p.needs, least)
		if len(p.Need) == 0 {
			if others++; len(shown) > 0 {
				falsely++
			}
		} else {
			needing++
			if slices.ContainsFunc(shown, func(id string) bool { return slices.Contains(p.Need, id) }) {
				found++
			}
		}
	}
	return found / needing, falsely / others
}

func TestEveryWeightIsOfAFeature(t *testing.T) {
	t.Parallel()
	r, s := reader(t), &shelf{}
	s.add(r, "a", "The quagga service listens on port 8417.")
	names, _ := Samples(r.Prompt("which port does quagga listen on?"), s.memories, s.counts)
	for name := range weights() {
		if name != "bias" && name != "least" && !slices.Contains(names, name) {
			t.Errorf("weights.txt has %q, which is no feature", name)
		}
	}
	for _, name := range names {
		if _, ok := weights()[name]; !ok {
			t.Errorf("%q has no weight: train again", name)
		}
	}
}

func TestAtMostThreeAndTheLikeliestFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		needs []float64
		want  []int
	}{
		{nil, nil},
		{[]float64{.1, .29}, nil},
		{[]float64{.1, .9, .5, .6, .55}, []int{1, 3, 4}},
		{[]float64{.01, .99}, []int{1}}, // the other one is hardly likely beside it
		{[]float64{1, 1}, []int{0, 1}},
	} {
		if got := Choose(c.needs, .3); !slices.Equal(got, c.want) {
			t.Errorf("of %v chosen %v, want %v", c.needs, got, c.want)
		}
	}
}

func TestSearchesHoldNoOperator(t *testing.T) {
	t.Parallel()
	r, s := reader(t), &shelf{}
	s.add(r, "a", "My mother's surgery is in the Kepler clinic. kind fact quagga")
	p := r.Prompt(`when is "mum's" -operation +at kind:fact quagga* ?`)
	queries := p.Queries(s.counts)
	if len(queries) != 2 || !strings.Contains(queries[0], "quagga") {
		t.Fatalf("queries %q, want the words of the prompt, then others for the same things", queries)
	}
	if !strings.Contains(queries[1], "surgery") || !strings.Contains(queries[1], "mother") {
		t.Errorf("%q does not look for the surgery of a mother", queries[1])
	}
	if text := strings.Join(queries, " "); strings.ContainsAny(text, `"+-*:?'`) {
		t.Errorf("%q holds an operator of a search", text)
	}
	if got := r.Prompt("xyzzy plugh").Queries(s.counts); len(got) > 0 {
		t.Errorf("%q is searched for although no memory has it", got)
	}
}

func TestAHugePromptIsReadAtItsEnds(t *testing.T) {
	t.Parallel()
	r, s := reader(t), &shelf{}
	s.add(r, "a", "The quagga service listens on port 8417, its console on 5188.")
	s.add(r, "b", "Deploys of the website run every Tuesday at noon.")
	huge := strings.Repeat("lorem ipsum dolor\n\xff", 100_000)
	began := time.Now()
	needs := r.Prompt("on which port does our quagga service listen?\n"+huge).Needs(s.memories, s.counts)
	if got := s.shown(needs, Least()); slices.Contains(got, "b") {
		t.Errorf("shown %v", got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	p := r.Prompt(huge + "\nour quagga port?")
	if !slices.Contains(p.Stems(), r.stems.Stem("quagga")) {
		t.Error("the end of the prompt was not read")
	}
}
