package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/markdown"
	"stet/vault"
	"stet/vault/guard"
)

// Memories of other programs become memories below /imported/<source>. The agent
// that kept them is their author, so nothing that a person took back here comes in
// again, and what it says is data like anything an agent wrote.
//
// The key "imported" is the hash of the text as it was imported. While the text
// still has it nobody edited the memory here, and a new text of the source takes
// its place; else the person's stays.

// importedKey is that key of the front matter.
const importedKey = "imported"

// A memory is one memory of a source.
type memory struct {
	foreign    string   // its name there, for good
	scope      []string // below /imported/<source>
	title      string
	kind       string
	categories []string
	created    time.Time
	text       string
	private    bool // its source says so
}

// memory hands on what was read.
func (r *reading) memory(m memory) error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	m.text = strings.Trim(string(clean([]byte(m.text))), "\n")
	if strings.TrimSpace(m.text) == "" {
		return nil
	}
	r.progress.Sessions++
	return r.keep(m)
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(strings.TrimRight(text, "\r\n")))
	return hex.EncodeToString(sum[:8])
}

// A memoryItem is one memory that is to be written.
type memoryItem struct {
	memory
	id   string
	path vault.Path // where it stands; "" for a new one
}

// A keeper writes memories.
type keeper struct {
	*writer
	have  map[string]vault.Memory // by the part of the id that is no time
	items []*memoryItem
	seen  map[string]bool
}

func newKeeper(w *writer) (*keeper, error) {
	k := &keeper{writer: w, have: map[string]vault.Memory{}, seen: map[string]bool{}}
	for _, archived := range []bool{false, true} {
		all, err := w.v.List(w.ctx, vault.Filter{Archived: archived})
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			if len(m.ID) >= 16 {
				k.have[hashPart(m.ID)] = m
			}
		}
	}
	return k, nil
}

// keep decides what becomes of one memory.
func (k *keeper) keep(m memory) error {
	it := &memoryItem{memory: m, id: SessionID("memory:"+k.source.Name, m.foreign, m.created)}
	if k.seen[it.id] {
		return nil
	}
	k.seen[it.id] = true
	r := guard.NewStrictRedactor(k.censor.allowed)
	r.Learn(it.text)
	for _, s := range []*string{&it.text, &it.title} {
		if out := r.Clean(*s); out != *s {
			*s = out
			k.report.Redacted++
		}
	}
	old, known := k.have[hashPart(it.id)]
	switch {
	case known && old.Archived(), !known && k.known.rejected[hashPart(it.id)]:
		k.report.Rejected++
	case !known:
		k.items = append(k.items, it)
	default:
		data, _, err := k.v.ReadFile(old.Path)
		if err != nil {
			return err
		}
		if it.path = old.Path; k.fresh(data, it) == nil {
			k.report.Unchanged++
			return nil
		}
		k.items = append(k.items, it)
	}
	return nil
}

// fresh is the file with the new text of its source; nil when it has that or a
// person edited it. The second is said.
func (k *keeper) fresh(data []byte, it *memoryItem) *markdown.Document {
	d := markdown.Parse(data)
	was, _ := d.Meta(importedKey)
	now := textHash(it.text)
	if was.Text() == now && (!it.private || d.Private()) {
		return nil
	}
	if textHash(string(d.Body())) != was.Text() {
		k.r.note(fmt.Sprintf("%s was edited here: the new text of %s is left out", it.path, it.foreign))
		return nil
	}
	d.SetBody([]byte(it.text + "\n"))
	err := d.SetMeta(importedKey, markdown.String(now))
	if it.private && !d.Private() {
		err = errors.Join(err, d.SetMeta("private", markdown.Bool(true)))
	}
	if err != nil {
		return nil
	}
	return d
}

// render is the file of a new memory.
func (it *memoryItem) render(source string) ([]byte, error) {
	d := markdown.Parse([]byte("---\nid: " + it.id + "\n---\n" + it.text + "\n"))
	set := func(key string, v markdown.Value, when bool) error {
		if !when {
			return nil
		}
		return d.SetMeta(key, v)
	}
	err := errors.Join(
		set("title", markdown.String(oneLine(it.title)), oneLine(it.title) != ""),
		set("kind", markdown.String(oneLine(it.kind)), oneLine(it.kind) != ""),
		set("categories", markdown.Strings(it.categories), len(it.categories) > 0),
		set("created", markdown.Time(it.created.Truncate(time.Second)), !it.created.IsZero()),
		set("private", markdown.Bool(true), it.private),
		set("source", markdown.String("import:"+source+":"+valid(it.foreign)), true),
		set(importedKey, markdown.String(textHash(it.text)), true),
	)
	return d.Bytes(), err
}

// place is the folder and the name of a new memory.
func (it *memoryItem) place(source string) (folder vault.Path, name string, err error) {
	scope := []string{"imported", source}
	for _, s := range it.scope {
		if s = markdown.Slug(s, 40); s != "" && len(scope) < 3 {
			scope = append(scope, s)
		}
	}
	folder, err = vault.Scope(strings.Join(scope, "/")).Folder()
	return folder, vault.Note{Title: it.title, Text: it.text}.Name(it.id) + ".md", err
}

// flushMemories commits what keep collected: one commit. A memory that was
// rejected here before is left out, and counted.
func (k *keeper) flushMemories() error {
	items := k.items
	k.items = nil
	w := k.o.Write
	op := vault.OpImport
	if w.Actor != "" && w.Actor != vault.ActorUser {
		op = vault.OpRemember // an agent may have made the file: it waits as whatever an agent says
	}
	w.Actor, w.AgentName = "agent", cmp.Or(w.AgentName, k.source.Name)
	tries := 0
	for len(items) > 0 {
		plan, err := k.plan(items, w)
		if err != nil {
			return err
		}
		paths := make([]vault.Path, len(items))
		what := "memories"
		if len(items) == 1 {
			what = "memory"
		}
		why := w.Why(op, fmt.Sprintf("%d %s from %s", len(items), what, k.source.Name))
		res, err := k.v.Transact(k.ctx, why, w.DryRun, func(tx *vault.Tx) error {
			var staging *ingest.Staging
			if plan != nil {
				staging = plan.Begin()
			}
			for i, it := range items {
				p, err := k.stage(tx, it, staging, i)
				if err != nil {
					return err
				}
				if paths[i] = p; p != "" && op == vault.OpRemember {
					tx.Why().Memories = append(slices.Clip(tx.Why().Memories), it.id)
				}
			}
			return nil
		})
		if tries++; plan != nil && errors.Is(err, vault.ErrConflict) && tries < 3 {
			continue // what they were compared with changed meanwhile
		}
		var rejected *vault.RejectedError
		if errors.As(err, &rejected) {
			if i := slices.Index(paths, rejected.Path); i >= 0 {
				k.r.note(fmt.Sprintf("left out: %v", rejected))
				k.report.Rejected++
				items = slices.Delete(items, i, i+1)
				continue
			}
		}
		if err != nil {
			return err
		}
		k.tell(items, plan)
		return k.done(items, paths, res)
	}
	return nil
}

// plan is what becomes of new memories; nil where the run has nothing to search with.
func (k *keeper) plan(items []*memoryItem, w vault.Write) (*ingest.Plan, error) {
	if k.o.Find == nil {
		return nil, nil
	}
	var notes []vault.Note
	for _, it := range items {
		n := vault.Note{Text: it.text, Title: it.title, Kind: it.kind, Created: it.created}
		if it.path != "" {
			n.Text = "" // a text that follows its source is not compared
		}
		notes = append(notes, n)
	}
	return ingest.Import(k.ctx, k.v, k.o.Find, notes, w)
}

// tell says what was decided.
func (k *keeper) tell(items []*memoryItem, p *ingest.Plan) {
	if p == nil {
		return
	}
	for i, it := range items {
		if at := p.Duplicate(i); at != "" {
			k.r.note(fmt.Sprintf("left out: %s says what stands in %s already", it.foreign, at))
			continue
		}
		for _, d := range p.Items[i].Decisions {
			verb := "takes the place of"
			if d.Kind == encode.Conflict {
				verb = "in conflict with"
			}
			k.r.note(fmt.Sprintf("%s %s: %q (%s)", verb, d.Place(), oneLine(d.Was), d.Rule))
		}
	}
	for _, text := range p.Warnings {
		k.r.note(text)
	}
}

func (k *keeper) done(items []*memoryItem, paths []vault.Path, res *vault.Result) error {
	for i, it := range items {
		state := StateAdded
		switch {
		case paths[i] == "":
			k.report.Unchanged++
			continue
		case it.path != "":
			state = StateUpdated
			k.report.Changed++
		default:
			k.report.Added++
		}
		if len(res.Proposed) > 0 {
			state = StateProposed
		}
		k.report.Written = append(k.report.Written, Written{State: state, Path: paths[i], ID: it.id, Title: oneLine(it.title)})
	}
	if res.DryRun {
		return nil
	}
	for _, c := range res.Commits {
		k.report.Commits = append(k.report.Commits, c.Rev)
	}
	if k.o.Committed != nil {
		return k.o.Committed(res)
	}
	return nil
}

// stage puts one memory into the transaction.
func (k *keeper) stage(tx *vault.Tx, it *memoryItem, plan *ingest.Staging, i int) (vault.Path, error) {
	if it.path != "" {
		data, was, err := tx.Read(it.path)
		if err != nil || was == "" {
			return "", err
		}
		d := k.fresh(data, it)
		if d == nil {
			return "", nil
		}
		return it.path, tx.Put(it.path, was, d.Bytes())
	}
	if plan != nil && plan.Duplicate(i) != "" {
		return "", nil
	}
	data, err := it.render(k.source.Name)
	if err != nil {
		return "", err
	}
	folder, name, err := it.place(k.source.Name)
	if err != nil {
		return "", err
	}
	p, err := tx.FreeName(string(folder), name, it.id)
	if err != nil {
		return "", err
	}
	if err := tx.Put(p, "", data); err != nil || plan == nil {
		return p, err
	}
	_, err = plan.Stage(tx, i, vault.ReadMemory(p, data))
	return p, err
}

// base is a file's name without its ending.
func base(p string) string {
	b := path.Base(strings.ReplaceAll(p, `\`, "/"))
	return strings.TrimSuffix(b, path.Ext(b))
}
