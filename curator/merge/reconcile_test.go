package merge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stet/curator/fork"
	"stet/curator/merge"
)

// oracle is what DESIGN.md says of the five rules, written without looking at Reconcile.
func oracle(declared *string, inBlock, pruned string, seen string, exists map[string]bool) (into, source string) {
	if declared != nil && (*declared == "" || exists[*declared]) {
		return *declared, merge.Declared
	}
	if inBlock != "" && exists[inBlock] {
		return inBlock, merge.ByModel
	}
	if seen != "" {
		return seen, merge.ByAudit
	}
	if pruned != "" && inBlock == "" {
		return "", merge.ByModel
	}
	return "", merge.NoEvidence
}

// Every rule, every pair of rules and every other combination of what is known of a removal.
func TestTheFirstRuleThatFitsCounts(t *testing.T) {
	t.Parallel()
	exists := map[string]bool{"u": true, "v": true, "w": true}
	none, u, gone := "", "u", "gone"
	n := 0
	for _, declared := range []*string{nil, &none, &u, &gone} {
		for _, inBlock := range []string{"", "v", "nowhere"} {
			for _, pruned := range []string{"", "a"} {
				for _, seen := range []string{"", "w"} {
					said := map[string]fork.Removal{}
					if declared != nil {
						said["a"] = fork.Removal{Name: "a", Into: *declared, Reason: "said"}
					}
					var block merge.Block
					if inBlock != "" {
						block.Consolidations = []merge.Consolidation{{From: "a", Into: inBlock, Reason: "block"}}
					}
					if pruned != "" {
						block.Prunings = []merge.Pruning{{Name: "a", Reason: "pruned"}}
					}
					shown := map[string]merge.Evidence{}
					if seen != "" {
						shown["a"] = merge.Evidence{Into: seen, Text: "call"}
					}
					into, source := oracle(declared, inBlock, pruned, seen, exists)
					c, p := merge.Reconcile([]string{"a"}, shown, block, exists, said)
					n++
					if len(c)+len(p) != 1 || (into != "") != (len(c) == 1) {
						t.Fatalf("%v %q %q %q: %+v, %+v", declared, inBlock, pruned, seen, c, p)
					}
					got := append(c, p...)[0]
					lie := declared == &gone || source != merge.Declared && inBlock == "nowhere"
					if got.Into != into || got.Source != source || got.Hallucinated != lie ||
						lie != (got.Claimed != "") {
						t.Errorf("%v %q %q %q: %+v, want into %q by %s, hallucinated %v", declared, inBlock, pruned,
							seen, got, into, source, lie)
					}
				}
			}
		}
	}
	if n != 4*3*2*2 {
		t.Fatal(n)
	}
}

// A call that names the umbrella and no reason has the one that the block gives for the same umbrella.
func TestTheReasonMayStandInTheBlock(t *testing.T) {
	t.Parallel()
	block := merge.Block{Consolidations: []merge.Consolidation{{From: "a", Into: "u", Reason: "block"},
		{From: "b", Into: "v", Reason: "of another"}, {From: "c", Into: "u", Reason: "block"}}}
	got, _ := merge.Reconcile([]string{"a", "b", "c"}, nil, block, map[string]bool{"u": true, "v": true},
		map[string]fork.Removal{"a": {Into: "u"}, "b": {Into: "u"}, "c": {Into: "u", Reason: "call"}})
	if len(got) != 3 || got[0].Reason != "block" || got[1].Reason != "" || got[2].Reason != "call" {
		t.Errorf("%+v", got)
	}
}

func TestEvidenceIsOfWholeArguments(t *testing.T) {
	t.Parallel()
	call := func(args string) fork.Call { return fork.NewCall("skill", args) }
	long := strings.Repeat("x ", 5000)
	for _, c := range []struct{ args, into string }{
		{`{"action":"edit","name":"git","text":"` + long + `see git-rebase here"}`, "git"},
		{`{"action":"patch","name":"git","old":"git-rebase","new":"more"}`, ""},
		{`{"action":"patch","name":"git","old":"x","new":"Git_Rebase!"}`, "git"},
		{`{"action":"write_file","name":"git","file":"references/git-rebase.md","text":"t"}`, "git"},
		{`{"action":"write_file","name":"git","file":"references/my-git-rebase.md","text":"t"}`, ""},
		{`{"action":"copy_file","name":"git-rebase","file":"a.sh","into":"git"}`, "git"},
		{`{"action":"edit","name":"git","text":"old-git-rebase, git-rebased"}`, ""},
		{`{"action":"edit","name":"git-rebase","text":"git-rebase"}`, ""},
		{`{"action":"edit","name":"nowhere","text":"git-rebase"}`, ""},
		{`{"action":"view","name":"git","text":"git-rebase"}`, ""},
		{`{"action":"edit"`, ""},
	} {
		got := merge.Heuristic([]string{"git-rebase"}, []fork.Call{call(c.args)}, map[string]bool{"git": true})
		if got["git-rebase"].Into != c.into {
			t.Errorf("%.80s: %+v", c.args, got)
		}
	}
	for text, want := range map[string]string{
		"# T\n\nUse `Git_Rebase`  for\tthis: [D](D.md).\nMore.": "edit: Use `Git_Rebase` for this: [D](D.md).",
		strings.Repeat("Ab ", 900) + "Git-Rebase":               "edit: … " + strings.Repeat("Ab ", 130) + "Git-Rebase",
	} {
		args, _ := json.Marshal(map[string]string{"action": "edit", "name": "git", "text": text})
		got := merge.Heuristic([]string{"git-rebase"}, []fork.Call{call(string(args))}, map[string]bool{"git": true})
		if got["git-rebase"].Text != want {
			t.Errorf("the evidence is %q", got["git-rebase"].Text)
		}
	}
	refused := call(`{"action":"edit","name":"git","text":"git-rebase"}`)
	refused.Error = "no"
	got := merge.Heuristic([]string{"git-rebase"}, []fork.Call{refused}, map[string]bool{"git": true})
	if len(got) > 0 {
		t.Errorf("a call that was refused shows %+v", got)
	}
}

func TestTheBlockAtTheEnd(t *testing.T) {
	t.Parallel()
	const good = "consolidations:\n  - {from: a, into: u, reason: one}\nprunings: []\n"
	for _, c := range []struct{ text, problem string }{
		{"Done.\n\n```yaml\n" + good + "```\n", ""},
		{"```\nplain\n```\n~~~ YML\n" + good + "~~~", ""},
		{"````yaml\n" + good + "```\n````", "cannot be read"},
		{"no block", "no block"},
		{"```yaml\n" + good + "```\n\n```yaml\n" + good + "```", "2 blocks"},
		{"```yaml\nconsolidations: [{from: a", "not closed"},
		{"```yaml\nconsolidations: [{from: a\n```", "cannot be read"},
		{"```yaml\nconsolidations: 7\n```", "cannot be read"},
		{"```yaml\n" + strings.Repeat("#", 2<<20) + "\n```", "too long"},
	} {
		got := merge.ParseBlock(c.text)
		if (got.Problem == "") != (c.problem == "") || !strings.Contains(got.Problem, c.problem) {
			t.Errorf("%.60q: %+v", c.text, got)
		}
		if want := "[{a u one}]"; got.Problem == "" && fmt.Sprint(got.Consolidations) != want {
			t.Errorf("%.60q: %v", c.text, got.Consolidations)
		}
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1,
			c-1, c-1)
	}
	if got := merge.ParseBlock("```yaml\n" + bomb + "prunings: *k\n```"); got.Problem == "" {
		t.Error("a bomb was read")
	}
}
