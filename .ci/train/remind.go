package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"stet/agent/remind"
	"stet/index/document"
)

// A prompt and what it needs of the notes in the vault beside it.
type prompt struct {
	ID, Prompt string
	Need       []string
	source     int
}

// candidates bounds the notes that are looked at for one prompt, as a search bounds them.
const candidates = 24

// shares are the shares of the prompts that need nothing for which something may be shown.
func shares() []float64 { return []float64{.02, .05, .10, .15} }

// reminders fits the model of agent/remind to files recall-NAME.jsonl with prompts, each with its notes beside it
// in vault-NAME.jsonl.
func reminders(files []string, write string, l2, rate float64) error {
	d := &data{files: files}
	var prompts []prompt
	for source, file := range files {
		asked, err := lines[prompt](file)
		if err != nil {
			return err
		}
		stored, err := lines[struct{ ID, Text string }](filepath.Join(filepath.Dir(file),
			strings.Replace(filepath.Base(file), "recall-", "vault-", 1)))
		if err != nil {
			return err
		}
		lang, err := document.LanguageOf("")
		if err != nil {
			return err
		}
		r := remind.NewReader(lang)
		var memories []*remind.Memory
		counts := remind.Counts{Files: len(stored), Having: map[string]int{}}
		for _, n := range stored {
			m := r.Memory("", n.Text)
			memories = append(memories, m)
			for _, s := range m.Stems() {
				counts.Having[s]++
			}
		}
		for _, p := range asked {
			p.source = source
			read := r.Prompt(p.Prompt)
			found := near(r, read, memories, counts)
			var list []*remind.Memory
			for _, k := range found {
				list = append(list, memories[k])
			}
			names, values := remind.Samples(read, list, counts)
			if len(names) > 0 {
				d.names = names
			}
			for i, k := range found {
				d.rows = append(d.rows, row{item: len(prompts), memory: len(prompts), values: values[i],
					gone: slices.Contains(p.Need, stored[k].ID), source: 1, weight: 1})
			}
			prompts = append(prompts, p)
		}
	}
	fmt.Printf("%d prompts, %d pairs, %d features\n", len(prompts), len(d.rows), len(d.names))
	var unseen []float64
	total := make([]float64, len(shares()))
	const times = 10
	for seed := range times {
		unseen = d.crossed(l2, func(r row) int { return fold(fmt.Sprintf("%d %s %d", seed, prompts[r.item].ID, seed)) })
		for i, share := range shares() {
			found, _ := d.recalled(prompts, unseen, share, -1)
			total[i] += found / times
		}
	}
	fmt.Print("folds, the mean of ten divisions: ")
	for i, share := range shares() {
		fmt.Printf("  %.0f%%: %.3f", 100*share, total[i])
	}
	fmt.Println()
	if len(files) > 1 {
		across := d.crossed(l2, func(r row) int { return prompts[r.item].source })
		for source, file := range files {
			for name, scores := range map[string][]float64{"folds": unseen, "across": across} {
				fmt.Printf("%-7s %-24s", name, filepath.Base(file))
				for _, share := range shares() {
					found, _ := d.recalled(prompts, scores, share, source)
					fmt.Printf("  %.0f%%: %.3f", 100*share, found)
				}
				fmt.Println()
			}
		}
	}
	if write == "" {
		return nil
	}
	m := d.fit(l2, func(row) bool { return true })
	_, bound := d.recalled(prompts, unseen, rate, -1)
	head := fmt.Sprintf("# Weights of the model, written by\n#\tgo run ./.ci/train -remind -l2 %g -rate %g -write %s %s\n"+
		"# from %d prompts. %s\nleast %.5f\nbias %.5f\n", l2, rate, filepath.ToSlash(write), strings.Join(files, " "), len(prompts), again,
		probability(bound), m.bias)
	return d.write(write, head, m)
}

// near are the notes that share the rarest words with a prompt.
func near(r *remind.Reader, p *remind.Prompt, all []*remind.Memory, c remind.Counts) []int {
	var out []int
	for _, query := range p.Queries(c) {
		var found []int
		score := make([]float64, len(all))
		asked := r.Memory("", query).Stems()
		for k, m := range all {
			for _, s := range m.Stems() {
				if slices.Contains(asked, s) {
					score[k] += math.Log(float64(c.Files+1) / (float64(c.Having[s]) + .5))
				}
			}
			if score[k] > 0 {
				found = append(found, k)
			}
		}
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
		for _, k := range found[:min(len(found), candidates)] {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}

// best are the rows of each prompt, the likeliest first.
func (d *data) best(prompts []prompt, scores []float64) [][]int {
	out := make([][]int, len(prompts))
	for k, r := range d.rows {
		out[r.item] = append(out[r.item], k)
	}
	for _, rows := range out {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	return out
}

// recalled is the share of prompts with a needed note among the three that are likeliest and score above the bound
// at which something is shown for a share of the prompts that need nothing.
func (d *data) recalled(prompts []prompt, scores []float64, share float64, source int) (found, bound float64) {
	best := d.best(prompts, scores)
	var tops []float64
	needing := 0.0
	for k, p := range prompts {
		switch {
		case source >= 0 && p.source != source:
		case len(p.Need) > 0:
			needing++
		case len(best[k]) > 0:
			tops = append(tops, scores[best[k][0]])
		default:
			tops = append(tops, math.Inf(-1))
		}
	}
	slices.SortFunc(tops, func(a, b float64) int { return cmp.Compare(b, a) })
	bound = tops[int(share*float64(len(tops))+1e-9)]
	for k, p := range prompts {
		if source >= 0 && p.source != source {
			continue
		}
		if slices.ContainsFunc(chosen(best[k], scores, bound), func(r int) bool { return d.rows[r].gone }) {
			found++
		}
	}
	return found / needing, bound
}

// chosen are the rows of a prompt that are shown.
func chosen(rows []int, scores []float64, bound float64) (out []int) {
	var needs []float64
	for _, r := range rows {
		needs = append(needs, probability(scores[r]))
	}
	for _, i := range remind.Choose(needs, probability(bound)) {
		if scores[rows[0]] > bound {
			out = append(out, rows[i])
		}
	}
	return out
}
