package agent

import (
	"fmt"

	"stet/vault"
)

// A Rule refuses an operation to an actor. An empty field stands for all.
type Rule struct {
	Actor     string // "agent" or [vault.ActorUser]
	Door      string
	Operation string
	Target    string // a setting, or what is operated on
	// Why and Hint are the message and the next step.
	Why, Hint string
}

// Rules is the policy of who may do what. The first rule that applies decides; what no rule
// refuses is allowed. Where agents need approval their writes are held back by the vault itself,
// and what the vault's guard and earlier rejections refuse is refused there, at every door.
func Rules() []Rule {
	const hint = "unset STET_AGENT to answer as the user"
	return []Rule{
		{Actor: "agent", Operation: "config", Target: "memory.write_approval", Why: "only the user decides whether agents need approval", Hint: hint},
		{Actor: "agent", Operation: "review", Target: "proposals", Why: "only the user decides what agents may write", Hint: hint},
		{Actor: "agent", Operation: "review", Target: "commits", Why: "only the user says what was reviewed", Hint: hint},
	}
}

// check fails with [vault.ErrRefused] when a rule of the policy refuses the operation to w.
func (e *Environment) check(w Write, operation, target string) error {
	fits := func(rule, value string) bool { return rule == "" || rule == value }
	for _, r := range Rules() {
		if fits(r.Actor, w.actor()) && fits(r.Door, e.o.Door) && fits(r.Operation, operation) && fits(r.Target, target) {
			who := "you are"
			if w.Agent != "" {
				who = fmt.Sprintf("%q is an agent", w.Agent)
			}
			return vault.WithHint(fmt.Errorf("%s %s: %w: %s, and %s", operation, target, vault.ErrRefused, who, r.Why), "%s", r.Hint)
		}
	}
	return nil
}
