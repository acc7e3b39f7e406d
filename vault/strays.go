package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stet/vault/gitstore"
	"stet/vault/store"
)

// A commit can rename a skill from elsewhere, copy it, or take its record away. So local state keeps the git trees
// that waited here: a skill whose folder is one of them waits wherever it lies, until that tree is accepted. One that
// stood here already, without a record, when it was first seen to wait is the person's own. It does not hold for
// another tree: who changes a byte as well, in a commit that takes the record away, makes another skill of it; nor
// for what git does before any stet looked, and for what is not committed.

// longestNote bounds how long a reader waits to note what waits for the first time.
const longestNote = 2 * time.Second

// waitedName is the name under which local state keeps them.
const waitedName = "waited"

// A waited is the trees that waited here.
type waited struct {
	V     int             `json:"v"`
	Trees map[string]bool `json:"trees"` // false: the person's own
	// Places are the folders without a record that are one of them, while skills, archive and records are At. A cache.
	At     string          `json:"at,omitempty"`
	Places map[Path]string `json:"places,omitempty"`
}

// readWaited reads local state; what cannot be read knows no tree.
func readWaited(data []byte) waited {
	w := waited{V: 1}
	if json.Unmarshal(data, &w) != nil || w.Trees == nil {
		w = waited{V: 1, Trees: map[string]bool{}}
	}
	return w
}

// straysIn says in waits of the skills without a record that the tree of a commit has, and that waited, that they
// wait; and keeps what waits now. known is what local state has of it.
func (v *Vault) straysIn(
	ctx context.Context, objects *gitstore.Objects, tree gitstore.ID, known []byte, all map[Path]acceptance,
	waits map[Path]bool,
) error {
	now, fresh := readWaited(known), map[string]bool{}
	for at, does := range waits {
		entry, ok, err := objects.Lookup(tree, v.store.GitPath(at))
		if err != nil {
			return err
		}
		if _, is := now.Trees[entry.ID.String()]; ok && does && !is {
			fresh[entry.ID.String()] = true
		}
	}
	if len(now.Trees)+len(fresh) == 0 {
		return nil
	}
	if err := v.place(ctx, objects, tree, &now, fresh, waits); err != nil {
		return err
	}
	for _, a := range all {
		now.Trees[a.Tree] = false
	}
	for place, id := range now.Places {
		if now.Trees[id] {
			waits[place] = true
		}
	}
	return nil
}

// place brings up to date where what waited stands, with what waits for the first time.
func (v *Vault) place(
	ctx context.Context, objects *gitstore.Objects, tree gitstore.ID, now *waited, fresh map[string]bool,
	waits map[Path]bool,
) error {
	at, places := "", map[Path]string{}
	var roots [3]gitstore.TreeEntry
	for i, root := range []Path{"skills", "archive/skills", ElsewhereFolder} {
		var err error
		if roots[i], _, err = objects.Lookup(tree, v.store.GitPath(root)); err != nil {
			return err
		}
		at += roots[i].ID.String()
	}
	if len(fresh) == 0 && now.At == at {
		return nil
	}
	for id := range fresh {
		now.Trees[id] = true
	}
	for i, root := range []Path{"skills", "archive/skills"} {
		if err := strays(objects, roots[i], root, now.Trees, waits, places); err != nil {
			return err
		}
	}
	for _, id := range places {
		if fresh[id] {
			now.Trees[id] = false
		}
	}
	now.At, now.Places = at, places
	state := v.State()
	// Where nothing waits for the first time, the next reader finds the same out, and this one waits for nobody.
	if state.wait = min(state.wait, longestNote); len(fresh) == 0 {
		state.wait = 0
	}
	err := state.SetSeen(ctx, waitedName, func(was []byte) ([]byte, error) {
		for id, waits := range readWaited(was).Trees { // of another process
			if _, is := now.Trees[id]; !is {
				now.Trees[id] = waits
			}
		}
		return json.Marshal(now)
	})
	if len(fresh) > 0 && err != nil && !store.IsReadOnly(err) && ctx.Err() == nil && v.o.Warn != nil {
		v.o.Warn(fmt.Sprintf("could not note what waits for the user: %v; run \"stet status\" once more", err))
	}
	return nil
}

// strays adds to places the skills without a record in a folder that are one of trees.
func strays(
	objects *gitstore.Objects, dir gitstore.TreeEntry, at Path, trees map[string]bool, waits map[Path]bool,
	places map[Path]string,
) error {
	if !dir.IsDir() {
		return nil
	}
	entries, err := objects.Tree(dir.ID)
	if err != nil {
		return err
	}
	is := slices.ContainsFunc(entries, func(e gitstore.TreeEntry) bool { return e.Name == skillFile && !e.IsDir() })
	if _, has := waits[at]; is && !has && trees[dir.ID.String()] {
		places[at] = dir.ID.String()
	}
	for _, e := range entries {
		if is && slices.Contains(material(), e.Name) {
			continue
		}
		if err := strays(objects, e, at+"/"+Path(e.Name), trees, waits, places); err != nil {
			return err
		}
	}
	return nil
}

// notWaited forgets that trees waited: the person accepts them.
func (v *Vault) notWaited(ctx context.Context, trees ...string) error {
	return v.State().SetSeen(ctx, waitedName, func(now []byte) ([]byte, error) {
		w := readWaited(now)
		n := len(w.Trees)
		for _, tree := range trees {
			delete(w.Trees, tree)
		}
		if len(w.Trees) == n {
			return now, nil
		}
		w.At = ""
		return json.Marshal(w)
	})
}

// ownTree is the git tree of the skill that belongs into folder and stands in the folder at, without the skills inside
// it that have records of their own: these are accepted, and come and go, by themselves. It is "" where no SKILL.md
// stands there.
func (v *Vault) ownTree(objects *gitstore.Objects, tree gitstore.ID, folder, at Path) (string, error) {
	has := func(p Path) bool {
		e, ok, err := objects.Lookup(tree, v.store.GitPath(p))
		return err == nil && ok && !e.IsDir()
	}
	stands, ok, err := objects.Lookup(tree, v.store.GitPath(at))
	if err != nil || !ok || !has(at+"/"+skillFile) {
		return "", err
	}
	records, ok, err := objects.Lookup(tree, v.store.GitPath(ElsewhereFolder+"/"+folder[len("skills/"):]))
	if err != nil || !ok || !records.IsDir() {
		return stands.ID.String(), err
	}
	var apart []string
	for e, err := range objects.Walk(records.ID) {
		if err != nil {
			return "", err
		}
		inner, is := strings.CutSuffix(e.Name, ".yaml")
		if in := at + "/" + Path(inner); is && has(in+"/"+skillFile) && SkillFolder(in+"/"+skillFile, has) == in {
			apart = append(apart, inner)
		}
	}
	own, err := objects.Without(stands.ID, apart)
	return own.String(), err
}

// AcceptSkill notes that the person accepts the skill from elsewhere in a folder as that git tree, which it is in
// HEAD. It fails with [ErrConflict] where it is another one by now.
func (s *State) AcceptSkill(ctx context.Context, folder Path, tree string) error {
	now, whole, head, err := s.skillTrees(folder)
	if err == nil && now != tree {
		err = WithHint(fmt.Errorf("accept %q: %w: it changed since it was shown", folder, ErrConflict),
			"look at it again")
	}
	if err != nil {
		return err
	}
	// In this order: what fails between them leaves a skill accepted here, and no copy that waits for nobody.
	if err := s.v.accept(ctx, func(all map[Path]acceptance) { all[folder] = acceptance{tree, head} }); err != nil {
		return err
	}
	return s.v.notWaited(ctx, tree, whole)
}

// SkillTree is the git tree that a skill's folder is in HEAD, archived or not, without the skills inside it that have
// records of their own, "" for none; and HEAD.
func (s *State) SkillTree(folder Path) (tree string, rev Revision, err error) {
	tree, _, rev, err = s.skillTrees(folder)
	return tree, rev, err
}

// skillTrees are the git tree of a skill's folder in HEAD without the skills inside it, and with them.
func (s *State) skillTrees(folder Path) (own, whole string, rev Revision, err error) {
	head, err := s.v.store.Repo().Head()
	if err != nil {
		return "", "", "", s.v.store.Explain(err)
	}
	objects := s.v.store.Repo().Stage()
	root, err := objects.TreeOf(head.ID)
	for _, at := range []Path{folder, "archive/" + folder} {
		if err == nil && own == "" {
			if own, err = s.v.ownTree(objects, root, folder, at); own != "" {
				var e gitstore.TreeEntry
				e, _, err = objects.Lookup(root, s.v.store.GitPath(at))
				whole = e.ID.String()
			}
		}
	}
	return own, whole, Revision(head.ID.String()), s.v.store.Explain(err)
}

// ever are all that ever came from elsewhere: the past of those is kept back that stand accepted nowhere.
func (e *elsewhere) ever(past []Path) *elsewhere {
	out := &elsewhere{e.key, maps.Clone(e.waits)}
	for _, folder := range past {
		if _, is := out.waits[folder]; !is {
			out.waits[folder] = true
		}
	}
	return out
}

// recorded is the folder of the skill that p is the record of, "" where it is none.
func recorded(p Path) Path {
	rest, ok := strings.CutPrefix(string(p), ElsewhereFolder+"/")
	name, yaml := strings.CutSuffix(rest, ".yaml")
	if !ok || !yaml {
		return ""
	}
	return Path("skills/" + name)
}
