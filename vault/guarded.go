package vault

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"stet/templates"
	"stet/vault/store"

	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/settings"
)

// No commit of stet's brings a secret into the history: every transaction
// passes here between its last change and its first commit.
//
//	machine write with a secret                  refused, nothing is written
//	hand edit with a secret, file not written    left uncommitted, named
//	hand edit with a secret, file to be written  refused: committing the edit
//	                                             first would commit the secret
//
// Only what is new is judged. What HEAD holds in one of the files touched is in
// the history already and must not block an edit beside it, a move or an
// archive. A revert or undo that would bring back what HEAD has no more is
// refused like any write: someone took it out.

func (v *Vault) policy() guard.Policy { return policyOf(v.settings) }

func policyOf(s settings.Settings) guard.Policy {
	return guard.Policy{Secrets: s.Text(settings.GuardSecrets), Injection: s.Text(settings.GuardInjection),
		MaxBytes: min(s.Bytes(settings.GuardMaxBytes), MaxFileSize), Allow: s.List(settings.GuardAllow)}
}

// judge looks at one transaction.
type judge struct {
	policy  guard.Policy
	objects *gitstore.Objects
	touched map[Path]*store.Touched
	known   map[string]bool // secrets that HEAD holds in the touched files
	judged  map[judgedKey]judged
	heard   map[string]bool      // orders that HEAD holds in them
	read    map[string]bool      // orders that HEAD or the disk holds in them
	maybe   map[string]bool      // what HEAD holds in them and may be a secret
	stands  map[gitstore.ID]bool // the contents that HEAD has of them
	// An adopted edit is looked at twice, before and in its commit.
	seen map[seenKey][]guard.Finding
	log  func() iter.Seq2[Commit, error] // from HEAD on, with changes
}

type seenKey struct {
	path Path
	id   gitstore.ID
}

func newJudge(t *Tx) *judge {
	return &judge{policy: t.v.policy(), objects: t.tx.Objects, touched: t.tx.Touched(), judged: t.v.judged,
		seen: map[seenKey][]guard.Finding{}, log: func() iter.Seq2[Commit, error] {
			return t.v.History().Log(context.Background(), LogOptions{Changes: true})
		}}
}

// secrets lists the new secrets in a file, name included.
func (j *judge) secrets(p Path, f store.Content) ([]guard.Finding, error) {
	if j.policy.Secrets == guard.Off {
		return nil, nil
	}
	key := seenKey{p, f.ID}
	found, known := j.seen[key]
	if was, ok := j.judged[judgedKeyOf(p, f.ID)]; ok {
		found, known = append(guard.NameSecrets(string(p)), was.secrets...), true
	}
	if !known {
		found = append(guard.NameSecrets(string(p)), refusedIn(f.Data, p)...)
		j.seen[key] = found
	}
	before, err := j.inHead(p)
	if err != nil {
		return nil, err
	}
	found = slices.Concat(found, guard.Seams(string(p), before, f.Data))
	return j.fresh(found, &j.known, secretsIn, false)
}

func secretsIn(data []byte, p Path) []guard.Finding {
	return append(guard.NameSecrets(string(p)), guard.Secrets(string(p), data)...)
}

// orders lists the new orders in a file. To a machine's write those that a
// person left on disk are not new; to the commit of that edit they are.
func (j *judge) orders(p Path, f store.Content, byHand bool) ([]guard.Finding, error) {
	if j.policy.Injection == guard.Off {
		return nil, nil
	}
	have := &j.read
	if byHand {
		have = &j.heard
	}
	return j.fresh(append(guard.NameInjections(string(p)), j.unheard(p, f)...), have, ordersIn, !byHand)
}

func ordersIn(data []byte, p Path) []guard.Finding {
	return append(guard.NameInjections(string(p)), guard.Injections(data)...)
}

// fresh drops what is allowed and what stands in the touched files already.
// Those are read only when something was found.
func (j *judge) fresh(found []guard.Finding, have *map[string]bool, scan func([]byte, Path) []guard.Finding, disk bool) ([]guard.Finding, error) {
	found = slices.DeleteFunc(found, j.policy.Allowed)
	if len(found) == 0 {
		return nil, nil
	}
	if *have == nil {
		*have = map[string]bool{}
		for p, at := range j.touched {
			var texts [][]byte
			if !at.InHead.ID.IsZero() {
				data, err := j.inHead(p)
				if err != nil {
					return nil, err
				}
				texts = append(texts, data)
			}
			if disk && at.Disk.Exists && at.Disk.ID != at.InHead.ID {
				texts = append(texts, at.Disk.Data)
			}
			for _, data := range texts {
				for _, f := range scan(data, p) {
					(*have)[f.Fingerprint] = true
				}
			}
		}
	}
	return slices.DeleteFunc(found, func(f guard.Finding) bool { return (*have)[f.Fingerprint] }), nil
}

// guardEdits takes hand edits with secrets, or too large ones, out of what is
// about to be committed. A file that is to be written as well is refused.
func (t *Tx) guardEdits(ctx context.Context, edits ...*store.Group) error {
	t.judge = newJudge(t)
	asked := map[Path]bool{}
	for _, p := range t.named {
		asked[p] = true
	}
	for _, g := range t.tx.Groups {
		for _, p := range g.Paths {
			asked[p] = true
		}
	}
	hold := map[Path]bool{}
	for _, g := range edits {
		for _, p := range g.Paths {
			f := g.Files[p]
			if f.Remove || hold[p] {
				continue
			}
			if err := context.Cause(ctx); err != nil {
				return err // a first adopt can be a hundred thousand files
			}
			problem, err := t.judge.hold(p, f)
			if err != nil && (asked[p] || !errors.Is(err, ErrRefused) && !errors.Is(err, ErrTooLarge)) {
				return err
			}
			if err != nil {
				hold[p] = true
				t.held = append(t.held, problem)
			}
		}
	}
	for _, g := range edits {
		g.Paths = slices.DeleteFunc(g.Paths, func(p Path) bool { return hold[p] })
		for p := range hold {
			delete(g.Files, p)
		}
	}
	return nil
}

// hold says why a hand edit must not be committed: as an error, and as the
// problem that replies and status show.
func (j *judge) hold(p Path, f store.Content) (Problem, error) {
	if int64(len(f.Data)) > j.policy.MaxBytes {
		err := tooLarge(p, int64(len(f.Data)), j.policy.MaxBytes)
		return Problem{ID: "too-large", Path: p, Text: fmt.Sprintf("%s, guard.max_bytes is %d",
			templates.Plural(len(f.Data), "byte"), j.policy.MaxBytes), Hint: "it is left uncommitted"}, err
	}
	found, err := j.secrets(p, f)
	if err != nil || len(found) == 0 || j.policy.Secrets != guard.Block {
		return Problem{}, err
	}
	refusal := &GuardError{Path: p, Findings: found, ByHand: true, kind: ErrSecret}
	return secretProblem(p, found), refusal
}

// guardGroups judges the commits that are to be made. What is only flagged is
// said in the commit's trailers and in the reply.
func (t *Tx) guardGroups(ctx context.Context, groups ...*store.Group) error {
	j := t.judge
	for _, g := range groups {
		if len(g.Paths) == 0 {
			continue
		}
		var rules []string
		for i, p := range g.Paths {
			t.v.store.Progress("checking", i, len(g.Paths))
			f := g.Files[p]
			if f.Remove {
				continue
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			f, err := t.tx.Load(p, f)
			if err != nil {
				return err
			}
			if err := j.fits(p, f, whyOf(g.Why)); err != nil {
				return err
			}
			found, err := j.judge(g, p, f)
			if err != nil {
				return err
			}
			rules = append(rules, t.flag(string(p), found)...)
		}
		t.v.store.Progress("checking", len(g.Paths), len(g.Paths))
		if err := j.message(g); err != nil {
			return err
		}
		why := whyOf(g.Why)
		given, err := j.given(why)
		if err != nil {
			return err
		}
		rules = append(rules, t.flag("an argument", given)...)
		slices.Sort(rules)
		for _, r := range slices.Compact(rules) {
			why.Trail("Stet-Flag", r)
		}
	}
	if more := len(t.warnings) - mostWarnings; more > 0 {
		t.warnings = append(t.warnings[:mostWarnings], fmt.Sprintf("and %d more were flagged; the commits' Stet-Flag trailers name the rules", more))
	}
	return nil
}

// mostWarnings is what a person reads of the flags of one write; adopting a
// folder of notes can find thousands.
const mostWarnings = 20

// judge refuses what the policy blocks and returns what it flags.
func (j *judge) judge(g *store.Group, p Path, f store.Content) ([]guard.Finding, error) {
	secrets, err := j.secrets(p, f)
	if err != nil {
		return nil, err
	}
	if len(secrets) > 0 && j.policy.Secrets == guard.Block {
		return nil, j.refusal(p, f.Data, secrets, ErrSecret)
	}
	if ClassOf(p) == ClassReport && !p.IsMarkdown() {
		return secrets, nil // for programs: no model reads it
	}
	orders, err := j.orders(p, f, whyOf(g.Why).Op == OpAdopt)
	if err != nil {
		return nil, err
	}
	if whyOf(g.Why).Op == OpReport {
		likely, err := j.likely(p, f)
		if err == nil {
			orders, err = j.unquoted(append(orders, likely...), whyOf(g.Why).Run)
		}
		return append(secrets, orders...), err
	}
	// A person may write what they like; who acts for them may not. A transcript
	// says what was said: it is flagged and never refused, as a report.
	if len(orders) > 0 && ClassOf(p) != ClassSession && j.policy.Injection == guard.Block && whyOf(g.Why).actor() != ActorUser {
		return nil, j.refusal(p, f.Data, orders, ErrInjection)
	}
	likely, err := j.likely(p, f)
	return slices.Concat(secrets, likely, orders), err
}

// leftOut stands where a commit message would have repeated a secret.
const leftOut = "(left out: it looks like a secret)"

// message refuses a secret in what the commit says about itself. One that HEAD
// holds already, in the first words of a memory that is forgotten say, is left
// out of the subject and the body that repeat it, and so is one in the subject of a
// commit that is taken back: cut short, it is half a token that nobody could allow.
// The trailers keep it: they name files, history follows them, and the trees hold the
// same names.
func (j *judge) message(g *store.Group) error {
	if j.policy.Secrets != guard.Block {
		return nil
	}
	why := whyOf(g.Why)
	secrets := func(text string) []guard.Finding {
		return slices.DeleteFunc(guard.NameSecrets(text), j.policy.Allowed)
	}
	repeats := func() bool { return len(secrets(subjectLine(why.Op, why.Subject))) > 0 }
	if len(why.Reverts) > 0 && repeats() {
		why.Subject = leftOut
	}
	found := secrets(why.Message() + why.AgentName)
	if len(found) == 0 {
		return nil
	}
	fresh, err := j.fresh(found, &j.known, secretsIn, false)
	if err != nil {
		return err
	}
	if len(fresh) > 0 {
		return &GuardError{Findings: fresh, kind: ErrSecret}
	}
	if repeats() {
		why.Subject = leftOut
	}
	if len(secrets(why.Body)) > 0 {
		why.Body = leftOut
	}
	return nil
}

// given refuses a secret in the words that names are made of, or returns it where
// it is only flagged.
func (j *judge) given(w *Why) ([]guard.Finding, error) {
	if j.policy.Secrets == guard.Off {
		return nil, nil
	}
	var found []guard.Finding
	for _, word := range w.Given {
		found = append(found, guard.NameSecrets(word)...)
	}
	found, err := j.fresh(found, &j.known, secretsIn, false)
	if err != nil || len(found) == 0 || j.policy.Secrets != guard.Block {
		return found, err
	}
	return nil, &GuardError{Given: true, Findings: found, kind: ErrSecret}
}

// heldBack lists the hand edits that adopting will leave uncommitted.
func (v *Vault) heldBack(ctx context.Context, s *store.Scan) ([]Problem, error) {
	j := &judge{policy: v.policy(), objects: s.Objects, touched: map[Path]*store.Touched{}, seen: map[seenKey][]guard.Finding{}}
	for _, c := range s.Changed {
		j.touched[c.Path] = &store.Touched{InHead: s.Before[c.Path]}
	}
	var out []Problem
	for _, c := range s.Changed {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if c.Status == Deleted {
			continue
		}
		d, err := v.store.Look(c.Path)
		if err != nil {
			return nil, err
		}
		problem, err := j.hold(c.Path, store.Content{Data: d.Data, ID: d.ID})
		switch {
		case problem.ID != "":
			out = append(out, problem)
		case err != nil:
			return nil, err
		}
	}
	return out, nil
}

// preview judges a file of a folder that is no vault yet; one that cannot be
// read is for the real thing to report.
func (j *judge) preview(dir, file string) (Problem, error) {
	rel, err := filepath.Rel(dir, file)
	if err != nil {
		return Problem{}, err
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > MaxFileSize {
		return Problem{}, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Problem{}, nil
	}
	problem, err := j.hold(Path(filepath.ToSlash(rel)), store.Content{Data: data, ID: gitstore.HashBlob(data)})
	if problem.ID != "" {
		return problem, nil
	}
	return problem, err
}
