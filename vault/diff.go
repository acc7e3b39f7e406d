package vault

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"stet/vault/store"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
)

// A FileDiff is one changed file with its unified diff.
type FileDiff struct {
	Change
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Text    string `json:"text,omitempty"`
}

// diffContext is the number of unchanged lines around a change, as in git.
const diffContext = 3

// Diff compares two states of the vault: from a revision ("" is HEAD) to a
// revision ("" is the working tree), or from [store.EmptyTree]. paths keep only these files or what lies
// below them. Binary and oversized files are named without their text.
func (h *History) Diff(ctx context.Context, from, to string, paths []Path) (out []FileDiff, _ error) {
	for f, err := range h.Diffs(ctx, from, to, paths) {
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// Diffs is [History.Diff] one file after the other: nothing of a file is held when
// the next one is read. It ends with the first error.
func (h *History) Diffs(ctx context.Context, from, to string, paths []Path) iter.Seq2[FileDiff, error] {
	return func(yield func(FileDiff, error) bool) {
		changes, before, after, err := h.diff(ctx, from, to)
		if err == nil {
			changes, err = h.v.shownChanges(ctx, changes, h.v.hidesChange)
		}
		if err != nil {
			yield(FileDiff{}, h.v.store.Explain(err))
			return
		}
		for f, err := range diffFiles(changes, paths, before, after) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if !yield(f, h.v.store.Explain(err)) || err != nil {
				return
			}
		}
	}
}

// diff lists what differs, and how either side is read.
func (h *History) diff(ctx context.Context, from, to string) (_ []Change, before, after reader, _ error) {
	objects := h.v.store.Repo().Stage()
	a, err := h.v.store.TreeOf(objects, from)
	if err != nil {
		return nil, nil, nil, err
	}
	read := committed(objects)
	if to != "" {
		b, err := h.v.store.TreeOf(objects, to)
		if err != nil {
			return nil, nil, nil, err
		}
		changes, err := h.v.store.TreeChanges(objects, a, b)
		return changes, read, read, err
	}
	changes, err := h.changesToDisk(ctx, objects, a)
	onDisk := func(_ Hash, p Path) ([]byte, error) {
		d, err := h.v.store.Look(p)
		return d.Data, err
	}
	return changes, read, onDisk, err
}

// changesToDisk lists what differs between a tree and the working tree.
func (h *History) changesToDisk(ctx context.Context, objects *gitstore.Objects, a gitstore.ID) ([]Change, error) {
	s, err := h.v.scan(ctx)
	if err != nil {
		return nil, err
	}
	if a == s.Tree {
		return store.JoinRenames(s.Changed), nil
	}
	before, err := h.v.store.TreeChanges(objects, a, s.Tree)
	if err != nil {
		return nil, err
	}
	old := map[Path]Hash{} // what tree a has where it differs from HEAD
	now := map[Path]Hash{} // what HEAD has there, and so the disk unless it was changed
	for _, c := range before {
		old[c.Path], now[c.Path] = c.Old, c.New
		if c.Status == Renamed {
			old[c.From], old[c.Path] = c.Old, ""
		}
	}
	for _, c := range s.Changed {
		if _, ok := old[c.Path]; !ok {
			old[c.Path] = c.Old
		}
		now[c.Path] = c.New
	}
	var out []Change
	for p, was := range old {
		if is := now[p]; is != was {
			out = append(out, Change{Status: statusOfHash(was, is), Path: p, Old: was, New: is})
		}
	}
	store.SortChanges(out)
	return store.JoinRenames(out), nil
}

func statusOfHash(before, after Hash) string {
	switch {
	case before == "":
		return Added
	case after == "":
		return Deleted
	}
	return Modified
}

type reader func(Hash, Path) ([]byte, error)

func committed(objects *gitstore.Objects) reader {
	return func(h Hash, _ Path) ([]byte, error) { return objects.Content(string(h)) }
}

func diffFiles(changes []Change, paths []Path, before, after reader) iter.Seq2[FileDiff, error] {
	return func(yield func(FileDiff, error) bool) {
		for _, c := range changes {
			if !covered(paths, c.Path) && (c.From == "" || !covered(paths, c.From)) {
				continue
			}
			a, err := before(c.Old, c.Path)
			var b []byte
			if c.New != "" && err == nil {
				b, err = after(c.New, c.Path)
			}
			if !yield(fileDiff(c, a, b), err) || err != nil {
				return
			}
		}
	}
}

func fileDiff(c Change, a, b []byte) FileDiff {
	d := FileDiff{Change: c}
	from := c.Path
	if c.From != "" {
		from = c.From
	}
	var text strings.Builder
	fmt.Fprintf(&text, "diff --git a/%s b/%s\n", from, c.Path)
	switch c.Status {
	case Added:
		text.WriteString("new file mode 100644\n")
	case Deleted:
		text.WriteString("deleted file mode 100644\n")
	case Renamed:
		fmt.Fprintf(&text, "rename from %s\nrename to %s\n", c.From, c.Path)
	}
	if bytes.IndexByte(a, 0) >= 0 || bytes.IndexByte(b, 0) >= 0 {
		if !bytes.Equal(a, b) {
			fmt.Fprintf(&text, "Binary files a/%s and b/%s differ\n", from, c.Path)
		}
		d.Text = text.String()
		return d
	}
	fromName, toName := "a/"+string(from), "b/"+string(c.Path)
	if c.Old == "" {
		fromName = "/dev/null"
	}
	if c.New == "" {
		toName = "/dev/null"
	}
	hunks := markdown.Diff(a, b, fromName, toName, diffContext)
	for line := range strings.SplitSeq(hunks, "\n") {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			d.Added++
		case strings.HasPrefix(line, "-"):
			d.Removed++
		}
	}
	text.WriteString(hunks)
	d.Text = text.String()
	return d
}

// diffText is the unified diff of changes between two trees, new objects included.
func (v *Vault) diffText(objects *gitstore.Objects, changes []Change) (string, error) {
	read := committed(objects)
	var text strings.Builder
	for f, err := range diffFiles(changes, nil, read, read) {
		if err != nil {
			return "", err
		}
		text.WriteString(f.Text)
	}
	return text.String(), nil
}

// The removed files that a new one is compared with, and how like the likest must be, of 1: as git's
// rename detection has it by default.
const (
	mostCompared = 1000
	likeEnough   = 0.5
)

// likest is the file that a commit removed and that a new file of the same commit is most like: it was
// renamed and edited at once. Two ids are two memories, and what was moved as it is was moved there. "" is none.
func (a *Ancestry) likest(node *gitstore.FileNode) (best string, err error) {
	most := likeEnough
	for i := 0; i < min(len(a.gone), mostCompared); i++ {
		d := a.gone[i]
		if !d.NewID.IsZero() || a.came[d.OldID] {
			continue
		}
		same, err := a.sameThing(node.Blob, d.OldID)
		if err != nil {
			return "", err
		}
		if !same {
			continue
		}
		is, err := a.objects.Blob(node.Blob)
		if err != nil {
			return "", err
		}
		was, err := a.objects.Blob(d.OldID)
		if err != nil {
			return "", err
		}
		if l := likeness(was, is); l > most || l == most && best == "" {
			best, most = d.Path, l
		}
	}
	return best, nil
}

// likeness is how many bytes of two texts stand in lines that both have, of those of the longer one.
func likeness(x, y []byte) float64 {
	lines, both := map[string]int{}, 0
	for line := range bytes.Lines(x) {
		lines[string(bytes.TrimRight(line, "\r\n"))]++
	}
	for line := range bytes.Lines(y) {
		if text := string(bytes.TrimRight(line, "\r\n")); lines[text] > 0 {
			lines[text]--
			both += len(line)
		}
	}
	return float64(both) / float64(max(len(x), len(y), 1))
}
