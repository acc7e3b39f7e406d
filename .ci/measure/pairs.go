package main

import (
	"flag"
	"fmt"

	"stet/agent/encode"
)

// pairs counts which labelled pairs of sentences the rules of agent/encode merge: the second
// is stored beside the first, without a model, and is a duplicate of it. A missed
// duplicate is stored twice, a wrong one loses what somebody said: so the bound is that none
// is merged that differs or contradicts. Pairs in even and in odd lines are counted apart, so
// that rules can be worked out on the even ones and checked on the odd ones, and so is the
// other order.
func pairs(flags *flag.FlagSet, args []string, _ string) error {
	verbose := flags.String("v", "", "print the pairs of this `LABEL` (same, paraphrase, differ, contradict) and what was said of each")
	flags.Parse(args)
	list, err := lines[struct {
		ID          string `json:"pair_id"`
		A, B, Label string
	}](flags.Arg(0))
	if err != nil {
		return err
	}
	count := map[string]int{} // by label and what is counted
	for i, p := range list {
		half := [...]string{"odd", "even"}[i%2]
		there, said := merged(p.A, p.B)
		back, _ := merged(p.B, p.A)
		for what, is := range map[string]bool{"": true, half: true, "there": there, "there " + half: there, "back": back, "either": there || back} {
			if is {
				count[p.Label+" "+what]++
			}
		}
		if p.Label == *verbose {
			fmt.Printf("%s %s %s\n  %s\n  %s\n", p.ID, half, said, p.A, p.B)
		}
	}
	fmt.Printf("%-12s %7s %7s %7s %7s %7s %12s\n", "merged", "of", "number", "even", "odd", "back", "either order")
	for _, label := range []string{"same", "paraphrase", "differ", "contradict"} {
		n := func(what string) int { return count[label+" "+what] }
		share := func(half string) float64 { return 100 * float64(n("there "+half)) / float64(max(n(half), 1)) }
		fmt.Printf("%-12s %7d %7d %6.1f%% %6.1f%% %7d %12d\n", label, n(""), n("there"), share("even"), share("odd"), n("back"), n("either"))
	}
	if count["differ either"]+count["contradict either"] > 0 {
		return fmt.Errorf("%w: of pairs that differ or contradict none may be merged", errMissed)
	}
	return nil
}

// merged reports whether the second text would not be stored, and what the rules say.
func merged(old, text string) (is bool, said string) {
	plan := encode.Decide(encode.Memory{ID: "new", Text: text, Authority: encode.Statement},
		[]encode.Memory{{ID: "old", Text: old, Authority: encode.Statement}}, encode.Corpus{})
	for _, v := range plan.Verdicts {
		said += fmt.Sprintf("%s by %s ", v.Kind, v.Rule)
	}
	if plan.Duplicate != nil {
		said = plan.Duplicate.Rule
	}
	return plan.Duplicate != nil, said
}
