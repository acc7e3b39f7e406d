// Package index is the search index of a vault: a cache that may be deleted, torn or
// corrupt at any time. Every search compares it with the files as they are on disk,
// brings it up to date and answers from it. Where that is impossible (another process is
// writing, the disk is full or read-only, the index is damaged) it indexes the files in
// memory for that one answer, with the same scores and order, and says so. It fails only
// where the files cannot be read.
//
// There are two indexes with statistics of their own: of files, and of the messages of
// transcripts. [stet/index/document] analyses files, [stet/index/store] keeps the
// indexes on disk, [stet/index/query] parses and ranks; this package joins them and
// makes hits of what they find. It owns the folder <state dir>/index and writes nothing
// else.
//
//	x, err := index.Open(v, index.Options{Now: time.Now})
//	defer x.Close()
//	res, err := x.Search(ctx, index.Query{Text: "which database do we run?"})
package index

import (
	"context"
	"log/slog"
	"time"

	"stet/index/embed"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
	"stet/vault/durable"
)

// A Source is where the text is; a *vault.Vault is one.
type Source interface {
	// Files lists the Markdown files in path order.
	Files(ctx context.Context, o vault.WalkOptions) ([]vault.File, error)
	// ReadFile reads a whole file and describes it from the same open handle.
	// It must be safe for concurrent use.
	ReadFile(p vault.Path) ([]byte, vault.File, error)
	// FolderTime is when a file last came to, left or was replaced in a folder.
	FolderTime(p vault.Path) (time.Time, error)
	// StateDir is where the index may live, absolute. It need not exist.
	StateDir() string
}

// Options wire an index to its surroundings.
type Options struct {
	// Now is the clock; required.
	Now func() time.Time
	// Logger hears why an index was rebuilt or could not be used; nil is
	// silence.
	Logger *slog.Logger
	// Progress is told about long work; nil is silence.
	Progress func(Event)
	// Hook sees every mutating step; for tests.
	Hook durable.Hook
	// Language is what the vault is mostly written in, one of document.Languages; ""
	// is English. A change makes the index anew at the next search.
	Language string
	// ReadOnly never writes: what changed is searched from memory.
	ReadOnly bool
	// Public answers without what is private, as agents are answered.
	Public bool
	// Hides says with Public which files are kept back besides; nil: none.
	Hides func(vault.Path) bool
	// Embedder ranks files by meaning as well; nil, the default, makes no
	// vector. It is sent queries and the text of files, never that of private
	// ones; where it fails the answer is that of the words, with a warning.
	Embedder embed.Embedder
	// AsOf is the time that a search takes for now; zero is the clock's.
	AsOf time.Time
	// Changed looks up when files were last changed, for queries that ask for a time; nil: what their front matter
	// says, or else the disk.
	Changed func(ctx context.Context) (ChangeTime, error)
	// EmbedWait bounds what one search waits for the Embedder; 0 means two
	// seconds.
	EmbedWait time.Duration
}

// An Event is one step of long work.
type Event = vault.Event

// A Query asks for documents. The fields beside Text restrict the answer like
// the filters kind:, scope: and category: in Text do.
type Query struct {
	Text string
	// Limit bounds the hits; 0 means 10, negative means all.
	Limit int
	// Offset skips that many of the best hits.
	Offset   int
	Scope    string
	Kind     string
	Category string
	// Archived includes the archive, and memories that are superseded, not valid
	// yet or no longer.
	Archived bool
	// Class restricts the answer to these classes; empty means all but the
	// archive and curator reports. Hits are messages when only sessions are
	// asked for.
	Class []vault.Class
	// Explain fills Hit.Explain.
	Explain bool

	words  bool // alone: nothing is ranked by meaning
	public bool // without what is private
}

// A Result is the answer to a query.
type Result struct {
	Hits []Hit
	// Sessions are the best messages of up to three conversations, one each,
	// beside the hits of a query that does not ask for sessions alone.
	Sessions []Hit
	// Total counts all matching documents, shown or not.
	Total int
	// Tier names how strictly the query had to be read for the last of the
	// hits: "strict" (every word), "relaxed" (any word, best first), "fuzzy"
	// (words that look like those of the query), "semantic" (by meaning alone,
	// where an embedder is configured); "" without hits.
	Tier string
	// Degraded is "" or why the index could not be used. The hits are right
	// all the same.
	Degraded string
	// Skipped are the files and folders that the query would have looked at and
	// that cannot be read now, in path order.
	Skipped []vault.Path
	// Warnings name what looked like a filter and could not be read as one, and
	// why nothing was ranked by meaning.
	Warnings []string
	// Operators are the parts of the query that were not read as words.
	Operators []string
	// Uncovered counts messages of the conversations looked at that are not searched: their text stands in a file that
	// is binary, or missing.
	Uncovered int
	// Rebuilt is "" or why the index was found unusable and made anew for this
	// answer.
	Rebuilt string
	Took    time.Duration
	// Outdated are the turns of conversations that superseded memories came from,
	// nil when there are none or no conversation was asked for.
	Outdated *Outdated
	// Indexed counts the files that had to be read because they had changed.
	Indexed int
}

// A Hit is one document of an answer.
type Hit struct {
	Path       vault.Path
	Entry      string // of an entry of a notebook its address, "USER.md#1a2b3c4d"; "" for other hits
	ID         string
	Title      string
	Kind       string
	Scope      string
	Categories []string
	// Line is the number, from 1, of the line that earned the rank.
	Line int
	// Snippet is that line, cut around the best part when it is long.
	Snippet string
	// Highlights are the words of the query in Snippet, ascending.
	Highlights []query.Range
	// Score orders the hits of one tier and means nothing across answers.
	Score   float64
	Tier    string // see Result.Tier
	Class   vault.Class
	Private bool
	// Updated is when the document says it last changed, or the message was
	// written, or else the file.
	Updated time.Time
	// SupersededBy is the id, or the path where there is none, of the memory
	// that replaced this one, or of a message the one that it led to; "" for what
	// is still valid.
	SupersededBy string
	// DoubtedBy is the memory that may outdate this one, nil for none.
	DoubtedBy *Doubt
	// ValidFrom and ValidUntil are what the document says of itself; zero is open.
	ValidFrom, ValidUntil time.Time
	// Message is the number of the message of a transcript, 0 for other hits;
	// Role, Speaker and Ref are what its heading says.
	Message            int
	Role, Speaker, Ref string
	// Reply is, of a message that stands for its conversation beside files, the best message of the agent's in it, nil
	// where that is this one or none matches.
	Reply *Hit
	// Explain says what the score is made of, one part a line.
	Explain string
}

// Stats say what an update did.
type Stats = store.Stats

// A Range is a half-open range of bytes.
type Range = query.Range

// A ChangeTime is when a file was last changed, and when it was made as far as history tells, zero for unknown, given
// the time in its front matter (zero for none), its size and its time on disk.
type ChangeTime = func(p vault.Path, said time.Time, size int64, onDisk time.Time) (changed, made time.Time)

// A Selector chooses files by what is known of them without their words.
type Selector = query.Selector

// Select reads words as filters at a time, see [query.Select].
func Select(words []string, now time.Time) (Selector, []string) { return query.Select(words, now) }

var (
	// ErrDamaged reports index files that are torn, corrupt, of another version or not
	// what they claim to be. Search never returns it.
	ErrDamaged = store.ErrDamaged
	// ErrBusy reports that another process is writing the index. Search never returns it.
	ErrBusy = store.ErrBusy
)
