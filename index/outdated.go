package index

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"stet/index/document"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// Outdated are the turns of conversations that memories came from (source:
// "session:ID#14") which others have taken the place of since. Nothing is written into
// the transcripts: it follows from the memories as they are now. It is not safe for
// concurrent use.
type Outdated struct {
	bySession map[string]stretches // what the sources call the conversation, in lower case
	parts     []string             // of them, in order, those that may be the beginning of an id
	known     map[vault.Path]stretches
}

// A stretch is a run of turns and the memory that took the place of the one they led to.
type stretch struct {
	from, to  int
	successor string
}

type stretches []stretch

// by is the successor of what a turn led to, of several the one that the last
// memory in path order names; "" for a turn that still holds.
func (t stretches) by(number int) (successor string) {
	for _, r := range t {
		if r.from <= number && number <= r.to {
			successor = r.successor
		}
	}
	return successor
}

// By is the id, or the path where there is none, of the memory that took the place of
// the one that a turn led to, "" for a turn that still holds. A conversation is known by
// its id and by its foreign id.
func (o *Outdated) By(id, origin string, number int) string {
	if o == nil {
		return ""
	}
	return o.of(strings.ToLower(id), strings.ToLower(origin)).by(number)
}

// shortestID is how much of an id names a conversation, as for memories.
const shortestID = 6

func (o *Outdated) of(id, origin string) stretches {
	out := o.bySession[id]
	if origin != "" && origin != id {
		out = slices.Concat(out, o.bySession[origin])
	}
	for _, part := range o.parts {
		if part != id && part != origin && strings.HasPrefix(id, part) {
			out = slices.Concat(out, o.bySession[part])
		}
	}
	return out
}

// in are those of the transcript with that path and meta.
func (o *Outdated) in(p vault.Path, data string) stretches {
	found, known := o.known[p]
	if !known {
		m := document.DecodeMeta(data)
		found = o.of(m.ID, m.Source)
		o.known[p] = found
	}
	return found
}

// Outdated looks at the memories as they are now. It is nil where no conversation led to
// a memory that is superseded.
func (x *Index) Outdated(ctx context.Context) (*Outdated, error) {
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return nil, fmt.Errorf("outdated turns: %w", err)
	}
	s := newSearching(ctx, x, Query{}, x.o.Now())
	notes, sessions := divide(files)
	err = s.outdated(notes, sessions)
	return s.res.Outdated, err
}

// A caughtUp is what a part had to say when it was brought up to date.
type caughtUp struct {
	st  *store.State
	err error
}

// fresh brings a part up to date, once for each search.
func (s *searching) fresh(x *store.Index, files []vault.File) (*store.State, error) {
	if x == s.x.notes && s.memory != nil {
		return s.memory.st, s.memory.err
	}
	st, n, rebuilt, err := x.Fresh(s.ctx, files)
	if err == nil && s.q.public {
		s.secret.learn(st.Records())
	}
	s.res.Indexed += n
	s.res.Rebuilt = cmp.Or(s.res.Rebuilt, rebuilt)
	if x == s.x.notes {
		s.memory = &caughtUp{st, err}
	}
	return st, err
}

// outdated fills in what is outdated of the conversations in sessions. Without memories, or
// without conversations, it costs nothing.
func (s *searching) outdated(notes, sessions []vault.File) error {
	memory := func(f vault.File) bool {
		class := vault.ClassOf(f.Path)
		return class == vault.ClassMemory || class == vault.ClassArchive
	}
	if len(sessions) == 0 || !slices.ContainsFunc(notes, memory) {
		return nil
	}
	st, err := s.fresh(s.x.notes, notes)
	if err == nil {
		s.res.Outdated = outdatedBy(st.Records(), st.Superseded(), s.told, s.named)
		runtime.KeepAlive(st)
		return nil
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if st, err = s.scan(notes, false); err != nil {
		return err
	}
	s.res.Outdated = outdatedBy(st.Records(), st.Superseded(), s.told, s.named)
	return nil
}

// named is the successor that a file names, "" for one that is gone.
func (s *searching) named(p vault.Path) string {
	data, _, err := s.x.src.ReadFile(p)
	if err != nil {
		return ""
	}
	return vault.ReadMemory(p, data).SupersededBy
}

// outdatedBy is what the records say, hidden being those that are superseded. One that
// names its successor itself does so in its file, which named reads.
func outdatedBy(
	recs []document.Record, hidden []bool, told func(string) string, named func(vault.Path) string,
) *Outdated {
	if hidden == nil {
		return nil
	}
	o := &Outdated{bySession: map[string]stretches{}, known: map[vault.Path]stretches{}}
	var next map[string]string // the successor of an id
	for i := range recs {
		if !hidden[i] {
			continue
		}
		m := document.DecodeMeta(recs[i].Meta)
		session, numbers := vault.SourceTurns(m.Source)
		if session == "" || len(numbers) == 0 {
			continue
		}
		if next == nil {
			next = document.Successors(recs)
		}
		by := next[m.ID]
		if by == "" {
			by = named(recs[i].Path)
		}
		o.bySession[session] = append(o.bySession[session], stretch{numbers[0], numbers[len(numbers)-1], told(by)})
	}
	if len(o.bySession) == 0 {
		return nil
	}
	for session := range o.bySession {
		if len(session) >= shortestID && len(session) < len("01jd7q8r5t9v3x6y2z4a7c0e1f") {
			o.parts = append(o.parts, session)
		}
	}
	slices.Sort(o.parts)
	return o
}

// successors is what the ranking of messages asks; nil where nothing is outdated.
func (o *Outdated) successors() query.Successors {
	if o == nil {
		return nil
	}
	return func(r *document.Record, number int) string { return o.in(r.Path, r.Meta).by(number) }
}
