// Package doctor knows what can be wrong with a vault: one row for each thing,
// with what it finds and what it mends. Looking writes nothing. Mending is a
// commit, or concerns git's index and the search index, which are made anew
// from what stands in HEAD and in the files; a person's bytes are changed by
// nothing but such a commit.
//
//	report, err := doctor.Examine(ctx, v, doctor.Options{Index: x, Fix: true})
//	for _, p := range report.Problems { … } // what is left
package doctor

import (
	"context"
	"slices"
	"time"

	"stet/vault"
)

// A Check is one kind of finding.
type Check struct {
	ID    string `json:"id"` // of the problems it finds
	Finds string `json:"finds"`
	Mends string `json:"mends"` // what fixing does; "" leaves it to the person
	look  func(context.Context, *exam) error
	mend  func(context.Context, *exam, []vault.Problem) error
}

// Checks lists every kind of finding. Those without a function of their own
// are found by another: the repository and the files are gone through once.
func Checks() []Check {
	return []Check{
		{ID: "head", Finds: "HEAD leads to no commit that can be read", look: repository},
		{ID: "branch", Finds: "a branch cannot be read, or its reflog names newer commits than it holds"},
		{ID: "missing-object", Finds: "what HEAD or the history holds of a file cannot be read", Mends: "it is written again from the file, where that still has it", mend: mendRepository},
		{ID: "git-index-unreadable", Finds: "git's own index cannot be read", Mends: "it is built anew from HEAD; what was staged by hand is not in it", mend: mendRepository},
		{ID: "git-index", Finds: "a file that HEAD and the disk hold is missing in git's index, so that the next git commit would remove it", Mends: "it is added to git's index again", mend: mendRepository},
		{ID: "in-progress", Finds: "a merge, rebase, cherry-pick, revert or bisect that was begun and not ended"},
		{ID: "unmerged", Finds: "a file that a merge of git's left in conflict"},
		{ID: "archived-edit", Finds: "a merge that brought an edit of a forgotten memory into the archive; advice, no damage"},
		{ID: "link", Finds: "a symbolic link in the place of a committed file or folder: nothing behind it is found"},
		{ID: "stray-lock", Finds: "a lock file of git's that is minutes old: git was killed"},
		{ID: "kept-bytes", Finds: "an edit that met a write in the same instant, kept aside"},
		{ID: "ignored", Finds: "an ignore rule that hides the vault or stet's own folders"},
		{ID: "attachment", Finds: "a file that is no Markdown, which git has and the disk has not; advice, no damage"},
		{ID: "git-rules", Finds: "an edit of .gitignore or .gitattributes that is not committed; advice, no damage"},
		{ID: "configuration", Finds: "a key of the vault's configuration that does not count"},
		{ID: "hooks", Finds: "a client that starts a stet which is not there, or lacks some hooks; advice, no damage"},
		{ID: "attributes", Finds: "a changed file whose bytes git itself converts, so that stet leaves it alone"},
		{ID: "unreadable", Finds: "a file or folder that cannot be read, or is too large"},
		{ID: "tombstone", Finds: "a record of a rejection that cannot be read"},
		{ID: "proposal", Finds: "what waits for the person and cannot be read", look: proposals},
		{ID: "front-matter", Finds: "front matter that is no YAML", look: files},
		{ID: "conflict-marker", Finds: "the marks of a merge that was never finished"},
		{ID: "deep-nesting", Finds: "Markdown nested so deeply, or so full of unclosed marks, that it is read as text"},
		{ID: "secret", Finds: "a password, key or token in a file"},
		{ID: "likely-secret", Finds: "what may be a secret in a transcript; advice, no damage"},
		{ID: "duplicate-id", Finds: "two files with the same id", Mends: "the younger one gets an id of its own, in a commit", mend: mendIDs},
		{ID: "dangling-id", Finds: "supersedes, superseded_by, conflicts_with or may_outdate names a memory that is not there"},
		{ID: "name", Finds: "a name that Windows gives no file, or that differs in case alone; advice, no damage"},
		{ID: "pending", Finds: "memories that a model was asked about and did not finish; advice, no damage"},
		{ID: "notebook-size", Finds: "a notebook that holds more than its limit", look: notebooks},
		{ID: "dead-link", Finds: "a link in a memory, notebook or skill that leads to nothing", look: deadLinks},
		{ID: "public-remote", Finds: "transcripts are committed, and a remote leads to a host of public repositories; advice, no damage", look: publicRemotes},
		{ID: "hook-log", Finds: "a hook of a client could not handle an event; advice, no damage",
			look: hooks},
		{ID: "hidden", Finds: "Markdown that is no note, since its name begins with a dot; advice, no damage"},
		{ID: "kept-edit", Finds: "the text of an edit that was not stored is kept; advice, no damage", look: keptEdits},
		{ID: "search-index", Finds: "the search index does not agree with itself", Mends: "it is built anew from the files", look: searchIndex, mend: mendIndex},
	}
}

// An Index is the search index, which a package above this one owns.
type Index interface {
	// Check reports problems with the ID "search-index".
	Check(context.Context) ([]vault.Problem, error)
	// Mend builds the index anew.
	Mend(context.Context) error
	// IDs tells the id of every file that the index knows, "" for none. It fails where the index does not have
	// the given files as they stand on disk.
	IDs(files []vault.File, see func(vault.Path, string)) error
}

// Options say how to examine.
type Options struct {
	Index Index // nil: not looked at
	Fix   bool  // mend what can be mended
	// Read is of how many files the contents are read, 0 for all. Where a vault has more, those that are
	// no notes go first, then what changed last; [Report.Unread] counts the others.
	Read int
	// Progress is told of the files that were read; nil for nobody.
	Progress func(vault.Event)
	Door     string
	Now      time.Time // of the examination; what is known of a time long before it is not told
}

// A Report is what was found, and with Fix what was mended.
type Report struct {
	Problems []vault.Problem // what is left
	Fixed    []vault.Problem
	Commits  []vault.Commit // that mending made
	Changes  []vault.Change
	Warnings []string // of those commits: what the next command has to finish
	// Unread counts the files whose contents were left unread. Then nothing is said of dead links, and
	// of ids that nothing has only where an index knows all ids.
	Unread int
}

// Examine runs every check and, with o.Fix, mends and looks again, so that
// what it reports as mended is.
func Examine(ctx context.Context, v *vault.Vault, o Options) (Report, error) {
	x := &exam{v: v, o: o}
	if err := x.look(ctx); err != nil || !o.Fix {
		return Report{Problems: x.found, Unread: x.unread}, err
	}
	before := x.found
	for _, c := range Checks() {
		mine := slices.DeleteFunc(slices.Clone(before), func(p vault.Problem) bool { return p.ID != c.ID || !p.Fixable })
		if len(mine) == 0 || c.mend == nil {
			continue
		}
		if err := c.mend(ctx, x, mine); err != nil {
			return Report{Problems: before}, err
		}
	}
	again := &exam{v: v, o: o}
	err := again.look(ctx)
	r := Report{Problems: again.found, Commits: x.commits, Changes: x.changes, Warnings: x.warned,
		Unread: again.unread}
	r.Fixed = slices.DeleteFunc(before, func(p vault.Problem) bool { return slices.Contains(again.found, p) })
	return r, err
}

// exam is one look at a vault.
type exam struct {
	v       *vault.Vault
	o       Options
	found   []vault.Problem
	commits []vault.Commit
	changes []vault.Change
	warned  []string
	unread  int
}

func (x *exam) look(ctx context.Context) error {
	for _, c := range Checks() {
		if c.look == nil {
			continue
		}
		if err := c.look(ctx, x); err != nil {
			return err
		}
		if slices.ContainsFunc(x.found, func(p vault.Problem) bool { return p.ID == "head" }) {
			return nil // nothing else can be said without a commit to compare with
		}
	}
	return nil
}

func (x *exam) add(p vault.Problem) { x.found = append(x.found, p) }

func repository(ctx context.Context, x *exam) error {
	found, err := x.v.Check(ctx)
	x.found = append(x.found, found...)
	return err
}

func mendRepository(ctx context.Context, x *exam, found []vault.Problem) error {
	_, err := x.v.Fix(ctx, found)
	return err
}

func searchIndex(ctx context.Context, x *exam) error {
	if x.o.Index == nil {
		return nil
	}
	found, err := x.o.Index.Check(ctx)
	x.found = append(x.found, found...)
	return err
}

func mendIndex(ctx context.Context, x *exam, _ []vault.Problem) error { return x.o.Index.Mend(ctx) }
