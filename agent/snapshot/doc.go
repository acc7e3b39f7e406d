// Package snapshot renders what an agent is given of a vault when a conversation begins: the
// notebooks, what is pinned, the memories that matter most, and the names of skills, within a budget of
// tokens.
//
// The same files, budget and query give the same bytes, in every full clone: times are measured from the
// commit's, nothing is asked of an embedder, and memories are chosen by what the index has of them.
// Nothing is written. What a memory says cannot end the block that it stands in, and what reads like
// orders to a model is masked unless the user wrote it or stands by it. What agents wrote, or was imported, says so;
// what they pinned has a bounded share of the budget, behind what the user pinned, and of what nobody pinned no two of
// theirs stand in a row while one of the user's is left.
//
//	s, err := snapshot.Take(ctx, v, x, snapshot.Options{Budget: 2500})
//	os.Stdout.WriteString(s.Text)
package snapshot

import (
	"context"
	"time"

	"stet/vault"
)

// Options say what a snapshot holds.
type Options struct {
	Budget int    // tokens, see Snapshot.Tokens
	Query  string // what the best memories are about, as search takes it; "" takes the most important
	Past   *Past  // the commit that is shown in place of the files on disk; nil is none
	Now    time.Time
	Look   *vault.Look // at the files on disk, for who has looked; nil looks
}

// A Past is the vault as one commit has it.
type Past struct {
	Files  *vault.Snapshot
	Commit vault.Commit
	List   func(context.Context, vault.WalkOptions) ([]vault.File, error) // its Markdown files
}

// A Skill is a line of the catalogue.
type Skill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Orders      []string `json:"orders,omitempty"` // rules that say it reads like orders
	Masked      bool     `json:"masked,omitempty"` // Name is a mask for that, Description ""
	CreatedBy   string   `json:"created_by,omitempty"`
}

// A Snapshot is what an agent is given, and of what it was made.
type Snapshot struct {
	Commit vault.Revision `json:"commit,omitempty"` // HEAD, or the one that was asked for
	Date   string         `json:"date"`             // of the commit, YYYY-MM-DD, UTC
	Budget int            `json:"budget"`
	// Tokens is the length of Text as it is estimated: a quarter of its ASCII characters, and one
	// for every other character.
	Tokens    int          `json:"tokens"`
	Query     string       `json:"query,omitempty"`
	SHA256    string       `json:"sha256"`          // of Text
	Dirty     []vault.Path `json:"dirty,omitempty"` // shown as they are on disk, and not committed
	Notebooks []Notebook   `json:"notebooks"`
	Items     []Item       `json:"items"` // memories, in order
	Skills    []Skill      `json:"skills"`
	LeftOut   LeftOut      `json:"left_out"`
	Text      string       `json:"text"` // the block, in Markdown
}

// A Notebook is USER.md or MEMORY.md.
type Notebook struct {
	Path       vault.Path `json:"path"`
	Characters int        `json:"characters"` // of all its entries
	Limit      int        `json:"limit"`
	Percent    int        `json:"percent"`
	Masked     int        `json:"masked,omitempty"` // entries and headings of which the text is not shown

	pieces []piece
}

// An Item is a memory in the snapshot.
type Item struct {
	Path            vault.Path `json:"path"`
	ID              string     `json:"id,omitempty"`
	Kind            string     `json:"kind,omitempty"`
	Author          string     `json:"author,omitempty"` // the agent or other person that wrote it, if asked for
	Origin          string     `json:"origin,omitempty"` // agent, person or import, where that was asked for
	Source          string     `json:"-"`                // what its front matter says of where it came from
	Date            string     `json:"date,omitempty"`   // when it was updated or made, YYYY-MM-DD, UTC
	Importance      *float64   `json:"importance,omitempty"`
	Pinned          bool       `json:"pinned,omitempty"`
	Found           int        `json:"found,omitempty"`              // its place among what the query finds, from 1
	MayBeOutdatedBy string     `json:"may_be_outdated_by,omitempty"` // a path and its date
	Orders          []string   `json:"orders,omitempty"`             // rules that say it reads like orders
	Masked          bool       `json:"masked,omitempty"`             // its text is not shown for that
	Cut             int        `json:"cut,omitempty"`                // characters at its end that are not shown

	name, text string // as shown
	by         string // whose work it is, "" for the user's
	block      string // its lines in the text
}

// LeftOut counts what the budget had no room for.
type LeftOut struct {
	Entries  int `json:"entries,omitempty"` // of notebooks
	Pinned   int `json:"pinned,omitempty"`
	Memories int `json:"memories,omitempty"`
	Skills   int `json:"skills,omitempty"`
}
