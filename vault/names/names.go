// Package names knows by what words a memory can be named: the end of its id, and its file's name, title and aliases
// or a part of these.
package names

import (
	"iter"
	"slices"
	"strings"
)

// LeastEnd is the shortest end of an id, in characters, that names a memory.
const LeastEnd = 4

// IsID reports whether s is an id as stet makes them, in letters of either case.
func IsID(s string) bool {
	const length = 26
	ok := len(s) == length
	for _, r := range s {
		ok = ok && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	return ok
}

// Short are the short forms of ids, by the id: the shortest end, of at least four characters, that no other one of
// others has, which may come in any order and may hold ids as well. Whoever resolves a name takes such an end for the
// id. An id that stet did not make has no shorter form than itself. With unsure the others are not all there are, and
// an end has at least eight characters, which no two of 100,000 memories share by chance. Cost: one look at each of
// others.
func Short(ids []string, others iter.Seq[string], unsure bool) map[string]string {
	least := LeastEnd
	if unsure {
		least = unsureSuffix
	}
	out, alike := make(map[string]string, len(ids)), make(map[string][]string, len(ids))
	for _, id := range ids {
		out[id] = id
		if IsID(id) {
			end := id[len(id)-least:]
			alike[end] = append(alike[end], id)
		}
	}
	for other := range others {
		if len(other) < least {
			continue
		}
		end := other[len(other)-least:]
		if same, ok := alike[end]; ok {
			alike[end] = append(same, other)
		}
	}
	for _, same := range alike {
		for id, n := range apart(same) {
			if _, asked := out[id]; asked && IsID(id) {
				out[id] = id[len(id)-min(max(n, least), len(id)):]
			}
		}
	}
	return out
}

// unsureSuffix is the shortest end of an id where it cannot be compared with all others.
const unsureSuffix = 8

// apart is how many characters of the end of each text no other one has. Equal texts are one.
func apart(texts []string) map[string]int {
	slices.SortFunc(texts, fromEnd)
	texts = slices.Compact(texts)
	out := make(map[string]int, len(texts))
	for i, t := range texts {
		out[t] = max(out[t], 1)
		if i > 0 {
			n := 1 + commonEnd(texts[i-1], t)
			out[texts[i-1]], out[t] = max(out[texts[i-1]], n), max(out[t], n)
		}
	}
	return out
}

// fromEnd compares texts from their last byte to their first.
func fromEnd(a, b string) int {
	n := commonEnd(a, b)
	switch {
	case n == len(a) || n == len(b):
		return len(a) - len(b)
	case a[len(a)-1-n] < b[len(b)-1-n]:
		return -1
	}
	return 1
}

func commonEnd(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// Slug is the name of a file without its extension.
func Slug(base string) string {
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[:i]
	}
	return base
}
