package vault

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stet/templates"
	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/proposal"
	"stet/vault/settings"
	"stet/vault/store"
	"stet/vault/tombstone"
)

// What a machine writes waits for a person where memory.write_approval is "stage", where it
// would change a person's text, and where it claims that a person asked for it again.
// Every write passes here, whatever command or door it comes from:
//
//	the change is built in memory, judged and compared with what was rejected
//	  → its commits become proposals, one file each, and nothing else is touched
//	  → they are published as any write is: killed, they are there or they are not
//
// Accepting and rejecting is for a person's command, which names the approver.

// A needsApproval ends the attempt of a machine to write what waits for a person; it says why that waits.
type needsApproval string

func (n needsApproval) Error() string { return string(n) }

const (
	overPerson   needsApproval = "it changes what a person wrote"
	overNo       needsApproval = "it says again, or permits, what a person took back"
	overScan     needsApproval = "the scan of skills finds something in it"
	againUnasked needsApproval = "a person took it back, and the agent says that you want it again"
)

// A Proposed is one write that waits.
type Proposed struct {
	ID      string `json:"id"`
	Path    Path   `json:"path"`
	Op      Op     `json:"op"`
	Subject string `json:"subject"`
	About   Path   `json:"about"` // the file it writes
}

// isProposal reports whether a path is a proposal.
func isProposal(p Path) bool { return p.Dir() == proposal.Dir }

// waits says why a write has to be approved, whatever it changes, "" where it has not. What is said in a
// session, what people import, and what keeps the vault itself in order has not.
func (v *Vault) waits(why Why) needsApproval {
	approval := settings.WriteApproval
	if why.Op == OpSkill || why.Op.known().rule {
		approval = settings.SkillApproval
	}
	set := v.settings.Of(approval)
	switch {
	case !why.Op.Staged() || why.actor() == ActorUser || why.Approver != "":
		return ""
	case why.Again:
		return againUnasked
	case set.Value != "stage":
		return ""
	case set.Source == settings.Flag && set.Origin != "":
		return needsApproval(set.Origin)
	}
	return needsApproval(approval + " is stage")
}

// Waits reports whether what w writes has to be approved.
func (v *Vault) Waits(w Write) bool { return v.waits(w.Why(OpRemember, "")) != "" }

func (v *Vault) propose(ctx context.Context, r *run, dry bool, waits needsApproval) (*Result, error) {
	r.proposing = true
	unasked := ""
	if r.tx != nil {
		unasked = r.tx.unasked
	}
	_, done, err := v.store.Preview(ctx, r.describe(), r.stage)
	if err != nil {
		return nil, err
	}
	plan, why := r.result(done), r.why
	if plan.Unchanged {
		return plan, nil
	}
	drafts, err := r.tx.proposals(waits)
	if err != nil {
		return nil, err
	}
	if len(drafts) == 0 { // the machine's own part changes nothing
		return &Result{Root: plan.Root, Base: plan.Base, Adopted: plan.Adopted, Held: plan.Held, Unchanged: true}, nil
	}
	first := drafts[0]
	staged := Why{Op: OpPropose, Subject: string(first.Op) + " " + first.Subject, Run: why.Run, Writer: Writer{Actor: why.Actor, AgentName: why.AgentName, Door: why.Door, Session: why.Session, Given: why.Given}}
	if len(drafts) > 1 {
		staged.Subject = templates.Plural(len(drafts), "memory", "memories")
	}
	var proposed []Proposed
	res, err := v.Transact(ctx, staged, dry, func(tx *Tx) error {
		proposed = nil
		pending, err := tx.v.pendingKeys()
		if err != nil {
			return err
		}
		for _, d := range drafts {
			if have, ok := pending[d.key]; ok {
				d.Path, d.ID = have, proposal.ID(string(have))
			} else if err := tx.Put(d.Path, "", d.data); err != nil {
				return err
			}
			proposed = append(proposed, d.Proposed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Unasked, res.Proposed, res.Warnings = unasked, proposed, append(res.Warnings, plan.Warnings...)
	return res, nil
}

// pendingKeys are the proposals that wait already, by what they come to.
func (v *Vault) pendingKeys() (map[string]Path, error) {
	out := map[string]Path{}
	entries, err := v.store.ReadDir(proposal.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		p := Path(proposal.Dir + "/" + e.Name())
		data, _, err := v.ReadFile(p)
		if err != nil || !p.IsMarkdown() {
			continue // nothing that stet wrote
		}
		if got, main, err := proposal.Decode(data); err == nil {
			out[proposal.Key(got, main)] = p
		}
	}
	return out, nil
}

// A proposalDraft is a proposal that is about to be stored.
type proposalDraft struct {
	Proposed
	data []byte
	key  string
}

// proposals turns the commits of a machine that were built into proposals, which say why they wait. It fails
// with a [RejectedError] for one that a person said no to before.
func (t *Tx) proposals(waits needsApproval) ([]proposalDraft, error) {
	var out []proposalDraft
	for i, g := range t.tx.Groups {
		why := whyOf(g.Why)
		if why.Op == OpAdopt {
			continue // what people took back with plain git, for the next write to note
		}
		if slices.ContainsFunc(g.Paths, isProposal) {
			return nil, fmt.Errorf("%w: what waits is for the person to say", ErrRefused)
		}
		files, contents := t.proposedFiles(g, t.tx.Groups[:i])
		p := proposal.Proposal{Op: string(why.Op), Subject: oneLine(why.Subject), Body: why.Body, At: t.v.o.Now().UTC().Truncate(time.Second),
			Actor: why.actor(), By: why.AgentName, Door: why.Door, Session: why.Session, Memories: why.Memories, Waits: string(waits)}
		for _, l := range why.Extra {
			p.Extra = append(p.Extra, [2]string{l.Key, l.Value})
		}
		for _, r := range why.Reverts {
			p.Reverts = append(p.Reverts, string(r))
		}
		if each := t.newMemories(g, p, files, contents); each != nil {
			out = append(out, each...)
			continue
		}
		for n := 1; n < len(files); n++ {
			if files[n].From != "" && Path(files[0].Path).Base() != skillFile {
				err := fmt.Errorf("propose %q: %w: several memories that move together cannot wait for a person",
					oneLine(why.Subject), ErrRefused)
				return nil, WithHint(err, "move one memory at a time")
			}
			files[n].Kept = files[n].From != "" && string(hashOf(contents[n])) == files[n].Was
			if !files[n].Gone && !files[n].Kept {
				files[n].SetData(contents[n])
			}
		}
		p.Files = files
		d, err := draftProposal(p, contents[0], t.NewID())
		if err != nil {
			return nil, err
		}
		if err := t.checkRejected(d); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	for _, d := range out {
		if len(d.data) > MaxFileSize {
			return nil, fmt.Errorf("propose %q: %w (%d bytes, at most %d)", d.About, ErrTooLarge, len(d.data), int64(MaxFileSize))
		}
	}
	return out, nil
}

// newMemories are the proposals of a commit that does nothing but add memories: one
// for each, nil for any other commit.
func (t *Tx) newMemories(g store.Group, p proposal.Proposal, files []proposal.File, contents [][]byte) []proposalDraft {
	var out []proposalDraft
	for i, f := range files {
		one := p
		one.Files = []proposal.File{f}
		m := ReadMemory(Path(f.Path), contents[i])
		if !one.Replays() || !IsID(m.ID) {
			return nil
		}
		one.Subject, one.Memories = oneLine(whyOf(g.Why).Subject), []string{m.ID}
		if len(files) > 1 {
			one.Subject = m.Name()
		}
		d, err := draftProposal(one, contents[i], m.ID)
		if err != nil {
			return nil
		}
		out = append(out, d)
	}
	return out
}

func draftProposal(p proposal.Proposal, main []byte, id string) (proposalDraft, error) {
	data, err := proposal.Encode(p, main)
	return proposalDraft{data: data, key: proposal.Key(p, main), Proposed: Proposed{
		ID: id, Path: Path(proposal.Dir + "/" + id + ".md"), Op: Op(p.Op), Subject: p.Subject, About: Path(p.Files[0].Path)}}, err
}

// proposedFiles lists what a commit does to files, what it is about first, and what
// each is to hold, or of one that goes, held.
func (t *Tx) proposedFiles(g store.Group, earlier []store.Group) (files []proposal.File, contents [][]byte) {
	before := func(p Path) []byte { return t.before(p, earlier) }
	hash := func(p Path) string {
		if data := before(p); data != nil {
			return gitstore.HashBlob(data).String()
		}
		return ""
	}
	from, moved := map[Path]Path{}, map[Path]bool{}
	for _, m := range whyOf(g.Why).Moved {
		if _, staged := g.Files[m[1]]; staged && g.Files[m[0]].Remove {
			from[m[1]], moved[m[0]] = m[0], true
		}
	}
	own := func(p Path) bool { return ClassOf(p) == ClassConfig }
	others := func(p Path) bool { return !own(p) }
	paths := slices.Concat(slices.DeleteFunc(slices.Clone(g.Paths), own), slices.DeleteFunc(slices.Clone(g.Paths), others))
	rank := func(p Path) int {
		switch {
		case p.Base() == skillFile:
			return len(p)
		case from[p] != "":
			return math.MaxInt - 1 // before the memories that link to it
		}
		return math.MaxInt
	}
	slices.SortStableFunc(paths, func(a, b Path) int { return cmp.Compare(rank(a), rank(b)) })
	for _, p := range paths {
		f := g.Files[p]
		if moved[p] {
			continue
		}
		out, data := proposal.File{Path: string(p), From: string(from[p]), Was: hash(p), Gone: f.Remove}, f.Data
		if out.From != "" {
			out.Was = hash(from[p])
		}
		if f.Remove {
			data = before(p)
		}
		files, contents = append(files, out), append(contents, data)
	}
	return files, contents
}

// checkRejected refuses what a person rejected as a proposal before. New texts are
// compared as any write is.
func (t *Tx) checkRejected(d proposalDraft) error {
	if t.why.Again {
		return nil
	}
	p, main, err := proposal.Decode(d.data)
	if err != nil {
		return err
	}
	r, err := t.rejections()
	if err != nil {
		return err
	}
	slot := proposal.Slot(p, main)
	for _, f := range r.files {
		for _, s := range f.parts {
			if s.Action == tombstone.Reject && s.Slot == slot {
				return &RejectedError{Path: d.About, Match: "slot", Stone: s.Stone, File: f.path}
			}
		}
	}
	return nil
}

// askedFor fails with [overPerson] unless a turn of a person's asks for the one change that a machine's
// commit makes of what a person wrote; the commit then names the turn.
func (t *Tx) askedFor(ctx context.Context, personal []Path, g store.Group, earlier []store.Group) error {
	why := whyOf(g.Why)
	switch {
	case len(personal) == 0:
		return nil
	case why.Asked == nil:
		return overPerson
	}
	same := func(p Path) bool { return !g.Files[p].Remove && sameText(t.before(p, earlier), g.Files[p].Data) }
	if personal = slices.DeleteFunc(personal, same); len(personal) != 1 {
		t.unasked = "it would change more than one memory of a person's, or what none of them says"
		return overPerson
	}
	p := personal[0]
	to, after := p, []byte(nil)
	for _, m := range why.Moved {
		if m[0] == p && ClassOf(m[1]) != ClassArchive {
			to = m[1]
		}
	}
	if f := g.Files[to]; !f.Remove {
		after = withoutOwnKeys(f.Data)
	}
	switch ClassOf(p) {
	case ClassMemory, ClassCore, ClassProfile:
	default:
		t.unasked = "only a memory or an entry of a notebook is changed so"
		return overPerson
	}
	before := t.before(p, earlier)
	if before != nil {
		before = withoutOwnKeys(before)
	}
	turns, err := why.Asked(ctx, p, to, before, after)
	if err != nil {
		t.unasked = err.Error()
		return overPerson
	}
	for _, turn := range turns {
		why.Trail("Stet-Because", turn)
	}
	return nil
}

// forbidden fails with [ErrRefused] for what no machine may do with a file, whoever wrote it; was is
// what it held before.
func forbidden(p Path, g store.Group, why *Why, was []byte) error {
	class := ClassOf(p)
	switch {
	case isProposal(p):
		if why.Approver == "" && was != nil {
			return WithHint(fmt.Errorf("%q: %w: it waits for a person, who must find what was proposed", p, ErrRefused),
				"propose something else beside it")
		}
	case why.Op == OpCurate && isUsage(p), why.Op == OpArchive && !strings.HasPrefix(string(p), "."),
		why.Op == OpMerge && (g.Files[p].Remove || class == ClassArchive):
		// Counts; and a skill's own file, which may have any name, in cold storage.
	case p.Steers() && !IsTombstone(p):
		return WithHint(fmt.Errorf("%q: %w: programs take orders from it, and only a person writes such files",
			p, ErrRefused), "tell the person what you would change in it")
	case was == nil && guard.Seen(string(p)) != string(p):
		return WithHint(fmt.Errorf("%q: %w: the name holds characters that nobody sees", p, ErrRefused),
			"give it a name without them")
	case why.Op == OpMove && !g.Files[p].Remove && (class == ClassCore || class == ClassProfile):
		return WithHint(fmt.Errorf("%q: %w: only a person makes a notebook of a file", p, ErrRefused),
			"\"stet core add\" and \"stet profile add\" write entries")
	}
	return nil
}
