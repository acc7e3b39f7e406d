package guard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// What becomes of a finding.
const (
	Block = "block" // the write is refused
	Warn  = "warn"  // secrets: the write happens, the reply and the commit say so
	Flag  = "flag"  // orders to a model: the same
	Off   = "off"   // nothing is looked for
)

// DefaultMaxBytes is the largest file that is written when nothing is
// configured: room for any note, and a bound on what one write can cost.
const DefaultMaxBytes = 10 << 20

// A Policy says what becomes of findings. The zero value is the default, which
// blocks secrets and flags orders.
type Policy struct {
	// Secrets is Block, Warn or Off; "" is Block.
	Secrets string `yaml:"secrets"`
	// Injection is Block, Flag or Off; "" is Flag. What a person wrote is
	// flagged at most.
	Injection string `yaml:"injection"`
	// MaxBytes bounds one file; 0 is [DefaultMaxBytes].
	MaxBytes int64 `yaml:"max_bytes"`
	// Allow lists fingerprints of findings that a person looked at and found
	// harmless. It comes from the person's own configuration, never from a
	// vault: who can write to a vault could otherwise allow what they write.
	Allow []string `yaml:"-"`
}

// ErrPolicy reports a value that no policy can have.
var ErrPolicy = errors.New("no such guard setting")

// Check fails with [ErrPolicy] for values that mean nothing.
func (p Policy) Check() error {
	if !slices.Contains(ladder(Block, Warn), cmp.Or(p.Secrets, Block)) {
		return fmt.Errorf("guard.secrets %q: %w: block, warn or off", p.Secrets, ErrPolicy)
	}
	if !slices.Contains(ladder(Block, Flag), cmp.Or(p.Injection, Flag)) {
		return fmt.Errorf("guard.injection %q: %w: block, flag or off", p.Injection, ErrPolicy)
	}
	if p.MaxBytes < 0 {
		return fmt.Errorf("guard.max_bytes %d: %w: a number of bytes, 0 for the default", p.MaxBytes, ErrPolicy)
	}
	return nil
}

// ladder lists what a key can be, the strictest first.
func ladder(strict, mild string) []string { return []string{strict, mild, Off} }

// Stricter joins what the person's own configuration says with what a vault
// says: of each key the stricter, so that a vault can tighten and never widen.
// A vault that says nothing of a key changes nothing. The allow-list is the
// person's alone.
func Stricter(own, vault Policy) Policy {
	out := own.Defaults()
	out.Secrets = stricter(ladder(Block, Warn), out.Secrets, vault.Secrets)
	out.Injection = stricter(ladder(Block, Flag), out.Injection, vault.Injection)
	if vault.MaxBytes > 0 {
		out.MaxBytes = min(out.MaxBytes, vault.MaxBytes)
	}
	return out
}

// stricter is the higher of two rungs; a word that is on none counts as the
// strictest, for it must not widen anything.
func stricter(rungs []string, own, vault string) string {
	if vault == "" {
		return own
	}
	return rungs[min(max(0, slices.Index(rungs, own)), max(0, slices.Index(rungs, vault)))]
}

// Defaults fills in what is not set.
func (p Policy) Defaults() Policy {
	p.Secrets, p.Injection = cmp.Or(p.Secrets, Block), cmp.Or(p.Injection, Flag)
	p.MaxBytes = cmp.Or(p.MaxBytes, DefaultMaxBytes)
	return p
}

// Allowed reports whether the person allowed a finding.
func (p Policy) Allowed(f Finding) bool { return slices.Contains(p.Allow, f.Fingerprint) }
