package guard_test

import (
	"encoding/base64"
	"slices"
	"testing"

	"stet/vault/guard"
)

// What looks like a secret by where a blob of base64 or a listing happens to break is none.
func TestAPartOfABlobIsNoSecret(t *testing.T) {
	t.Parallel()
	blob := token(301, 90, mixed)
	for _, text := range []string{
		blob + "aws" + token(302, 20, mixed) + "_" + token(303, 40, mixed) + "_" + blob,
		blob + "asia" + token(304, 20, mixed) + "-" + token(305, 40, mixed) + "-" + blob,
		blob + "_" + "BSA" + token(306, 60, mixed) + "_" + blob,
		"    19→ADMIN_EMAIL=\n    20→ADMIN_PASSWORD=\n    21→MAX_UPLOAD_BYTES=\n    22→API_BASE=\n",
		"Registered session key: pending-" + "1764681738183-plr3zga07\n2025-12-02 21:22:18 started",
		"- **Public Key**: `G" + token(308, 55, upper) + "`",
		"DSN=postgresql://wallet:wal" + "let@db:5432/core", "credentials are missing/invalid.\\n+- **FR-002**: x",
		"WALLET_ENCRYPTION_KEY=" + base64.StdEncoding.EncodeToString([]byte("fake-encryption-key-must-be-long")),
		"Registered session key: pending-" + "1764681738183-plr3zga07", "api_key: job_" + "1764681738183_plr3zga07x",
		"\"SecretKey\": \"\x1b[7mCHANGE_ME_USE_ENV\x1b[0m\"", "\"SecretKey\": \"[7mCHANGE_ME_USE_THE_ENV[0m\"",
		"dsn=https://" + token(307, 32, hexdig) + "@o1.ingest.sentry.example/1224", "password: this will make sure",
		"DB_PASSWORD=\nMAX_RETRIES=5\n", `{"env": "DB_PASSWORD=\nMAX_RETRIES=5\n"}`,
	} {
		if found := guard.Secrets("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// A match that does not count hides none that begins within it: in a row of a table "key | token" names nothing.
func TestANameIsNoSecretThatHidesOne(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"| key | auth_token = \"" + token(310, 32, mixed) + "\" | more |",
		"| key | DD_APP_KEY=" + token(311, 40, hexdig) + " | more |",
		"key: api_key: " + token(312, 32, mixed),
	} {
		if len(guard.Secrets("a.md", []byte(text+"\n"))) == 0 {
			t.Errorf("%q: nothing found", text)
		}
	}
}

// A token with few figures that a line end cuts is put together by how it begins.
func TestATokenOfLettersIsPutTogether(t *testing.T) {
	t.Parallel()
	letters := token(320, 34, mixed[:52])
	figures := token(321, 12, mixed[53:])
	slack := "xoxp" + "-" + figures + "-" + figures + "-" + figures + "-" + token(324, 32, hexdig)
	for _, secret := range []string{"hf" + "_" + letters, slack} {
		for _, cut := range []int{14, len(secret) / 2} {
			text := "Intro.\n\ntoken " + secret[:cut] + "\n" + secret[cut:] + "\nthe end\n"
			if len(guard.Secrets("a.md", []byte(text))) == 0 {
				t.Errorf("%q: nothing found", text)
			}
		}
	}
	text := "see core_module_of_the_parser\nparserOfTheModuleThatReadsAll\n"
	if found := guard.Secrets("a.md", []byte(text)); len(found) > 0 {
		t.Errorf("%q: %v", text, found)
	}
}

// Keys of one provider, and passwords of programs.
func TestMoreFormsOfSecrets(t *testing.T) {
	t.Parallel()
	id := token(330, 8, hexdig) + "-1111-4222-8333-" + token(331, 12, hexdig)
	for _, text := range []string{
		"dp.st." + "prd." + token(332, 43, mixed), "mailchimp key " + token(333, 32, hexdig) + "-us" + "12",
		"ATATT3" + "x" + token(334, 180, mixed) + "=" + token(335, 8, hexdig), "access-" + "production-" + id,
		"Set-Cookie: connect.sid=" + token(336, 64, hexdig) + "; HttpOnly",
		"curl -u ada:kest" + "rel%964Sov https://api.example.org/", "sshpass" + " -p 'kestrel_964' ssh root@box",
		"dsn=https://" + token(338, 32, hexdig) + ":" + token(339, 32, hexdig) + "@sentry.example/1224",
		"GMAIL_PASS=lx" + "na csgr uczy qwhn",
		"SECRET_KEY = '" + token(337, 50, mixed+"!@#$%^&*-_=+") + "'",
	} {
		if len(guard.Secrets("a.md", []byte(text+"\n"))) == 0 {
			t.Errorf("%q: nothing found", text)
		}
	}
	for _, text := range []string{
		"curl -u user:password https://api.example.org/", "curl -u $USER:$PASS https://api.example.org/",
		"sshpass -p $PASS ssh root@box",
		"sshpass -p \"$SSHPASS\" ssh root@box", "SECRET_KEY = 'change-me-in-production-please'",
		"SECRET_KEY = \"your-secret-key-goes-right-here\"",
		"Cookie: sid=<session-id>; theme=dark",
	} {
		if found := guard.Secrets("a.md", []byte(text+"\n")); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
	phrase := "seed phrase: acid bacon cabin dance eager fabric gadget habit icon " +
		"jacket kangaroo ladder\n\nand went home early\n"
	if got := rulesOf(guard.Likely("a.md", []byte(phrase))); !slices.Contains(got, "recovery-phrase") {
		t.Errorf("%q: %v", phrase, got)
	}
}
