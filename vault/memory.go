package vault

import (
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/names"
)

// A Memory is a Markdown file as stet sees it: a memory, a note, a notebook or
// anything else. Every key is optional; a file without front matter is a
// memory as well.
type Memory struct {
	Path         Path
	ID           string
	Title        string // front matter, else first heading, else ""
	Kind         string
	Scope        string
	Categories   []string
	Importance   *float64 // 0 to 1; nil = not given
	Created      time.Time
	Updated      time.Time
	Pinned       bool
	Private      bool
	Source       string
	ValidFrom    time.Time // what it says is true from then, zero = always was
	ValidUntil   time.Time // and until then; midnight UTC stands for the whole day
	Expires      time.Time // a person's date after which the curator archives it; midnight UTC as with ValidUntil
	Supersedes   []string
	SupersededBy string
	Conflicts    []string // ids of what cannot be true as well
	MayOutdate   []string // ids of what may no longer be true because of it
	Encoding     string
	Class        Class
	Hash         Hash
	Body         []byte // after the front matter
	BodyLine     int    // 1-based line of the file where Body starts
	// Problem says why the front matter could not be read, with its line; the
	// body is right all the same.
	Problem string
}

// Archived reports whether the memory lies in cold storage.
func (m Memory) Archived() bool { return m.Class == ClassArchive }

// Valid reports whether what the memory says is true at a time, as far as valid_from
// and valid_until tell.
func (m Memory) Valid(at time.Time) bool {
	return !at.Before(m.ValidFrom) && !over(m.ValidUntil, at)
}

// Expired reports whether the memory is to go to the archive by its date.
func (m Memory) Expired(at time.Time) bool { return over(m.Expires, at) }

// over reports whether an end is over at a time. Midnight UTC stands for the whole day; the zero time never comes.
func over(end, at time.Time) bool {
	if end.IsZero() {
		return false
	}
	if y, mon, day := end.UTC().Date(); end.Equal(time.Date(y, mon, day, 0, 0, 0, 0, time.UTC)) {
		end = end.AddDate(0, 0, 1)
	}
	return !at.Before(end)
}

// Names reports whether the memory is about another one by its id.
func (m Memory) Names(id string) bool {
	return m.SupersededBy == id || slices.Contains(slices.Concat(m.Supersedes, m.Conflicts, m.MayOutdate), id)
}

// Name is what a person calls the memory: its title, else its file name
// without the extension.
func (m Memory) Name() string {
	if m.Title != "" {
		return m.Title
	}
	return slugOf(m.Path)
}

// ReadMemory reads a file's front matter. It never fails: what cannot be read
// is left empty and named in Problem.
func ReadMemory(p Path, data []byte) Memory {
	d := markdown.Parse(data)
	m := Memory{
		Path: p, Scope: ScopeOf(p), Class: ClassOf(p), Hash: Hash(gitstore.HashBlob(data).String()),
		Body: d.Body(), BodyLine: d.BodyLine(), Title: d.Title(), Private: private(p, d),
	}
	if err := d.FrontMatterError(); err != nil {
		m.Problem = err.Error()
		return m
	}
	for _, f := range fields() {
		if v, ok := d.Meta(f.key); ok && f.read != nil {
			f.read(&m, v)
		}
	}
	return m
}

// slugOf is the file name without its extension.
func slugOf(p Path) string { return names.Slug(p.Base()) }

const (
	mostNear  = 3 // names that an error lists
	leastPart = 3 // characters of a part of a name
)

// partly lists the live memories and notes in whose names ref stands as whole words: "gate code" in
// the-gate-code-is-4711.
func (v *Vault) partly(files []File, ref string) (out []string) {
	words := strings.Join(strings.Fields(markdown.Fold(strings.ReplaceAll(ref, "-", " "))), "-")
	if len(words) < leastPart || strings.ContainsAny(ref, "./#") || IsID(ref) {
		return nil
	}
	for _, f := range files {
		class := ClassOf(f.Path)
		name := "-" + strings.ReplaceAll(markdown.Fold(slugOf(f.Path)), " ", "-") + "-"
		has := strings.Contains(name, "-"+words+"-")
		if has && (class == ClassMemory || class == ClassNote) && !v.hidesNow(f.Path) {
			out = append(out, string(f.Path))
		}
	}
	return out
}
