package encode

// The work for one pair of memories is bounded, so that a large one is stored as soon as
// a small one: maxText is the bytes of a text that the rules read, of a longer one only the
// same bytes are a duplicate; maxPairs the words of one times the words of the other, above
// which nothing is flagged; maxClauses the clauses of a text of which something may go.
const (
	maxText    = 16 << 10
	maxPairs   = 1 << 18
	maxClauses = 200
)

// Notes of one call that are all large share a bound besides: a unit of work takes some nanoseconds, and a call may
// do firstWork of them and noteWork more for each note: sixteen memories beside each note, all of eighty words. What
// is compared after that is superseded by proof alone: nothing is flagged, and nothing called a conflict. Proof has
// firstWork of its own; after that nothing is compared.
const (
	firstWork = 1 << 24
	noteWork  = 1 << 18
)

// clauseWords is how many words take the time of one clause more.
const clauseWords = 8

// work is what was done and not granted yet.
type work int

func (w *work) grant() { *w = max(0, *w-noteWork) }

// spend reports whether two texts may be compared, and counts it.
func (w *work) spend(n, o *reading) bool {
	if *w > firstWork {
		return false
	}
	*w += work((len(n.words) + clauseWords*len(n.clauses)) * (len(o.words) + clauseWords*len(o.clauses)))
	return true
}

// over reports whether no proof is looked for any more.
func (w *work) over() bool { return *w > 2*firstWork }
