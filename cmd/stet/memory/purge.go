package memory

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stet/agent"
	"stet/agent/match"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/lineage"
)

// A purgeAnswer is what forget --purge prints under --json.
type purgeAnswer struct {
	agent.Written
	Erase lineage.Erasure `json:"erase"`
}

// purge removes what refs name; found, if there is any, is what they were found by.
func purge(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, w vault.Write, refs []string, found []match.Found) error {
	plan, err := lineage.PlanPurge(ctx, v, refs)
	if err != nil {
		return err
	}
	if err := stillFound(plan.Memories, found); err != nil {
		return err
	}
	if !w.DryRun && !in.Bool("yes") && e.CanAsk() {
		yes, err := askToPurge(e, plan)
		if err != nil || !yes {
			return err
		}
	}
	res, err := plan.Run(ctx, v, w)
	if err != nil {
		return err
	}
	if len(res.Proposed) > 0 {
		return e.Wrote(ctx, v, res, "purged", false)
	}
	e.AfterWrite(ctx, v, res, "purged")
	if !w.DryRun {
		if err := rebuild(ctx, e, v); err != nil {
			e.Warn("the search index still holds its words: %v; \"stet reindex\" builds it anew", err)
		}
	}
	res.Diff = "" // what is to be gone is not shown once more
	answer := purgeAnswer{*agent.NewWritten(res), plan.Erasure}
	if len(found) > 0 {
		answer.Matched = viewFound(found)
	}
	return e.Answer(answer, func(out io.Writer) error { return printPurge(out, e, res, plan.Erasure) })
}

func askToPurge(e *console.Env, plan *lineage.Purging) (bool, error) {
	for _, m := range plan.Memories {
		e.Note("%s  %s", m.Path, m.Name())
	}
	yes, err := e.Confirm("Purge this?")
	if err == nil && !yes {
		e.Note("nothing was changed")
	}
	return yes, err
}

// rebuild makes the search index anew: the old one keeps the words of what was
// removed until its files are merged some day.
func rebuild(ctx context.Context, e *console.Env, v *vault.Vault) (err error) {
	x, err := e.Index(v, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	_, err = x.Rebuild(ctx)
	return err
}

func printPurge(w io.Writer, e *console.Env, res *vault.Result, erase lineage.Erasure) error {
	verb, state := "purged", "It is gone from the files and the search. "
	if res.DryRun {
		verb, state = "would be purged", ""
	}
	for _, m := range res.Memories {
		if _, err := fmt.Fprintf(w, "%s  %s%s\n", verb, console.Line1(string(m.Path)), e.Where()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%sHistory, clones and backups hold it still: stet does not rewrite history.\n"+
		"To erase it there, in this order, from the top of the repository:\n", state)
	if err != nil {
		return err
	}
	for i, s := range erase.Steps {
		if _, err := fmt.Fprintf(w, "\n%d. %s\n", i+1, s.What); err != nil {
			return err
		}
		for _, line := range s.Command {
			if _, err := fmt.Fprintf(w, "     %s\n", line); err != nil {
				return err
			}
		}
	}
	return nil
}
