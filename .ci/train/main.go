// Command train fits the scorer of agent/encode to labelled sequences of memories and
// prints how it does on texts it was not fitted to. From the repository:
//
//	go run ./.ci/train -write agent/encode/weights.txt .ci/train/data/{dev,later,own,measured}.jsonl
//
// dev.jsonl, later.jsonl and measured.jsonl are by writers who had not seen the code; the last two
// were measured on before they were fitted to. The default of -rate makes a bound by which at most
// 5 of 100 items of these two together are falsely flagged, each by weights not fitted to it.
//
// With -remind it fits the model of agent/remind to prompts and what they need:
//
//	go run ./.ci/train -remind -l2 12 -rate 0.12 -write agent/remind/weights.txt .ci/train/data/recall-{dev,own}.jsonl
//
// Each FILE is a source of its own. "folds" are ten folds by item over all files;
// "across" fits all files but one and scores that one. Everything is deterministic.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/agent/encode"
)

// An item is one sequence: memories that are stored, then one more.
type item struct {
	ID    string
	Kind  string
	Lang  string
	Given []note
	New   note
	Want  struct {
		Keep, Gone         []string
		Certain, Duplicate bool
	} `json:"expect"`
	source int
}

type note struct{ Text, Scope string }

// A row is one clause of a stored memory beside the new one.
type row struct {
	item, memory int // memory counts over all items
	values       []float64
	gone         bool
	source       float64 // what it counts by who wrote it
	weight       float64 // what it counts at last
}

// unsureWeight is what a clause counts of which the writer of the item was not sure,
// othersWeight what one counts of a memory of another item.
const (
	unsureWeight = 0.1
	othersWeight = 0.3
	asideWeight  = 0.3 // what one counts that does not decide, see foremost
	rounds       = 3
	folds        = 10
)

type data struct {
	items []item
	rows  []row
	names []string
	files []string
}

func main() {
	write := flag.String("write", "", "write the weights to `FILE`")
	l2 := flag.Float64("l2", 40, "strength of the regularisation")
	rate := flag.Float64("rate", 0.03, "share of items falsely flagged that the bound may give")
	verbose := flag.Bool("v", false, "list what the shipped rules remove and merge")
	missed := flag.Int("missed", -1, "list the real changes of this fold that are not found")
	prompts := flag.Bool("remind", false, "fit the model of agent/remind")
	flag.Parse()
	if *prompts {
		if err := reminders(flag.Args(), *write, *l2, *rate, *verbose); err != nil {
			fmt.Fprintln(os.Stderr, "train:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(flag.Args(), *write, *l2, *rate, *missed, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(files []string, write string, l2 float64, rate float64, missed int, verbose bool) error {
	if len(files) == 0 {
		return errors.New("usage: train [-write FILE] FILE.jsonl...")
	}
	d := &data{files: files}
	for i, f := range files {
		items, err := read(f)
		if err != nil {
			return err
		}
		for _, it := range items {
			it.source = i
			d.items = append(d.items, it)
		}
	}
	d.play(verbose)
	d.build()
	fmt.Printf("%d items, %d clauses, %d features\n", len(d.items), len(d.rows), len(d.names))
	scores := d.crossed(l2, func(it int) int { return fold(d.items[it].ID) })
	d.table("folds", scores, -1)
	for i := range files {
		d.table("folds "+filepath.Base(files[i]), scores, i)
	}
	if len(files) > 1 {
		across := d.crossed(l2, func(it int) int { return d.items[it].source })
		for i := range files {
			d.table("across "+filepath.Base(files[i]), across, i)
		}
	}
	if missed >= 0 {
		d.list(scores, missed)
	}
	if write == "" {
		return nil
	}
	return d.write(write, scores, l2, rate)
}

func read(file string) ([]item, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []item
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, len(text)+1)
	for n := 1; s.Scan(); n++ {
		var it item
		if err := json.Unmarshal(s.Bytes(), &it); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		for _, piece := range slices.Concat(it.Want.Keep, it.Want.Gone) {
			if !slices.ContainsFunc(it.Given, func(g note) bool { return strings.Contains(g.Text, piece) }) {
				return nil, fmt.Errorf("%s:%d: no given text holds %q", file, n, piece)
			}
		}
		out = append(out, it)
	}
	return out, s.Err()
}

func fold(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % folds)
}

// build makes the rows: of every item each stored memory, and of others one for each.
func (d *data) build() {
	type job struct {
		it, memory int
		given      note
		own        bool
	}
	var jobs []job
	for i, it := range d.items {
		for _, g := range it.Given {
			jobs = append(jobs, job{i, len(jobs), g, true})
		}
		if len(it.Given) == 0 {
			continue
		}
		other := d.items[(i*7+11)%len(d.items)] // unrelated texts are not flagged
		jobs = append(jobs, job{i, len(jobs), other.Given[0], false})
	}
	rows := make([][]row, len(jobs))
	names := make([][]string, len(jobs))
	parallel(len(jobs), func(k int) {
		j := jobs[k]
		it := d.items[j.it]
		m := encode.Memory{Text: it.New.Text, Scope: it.New.Scope, Authority: encode.Statement}
		samples := encode.Samples(m, encode.Memory{ID: "old", Text: j.given.Text, Scope: j.given.Scope}, encode.Corpus{})
		gone := label(samples, j.given.Text, it.Want.Gone)
		for i, s := range samples {
			r := row{item: j.it, memory: j.memory, values: s.Values, gone: j.own && gone[i], weight: 1}
			if !j.own {
				r.weight = othersWeight
			} else if r.gone && !it.Want.Certain {
				r.weight = unsureWeight
			}
			r.source = r.weight
			rows[k] = append(rows[k], r)
			names[k] = s.Features
		}
	})
	for k := range rows {
		d.rows = append(d.rows, rows[k]...)
		if d.names == nil {
			d.names = names[k]
		}
	}
}

// label says which clauses of a stored text hold a piece that is gone.
func label(samples []encode.Sample, text string, gone []string) []bool {
	out := make([]bool, len(samples))
	best, most, some := -1, 0.0, false
	for _, piece := range gone {
		if !strings.Contains(text, piece) {
			continue
		}
		want := words(piece)
		for i, s := range samples {
			have := words(s.Clause)
			both := 0.0
			for _, w := range want {
				if slices.Contains(have, w) {
					both++
				}
			}
			share := both / float64(max(1, len(want)))
			if share >= 0.6 || strings.Contains(piece, s.Clause) {
				out[i], some = true, true
			}
			if share > most {
				best, most = i, share
			}
		}
	}
	if !some && best >= 0 {
		out[best] = true
	}
	return out
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// crossed scores every row by a model that was fitted without its group.
func (d *data) crossed(l2 float64, group func(item int) int) []float64 {
	out := make([]float64, len(d.rows))
	var groups []int
	for i := range d.items {
		if g := group(i); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	parallel(len(groups), func(k int) {
		g := groups[k]
		m := d.fit(l2, func(r row) bool { return group(r.item) != g })
		for i, r := range d.rows {
			if group(r.item) == g {
				out[i] = m.score(r.values)
			}
		}
	})
	return out
}

// A linear is a fitted model: weights of the raw values.
type linear struct {
	bias   float64
	weight []float64 // 0 for a feature that was dropped
}

func (m linear) score(values []float64) float64 {
	sum := m.bias
	for i, v := range values {
		sum += m.weight[i] * v
	}
	return sum
}

// fit standardises the features and fits them.
func (d *data) fit(l2 float64, use func(row) bool) linear {
	var rows []row
	for _, r := range d.rows {
		if use(r) {
			rows = append(rows, r)
		}
	}
	n := len(d.names)
	mean, dev := make([]float64, n), make([]float64, n)
	for k := range n {
		for _, r := range rows {
			mean[k] += r.values[k]
		}
		mean[k] /= float64(len(rows))
		for _, r := range rows {
			dev[k] += (r.values[k] - mean[k]) * (r.values[k] - mean[k])
		}
		dev[k] = math.Sqrt(dev[k] / float64(len(rows)))
	}
	var cols []int
	for k := range n {
		if dev[k] > 1e-6 {
			cols = append(cols, k)
		}
	}
	raw := func(w []float64) linear {
		m := linear{bias: w[len(cols)], weight: make([]float64, n)}
		for i, k := range cols {
			m.weight[k] = w[i] / dev[k]
			m.bias -= w[i] * mean[k] / dev[k]
		}
		return m
	}
	for range rounds {
		rows = foremost(rows, raw(newton(rows, cols, mean, dev, l2)))
	}
	return raw(newton(rows, cols, mean, dev, l2))
}

// foremost weighs rows by what decides: a memory is flagged by the clause that scores
// highest, so the others of it, and those that stay beside one that is gone, count less.
func foremost(rows []row, m linear) []row {
	top, gone := map[int]float64{}, map[int]bool{}
	for _, r := range rows {
		if t, ok := top[r.memory]; !ok || m.score(r.values) > t {
			top[r.memory] = m.score(r.values)
		}
		gone[r.memory] = gone[r.memory] || r.gone
	}
	out := slices.Clone(rows)
	for i, r := range out {
		out[i].weight = r.source
		if !r.gone && (gone[r.memory] || m.score(r.values) < top[r.memory]) {
			out[i].weight *= asideWeight
		}
	}
	return out
}

// newton fits a logistic regression; the last weight is the bias, which is not
// regularised.
func newton(rows []row, cols []int, mean, dev []float64, l2 float64) []float64 {
	n := len(cols) + 1
	x := make([][]float64, len(rows))
	for i, r := range rows {
		x[i] = make([]float64, n)
		for k, c := range cols {
			x[i][k] = (r.values[c] - mean[c]) / dev[c]
		}
		x[i][n-1] = 1
	}
	w := make([]float64, n)
	for range 12 {
		grad, hess := make([]float64, n), make([][]float64, n)
		for k := range hess {
			hess[k] = make([]float64, n)
		}
		for i, r := range rows {
			z := 0.0
			for k := range n {
				z += w[k] * x[i][k]
			}
			p := 1 / (1 + math.Exp(-z))
			y := 0.0
			if r.gone {
				y = 1
			}
			for k := range n {
				if x[i][k] == 0 {
					continue
				}
				grad[k] += r.weight * (p - y) * x[i][k]
				s := r.weight * p * (1 - p) * x[i][k]
				for j := range k + 1 {
					hess[k][j] += s * x[i][j]
				}
			}
		}
		for k := range n - 1 {
			grad[k] += l2 * w[k]
			hess[k][k] += l2
		}
		hess[n-1][n-1] += 1e-9
		step := solve(hess, grad)
		size := 0.0
		for k := range w {
			w[k] -= step[k]
			size = max(size, math.Abs(step[k]))
		}
		if size < 1e-5 {
			break
		}
	}
	return w
}

// solve finds h⁻¹ g for a positive definite h, given by its lower half.
func solve(h [][]float64, g []float64) []float64 {
	n := len(g)
	for i := range n {
		for j := range i + 1 {
			sum := h[i][j]
			for k := range j {
				sum -= h[i][k] * h[j][k]
			}
			if i == j {
				h[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				h[i][j] = sum / h[j][j]
			}
		}
	}
	x := slices.Clone(g)
	for i := range n {
		for k := range i {
			x[i] -= h[i][k] * x[k]
		}
		x[i] /= h[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= h[k][i] * x[k]
		}
		x[i] /= h[i][i]
	}
	return x
}

// judged is what the scores say of each item: the highest of its memories, and the
// lowest of those that hold something that is gone.
type judged struct{ top, found float64 }

func (d *data) judge(scores []float64) []judged {
	memory, gone := map[int]float64{}, map[int]bool{}
	of := map[int]int{}
	for i, r := range d.rows {
		if r.weight == othersWeight {
			continue
		}
		if s, ok := memory[r.memory]; !ok || scores[i] > s {
			memory[r.memory] = scores[i]
		}
		gone[r.memory] = gone[r.memory] || r.gone
		of[r.memory] = r.item
	}
	out := make([]judged, len(d.items))
	for i := range out {
		out[i] = judged{math.Inf(-1), math.Inf(1)}
	}
	for m, s := range memory {
		j := &out[of[m]]
		j.top = max(j.top, s)
		if gone[m] {
			j.found = min(j.found, s)
		}
	}
	return out
}

func (it item) stays() bool   { return len(it.Want.Gone) == 0 && !it.Want.Duplicate }
func (it item) changes() bool { return len(it.Want.Gone) > 0 && it.Want.Certain }
func (it item) unsure() bool  { return len(it.Want.Gone) > 0 && !it.Want.Certain }

// bound is the score above which a share of the items that stay is flagged.
func (d *data) bound(js []judged, source int, share float64) float64 {
	var tops []float64
	for i, it := range d.items {
		if it.stays() && (source < 0 || it.source == source) {
			tops = append(tops, js[i].top)
		}
	}
	slices.SortFunc(tops, func(a, b float64) int { return cmp.Compare(b, a) })
	return tops[int(share*float64(len(tops)))]
}

// table prints which share of the real changes is found at some shares of false flags.
func (d *data) table(name string, scores []float64, source int) {
	js := d.judge(scores)
	fmt.Printf("%-24s", name)
	for _, share := range []float64{.02, .05, .08} {
		at := d.bound(js, source, share)
		count := func(is func(item) bool) string {
			all, found := 0, 0
			for i, it := range d.items {
				if is(it) && (source < 0 || it.source == source) {
					all++
					if js[i].found > at {
						found++
					}
				}
			}
			return fmt.Sprintf("%d/%d %.3f", found, all, float64(found)/float64(max(all, 1)))
		}
		fmt.Printf("  %.0f%%: certain %s unsure %s", 100*share, count(item.changes), count(item.unsure))
	}
	fmt.Println()
}

// play lets the shipped rules decide each item and counts what becomes of its pieces.
// What it flags is judged by weights that were fitted to some of the items.
func (d *data) play(verbose bool) {
	for source := range d.files {
		count := map[string]int{}
		for _, it := range d.items {
			if it.source == source {
				for _, what := range it.outcome(verbose) {
					count[what]++
				}
			}
		}
		fmt.Printf("%-24s destroyed %d  swallowed %d  superseded %d, rightly %d of %d clauses  merged %d  flagged %d  found %d  archived %d\n", filepath.Base(d.files[source]),
			count["destroyed"], count["swallowed"], count["superseded"], count["right"], count["removed"], count["merged"], count["flagged"], count["found"], count["archived"])
	}
}

func (it item) outcome(verbose bool) (out []string) {
	var stored []encode.Memory
	for k, g := range it.Given {
		stored = append(stored, encode.Memory{ID: fmt.Sprint(k), Text: g.Text, Scope: g.Scope, Authority: encode.Statement})
	}
	m := encode.Memory{ID: "new", Text: it.New.Text, Scope: it.New.Scope, Authority: encode.Statement}
	plan := encode.Decide(m, stored, encode.Corpus{})
	say := func(what string, v encode.Verdict) {
		out = append(out, what)
		if verbose {
			fmt.Printf("%s %s by %s\n   %q\n   => %q\n", what, it.ID, v.Rule, v.Was, v.Said)
		}
	}
	if plan.Duplicate != nil {
		if it.Want.Duplicate {
			return []string{"merged"}
		}
		k := slices.IndexFunc(stored, func(m encode.Memory) bool { return m.ID == plan.Duplicate.Old })
		plan.Duplicate.Was, plan.Duplicate.Said = stored[k].Text, m.Text
		say("swallowed", *plan.Duplicate)
		return out
	}
	marked := map[string]bool{}
	live := m.Text + "\n"
	for _, s := range stored {
		rest := s.Text
		for _, v := range plan.Verdicts {
			switch {
			case v.Old != s.ID:
			case v.Kind == encode.Supersede:
				rest = v.Rest
				for _, clause := range v.Gone {
					out = append(out, "removed")
					if slices.ContainsFunc(it.Want.Gone, func(g string) bool { return strings.Contains(g, clause) || strings.Contains(clause, g) }) {
						out = append(out, "right")
					}
				}
				say("superseded", v)
			default:
				marked[s.ID] = true
			}
		}
		live += rest + "\n"
	}
	for _, piece := range it.Want.Keep {
		if !strings.Contains(live, piece) {
			say("destroyed", encode.Verdict{Was: piece, Said: m.Text})
			break
		}
	}
	switch found := true; {
	case it.stays():
		if len(marked) > 0 {
			out = append(out, "flagged")
		}
	case len(it.Want.Gone) > 0:
		for _, piece := range it.Want.Gone {
			k := slices.IndexFunc(stored, func(m encode.Memory) bool { return strings.Contains(m.Text, piece) })
			found = found && (marked[stored[k].ID] || !strings.Contains(live, piece))
			if it.unsure() && !strings.Contains(live, piece) {
				out = append(out, "archived")
			}
		}
		if found && it.changes() {
			out = append(out, "found")
		}
	}
	return out
}

func (d *data) list(scores []float64, which int) {
	js := d.judge(scores)
	at := d.bound(js, -1, .05)
	for i, it := range d.items {
		if fold(it.ID) != which {
			continue
		}
		var given []string
		for _, g := range it.Given {
			given = append(given, g.Text)
		}
		switch {
		case it.changes() && js[i].found <= at:
			fmt.Printf("missed %.2f %s\n   %s\n   => %s\n   gone %q\n", js[i].found-at, it.ID, strings.Join(given, " || "), it.New.Text, it.Want.Gone)
		case it.stays() && js[i].top > at:
			fmt.Printf("FALSE %.2f %s\n   %s\n   => %s\n", js[i].top-at, it.ID, strings.Join(given, " || "), it.New.Text)
		}
	}
}

// write fits all items, calibrates the scores of unseen items and writes both.
func (d *data) write(file string, unseen []float64, l2 float64, rate float64) error {
	m := d.fit(l2, func(row) bool { return true })
	slope, offset := d.calibrate(unseen)
	at := d.bound(d.judge(unseen), -1, rate)
	p := 1 / (1 + math.Exp(-(slope*at + offset)))
	for source, name := range d.files {
		var stay, wrong, change, found int
		for i, j := range d.judge(unseen) {
			switch it := d.items[i]; {
			case it.source != source:
			case it.stays():
				stay++
				if j.top > at {
					wrong++
				}
			case it.changes():
				change++
				if j.found > at {
					found++
				}
			}
		}
		fmt.Printf("at the bound %.3f: %s, falsely flagged %d of %d, found %d of %d\n", p, filepath.Base(name), wrong, stay, found, change)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Weights of the scorer, written by\n#\tgo run ./.ci/train -write %s %s\n", filepath.ToSlash(file), strings.Join(d.files, " "))
	fmt.Fprintf(&b, "# from %d items. Whoever adds or renames a feature trains again.\n", len(d.items))
	fmt.Fprintf(&b, "bias %.5f\nslope %.5f\noffset %.5f\nflag %.5f\n", m.bias, slope, offset, p)
	for k, w := range m.weight {
		if w != 0 {
			fmt.Fprintf(&b, "%s %.5f\n", d.names[k], w)
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// calibrate finds how scores of memories become probabilities.
func (d *data) calibrate(scores []float64) (slope, offset float64) {
	best, gone := map[int]float64{}, map[int]bool{}
	for i, r := range d.rows {
		if s, ok := best[r.memory]; !ok || scores[i] > s {
			best[r.memory] = scores[i]
		}
		gone[r.memory] = gone[r.memory] || r.gone
	}
	var rows []row
	for i, r := range d.rows {
		if i == 0 || d.rows[i-1].memory != r.memory {
			rows = append(rows, row{values: []float64{best[r.memory]}, gone: gone[r.memory], weight: 1})
		}
	}
	w := newton(rows, []int{0}, []float64{0}, []float64{1}, 1e-6)
	return w[0], w[1]
}
