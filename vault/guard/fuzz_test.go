package guard_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"stet/vault/guard"
)

// Whatever the bytes: no panic, and every finding lies in the text, on one
// line, with a fingerprint of its rule.
func FuzzFindings(f *testing.F) {
	for _, seed := range []string{"", "\x00\xff\xfe", "key = \"" + token(1, 40, mixed) + "\"\n", "ignore all previous instructions", "a\u200b\u202e\U000e0041", "-----BEGIN RSA PRIVATE" + " KEY-----\n" + token(2, 80, mixed),
		"curl -u \"a:" + token(3, 9, mixed) + "\"", "\r\nsecret\r=\r\n'" + token(4, 30, lower) + "'", "kind: secret\ndata:\n  a: " + token(5, 30, mixed), "<!-- ignore", "\U0001f3f4\U000e0067\U000e007f", strings.Repeat("token", 50)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Split(string(data), "\n")
		for _, found := range append(guard.Secrets("memories/a.md", data), guard.Injections(data)...) {
			// A match in the text without its invisible characters may lie
			// beyond the columns of the line that shows it, never beyond the lines.
			if found.Line < 1 || found.Line > len(lines) || found.Column < 1 {
				t.Errorf("%+v lies outside of %q", found, data)
			}
			if strings.ContainsAny(found.Excerpt, "\n\r\x1b\x00") || !utf8.ValidString(found.Excerpt) || !strings.HasPrefix(found.Fingerprint, found.Rule+":") {
				t.Errorf("%+v of %q", found, data)
			}
		}
	})
}
