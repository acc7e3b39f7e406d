package markdown

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RewriteLinks asks newTarget for each link that has a target and writes the
// answers, encoded for the kind of link; ok false leaves a link alone. Only bytes
// of targets change. The result is read again before it counts: if any link then
// is not what it should be, the document stays as it was and the error says why.
// ErrInvalidTarget reports a target that its link cannot hold.
func (d *Document) RewriteLinks(newTarget func(Link) (target string, ok bool)) error {
	links := d.Links()
	want := slices.Clone(links)
	var parts [][]byte
	at := 0
	order := slices.Clone(links)
	slices.SortFunc(order, func(a, b Link) int { return a.TargetStart - b.TargetStart })
	answers := map[int]string{}
	for i, l := range links {
		if l.Target == "" {
			continue
		}
		target, ok := newTarget(l)
		if !ok || target == l.Target {
			continue
		}
		answers[l.TargetStart] = target
		want[i].Target = target
	}
	if len(answers) == 0 {
		return nil
	}
	for _, l := range order {
		target, ok := answers[l.TargetStart]
		if !ok || l.Target == "" || l.TargetStart < at {
			continue
		}
		text, err := encodeTarget(l, target, d.src)
		if err != nil {
			return fmt.Errorf("rewrite link on line %d to %q: %w", l.Line, target, err)
		}
		parts = append(parts, d.src[at:l.TargetStart], []byte(text))
		at = l.TargetEnd
	}
	next := Parse(concat(append(parts, d.src[at:])...))
	got := next.Links()
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		g, w := got[i], want[i]
		same = g.Kind == w.Kind && g.Target == w.Target && g.Fragment == w.Fragment
	}
	if !same {
		return fmt.Errorf("rewrite links: %w: the links would not read back", ErrInvalidTarget)
	}
	*d = *next
	return nil
}

// CanHold reports whether a link of this kind can name target at all.
func (l Link) CanHold(target string) bool {
	wiki := l.Kind == WikiLink || l.Kind == WikiEmbed
	return target != "" && utf8.ValidString(target) && !strings.ContainsAny(target, "\n\r\x00") &&
		(!wiki || wikiHolds(target)) && (l.quote == 0 || !strings.ContainsFunc(target, noYAML))
}

// noYAML reports characters that YAML allows in no quotes: a mark of byte order, and what is no character.
func noYAML(r rune) bool { return unicode.IsControl(r) || r == 0xfeff || r&0xfffe == 0xfffe }

func wikiHolds(target string) bool {
	return !strings.ContainsAny(target, "[]|#`") && !strings.Contains(target, "<!--") &&
		!strings.HasSuffix(target, `\`) && strings.TrimSpace(target) == target
}

// encodeTarget writes target so that it reads back as it is.
func encodeTarget(l Link, target string, src []byte) (string, error) {
	if !l.CanHold(target) {
		return "", ErrInvalidTarget
	}
	switch {
	case l.quote != 0:
		return inQuotes(target, l.quote), nil
	case l.Kind == WikiLink || l.Kind == WikiEmbed:
		return target, nil
	}
	angle := l.TargetStart > 0 && src[l.TargetStart-1] == '<'
	var b strings.Builder
	for i := 0; i < len(target); i++ {
		c := target[i]
		switch {
		case c == ' ' && angle:
			b.WriteByte(c)
		case c <= ' ' || c == 0x7F || strings.IndexByte("()<>%#?\\&[]|`\"*_", c) >= 0 && c != '_', c == ':' && hasScheme([]byte(target)):
			fmt.Fprintf(&b, "%%%02X", c)
		case c == '/' && i == 1 && target[0] == '/':
			b.WriteString("%2F")
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}
