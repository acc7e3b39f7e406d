// Command pairs counts which labelled pairs of sentences the rules of agent/encode
// call the same: the second is stored beside the first, without a model. Pairs in
// even lines and in odd lines are counted apart, so that rules can be worked out on
// the even ones and checked on the odd ones, and so is the other order. From the
// repository:
//
//	go run .ci/pairs/main.go PATH/pairs.jsonl
//
// Merged is what would not be stored a second time: a duplicate, and the text that
// says a little more and takes the place of the other. It exits 2 when a goal of the
// rules does not hold.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"stet/agent/encode"
)

func main() {
	verbose := flag.String("v", "", "print the pairs of this `LABEL` (same, paraphrase, differ, contradict) and what was said of each")
	half := flag.String("half", "", "print only those of this `HALF`: even or odd")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: pairs [-v LABEL] [-half even|odd] PATH/pairs.jsonl")
		os.Exit(1)
	}
	pairs, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
	if *verbose != "" {
		list(pairs, *verbose, *half)
	}
	if !report(pairs) {
		os.Exit(2)
	}
}

// A pair is one record of the data, with what the rules say of it.
type pair struct {
	ID    string `json:"pair_id"`
	A     string `json:"a"`
	B     string `json:"b"`
	Label string `json:"label"`

	half        string
	there, back string // the rule that merged b into a, and a into b; "" for none
	other       string // the verdict that merged nothing
}

func read(file string) ([]pair, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []pair
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		p.half = [...]string{"even", "odd"}[n%2]
		p.there, p.other = merged(p.A, p.B)
		p.back, _ = merged(p.B, p.A)
		out = append(out, p)
	}
	return out, lines.Err()
}

// merged is the rule that makes one text of two, and the one that says something
// else of them.
func merged(old, text string) (rule, other string) {
	plan := encode.Decide(encode.Memory{ID: "new", Text: text, Authority: encode.Statement}, []encode.Memory{{ID: "old", Text: old, Authority: encode.Statement}}, encode.Corpus{})
	if plan.Duplicate != nil {
		return plan.Duplicate.Rule, ""
	}
	for _, v := range plan.Verdicts {
		if v.Kind == encode.Supersede && v.Rest == "" && slices.Contains(sameRules, name(v.Rule)) {
			return v.Rule, ""
		}
		other = string(v.Kind) + " by " + v.Rule
	}
	return "", other
}

// sameRules may let a text take the place of one that says less.
var sameRules = []string{"near-text", "paraphrase"}

func name(rule string) string {
	name, _, _ := strings.Cut(rule, "@")
	return name
}

func list(pairs []pair, label, half string) {
	for _, p := range pairs {
		if p.Label != label || half != "" && p.half != half {
			continue
		}
		said := p.there
		if said == "" {
			said = "- " + p.other
		}
		fmt.Printf("%s %s\n  %s\n  %s\n", p.ID, said, p.A, p.B)
	}
}

// A goal bounds how much of a label may, or must, be merged.
type goal struct {
	label    string
	min, max float64
}

// A missed duplicate is stored twice; a wrong one loses what somebody said. So only the
// wrong ones are bounded.
var goals = []goal{{"same", 0, 1}, {"paraphrase", 0, 1}, {"differ", 0, 0}, {"contradict", 0, 0}}

func report(pairs []pair) bool {
	held := true
	fmt.Printf("%-12s %7s %7s %7s %7s %7s %7s %12s\n", "merged", "of", "number", "share", "even", "odd", "back", "either order")
	for _, g := range goals {
		var all, there, back, either int
		halves, sizes := map[string]int{}, map[string]int{}
		for _, p := range pairs {
			if p.Label != g.label {
				continue
			}
			all++
			sizes[p.half]++
			if p.there != "" {
				there++
				halves[p.half]++
			}
			if p.back != "" {
				back++
			}
			if p.there != "" || p.back != "" {
				either++
			}
		}
		share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
		ok := share(there, all) >= g.min && share(either, all) <= g.max
		held = held && ok
		fmt.Printf("%-12s %7d %7d %6.1f%% %6.1f%% %6.1f%% %7d %12d %s\n", g.label, all, there, 100*share(there, all),
			100*share(halves["even"], sizes["even"]), 100*share(halves["odd"], sizes["odd"]), back, either, map[bool]string{true: "", false: "misses the goal"}[ok])
	}
	return held
}
