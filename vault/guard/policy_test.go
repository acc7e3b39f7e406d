package guard_test

import (
	"errors"
	"testing"

	"stet/vault/guard"
)

func TestTheStricterOfTwoPoliciesWins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		own, vault, want guard.Policy
	}{
		{"nothing said", guard.Policy{}, guard.Policy{}, guard.Policy{Secrets: "block", Injection: "flag", MaxBytes: 10 << 20}},
		{"a vault cannot widen", guard.Policy{}, guard.Policy{Secrets: "off", Injection: "off", MaxBytes: 1 << 40}, guard.Policy{Secrets: "block", Injection: "flag", MaxBytes: 10 << 20}},
		{"a vault can tighten", guard.Policy{Secrets: "off", Injection: "off"}, guard.Policy{Secrets: "block", Injection: "block", MaxBytes: 100}, guard.Policy{Secrets: "block", Injection: "block", MaxBytes: 100}},
		{"the person may widen for themselves", guard.Policy{Secrets: "warn", Injection: "off", MaxBytes: 20 << 20}, guard.Policy{}, guard.Policy{Secrets: "warn", Injection: "off", MaxBytes: 20 << 20}},
		{"a middle rung", guard.Policy{Secrets: "off"}, guard.Policy{Secrets: "warn"}, guard.Policy{Secrets: "warn", Injection: "flag", MaxBytes: 10 << 20}},
		{"a word that means nothing", guard.Policy{Secrets: "off"}, guard.Policy{Secrets: "maybe"}, guard.Policy{Secrets: "block", Injection: "flag", MaxBytes: 10 << 20}},
	} {
		got := guard.Stricter(c.own, c.vault)
		if got.Secrets != c.want.Secrets || got.Injection != c.want.Injection || got.MaxBytes != c.want.MaxBytes {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	own := guard.Stricter(guard.Policy{Allow: []string{"mine"}}, guard.Policy{Allow: []string{"theirs"}})
	if !own.Allowed(guard.Finding{Fingerprint: "mine"}) || own.Allowed(guard.Finding{Fingerprint: "theirs"}) {
		t.Errorf("the allow-list must be the person's alone: %v", own.Allow)
	}
}

func TestAPolicyThatMeansNothingIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range []guard.Policy{{Secrets: "flag"}, {Secrets: "Block"}, {Injection: "warn"}, {MaxBytes: -1}} {
		if err := p.Check(); !errors.Is(err, guard.ErrPolicy) {
			t.Errorf("%+v: %v, want ErrPolicy", p, err)
		}
	}
	for _, p := range []guard.Policy{{}, {Secrets: "warn", Injection: "block", MaxBytes: 1}, {Secrets: "off", Injection: "off"}} {
		if err := p.Check(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
