package gitstore

import "strings"

// glob reports whether pattern p matches the whole of s as git's wildmatch does with
// WM_PATHNAME: "*" and "?" match no slash, "**/" any number of folders and "**" at the
// end everything. Bytes are compared, with fold without the case of ASCII letters.
// Cost: at most the product of both lengths, as only the last "*" and the last "**" are
// ever taken back.
func glob(p, s string, fold bool) bool {
	star, deep := -1, -1 // where p goes on behind them
	starAt, deepAt := 0, 0
	pi, si := 0, 0
	for si < len(s) {
		if pi < len(p) && p[pi] == '*' {
			run := pi
			for pi < len(p) && p[pi] == '*' {
				pi++
			}
			switch rest := p[pi:]; {
			case pi-run < 2, run > 0 && p[run-1] != '/',
				rest != "" && rest[0] != '/' && !strings.HasPrefix(rest, `\/`):
				star, starAt = pi, si
			case rest == "":
				return true
			default:
				pi += strings.IndexByte(rest, '/') + 1
				if rest[0] == '\\' { // git takes no folder at all for a match only before a bare slash
					si += strings.IndexByte(s[si:], '/') + 1
				}
				star, deep, deepAt = -1, pi, si
			}
			continue
		}
		if pi < len(p) {
			if n := atom(p[pi:], s[si], fold); n > 0 {
				pi, si = pi+n, si+1
				continue
			}
		}
		if star >= 0 && s[starAt] != '/' {
			starAt++
			pi, si = star, starAt
			continue
		}
		next := strings.IndexByte(s[deepAt:], '/') + 1
		if deep < 0 || next == 0 {
			return false
		}
		deepAt += next
		pi, si, star = deep, deepAt, -1
	}
	for rest := p[pi:]; ; pi = len(p) - len(rest) { // "**/" is no folder as well
		folder := strings.TrimLeft(rest, "*")
		if len(rest)-len(folder) < 2 || !strings.HasPrefix(folder, "/") || pi > 0 && p[pi-1] != '/' {
			return folder == ""
		}
		rest = folder[1:]
	}
}

// atom is the length of the first piece of p when that matches the byte c, else 0.
func atom(p string, c byte, fold bool) int {
	if fold {
		c = lower(c)
	}
	switch {
	case p[0] == '\\':
		if len(p) > 1 && p[1] == c {
			return 2
		}
	case p[0] == '[':
		if n, ok := class(p, c, fold); ok && c != '/' {
			return n
		}
	case p[0] == '?' && c != '/', p[0] == c, fold && lower(p[0]) == c:
		return 1
	}
	return 0
}

// class reads the bracket expression that p begins with: its length, and whether c is
// in it. One that is malformed matches nothing.
func class(p string, c byte, fold bool) (n int, ok bool) {
	i := 1
	not := strings.HasPrefix(p[i:], "!") || strings.HasPrefix(p[i:], "^")
	if not {
		i++
	}
	from := byte(0) // what a "-" makes a range with
	for first := true; i < len(p) && (first || p[i] != ']'); first, i = false, i+1 {
		one := p[i]
		switch rest := p[i+1:]; {
		case one == '\\':
			if i++; i == len(p) {
				return 0, false
			}
			one = p[i]
			ok = ok || c == one
		case one == '-' && from != 0 && rest != "" && rest[0] != ']':
			if i++; p[i] == '\\' {
				i++
			}
			if i == len(p) {
				return 0, false
			}
			up := c - ('a' - 'A')
			ok = ok || from <= c && c <= p[i] || fold && 'a' <= c && c <= 'z' && from <= up && up <= p[i]
			one = 0
		case one == '[' && strings.HasPrefix(rest, ":"):
			name, _, closed := strings.Cut(rest[1:], "]")
			if !closed {
				return 0, false
			}
			if !strings.HasSuffix(name, ":") {
				ok = ok || c == '['
				break
			}
			in, known := named(strings.TrimSuffix(name, ":"), c, fold)
			if !known {
				return 0, false
			}
			ok, one = ok || in, 0
			i += len(name) + 2
		default:
			ok = ok || c == one
		}
		from = one
	}
	return i + 1, i < len(p) && ok != not
}

// named reports whether c is in one of the classes of POSIX.
func named(class string, c byte, fold bool) (in, known bool) {
	between := func(from, to byte) bool { return from <= c && c <= to }
	low, up, digit := between('a', 'z'), between('A', 'Z'), between('0', '9')
	switch class {
	case "alnum":
		in = low || up || digit
	case "alpha":
		in = low || up
	case "blank":
		in = c == ' ' || c == '\t'
	case "cntrl":
		in = c < ' ' || c == 0x7f
	case "digit":
		in = digit
	case "graph":
		in = between('!', '~')
	case "lower":
		in = low
	case "print":
		in = between(' ', '~')
	case "punct":
		in = between('!', '~') && !low && !up && !digit
	case "space":
		in = c == ' ' || between('\t', '\r')
	case "upper":
		in = up || fold && low
	case "xdigit":
		in = digit || between('a', 'f') || between('A', 'F')
	default:
		return false, false
	}
	return in, true
}

// lower changes the case of ASCII letters alone.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
