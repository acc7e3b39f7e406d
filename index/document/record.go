package document

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault"
	"stet/vault/names"
)

// The windows in which a change can escape a look at size and time. A local
// file system stamps from a clock that ticks every few milliseconds; one whose
// stamps are whole seconds ticks every one or two.
const (
	racyFine   = 20 * time.Millisecond
	racyCoarse = 2 * time.Second
)

// Racy reports whether a file read at time read may change later without its
// time changing.
func Racy(f vault.File, read time.Time) bool {
	window := racyFine
	if f.ModTime.Nanosecond() == 0 {
		window = racyCoarse
	}
	return f.ModTime.Add(window).After(read)
}

// HashOf is the stored prefix of the SHA-256 of data.
func HashOf(data []byte) (h [HashSize]byte) {
	sum := sha256.Sum256(data)
	copy(h[:], sum[:])
	return h
}

// newRecord describes a file without the place of its documents in a segment.
func newRecord(m vault.Memory, data []byte, f vault.File, lens [lengthFields]uint32) Record {
	r := Record{
		Path: m.Path, Size: f.Size, MTime: f.ModTime.UnixNano(), Identity: f.Identity,
		Hash: HashOf(data), Lens: lens, Meta: encodeMeta(m),
	}
	for flag, on := range map[uint8]bool{
		FlagSupersedes: len(m.Supersedes) > 0, flagSuperseded: m.SupersededBy != "",
		FlagDoubts: len(m.MayOutdate)+len(m.Conflicts) > 0, FlagPending: m.Encoding == "pending",
		FlagPrivate: m.Private, FlagPinned: m.Pinned,
		FlagTimed: !m.ValidFrom.IsZero() || !m.ValidUntil.IsZero(),
	} {
		if on {
			r.Flags |= flag
		}
	}
	return r
}

// RecordOf is the record of a memory that was read, without what only an index knows of it.
func RecordOf(m vault.Memory) Record {
	return newRecord(m, nil, vault.File{Path: m.Path, ModTime: m.Changed}, [lengthFields]uint32{})
}

// Textless is the record of a file that cannot be read. Unless the reason lies
// in its size or nature it is tried again every time: permissions change
// without a trace in what is compared.
func Textless(f vault.File, err error) Record {
	r := Record{Path: f.Path, Size: f.Size, MTime: f.ModTime.UnixNano(), Identity: f.Identity, Meta: encodeMeta(vault.Memory{})}
	if !unreadable(err) {
		r.Flags = FlagRacy
	}
	return r
}

// A Record describes one file of the vault.
type Record struct {
	Path     vault.Path
	Size     int64
	MTime    int64 // nanoseconds since 1970
	Identity uint64
	Hash     [HashSize]byte
	Flags    uint8
	Seg      uint64 // segment id of its documents
	Doc      uint32 // number of the first of them
	Docs     uint32 // how many there are; 0 for a file whose text cannot be had
	Lens     [lengthFields]uint32
	Meta     string          // see encodeMeta
	Entry    *markdown.Entry // the entry of a notebook that it is about, nil for a file; never stored
}

// hashSize is the length of the stored prefix of a file's SHA-256: 128 bits
// tell any two files apart that nobody forged.
const HashSize = 16

// The flags of a record.
const (
	// FlagRacy marks a file changed so shortly before it was read that a later
	// change could have left size and time alike. It is read again next time.
	FlagRacy = 1 << iota
	// FlagSupersedes marks a meta with supersedes.
	FlagSupersedes
	// flagSuperseded marks a file that names its successor itself.
	flagSuperseded
	// FlagPrivate marks private: true.
	FlagPrivate
	// FlagPinned marks pinned: true.
	FlagPinned
	// FlagTimed marks a file with valid_from or valid_until.
	FlagTimed
	// FlagDoubts marks a memory that may outdate or contradict another.
	FlagDoubts
	// FlagPending marks encoding: pending.
	FlagPending
)

// The flags of a transcript that stand in the place of two which only memories have.
const (
	// FlagSystem marks a transcript with messages that no person typed.
	FlagSystem = FlagPending
	// FlagUncovered marks one with messages whose text stands in a file that cannot be searched.
	FlagUncovered = FlagDoubts
)

// SameFile reports whether f is, as far as the system tells, the file that r
// describes.
func (r *Record) SameFile(f vault.File) bool {
	return r.Size == f.Size && r.MTime == f.ModTime.UnixNano() && r.Identity == f.Identity
}

// SortRecords orders records by path and keeps the last of equal paths.
func SortRecords(recs []Record) []Record {
	slices.SortStableFunc(recs, func(a, b Record) int { return cmp.Compare(a.Path, b.Path) })
	out := recs[:0]
	for i := range recs {
		if i+1 < len(recs) && recs[i+1].Path == recs[i].Path {
			continue
		}
		out = append(out, recs[i])
	}
	return out
}

// The meta of a record holds what filters and supersession need, so that no
// file has to be read to decide that it is no hit. Texts are in lower case.
type Meta struct {
	ID string
	// Title is [vault.Memory.Headline], of a transcript its title, and Aliases are its other names: as they are
	// written, and cut where they are long.
	Title      string
	Aliases    []string
	Kind       string
	Updated    int64    // seconds since 1970; 0 when the file does not say
	Created    int64    // as Updated
	Categories []string // and the #tags of the text
	Supersedes []string
	MayOutdate []string
	// Source is what of a conversation a memory came from ("session:ID#14"), of a
	// transcript its foreign id; "" for anything else.
	Source string
	// Importance is nil where the file does not say, else 0 to 1 in steps of a thousandth.
	Importance *float64
	// From and Until bound in seconds since 1970 when the memory is true, see [vault.Memory.Valid];
	// 0 is no bound.
	From, Until int64
}

// Valid reports whether what the memory says is true at a time.
func (m Meta) Valid(at time.Time) bool {
	return vault.Memory{ValidFrom: TimeOf(m.From), ValidUntil: TimeOf(m.Until)}.Valid(at)
}

// TimeOf is the time of a number of seconds since 1970, in UTC; of 0 no time.
func TimeOf(sec int64) time.Time {
	if sec == 0 {
		return time.Time{}
	}
	return time.Unix(sec, 0).UTC()
}

// secondsOf is 0 for no time alone.
func secondsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return cmp.Or(t.Unix(), -1)
}

func encodeMeta(m vault.Memory) string {
	b := AppendString(nil, strings.ToLower(m.ID))
	b = AppendString(b, names.Cut(m.CalledBy()))
	aliases := m.Aliases[:min(len(m.Aliases), mostAliases)]
	b = binary.AppendUvarint(b, uint64(len(aliases)))
	for _, s := range aliases {
		b = AppendString(b, names.Cut(s))
	}
	b = AppendString(b, strings.ToLower(m.Kind))
	b = binary.AppendVarint(b, updatedOf(m))
	for _, list := range [][]string{m.Tags, m.Supersedes, m.MayOutdate} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = AppendString(b, strings.ToLower(s))
		}
	}
	if m.Class != vault.ClassSession && !strings.HasPrefix(m.Source, sessionSource) {
		m.Source = ""
	}
	b = AppendString(b, strings.ToLower(m.Source))
	importance := uint64(0)
	if m.Importance != nil {
		importance = 1 + uint64(math.Round(min(max(*m.Importance, 0), 1)*thousand))
	}
	b = binary.AppendUvarint(b, importance)
	for _, at := range []time.Time{m.ValidFrom, m.ValidUntil, cmp.Or(m.Created, m.Date)} {
		b = binary.AppendVarint(b, secondsOf(at))
	}
	return string(b)
}

const thousand = 1000

// mostAliases bounds the names of one file that a record keeps.
const mostAliases = 32

// sessionSource is how the source of a memory that came from a conversation begins.
const sessionSource = "session:"

// updatedOf is when the memory says it last changed, or was made.
func updatedOf(m vault.Memory) int64 {
	return cmp.Or(secondsOf(m.Updated), secondsOf(m.Created))
}

// DecodeMeta reads the meta of a record; what cannot be read is zero.
func DecodeMeta(s string) Meta {
	r := Reader{s: s}
	return r.meta()
}

// ID is that of a record, read from its meta.
func ID(meta string) string {
	r := Reader{s: meta}
	return r.Text()
}

// Categories are those of a record, read from its meta.
func Categories(meta string) []string {
	r := Reader{s: meta}
	r.names()
	r.Text()
	r.Varint()
	return r.texts()
}

// Names are what the file is called.
func (r *Record) Names() names.Known {
	meta := Reader{s: r.Meta}
	called := meta.names()
	called.Slug = names.Slug(r.Path.Base())
	return called
}

func (r *Reader) names() names.Known {
	return names.Known{ID: r.Text(), Title: r.Text(), Aliases: r.texts()}
}

func (r *Reader) texts() (list []string) {
	for n := r.Count(1); n > 0; n-- {
		list = append(list, r.Text())
	}
	return list
}

// meta reads what encodeMeta wrote; a transcript has more behind it.
func (r *Reader) meta() Meta {
	called := r.names()
	m := Meta{
		ID: called.ID, Title: called.Title, Aliases: called.Aliases, Kind: r.Text(), Updated: r.Varint(),
		Categories: r.texts(), Supersedes: r.texts(), MayOutdate: r.texts(), Source: r.Text(),
	}
	if n := r.Uvarint(); n > 0 {
		importance := float64(n-1) / thousand
		m.Importance = &importance
	}
	m.From, m.Until, m.Created = r.Varint(), r.Varint(), r.Varint()
	return m
}

// unreadable reports errors that say something about one file only.
func unreadable(err error) bool {
	return errors.Is(err, vault.ErrTooLarge) || errors.Is(err, vault.ErrNotRegular)
}

// Unread are the records of files that could not be read.
func Unread(recs []Record) (out []*Record) {
	for i := range recs {
		if r := &recs[i]; r.Flags&FlagRacy != 0 && r.Hash == [HashSize]byte{} {
			out = append(out, r)
		}
	}
	return out
}

// Successors are the ids, or the paths, of the records whose supersedes names ids; the last of several in path order.
// One of the archive counts where it has a successor itself: what a memory replaced that was forgotten, and that came
// back, is replaced by nothing.
func Successors(recs []Record) map[string]string {
	out, shelved, open := map[string]string{}, map[string]Meta{}, []string{}
	replace := func(m Meta, by string) {
		for _, id := range m.Supersedes {
			out[id], open = by, append(open, id)
		}
	}
	for i := range recs {
		if recs[i].Flags&FlagSupersedes == 0 {
			continue
		}
		m := DecodeMeta(recs[i].Meta)
		if vault.ClassOf(recs[i].Path) == vault.ClassArchive && recs[i].Flags&flagSuperseded == 0 {
			shelved[m.ID] = m
			continue
		}
		replace(m, cmp.Or(m.ID, string(recs[i].Path)))
	}
	for len(open) > 0 {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if m, ok := shelved[id]; ok {
			delete(shelved, id)
			m.Supersedes = slices.DeleteFunc(m.Supersedes, func(id string) bool { return out[id] != "" })
			replace(m, id)
		}
	}
	return out
}

// Superseded marks the records that have one of [Successors], and those that name their successor themselves.
func Superseded(recs []Record) []bool {
	ids, marked := Successors(recs), false
	for i := range recs {
		marked = marked || recs[i].Flags&flagSuperseded != 0
	}
	if len(ids) == 0 && !marked {
		return nil
	}
	out := make([]bool, len(recs))
	for i := range recs {
		out[i] = recs[i].Flags&flagSuperseded != 0 || len(ids) > 0 && ids[DecodeMeta(recs[i].Meta).ID] != ""
	}
	return out
}
