package query

import (
	"slices"
	"strings"
	"time"

	"stet/index/document"
	"stet/index/period"
	"stet/markdown"
	"stet/vault"
)

// A filter restricts the answer without adding to the score. Several filters
// of one key are alternatives, several keys must all hold, and one with a
// minus before it must not.
type filter struct {
	key      string
	value    string
	from, to int64 // for dates: seconds since 1970, half open
	not      bool
}

// The keys of filters.
const (
	keyKind     = "kind"     // kind:decision, kind:report
	keyScope    = "scope"    // scope:/infra/db, by whole segments
	keyCategory = "category" // category:mysql, tag:mysql, tag:#mysql; work/home is below work
	keyPath     = "path"     // path:daily/2026, any part of a path
	keySince    = "since"    // since:2026-01, since:2w
	keyUntil    = "until"    // until:2026-01-31, until:3d
	keyOn       = "on"       // on:2026-01-09, on:2026-01
	keyCreated  = "created"  // created:2026-01, created:2026-01.., created:..2026-03
	keyIs       = "is"       // is:pinned, is:archived, is:superseded, is:private
	keyIn       = "in"       // in:sessions, in:memories, in:notes, in:skills, in:archive, in:all
)

// inAll asks for what is left out otherwise as well: what is archived or superseded, and messages that no person typed.
const inAll = "all"

// filterKey maps what a person may write to the key, "" for anything else.
func filterKey(s string) string {
	switch s = strings.ToLower(s); s {
	case keyKind, keyScope, keyCategory, keyPath, keySince, keyUntil, keyOn, keyCreated, keyIs, keyIn:
		return s
	case "tag":
		return keyCategory
	}
	return ""
}

// newFilter reads a value. It reports false for one that makes no sense for
// the key; the text is then searched as it stands.
func newFilter(key, value string, now time.Time) (filter, bool) {
	f := filter{key: key, value: strings.ToLower(strings.TrimSpace(value))}
	if f.value == "" {
		return f, false
	}
	switch key {
	case keyScope:
		f.value = "/" + strings.Trim(f.value, "/")
	case keyCategory:
		f.value = strings.TrimPrefix(f.value, "#")
		return f, f.value != ""
	case keyIs:
		return f, slices.Contains([]string{"pinned", "archived", "superseded", "private"}, f.value)
	case keyIn:
		ok := f.value == inAll
		if !ok {
			f.value, ok = className(f.value)
		}
		return f, ok
	case keySince, keyUntil, keyOn:
		p, ok := period.Read(f.value, now)
		f.from, f.to = p.From.Unix(), p.To.Unix() // "until 2w" ends two weeks ago; "since" ignores the end
		if key == keySince {
			f.to = 1<<63 - 1
		}
		if key == keyUntil {
			f.from = -1 << 63
		}
		return f, ok
	case keyCreated:
		first, last, open := strings.Cut(f.value, "..")
		from, ok := period.Read(first, now)
		to, ok2 := period.Read(last, now)
		if f.from, f.to = from.From.Unix(), from.To.Unix(); open {
			f.to = to.To.Unix()
		}
		if open && last == "" {
			f.to, ok2 = 1<<63-1, ok
		} else if open && first == "" {
			f.from, ok = -1<<63, ok2
		}
		return f, ok && (ok2 || !open)
	}
	return f, true
}

// meaning says what the values of a key are.
func meaning(key string) string {
	switch key {
	case keyIs:
		return "is: takes pinned, archived, superseded or private"
	case keyIn:
		return "in: takes memories, notes, skills, sessions, core, profile, archive or all"
	case keyCreated:
		return "created: takes a time, or from when and until when, as in 2026-01.. or ..monday: " + period.Forms
	}
	return key + ": takes a time: " + period.Forms
}

// className maps the plural a person writes to the class of the files.
func className(s string) (string, bool) {
	switch s {
	case "memories":
		s = "memory"
	case "core", "profile", "archive":
	default:
		s = strings.TrimSuffix(s, "s")
	}
	c := vault.Class(s)
	return s, slices.Contains([]vault.Class{vault.ClassMemory, vault.ClassCore, vault.ClassProfile, vault.ClassSkill,
		vault.ClassSession, vault.ClassArchive, vault.ClassNote}, c)
}

// Times are when a file was last changed and when it was made, or a message written; zero for what its record says.
type Times struct{ Changed, Made time.Time }

// Keeps reports whether the filters let a record pass.
func (q *Query) Keeps(r *document.Record, superseded bool, at Times) bool {
	if !q.Filtered() {
		return true
	}
	m := document.DecodeMeta(r.Meta)
	if !at.Changed.IsZero() {
		m.Updated = at.Changed.Unix()
	}
	if m.Created == 0 && !at.Made.IsZero() {
		m.Created = at.Made.Unix()
	}
	for i := range q.required {
		if !q.required[i].matches(r, &m, superseded) {
			return false
		}
	}
	asked, held := map[string]bool{}, map[string]bool{}
	for _, f := range q.filters {
		ok := f.matches(r, &m, superseded)
		if f.not {
			if ok {
				return false
			}
			continue
		}
		asked[f.key] = true
		held[f.key] = held[f.key] || ok
	}
	for key := range asked {
		if !held[key] {
			return false
		}
	}
	return true
}

func (f *filter) matches(r *document.Record, m *document.Meta, superseded bool) bool {
	switch f.key {
	case keyKind:
		return m.Kind == f.value || f.value == KindReport && vault.IsReport(r.Path)
	case keyScope:
		scope := strings.ToLower(vault.ScopeOf(r.Path))
		return f.value == "/" || scope == f.value || strings.HasPrefix(scope, f.value+"/")
	case keyCategory:
		return slices.ContainsFunc(m.Categories, func(c string) bool { return vault.Scope(c).In(f.value) })
	case keyPath:
		return strings.Contains(markdown.Fold(string(r.Path)), markdown.Fold(f.value))
	case keyIn:
		return f.value == inAll || string(vault.ClassOf(r.Path)) == f.value
	case keyIs:
		switch f.value {
		case "pinned":
			return r.Flags&document.FlagPinned != 0
		case "private":
			return r.Flags&document.FlagPrivate != 0
		case "superseded":
			return superseded
		}
		return vault.ClassOf(r.Path) == vault.ClassArchive
	}
	at := m.Updated
	if f.key == keyCreated {
		at = m.Created
	} else if at == 0 {
		at = time.Unix(0, r.MTime).Unix()
	}
	return at != 0 && f.from <= at && at < f.to // 0 is when nothing tells
}

// Timed reports a filter by time.
func (q *Query) Timed() bool {
	return slices.ContainsFunc(q.filters, func(f filter) bool {
		return f.key == keySince || f.key == keyUntil || f.key == keyOn || f.key == keyCreated
	})
}

// WantsHidden reports that the filters ask for what is otherwise left out.
func (q *Query) WantsHidden() bool {
	for _, f := range q.filters {
		if !f.not && (f.key == keyIs && (f.value == "archived" || f.value == "superseded") ||
			f.key == keyIn && (f.value == "archive" || f.value == inAll)) {
			return true
		}
	}
	return false
}

// Classes are the classes of files that in: asks for; none means all.
func (q *Query) Classes() (out []string) {
	for _, f := range q.filters {
		if f.key == keyIn && !f.not && f.value != inAll {
			out = append(out, f.value)
		}
	}
	return out
}

// kindReport is the kind that the curator's reports have without saying so.
const KindReport = "report"
