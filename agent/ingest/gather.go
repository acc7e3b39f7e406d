package ingest

import (
	"context"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/index"
	"stet/markdown"
	"stet/vault"
)

// A gatherer looks up what a plan is made from. It changes nothing.
type gatherer struct {
	ctx      context.Context
	v        *vault.Vault
	find     Searcher
	mind     *Mind // nil without a model
	w        vault.Write
	thoughts map[int]thought         // what the model said, by note
	stored   map[string]vault.Memory // what was read, by path
	texts    map[string][]vault.Path // of short memories, by text, once they were needed
	voc      *index.Vocabulary       // of what is stored, nil before it is needed
	earlier  batch                   // notes of the same call
	filedIn  map[string]string       // scopes that the model gave to them, by id
	kept     *keeping                // holds new notes while the model is asked; nil for none
	rules    encode.Reader
	counted  *counts                         // of the words of all notes; nil before, or where that failed
	words    map[vault.Path]encode.Authority // of entries of a notebook: no files of their own
	warnings []string
	shelves  []*shelf // the notebooks, USER.md first; nil before [gatherer.shelve]
	shelved  batch    // their entries
}

func newGatherer(ctx context.Context, v *vault.Vault, find Searcher, mind *Mind, w vault.Write) *gatherer {
	return &gatherer{ctx: ctx, v: v, find: find, mind: mind, w: w,
		thoughts: map[int]thought{}, stored: map[string]vault.Memory{}, filedIn: map[string]string{}}
}

// A draft is a note that is being judged.
type draft struct {
	i       int
	note    vault.Note
	said    string // its text with what asks to keep it
	memory  encode.Memory
	probes  []string // what stored memories are looked for with
	near    []encode.Memory
	earlier []encode.Memory // notes of the same call that it could have to do with
	shelved []encode.Memory // entries of notebooks, likewise
	book    *shelf          // the notebook that it may stand in, nil for none
	plan    encode.Plan
	filed   *Placing
	decided []string // what said so, for "classified_by"
	failed  error    // why the model was no help
	refused []string // what the model wanted and did not get, as a sentence each
	// cosine tells how near stored memories are in meaning, nil where nobody knows.
	cosine map[string]float64
	around map[string]bool // few memories of its place, shown though nothing else speaks for them
	more   bool            // there may be more that shares a word with it than near has
	late   bool            // the notes before it in the call were long: it is compared and filed later
	cut    bool            // so it is marked, or what is left of the work did not compare it to the end
	// Of a memory that is stored already.
	self     *vault.Memory
	placed   bool // where it belongs is not asked
	keepMark bool // "encoding" stays as it is
	reworded bool // its text is new, whenever it was stored
}

// probed is how much of a text is searched with, in bytes: a probe has few words.
const probed = 8 << 10

func (dr *draft) probe() {
	if dr.probes == nil {
		text := textOf(dr.note)
		dr.probes = encode.Probes(strings.ToValidUTF8(text[:min(len(text), probed)], ""))
	}
}

// judge lets the rules decide about one note.
func (d *gatherer) judge(dr *draft) error {
	n, text := &dr.note, textOf(dr.note)
	dr.memory = d.memory(noteID(dr.i), text, n.Title, n.Scope)
	dr.memory.Authority, dr.memory.When = d.authority(), n.Created
	if err := context.Cause(d.ctx); err != nil {
		return err
	}
	dr.probe()
	near, err := d.candidates(dr)
	if err != nil {
		return err
	}
	if dr.near = near; dr.self != nil {
		return d.reconsider(dr)
	}
	if err := d.shelve(); err != nil {
		return err
	}
	dr.earlier, dr.shelved = slices.Clone(d.earlier.near(text, dr.probes)), slices.Clone(d.shelved.near(text, dr.probes))
	err = d.decideNew(dr)
	d.earlier.add(dr.memory, dr.probes)
	if dup := dr.plan.Duplicate; dup != nil && n.Blank {
		if old := d.stored[dup.Old]; old.Kind != n.Kind || markdown.Fold(old.Name()) != markdown.Fold(n.Title) {
			dr.plan.Duplicate = nil // who begins a page has more to say
		}
	}
	if dup := dr.plan.Duplicate; dup != nil && n.Private && d.shelfOf(vault.Path(dup.Old)) != nil {
		dr.plan.Duplicate = nil // an entry is not private
	}
	return err
}

// decideNew lets the rules decide about a note that is not stored.
func (d *gatherer) decideNew(dr *draft) (err error) {
	if dr.plan, err = d.decide(dr.memory, slices.Concat(dr.near, dr.shelved), dr.earlier); err == nil && dr.plan.Duplicate == nil {
		dr.plan.Duplicate, err = d.verbatim(dr)
	}
	return err
}

// textOf is what a note says.
func textOf(n vault.Note) string {
	switch {
	case n.Blank:
		return n.Title
	case n.Form != nil:
		return string(markdown.Parse(n.Form).Body())
	}
	return n.Text
}

// memory is a text of whoever writes, as the rules see it.
func (d *gatherer) memory(id, text, title, scope string) encode.Memory {
	m := encode.Memory{ID: id, Text: text, Title: title, Scope: scope}
	if d.authority() == encode.Inference {
		m.Author = d.w.AgentName
	}
	return m
}

// storedMemory is a stored memory as the rules see it.
func storedMemory(m vault.Memory) encode.Memory {
	return encode.Memory{ID: string(m.Path), Text: string(m.Body), Title: m.Title, Scope: m.Scope, When: m.Created}
}

// decide is what the rules say of a note beside stored memories and earlier notes. "I" and "we"
// of what is stored are taken for the user's, then for those of whoever writes now: between an
// agent and a person the authority of both makes a conflict of a removal.
func (d *gatherer) decide(m encode.Memory, near, earlier []encode.Memory) (plan encode.Plan, err error) {
	corpus := d.counted.corpus(near)
	plan = d.rules.Decide(m, slices.Concat(near, earlier), corpus)
	if m.Author != "" && plan.Duplicate == nil && !supersedes(plan) {
		own := slices.Clone(near)
		for k := range own {
			own[k].Author = m.Author
		}
		if p := d.rules.Decide(m, slices.Concat(own, earlier), corpus); supersedes(p) {
			plan, near = p, own
		}
	}
	if m.Authority >= encode.Statement || !supersedes(plan) {
		return plan, nil
	}
	for k := range near {
		if near[k].Authority, err = d.authorityOf(near[k].ID); err != nil {
			return plan, err
		}
	}
	return d.rules.Decide(m, slices.Concat(near, earlier), corpus), nil
}

func supersedes(plan encode.Plan) bool {
	return slices.ContainsFunc(plan.Verdicts, func(v encode.Verdict) bool { return v.Kind == encode.Supersede })
}

// authority is that of whoever writes.
func (d *gatherer) authority() encode.Authority { return authority(d.w) }

func authority(w vault.Write) encode.Authority {
	switch {
	case w.Actor == "" || w.Actor == vault.ActorUser:
		return encode.Correction
	case w.Approver != "":
		return encode.Statement
	}
	return encode.Inference
}

// authorityOf is that of a stored memory: what a person wrote or edited is a
// person's word. History is read only when a machine is about to change something.
func (d *gatherer) authorityOf(key string) (encode.Authority, error) {
	return d.wordOf(d.stored[key])
}

func (d *gatherer) wordOf(m vault.Memory) (encode.Authority, error) {
	if word, known := d.words[m.Path]; known {
		return word, nil
	}
	if s := d.shelfOf(m.Path); s != nil {
		return s.word(d.ctx, m.Path)
	}
	for version, err := range d.v.Whole().History().Versions(d.ctx, "", m.Path) {
		if err != nil {
			return 0, err
		}
		said := version.Commit.Trailers // anybody's words, by which nobody gains: without them it is a person's
		actor := said.Get("Stet-Actor")
		person := actor == "" || actor == vault.ActorUser || said.Get("Stet-Approved-By") != ""
		if !person || version.Commit.Op == vault.OpEncode { // who lets stet look at a memory again says nothing
			continue
		}
		if silent, err := d.silent(version, m.ID); err != nil || !silent {
			return encode.Statement, err
		}
	}
	if head, _, err := d.v.Whole().History().ReadAt(d.ctx, "HEAD", string(m.Path)); err == nil && head.Hash == m.Hash {
		return encode.Inference, nil
	}
	return encode.Statement, nil // not committed yet: a person's own edit
}

// silent reports whether a person's commit changed a memory on the side and put no word of
// the person's into it: it linked or flagged it, cleared a flag, or took out of it what
// another memory made untrue.
func (d *gatherer) silent(version vault.Version, id string) (bool, error) {
	said := version.Commit.Trailers
	about := said.All("Stet-Memory")
	ruled := said.Get("Stet-Rule") != "" && len(about) > 0 && about[0] != id
	linked := slices.Contains(said.All("Conflicts-With"), id) ||
		slices.ContainsFunc(said.All(flagTrailer), func(line string) bool {
			both := readFlag(line).pair
			return slices.Contains(both[:], id)
		})
	aside := ruled || linked || len(about) > 0 && !slices.Contains(about, id)
	if id == "" || version.Old == "" || version.New == "" || !aside {
		return false, nil
	}
	past := d.v.Whole().History().Ancestry()
	before, err := past.Read(version.Old)
	if err != nil {
		return false, err
	}
	after, err := past.Read(version.New)
	return err == nil && leaves(string(markdown.Parse(before).Body()), string(markdown.Parse(after).Body())), err
}

// leaves reports whether every word of a text stood in the one before it, in the same order.
func leaves(before, after string) bool {
	had := strings.Fields(before)
	for word := range strings.FieldsSeq(after) {
		i := slices.IndexFunc(had, func(w string) bool { return strings.EqualFold(w, word) })
		if i < 0 {
			return false
		}
		had = had[i+1:]
	}
	return true
}

// reconsider lets the rules decide about a memory that is stored: its word counts
// as much as that of whoever wrote it, which is looked up where that matters.
func (d *gatherer) reconsider(dr *draft) (err error) {
	if dr.reworded { // by whoever writes now
		dr.plan, err = d.decide(dr.memory, dr.near, nil)
		return err
	}
	dr.memory.Authority = encode.Correction
	if dr.plan, err = d.decide(dr.memory, dr.near, nil); err != nil || !supersedes(dr.plan) && d.mind == nil {
		return err
	}
	if dr.memory.Authority, err = d.wordOf(*dr.self); err != nil || dr.memory.Authority >= encode.Statement {
		return err
	}
	dr.plan, err = d.decide(dr.memory, dr.near, nil)
	return err
}
