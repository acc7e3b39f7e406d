package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// A Finding is one place in a text that a rule is about. It never holds the
// secret itself.
type Finding struct {
	Rule   string
	Line   int // from 1; 0 for a name, which has no lines
	Column int // from 1, in code points
	// Excerpt is what led to the finding on one line, a secret left out.
	Excerpt string
	// Fingerprint is "rule:sha256" of what was found: the same thing has the
	// same fingerprint wherever it stands.
	Fingerprint string
}

func (f Finding) String() string {
	if f.Line == 0 {
		return f.Rule
	}
	return fmt.Sprintf("%s at line %d", f.Rule, f.Line)
}

func fingerprint(rule, found string) string {
	sum := sha256.Sum256([]byte(found))
	return rule + ":" + hex.EncodeToString(sum[:])
}

// excerptWidth is how much is shown of what stands before a secret, in code
// points: enough for the name it is assigned to.
const excerptWidth = 40

// oneLine folds white space and drops what a terminal could act on; no more
// than width code points are kept, of the end.
func oneLine(s string, width int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || invisible(r)
	}), " ")
	if runes := []rune(s); len(runes) > width {
		return "…" + string(runes[len(runes)-width:])
	}
	return s
}
