package agent

import (
	"fmt"

	"stet/vault"
)

// A rule says who may do an operation. An empty field stands for all.
type rule struct {
	operation string
	target    string // a setting, or what is operated on
	// refusal is why an agent is refused, "" when it is not; the user may do everything.
	refusal string
}

// policy is who may do what. The first rule that fits decides, and what no rule names is refused to
// everyone: every use case that writes has its row. Where agents need approval their writes are held
// back by the vault itself, and what the vault's guard and earlier rejections refuse is refused
// there, at every door.
func policy() []rule {
	rules := []rule{
		{"config", "memory.write_approval", "only the user decides whether agents need approval"},
		{"review", "proposals", "only the user decides what agents may write"},
		{"review", "commits", "only the user says what was reviewed"},
	}
	for _, operation := range []string{
		"init", "config", "doctor", "reindex", "watch", "import", "export",
		"remember", "edit", "update", "move", "pin", "forget", "purge", "encode", "conflicts", "notebook",
		"adopt", "revert", "undo", "redo", "restore", "observe", "end",
	} {
		rules = append(rules, rule{operation: operation})
	}
	return rules
}

// check fails with [vault.ErrRefused] when the policy refuses the operation to w.
func (e *Environment) check(w Write, operation, target string) error {
	for _, r := range e.policy {
		if r.operation != operation || r.target != "" && r.target != target {
			continue
		}
		if r.refusal == "" || w.Agent == "" {
			return nil
		}
		return vault.WithHint(fmt.Errorf("%s %s: %w: %q is an agent, and %s", operation, target, vault.ErrRefused,
			w.Agent, r.refusal),
			"unset STET_AGENT to answer as the user")
	}
	return fmt.Errorf("%s: %w: the policy does not name it", operation, vault.ErrRefused)
}

// permit is w as the vault takes it, where the policy allows the operation. Every use case that
// writes to the vault begins with it.
func (a *App) permit(w Write, operation, target string) (vault.Write, error) {
	return w.vault(a), a.check(w, operation, target)
}
