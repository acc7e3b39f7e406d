package index

import (
	"encoding/binary"
	"strings"
	"time"

	"stet/vault"
)

// The meta of a record holds what filters and supersession need, so that no
// file has to be read to decide that it is no hit. Texts are in lower case.
type meta struct {
	id, kind   string
	updated    int64 // seconds since 1970; 0 when the file does not say
	categories []string
	supersedes []string
}

func encodeMeta(m vault.Memory) string {
	b := appendString(nil, strings.ToLower(m.ID))
	b = appendString(b, strings.ToLower(m.Kind))
	b = binary.AppendVarint(b, updatedOf(m))
	for _, list := range [][]string{m.Categories, m.Supersedes} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = appendString(b, strings.ToLower(s))
		}
	}
	return string(b)
}

// updatedOf is when the memory says it last changed, or was made.
func updatedOf(m vault.Memory) int64 {
	for _, t := range []time.Time{m.Updated, m.Created} {
		if !t.IsZero() {
			return t.Unix()
		}
	}
	return 0
}

func decodeMeta(s string) meta {
	r := reader{s: s}
	m := meta{id: r.string(), kind: r.string(), updated: r.varint()}
	for _, list := range []*[]string{&m.categories, &m.supersedes} {
		for n := r.count(1); n > 0; n-- {
			*list = append(*list, r.string())
		}
	}
	return m
}
