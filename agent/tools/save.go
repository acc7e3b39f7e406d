package tools

import (
	"context"
	"slices"
	"strings"

	"stet/agent"
	"stet/agent/encode"
	"stet/vault"
)

// Where memory_save puts a text.
const (
	profile  = "USER.md"
	core     = "MEMORY.md"
	memories = "memories"
)

func noteParams() []param {
	return []param{
		{name: "text", kind: text, about: "one fact in a sentence, names in full, dates absolute"},
		{name: "kind", kind: text, about: "preference, instruction, routine (these go to USER.md), fact, decision…"},
		{name: "to", kind: text, enum: []string{profile, core, memories}, about: "USER.md: who the user is, how to " +
			"work for them; MEMORY.md: what every session must know"},
		{name: "scope", kind: text, about: "folder: /infra/db"},
		{name: "categories", kind: words, about: "tags"},
		{name: "importance", kind: number, about: "0 to 1"},
		{name: "title", kind: text},
		{name: "source", kind: text, about: "session:ID#12"},
	}
}

func memorySave() tool {
	return tool{name: "memory_save", run: save, hint: Hint{Title: "Save memories", Idempotent: true},
		about: `Stores one memory (text), or several (items), all or none; nothing twice. Save what will matter in
		a month: who the user is, what they want, decisions, facts hard to find again. No passwords or keys.`,
		params: append(noteParams(), param{name: "items", kind: objects, of: noteParams(),
			about: "several in place of text, each with these"})}
}

// A noted is one text that is to be stored, and what of the call an entry of a notebook has no room for.
type noted struct {
	vault.Note
	without bool
}

// notebook reports whether it is meant for one.
func (n noted) notebook() bool { return n.To == profile || n.To == core }

func save(ctx context.Context, b *Box, in arguments) (any, error) {
	items := in.objects("items")
	switch {
	case len(items) > 0 && len(in) > 1:
		return nil, agent.Usagef("items stands alone: what belongs to one of them goes into it")
	case len(items) == 0:
		items = []arguments{in}
	}
	var all []noted
	for i, item := range items {
		n, err := readNote(item)
		if err != nil {
			return nil, inItem(err, i, len(items))
		}
		all = append(all, n)
	}
	return b.saveNotes(ctx, all)
}

func inItem(err error, i, n int) error {
	if n == 1 {
		return err
	}
	return agent.Usagef("item %d: %v", i, err)
}

// readNote reads one text and says where it goes: where its caller says, else by its kind.
func readNote(in arguments) (noted, error) {
	n := noted{Note: vault.Note{Text: in.text("text"), Kind: in.text("kind"), To: in.text("to"),
		Scope: in.text("scope"), Categories: in.words("categories"), Title: in.text("title"),
		Source: in.text("source")}}
	if f := in.number("importance", -1); in["importance"] != nil {
		n.Importance = &f
	}
	ofMemory := n.Scope != "" || n.Title != ""
	switch {
	case n.Text == "":
		return n, agent.Usagef("text is missing").Suggest("text is what is to be stored")
	case n.To == "" && !ofMemory && slices.Contains([]string{"preference", "instruction", "routine"}, n.Kind):
		n.To = profile
	case n.notebook() && ofMemory:
		return n, agent.Usagef("an entry of %s has no scope and no title", n.To).
			Suggest("leave them out, or save it with to: memories")
	}
	if n.notebook() {
		n.without = len(n.Categories) > 0 || n.Importance != nil
		n.Categories, n.Importance = nil, nil
	}
	return n, nil
}

func (b *Box) saveNotes(ctx context.Context, all []noted) (any, error) {
	o := agent.RememberOptions{Write: b.by()}
	for _, n := range all {
		o.Notes = append(o.Notes, n.Note)
	}
	res, err := b.app.Memories().Remember(ctx, o)
	if err != nil {
		return nil, err
	}
	d := wrote(res, "saved")
	if len(all) > 1 {
		d.Path, d.ID = "", ""
		for _, m := range res.Memories[:min(len(res.Memories), maxNamed)] {
			d.note("%s", m.Path)
		}
		if n := len(res.Memories) - maxNamed; n > 0 {
			d.note("and %d more", n)
		}
	}
	for _, n := range all {
		if n.without {
			d.note(leftOut, n.To)
		}
		if n.notebook() && len(all) == 1 && d.Done == "saved" && !strings.HasPrefix(d.Path, n.To) {
			d.note("it is a memory, because %s has no room for it or something stored disagrees with it", n.To)
		}
	}
	decided(d, res)
	for _, class := range []vault.Class{vault.ClassProfile, vault.ClassCore} {
		path := map[vault.Class]string{vault.ClassProfile: profile, vault.ClassCore: core}[class]
		if !slices.ContainsFunc(all, func(n noted) bool { return n.To == path }) || len(res.Commits) == 0 {
			continue
		}
		if page, err := b.app.Notebook(class).Show(ctx, false); err == nil {
			d.full(path, page.Usage)
		}
	}
	return d, nil
}

// full tells that there is little room left in a notebook.
func (d *done) full(path string, u agent.Usage) {
	if u.Percent >= 80 {
		d.note("%s is %d%% full", path, u.Percent)
	}
}

// leftOut is what a reply says of an entry that was given what it cannot have.
const leftOut = "an entry of %s has no categories and no importance: they are left out"

// decided tells what the plan did about what is stored.
func decided(d *done, res *agent.Written) {
	for _, dec := range res.Decisions {
		at := dec.Place()
		switch dec.Kind {
		case encode.Duplicate:
			if d.Done == "unchanged" || d.Path == at {
				d.Done, d.Path = "already stored", at
				continue
			}
			d.note("already stored: %s", at)
		case encode.Supersede, encode.Update:
			d.note("%s is replaced or changed: it said %q", at, dec.Was)
		case encode.Conflict:
			d.note("contradicts %s, which says %q: the user decides", at, dec.Was)
		case encode.Flag:
			d.note("may outdate %s, which says %q", at, dec.Was)
		}
	}
}

// wroteEntry is the reply to a change of a notebook.
func wroteEntry(res *agent.Noted, did string) *done {
	d := wrote(res.Written, did)
	if d.Done == "proposed" {
		return d
	}
	if res.Entry != nil {
		d.Path = res.Entry.Address
	}
	switch {
	case res.Duplicate:
		d.Done = "already stored"
	case res.Stored != nil:
		d.note("%s has no room for it: it is the memory %s", res.Notebook, res.Stored.Path)
	}
	for _, m := range res.Moved {
		d.note("%s made room and is the memory %s", m.Entry.Address, m.Path)
	}
	decided(d, res.Written)
	d.full(string(res.Notebook), res.Usage)
	return d
}
