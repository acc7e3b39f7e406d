package vault

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"stet/markdown"
	"stet/templates"
	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/tombstone"
)

// An Op is what a commit did, the value of its Stet-Op trailer.
type Op string

// The operations of docs/FORMAT.md, section Trailers.
const (
	OpRemember Op = "remember"
	OpUpdate   Op = "update"
	OpForget   Op = "forget"
	OpMove     Op = "move"
	OpPin      Op = "pin"
	OpAdopt    Op = "adopt"
	OpRevert   Op = "revert"
	OpRestore  Op = "restore"
	OpConfig   Op = "config"
	OpSeal     Op = "seal"
	OpImport   Op = "import"
	OpEncode   Op = "encode"
	OpPropose  Op = "propose"     // a write by a machine that waits for approval
	OpReject   Op = "reject"      // a proposal that a person rejected
	OpSkill    Op = "skill"       // a skill made, changed, archived or restored
	OpArchive  Op = "archive"     // by the curator: something went to the archive
	OpCurate   Op = "curate"      // by the curator: states of skills, and how often they were used
	OpMerge    Op = "consolidate" // by the curator: skills became one
	OpReport   Op = "report"      // by the curator: what a run did
)

// An operation is how commits of one kind are treated.
type operation struct {
	op     Op
	person bool // only a person may do it
	staged bool // a machine's waits for approval where memory.write_approval is "stage"
	undone bool // "stet undo" takes it back; any operation can be reverted by name
	// settled says that such a commit was compared with the tombstones, and that git
	// reverts before it were taken into account.
	settled bool
	// states says that it may bring a text that was rejected before.
	states bool
	// words says that what it names has the words that the commit gave it.
	words bool
	// unflags says that flags on what it rewrites or archives lose their reason.
	unflags bool
	// rule says that a rule decided it, which nobody is to be asked about: it is refused where it would need a
	// person's word.
	rule bool
}

// operations lists every operation in the order in which help names them.
func operations() []operation {
	return []operation{
		{op: OpRemember, staged: true, undone: true, settled: true, states: true, unflags: true, words: true},
		{op: OpUpdate, staged: true, undone: true, settled: true, states: true, unflags: true, words: true},
		{op: OpForget, staged: true, undone: true, settled: true, unflags: true},
		{op: OpMove, staged: true, undone: true, settled: true},
		{op: OpPin, staged: true, undone: true, settled: true},
		{op: OpAdopt, person: true},
		{op: OpRevert, staged: true, undone: true, settled: true, states: true},
		{op: OpRestore, staged: true, undone: true, settled: true, states: true},
		{op: OpConfig},
		{op: OpSeal, settled: true},
		{op: OpImport, undone: true, settled: true, states: true, unflags: true, words: true},
		{op: OpEncode, staged: true, undone: true, settled: true, states: true, unflags: true, words: true},
		{op: OpPropose, settled: true, states: true},
		{op: OpSkill, staged: true, undone: true, settled: true, states: true},
		{op: OpArchive, staged: true, undone: true, settled: true, unflags: true, rule: true},
		{op: OpCurate, staged: true, undone: true, settled: true, rule: true},
		{op: OpMerge, staged: true, undone: true, settled: true, states: true, rule: true},
		{op: OpReport},
		{op: OpReject, person: true, undone: true, settled: true, states: true},
	}
}

// known is how an operation is treated. One of a later stet counts as a write of
// texts; "", a commit made with git, as none.
func (o Op) known() operation {
	all := operations()
	if i := slices.IndexFunc(all, func(k operation) bool { return k.op == o }); i >= 0 {
		return all[i]
	}
	later := o != ""
	return operation{op: o, undone: later, settled: later, states: later}
}

// meant is the operation that a person means who types its name, or another word for forget.
func (o Op) meant() Op {
	if o == "delete" || o == "remove" {
		return OpForget
	}
	return o
}

// check refuses the name of no operation.
func (o Op) check() error {
	var names []string
	for _, k := range operations() {
		if k.op == o {
			return nil
		}
		names = append(names, string(k.op))
	}
	err := fmt.Errorf("%w: unknown operation %q", ErrInvalid, o)
	return WithHint(err, "one of %s", strings.Join(names, ", "))
}

// Staged reports whether a machine's write of this kind can wait for approval.
func (o Op) Staged() bool { return o.known().staged }

// checkActor refuses a machine what only a person may do, and the name of the person, who may have several.
func (w *Why) checkActor(users func() []string) error {
	if w.actor() == ActorUser {
		return nil
	}
	name := markdown.Fold(norm.NFKC.String(oneLine(w.machineName())))
	persons := append(users(), ActorUser, "me", "stet")
	same := slices.IndexFunc(persons, func(other string) bool { return lettersOf(other) == lettersOf(name) })
	why := ""
	switch {
	case w.Op == OpSeal:
	case same >= 0:
		why = fmt.Sprintf("it reads like %q, the name of the user", persons[same])
	case w.Actor == "agent" && slices.Contains(takenNames(), strings.TrimRight(lettersOf(name), "0123456789")):
		why = "stet calls itself, what it does or the user so, or who has a say over agents is called so"
	case strings.Contains(name, "..") || strings.TrimLeft(name, `./\~`) != name:
		why = "it reads like a path"
	case len([]rune(name)) > mostName:
		why = fmt.Sprintf("it has %s, and may have %s", templates.Plural(len([]rune(name)), "character"),
			templates.Plural(mostName, "character"))
	case scriptsOf(name) > 1:
		why = "its letters are of scripts that look alike"
	case guard.Seen(name) != name || strings.ContainsAny(name, "[]"):
		why = "it holds brackets, or characters that nobody sees"
	}
	if why != "" {
		return WithHint(fmt.Errorf("%s as %.80q: %w: %s", w.Op, w.AgentName, ErrRefused, why),
			"an agent has a name of its own, in one script; \"git config user.name\" is the user's")
	}
	if w.Op.known().person {
		return fmt.Errorf("%s as %q: %w: only a person may do that", w.Op, w.actor(), ErrRefused)
	}
	return nil
}

// Check fails with [ErrRefused] for an agent whose name none may have that writes to v.
func (w Writer) Check(v *Vault) error {
	why := Why{Op: OpRemember, Writer: w}
	return why.checkActor(v.namesOfUser)
}

// mostName is how many characters the name of an agent has at most: it stands on one line with what it is about.
const mostName = 64

// takenNames are names that stet shows for somebody else than an agent that a client starts, or that people have who
// tell agents what to do.
func takenNames() []string {
	return []string{"you", "yourself", "person", "curator", "nudge", "import", "hook",
		"human", "owner", "admin", "administrator", "root", "operator", "system"}
}

// namesOfUser are the names that the user has by git's configuration, and those under which the user moved HEAD in
// this clone: an agent may give git another home.
func (v *Vault) namesOfUser() []string {
	const few = 32 // commits of a name, of which one has to be the user's
	repo := v.store.Repo()
	out := repo.Config().Names()
	tips, cloned := gitstore.Movers(repo, few)
	objects := repo.Stage()
	for name, ids := range tips {
		if slices.Contains(out, name) {
			continue
		}
		// Whoever writes for an agent commits under the user's name, and an agent may commit with git under its own.
		own := func(id gitstore.ID) bool {
			gc, err := objects.Commit(id)
			c := commitOf(gc)
			return err == nil && c.Author == name && c.Op != "" && !c.ByMachine() && !c.Nameless()
		}
		if name != "" && (cloned[name] || slices.ContainsFunc(ids, own)) {
			out = append(out, name)
		}
	}
	return out
}

// lettersOf is what a reader may take a name for: its letters without accents and marks, those of other scripts as the
// Latin ones that they look like, also where they do so only in a name (п, г, ь).
func lettersOf(name string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, norm.NFKD.String(markdown.Fold(tombstone.Latin(markdown.Fold(name)))))
	return cmp.Or(strings.NewReplacer("п", "n", "г", "r", "ь", "b").Replace(plain), name)
}

// scriptsOf is how many scripts with letters that look alike a name is written in.
func scriptsOf(name string) (n int) {
	for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian,
		unicode.Cherokee, unicode.Coptic} {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(script, r) }) {
			n++
		}
	}
	return n
}

// revertSubject is the subject of the revert of some commits.
func revertSubject(commits []Commit) string {
	if len(commits) > 1 {
		return templates.Plural(len(commits), "commit")
	}
	// The revert of a revert quotes what that took back, not the revert itself.
	const again = "reapply "
	reverted, ok := strings.CutPrefix(commits[0].Subject, string(OpRevert)+": ")
	switch quoted, was := strings.CutPrefix(reverted, again); {
	case !ok || commits[0].Op != OpRevert:
		return fmt.Sprintf("%q", commits[0].Subject)
	case was:
		return quoted
	}
	return again + reverted
}
