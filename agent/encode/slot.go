package encode

import (
	"slices"
	"strings"
)

// A slot is what a clause gives a value to: an attribute of somebody.
type slot struct {
	owner     string // "user", "we", a name, "" for whoever the vault is about
	attribute string
	value     []word
	product   string // canonical name when the value is in the table of products
	purpose   string // what a thing in use is for: one database for billing, another for reports
	how       strength
}

type strength int

const (
	// A thing in use: others can be in use beside it.
	inUse strength = iota
	// "The X of Y is V" with an X that is in no table.
	definite
	// One value at a time.
	exclusive
)

// slot reads the slot of a clause, nil when it has none.
func (c *clause) slot() *slot {
	if c.verb < 0 || len(c.rest()) == 0 {
		return nil
	}
	if s := c.copula(); s != nil {
		return s
	}
	return c.action()
}

// copula reads "the A of B is V".
func (c *clause) copula() *slot {
	v := c.words[c.verb].fold
	if !copulas()[v] {
		return nil
	}
	subject, rest := c.subject, c.rest()
	for len(rest) > 1 && leadWords()[rest[0].fold] {
		rest = rest[1:]
	}
	owner := ownerOf(subject)
	if p := participle(rest); p != nil {
		p.owner = owner
		return p
	}
	if a, _, from, to := find(attributes(), subject); a != "" && heads(subject, from, to) {
		around := slices.Concat(subject[:from], subject[to:])
		s := &slot{owner: ownerOf(around), attribute: a, value: upToBreak(rest), how: exclusive}
		if strings.HasSuffix(a, "name") && plural(around) || a == "job" && s.owner == "" || !fits(a, s.value) {
			return nil
		}
		_, s.product, _, _ = find(products(), s.value)
		return s
	}
	if a, name, _, to := find(products(), rest); a == "diet" || a == "theme" {
		return &slot{owner: owner, attribute: a, value: rest[:to], product: name, how: exclusive}
	}
	if len(rest) > 2 && rest[1].stem == "year" && rest[2].fold == "old" {
		return &slot{owner: owner, attribute: "age", value: rest[:1], how: exclusive}
	}
	if len(subject) < 2 || !definiteNoun(subject) || plural(subject) {
		return nil
	}
	return &slot{owner: owner, attribute: "is", value: upToBreak(rest), how: definite}
}

// heads reports whether subject[from:to] is what the subject is about, not a word
// of something else: the rent in "the rent of the flat", not in "rent control".
func heads(subject []word, from, to int) bool {
	if from > 0 && subject[from-1].comma {
		return false
	}
	if to == len(subject) {
		return true
	}
	switch subject[to].fold {
	case "of", "for", "in", "at", "on", "von", "für", "im", "am", "de", "du", "del", "des", "di", "pour", "para", "per", "から":
		return true
	}
	return false
}

// participle reads "based in V", "called V", "hosted on V", "due on V".
func participle(rest []word) *slot {
	if len(rest) < 2 {
		return nil
	}
	after := rest[1:]
	for len(after) > 1 && slices.Contains([]string{"in", "on", "at", "to", "by", "with"}, after[0].fold) {
		after = after[1:]
	}
	a := map[string]string{"based": "city", "living": "city", "located": "city", "called": "name", "named": "name", "hosted": "deploy target", "deployed": "deploy target",
		"due": "deadline", "employed": "employer", "working": "employer"}[rest[0].fold]
	if a == "" {
		return nil
	}
	s := &slot{attribute: a, value: upToBreak(after), how: exclusive}
	class, name, _, _ := find(products(), after)
	switch {
	case a == "deploy target" && class != a, a == "employer" && rest[1].fold != "at" && rest[1].fold != "by" && rest[1].fold != "for":
		return nil
	case class == a:
		s.product = name
	}
	return s
}

// action reads "A uses V", "A lives in V".
func (c *clause) action() *slot {
	verb, rest := c.words[c.verb].fold, c.rest()
	for len(rest) > 1 && leadWords()[rest[0].fold] {
		rest = rest[1:]
	}
	owner := ownerOf(c.subject)
	prep := rest[0].fold
	after := rest
	if len(rest) > 1 {
		after = rest[1:]
	}
	make := func(attribute string, value []word) *slot {
		return &slot{owner: owner, attribute: attribute, value: upToBreak(value), how: exclusive}
	}
	switch verb {
	case "live", "lives", "lebt", "lebe", "leben", "wohnt", "wohne", "wohnen", "vit", "vive", "vivo", "vivimos", "habite", "habitons":
		if slices.Contains([]string{"in", "à", "en", "a"}, prep) {
			return make("city", after)
		}
	case "work", "works", "arbeite", "arbeitet", "travaille", "trabaja", "trabajo", "lavora", "lavoro":
		if slices.Contains([]string{"at", "for", "bei", "chez", "para", "per"}, prep) {
			return make("employer", after)
		}
		if prep == "as" {
			return make("job", after)
		}
	case "expires", "expire", "ends":
		return make("deadline", rest)
	case "costs", "cost":
		return make("price", rest)
	case "listens", "listen":
		if i := slices.IndexFunc(rest, func(w word) bool { return w.fold == "port" }); i >= 0 && i+1 < len(rest) {
			return make("port", rest[i+1:])
		}
	}
	return c.inUse(owner, verb, rest)
}

// inUse reads "A uses V" for a V that does a known job.
func (c *clause) inUse(owner, verb string, rest []word) *slot {
	if !usesVerb(verb) {
		return nil
	}
	value := upToBreak(rest)
	a, name, from, to := find(products(), value)
	if a == "" || from > 3 {
		return nil
	}
	if more, _, _, _ := find(products(), value[to:]); more == a && !slices.ContainsFunc(value[to:], func(w word) bool { return w.fold == "over" || w.fold == "instead" }) {
		return nil // several at once
	}
	return &slot{owner: owner, attribute: a, value: versioned(rest[from:], to-from), product: name, purpose: purpose(rest[to:]), how: inUse}
}

func usesVerb(v string) bool {
	switch v {
	case "use", "uses", "using", "run", "runs", "prefer", "prefers", "deploy", "deploys", "choose", "chose", "switched", "moved", "migrated", "switch",
		"benutzt", "benutze", "benutzen", "nutzt", "nutze", "nutzen", "verwendet", "verwende", "verwenden", "utilise", "utilisons", "utilisent", "usa", "usamos", "usan", "uso", "usiamo", "läuft", "laufen":
		return true
	}
	return false
}

// versioned is a value with the version that follows it.
func versioned(words []word, n int) []word {
	if n < len(words) && number(words[n].fold) != "" || n < len(words) && strings.ContainsAny(words[n].fold, "0123456789") {
		n++
	}
	return words[:n]
}

func purpose(words []word) string {
	for i, w := range words {
		if slices.Contains([]string{"for", "in", "on", "für", "pour", "para", "per", "at"}, w.fold) && i+1 < len(words) && !isWhen(words[i+1]) {
			return strings.Join(stems(words[i+1:]), " ")
		}
		if w.comma || w.fold == "instead" {
			break
		}
	}
	return ""
}

// isWhen reports whether a word names a time.
func isWhen(w word) bool {
	return number(w.fold) != "" || months()[w.fold] > 0 || weekdays()[w.fold] || w.fold == "last"
}

// upToBreak is a value up to what explains it.
func upToBreak(words []word) []word {
	for i, w := range words {
		if i > 0 && slices.Contains([]string{"because", "since", "instead", "not", "after", "weil", "seit", "parce", "porque", "as", "which", "who", "where", "but", "until", "statt"}, w.fold) {
			return words[:i]
		}
		if w.comma {
			return words[:i+1]
		}
	}
	return words
}

// ownerOf is whom or what a noun phrase is about, in a form in which the same
// owner is the same: "the user's" and "my", "of the report" and "the report's".
func ownerOf(words []word) string {
	var parts []string
	for i, w := range words {
		switch w.fold {
		case "我":
			if i+1 < len(words) && (words[i+1].fold == "们" || words[i+1].fold == "們") {
				parts = append(parts, "we")
			} else {
				parts = append(parts, "user")
			}
		case "i", "my", "me", "mine", "user", "myself", "ich", "mein", "meine", "meinen", "je", "j", "mon", "ma", "yo", "mi", "io", "mio", "mia", "私":
			parts = append(parts, "user")
		case "we", "our", "us", "team", "wir", "unser", "unsere", "unseren", "nous", "notre", "nosotros", "nuestro", "nuestra", "noi", "nostro", "nostra", "project":
			parts = append(parts, "we")
		default:
			if w.content() && !adverbs()[w.fold] {
				parts = append(parts, w.stem)
			}
		}
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	if len(parts) > 1 {
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "we" })
	}
	return strings.Join(parts, " ")
}

// definiteNoun reports whether a subject is one certain thing: "the gate code",
// "our offsite", "Anna's car".
func definiteNoun(words []word) bool {
	switch words[0].fold {
	case "the", "my", "our", "his", "her", "their", "der", "die", "das", "mein", "meine", "unser", "unsere", "le", "la", "mon", "ma", "notre", "el", "mi", "nuestro", "il", "mio":
		return true
	}
	return words[0].owns
}

// sameOwner takes "we", "the project" and nobody at all for the same.
func sameOwner(a, b string) bool {
	loose := func(s string) bool { return s == "" || s == "we" }
	return a == b || loose(a) && loose(b)
}

// differ reports whether two slots have values that cannot both be the one value.
// One that only says more than the other does not differ from it.
func differ(a, b *slot) bool {
	if a.product != "" && b.product != "" && a.product != b.product {
		return true
	}
	va, vb := values(a.value), values(b.value)
	sa, sb := stems(a.value), stems(b.value)
	if len(sa) == 0 || len(sb) == 0 || choice(a.value) && choice(b.value) && missing(sa, sb) < len(sa) {
		return false
	}
	if len(va) > 0 && len(vb) > 0 && kindOf(va[0]) == kindOf(vb[0]) && kindOf(va[0]) != "name" {
		return !subset(va, vb) && !subset(vb, va)
	}
	return !subset(sa, sb) && !subset(sb, sa)
}

// choice reports whether a value is one of several: "1/2 or 0.5".
func choice(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.fold == "or" || w.fold == "oder" || w.fold == "ou" })
}

// kindOf tells numbers and dates from names.
func kindOf(v string) string {
	switch {
	case strings.HasPrefix(v, "date:"):
		return "date"
	case number(v) != "":
		return "number"
	case strings.Contains(v, "@"):
		return "address"
	case weekdays()[v]:
		return "weekday"
	}
	return "name"
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
