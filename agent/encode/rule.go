package encode

import (
	"strings"
	"unicode"
)

// A proof is why a stored clause is no longer true.
type proof struct {
	rule string
	said *clause
	sole bool // it holds only where no other stored memory says something of the kind
}

// proves reports whether a new clause proves that a stored one is no longer true.
func proves(n, o *claim, said *clause) *proof {
	if n.owner != o.owner || o.letters == n.letters || n.owner == "" {
		return nil
	}
	switch n.form {
	case "switch", "move":
		if o.form != "use" && o.form != "live" && o.form != "work" || n.form == "move" && o.form == "work" || n.form == "switch" && o.form == "live" && n.kind != "" {
			return nil
		}
		if n.from != "" {
			if n.from == o.value {
				return &proof{ruleChange, said, false}
			}
			return nil
		}
		if o.form == "use" && n.kind != "" && n.kind == o.kind || o.form == "live" && n.form == "move" && n.kind == "" && n.owner == "user" {
			return &proof{ruleKind, said, true}
		}
	case "leave":
		if o.form == "work" && n.from == o.value {
			return &proof{ruleEnded, said, false}
		}
	case "gone", "quit":
		if o.said == n.value {
			return &proof{ruleEnded, said, false}
		}
	case "is":
		if o.form == "is" && n.what == o.what && n.kind == o.kind {
			return &proof{ruleRestated, said, true}
		}
	case "live", "work":
		if n.now && n.form == o.form {
			return &proof{ruleRestated, said, true}
		}
	}
	return nil
}

// spelled is a value without its signs and spaces: "db-01" and "db_01" may be one host.
func spelled(value string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, value)
}

// of are what two claims have in common that give somebody one thing of a kind.
func (c *claim) of() string { return c.kin }

// likens reports whether two claims probably cannot both hold, though nothing proves
// that they speak of the same: one attribute of something without a name has another
// value, or a thing of the same kind is in use now.
func (n *claim) likens(o *claim) bool {
	switch {
	case o == nil || n.owner == "" && n.form == "holds":
		return false
	case n.form == "is" && o.form == "is":
		return n.owner == o.owner && n.what == o.what && n.kind == o.kind && n.value != o.value
	case n.form == "holds": // "Carol owns the shop now"
		return n.now && o.form == "holds" && n.said == o.said && n.owner != o.owner && o.owner != ""
	}
	return n.form == "use" && o.form == "use" && n.now && n.kind != "" && n.kind == o.kind && n.value != o.value
}

// displaces reports whether a claim says that something took the place of what a stored
// clause, given by its stems, names, or that the writer has it no longer.
func (n *claim) displaces(stored string, own bool) bool {
	if n.from == "" || !holdsWord(stored, n.from) {
		return false
	}
	return n.form == "lost" && own && n.owner != "" || (n.form == "switch" || n.form == "does") && (n.value == "" || !holdsWord(stored, n.value))
}

// holdsWord reports whether stems stand in a text of stems, one after the other.
func holdsWord(text, stems string) bool {
	return strings.Contains(" "+text+" ", " "+stems+" ")
}
