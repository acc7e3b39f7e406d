package lineage

import (
	"cmp"
	"context"
	"maps"
	"strconv"
	"strings"
	"time"

	"stet/vault"
)

// When a memory was last changed: on disk, while that is in no commit. Else when the newest commit changed it by hand
// (made with git, of adopted edits, or in the editor), or when its front matter says that it was updated or made,
// whichever is later.
// Of a file that says nothing, and that nobody edited since it came, it is when the newest commit brought it: every
// file of a fresh clone is new on disk. Where no commit that was looked at has it, its front matter counts, or else the
// disk.
// It was made when a commit that was looked at brought it, under whatever name; one that is in no commit, when the disk
// says.

// A change is when commits changed a file and when the first one brought it, in seconds since 1970; 0 for never and,
// of first, for before what was looked at.
type change struct{ last, byHand, first int64 }

// mostCommits bounds the commits that are looked at for the times of files: what was changed before them is as old as
// its front matter or the disk says.
const mostCommits = 1000

// changesName is the name under which local state keeps them: the commit up to which, then a line each.
const changesName = "changed-3"

// ChangeTimes tell when files were last changed, and when they were made, zero for unknown.
type ChangeTimes struct {
	known     map[vault.Path]change
	committed interface {
		Holds(p vault.Path) bool
		Has(p vault.Path, h vault.Hash) bool
		Stands(p vault.Path, size int64, changed time.Time) bool
	}
}

// Changed looks up when the files of HEAD were changed. Without walk it looks at no commit beyond what local state
// knows. Cost: the git index, and with walk the trees of the commits since it was last asked, at most the newest
// thousand.
func Changed(ctx context.Context, v *vault.Vault, walk bool) (*ChangeTimes, error) {
	known, err := knownChanges(ctx, v, walk)
	if err != nil {
		return nil, err
	}
	committed, err := v.Committed()
	if err != nil {
		return nil, err
	}
	return &ChangeTimes{known, committed}, nil
}

// Memory tells of a memory that was read, given the time of its file on disk.
func (c *ChangeTimes) Memory(m vault.Memory, onDisk time.Time) (changed, made time.Time) {
	return c.when(m.Path, cmp.Or(m.Updated, m.Created), onDisk, c.committed.Has(m.Path, m.Hash))
}

// File tells of a file that was not read: said is the time in its front matter, size and onDisk are of the file.
func (c *ChangeTimes) File(p vault.Path, said time.Time, size int64, onDisk time.Time) (changed, made time.Time) {
	return c.when(p, said, onDisk, c.committed.Stands(p, size, onDisk))
}

func (c *ChangeTimes) when(p vault.Path, said, onDisk time.Time, committed bool) (changed, made time.Time) {
	known, ok := c.known[p]
	if known.first != 0 {
		made = time.Unix(known.first, 0).UTC()
	} else if !ok && !committed && !c.committed.Holds(p) {
		made = onDisk
	}
	switch {
	case !committed:
		return onDisk, made
	case known.last == 0:
		return cmp.Or(said, onDisk), made
	case said.IsZero():
		return time.Unix(known.last, 0).UTC(), made
	case said.Unix() < known.byHand:
		return time.Unix(known.byHand, 0).UTC(), made
	}
	return said, made
}

// knownChanges are those of the files of HEAD, as far as local state and, with walk, the newest commits tell.
func knownChanges(ctx context.Context, v *vault.Vault, walk bool) (map[vault.Path]change, error) {
	head, _, err := v.History().Tip()
	if err != nil || head == "" {
		return nil, err
	}
	kept, _ := v.State().Seen(changesName) // what cannot be read is found out again
	at, lines, _ := strings.Cut(string(kept), "\n")
	if at != "" && at != string(head) {
		behind := v.Whole().History().Log(ctx, vault.LogOptions{Rev: at, Without: string(head), Limit: 1})
		for _, err := range behind { // the branch went back, or what was kept is gone
			if ctx.Err() != nil {
				return nil, err
			}
			at, lines = "", ""
		}
	}
	out := readChanges(lines)
	if !walk || at == string(head) {
		return out, nil
	}
	if err := addChanges(ctx, v, out, at); err != nil {
		return nil, err
	}
	tree, err := v.History().View(ctx, "")
	if err != nil {
		return nil, err
	}
	there := make(map[vault.Path]change, len(out)) // nothing is kept of what was removed, or purged
	for p, err := range tree.Files() {
		if err != nil {
			return nil, err
		}
		if c, ok := out[p]; ok {
			there[p] = c
		}
	}
	out = there
	_ = v.State().SetSeen(ctx, changesName, func([]byte) ([]byte, error) { // a cache: without it this is slower
		return writeChanges(head, out), nil
	})
	return out, nil
}

// addChanges adds what the commits behind a revision, "" for all, changed. Where they are more than are looked at, what
// was known before counts no longer: a commit in between may have changed it since.
func addChanges(ctx context.Context, v *vault.Vault, out map[vault.Path]change, behind string) error {
	looked := 0
	named := map[vault.Path]vault.Path{} // what a file is called now, by its name at the commit that is looked at
	fresh, gone := map[vault.Path]change{}, map[vault.Path]bool{}
	options := vault.LogOptions{Without: behind, Limit: mostCommits, Changes: true}
	for c, err := range v.Whole().History().Log(ctx, options) {
		if err != nil {
			return err
		}
		if looked++; len(c.Parents) > 1 {
			continue // the commits that it joins say when
		}
		when := c.When.Unix()
		byHand := (c.Op == "" || c.Op == vault.OpAdopt || c.Op == vault.OpUpdate) && !c.ByMachine()
		for _, ch := range c.Changes {
			p := cmp.Or(named[ch.Path], ch.Path)
			now := fresh[p]
			if now.last = max(now.last, when); byHand && ch.Status == vault.Modified {
				now.byHand = max(now.byHand, when)
			}
			if ch.Status == vault.Added {
				now.first = when // the commits come newest first
			}
			switch fresh[p] = now; ch.Status {
			case vault.Renamed:
				named[ch.From] = p
				delete(gone, ch.From)
				gone[ch.Path] = true // what had it before
			case vault.Deleted:
				gone[p] = true
			}
		}
	}
	if looked == mostCommits {
		for p, was := range out {
			out[p] = change{first: was.first}
		}
	}
	before := maps.Clone(out)
	for p := range gone { // what has the name now is another file
		delete(before, p)
		delete(out, p)
	}
	for from := range named {
		delete(out, from)
	}
	for from, to := range named { // what was known of a file under the name that it had
		if was, ok := before[from]; ok {
			out[to] = out[to].and(was)
		}
	}
	for p, now := range fresh {
		out[p] = now.and(out[p])
	}
	return nil
}

// and joins what is known of a file, what was known before last.
func (c change) and(before change) change {
	return change{max(c.last, before.last), max(c.byHand, before.byHand), cmp.Or(before.first, c.first)}
}

func readChanges(lines string) map[vault.Path]change {
	out := make(map[vault.Path]change, strings.Count(lines, "\n"))
	for line := range strings.Lines(lines) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(part) < 4 {
			continue
		}
		last, err := strconv.ParseInt(part[0], 36, 64)
		byHand, herr := strconv.ParseInt(part[1], 36, 64)
		first, ferr := strconv.ParseInt(part[2], 36, 64)
		if err == nil && herr == nil && ferr == nil {
			out[vault.Path(part[3])] = change{last, byHand, first}
		}
	}
	return out
}

func writeChanges(head vault.Revision, all map[vault.Path]change) []byte {
	out := []byte(string(head) + "\n")
	for p, c := range all {
		if strings.Contains(string(p), "\n") {
			continue
		}
		out = strconv.AppendInt(out, c.last, 36)
		out = strconv.AppendInt(append(out, ' '), c.byHand, 36)
		out = strconv.AppendInt(append(out, ' '), c.first, 36)
		out = append(append(append(out, ' '), p...), '\n')
	}
	return out
}
