package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/agent/cite"
	"stet/vault"
)

// An Outcome is what becomes of an operation of an agent.
type Outcome string

// The outcomes.
const (
	Allowed Outcome = "allowed"
	// OfAgents is allowed on text that agents wrote and no person edited since, and becomes a
	// proposal on other text; the vault decides that for each file.
	OfAgents Outcome = "allowed on text that agents wrote and no person edited since; else a proposal"
	Refused  Outcome = "refused"
)

// asked is what else lets an agent change what the user wrote; see [cite.Citation].
const asked = "or done where --because names the user's own turn that asks for it"

// A Rule is one row of the policy: what an agent may do. The user may do everything.
type Rule struct {
	Operation string   `json:"operation"` // "" of commands that only read
	Outcome   Outcome  `json:"outcome"`
	Note      string   `json:"note,omitempty"` // what the outcome leaves out
	Commands  []string `json:"commands"`       // as they are typed, with the flag that makes the difference
}

// Says is the outcome in words.
func (r Rule) Says() string {
	if r.Note == "" {
		return string(r.Outcome)
	}
	return string(r.Outcome) + "; " + r.Note
}

// Policy is who may do what, for every front end. Beside it holds for all operations: what the
// user wants to approve waits ("memory.write_approval"), so does what an agent says was asked for
// (--again), and files that steer programs are no machine's to write.
func Policy() []Rule {
	return []Rule{
		{"", Allowed, "without what is private", []string{
			"skill list", "skill view", "skill lint",
			"search", "context", "remind", "list", "show", "links", "scopes", "tags", "log", "history", "blame", "diff",
			"why", "status", "worker status",
			"usage", "conflicts", "review", "profile show", "core show", "session show", "session list",
			"session search", "session fix", "session how", "session files", "session export",
			"export", "config list", "config get", "doctor", "bench",
			"curator-fork", "help",
			"version", "completion", "man", "install --check", "tool list"}},
		{"tool", Allowed, "each as the command that does the same", []string{"tool call", "mcp"}},
		{"remember", Allowed, "", []string{"remember", "new", "new --in"}},
		{"add", Allowed, "", []string{"profile add", "core add"}},
		{"observe", Allowed, "turns in conversations that it records itself", []string{
			"observe", "context --session", "remind --session"}},
		{"hook", Allowed, "it records what is said and changes nothing", []string{"hook"}},
		{"nudge", Allowed, "on its own conversations", []string{"nudge"}},
		{"worker", Allowed, "each review with the rights of the agent of its conversation", []string{"worker run"}},
		{"end", Allowed, "of conversations that it records itself", []string{"session end"}},
		{"import", Allowed, "of files in no vault or repository's folder; on with its own conversations", []string{
			"import"}},
		{"reindex", Allowed, "", []string{"reindex"}},
		{"watch", Refused, "", []string{"watch"}}, // it would hold the one place, and searches are right without it
		{"export", Refused, "standard output is allowed", []string{
			"export --output", "session export --output", "man --output", "bench --dump"}},
		{"init", Allowed, "in a new or empty folder in no repository, where no program takes orders", []string{"init"}},
		{"update", OfAgents, asked, []string{"update", "today"}},
		{"move", OfAgents, asked, []string{"move"}},
		{"pin", OfAgents, "", []string{"pin", "unpin"}},
		{"forget", OfAgents, asked, []string{"forget"}},
		{"skill", OfAgents, "of a skill that is pinned refused", []string{
			"skill edit --text", "skill pin", "skill unpin", "skill archive", "skill restore"}},
		{"skill-new", Allowed, "", []string{"skill new"}},
		{"skill-use", Allowed, "", []string{"skill use"}},
		{"skill-install", Refused, "", []string{"skill install"}},
		{"skill-manage", Refused, "", []string{"skill manage", "skill unmanage", "curate own", "curate disown"}},
		{"curate-due", Allowed, "what the rules of the curator say", []string{"curate run --if-due"}},
		{"curate", Refused, "", []string{ // its reports name what is private by now
			"curate run", "curate run --dry-run", "curate pause", "curate resume", "curate status", "curate report"}},
		{"encode", OfAgents, "", []string{"encode"}},
		{"conflicts", OfAgents, asked, []string{"conflicts --keep", "conflicts --both", "conflicts --merge"}},
		{"notebook", OfAgents, asked, []string{
			"profile replace", "profile remove", "core replace", "core remove"}},
		{"revert", OfAgents, asked, []string{"revert"}},
		{"restore", OfAgents, asked + "; what a person forgot is refused", []string{"restore"}},
		{"undo", Allowed, "its own newest operation", []string{"undo"}},
		{"redo", Allowed, "its own newest operation", []string{"redo"}},
		{"config", Refused, "", []string{"config set", "config add", "config unset"}},
		{"adopt", Refused, "", []string{"adopt"}},
		{"review", Refused, "", []string{
			"review --accept", "review --reject", "review --accept-all", "review --reject-all"}},
		{"purge", Refused, "", []string{"forget --purge"}},
		{"edit", Refused, "", []string{"edit", "profile edit", "core edit", "skill edit"}},
		{"doctor", Refused, "", []string{"doctor --fix"}},
		{"overwrite", Refused, "", []string{"bench --vaults"}},
		{"install", Refused, "", []string{"install", "uninstall"}},
		{"managed", Refused, "", []string{"context --into"}},
	}
}

// asMe are the operations that the user may do with --as me among an agent's tools, once they say so on the
// terminal. An agent can answer there as well, so each is a commit that names it (Stet-Via) and stands in review: none
// decides for the user, changes what agents do (a skill), records what was said, or tells what agents are not told.
func asMe() []string {
	return []string{"remember", "add", "update", "move", "pin", "forget", "edit", "notebook", "conflicts", "adopt"}
}

// AsMe reports whether --as me may do what a command line asks for: command is the command with its first
// argument, has says which flags are set.
func AsMe(command string, has func(flag string) bool) bool {
	nearest, yes := 0, false
	for _, r := range Policy() {
		for _, line := range r.Commands {
			name, flag, _ := strings.Cut(line, " --")
			if !strings.HasPrefix(command+" ", name+" ") || flag != "" && !has(flag) {
				continue
			}
			may := slices.Contains(asMe(), r.Operation)
			if n := len(strings.Fields(line)); n > nearest {
				nearest, yes = n, may
			} else if n == nearest {
				yes = yes && may
			}
		}
	}
	return yes
}

// check fails with [vault.ErrRefused] when the policy refuses the operation to w, and for an
// operation that it does not name to everyone.
func (e *Environment) check(w Write, operation, target string) error {
	i := slices.IndexFunc(e.policy, func(r Rule) bool { return r.Operation == operation })
	switch {
	case i < 0:
		return fmt.Errorf("%s: %w: the policy does not name it", operation, vault.ErrRefused)
	case w.Agent != "" && e.policy[i].Outcome == Refused:
		return w.refused(operation, target, "only the user may do that")
	}
	return nil
}

// refused is the error for an agent that may not do an operation.
func (w Write) refused(operation, target, why string) error {
	if target != "" {
		operation += " " + target
	}
	return vault.WithHint(fmt.Errorf("%s: %w: %q is an agent, and %s", operation, vault.ErrRefused, w.Agent, why),
		`tell the user what you would do; "stet help agents" lists what an agent may do`)
}

// check is [Environment.check] for an opened vault. A write to one that the current folder led to,
// although the user named another, is asked about once: a cloned vault must not collect what is
// meant for the user's own.
func (a *App) check(w Write, operation, target string) error {
	if err := a.Environment.check(w, operation, target); err != nil || w.DryRun || a.place.Beats == "" {
		return err
	}
	return a.agreed()
}

// permit is w as the vault takes it, where the policy allows the operation. Every use case that
// writes to the vault begins with it.
func (a *App) permit(w Write, operation, target string) (vault.Write, error) {
	out := w.vault(a.Environment)
	switch {
	case w.Because != "" && w.Agent == "":
		return out, Usagef("--because names the turn that lets an agent do it").Suggest("leave it out: you need none")
	case w.Because != "":
		out.Asked = func(ctx context.Context, from, to vault.Path, before, after []byte) ([]string, error) {
			return cite.Citation{Because: w.Because, Session: w.Session}.Turns(ctx, a.v, from, to, before, after)
		}
	}
	return out, a.check(w, operation, target)
}
