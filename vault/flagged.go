package vault

import (
	"fmt"
	"slices"

	"stet/markdown"
	"stet/vault/gitstore"
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

// refusal names the line of a file that is there, and of a new one that of its text: nobody sees more of it.
func (j *judge) refusal(p Path, data []byte, found []guard.Finding, kind error) error {
	if at := j.touched[p]; at.Disk.Exists || !at.InHead.ID.IsZero() {
		return &GuardError{Path: p, Findings: found, kind: kind}
	}
	found = slices.Clone(found)
	front := markdown.Parse(data).BodyLine() - 1
	for i := range found {
		if found[i].Line > front {
			found[i].Line -= front
		}
	}
	return &GuardError{Path: Path(p.Dir()), New: true, Findings: found, kind: kind}
}

// flag warns of findings and returns their rules.
func (t *Tx) flag(where string, found []guard.Finding) (rules []string) {
	for _, f := range found {
		t.warnings = append(t.warnings, fmt.Sprintf("%s: flagged %s", where, describeFinding(f)))
		rules = append(rules, f.Rule)
	}
	return rules
}

// Secrets lists what looks like a secret in a file's contents, without what the
// person allowed; nothing where the configuration turns the guard off.
func (v *Vault) Secrets(p Path, data []byte) []guard.Finding {
	policy := v.policy()
	if policy.Secrets == guard.Off {
		return nil
	}
	found := secretsIn(data, p)
	if len(found) == 0 {
		if v.clean == nil {
			v.clean = map[cleanKey]bool{}
		}
		v.clean[cleanKeyOf(p, gitstore.HashBlob(data))] = true
	}
	return slices.DeleteFunc(found, policy.Allowed)
}

// A cleanKey is a text and what its rules depend on: Markdown has those of every kind of file.
type cleanKey struct {
	name string
	id   gitstore.ID
}

func cleanKeyOf(p Path, id gitstore.ID) cleanKey {
	if p.IsMarkdown() {
		return cleanKey{id: id}
	}
	return cleanKey{p.Base(), id}
}

// inHead is what HEAD holds at p, nil for nothing.
func (j *judge) inHead(p Path) ([]byte, error) {
	if at := j.touched[p]; at != nil && !at.InHead.ID.IsZero() {
		return j.objects.Blob(at.InHead.ID)
	}
	return nil, nil
}
