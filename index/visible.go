package index

import (
	"slices"

	"stet/index/document"
	"stet/vault"
)

// visible applies what the query says about classes, archive and supersession.
func (s *searching) visible(r *document.Record, superseded bool) bool {
	class := vault.ClassOf(r.Path)
	if s.q.Public && r.Flags&document.FlagPrivate != 0 {
		return false
	}
	if len(s.q.Class) > 0 {
		return slices.Contains(s.q.Class, class) && (s.q.Archived || !superseded)
	}
	switch class {
	case vault.ClassArchive:
		return s.q.Archived
	case vault.ClassReport:
		return s.reporting
	case vault.ClassConfig:
		return false
	}
	return s.q.Archived || !superseded
}

// untimely reports a document that is not valid yet, or no longer.
func (s *searching) untimely(r *document.Record) bool {
	return r.Flags&document.FlagTimed != 0 && !document.DecodeMeta(r.Meta).Valid(s.now)
}
