package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// A question is one record of queries.jsonl, with what it should find.
type question struct {
	ID            string `json:"query_id"`
	Coll          string
	Question      string
	wanted        []string
	bench, search []string // what the two find
}

// sessions imports data sets of conversations as a person would, asks every question with
// "stet session search --matches", and compares what it finds with "stet bench" on the same
// sets, in one run. The bound is .01 of every number.
func sessions(flags *flag.FlagSet, args []string, tmp string) error {
	most := flags.Int("questions", 0, "at most `N` questions of a set, evenly spread; 0 is all")
	flags.Parse(args)
	program, err := build(tmp)
	if err != nil {
		return err
	}
	for i, dir := range flags.Args() {
		s := stet{program, filepath.Join(tmp, fmt.Sprint(i))}
		questions, failed := readQuestions(dir, *most)
		if failed == nil {
			failed = s.ask(dir, questions)
		}
		if failed == nil {
			failed = compare(dir, questions)
		}
		if err = errors.Join(err, failed); failed != nil && !errors.Is(failed, errMissed) {
			return err
		}
	}
	return err
}

// readQuestions reads those that bench counts.
func readQuestions(dir string, most int) ([]*question, error) {
	type gold struct {
		ID         string `json:"query_id"`
		Type       string
		Answerable bool
		Turns      []string `json:"gold_ids"`
	}
	answers, err := lines[gold](filepath.Join(dir, "gold.jsonl"))
	if err != nil {
		return nil, err
	}
	all, err := lines[*question](filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return nil, err
	}
	wanted := map[string][]string{}
	for _, g := range answers {
		if g.Answerable && g.Type != "adversarial" {
			wanted[g.ID] = slices.Compact(slices.Sorted(slices.Values(g.Turns)))
		}
	}
	all = slices.DeleteFunc(all, func(q *question) bool {
		q.wanted = wanted[q.ID]
		return len(q.wanted) == 0
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no question has an answer", dir)
	}
	if most <= 0 || most >= len(all) {
		return all, nil
	}
	var some []*question
	for i := range most {
		some = append(some, all[i*len(all)/most])
	}
	return some, nil
}

// ask makes a vault of every collection that is asked about, by importing its lines as they
// are, and asks every question of it with a command of its own, and bench of its own vaults.
func (s stet) ask(dir string, questions []*question) error {
	docs, err := lines[json.RawMessage](filepath.Join(dir, "docs.jsonl"))
	if err != nil {
		return err
	}
	text := map[string][]byte{}
	for _, q := range questions {
		text[q.Coll] = nil
	}
	for _, d := range docs {
		var of struct{ Coll string }
		if err := json.Unmarshal(d, &of); err != nil {
			return err
		}
		if _, asked := text[of.Coll]; asked {
			text[of.Coll] = append(append(text[of.Coll], d...), '\n')
		}
	}
	vault := func(coll string) string { return filepath.Join(s.home, "vaults", coll) }
	for coll, data := range text {
		if err := s.run("", nil, "init", vault(coll)); err != nil {
			return err
		}
		file := vault(coll) + ".jsonl"
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
		if err := errors.Join(s.run(vault(coll), nil, "import", "jsonl", file), s.run(vault(coll), nil, "reindex")); err != nil {
			return err
		}
	}
	err = each(len(questions), func(i int) error {
		q := questions[i]
		var answer struct {
			Degraded string
			Matches  []struct{ Ref string }
		}
		// A hundred matches, as bench takes.
		err := s.run(vault(q.Coll), &answer, "session", "search", "--matches", "-n", "100", "--", q.Question)
		if err == nil && answer.Degraded != "" {
			err = fmt.Errorf("question %s: answered without the index: %s", q.ID, answer.Degraded)
		}
		for _, m := range answer.Matches {
			q.search = append(q.search, m.Ref)
		}
		return err
	})
	if err != nil {
		return err
	}
	dump := filepath.Join(s.home, "ranked.jsonl")
	if err := s.run("", nil, "bench", dir, "--vaults", filepath.Join(s.home, "bench"), "--dump", dump); err != nil {
		return err
	}
	ranked, err := lines[struct {
		ID     string `json:"query_id"`
		Ranked []string
	}](dump)
	for _, r := range ranked {
		for _, q := range questions {
			if q.ID == r.ID {
				q.bench = r.Ranked
			}
		}
	}
	return err
}

func compare(dir string, questions []*question) (err error) {
	fmt.Printf("%s: %d questions, level turn\n%-10s %8s %8s\n", filepath.Base(dir), len(questions), "", "bench", "matches")
	show := func(name string, of func(ranked, wanted []string) float64) {
		var a, b float64
		for _, q := range questions {
			a += of(q.bench, q.wanted) / float64(len(questions))
			b += of(q.search, q.wanted) / float64(len(questions))
		}
		word := ""
		if math.Abs(a-b) > 0.01 {
			err, word = errMissed, "  DOES NOT HOLD"
		}
		fmt.Printf("%-10s %8.4f %8.4f%s\n", name, a, b, word)
	}
	// gain is what the first k are worth, each by its rank.
	gain := func(ranked, wanted []string, k int, worth func(rank int) float64) (sum float64) {
		for i, id := range ranked[:min(k, len(ranked))] {
			if slices.Contains(wanted, id) {
				sum += worth(i)
			}
		}
		return sum
	}
	for _, k := range []int{1, 5, 10, 50} {
		show(fmt.Sprintf("recall@%d", k), func(ranked, wanted []string) float64 {
			return gain(ranked, wanted, k, func(int) float64 { return 1 }) / float64(len(wanted))
		})
	}
	discount := func(i int) float64 { return 1 / math.Log2(float64(i)+2) }
	show("ndcg@10", func(ranked, wanted []string) float64 {
		return gain(ranked, wanted, 10, discount) / gain(wanted, wanted, 10, discount)
	})
	show("mrr", func(ranked, wanted []string) float64 {
		first := slices.IndexFunc(ranked, func(id string) bool { return slices.Contains(wanted, id) })
		return float64(min(first+1, 1)) / float64(max(first+1, 1))
	})
	alike := 0
	for _, q := range questions {
		if slices.Equal(q.bench, q.search) {
			alike++
		}
	}
	fmt.Printf("%d of %d rankings are the same to the last place\n", alike, len(questions))
	return err
}
