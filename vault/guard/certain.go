package guard

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What a rule finds is certain by one of these: the form of the token itself, of which nothing else is; its value,
// drawn as only keys are; that and the name it is assigned to; or the value of a password, which is shorter.
const (
	byForm     = ""
	byValue    = "value"
	byName     = "name"
	byPassword = "password"
	byDrawn    = "drawn"
)

// keyBits is the strength that a key has at least: NIST SP 800-131A, revision 2, allows none below 112 bits.
const keyBits = 112

// keyEntropy and hexEntropy are what a token has at least, in bits a character: the limits of gitleaks' rule for keys
// of any kind, and of detect-secrets' for figures to the base of 16.
const keyEntropy, hexEntropy = 3.5, 3.0

// certain reports whether a match in a text is a secret beyond doubt, so that a conversation is kept without it: what
// only may be one is flagged there, since a wrong guess destroys what was said.
func certain(text string, m match) bool {
	if like("pem", m.rule.id) {
		return true
	}
	if inBlob(text, m) {
		return false
	}
	means := m.rule.certain
	if means == byForm && m.rule.operator {
		means = byName
	}
	switch s := strings.Trim(m.secret, "\"'`\\"); means {
	case byValue:
		return keyLike(s)
	case byName:
		return keyLike(s) && (headed(s) || sureName().MatchString(m.lead)) ||
			passwordLike(s) && like("passwordName", m.lead)
	case byPassword:
		return keyLike(s) || passwordLike(s)
	case byDrawn:
		return (!wordy(s) || passwordLike(s)) && !placeholder(s)
	default:
		return !like("hexOrUUID", s) || sureName().MatchString(m.lead)
	}
}

// sureName is a lead that ends with the name of what is kept secret and how it is assigned.
var sureName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:(?i:secret|passw(?:or)?d|(?:api|access|auth|client|server|service|bearer|` +
		`personal|private|secret|signing|encryption)[ _-]?(?:key|token))|_(?:KEY|TOKEN|SECRET|PAT|PASSWORD))` +
		`["'\x60*_)\]\\]{0,4}\s{0,4}(?:[:=>|：]{1,3}|is|,)?[\s"'\x60*_(\[<\\=]{0,6}$`)
})

// keyLike reports whether a value is as only keys are: drawn at random from its characters, words and numbers in it
// aside, in as many as the strength of a key takes.
func keyLike(s string) bool {
	if !ascii(s) || strings.ContainsAny(s, " \t\r\n") || placeholder(s) || words64(s) || wordy(s) {
		return false
	}
	drawn := unnamed(s)
	var figures, small, large float64
	least := hexEntropy
	for i := range len(drawn) {
		switch c := drawn[i]; {
		case digit(c):
			figures = 10
		case c >= 'a':
			small = max(small, 6)
			if c > 'f' {
				small, least = 26, keyEntropy
			}
		default:
			large = max(large, 6)
			if c > 'F' {
				large, least = 26, keyEntropy
			}
		}
	}
	return entropy(drawn) > least && float64(len(drawn))*math.Log2(max(1, figures+small+large)) >= keyBits
}

// passwordLike reports whether what is named a password is drawn as one: in letters and figures by turns, no less than
// the 8 that NIST SP 800-63B asks for.
func passwordLike(s string) bool { return mixed(s) && like("oneRun", s) && len(unnamed(s)) >= 8 }

// unnamed is what of a value is neither a word nor a number.
func unnamed(s string) string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) })
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool {
		return strings.Trim(p, "0123456789") == "" || wordLike(p)
	}), "")
}

// blobRun is how many characters of base64 stand before or behind a token that is a part of them: no key is as long.
const blobRun = 120

// blobPiece is how many letters and figures stand together somewhere in base64 of that length, and in no path or URL.
const blobPiece = 48

// inBlob reports whether what looks like a token is a part of a file or a signature in base64.
func inBlob(text string, m match) bool {
	run := runByte()
	from, to := m.start, m.end
	for from > 0 && m.start-from < blobRun && run[text[from-1]] {
		from--
	}
	for to < len(text) && to-m.end < blobRun && run[text[to]] {
		to++
	}
	if m.start-from+to-m.end < blobRun {
		return false
	}
	other := func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) || r == '_' }
	for _, piece := range strings.FieldsFunc(text[from:m.start]+" "+text[m.end:to], other) {
		if len(piece) >= blobPiece {
			return true
		}
	}
	return false
}

// Certain lists the secrets that are certain: what a transcript is kept without. The others of [Secrets] are no reason
// to take away what was said.
func Certain(name string, data []byte) []Finding {
	return secretRules().named(name, secretRules().findingsIf(name, data, certain))
}

// Sure leaves those of the secrets found in a file that are certain, wherever in it.
func Sure(name string, found []Finding, data []byte) []Finding {
	if len(found) == 0 {
		return nil
	}
	sure := map[string]bool{}
	for _, f := range Certain(name, data) {
		sure[f.Fingerprint] = true
	}
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !sure[f.Fingerprint] })
}

// Doubtful lists those of [Secrets] that are not certain where they stand.
func Doubtful(name string, data []byte) []Finding {
	return secretRules().findingsIf(name, data, func(text string, m match) bool { return !certain(text, m) })
}
