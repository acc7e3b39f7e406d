package vault

import (
	"fmt"

	"stet/vault/guard"
)

// likely lists what is new in a file and may be meant to be kept from others.
func (j *judge) likely(p Path, data []byte) ([]guard.Finding, error) {
	if j.policy.Secrets == guard.Off {
		return nil, nil
	}
	likelyIn := func(data []byte, p Path) []guard.Finding { return guard.Likely(string(p), data) }
	return j.fresh(likelyIn(data, p), &j.maybe, likelyIn, false)
}

// flag warns of findings and returns their rules.
func (t *Tx) flag(where string, found []guard.Finding) (rules []string) {
	for _, f := range found {
		t.warnings = append(t.warnings, fmt.Sprintf("%s: flagged %s", where, describeFinding(f)))
		rules = append(rules, f.Rule)
	}
	return rules
}
