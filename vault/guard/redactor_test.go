package guard_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"stet/vault/guard"
)

func TestARedactorTakesASecretOutOfAllTexts(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "x7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe"
	key := "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe\n", 4) + "-----END RSA PRIVATE " + "KEY-----"
	password := "Tr0ub" + "4dor&3xyz9Q"
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

func TestARedactorTakesSecretsOutOfUTF16(t *testing.T) {
	t.Parallel()
	secret := "ghp" + "_" + token(2, 36, mixed)
	wide := strings.Map(func(r rune) rune { return r - '!' + '\uff01' }, secret) // as East Asian keyboards write it
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, text := range []string{"Grüße: " + secret + " 🙂", "Grüße: " + wide + " 🙂"} {
			marked := inUTF16(order, text)
			for name, said := range map[string][]byte{"marked": marked, "half a character": append(slices.Clone(marked), 'x'), "unmarked": marked[2:]} {
				if name == "unmarked" && strings.Contains(text, wide) {
					continue // that could be anything
				}
				if len(guard.Secrets("a.md", said)) == 0 {
					t.Errorf("%v, %s: nothing is found in %q", order, name, said)
				}
				r := guard.NewRedactor(func(guard.Finding) bool { return false })
				r.Learn(string(said))
				got := r.Clean(string(said))
				if left := guard.Secrets("a.md", []byte(got)); len(left) > 0 || !strings.Contains(got, "[redacted: github-pat]") {
					t.Errorf("%v, %s: %q became %q with %v", order, name, said, got, left)
				}
				if without := r.Clean(secret); without != "[redacted: github-pat]" {
					t.Errorf("%v, %s: the other message became %q", order, name, without)
				}
			}
			harmless := string(inUTF16(order, "Grüße 🙂"))
			if got := guard.NewRedactor(func(guard.Finding) bool { return false }).Clean(harmless); got != harmless {
				t.Errorf("%v: a harmless text became %q", order, got)
			}
		}
	}
}

// A word that a header made a secret once is a word in every other message, and
// what is only likely to be a secret stays.
func TestARedactorSpreadsNothingButKeys(t *testing.T) {
	t.Parallel()
	r := guard.NewRedactor(func(guard.Finding) bool { return false })
	texts := []string{"curl -H \"Authorization: Bearer production-cluster\" https://example.org", "password: sunset" + "42", "deploy to the production-cluster near sunset" + "42",
		"my credit card is 4111 1111 1111 1111", `{"key":"a/b"}`}
	for _, s := range texts {
		r.Learn(s)
	}
	for _, s := range texts[2:] {
		if got := r.Clean(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := r.Clean(texts[1]); got != texts[1] {
		t.Errorf("a word and a number became %q", got)
	}
	strict := guard.NewStrictRedactor(func(guard.Finding) bool { return false })
	if got := strict.Clean(texts[1]); got != "password: [redacted: password-in-prose]" {
		t.Errorf("the password became %q", got)
	}
}

// What Windows saves as UTF-16 teaches as any other text does.
func TestUTF16IsLearntFrom(t *testing.T) {
	t.Parallel()
	secret := "ghp" + "_" + token(91, 36, mixed)
	wide := "\xff\xfe"
	for _, c := range []byte("the token " + secret + "\n") {
		wide += string([]byte{c, 0})
	}
	r := guard.NewRedactor(func(guard.Finding) bool { return false })
	r.Learn(wide)
	for _, text := range []string{wide, "x" + secret + "x"} {
		if got := r.Clean(text); strings.Contains(strings.ReplaceAll(got, "\x00", ""), secret) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// What stands in a secret's place is no value of the name before it, and hides none that follows.
func TestAMarkerIsNoValueAndHidesNone(t *testing.T) {
	t.Parallel()
	value := token(901, 12, mixed)
	for _, marked := range []string{"password: " + guard.Marker("a"), "password = \"" + guard.Marker("a") + "\"",
		"api_key=" + guard.Marker("generic-api-key")} {
		if found := guard.Secrets("a.md", []byte(marked+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", marked, found)
		}
		for _, more := range []string{", password: " + value, "\npassword = \"" + value + "\"", " password is " + value} {
			if found := guard.Secrets("a.md", []byte(marked+more+"\n")); len(found) != 1 {
				t.Errorf("%q: %v", marked+more, found)
			}
		}
	}
}

// What is certain is taken out of what was said; what only may be a secret is named, and stays.
func TestWhatIsCertainIsTakenOut(t *testing.T) {
	t.Parallel()
	clean := func(text string) string {
		r := guard.NewRedactor(func(guard.Finding) bool { return false })
		r.Learn(text)
		return r.Clean(text)
	}
	for name, form := range forms() {
		if got := clean(form); got == form {
			t.Errorf("%s: %q became %q", name, form, got)
		}
	}
	for _, text := range []string{
		"PGPASSWORD=" + token(401, 4, mixed) + "4x9Zq7" + token(402, 4, mixed),
		"AUTH_TOKEN=tp-" + token(403, 40, mixed),
		"SERVICE_API_KEY: " + token(404, 8, hexdig) + "-" + token(405, 4, hexdig) + "-" + token(406, 4, hexdig) + "-" +
			token(407, 4, hexdig) + "-" + token(408, 12, hexdig),
	} {
		if got := clean(text); !strings.Contains(got, "[redacted: ") {
			t.Errorf("%q became %q", text, got)
		}
	}
	blob := token(409, 200, mixed)
	for _, text := range []string{"password: sunset" + "42", "ADMIN_PASSWORD=test" + "1234",
		"const password " + "= body?.password1", "| password | #" + "B8860B |",
		"token: " + token(410, 12, mixed), "/hf/__pycache__/hf_" + "sp500.cpython-310.pyc",
		blob + "+EAA" + token(411, 90, mixed) + "+" + blob, "postgresql://x402n:x402n_dev_" + "password@db/app"} {
		if got := clean(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		all, certain := guard.Secrets("a.md", []byte(text)), guard.Certain("a.md", []byte(text))
		if len(certain) > 0 || len(guard.Doubtful("a.md", []byte(text))) != len(all) {
			t.Errorf("%q: %v of %v are certain", text, certain, all)
		}
	}
}
