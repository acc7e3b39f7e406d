package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/vault"
)

// answers is how many messages an answer holds: what the data sets compare.
const answers = 100

func benchCommand() *console.Command {
	return &console.Command{
		Name: "bench", Group: console.Upkeep, Hidden: true,
		Summary: "measure how well search finds, on a data set",
		Args:    "DIR", MinArgs: 1, MaxArgs: 1,
		Details: `DIR, or each folder in it, holds docs.jsonl (coll, session, id, date, speaker, text, caption:
			one turn a line, in order), queries.jsonl (query_id, coll, question) and gold.jsonl (query_id, type,
			answerable, gold_ids, gold_sessions). Each collection becomes a vault of its own, made of transcripts,
			and every question is asked as stet search asks it. recall@k is the share of the known turns among the
			first k, mrr one through the rank of the first, any@k and all@k whether one or all of them are there;
			session counts conversations.`,
		Examples: `stet bench data/retrieval  # every set in it, in vaults that are thrown away
			stet bench data/retrieval --vaults ~/tmp/bench  # keep the vaults, and use them the next time
			stet bench data/retrieval/locomo --types --dump ranked.jsonl  # by kind of question, with the rankings`,
		Flags: console.Flags(
			console.Text("dump", "write {query_id, ranked} of every question to `FILE`, one a line"),
			console.Text("vaults", "make the vaults in `DIR` and keep them; those that are there are used"),
			console.Bool("types", "show every type of question by itself"),
		),
		Run: run,
	}
}

// A report is what bench prints under --json.
type report struct {
	Sets []setReport `json:"sets"`
}

type setReport struct {
	Set       string      `json:"set"`
	Questions int         `json:"questions"`
	Empty     int         `json:"empty"`    // questions answered with nothing
	Degraded  int         `json:"degraded"` // answered without the index
	P50MS     float64     `json:"p50_ms"`
	P99MS     float64     `json:"p99_ms"`
	Rows      []rowReport `json:"rows"`
}

type rowReport struct {
	Level string `json:"level"`
	Type  string `json:"type"` // "" is all of them
	N     int    `json:"n"`
	mark
}

// A ranking is the answer to one question.
type ranking struct {
	ID     string   `json:"query_id"`
	Ranked []string `json:"ranked"`
}

func run(ctx context.Context, e *console.Env, in *console.Input) (err error) {
	sets, err := readSets(e.Abs(in.Words[0]))
	if err != nil {
		return vault.WithHint(fmt.Errorf("read data set: %w", err), `the files are described in "stet bench --help"`)
	}
	dir := in.String("vaults")
	if dir != "" {
		dir = e.Abs(dir)
		if err := e.CheckOverwrite(e.By(in), dir); err != nil {
			return err
		}
	} else {
		if dir, err = os.MkdirTemp("", "stet-bench-"); err != nil {
			return err
		}
		defer func() {
			e.Busy.Store(true)
			err = errors.Join(err, os.RemoveAll(dir))
		}()
	}
	out := report{Sets: []setReport{}}
	var dump bytes.Buffer
	for _, s := range sets {
		r, ranked, err := s.measure(ctx, e, filepath.Join(dir, s.name))
		if err != nil {
			return err
		}
		r.Rows = s.rows(ranked, in.Bool("types"))
		out.Sets = append(out.Sets, *r)
		lines := json.NewEncoder(&dump)
		for _, a := range ranked {
			if err := lines.Encode(a); err != nil {
				return err
			}
		}
	}
	if name := in.String("dump"); name != "" {
		if err := e.ReplaceFile(e.By(in), e.Abs(name), dump.Bytes()); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return e.Show(out, func(p *console.Printer) { print(p, out) })
}

// measure asks every question of its collection.
func (s *set) measure(ctx context.Context, e *console.Env, dir string) (*setReport, []ranking, error) {
	turns := map[string][]turn{}
	var colls []string
	for _, t := range s.turns {
		if turns[t.Coll] == nil {
			colls = append(colls, t.Coll)
		}
		turns[t.Coll] = append(turns[t.Coll], t)
	}
	r := &setReport{Set: s.name, Questions: len(s.questions)}
	var ranked []ranking
	var took []time.Duration
	for _, name := range colls {
		c, err := open(ctx, e, dir, name, turns[name])
		if err != nil {
			return nil, nil, err
		}
		some, times, err := c.ask(ctx, r, s.questions)
		if err := errors.Join(err, c.close()); err != nil {
			return nil, nil, err
		}
		ranked, took = append(ranked, some...), append(took, times...)
	}
	slices.Sort(took)
	if n := len(took); n > 0 {
		r.P50MS, r.P99MS = milliseconds(took[n/2]), milliseconds(took[min(n-1, n*99/100)])
	}
	return r, ranked, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ask asks the questions about this collection.
func (c *collection) ask(
	ctx context.Context, r *setReport, questions []question,
) (out []ranking, took []time.Duration, err error) {
	if _, err := c.index.CatchUp(ctx); err != nil {
		return nil, nil, err
	}
	for _, q := range questions {
		if q.Coll != c.name {
			continue
		}
		res, err := c.index.Search(ctx,
			index.Query{Text: q.Text, Limit: answers, Class: []vault.Class{vault.ClassSession}})
		if err != nil {
			return nil, nil, fmt.Errorf("question %s: %w", q.ID, err)
		}
		a := ranking{ID: q.ID, Ranked: []string{}}
		for _, h := range res.Hits {
			a.Ranked = append(a.Ranked, h.Ref)
		}
		if len(res.Hits) == 0 {
			r.Empty++
		}
		if res.Degraded != "" {
			r.Degraded++
		}
		out, took = append(out, a), append(took, res.Took)
	}
	return out, took, nil
}

// rows compares the answers with the gold, at every level that the set has.
func (s *set) rows(ranked []ranking, types bool) []rowReport {
	session := map[string]string{}
	for _, t := range s.turns {
		session[t.ID] = t.Session
	}
	by := map[string][]string{}
	for _, a := range ranked {
		by[a.ID] = a.Ranked
	}
	out := []rowReport{}
	for _, level := range []string{levelTurn, levelSession, levelUser} {
		marks := map[string][]mark{}
		var names []string
		for _, q := range s.questions {
			g, known := s.gold[q.ID]
			targets := g.targets(level)
			if !known || !g.counts() || len(targets) == 0 {
				continue
			}
			found := by[q.ID]
			if level != levelTurn {
				found = sessionsOf(found, session)
			}
			m := score(found, targets, level)
			if marks[g.Type] == nil {
				names = append(names, g.Type)
			}
			marks[""] = append(marks[""], m)
			marks[g.Type] = append(marks[g.Type], m)
		}
		if len(marks[""]) == 0 {
			continue
		}
		out = append(out, rowReport{level, "", len(marks[""]), mean(marks[""])})
		if types {
			slices.Sort(names)
			for _, name := range names {
				out = append(out, rowReport{level, name, len(marks[name]), mean(marks[name])})
			}
		}
	}
	return out
}

// sessionsOf is the sessions of turns, each at the rank of its first turn.
func sessionsOf(ids []string, session map[string]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, id := range ids {
		if s := session[id]; s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func print(w *console.Printer, out report) {
	for _, s := range out.Sets {
		w.Printf("%s  %s, %d answered with nothing, p50 %.1f ms, p99 %.1f ms\n", console.Line1(s.Set),
			agent.Plural(s.Questions, "question"), s.Empty, s.P50MS, s.P99MS)
		if s.Degraded > 0 {
			w.Printf("  %d answered without the index\n", s.Degraded)
		}
		w.Printf("  %-30s %5s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "n", "recall@1", "@5", "@10", "@50", "any@5",
			"all@10", "ndcg@10", "mrr")
		for _, r := range s.Rows {
			name := r.Level
			if r.Type != "" {
				name = "  " + r.Type
			}
			w.Printf("  %-30s %5d %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f\n",
				console.Line1(name), r.N, r.Recall1, r.Recall5, r.Recall10, r.Recall50, r.Any5, r.All10, r.NDCG10,
				r.MRR)
		}
	}
}
