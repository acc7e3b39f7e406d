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
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
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
	prompts := flag.Bool("remind", false, "fit the model of agent/remind")
	flag.Parse()
	fit := items
	if *prompts {
		fit = reminders
	}
	err := errors.New("usage: train [-remind] [-l2 N] [-rate SHARE] [-write FILE] FILE.jsonl...")
	if flag.NArg() > 0 {
		err = fit(flag.Args(), *write, *l2, *rate)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// items fits the scorer of agent/encode.
func items(files []string, write string, l2, rate float64) error {
	d := &data{files: files}
	for i, f := range files {
		list, err := lines[item](f)
		if err != nil {
			return err
		}
		for n, it := range list {
			for _, piece := range slices.Concat(it.Want.Keep, it.Want.Gone) {
				if !slices.ContainsFunc(it.Given, func(g note) bool { return strings.Contains(g.Text, piece) }) {
					return fmt.Errorf("%s:%d: no given text holds %q", f, n+1, piece)
				}
			}
			it.source = i
			d.items = append(d.items, it)
		}
	}
	d.play()
	d.build()
	fmt.Printf("%d items, %d clauses, %d features\n", len(d.items), len(d.rows), len(d.names))
	scores := d.crossed(l2, func(r row) int { return fold(d.items[r.item].ID) })
	d.table("folds", scores, -1)
	for i, f := range files {
		d.table("folds "+filepath.Base(f), scores, i)
	}
	if len(files) > 1 {
		across := d.crossed(l2, func(r row) int { return d.items[r.item].source })
		for i, f := range files {
			d.table("across "+filepath.Base(f), across, i)
		}
	}
	if write == "" {
		return nil
	}
	m, js := d.fit(l2, func(row) bool { return true }), d.judge(scores)
	slope, offset := d.calibrate(scores)
	at := d.bound(js, -1, rate)
	p := probability(slope*at + offset)
	for i, f := range files {
		wrong, stay := d.count(js, i, at, item.stays)
		found, change := d.count(js, i, at, item.changes)
		fmt.Printf("at the bound %.3f: %s, falsely flagged %d of %d, found %d of %d\n", p, filepath.Base(f), wrong, stay, found, change)
	}
	head := fmt.Sprintf("# Weights of the scorer, written by\n#\tgo run ./.ci/train -write %s %s\n# from %d items. %s\n"+
		"bias %.5f\nslope %.5f\noffset %.5f\nflag %.5f\n", filepath.ToSlash(write), strings.Join(files, " "), len(d.items), again,
		m.bias, slope, offset, p)
	return d.write(write, head, m)
}

const again = "Whoever adds or renames a feature trains again."

// write writes the weights of a model behind their head.
func (d *data) write(file, head string, m linear) error {
	for k, w := range m.weight {
		if w != 0 {
			head += fmt.Sprintf("%s %.5f\n", d.names[k], w)
		}
	}
	return os.WriteFile(file, []byte(head), 0o644)
}

// lines reads a file of JSON lines.
func lines[T any](file string) ([]T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []T
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var one T
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %d records read: %w", file, len(out), err)
		}
		out = append(out, one)
	}
}

// fold is one of ten, by a name.
func fold(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % folds)
}

func probability(score float64) float64 { return 1 / (1 + math.Exp(-score)) }

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
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

// crossed scores every row by a model that was fitted without its group.
func (d *data) crossed(l2 float64, group func(row) int) []float64 {
	out, of := make([]float64, len(d.rows)), map[int][]int{}
	for i, r := range d.rows {
		of[group(r)] = append(of[group(r)], i)
	}
	groups := slices.Collect(maps.Keys(of))
	parallel(len(groups), func(k int) {
		m := d.fit(l2, func(r row) bool { return group(r) != groups[k] })
		for _, i := range of[groups[k]] {
			out[i] = m.score(d.rows[i].values)
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
			p := probability(z)
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
		sure, certain := d.count(js, source, at, item.changes)
		open, unsure := d.count(js, source, at, item.unsure)
		fmt.Printf("  %.0f%%: certain %d/%d %.3f unsure %d/%d", 100*share, sure, certain, float64(sure)/float64(max(certain, 1)), open, unsure)
	}
	fmt.Println()
}

// count counts the items of a kind and a source, of all sources for -1, and those that are flagged above a bound.
func (d *data) count(js []judged, source int, at float64, is func(item) bool) (flagged, all int) {
	for i, it := range d.items {
		if !is(it) || source >= 0 && it.source != source {
			continue
		}
		all++
		if it.stays() && js[i].top > at || !it.stays() && js[i].found > at {
			flagged++
		}
	}
	return flagged, all
}

// play lets the shipped rules decide each item and counts what becomes of its pieces.
// What it flags is judged by weights that were fitted to some of the items.
func (d *data) play() {
	for source, file := range d.files {
		count := map[string]int{}
		for _, it := range d.items {
			if it.source == source {
				for _, what := range it.outcome() {
					count[what]++
				}
			}
		}
		fmt.Printf("%-24s", filepath.Base(file))
		for _, what := range []string{"destroyed", "swallowed", "superseded", "removed", "right", "merged", "flagged", "found", "archived"} {
			fmt.Printf(" %s %d ", what, count[what])
		}
		fmt.Println()
	}
}

// outcome is what becomes of the pieces of an item; clauses that are removed, and rightly, count each.
func (it item) outcome() (out []string) {
	var stored []encode.Memory
	for k, g := range it.Given {
		stored = append(stored, encode.Memory{ID: fmt.Sprint(k), Text: g.Text, Scope: g.Scope, Authority: encode.Statement})
	}
	m := encode.Memory{ID: "new", Text: it.New.Text, Scope: it.New.Scope, Authority: encode.Statement}
	plan := encode.Decide(m, stored, encode.Corpus{})
	if plan.Duplicate != nil {
		if it.Want.Duplicate {
			return []string{"merged"}
		}
		return []string{"swallowed"}
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
				out = append(out, "superseded")
			default:
				marked[s.ID] = true
			}
		}
		live += rest + "\n"
	}
	for _, piece := range it.Want.Keep {
		if !strings.Contains(live, piece) {
			out = append(out, "destroyed")
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
