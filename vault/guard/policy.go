package guard

import "slices"

// What becomes of a finding.
const (
	Block = "block" // the write is refused
	Warn  = "warn"  // secrets: the write happens, the reply and the commit say so
	Flag  = "flag"  // orders to a model: the same
	Off   = "off"   // nothing is looked for
)

// A Policy says what becomes of findings.
type Policy struct {
	Secrets   string // Block, Warn or Off
	Injection string // Block, Flag or Off; what a person wrote is flagged at most
	MaxBytes  int64  // the largest file that is written
	// Allow lists fingerprints of findings that a person looked at and found
	// harmless. It comes from the person's own configuration, never from a
	// vault: who can write to a vault could otherwise allow what they write.
	Allow []string
}

// Allowed reports whether the person allowed a finding.
func (p Policy) Allowed(f Finding) bool { return slices.Contains(p.Allow, f.Fingerprint) }
