package guard_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stet/vault/guard"
)

// forms are credentials as they stand in notes, after what leads to them. All
// values are made here: no secret, not even an invented one, stands in this
// repository.
func forms() map[string]string {
	made := map[string]string{
		"openrouter": "sk-or-v1-" + token(101, 64, hexdig), "groq": "gsk" + "_" + token(102, 52, mixed), "replicate": "r8" + "_" + token(103, 37, mixed),
		"xai": "xai" + "-" + token(104, 80, mixed), "deepseek": "sk" + "-" + token(105, 32, hexdig), "tavily": "tvly" + "-" + token(106, 32, mixed),
		"langsmith": "lsv2_pt" + "_" + token(107, 32, hexdig) + "_" + token(108, 10, hexdig), "anthropic": "sk-ant-" + "oat01-" + token(109, 86, mixed),
		"stripe": "whsec" + "_" + token(110, 32, mixed), "google client": "GOCSPX" + "-" + token(111, 28, mixed), "google token": "ya29" + "." + token(112, 120, mixed),
		"aws": "AWS_SECRET_ACCESS_KEY=" + token(113, 40, mixed), "basic": "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+token(114, 14, mixed))),
		"cookie": "Cookie: sessionid=" + token(115, 32, mixed), "telegram": "bot " + token(116, 10, "123456789") + ":AA" + token(117, 33, mixed),
		"sas": "https://a.blob.example.net/c?sv=2024-01-01&sig=" + token(118, 43, mixed) + "%3D", "devops": "azure devops pat " + token(119, 52, "abcdefghijklmnopqrstuvwxyz234567"),
		"url": "postgres://ada:" + token(120, 12, mixed) + "@db.example.org/app", "prose": "password: sun" + token(121, 6, lower), "netrc": "machine a.example.org login ada password " + token(122, 10, mixed),
		"pgpass": "db.example.org:5432:app:ada:" + token(123, 12, mixed), "shadow": "ada:$6" + "$" + token(124, 16, mixed) + "$" + token(125, 86, mixed) + ":19700:0",
		"mailgun": "key" + "-" + token(126, 32, hexdig), "discord": "discord bot M" + token(127, 25, mixed) + "." + token(128, 6, mixed) + "." + token(129, 38, mixed),
		"docker": "dckr_pat" + "_" + token(130, 27, mixed), "notion": "ntn" + "_" + token(131, 46, mixed), "figma": "figd" + "_" + token(132, 40, mixed),
		"airtable": "pat" + token(133, 14, mixed) + "." + token(134, 64, hexdig), "facebook": "EAA" + token(135, 160, mixed), "tailscale": "tskey-auth" + "-" + token(136, 17, mixed) + "-" + token(137, 32, mixed),
		"supabase": "sbp" + "_" + token(138, 40, hexdig), "sentry": "sntryu" + "_" + token(139, 64, hexdig), "github": "ghp" + "_" + token(140, 36, mixed),
		"gitlab": "glpat" + "-" + token(141, 20, mixed), "aws id": "AKI" + "A" + token(142, 16, upper), "slack": "xoxb" + "-" + token(143, 12, "123456789") + "-" + token(144, 12, "123456789") + "-" + token(145, 24, mixed),
		"generic": "api_key = " + token(146, 32, mixed), "hex key": "API_KEY=" + token(147, 32, hexdig), "npm": "npm" + "_" + token(148, 36, lower), "bearer": "Authorization: Bearer " + token(149, 40, mixed),
		"huggingface": "hf" + "_" + token(150, 34, "abcdefghijklmnopqrstuvwxyz"), "digitalocean": "dop" + "_v1_" + token(151, 64, hexdig),
	}
	return made
}

// Whatever follows a token and whatever stands around it: of the forms at least
// 97 of 100 are found in each.
func TestATokenEndsAtWhatCannotBelongToIt(t *testing.T) {
	t.Parallel()
	quoted := func(s string) string {
		b, err := json.Marshal(map[string]string{"content": s})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for where, put := range map[string]func(string) string{
		"prose":        func(s string) string { return "We noted that " + s + " and went on." },
		"Markdown":     func(s string) string { return "- **" + s },
		"a table":      func(s string) string { return "| key | " + s + " | more |" },
		"JSON":         func(s string) string { return quoted("x " + s + " y") },
		"JSON in JSON": func(s string) string { return quoted(quoted("x " + s + " y")) },
		"a URL":        func(s string) string { return "see https://example.org/?a=1&q=" + url.PathEscape(s) },
	} {
		for _, end := range []string{"", ",", ")", "**", "|", "]", "<", "&", `"`, ".", ";", "'"} {
			var missed []string
			for name, form := range forms() {
				if len(guard.Secrets("a.md", []byte(put(form+end)+"\n"))) == 0 {
					missed = append(missed, name)
				}
			}
			if len(missed)*100 > 3*len(forms()) {
				t.Errorf("before %q in %s: %d of %d are missed: %v", end, where, len(missed), len(forms()), missed)
			}
		}
	}
}

// What writing does to a token is undone.
func TestATokenInDisguiseIsFound(t *testing.T) {
	t.Parallel()
	secret := "ghp" + "_" + token(160, 36, mixed)
	entities := strings.ReplaceAll(html.EscapeString(secret), "_", "&#95;")
	percent := strings.ReplaceAll(secret, "_", "%5F")
	for name, text := range map[string]string{
		"entities": entities, "percent": percent, "Markdown": strings.ReplaceAll(secret, "_", `\_`), "JSON": strings.ReplaceAll(secret, "_", `\u005f`),
		"cut":             "token " + secret[:24] + "\n  " + secret[24:],
		"quoted":          "> token " + secret[:24] + "\n> " + secret[24:] + "\n",
		"base64":          base64.StdEncoding.EncodeToString([]byte("token " + secret)),
		"base64url":       base64.RawURLEncoding.EncodeToString([]byte("the token: " + secret + "?")),
		"hex":             hex.EncodeToString([]byte(secret)),
		"before a number": base64.StdEncoding.EncodeToString([]byte("token "+secret)) + "\n2026 was a year.",
		"behind a name":   "?a=" + base64.StdEncoding.EncodeToString([]byte("token "+secret)),
		"behind a host":   "https://example.org/" + base64.RawURLEncoding.EncodeToString([]byte("token "+secret)),
		"base64 lines": strings.Join(slices.Collect(func(yield func(string) bool) {
			for part := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("first words of a file\n", 4)+secret))), 76) {
				if !yield(string(part)) {
					return
				}
			}
		}), "\n"),
	} {
		text = "Intro.\n\n" + text + " \nthe end\n"
		found := guard.Secrets("a.md", []byte(text))
		if len(found) == 0 || found[0].Line < 3 {
			t.Errorf("%s: %v in %q", name, found, text)
			continue
		}
		r := guard.NewRedactor(func(guard.Finding) bool { return false })
		if got := r.Clean(text); !strings.Contains(got, "[redacted: ") || !strings.HasPrefix(got, "Intro.\n\n") || !strings.HasSuffix(got, " \nthe end\n") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
}

func TestPrivateKeysInParts(t *testing.T) {
	t.Parallel()
	begin, end := "-----BEGIN RSA PRIVATE"+" KEY-----", "-----END RSA PRIVATE"+" KEY-----"
	body := token(170, 64, mixed) + "\n" + token(171, 64, mixed)
	for name, text := range map[string]string{
		"no end": begin + "\n" + body + "\n", "no begin": body + "\n" + end, "in JSON": `{"key": "` + begin + `\n` + strings.ReplaceAll(body, "\n", `\n`) + `"}`,
		"PuTTY": "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n" + body + "\n",
	} {
		if len(guard.Secrets("a.md", []byte(text))) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}

// "password" in the prose of several languages, and what stands there and is none.
func TestPasswordsInProse(t *testing.T) {
	t.Parallel()
	value := "hun" + "ter2"
	for _, text := range []string{
		"password: " + value, "Password is " + value + ".", "the password for the staging server is " + value, "**Password:** `" + value + "`",
		"I changed the password to " + value + " today", "pw: " + value, "| password | " + value + " |", "Passwort: " + value, "Das Passwort ist " + value,
		"mot de passe : " + value, "contraseña: " + value, "пароль: " + value, "密码:" + value, "passphrase = \"Tr0ub" + "4dor&3\"",
		"mysql -u root -p" + value + " shop",
		"heslo: " + value, "Heslo je " + value, "Lösenord: " + value,
		"jelszó: " + value, "şifre: " + value, "비밀번호: " + value,
		"adgangskode: " + value, "salasana: " + value, "mật khẩu: " + value,
		"κωδικός: " + value, "parola: " + value,
		`{"user": "ada", "pass": "` + value + `"}`, "| host | pass | " + value + " |",
		value + " is the admin password", "login: ada / " + value, "Password:\n" + value,
	} {
		if found := guard.Secrets("a.md", []byte(text+"\n")); len(found) != 1 {
			t.Errorf("%q: %v", text, found)
		}
	}
	for _, text := range []string{
		"mysql -u root -p shopdata",
		"The gate code is 4711.", "the PIN is 493021", "door code: 12#34", "the password is in 1Password", "password: see Bitwarden", "Password: stored in KeePassXC",
		"The password is required.", "passwords: at least 12 characters", "password: string", "password: ${DB_PASSWORD}", "password=os.environ[\"X\"]",
		"password: <your-password>", "the password was changed on 2026-03-04", "password hashing is argon2id", "password: **********", "password: config.database.password",
		"password is base64-encoded", "Das Passwort ist geändert", "The password policy is documented in docs/security.md", "password = getpass.getpass()", "password: db_password_file",
	} {
		if found := guard.Secrets("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// What only may be a secret is flagged and stops nobody.
func TestWhatIsOnlyLikely(t *testing.T) {
	t.Parallel()
	phrase := "seed phrase: acid bacon cabin dance eager fabric gadget habit icon jacket kangaroo ladder"
	for text, rule := range map[string]string{
		"my credit card is 4111 1111 1111 1111, valid until May": "payment-card", "IBAN: DE89 3704 0044 0532 0130 00": "iban",
		"TOTP secret: JBSWY3DP" + "EHPK3PXPJBSWY3DP": "one-time-code-seed", phrase: "recovery-phrase", "The wifi password is sun" + "flower22.": "likely-password",
		"The wifi password at home is tulip-" + "garden-44.":                                "likely-password",
		"The WLAN key is blue-" + "kettle-81.":                                              "likely-password",
		"Wifi password at the office: sunny-" + "otter-12":                                  "likely-password",
		"The password is Knoedel-" + "1987-blau":                                            "likely-password",
		"Login for staging is deploy with password Knoedel-" + "1987-blau, from the office": "password-beside",
		"2. Log in: `ssh deploy@host`, password Knoedel-" + "1987-blau":                     "password-beside",
		"Log in with password hun" + "ter22":                                                "password-beside",
	} {
		if got := rulesOf(guard.Likely("a.md", []byte(text+"\n"))); !slices.Contains(got, rule) {
			t.Errorf("%q: %v, want %s", text, got, rule)
		}
		if found := guard.Secrets("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q is stopped: %v", text, found)
		}
	}
	for text, rule := range map[string]string{
		"4111 1111 1111 1111": "payment-card", "For the trip: 5555555555554444 09/29": "payment-card",
		"Rent goes to DE89370400440532013000.": "iban", "NL91 ABNA 0417 1643 00": "iban",
		strings.TrimPrefix(phrase, "seed phrase: "):                     "recovery-phrase",
		"otpauth://totp/Acme:ada?secret=JBSWY3DP" + "EHPK3PXP&issuer=a": "one-time-code-seed",
	} {
		found := guard.Likely("a.md", []byte("Note.\n\n"+text+"\n"))
		if got := rulesOf(found); !slices.Contains(got, rule) {
			t.Errorf("%q: %v, want %s without a word for it", text, got, rule)
		}
		if len(found) > 0 && strings.TrimSpace(found[0].Excerpt) != found[0].Excerpt {
			t.Errorf("%q is shown as %q", text, found[0].Excerpt)
		}
	}
	for _, text := range []string{
		"1700000000000000000", "id 4242424242424242", "v1/4111111111111111.png", "GB82 WEST 1234 5698 7654 33",
		"The quick brown fox jumps over the lazy dog and runs away",
		"cat dog cow pig hen fox bee ant owl bat rat cat",
	} {
		if found := guard.Likely("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
	for _, text := range []string{"card 4111 1111 1111 1112", "order 4111111111111111", "IBAN: DE89 3704 0044 0532 0130 01", "The seed phrase is kept in the safe with the deeds of the house and nobody else knows."} {
		if found := guard.Likely("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// Technical text in which a key is no secret.
func TestNamesOfThingsAreNoSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`cache_key="` + token(180, 32, hexdig) + `"`, "Idempotency-Key: " + token(181, 8, hexdig) + "-1111-4222-8333-" + token(182, 12, hexdig), `{"key":"alpha7/beta2-gamma"}`,
		"wallet key 0x" + token(183, 40, hexdig), "partition_key=tenant-42/region-eu-west-1/2026", "the key is docs/guide2/setup-v3", "key: " + token(184, 40, hexdig),
		"nextPageToken: " + token(185, 40, mixed), "access: team-blue2 and team-green7", `"token_type": "bearer", "max_tokens": 4096`, "key=users:1234567:profile:v2",
		"https://github.com/ada/vault.git#readme", "ssh://git@example.org:2222/ada/vault", "https://user:password@example.org/", "redis://localhost:6379/0",
		"authorization: see section-4.2.1-of-rfc7235",
		"  OPENAI_API_KEY: ***\n2025-09-18T23:14:13.4454901Z   NODE_ENV: test",
		"LANGCHAIN_API_KEY: \n2025-09-18T23:15:26.9336426Z end",
		`{"token": "eyJhbGciOiJIUzI1NiJ9..."}`, "stepId: 'pw:api@" + "94'",
		`-H "Authorization: Bearer sb_publishable_` + token(188, 22, mixed) + `"`, "Saved data for key: " + token(189, 28, mixed),
		"conversation key: conv_1758745314856_0apsffuvx", `curl -H "x-api-key: YOUR_API_KEY" https://a.example/`,
		`curl https://ada:YOUR_GITHUB_TOKEN@a.example/ https://ada:ghp_` + strings.Repeat("x", 12) + "@a.example/",
		"X-Amz-Credential=accesskey%2F20250523%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=1",
		"User(username=null, firstName=Vladimir, id=7)",
		"sha256-" + token(186, 43, mixed) + "=", "integrity: sha512-" + token(187, 86, mixed) + "==",
	} {
		if found := guard.Secrets("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// What looks like the above and is a secret is found.
func TestSecretsBesideNamesOfThingsAreFound(t *testing.T) {
	t.Parallel()
	head := "eyJhbGciOiJIUzI1NiJ9"
	for _, text := range []string{
		"api key: ***" + token(190, 32, mixed) + "***", "API_KEY: ***\nAPI_KEY: " + token(191, 32, mixed),
		"token: " + head + "." +
			"eyJzdWIiOiJ0ZXN0dXNlcjEyMyIsImlhdCI6MTc0OTgyOTYzOCwiZXhwIjoxNzQ5\nOTE2MDM4LCJpc3MiOiJQaXp6YSJ9." +
			token(192, 43, mixed),
		"pw:" + "Tr0ub4dor" + "x", "pw: api@" + "94xQ", "Saved the api key: " + token(193, 28, mixed),
		"SUPABASE_SECRET_KEY=sb_secret_" + token(194, 31, mixed), "Bearer " + token(195, 40, mixed),
		"username=ada, pass" + "word=firstName9=" + token(196, 8, mixed),
	} {
		if len(guard.Secrets("a.md", []byte(text+"\n"))) == 0 {
			t.Errorf("%q: nothing found", text)
		}
	}
}

// What says where a password is kept, or speaks of something else, is stored.
func TestNoPasswordIsSeenInAPlaceOrAPass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The boarding pass is LH2757-A.",
		"My ski pass is SKI2024.",
		"The password is salted+hashed.",
		"password: env:DB_PASS2",
		"password: /run/secrets/db_password1",
		"password: p.password1",
		"password=args.password1)",
		"user = User(username=username, password_hash=generate_hash(password2))",
		"User(username=username, email=form.email1.data)",
		"The office wifi password is \"koala-stairs-9\"",
		"Password: FIDO2-only",
		"Password: TOTP2fa only",
	} {
		if found := guard.Secrets("", []byte(text)); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}
