package encode

import "time"

// Version is the version of the rules as a whole, for "classified_by: rules@N".
const Version = 2

// Authority says how far a memory's word can be trusted. A lower one never
// supersedes a higher one.
type Authority int

// From the weakest to the strongest.
const (
	Inference  Authority = iota // an agent's own conclusion
	Evidence                    // read from a file, a tool or another program
	Statement                   // a person said so
	Correction                  // a person said that something was wrong or has changed
)

// A Memory is what the rules need to know of one.
type Memory struct {
	ID        string // unique among the stored ones
	Text      string
	Title     string // of the note, "" for none: what its pronouns may mean
	Scope     string // where it is filed, "" or "/" for everywhere
	Author    string // who says "I" in it: "" for the person of the vault, else an agent's name
	Authority Authority
	When      time.Time // when it was true from, else when it was written; zero = unknown
}

// A Kind is what a new memory is to a stored one.
type Kind string

// The kinds of verdicts, see docs/FORMAT.md, section Rules.
const (
	Duplicate Kind = "duplicate" // it is said already
	Supersede Kind = "supersede" // the stored one is no longer true
	Conflict  Kind = "conflict"  // both cannot be true, and a person must say which is
	// Flag is likely, not certain: the stored one may no longer be true. Nothing stored
	// changes; Confidence is the probability.
	Flag Kind = "may_outdate"
	// Update is never said by the rules: the stored one says both from now on.
	Update Kind = "update"
)

// Sure is the confidence from which on a verdict is acted on. Specified in
// cognitive.md 6.3: whatever lies below is never applied destructively.
const Sure = 0.85

// A Verdict is what the rules say of one stored memory.
type Verdict struct {
	Kind       Kind
	Old        string  // id of the stored memory
	Rule       string  // name and version of the rule: "change-cue@1"
	Confidence float64 // 0 to 1; of a Flag a calibrated probability
	// Rest is the stored text without the clause that is no longer true; "" when
	// nothing of it would be left, or for other kinds than Supersede. Of an Update
	// it is what the stored one says from now on.
	Rest string
	// Said and Was are the two clauses, for people to compare.
	Said, Was string
	// Gone are the clauses of the stored text that Rest leaves out, in their order, each
	// byte for byte as it stands there. Set for Supersede alone.
	Gone []string
	// Why are the features that decided, the heaviest first.
	Why []Reason
}

// A Reason is one feature that counted in a verdict.
type Reason struct {
	Feature string  // its name
	Weight  float64 // what it added to the logarithm of the odds; 0 for a rule of proof
	Words   string  // the words it was seen in, "" where it is about the whole
}

// A Corpus tells how common a word is among the memories of a vault. The zero value
// knows nothing.
type Corpus struct {
	Total int                   // memories
	Count func(stem string) int // those that hold a word of this stem, see [Stem]
}

// A Plan is what shall become of a new memory. With a Duplicate there are no
// Verdicts and nothing is to be written.
type Plan struct {
	Duplicate *Verdict
	Verdicts  []Verdict // at most one for each stored memory, by id
	// Cut is how many stored memories were not compared to the end: the notes before had taken all the work that
	// their [Reader] may do.
	Cut int
}

// The rules, see [Rules].
const (
	ruleSame     = "same-text@1"
	ruleWords    = "same-words@2"
	ruleChange   = "explicit-change@2"
	ruleKind     = "change-of-kind@2"
	ruleRestated = "restated-value@2"
	ruleEnded    = "explicit-end@2"
	ruleNegation = "negation@2"
	ruleScorer   = "scorer@1"
)

// SameText is the rule for texts that are the same word for word.
const SameText = ruleSame

// WasSure reports a conflict that a rule of proof found, and that is one only because of
// whose word the stored memory is, because it is the later one, or because the rest of
// it could not be read without the clause.
func WasSure(v Verdict) bool {
	return v.Kind == Conflict && v.Rule != ruleNegation && v.Rule != ruleScorer
}

// Rules lists the rules by name and version.
func Rules() []string {
	return []string{ruleSame, ruleWords, ruleChange, ruleKind, ruleRestated, ruleEnded, ruleNegation, ruleScorer}
}
