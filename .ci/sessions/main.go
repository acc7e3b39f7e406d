// Command sessions imports data sets of conversations as a person would, asks
// every question with "stet session search --matches", and compares what it finds
// with the numbers of "stet bench" on the same sets, in one run:
//
//	go run .ci/sessions/main.go -stet ./stet data/retrieval/locomo
//
// A folder holds docs.jsonl, queries.jsonl and gold.jsonl, as bench --help says.
// It exits 2 when a number differs by more than .01. What it makes of the data
// stands in a temporary folder and is removed.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

func main() {
	stet := flag.String("stet", "stet", "the `COMMAND` to measure")
	most := flag.Int("questions", 0, "at most `N` questions of a set, evenly spread; 0 is all")
	jobs := flag.Int("jobs", 2, "ask `N` questions at a time")
	flag.Parse()
	held := true
	for _, dir := range flag.Args() {
		same, err := (&set{dir: dir, stet: *stet, most: *most, jobs: *jobs}).compare()
		if err != nil {
			fmt.Fprintln(os.Stderr, "sessions:", err)
			os.Exit(1)
		}
		held = held && same
	}
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "sessions: name the folder of a data set")
		os.Exit(1)
	}
	if !held {
		os.Exit(2)
	}
}

// tolerated is how far the two may be apart.
const tolerated = 0.01

type question struct {
	ID   string `json:"query_id"`
	Coll string `json:"coll"`
	Text string `json:"question"`
}

type gold struct {
	ID         string   `json:"query_id"`
	Type       string   `json:"type"`
	Answerable bool     `json:"answerable"`
	Turns      []string `json:"gold_ids"`
}

type set struct {
	dir, stet  string
	most, jobs int
	tmp        string
}

func (s *set) compare() (same bool, err error) {
	if s.stet, err = exec.LookPath(s.stet); err == nil {
		s.stet, err = filepath.Abs(s.stet)
	}
	if err == nil {
		s.dir, err = filepath.Abs(s.dir)
	}
	if err != nil {
		return false, err
	}
	if s.tmp, err = os.MkdirTemp("", "stet-sessions-*"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.tmp)) }()
	questions, wanted, err := s.questions()
	if err != nil {
		return false, err
	}
	if err := s.bring(questions); err != nil {
		return false, err
	}
	found, err := s.ask(questions)
	if err != nil {
		return false, err
	}
	ranked, err := s.bench()
	if err != nil {
		return false, err
	}
	fmt.Printf("%s: %d questions, level turn\n%-10s %8s %8s\n", filepath.Base(s.dir), len(questions), "", "bench", "matches")
	same = true
	alike := 0
	for _, q := range questions {
		if slices.Equal(ranked[q.ID], found[q.ID]) {
			alike++
		}
	}
	for _, m := range measures() {
		var a, b float64
		for _, q := range questions {
			a += m.of(ranked[q.ID], wanted[q.ID]) / float64(len(questions))
			b += m.of(found[q.ID], wanted[q.ID]) / float64(len(questions))
		}
		word := ""
		if math.Abs(a-b) > tolerated {
			same, word = false, "  DOES NOT HOLD"
		}
		fmt.Printf("%-10s %8.4f %8.4f%s\n", m.name, a, b, word)
	}
	fmt.Printf("%d of %d rankings are the same to the last place\n", alike, len(questions))
	return same, nil
}

// questions reads those that bench counts, and what they should find.
func (s *set) questions() ([]question, map[string][]string, error) {
	wanted := map[string][]string{}
	err := lines(filepath.Join(s.dir, "gold.jsonl"), func(line []byte) error {
		var g gold
		err := json.Unmarshal(line, &g)
		if g.Answerable && g.Type != "adversarial" && len(g.Turns) > 0 {
			wanted[g.ID] = slices.Compact(slices.Sorted(slices.Values(g.Turns)))
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var all []question
	err = lines(filepath.Join(s.dir, "queries.jsonl"), func(line []byte) error {
		var q question
		err := json.Unmarshal(line, &q)
		if wanted[q.ID] != nil {
			all = append(all, q)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		return nil, nil, errors.Join(err, fmt.Errorf("%s: %d questions", s.dir, len(all)))
	}
	if s.most <= 0 || s.most >= len(all) {
		return all, wanted, nil
	}
	var some []question
	for i := range s.most {
		some = append(some, all[i*len(all)/s.most])
	}
	return some, wanted, nil
}

// bring makes a vault of every collection that is asked about, by importing its
// lines as they are.
func (s *set) bring(questions []question) error {
	text := map[string]*bytes.Buffer{}
	for _, q := range questions {
		text[q.Coll] = &bytes.Buffer{}
	}
	err := lines(filepath.Join(s.dir, "docs.jsonl"), func(line []byte) error {
		var d struct {
			Coll string `json:"coll"`
		}
		err := json.Unmarshal(line, &d)
		if b := text[d.Coll]; b != nil {
			b.Write(append(line, '\n'))
		}
		return err
	})
	if err != nil {
		return err
	}
	for coll, b := range text {
		file := filepath.Join(s.tmp, "lines.jsonl")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			return err
		}
		for _, args := range [][]string{{"init", s.vault(coll)}, {"-C", s.vault(coll), "import", "jsonl", file}, {"-C", s.vault(coll), "reindex"}} {
			if _, err := s.run(args...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *set) vault(coll string) string { return filepath.Join(s.tmp, "vaults", coll) }

// run runs the command with no configuration but its own.
func (s *set) run(args ...string) ([]byte, error) {
	cmd := exec.Command(s.stet, args...)
	cmd.Env = append(os.Environ(), "HOME="+s.tmp, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("stet %q: %w\n%s", args, err, stderr.Bytes())
	}
	return out, nil
}

// answers is how many matches an answer holds, as in bench.
const answers = 100

// ask asks every question, each with a command of its own.
func (s *set) ask(questions []question) (map[string][]string, error) {
	found := map[string][]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed []error
	next := make(chan question)
	for range s.jobs {
		wg.Go(func() {
			for q := range next {
				refs, err := s.one(q)
				mu.Lock()
				if found[q.ID] = refs; err != nil {
					failed = append(failed, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, q := range questions {
		next <- q
	}
	close(next)
	wg.Wait()
	return found, errors.Join(failed...)
}

func (s *set) one(q question) ([]string, error) {
	out, err := s.run("-C", s.vault(q.Coll), "session", "search", "--matches", "-n", fmt.Sprint(answers), "--json", "--", q.Text)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct {
			Degraded string `json:"degraded"`
			Matches  []struct {
				Ref string `json:"ref"`
			} `json:"matches"`
		} `json:"result"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("question %s: %w", q.ID, err)
	}
	if answer.Result.Degraded != "" {
		return nil, fmt.Errorf("question %s: answered without the index: %s", q.ID, answer.Result.Degraded)
	}
	refs := []string{}
	for _, m := range answer.Result.Matches {
		refs = append(refs, m.Ref)
	}
	return refs, nil
}

// bench asks the same of the vaults that bench makes.
func (s *set) bench() (map[string][]string, error) {
	dump := filepath.Join(s.tmp, "ranked.jsonl")
	if _, err := s.run("bench", s.dir, "--vaults", filepath.Join(s.tmp, "bench"), "--dump", dump); err != nil {
		return nil, err
	}
	ranked := map[string][]string{}
	err := lines(dump, func(line []byte) error {
		var r struct {
			ID     string   `json:"query_id"`
			Ranked []string `json:"ranked"`
		}
		err := json.Unmarshal(line, &r)
		ranked[r.ID] = r.Ranked
		return err
	})
	return ranked, err
}

// lines calls f with every line of a file that is not blank.
func lines(name string, f func([]byte) error) (err error) {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	all := bufio.NewScanner(in)
	all.Buffer(nil, 64<<20)
	for all.Scan() {
		if line := bytes.TrimSpace(all.Bytes()); len(line) > 0 {
			if err := f(line); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return all.Err()
}

type measure struct {
	name string
	of   func(ranked, wanted []string) float64
}

func measures() []measure {
	out := []measure{}
	for _, k := range []int{1, 5, 10, 50} {
		out = append(out, measure{fmt.Sprintf("recall@%d", k), func(ranked, wanted []string) float64 {
			n := 0
			for _, id := range ranked[:min(k, len(ranked))] {
				if slices.Contains(wanted, id) {
					n++
				}
			}
			return float64(n) / float64(len(wanted))
		}})
	}
	return append(out, measure{"ndcg@10", ndcg}, measure{"mrr", func(ranked, wanted []string) float64 {
		for i, id := range ranked {
			if slices.Contains(wanted, id) {
				return 1 / float64(i+1)
			}
		}
		return 0
	}})
}

func ndcg(ranked, wanted []string) float64 {
	got, best := 0.0, 0.0
	for i := range 10 {
		gain := 1 / math.Log2(float64(i)+2)
		if i < len(ranked) && slices.Contains(wanted, ranked[i]) {
			got += gain
		}
		if i < len(wanted) {
			best += gain
		}
	}
	return got / best
}
