package guard_test

import (
	"strings"
	"testing"

	"stet/vault/guard"
)

// A mask hides what is likely a secret in a text and in a name, is no secret itself, and leaves the rest.
func TestMasks(t *testing.T) {
	t.Parallel()
	kept := "sunflower" + "2277"
	line := "My wi-fi pass" + "word is " + kept + ".\n"
	text := "One.\n" + line + line + "Three."
	const shown = "My wi-fi password is [masked: likely-password]\n"
	got := guard.Masked(text)
	if got != "One.\n"+shown+shown+"Three." || guard.Masked(got) != got || !guard.HasMask(got) || guard.HasMask(text) {
		t.Error(got)
	}
	if got := guard.Unlikely(line + "Two."); got != "My wi-fi password is \nTwo." {
		t.Error(got)
	}
	for name, masked := range map[string]bool{
		"memories/my-wi-fi-password-is-" + kept + ".md": true, "wi-fi-password-is-" + kept: true,
		"visa-4111-1111" + "-1111-1111.md": true, "my-iban-is-de89-3704" + "-0044-0532-0130-00": true,
		"password-hunt" + "er2.md": true, "my-password-policy-2.md": false,
		"memories/the-gate-code-is-4711.md": false, "memories/the-wi-fi-password-is.md": false,
	} {
		got := guard.MaskedName(name)
		if masked != guard.HasMask(got) || !masked && got != name || masked && strings.Contains(got, kept) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
