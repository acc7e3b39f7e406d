package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/agent/ingest"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// Options say what is wanted of a source, and who is told.
type Options struct {
	Write vault.Write
	// Since leaves out conversations that ended before; zero takes all.
	Since time.Time
	// Project keeps those of one project: its path, a folder above it, or its
	// name alone.
	Project string
	// Now is when the run begins. With it the run remembers which files it has
	// read, and passes over those that have not changed since; without it none.
	Now time.Time
	// Reread reads them all the same.
	Reread bool
	// CommitBytes bounds what one commit brings; 0 is commitBytes.
	CommitBytes int
	// Find finds what stands in the vault already of memories that come in; nil
	// compares them with nothing.
	Find ingest.Searcher
	// Check refuses a file that is to be read, given with its links followed; nil refuses none.
	Check func(file string) error
	// Exclude reports a folder: conversations that were in one are left out; nil leaves out none.
	Exclude func(folder string) bool
	// Hold is told when a run has conversations and reads on: interrupted, it commits them.
	Hold func()
	// Progress is told after every conversation; nil is silence.
	Progress func(Progress)
	// Committed is told of every commit, as soon as it is durable.
	Committed func(*vault.Result) error
}

// The ways in which a conversation or memory can come in.
const (
	StateAdded      = "added"
	StateGrown      = "grown"
	StateSuperseded = "superseded" // stored anew, since earlier messages changed
	StateUpdated    = "updated"    // a memory whose source changed
	StateProposed   = "proposed"   // a memory that an agent imports, and that waits for the user
)

// A Written is one file of the vault that a run wrote.
type Written struct {
	State string     `json:"state"`
	Path  vault.Path `json:"path"`
	ID    string     `json:"id"`
	Title string     `json:"title"`
}

// A Report is what a run did, or with DryRun would do.
type Report struct {
	Source    string    `json:"source"`
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Unread    int       `json:"unread"` // files that have not changed since an earlier run, and were not opened
	Read      int       `json:"read"`   // conversations or memories in the source
	Added     int       `json:"added"`
	Grown     int       `json:"grown"`
	Changed   int       `json:"changed"` // superseded or updated
	Unchanged int       `json:"unchanged"`
	Skipped   int       `json:"skipped"`  // left out by Since, Project or Exclude, or recorded by hooks
	Rejected  int       `json:"rejected"` // forgotten here, or edited here since
	Messages  int       `json:"messages"` // written
	Redacted  int       `json:"redacted"` // texts that a secret was taken out of
	Written   []Written `json:"written"`
	// Malformed counts what could not be read; Problems lists the first of it.
	Malformed int              `json:"malformed"`
	Problems  []Problem        `json:"problems"`
	Notes     []string         `json:"notes,omitempty"`
	Commits   []vault.Revision `json:"commits"`
	DryRun    bool             `json:"dry_run,omitempty"`
	// Others are files that no source claims, where sources were told by content.
	Others []Problem `json:"others,omitempty"`
	Each   []*Report `json:"each,omitempty"` // of several sources, of which this is the sum
}

// A batch is what is in memory at a time. When it is full its transcripts are written into the repository and
// wait there for a commit of the run, for which other writers wait the longer the more it brings.
const (
	commitBytes = 8 << 20
	batchBytes  = 8 << 20
	batchFiles  = 1000
	lastFiles   = 16 // of a batch are written when the run was ended: nobody waits longer
)

// Run imports what stands in places, and commits it once. When ctx ends, or a file
// cannot be read, what came before is committed, and the same run started again
// does the rest.
func Run(ctx context.Context, v *vault.Vault, s Source, places []string, o Options) (*Report, error) {
	report := &Report{Source: s.Name, Written: []Written{}, Problems: []Problem{}, Commits: []vault.Revision{}, DryRun: o.Write.DryRun}
	files, err := s.files(places)
	if err != nil {
		return report, err
	}
	if err = checkAll(files, o.Check); err != nil {
		return report, err
	}
	r := &reading{ctx: ctx, tell: o.Progress}
	r.progress.Source = s.Name
	for _, f := range files {
		r.progress.Total += f.size
	}
	report.Files, report.Bytes = len(files), r.progress.Total
	w := &writer{ctx: ctx, v: v, o: o, report: report, r: r, source: s, censor: newCensor(v), waiting: map[string]bool{}, paths: map[string]bool{},
		placed: map[string]int{}, whole: map[string]string{},
		apart: map[string]string{}, said: map[string][]uint64{}, held: map[string][]markdown.Message{}}
	if err = w.lookUp(); err != nil {
		return report, err
	}
	if s.Memories {
		if w.keeper, err = newKeeper(w); err != nil {
			return report, err
		}
		r.keep = w.keeper.keep
	}
	if !s.Memories && !o.Now.IsZero() {
		if w.done, err = openDone(v, s); err != nil {
			return report, err
		}
	}
	w.most = min(maxContent, int(s.limit(v)/2))
	r.wants, r.emit = w.wants, w.take
	switch err = w.run(files); {
	case !s.Memories:
		err = w.end(err)
	case err == nil:
		err = w.keeper.flushMemories()
	}
	if w.done != nil && !o.Write.DryRun {
		// Also when the person has ended the run: what is committed is done.
		err = errors.Join(err, w.done.save(context.WithoutCancel(ctx)))
	}
	w.tellApart()
	report.Read, report.Malformed = r.progress.Sessions, r.count
	report.Problems, report.Notes = append(report.Problems, r.problems...), r.notes
	return report, err
}

// limit is the size that no file of the vault may pass.
func (s Source) limit(v *vault.Vault) int64 {
	return min(v.Settings().Bytes(settings.GuardMaxBytes), vault.MaxFileSize)
}

func (w *writer) run(files []file) error {
	for _, f := range w.source.forksLast(files, func(f file) bool { return w.done != nil && w.done.of(f) != nil }) {
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		unread, err := w.unread(f)
		if err == nil && !unread {
			err = w.read(f)
		}
		if err != nil {
			return fmt.Errorf("import %s: %q: %w", w.source.Name, f.path, err)
		}
	}
	return w.flush()
}

// end commits what waits, also when the run was ended: it has been read and written. What was only read by then may be
// long to write: all but a little of it is read again the next time.
func (w *writer) end(err error) error {
	if w.o.Write.DryRun {
		return err
	}
	if context.Cause(w.ctx) != nil && len(w.batch) > lastFiles {
		w.batch = w.batch[:lastFiles]
		w.settled(false)
	}
	w.ctx = context.WithoutCancel(w.ctx)
	err = errors.Join(err, w.flush(), w.publish())
	for key, turns := range w.held {
		_, serr := session.Settle(w.ctx, w.v, key, turns)
		err = errors.Join(err, serr)
	}
	return err
}

// A writer turns conversations into commits.
type writer struct {
	ctx    context.Context
	v      *vault.Vault
	o      Options
	source Source
	report *Report
	r      *reading
	known  *known
	censor *censor
	keeper *keeper // of a source of memories
	most   int     // bytes of one message
	batch  []*item
	size   int
	// What waits for its commit, the conversations and paths in it, and its size.
	queue           []*waiting
	waiting         map[string]bool
	paths           map[string]bool
	placed, placing map[string]int // new ones by folder: that wait, and of the batch that gets its names
	queued          int
	id              string     // of the run, in every commit of it
	done            *done      // nil where nothing is remembered
	talks           []doneTalk // of the file that is being read
	// Of an agent's import: ids that it stored under others, and how many references are left out.
	apart map[string]string
	cut   int
	said  map[string][]uint64           // messages of this run, by the part of the id that is no time
	whole map[string]string             // likewise parts of forks that are copied whole: of what
	held  map[string][]markdown.Message // open turns of conversations that transcripts hold by now, by key
}

// An item is one transcript of a batch.
type item struct {
	s     *Session
	path  vault.Path // where it stands; "" for a new one
	have  []byte     // what stood there when it was decided what to do
	state string
	made  *rendered
	open  openPart
	growth
}

// wants is what Since, Project and Exclude leave.
func (w *writer) wants(s *Session) bool {
	s.settle()
	if w.o.Exclude != nil && slices.ContainsFunc(append([]string{s.Project}, s.Folders...), w.o.Exclude) {
		w.report.Skipped++
		w.r.note(fmt.Sprintf("left out: conversation %s was in a folder of hooks.exclude", s.Origin))
		return false
	}
	ok := w.within(s.Ended, s.Project)
	if !ok {
		w.report.Skipped++
	}
	return ok
}

func (w *writer) within(ended time.Time, project string) bool {
	ok := w.o.Since.IsZero() || !ended.Before(w.o.Since)
	if p := w.o.Project; p != "" {
		p = filepath.ToSlash(strings.TrimRight(p, `/\`))
		have := filepath.ToSlash(project)
		ok = ok && (have == p || strings.HasPrefix(have, p+"/") || strings.EqualFold(have[strings.LastIndexByte(have, '/')+1:], p))
	}
	return ok
}

// take puts a conversation into the batch unless there is nothing to write.
func (w *writer) take(s *Session) error {
	for _, p := range s.bound(w.most) {
		w.r.problem(cmp.Or(s.Origin, s.ID), 0, p)
	}
	for _, part := range s.parts() {
		if err := w.part(part); err != nil {
			return err
		}
	}
	return nil
}

// calledAs gives s and its parent the ids by which they go already.
func (w *writer) calledAs(s *Session) (err error) {
	if old := SessionID(s.Agent, s.Formerly, s.Started); s.Formerly != "" {
		p, err := w.known.find(w.ctx, old)
		if err != nil {
			return err
		}
		if p != "" || w.known.rejected[hashPart(old)] {
			s.ID, s.Origin = old, s.Formerly
		}
	}
	if s.ID, err = w.known.called(w.ctx, s.ID); err != nil {
		return err
	}
	s.Parent, err = w.known.called(w.ctx, s.Parent)
	return err
}

func (w *writer) part(s *Session) (err error) {
	if err = w.calledAs(s); err != nil {
		return err
	}
	if ok, err := w.own(s); !ok || err != nil {
		return err
	}
	if err = w.cutCopied(s); err != nil {
		return err
	}
	if len(s.Messages) == 0 { // nothing of its own yet
		w.report.Unchanged++
		return nil
	}
	again := func(it *item) bool { return hashPart(it.s.ID) == hashPart(s.ID) }
	if w.waiting[hashPart(s.ID)] || slices.ContainsFunc(w.batch, again) {
		if err := w.flush(); err != nil { // the same conversation once more
			return err
		}
		if err := w.publish(); err != nil {
			return err
		}
	}
	if w.o.Hold != nil && len(w.batch)+len(w.queue) > 0 {
		w.o.Hold()
	}
	it, err := w.decide(s)
	if err != nil || it == nil {
		return err
	}
	if it.made, err = w.censor.render(it.s, w.place(it).Base()); err != nil {
		var b badLine
		if errors.As(err, &b) {
			w.r.problem(cmp.Or(s.Origin, s.ID), 0, b.text)
			return nil
		}
		return err
	}
	w.said[hashPart(s.ID)] = it.s.identities()
	w.batch = append(w.batch, it)
	w.r.progress.Written++
	w.size += len(it.made.text)
	for _, a := range it.made.attached {
		w.size += len(a.Data)
	}
	if w.size >= min(cmp.Or(w.o.CommitBytes, batchBytes), batchBytes) || len(w.batch) >= batchFiles {
		return w.flush()
	}
	return nil
}

// place is the item's file.
func (w *writer) place(it *item) vault.Path {
	if it.path != "" {
		return it.path
	}
	p := vault.NameTranscript(&it.s.Transcript)
	return session.Spread(p, w.known.in[p.Dir()]+w.placed[p.Dir()]+w.placing[p.Dir()])
}

// flush writes the batch out of memory.
func (w *writer) flush() (err error) {
	if len(w.batch) == 0 {
		return nil
	}
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	batch := w.batch
	for _, it := range batch { // what an ended run leaves out is counted when it is written
		w.report.Redacted += it.made.redacted
	}
	w.queued += w.size
	w.batch, w.size = nil, 0
	switch {
	case w.o.Write.DryRun:
		for _, it := range batch {
			w.count(it.waits(), w.place(it))
		}
		return nil
	case !w.v.Settings().Bool(settings.SessionsTrack):
		if batch, err = w.writeIgnored(batch); len(batch) == 0 || err != nil {
			return err
		}
	}
	if err := w.deposit(batch); err != nil {
		w.settled(false)
		return err
	}
	if w.queued >= cmp.Or(w.o.CommitBytes, commitBytes) {
		return w.publish()
	}
	return nil
}

// settled is told that nothing of the files read so far is left to be written. Is
// it not all written, since somebody changed a transcript meanwhile, they are read
// again the next time.
func (w *writer) settled(all bool) {
	if w.done == nil {
		return
	}
	if !all {
		clear(w.done.wait)
	}
	w.done.committed()
}
