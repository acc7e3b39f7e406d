package guard_test

import (
	"slices"
	"strings"
	"testing"

	"stet/vault/guard"
)

func TestARedactorTakesASecretOutOfAllTexts(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "x7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe"
	key := "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe\n", 4) + "-----END RSA PRIVATE " + "KEY-----"
	password := "Tr0ub4dor" + "&3xyz9Q"
	texts := []string{
		"token " + token, "without its name: " + token[4:] + " " + token, "key:\n" + key + "\nend",
		"hid\u200bden gh\u200bp_" + token[4:], "password = \"" + password + "\"", "and again " + password, "nothing here",
	}
	r := guard.NewRedactor(func(guard.Finding) bool { return false })
	for _, s := range texts {
		r.Learn(s)
	}
	for _, s := range texts {
		got := r.Clean(s)
		for _, f := range guard.Secrets("x.md", []byte(got)) {
			t.Errorf("%q still has %v", got, f)
		}
		if strings.Contains(got, token) || strings.Contains(got, "MIIE") {
			t.Errorf("%q still has a secret", got)
		}
		if again := r.Clean(got); again != got {
			t.Errorf("a second look at %q gave %q", got, again)
		}
	}
	if got := r.Clean("nothing here"); got != "nothing here" {
		t.Errorf("a harmless text became %q", got)
	}
	if rules := r.Rules(); !slices.Contains(rules, "github-pat") || !slices.Contains(rules, "private-key") {
		t.Errorf("the rules are %v", rules)
	}
	all := guard.NewRedactor(func(guard.Finding) bool { return true })
	all.Learn(texts[0])
	if got := all.Clean(texts[0]); got != texts[0] {
		t.Errorf("what a person allowed became %q", got)
	}
}
