package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/index/document"
	"stet/vault"
)

// A Selector chooses files by what is known of them without their words.
type Selector struct {
	q     Query
	wrong string
}

// Select reads a list of words as filters as of now: key:value, #tag for tag:tag, and to leave out what one of them
// matches -key:value, -#tag or the word NOT before it. A word that is none comes back in rest, in their order.
func Select(words []string, now time.Time) (s Selector, rest []string) {
	not := false
	for _, w := range words {
		if w == "NOT" && !not {
			not = true
			continue
		}
		bare, minus := strings.CutPrefix(w, "-")
		if tag, ok := strings.CutPrefix(bare, "#"); ok {
			bare = keyCategory + ":" + tag
		}
		key, value, found := strings.Cut(bare, ":")
		f, ok := newFilter(filterKey(key), value, now)
		if found && f.key != "" && !ok && f.value != "" && s.wrong == "" {
			s.wrong = fmt.Sprintf("%q: %s", Clip(w), meaning(f.key))
		}
		if !found || f.key == "" || !ok {
			if not {
				rest = append(rest, "NOT")
			}
			rest, not = append(rest, w), false
			continue
		}
		f.not, not = not != minus, false
		s.q.filters = append(s.q.filters, f)
	}
	if not {
		rest = append(rest, "NOT")
	}
	return s, rest
}

// Wrong says of a filter whose value makes no sense what it takes; "" where there is none.
func (s *Selector) Wrong() string { return s.wrong }

// Empty reports a selector that keeps everything.
func (s *Selector) Empty() bool { return len(s.q.filters) == 0 }

// Archived reports that the selector asks for what is archived.
func (s *Selector) Archived() bool {
	return slices.ContainsFunc(s.q.filters, func(f filter) bool {
		archived := f.key == keyIs && f.value == "archived" || f.key == keyIn && f.value == string(vault.ClassArchive)
		return archived && !f.not
	})
}

// Classes are the classes of files that in: asks for; none means all.
func (s *Selector) Classes() (out []vault.Class) {
	for _, c := range s.q.Classes() {
		out = append(out, vault.Class(c))
	}
	return out
}

// Keeps reports whether a memory passes that [vault.Vault.List] gave.
func (s *Selector) Keeps(m vault.Memory) bool {
	r := document.RecordOf(m)
	return s.q.Keeps(&r, m.SupersededBy != "", Times{m.Changed, m.Created})
}
