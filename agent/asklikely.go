package agent

import (
	"fmt"
	"slices"
	"strings"

	"stet/vault/guard"
	"stet/vault/settings"
)

// askLikely asks a user at a terminal about what may be a secret in texts that are to be stored, and
// fails with [ErrDeclined] for a no. Where nobody can be asked, the write tells of it.
func (a *App) askLikely(by Write, texts ...string) error {
	if a.o.Ask == nil || by.Agent != "" || by.DryRun || a.Settings().Text(settings.GuardSecrets) == guard.Off {
		return nil
	}
	var rules []string
	for _, text := range texts {
		for _, f := range guard.Likely("text.md", []byte(text)) {
			if !slices.Contains(a.Settings().List(settings.GuardAllow), f.Fingerprint) {
				rules = append(rules, f.Rule)
			}
		}
	}
	if len(rules) == 0 {
		return nil
	}
	slices.Sort(rules)
	yes, err := a.o.Ask(fmt.Sprintf("This may be a secret (%s), and history keeps what is stored. Store it?",
		strings.Join(slices.Compact(rules), ", ")))
	if err != nil || yes {
		return err
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			a.note("not stored: %s", line)
		}
	}
	return ErrDeclined
}
