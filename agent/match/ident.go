package match

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// plainID is an identifier in the form in which the ways to write it are one: no
// case, no separators, no scheme in front of an address of a page, and of an e-mail
// address neither quotes nor a "+tag".
func plainID(fold string) string {
	if local, domain, ok := strings.Cut(fold, "@"); ok && local != "" && strings.Contains(domain, ".") {
		local, _, _ = strings.Cut(strings.Trim(local, `"'`), "+")
		if domain == "gmail.com" || domain == "googlemail.com" {
			local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com" // its dots mean nothing
		}
		return local + "@" + domain
	}
	if _, rest, ok := strings.Cut(fold, "://"); ok {
		fold = strings.TrimSuffix(rest, "/")
	}
	fold = strings.TrimPrefix(fold, "www.")
	if ip, err := netip.ParseAddr(unpadded(fold)); err == nil {
		return ip.String()
	}
	if strings.Contains(fold, ".") && !strings.ContainsFunc(fold, unicode.IsDigit) {
		return fold // a host name: its dots divide it
	}
	id := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, fold)
	if short, ok := strings.CutSuffix(id, "xxx"); ok && len(short) == 8 && !strings.ContainsFunc(short[:6], unicode.IsDigit) {
		return short // a bank's BIC: XXX is its head office (ISO 9362)
	}
	return id
}

// unpadded takes the zeros in front of the numbers of an IPv4 address away.
func unpadded(s string) string {
	if strings.Count(s, ".") != 3 || strings.Trim(s, "0123456789.") != "" {
		return s
	}
	var out []string
	for n := range strings.SplitSeq(s, ".") {
		out = append(out, cmp.Or(strings.TrimLeft(n, "0"), "0"))
	}
	return strings.Join(out, ".")
}

// isIdentifier reports whether a word stands for exactly one thing: it would never
// be said in other words.
func isIdentifier(t token) bool {
	n, digits := len(t.id), t.digits()
	switch {
	case strings.Contains(t.fold, "@"):
		return true
	case n >= minID && (strings.ContainsAny(t.fold, "_.:") || digits && strings.Contains(t.fold, "/")):
		return true
	case !digits: // a code in capital letters: DEUTDEFF
		return n >= longID && t.raw == strings.ToUpper(t.raw) && t.raw != t.fold
	case strings.Contains(t.fold, "-"):
		return n > minID || strings.Count(t.fold, "-") > 1
	}
	return n > minID || n == minID && strings.ContainsFunc(t.id, unicode.IsLetter)
}

// minID is the shortest identifier: four digits may be a year or a count. longID is
// the shortest one of letters alone, and the shortest beginning of one that will do.
const (
	minID  = 5
	longID = 8
)

// identifiers are the identifiers that words can be read as: each alone, and those
// that are written in groups, "4111 1111 1111 1111".
func identifiers(words []token) map[string]bool {
	out := map[string]bool{}
	for i := range words {
		joined, digits := "", false
		for j := i; j < min(len(words), i+maxGroups); j++ {
			joined += words[j].id
			digits = digits || words[j].digits()
			if j == i || digits && len(joined) >= minID {
				out[joined] = true
			}
			if words[j].breaks {
				break
			}
		}
	}
	return out
}

// maxGroups is how many groups an identifier is written in: an IBAN in nine.
const maxGroups = 9

// cutIdentifiers takes the identifiers out of a description: a word that is one, or
// words in which it is written in groups.
func cutIdentifiers(words []token) (ids []string, rest []token) {
	for i := 0; i < len(words); i++ {
		j, joined := i, ""
		for j < len(words) && group(words[j]) {
			joined += words[j].id
			j++
		}
		switch {
		case j > i+1 && len(joined) >= longID:
			ids = append(ids, joined)
			i = j - 1
		case isIdentifier(words[i]):
			ids = append(ids, words[i].id)
		default:
			rest = append(rest, words[i])
		}
	}
	return slices.Compact(ids), rest
}

// group reports whether a word can be one group of an identifier.
func group(t token) bool {
	return t.digits() && len(t.id) >= 2 && !strings.ContainsAny(t.fold, "@")
}

// wholeIDs are the identifiers as the texts have them. One that none of them has whole
// may be the first groups of exactly one: "550e8400" of an UUID.
func wholeIDs(ids []string, texts [][]token) []string {
	whole, longer := map[string]bool{}, map[string][]string{}
	for _, words := range texts {
		maps.Copy(whole, identifiers(words))
		for _, w := range words {
			groups := strings.FieldsFunc(w.fold, func(r rune) bool { return strings.ContainsRune("-_:/", r) })
			for i := 1; i < len(groups); i++ {
				if begin := strings.Join(groups[:i], ""); len(begin) >= longID && !slices.Contains(longer[begin], w.id) {
					longer[begin] = append(longer[begin], w.id)
				}
			}
		}
	}
	out := slices.Clone(ids)
	for i, id := range out {
		if !whole[id] && len(longer[id]) == 1 {
			out[i] = longer[id][0]
		}
	}
	return out
}
