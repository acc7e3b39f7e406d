package curator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stet/agent"
	"stet/curator/fork"
	"stet/curator/merge"
	"stet/templates"
	"stet/vault"
	"stet/vault/skill"
)

// maxSummary is how much of what a model said is its summary, in characters.
const maxSummary = 240

// asked notes who was asked, what it said and what that cost.
func (r *Report) asked(result fork.Result, failed error) {
	r.Model, r.Provider, r.TokenUsage, r.Cost = result.Model, result.Provider, result.Usage, result.Cost
	r.Counts.Requests = result.Rounds
	r.LLMFinal = strings.ToValidUTF8(result.Final, "�")
	text, _, _ := strings.Cut(r.LLMFinal, "\n```")
	r.LLMSummary = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(r.LLMSummary) > maxSummary {
		r.LLMSummary = string([]rune(r.LLMSummary)[:maxSummary-1]) + "…"
	}
	if r.LLMError = result.Error; failed != nil {
		r.LLMError = failed.Error()
	}
}

// recoverMerge notes which skills became one in a commit of a run that could not report it.
func (r *Report) recoverMerge(view *vault.Snapshot, c vault.Commit) error {
	reasons := c.Trailers.All("Stet-Reason")
	names := c.Trailers.All("Supersedes")
	for i, name := range names {
		a := Absorbed{Verdict: merge.Verdict{Applied: true, Class: merge.Class{Name: name, Source: "the commit",
			Into: c.Trailers.Get("Stet-Absorbed-Into")}}, Commit: c.Rev}
		if len(reasons) == len(names) { // else nobody knows which is whose
			a.Reason = reasons[i]
		}
		for _, ch := range c.Changes {
			if vault.ClassOf(ch.Path) != vault.ClassArchive || ch.Path.Base() != skill.File {
				continue
			}
			data, _, err := view.Read(ch.Path)
			if err != nil {
				return err
			}
			if s, _ := skill.Parse(vault.Path(ch.Path.Dir()), data); s.Name == name {
				a.From, a.To = vault.Path(ch.From.Dir()), s.Folder
			}
		}
		r.Consolidated = append(r.Consolidated, a)
		r.Counts.Consolidated++
		r.Counts.Archived++
	}
	return nil
}

// redact leaves out which words of a model look like secrets.
func (r *Report) redact(v *vault.Vault) {
	const out = "(left out: it looks like a secret)"
	clean := func(texts ...*string) {
		for _, s := range texts {
			if len(v.Secrets(r.Path(), []byte(*s))) > 0 {
				*s = out
			}
		}
	}
	clean(&r.LLMFinal, &r.LLMSummary, &r.LLMError)
	for i, c := range r.ToolCalls {
		if len(v.Secrets(r.Path(), c.Arguments)) > 0 {
			c.Arguments = json.RawMessage(strconv.Quote(out))
		}
		clean(&c.Name, &c.Error)
		r.ToolCalls[i] = c
	}
	for i := range r.Coverage {
		clean(&r.Coverage[i].Into)
		for j := range r.Coverage[i].Missing {
			clean(&r.Coverage[i].Missing[j])
		}
	}
	for _, list := range [][]Absorbed{r.Consolidated, r.Pruned} {
		for i := range list {
			clean(&list[i].Into, &list[i].Claimed, &list[i].Evidence, &list[i].Reason, &list[i].Veto)
		}
	}
	for i := range r.Claims {
		clean(&r.Claims[i].Name, &r.Claims[i].Claimed, &r.Claims[i].Done)
	}
}

// judged notes a plan, in the place of one that was judged before.
func (r *Report) judged(plan merge.Plan, job fork.Job) {
	r.ToolCalls, r.Counts.ToolCalls = append([]fork.Call{}, plan.Calls...), len(plan.Calls)
	r.Coverage, r.Claims = append([]merge.Coverage{}, plan.Coverage...), plan.Claims
	r.Consolidated, r.Pruned = []Absorbed{}, []Absorbed{}
	folders := map[string]vault.Path{}
	for _, s := range job.Skills {
		folders[s.Name] = s.Folder
	}
	to := func(v merge.Verdict) Absorbed {
		if v.Applied {
			v.Applied, v.Veto = false, planned
		}
		return Absorbed{Verdict: v, From: folders[v.Name]}
	}
	for _, v := range plan.Consolidated {
		r.Consolidated = append(r.Consolidated, to(v))
	}
	for _, v := range plan.Pruned {
		r.Pruned = append(r.Pruned, to(v))
	}
}

// planned is what is told of a skill until what is planned for it is done.
const planned = "it was not carried out"

// waits is what is told of one that is proposed.
const waits = "it waits for you"

// undone says why nothing that was planned is done.
func (r *Report) undone(why error) {
	for _, list := range [][]Absorbed{r.Consolidated, r.Pruned} {
		for i := range list {
			if list[i].Veto == planned {
				list[i].Veto += ": " + why.Error()
			}
		}
	}
}

// settle changes what is told of the skills of a step.
func (r *Report) settle(s *step, change func(*Absorbed)) {
	for _, gone := range s.Absorbed {
		for _, list := range [][]Absorbed{r.Consolidated, r.Pruned} {
			for i := range list {
				if list[i].Name == gone.Name {
					change(&list[i])
				}
			}
		}
	}
}

// maxDenied is how many refusals of calls a page shows; run.json has all.
const maxDenied = 20

// Denied says why calls of a model were refused, each reason once.
func (r *Report) Denied() (out []string) {
	for _, c := range r.ToolCalls {
		if c.Error != "" && !slices.Contains(out, c.Error) {
			out = append(out, c.Error)
		}
	}
	if n := len(out); n > maxDenied {
		out = append(out[:maxDenied], fmt.Sprintf("… %d more, in run.json", n-maxDenied))
	}
	return out
}

// An Absorbed is a skill that a model took away, into another or into none, and whether that was done.
type Absorbed struct {
	merge.Verdict
	From    vault.Path     `json:"from"`              // its folder
	To      vault.Path     `json:"to,omitempty"`      // where it is now
	Section string         `json:"section,omitempty"` // where it is said now: the file and the line, as path:12
	Commit  vault.Revision `json:"commit,omitempty"`  // "" where nothing was done
}

// Rate is a share as a reader takes it in.
func (Report) Rate(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Refused are the skills that a model took away and that stand where they did.
func (r *Report) Refused() (out []Absorbed) {
	for _, a := range slices.Concat(r.Consolidated, r.Pruned) {
		if !a.Applied {
			out = append(out, a)
		}
	}
	return out
}

// umbrellas counts them, and says of how many skills they are made.
func (r *Report) umbrellas() (n int, of string) {
	var into []string
	for _, a := range r.Consolidated {
		if a.Applied && !slices.Contains(into, a.Into) {
			into = append(into, a.Into)
		}
	}
	of = "umbrellas from "
	if len(into) == 1 {
		of = "umbrella from "
	}
	return len(into), of + agent.Plural(r.Counts.Consolidated, "skill")
}

// A Veto is a reason for which skills, or memories, stand where they did.
type Veto struct {
	Why string
	Of  []Absorbed
}

// Vetoes are what is refused, by the reasons.
func (r *Report) Vetoes() (out []Veto) {
	for _, a := range r.Refused() {
		i := slices.IndexFunc(out, func(v Veto) bool { return v.Why == a.Veto })
		if i < 0 {
			i, out = len(out), append(out, Veto{Why: a.Veto})
		}
		out[i].Of = append(out[i].Of, a)
	}
	return out
}

// Covered says of what was taken away, and of nothing else, how much of it stands in the new place.
func (r *Report) Covered() []merge.Coverage {
	kept := func(c merge.Coverage) bool {
		return slices.ContainsFunc(r.Refused(), func(a Absorbed) bool { return a.Name == c.Name })
	}
	return slices.DeleteFunc(slices.Clone(r.Coverage), kept)
}

// Whole counts the skills of which all that is measured stands in the new place, Partly are the others, and Lacking
// those of which something does not, front matter included.
func (r *Report) Whole() int { return len(r.Covered()) - len(r.Partly()) }

// Partly is as [Report.Whole].
func (r *Report) Partly() []merge.Coverage {
	return slices.DeleteFunc(r.Covered(), func(c merge.Coverage) bool {
		return c.Lines == 1 && c.Values == 1 && c.Code == 1
	})
}

// Lacking is as [Report.Whole].
func (r *Report) Lacking() []merge.Coverage {
	return slices.DeleteFunc(r.Covered(), func(c merge.Coverage) bool { return len(c.Missing) == 0 })
}

// Grounds is the evidence of all changes of states where they have the same, else "".
func (r *Report) Grounds() (same string) {
	for i, t := range r.Transitions {
		if same = t.Evidence; same != r.Transitions[max(i-1, 0)].Evidence {
			return ""
		}
	}
	return same
}

// Proof lists what has more evidence than a cell of a table shows.
func (r *Report) Proof() (out []Absorbed) {
	for _, a := range slices.Concat(r.Consolidated, r.Pruned) {
		if a.Applied && templates.Short(a.Evidence) != strings.Join(strings.Fields(a.Evidence), " ") {
			out = append(out, a)
		}
	}
	return out
}

// Requests says how often a model was asked, "" where that is not known.
func (r *Report) Requests() string {
	if r.Counts.Requests == 0 {
		return ""
	}
	return agent.Plural(r.Counts.Requests, "request") + ", "
}

func (m *Merging) told() *Report {
	return &Report{Consolidated: m.Consolidated, Pruned: m.Pruned, Coverage: m.Coverage}
}

// Vetoes are as [Report.Vetoes].
func (m *Merging) Vetoes() []Veto { return m.told().Vetoes() }

// Covered is as [Report.Covered].
func (m *Merging) Covered() []merge.Coverage { return m.told().Covered() }
