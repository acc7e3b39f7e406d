package tools

import (
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/vault"
)

func history() tool {
	return tool{name: "history", run: past, hint: Hint{Title: "History", Destructive: true, Long: true},
		reads: []string{"log", "diff"},
		about: `What was done to the vault. log: commits, newest first; diff: of rev; revert: takes rev back, a preview
		unless apply.`,
		params: []param{
			{name: "action", kind: text, required: true, subject: true, enum: []string{"log", "diff", "revert"}},
			{name: "ref", kind: text, subject: true, about: "log of one file"},
			{name: "rev", kind: text, subject: true, about: "from log"},
			{name: "limit", kind: integer},
			{name: "apply", kind: boolean},
			because(),
		}}
}

// A step is one commit.
type step struct {
	Rev     string   `json:"rev"`
	When    string   `json:"when"`
	By      string   `json:"by"`
	Subject string   `json:"subject"`
	Paths   []string `json:"paths,omitempty"`
	LeftOut int      `json:"left_out,omitempty"` // paths
}

func past(ctx context.Context, b *Box, in arguments) (any, error) {
	action := in.text("action")
	takes := map[string]string{"log": "action ref limit", "diff": "action rev", "revert": "action rev apply because"}
	if err := in.only(action, strings.Fields(takes[action])...); err != nil {
		return nil, err
	}
	if in["rev"] == nil && action != "log" {
		return nil, agent.Usagef("%s needs rev", action).Suggest("log gives the rev of each commit")
	}
	switch action {
	case "log":
		return b.log(ctx, in)
	case "diff":
		return b.diff(ctx, in.text("rev"))
	}
	w := b.because(in)
	w.DryRun = !in.flag("apply")
	res, err := b.app.History().Revert(ctx, agent.RevertOptions{Write: w, Revs: []string{in.text("rev")}})
	if err != nil {
		return nil, err
	}
	d := wrote(res, "reverted")
	if w.DryRun && !res.Unchanged {
		if d.Rev = ""; d.Done == "reverted" {
			d.Done = "preview"
		}
		d.note("nothing is changed yet; apply: true does it")
	}
	d.Diff = cut(agent.WithoutRecords(res.Diff), maxText/2)
	return d, nil
}

func (b *Box) log(ctx context.Context, in arguments) (any, error) {
	limit := min(max(in.whole("limit", 10), 1), 30)
	res, err := b.app.History().Log(ctx, agent.LogOptions{Ref: in.text("ref"),
		LogOptions: vault.LogOptions{Limit: limit, Changes: true}})
	if err != nil {
		return nil, err
	}
	out := []step{}
	for _, c := range res.Commits {
		out = append(out, stepOf(c))
	}
	return map[string]any{"ok": true, "commits": out}, nil
}

func stepOf(c agent.Commit) step {
	s := step{Rev: c.Rev.Short(), When: c.When, By: c.Writer(), Subject: cut(c.Subject, maxSnippet/4)}
	for _, change := range c.Changes {
		if vault.IsTombstone(change.Path) {
			continue
		}
		if len(s.Paths) == maxNamed {
			s.LeftOut++
			continue
		}
		s.Paths = append(s.Paths, string(change.Path))
	}
	return s
}

func (b *Box) diff(ctx context.Context, rev string) (any, error) {
	res, err := b.app.History().Log(ctx, agent.LogOptions{Patch: true,
		LogOptions: vault.LogOptions{Rev: rev, Limit: 1, Changes: true}})
	if err != nil {
		return nil, err
	}
	if len(res.Commits) == 0 {
		return nil, agent.Usagef("%q is no commit", rev).Suggest("log gives the rev of each commit")
	}
	c := res.Commits[0]
	diff := agent.WithoutRecords(c.Diff)
	return map[string]any{"ok": true, "commit": stepOf(c), "diff": cut(diff, maxText),
		"characters": len([]rune(diff))}, nil
}

func lineName(n int) string { return fmt.Sprintf("line %d", n) }
