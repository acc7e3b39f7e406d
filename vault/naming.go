package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/markdown"
	"stet/vault/guard"
)

// Widths of the words in a file name, in code points, and of the end of an id in a transcript's.
const (
	slugWidth       = 60
	transcriptWidth = 48
	transcriptTail  = 6
	projectWidth    = 20
)

// namedAfter is how much of a text its name is taken from where that has words, in bytes: names are short, and the
// guard's look at all of it is not.
const namedAfter = 1 << 10

// Name is the name, without ending, of the file of a new memory: its title or else its first
// words as a slug, without what is likely meant to be kept from others: names are told to everybody; the end of its
// id where these have neither letter nor digit.
func (n Note) Name(id string) string {
	words, first := oneLine(guard.Unlikely(n.Title)), n.Text
	if len(first) > namedAfter { // cut between words: the guard knows no half of a secret
		first = first[:max(0, strings.LastIndexAny(first[:namedAfter], " \n"))]
	}
	for _, text := range []string{first, n.Text} {
		if words == "" {
			words = markdown.FirstWords([]byte(guard.Unlikely(text)), 10)
		}
	}
	return cmp.Or(slugOfText(words, slugWidth), "memory-"+idEnd(id, minSuffix))
}

// slugOfText makes a name of what somebody wrote, without what nobody sees of it: the slug of what is left may join
// such characters to others than they stood by.
func slugOfText(s string, width int) string {
	for {
		slug := markdown.Slug(guard.Seen(s), width)
		if slug == s {
			return slug
		}
		s = slug
	}
}

// NameTranscript is the path of a new transcript: by month, and named after its day, its project, its title
// (else the id that its agent gave it) and the end of its id. What worked for another conversation stands in a folder
// named after the day and the end of the id of that one.
func NameTranscript(t *markdown.Transcript) Path {
	slug := cmp.Or(slugOfText(guard.Unlikely(t.Title), transcriptWidth),
		slugOfText(path.Base(t.Origin), transcriptWidth))
	day, folder := t.Started.UTC(), ""
	if up, err := ulid.ParseStrict(t.Parent); err == nil && worksFor(t) {
		if day = ulid.Time(up.Time()).UTC(); up.Time() == 0 {
			day = time.Time{}
		}
		folder = idEnd(t.Parent, transcriptTail) + "-parts/"
	} else if project := slugOfText(guard.Unlikely(projectName(t.Project)), projectWidth); project != "" &&
		slug != project && !strings.HasPrefix(slug, project+"-") {
		slug = strings.TrimSuffix(project+"-"+slug, "-")
	}
	name := strings.TrimPrefix(slug+"-"+idEnd(t.ID, transcriptTail)+".md", "-")
	if day.IsZero() {
		return Path("sessions/undated/" + folder + name)
	}
	if folder != "" {
		folder = day.Format("2006-01-02-") + folder
	}
	if !t.Started.IsZero() {
		name = t.Started.UTC().Format("2006-01-02-") + name
	}
	return Path(day.Format("sessions/2006/01/") + folder + name)
}

// worksFor reports a conversation that its parent called for: not one that goes on where its parent ended.
func worksFor(t *markdown.Transcript) bool {
	return !strings.HasPrefix(t.Source, "import") || strings.Contains(t.Origin, "/") && !strings.Contains(t.Origin, "#")
}

// projectName is the last part of a project's folder.
func projectName(project string) string {
	if project = path.Base(strings.ReplaceAll(project, `\`, "/")); project == "." || project == "/" {
		return ""
	}
	return project
}

func idEnd(id string, n int) string { return id[max(0, len(id)-n):] }

// A Scope says what a memory is about, a path like "/infra/db"; "" and "/" are the top.
type Scope string

// maxScopeDepth bounds the folders stet makes; a person may make deeper ones.
const maxScopeDepth = 3

// Folder is the folder of a scope below memories/, which the scope itself need not
// name. Segments are slugged. It fails with [ErrInvalid] for a scope that stet would not make.
func (s Scope) Folder() (Path, error) {
	parts := []string{"memories"}
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(string(s), "/"), "memories/"), "/") {
		if part == "" {
			continue
		}
		slug := markdown.Slug(part, slugWidth)
		if slug == "" {
			return "", fmt.Errorf("scope %q: %w: %q has no letters or digits", s, ErrInvalid, part)
		}
		parts = append(parts, slug)
	}
	if len(parts)-1 > maxScopeDepth {
		return "", WithHint(fmt.Errorf("scope %q: %w: it is deeper than %d levels", s, ErrInvalid, maxScopeDepth),
			"use fewer levels and say the rest with --category; folders you make yourself may be deeper")
	}
	return Path(strings.Join(parts, "/")), nil
}

// Slug is the scope that stet would store a memory under when this one is given, so that it finds
// it again; one that cannot be a scope is returned as it is.
func (s Scope) Slug() string {
	folder, err := s.Folder()
	if err != nil {
		return string(s)
	}
	return ScopeOf(folder + "/x.md")
}

// In reports whether a scope is under or equal to parent, by segment: "/foobar" is not in "/foo".
func (s Scope) In(parent string) bool {
	scope, parent := "/"+strings.Trim(string(s), "/")+"/", "/"+strings.Trim(parent, "/")+"/"
	return parent == "//" || strings.HasPrefix(scope, parent)
}

// FreeName is a path in folder for a file called base. A name is taken when the
// folder has it on disk, in HEAD, in the archive, staged, or given by this transaction
// before, compared without case and Unicode form, because the vault may be cloned to a
// file system that does not tell them apart; so is one that Windows gives to no file, and one that programs take orders from.
// Of a taken name the last characters of mark, an id of four or more, go behind the
// stem, as few as are free.
func (t *Tx) FreeName(folder, base, mark string) (Path, error) {
	taken, err := t.takenNames(folder)
	if err != nil {
		return "", err
	}
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	bad := func() bool {
		return Path(base).Unportable() != "" || Path(path.Join(folder, base)).Steers()
	}
	for i := minSuffix; taken[markdown.Fold(base)] || bad(); i++ {
		if i > len(mark) {
			return "", fmt.Errorf("name %q in %q: %w: it is taken", base, folder, ErrConflict)
		}
		base = stem + "-" + mark[len(mark)-i:] + ext
	}
	taken[markdown.Fold(base)] = true
	return Path(path.Join(folder, base)), nil
}

// takenNames are the names that files in folder may not have, folded.
func (t *Tx) takenNames(folder string) (map[string]bool, error) {
	if have, ok := t.taken[folder]; ok {
		return have, nil
	}
	taken := map[string]bool{}
	for _, dir := range []string{folder, "archive/" + folder} {
		names, err := t.tx.NamesIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			taken[markdown.Fold(name)] = true
		}
	}
	for p := range t.tx.Staged() {
		if p.Dir() == folder {
			taken[markdown.Fold(p.Base())] = true
		}
	}
	t.taken[folder] = taken
	return taken, nil
}

// warnOfNames warns of new files among a person's edits that Windows, or a file system that ignores case, cannot check
// out beside the others of their folder.
func (t *Tx) warnOfNames(paths []Path) error {
	named := map[string]map[string][]string{} // by folder the names, by what they are without case
	for _, p := range paths {
		if at := t.tx.Touched()[p]; !at.Disk.Exists || !at.InHead.ID.IsZero() {
			continue
		}
		if part := p.Unportable(); part != "" {
			t.warnings = append(t.warnings, fmt.Sprintf("%q: Windows cannot check out a file with the name %q", p, part))
		}
		names, known := named[p.Dir()]
		if !known {
			all, err := t.tx.NamesIn(p.Dir())
			if err != nil {
				return err
			}
			names = map[string][]string{}
			for _, name := range all {
				names[markdown.Fold(name)] = append(names[markdown.Fold(name)], name)
			}
			named[p.Dir()] = names
		}
		for _, name := range names[markdown.Fold(p.Base())] {
			if name != p.Base() {
				t.warnings = append(t.warnings, fmt.Sprintf("%q and %q are one name where case does not count, "+
					"as on Windows and macOS: one of them hides the other there", p, name))
				break
			}
		}
	}
	return nil
}

// Link adds ids to, or with gone takes them out of, a list of ids that stet keeps in
// the front matter of m: "supersedes", "conflicts_with" or "may_outdate". A file without an id
// gets one; "updated" stays, for what the memory says does not change.
func (t *Tx) Link(m Memory, key string, gone bool, ids ...string) (Memory, error) {
	data, was, err := t.Read(m.Path)
	if err != nil {
		return m, err
	}
	doc := markdown.Parse(data)
	have := metaList(doc, key)
	var want []string
	if gone {
		want = slices.DeleteFunc(slices.Clone(have), func(id string) bool { return slices.Contains(ids, id) })
	} else {
		want = slices.DeleteFunc(cleanList(slices.Concat(have, ids)), func(id string) bool {
			return id == m.ID && id != ""
		})
	}
	if err := identify(doc, t.v.o.Now()); err != nil {
		return m, err
	}
	switch {
	case slices.Equal(have, want):
	case len(want) == 0:
		err = doc.RemoveMeta(key)
	default:
		err = doc.SetMeta(key, markdown.Strings(want))
	}
	if err != nil {
		return m, pathErrorf("link", m.Path, err)
	}
	if string(doc.Bytes()) != string(data) {
		err = t.Put(m.Path, was, doc.Bytes())
	}
	return ReadMemory(m.Path, doc.Bytes()), err
}

// Disputing lists the live memories that m names in conflicts_with. Cost: nothing for a
// memory without any, else as [Vault.Resolve].
func (m Memory) Disputing(ctx context.Context, v *Vault) (out []Memory, err error) {
	for _, id := range m.Conflicts {
		o, err := v.Whole().Resolve(ctx, id)
		var unknown *NotFoundError
		switch {
		case errors.As(err, &unknown), err == nil && o.Archived():
		case err != nil:
			return nil, err
		default:
			out = append(out, o)
		}
	}
	return out, nil
}

// Detach takes the id of m, which goes to the archive, out of conflicts_with of the memories
// that [Memory.Disputing] listed.
func (t *Tx) Detach(m Memory, from []Memory) error {
	for _, o := range from {
		if _, have, err := t.Read(o.Path); err != nil {
			return err
		} else if have == "" {
			continue // it went as well
		}
		if _, err := t.Link(o, "conflicts_with", true, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// Archive moves m to cold storage. With rejected it also leaves a tombstone, as
// [Vault.Forget] does.
func (t *Tx) Archive(m Memory, rejected bool) error {
	to, err := t.archivePath(m.Path)
	if err != nil {
		return err
	}
	data, hash, err := t.Read(m.Path)
	if err != nil {
		return err
	}
	if err := t.Move(m.Path, to); err != nil || !rejected {
		return err
	}
	return t.Reject(forgotten(ReadMemory(m.Path, data), hash))
}

// archivePath is a free place for p in cold storage; a taken name gets the UTC
// time appended.
func (t *Tx) archivePath(p Path) (Path, error) {
	to := "archive/" + p
	_, have, err := t.Read(to)
	if err != nil {
		return "", err
	}
	if have != "" {
		ext := path.Ext(string(to))
		to = Path(strings.TrimSuffix(string(to), ext) + t.v.o.Now().UTC().Format("-20060102-150405") + ext)
	}
	return to, nil
}
