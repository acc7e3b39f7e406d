package vault

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/scan"
	"stet/vault/store"
)

const skillFile = "SKILL.md"

// SkillFolder is the folder of the skill that a file below skills/ or archive/skills/ belongs to, ""
// for none: the innermost with a SKILL.md, where what stands below the folders that hold a skill's
// material is that skill's, a SKILL.md as well. has says which files there are.
func SkillFolder(p Path, has func(Path) bool) (in Path) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(string(p), "archive/"), "skills/")
	if !ok {
		return ""
	}
	at, begun := p[:len(p)-len(rest)-1], false
	folders := strings.Split(rest, "/")
	for _, name := range folders[:len(folders)-1] {
		if begun && slices.Contains(material(), name) {
			return in
		}
		if at, begun = at+"/"+Path(name), false; has(at + "/" + skillFile) {
			in, begun = at, true
		}
	}
	return in
}

// material are the folders in which a skill keeps its other files.
func material() []string { return []string{"references", "templates", "scripts", "assets"} }

// skillMark reports whether a SKILL.md has a mark of a person's.
func skillMark(doc *markdown.Document, mark string) bool {
	v, _ := doc.Meta("metadata")
	return v.Texts()[mark] == "true"
}

// suspect reports whether a machine's commit brings into a skill what the scan finds: not where it only moves.
func (t *Tx) suspect(p Path, g store.Group, earlier []store.Group) bool {
	f := g.Files[p]
	if f.Remove {
		return false
	}
	before := t.before(p, earlier)
	for _, m := range whyOf(g.Why).Moved {
		if m[1] == p {
			before = t.before(m[0], earlier)
		}
	}
	return len(scan.Fresh(string(p), before, f.Data)) > 0
}

// A skill from elsewhere has a record in [ElsewhereFolder] and waits: it is withheld from agents until the person
// accepts the tree that its folder is in HEAD, without the skills inside it that have records of their own. Which trees
// they accepted is local state, so that no file and no commit that comes with a clone says so. It stays accepted
//
//	while the folder is that tree, whatever is not committed: who edits it on disk sits here
//	where a transaction of stet changed it here: a person did, or let a machine, or the scan found nothing
//	where git made all commits since here, as the person's, and none brought the skill anew
//
// In the archive it is the same skill, and each place that it has there waits by what stands there.

// acceptedName is the name under which local state keeps what was accepted.
const acceptedName = "accepted"

// An acceptance is the tree of a skill that the person accepted, and what HEAD was then.
type acceptance struct {
	Tree string   `json:"tree"`
	At   Revision `json:"at"`
}

// acceptances reads local state by folder; what cannot be read accepts nothing.
func acceptances(data []byte) map[Path]acceptance {
	var file struct{ Skills map[Path]acceptance }
	if json.Unmarshal(data, &file) != nil || file.Skills == nil {
		return map[Path]acceptance{}
	}
	return file.Skills
}

// accept changes what local state keeps.
func (v *Vault) accept(ctx context.Context, change func(map[Path]acceptance)) error {
	return v.State().SetSeen(ctx, acceptedName, func(now []byte) ([]byte, error) {
		all := acceptances(now)
		change(all)
		return json.Marshal(map[string]any{"v": 1, "skills": all})
	})
}

// An elsewhere is the skills from elsewhere that HEAD has a record of, or that waited here.
type elsewhere struct {
	key   string        // HEAD, and what was accepted, when it was made
	waits map[Path]bool // by folder, and by each place in the archive that HEAD has of it
}

// of is the folder below skills/ of the skill from elsewhere that p belongs to, archived or not, or is the record
// of; "" for none.
func (e *elsewhere) of(p Path) (folder Path, waits bool) {
	if e == nil || len(e.waits) == 0 {
		return "", false
	}
	if at := recorded(p); at != "" {
		p = at
	}
	for at := p; strings.Contains(string(at), "skills/"); at = Path(at.Dir()) {
		plain := Path(strings.TrimPrefix(string(at), "archive/"))
		for _, folder := range []Path{plain, unstamped(plain), at} {
			if waits, is := e.waits[folder]; is {
				if there, is := e.waits[at]; is {
					waits = there
				}
				return Path(strings.TrimPrefix(string(folder), "archive/")), waits
			}
		}
	}
	return "", false
}

// unstamped is a folder without the time that the archive puts behind a name which was taken.
func unstamped(folder Path) Path {
	const stamped = len("@20060102T150405Z")
	if i := strings.LastIndexByte(string(folder), '@'); i > 0 && len(folder)-i == stamped {
		return folder[:i]
	}
	return folder
}

// elsewhere finds out which skills are from elsewhere, and which of them wait.
func (v *Vault) elsewhere(ctx context.Context) (*elsewhere, error) {
	head, err := v.store.Repo().Head()
	if err != nil {
		return nil, v.store.Explain(err)
	}
	said, err := v.State().Seen(acceptedName)
	known, err2 := v.State().Seen(waitedName)
	// who may not read what was accepted takes nothing for that
	if err = errors.Join(err, err2); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, v.store.Explain(err)
	}
	v.hidden.skills.Lock()
	defer v.hidden.skills.Unlock()
	key := head.ID.String() + string(said) + "\x00" + string(known)
	if v.hidden.found != nil && v.hidden.found.key == key {
		return v.hidden.found, nil
	}
	out := &elsewhere{key, map[Path]bool{}}
	objects := v.store.Repo().Stage()
	tree, err := objects.TreeOf(head.ID)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	all := acceptances(said)
	if err = v.recordedIn(ctx, objects, tree, head.ID.String(), all, out.waits); err == nil {
		err = v.straysIn(ctx, objects, tree, known, all, out.waits)
	}
	if err != nil {
		return nil, v.store.Explain(err)
	}
	v.hidden.found = out
	return out, nil
}

// recordedIn says in waits of each skill that the tree of a commit has a record of whether it waits.
func (v *Vault) recordedIn(
	ctx context.Context, objects *gitstore.Objects, tree gitstore.ID, rev string, all map[Path]acceptance,
	waits map[Path]bool,
) error {
	records, found, err := objects.Lookup(tree, v.store.GitPath(ElsewhereFolder))
	if err != nil || !found || !records.IsDir() {
		return err
	}
	for e, err := range objects.Walk(records.ID) {
		folder := recorded(Path(ElsewhereFolder + "/" + e.Name))
		if err == nil && folder != "" {
			err = v.judge(ctx, objects, tree, rev, folder, all[folder], waits)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judge says in waits of a skill, and of each place that a commit with that tree has of it, whether it waits.
func (v *Vault) judge(
	ctx context.Context, objects *gitstore.Objects, tree gitstore.ID, rev string, folder Path, a acceptance,
	waits map[Path]bool,
) error {
	places, err := v.placesOf(objects, tree, folder)
	waits[folder] = a.Tree == ""
	for at, now := range places {
		var accepted bool
		if err == nil {
			accepted, err = v.accepted(ctx, rev, folder, now, a)
		}
		if waits[at] = !accepted; !accepted && places[folder] == "" {
			waits[folder] = true
		}
	}
	return err
}

// placesOf are the places that a skill has in a tree of the vault, below skills/ and in the archive, each with its
// own git tree.
func (v *Vault) placesOf(objects *gitstore.Objects, tree gitstore.ID, folder Path) (map[Path]string, error) {
	all := []Path{folder}
	shelf := "archive/" + Path(folder.Dir())
	old, ok, err := objects.Lookup(tree, v.store.GitPath(shelf))
	if err == nil && ok && old.IsDir() {
		var entries []gitstore.TreeEntry
		entries, err = objects.Tree(old.ID)
		for _, e := range entries {
			at := shelf + "/" + Path(e.Name)
			if at == "archive/"+folder || unstamped(at) == "archive/"+folder {
				all = append(all, at)
			}
		}
	}
	out := map[Path]string{}
	for _, at := range all {
		own := ""
		if err == nil {
			own, err = v.ownTree(objects, tree, folder, at)
		}
		if own != "" {
			out[at] = own
		}
	}
	return out, err
}

// accepted reports whether the person accepted a skill that a commit has as the tree now. The commits of git that
// keep it so are those that its reflog says it made here: whoever sends a commit chooses its author.
func (v *Vault) accepted(ctx context.Context, rev string, folder Path, now string, a acceptance) (bool, error) {
	if a.Tree == "" || now == a.Tree {
		return a.Tree != "", nil
	}
	made, err := gitstore.Typed(v.store.Repo())
	if err != nil {
		return false, err
	}
	h, any := v.Whole().History(), false
	own := h.own()
	about := func(c Change) bool {
		rest, ok := strings.CutPrefix(string(c.Path), "archive/"+string(folder))
		return ok && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "@"))
	}
	brings := func(c Change) bool { return recorded(c.Path) == folder }
	for _, under := range []Path{folder, "archive/" + Path(folder.Dir())} {
		for c, err := range h.Log(ctx, LogOptions{Rev: rev, Without: string(a.At), Path: under, Changes: true}) {
			if err == nil && under != folder && !slices.ContainsFunc(c.Changes, about) {
				continue
			}
			if err != nil || !made[string(c.Rev)] || !own(c, "") || slices.ContainsFunc(c.Changes, brings) {
				return false, err
			}
			any = true
		}
	}
	return any, nil
}

// keepAccepted notes that what was accepted before a transaction of stet's is so after it, unless that brought
// the skill anew. What commits of git made of it meanwhile is noted as well: their reflog expires.
func (v *Vault) keepAccepted(ctx context.Context, done *store.Result) error {
	said, err := v.State().Seen(acceptedName)
	if err != nil || len(said) == 0 || len(done.Commits) == 0 {
		return err
	}
	next := map[Path]acceptance{}
	for folder, a := range acceptances(said) {
		tree, err := v.keptTree(ctx, done, folder, a)
		if err != nil {
			return err
		}
		if tree != "" {
			next[folder] = acceptance{tree, Revision(done.Commits[len(done.Commits)-1].ID.String())}
		}
	}
	if len(next) == 0 {
		return nil
	}
	return v.accept(ctx, func(all map[Path]acceptance) { maps.Copy(all, next) })
}

// keptTree is the tree that an accepted skill is after a transaction, "" where that is none, or none of what was
// accepted became it.
func (v *Vault) keptTree(ctx context.Context, done *store.Result, folder Path, a acceptance) (string, error) {
	if slices.ContainsFunc(done.Changes, func(c Change) bool { return recorded(c.Path) == folder }) {
		return "", nil
	}
	before, err := v.placesOf(done.Objects, done.From, folder)
	after, err2 := v.placesOf(done.Objects, done.To, folder)
	if err = errors.Join(err, err2); err != nil {
		return "", err
	}
	touched := !maps.Equal(before, after)
	for at, tree := range before {
		if touched && after[at] == tree { // it became nothing
			delete(before, at)
			delete(after, at)
		}
	}
	if len(before) == 0 || len(after) != 1 {
		return "", nil
	}
	kept := slices.Collect(maps.Values(after))[0]
	if !touched && kept == a.Tree {
		return "", nil
	}
	for _, was := range before {
		if is, err := v.accepted(ctx, string(done.Base), folder, was, a); err != nil || !is {
			return "", err
		}
	}
	return kept, nil
}

// awaits reports whether a file belongs to a skill from elsewhere that waits. Where nobody can say, it does.
func (v *Vault) awaits(p Path) bool {
	if class := ClassOf(p); class != ClassSkill && class != ClassArchive && recorded(p) == "" {
		return false
	}
	e, err := v.elsewhere(context.Background())
	_, waits := e.of(p)
	return err != nil || waits
}

// Elsewhere tells of a path to which skill from elsewhere it belongs, archived or not, by the folder below
// skills/, "" for none, and whether that waits for the person. It is of this moment.
func (s *State) Elsewhere(ctx context.Context) (func(Path) (folder Path, waits bool), error) {
	e, err := s.v.elsewhere(ctx)
	return e.of, err
}

// Withheld tells of a path whether what stands there is of a skill that waits, or of the archive and what a person
// forgot, or cannot be read. It is of this moment, and reads each file of the archive that it is asked about.
func (s *State) Withheld(ctx context.Context) (func(Path) bool, error) {
	e, err := s.v.elsewhere(ctx)
	return func(p Path) bool {
		if _, waits := e.of(p); waits || ClassOf(p) != ClassArchive {
			return waits
		}
		data, _, err := s.v.Worktree.ReadFile(p)
		return !errors.Is(err, fs.ErrNotExist) && (err != nil || s.v.wentByPerson(data))
	}, err
}

// Permit makes a staged file executable, or plain.
func (t *Tx) Permit(p Path, executable bool) { t.tx.Permit(p, executable) }

// SkillTrees are the git trees, as [State.SkillTree] has them, that the skills of folders will be with what is staged
// so far.
func (t *Tx) SkillTrees(folders []Path) ([]string, error) {
	root, err := t.tx.Tree()
	out := make([]string, len(folders))
	for i, folder := range folders {
		if err == nil {
			out[i], err = t.v.ownTree(t.tx.Objects, root, folder, folder)
		}
	}
	return out, err
}
