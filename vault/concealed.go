package vault

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/tombstone"
)

// A concealed is what is private, or was.
type concealed struct {
	at     Revision // HEAD when it was looked for
	paths  map[Path]bool
	ids    map[string]bool
	gone   *gone         // what persons forgot
	shelf  map[Path]bool // where the archive of HEAD has the very bytes of that
	skills *elsewhere    // those from elsewhere that wait, or whose past is kept back
}

// A gone is what persons forgot or purged, as their tombstones have it.
type gone struct {
	ids   map[string]bool
	blobs map[Hash]bool
	texts map[string]bool // see [tombstone.Hash]
}

// has reports whether these contents are what was forgotten: the memory, its bytes, or its words under another name.
func (g *gone) has(h Hash, data []byte) bool {
	if g.blobs[h] || g.ids[frontID(data)] {
		return true
	}
	return len(g.texts) > 0 && g.texts[tombstone.Hash(tombstone.Added(nil, data))]
}

// forgotten reads what persons forgot, and where a commit has the bytes of it in the archive.
func (v *Vault) forgotten(head Revision) (*gone, map[Path]bool, error) {
	g, shelf := &gone{map[string]bool{}, map[Hash]bool{}, map[string]bool{}}, map[Path]bool{}
	stones, err := v.stones()
	for _, f := range stones {
		for _, part := range f.parts {
			if part.Actor != ActorUser || part.Action != tombstone.Forget && part.Action != tombstone.Purge {
				continue
			}
			for _, id := range part.IDs {
				g.ids[strings.ToLower(id)] = true
			}
			if part.Blob != "" && part.Was == "" {
				g.blobs[Hash(part.Blob)] = true
			}
			if part.TextHash != "" && part.Was == "" {
				g.texts[part.TextHash] = true
			}
		}
	}
	if err != nil || len(g.blobs) == 0 || head == "" {
		return g, shelf, err
	}
	objects := v.store.Repo().Stage()
	id, err := gitstore.ParseID(string(head))
	if err != nil {
		return g, shelf, err
	}
	root, err := objects.TreeOf(id)
	if err != nil {
		return g, shelf, err
	}
	archive, ok, err := objects.Lookup(root, v.store.GitPath("archive"))
	if err != nil || !ok || !archive.IsDir() {
		return g, shelf, err
	}
	for e, err := range objects.Walk(archive.ID) {
		if err != nil {
			return g, shelf, err
		}
		if g.blobs[Hash(e.ID.String())] {
			shelf[Path("archive/"+e.Name)] = true
		}
	}
	return g, shelf, nil
}

// has reports whether p is one of the paths, or in the folder of a skill whose SKILL.md is, or that waits.
func (h *concealed) has(p Path) bool {
	if _, waits := h.skills.of(p); waits || h.paths[p] || h.shelf[p] {
		return true
	}
	return len(h.paths) > 0 && SkillFolder(p, func(p Path) bool { return h.paths[p] }) != ""
}

// named reports whether a text names something hidden.
func (h *concealed) named(text string) bool {
	for p := range h.paths {
		if strings.Contains(text, string(p)) {
			return true
		}
	}
	for id := range h.ids {
		if strings.Contains(text, id) {
			return true
		}
	}
	for folder, waits := range h.skills.waits {
		if waits && strings.Contains(text, string(folder)) {
			return true
		}
	}
	return false
}

// hidings are what was found out last, for each HEAD.
type hidings struct {
	sync.Mutex
	now, ever *concealed

	skills sync.Mutex
	found  *elsewhere
}

// privateNow lists what is private on disk, archived or not.
func (v *Vault) privateNow(ctx context.Context) (*concealed, error) { return v.privateAmong(ctx, nil) }

// privateAmong is privateNow for who has listed the files; nil walks.
func (v *Vault) privateAmong(ctx context.Context, list func() ([]File, error)) (*concealed, error) {
	head, err := v.Head()
	if err != nil {
		return nil, err
	}
	skills, err := v.elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	v.hidden.Lock()
	defer v.hidden.Unlock()
	if v.hidden.now != nil && v.hidden.now.at == head && v.hidden.now.skills == skills {
		return v.hidden.now, nil
	}
	found, known := map[Path]string{}, errors.New("no index")
	if v.o.Private != nil {
		found, known = v.o.Private(ctx, list)
	}
	if known != nil {
		if found, err = v.Whole().readPrivate(ctx); err != nil {
			return nil, err
		}
	}
	now := &concealed{at: head, paths: map[Path]bool{}, ids: map[string]bool{}, skills: skills}
	for p, id := range found {
		now.paths[p] = true
		if id != "" {
			now.ids[strings.ToLower(id)] = true
		}
	}
	if now.gone, now.shelf, err = v.forgotten(head); err != nil {
		return nil, err
	}
	v.hidden.now = now
	return now, nil
}

// readPrivate reads all files for what no index knows.
func (v *Vault) readPrivate(ctx context.Context) (map[Path]string, error) {
	out := map[Path]string{}
	files, err := v.Files(ctx, WalkOptions{Archive: true})
	if err != nil {
		return nil, err
	}
	all, err := v.readAll(ctx, files, func([]byte) bool { return true }, nil)
	for _, m := range all {
		if m.Private {
			out[m.Path] = m.ID
		}
	}
	return out, err
}

// privateEver lists what is private on disk or was private in any commit, and what a person forgot. A file
// without an id is known by the paths that it had.
func (v *Vault) privateEver(ctx context.Context) (*concealed, error) {
	now, err := v.privateNow(ctx)
	if err != nil {
		return nil, err
	}
	v.hidden.Lock()
	defer v.hidden.Unlock()
	if v.hidden.ever != nil && v.hidden.ever.at == now.at && v.hidden.ever.skills.key == now.skills.key {
		return v.hidden.ever, nil
	}
	past, err := v.privatePast(ctx)
	if err != nil {
		return nil, err
	}
	ever := &concealed{at: now.at, paths: maps.Clone(now.paths), ids: maps.Clone(now.ids),
		gone: now.gone, shelf: now.shelf, skills: now.skills.ever(past.Skills)}
	for _, id := range past.IDs {
		ever.ids[id] = true
	}
	past.spread(ever.paths)
	v.hidden.ever = ever
	return ever, nil
}

// A privatePast is what commits say of what was private. It is kept in local state, so that each commit is
// looked at once.
type privatePast struct {
	Upto  Revision  `json:"upto"`
	IDs   []string  `json:"ids"`
	Paths []Path    `json:"paths"`
	Moves [][2]Path `json:"moves"` // of files without an id
	// Skills are the folders of those that came from elsewhere.
	Skills []Path `json:"skills,omitempty"`
}

const (
	privateMark = "private" // of a privatePast, as JSON
	// keepPast is how much has to be new before what it says is kept, and oneCommit how much a commit is beside
	// its changes: to keep it costs an fsync, as much as to look at a few commits.
	keepPast  = 64
	oneCommit = 8
)

// privatePast looks at the commits that it has not seen.
func (v *Vault) privatePast(ctx context.Context) (past privatePast, err error) {
	head, err := v.store.Repo().Head() // before the walk: what is committed meanwhile is for the next one
	if err != nil || head.ID.IsZero() {
		return past, err
	}
	kept, _ := v.State().Seen(privateMark) // what cannot be read is found out again
	_ = json.Unmarshal(kept, &past)
	seen, objects := 0, v.store.Repo().Stage()
	o := LogOptions{Rev: head.ID.String(), Without: string(past.Upto), Changes: true}
	for c, err := range v.Whole().History().Log(ctx, o) {
		if err == nil {
			err = past.add(objects, c)
		}
		if err != nil {
			return past, v.store.Explain(err)
		}
		seen += oneCommit + len(c.Changes)
	}
	if past.Upto = Revision(o.Rev); seen < keepPast {
		return past, nil
	}
	state := v.State()
	state.wait = 0
	_ = state.SetSeen(ctx, privateMark, func([]byte) ([]byte, error) { // a cache: without it this is slower
		return json.Marshal(past)
	})
	return past, nil
}

// add looks at what one commit brought.
func (past *privatePast) add(objects *gitstore.Objects, c Commit) error {
	was := map[Path]string{} // ids of what goes
	for _, ch := range c.Changes {
		if ch.Old == "" || !ch.Path.IsMarkdown() || ch.New != "" && ch.From == "" {
			continue
		}
		data, err := objects.Content(string(ch.Old))
		if err != nil {
			return err
		}
		if ch.From != "" {
			was[ch.From] = frontID(data)
		} else {
			was[ch.Path] = frontID(data)
		}
	}
	from := map[Path]Path{}
	for old, to := range renamesOf(c) {
		from[to] = old
	}
	for _, ch := range c.Changes {
		if folder := recorded(ch.Path); folder != "" && !slices.Contains(past.Skills, folder) {
			past.Skills = append(past.Skills, folder)
		}
		if ch.New == "" || !ch.Path.IsMarkdown() {
			continue
		}
		data, err := objects.Content(string(ch.New))
		if err != nil {
			return err
		}
		id := frontID(data)
		if old := from[ch.Path]; old != "" && (id == "" || was[old] == "") {
			past.Moves = append(past.Moves, [2]Path{old, ch.Path})
		}
		if private(ch.Path, markdown.Parse(data)) {
			if id != "" && !slices.Contains(past.IDs, id) {
				past.IDs = append(past.IDs, id)
			}
			if !slices.Contains(past.Paths, ch.Path) {
				past.Paths = append(past.Paths, ch.Path)
			}
		}
	}
	return nil
}

// tailOf is the part of a conversation's id that is the same whenever it is met, its last 16 characters: see
// session.ID.
func tailOf(id string) string { return strings.ToLower(id[max(0, len(id)-16):]) }

func talkMark(id string) string { return privateMark + "-" + tailOf(id) }

// KeepPrivate notes that a conversation, named by its id or the last 16 characters of that, is private, for when
// nothing else of it is left that says so.
func (s *State) KeepPrivate(ctx context.Context, id string) error {
	return s.SetSeen(ctx, talkMark(id), func([]byte) ([]byte, error) { return []byte("1"), nil })
}

// PrivateTalk reports a conversation, named as in [State.KeepPrivate], that was private: here, or in any commit. For an
// agent it also reports one that is private now. With an error the answer is true.
func (h *History) PrivateTalk(ctx context.Context, id string) (bool, error) {
	v := h.v
	mark, err := v.State().Seen(talkMark(id))
	if mark != nil || err != nil {
		return true, err
	}
	was := func(other string) bool { return strings.HasSuffix(other, tailOf(id)) }
	if v.o.Reader != "" {
		ever, err := v.privateEver(ctx)
		return err != nil || slices.ContainsFunc(slices.Collect(maps.Keys(ever.ids)), was), err
	}
	past, err := v.privatePast(ctx)
	return err != nil || slices.ContainsFunc(past.IDs, was), err
}

// spread adds the paths of the past, and those that the files at any of them had.
func (past *privatePast) spread(paths map[Path]bool) {
	for _, p := range past.Paths {
		paths[p] = true
	}
	for n := -1; n != len(paths); {
		n = len(paths)
		for _, m := range past.Moves {
			if paths[m[0]] || paths[m[1]] {
				paths[m[0]], paths[m[1]] = true, true
			}
		}
	}
}

// wasPrivate reports whether these contents of p were private in any commit.
func (v *Vault) wasPrivate(ctx context.Context, p Path, data []byte) (bool, error) {
	past, err := v.privatePast(ctx)
	if id := frontID(data); id != "" || err != nil {
		return slices.Contains(past.IDs, id), err
	}
	paths := map[Path]bool{}
	past.spread(paths)
	return (&concealed{paths: paths}).has(p), nil
}
