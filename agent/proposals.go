package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/agent/approval"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/scan"
)

// A Proposal is a write of an agent that waits for the user's approval.
type Proposal struct {
	ID      string     `json:"id"`
	Path    vault.Path `json:"path"`
	Op      string     `json:"op"`
	Subject string     `json:"subject"`
	By      string     `json:"by"`
	At      time.Time  `json:"at"` // UTC
	Session string     `json:"session,omitempty"`
	Waits   string     `json:"waits,omitempty"` // why it was not done at once, in words
	About   string     `json:"about"`           // the first file that it would change
	// Diff is what accepting it would change now, Problem why it cannot be accepted;
	// [History.Preview] fills them.
	Diff    string `json:"diff,omitempty"`
	Problem string `json:"problem,omitempty"`
	Remarks        // [History.Preview] fills them
	waiting approval.Waiting
}

// A DecidedProposal is one that was accepted or rejected.
type DecidedProposal struct {
	Proposal
	Verdict   string  `json:"verdict"`             // "accepted" or "rejected"
	Unchanged bool    `json:"unchanged,omitempty"` // the text is stored already
	Write     Written `json:"write"`
}

// Proposals are the writes that wait, oldest first, and those just decided.
type Proposals struct {
	Proposed []Proposal        `json:"proposed"`
	Decided  []DecidedProposal `json:"decided"`
	Problems []vault.Problem   `json:"problems,omitempty"` // files that are no proposals
	Skills   []WaitingSkill    `json:"skills"`             // those from elsewhere that wait, and those just decided
	DryRun   bool              `json:"dry_run,omitempty"`
}

// Proposals lists what waits, without previews, and to an agent without what is private.
func (h History) Proposals(ctx context.Context) (*Proposals, error) {
	all, problems, err := approval.List(ctx, h.a.v)
	if err != nil {
		return nil, err
	}
	for _, p := range problems {
		h.a.warn("%s", ProblemLine(p))
	}
	out := &Proposals{Proposed: []Proposal{}, Decided: []DecidedProposal{}, Problems: problems,
		Skills: []WaitingSkill{}}
	for _, w := range all {
		p := w.Proposal
		out.Proposed = append(out.Proposed, Proposal{
			ID: w.ID, Path: w.Path, Op: p.Op, Subject: p.Subject, By: cmp.Or(p.By, p.Actor), At: utc(p.At),
			Session: p.Session, Waits: p.Waits, About: p.Files[0].Path, waiting: w,
		})
	}
	first := map[string]int{} // those of one file stand together
	for i, p := range slices.Backward(out.Proposed) {
		first[p.About] = i
	}
	slices.SortStableFunc(out.Proposed, func(a, b Proposal) int { return first[a.About] - first[b.About] })
	return out, nil
}

// Preview fills what accepting a proposal would change now.
func (h History) Preview(ctx context.Context, p *Proposal) error {
	res, err := h.accept(ctx, *p, Write{DryRun: true})
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		p.Problem = err.Error()
	case len(res.Plan.Decisions()) > 0 && len(res.Memories) > 0 && onlyProposals(res.Changes):
		p.Problem = fmt.Sprintf("already stored in %s", res.Memories[0].Path)
	default:
		p.Diff, p.Flags = WithoutRecords(res.Diff), res.Warnings
		p.Lifts, err = approval.Lifted(h.a.v, res.Changes)
		return errors.Join(err, h.remark(ctx, p))
	}
	return nil
}

// shownName is the name under which local state lists what the user was shown, a line each: a proposal's id with the
// hash of its file, a skill's folder, escaped as in a query of a URL, with its git tree.
const shownName = "shown"

// Shown notes that the user was shown these of the proposals that wait: an answer is about what they saw. A dry run
// notes nothing. It fails with [vault.ErrRefused] for an agent.
func (h History) Shown(ctx context.Context, by Write, all []Proposal) error {
	var lines []string
	for _, p := range all {
		lines = append(lines, p.shown())
	}
	return h.a.noteShown(ctx, by, lines)
}

// Shown is [History.Shown] of skills that wait, but for those that are not as HEAD has them: another text was shown.
func (s Skills) Shown(ctx context.Context, by Write, all []WaitingSkill) error {
	var lines []string
	for _, w := range all {
		if w.Changed == "" {
			lines = append(lines, w.shown())
		}
	}
	return s.a.noteShown(ctx, by, lines)
}

func (a *App) noteShown(ctx context.Context, by Write, lines []string) error {
	if err := a.check(by, "review", "proposals"); err != nil || len(lines) == 0 || by.DryRun {
		return err
	}
	return a.v.State().SetSeen(ctx, shownName, func(now []byte) ([]byte, error) {
		key, again := func(line string) string { return line[:strings.IndexByte(line, ':')+1] }, map[string]bool{}
		for _, line := range lines {
			again[key(line)] = true
		}
		older := func(line string) bool { return again[key(line)] }
		all := append(slices.DeleteFunc(strings.Fields(string(now)), older), lines...)
		return []byte(strings.Join(all[max(0, len(all)-20_000):], "\n") + "\n"), nil
	})
}

// shown are the hashes of what the user was shown, by ids of proposals and escaped folders.
func (h History) shown() (map[string]string, error) {
	seen, err := h.a.v.State().Seen(shownName)
	all := map[string]string{}
	for _, line := range strings.Fields(string(seen)) {
		id, hash, _ := strings.Cut(line, ":")
		all[id] = hash
	}
	return all, err
}

func (p Proposal) shown() string { return p.ID + ":" + string(p.waiting.Hash) }

func (w WaitingSkill) shown() string { return url.QueryEscape(string(w.Path)) + ":" + w.Tree }

// asShown fails with [vault.ErrConflict] for what the user was not shown, or what changed since: the line is what
// would be noted of it as it is now.
func asShown(what, line string, shown func() (map[string]string, error)) error {
	all, err := shown()
	id, now, _ := strings.Cut(line, ":")
	was, is := all[id]
	why := "it was not shown yet"
	switch {
	case err != nil || is && was == now:
		return err
	case is:
		why = "it changed since it was shown"
	}
	return vault.WithHint(fmt.Errorf("%s: %w: %s", what, vault.ErrConflict, why), `"stet review --proposed" shows it`)
}

func onlyProposals(changes []vault.Change) bool {
	return !slices.ContainsFunc(changes, func(c vault.Change) bool {
		return vault.ClassOf(c.Path) != vault.ClassConfig
	})
}

// accept writes one proposal, compared with what is stored by now as any new memory is. Where a
// model is configured the memory is marked for it to compare later.
func (h History) accept(ctx context.Context, p Proposal, w Write) (res *ingest.Result, err error) {
	_, _, err = llm.FromSettings(h.a.Settings(), llm.Auxiliary, h.a.o.Getenv)
	later := !errors.Is(err, llm.ErrNoModel)
	x, err := h.a.writerIndex(false)
	if err != nil {
		return nil, err
	}
	return approval.Accept(ctx, h.a.v, approval.Desk{Find: x, Later: later}, p.waiting, w.vault(h.a.Environment))
}

// DecideOptions answer proposals, and skills that wait. Accept and Reject are ids, their beginnings or ends, or
// paths, of skills names or folders.
type DecideOptions struct {
	Write
	Accept, Reject       []string
	AcceptAll, RejectAll bool // those that Accept and Reject do not name
}

// Answer accepts or rejects a proposal as it was listed, in one commit. It fails with [vault.ErrConflict] for one that
// was decided or changed since, and with [vault.ErrRefused] where the policy leaves it to the user.
func (h History) Answer(ctx context.Context, p Proposal, yes bool, w Write) (*DecidedProposal, error) {
	if err := h.a.check(w, "review", "proposals"); err != nil {
		return nil, err
	}
	return h.decide(ctx, p, yes, w)
}

// Decide accepts proposals and skills that the user was shown, and rejects any, each in one commit. One that cannot be
// accepted stays, and the others do not wait for it: then both the result and the error are set, unless nothing was
// decided. It fails with [vault.ErrRefused] where the policy leaves it to the user, with [vault.ErrNotFound] or
// [vault.ErrAmbiguous] for a name, and with [vault.ErrConflict] for what was not shown as it is.
func (h History) Decide(ctx context.Context, o DecideOptions) (*Proposals, error) {
	if err := h.a.check(o.Write, "review", "proposals"); err != nil {
		return nil, err
	}
	out, err := h.Proposals(ctx)
	if err != nil {
		return nil, err
	}
	skills, err := h.a.Skills().choices(ctx, &o, out.Proposed)
	if err != nil {
		return nil, err
	}
	verdicts, err := o.verdicts(out.Proposed)
	if err != nil {
		return nil, err
	}
	out.DryRun = o.DryRun
	var failed []error
	done, shown := 0, sync.OnceValues(h.shown)
	for _, c := range skills {
		if c.accept || c.reject {
			if err := h.a.Skills().answer(ctx, &c, o.Write, shown); err != nil {
				failed = append(failed, err)
			} else {
				done++
			}
		}
		out.Skills = append(out.Skills, c.WaitingSkill)
	}
	all := out.Proposed
	out.Proposed = []Proposal{}
	for _, p := range all {
		yes, named := verdicts[p.ID]
		if !named && !o.AcceptAll && !o.RejectAll {
			out.Proposed = append(out.Proposed, p)
			continue
		}
		yes = yes || !named && o.AcceptAll
		done, err := (*DecidedProposal)(nil), error(nil)
		if yes {
			err = asShown("proposal "+p.ID, p.shown(), shown)
		}
		if err == nil {
			done, err = h.decide(ctx, p, yes, o.Write)
		}
		if err != nil {
			failed = append(failed, err)
			out.Proposed = append(out.Proposed, p)
			continue
		}
		out.Decided = append(out.Decided, *done)
	}
	if err = errors.Join(failed...); err != nil && len(out.Decided)+done == 0 {
		return nil, err
	}
	return out, err
}

// verdicts are the proposals that o names, true for accept, by id.
func (o DecideOptions) verdicts(all []Proposal) (map[string]bool, error) {
	var waiting []approval.Waiting
	for _, p := range all {
		waiting = append(waiting, p.waiting)
	}
	verdicts := map[string]bool{}
	for i, ref := range slices.Concat(o.Accept, o.Reject) {
		w, err := approval.Find(waiting, ref)
		if err != nil {
			return nil, err
		}
		yes := i < len(o.Accept)
		if was, again := verdicts[w.ID]; again && was != yes {
			return nil, Usagef("%s is to be accepted and rejected", w.ID)
		}
		verdicts[w.ID] = yes
	}
	return verdicts, nil
}

func (h History) decide(ctx context.Context, p Proposal, yes bool, w Write) (*DecidedProposal, error) {
	out := &DecidedProposal{Proposal: p, Verdict: "rejected"}
	var res *vault.Result
	var err error
	if yes {
		out.Verdict = "accepted"
		var done *ingest.Result
		if done, err = h.accept(ctx, p, w); err == nil {
			res, out.Unchanged = done.Result, onlyProposals(done.Changes)
		}
	} else {
		res, err = approval.Reject(ctx, h.a.v, []approval.Waiting{p.waiting}, w.vault(h.a.Environment))
	}
	if err != nil {
		return nil, err
	}
	if yes && !w.DryRun {
		if err := lineage.Approved(ctx, h.a.v, res.Commits); err != nil {
			h.a.warn("\"stet review\" lists it as well: %v", err)
		}
	}
	out.Write = *h.a.finish(ctx, res)
	out.Diff = WithoutRecords(res.Diff)
	return out, nil
}

// A choice is a skill that waits, and what is to be done about it.
type choice struct {
	WaitingSkill
	accept, reject bool
}

// answer is [Skills.Decide] of what the user was shown.
func (s Skills) answer(
	ctx context.Context, c *choice, w Write, shown func() (map[string]string, error),
) (err error) {
	if c.accept && c.Changed == "" { // else Decide says so
		err = asShown(fmt.Sprintf("accept %q", c.Path), c.shown(), shown)
	}
	if err == nil {
		c.Decision, err = s.Decide(ctx, c.WaitingSkill, c.accept, w)
	}
	return err
}

// choices are the skills that wait, with what o says of them; the names that mean one are taken out of o. Those that
// the scan calls a danger are accepted by name alone.
func (s Skills) choices(ctx context.Context, o *DecideOptions, proposed []Proposal) ([]choice, error) {
	waiting, err := s.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	var proposals []approval.Waiting
	for _, p := range proposed {
		proposals = append(proposals, p.waiting)
	}
	named := func(refs *[]string) (out []vault.Path, failed error) {
		*refs = slices.DeleteFunc(slices.Clone(*refs), func(ref string) bool {
			if _, err := approval.Find(proposals, ref); !errors.Is(err, vault.ErrNotFound) {
				return false
			}
			one, err := meant(waiting, ref)
			if errors.Is(err, vault.ErrNotFound) {
				return false
			}
			out, failed = append(out, one.Path), errors.Join(failed, err)
			return true
		})
		return out, failed
	}
	accept, err := named(&o.Accept)
	reject, err2 := named(&o.Reject)
	out := make([]choice, len(waiting))
	for i, one := range waiting {
		c := choice{one, slices.Contains(accept, one.Path), slices.Contains(reject, one.Path)}
		switch {
		case c.accept && c.reject:
			return nil, Usagef("%s is to be accepted and rejected", one.Path)
		case !c.accept && !c.reject:
			c.accept, c.reject = o.AcceptAll && one.Verdict != scan.Danger, o.RejectAll
		}
		out[i] = c
	}
	return out, errors.Join(err, err2)
}

// meant is the skill that ref means among those that wait: its folder, else the last part of one, else the name in a
// front matter, which a stranger chose.
func meant(waiting []WaitingSkill, ref string) (one WaitingSkill, err error) {
	for _, is := range []func(WaitingSkill) bool{
		func(w WaitingSkill) bool { return string(w.Path) == ref || string(w.Path) == "skills/"+ref },
		func(w WaitingSkill) bool { return path.Base(string(w.Path)) == ref },
		func(w WaitingSkill) bool { return w.Name == ref },
	} {
		as := func(w WaitingSkill) vault.Memory { return vault.Memory{Path: w.Path, Title: w.Name} }
		if one, err = vault.Pick(ref, waiting, as, is); !errors.Is(err, vault.ErrNotFound) {
			break
		}
	}
	if err != nil {
		err = vault.WithHint(err, "name one by its folder")
	}
	return one, err
}
