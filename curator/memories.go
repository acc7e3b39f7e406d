package curator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/links"
	"stet/vault/notebook"
	"stet/vault/settings"
)

// A Note is what decides about one memory. Pinned and private ones are none.
type Note struct {
	Path    vault.Path
	Text    string // all that it says; "" is not compared
	Expired bool
	By      string    // the person, as "Name <address>", who set the date; "" for nobody
	Person  bool      // a person wrote it, or edited it
	Linked  bool      // something leads to it, or it names others
	Kept    bool      // a person took back that the curator archived it, and it is the same since
	Since   time.Time // its first commit
	Author  string    // of that
}

// An End is a memory that goes to the archive.
type End struct {
	Row  int // its place among the notes
	Kept int // of a duplicate the place of the one that says the same; -1: it expired
}

// Ends says which memories go to the archive, in the order of notes: those that a person let expire, and of those with
// the same text what agents wrote, where a person's or else an older one stays.
func Ends(notes []Note) (out []End) {
	stays, kept := map[string]int{}, map[string]bool{} // by text
	gone := make([]bool, len(notes))
	for i, n := range notes {
		if gone[i] = !n.Kept && n.By != "" && n.Expired; gone[i] {
			out = append(out, End{i, -1})
			continue
		}
		kept[n.Text] = kept[n.Text] || n.Kept // a person wants it twice
		have, twice := stays[n.Text]
		if n.Text != "" && (!twice || better(n, notes[have])) {
			stays[n.Text] = i
		}
	}
	for i, n := range notes {
		have, twice := stays[n.Text]
		if twice && have != i && !gone[i] && !kept[n.Text] && !n.Person && !n.Linked {
			out = append(out, End{i, have})
		}
	}
	slices.SortFunc(out, func(a, b End) int { return cmp.Compare(a.Row, b.Row) })
	return out
}

// better reports whether a stays rather than b, which says the same.
func better(a, b Note) bool {
	rank := func(n Note) int {
		switch {
		case n.Person:
			return 0
		case n.Linked:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Since.Compare(b.Since)) < 0
}

// notes are the memories of a vault, as far as something may become of them.
type notes struct {
	rows  []Note
	files []vault.Memory // of the same
	ends  []End
	full  []*notebook.Notebook // that hold more than their limit

	graph *links.Graph
	ours  map[string]bool         // runs that history has a report of
	own   func(vault.Commit) bool // see [lineage.Own]
}

func (n *notes) due() bool { return len(n.ends)+len(n.full) > 0 }

// readNotes reads the memories and decides about them. Cost: one read of each, and the history of those that expired or
// say the same as another.
func readNotes(ctx context.Context, v *vault.Vault, now time.Time) (*notes, error) {
	out, same, err := listNotes(ctx, v, now)
	if err == nil {
		err = out.trace(ctx, v, same)
	}
	if err != nil {
		return nil, err
	}
	out.ends = Ends(out.rows)
	return out, out.books(ctx, v)
}

// listNotes reads the memories; same is how many have each text.
func listNotes(ctx context.Context, v *vault.Vault, now time.Time) (out *notes, same map[string]int, _ error) {
	all, err := v.Whole().List(ctx, vault.Filter{Public: true})
	if err != nil {
		return nil, nil, err
	}
	out, same = &notes{}, map[string]int{}
	for _, m := range all {
		if m.Pinned || m.Problem != "" {
			continue
		}
		named := len(m.Supersedes)+len(m.Conflicts)+len(m.MayOutdate) > 0 || m.SupersededBy != ""
		n := Note{Path: m.Path, Expired: m.Expired(now), Linked: named}
		if text := strings.TrimSpace(string(m.Body)); text != "" && m.Encoding == "" {
			n.Text = strings.Join([]string{m.Scope, m.Kind, m.ValidFrom.String(), m.ValidUntil.String(), text}, "\x00")
			same[n.Text]++
		}
		out.rows, out.files = append(out.rows, n), append(out.files, m)
	}
	return out, same, nil
}

// trace fills in what history and links say of the memories that may go. The text of a memory that nothing else says is
// not compared.
func (n *notes) trace(ctx context.Context, v *vault.Vault, same map[string]int) error {
	for i := range n.rows {
		row := &n.rows[i]
		if same[row.Text] < 2 {
			row.Text = ""
		}
		if row.Text == "" && !row.Expired {
			continue
		}
		if err := n.look(ctx, v, i); err != nil {
			return err
		}
	}
	return nil
}

// look fills in what history and links say of a memory, by its place.
func (n *notes) look(ctx context.Context, v *vault.Vault, i int) (err error) {
	if n.ours == nil {
		if n.ours, err = reported(ctx, v); err == nil {
			n.graph, err = links.Load(ctx, v.Whole())
		}
		if err == nil {
			n.own, err = lineage.Own(ctx, v)
		}
		if err != nil {
			return err
		}
	}
	row, id := &n.rows[i], n.files[i].ID
	row.Linked = row.Linked || len(n.graph.Back(row.Path)) > 0 || id != "" && slices.ContainsFunc(n.files,
		func(m vault.Memory) bool { return m.Names(id) })
	return row.past(ctx, v, n.files[i], n)
}

// past fills in what the history of a memory says, newest commit first.
func (n *Note) past(ctx context.Context, v *vault.Vault, m vault.Memory, of *notes) error {
	h := v.Whole().History()
	texts, same, back, set := h.Ancestry(), true, false, false
	for version, err := range h.Versions(ctx, "", n.Path) {
		if err != nil {
			return err
		}
		c := version.Commit
		person := c.Cut() || !c.ByMachine() || c.Trailers.Get("Stet-Approved-By") != ""
		if same && (c.Op == vault.OpArchive || c.Op == vault.OpMerge) && of.ours[c.Trailers.Get("Stet-Run")] {
			n.Kept = n.Kept || back
		}
		n.Since, n.Author, back = c.When, c.Author, person
		if version.Old == version.New {
			continue
		}
		same = false
		n.Person = n.Person || person
		before, err := texts.Read(version.Old)
		if err != nil {
			return err
		}
		if was := vault.ReadMemory(n.Path, before); !set && (version.Old == "" || !was.Expires.Equal(m.Expires)) {
			if set = true; !c.Cut() && of.own(c) { // whoever sends a commit can write into it that a person approved
				n.By = cmp.Or(c.Trailers.Get("Stet-Approved-By"), c.Author+" <"+c.AuthorEmail+">")
			}
		}
	}
	return nil
}

// books notes which notebooks hold more than their limit, and entries that agents wrote. One of which a person took
// back what the curator did last is left.
func (n *notes) books(ctx context.Context, v *vault.Vault) error {
	whole, limits := v.Whole(), notebook.LimitsOf(v)
	for _, b := range []*notebook.Notebook{notebook.Core(whole, limits), notebook.Profile(whole, limits)} {
		page, err := b.Read()
		if err != nil || page.Usage.Characters <= page.Usage.Limit {
			continue // what cannot be read is for others to tell
		}
		by, err := b.ByAgents(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(page.Entries, func(e markdown.Entry) bool { return by[e.Text] && !e.Pinned() }) {
			continue
		}
		ours, err := reported(ctx, v)
		if err != nil {
			return err
		}
		kept := false
		for version, err := range whole.History().Versions(ctx, "", b.Path()) {
			if err != nil {
				return err
			}
			for _, rev := range version.Commit.Reverts() {
				c, err := whole.History().CommitAt(ctx, string(rev))
				kept = kept || err == nil && ours[c.Trailers.Get("Stet-Run")]
			}
			break
		}
		if !kept {
			n.full = append(n.full, b)
		}
	}
	return nil
}

// noteJobs are what is to become of memories as jobs. Where the writes of machines wait for a person, only what a
// person let expire is done.
func (r *runner) noteJobs(ctx context.Context, n *notes) (jobs []job, _ error) {
	waits := r.a.Settings().Text(settings.WriteApproval) == "stage"
	for _, e := range n.ends {
		if waits && e.Kept >= 0 {
			continue
		}
		m, row := n.files[e.Row], n.rows[e.Row]
		why, ended := r.why(vault.OpArchive, "memory "+m.Name()), Ended{Path: m.Path}
		if m.ID != "" {
			why.Memories = []string{m.ID}
		}
		if e.Kept < 0 {
			ended.Why = "expired on " + m.Expires.UTC().Format(time.DateOnly)
			ended.Evidence, why.Approver = "the date that "+row.By+" set", row.By
		} else {
			ended.Why, ended.Evidence = fmt.Sprintf("says the same as %s", n.files[e.Kept].Path), "the same text"
		}
		why.Trail("Stet-Reason", ended.Why)
		disputing, err := m.Disputing(ctx, r.v)
		if err != nil {
			return nil, err
		}
		stage := func(_ context.Context, tx *vault.Tx) (err error) {
			if err = r.asCommitted(tx, m.Path); err == nil && e.Kept >= 0 {
				err = r.asCommitted(tx, n.files[e.Kept].Path)
			}
			if err == nil {
				err = errors.Join(tx.Detach(m, disputing), tx.Archive(m, false))
			}
			if moved := tx.Why().Moved; err == nil {
				ended.Into = moved[len(moved)-1][1]
			}
			return err
		}
		jobs = append(jobs, job{name: string(m.Path), own: &why, stage: stage, tell: func(by vault.Revision) {
			ended.Commit = by
			r.out.Memories.Archived = append(r.out.Memories.Archived, ended)
		}})
	}
	for _, b := range n.full {
		if !waits {
			jobs = append(jobs, r.bookJob(b))
		}
	}
	return jobs, nil
}

// bookJob takes entries that agents wrote out of a full notebook.
func (r *runner) bookJob(b *notebook.Notebook) job {
	why, moved := r.why(vault.OpCurate, ""), []notebook.Moved(nil)
	return job{name: string(b.Path()), own: &why, stage: func(ctx context.Context, tx *vault.Tx) (err error) {
		if err = r.asCommitted(tx, b.Path()); err == nil {
			moved, err = b.Relieve(ctx, tx)
		}
		return err
	}, tell: func(by vault.Revision) {
		for _, m := range moved {
			r.out.Memories.Moved = append(r.out.Memories.Moved, Ended{Path: vault.Path(b.Address(m.Entry)),
				Into: m.Memory.Path, Why: fmt.Sprintf("%s holds more than its limit", b.Path()),
				Evidence: "an agent wrote it on " + m.Since.Format(time.DateOnly), Commit: by})
		}
	}}
}
