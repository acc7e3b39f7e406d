package vault

import (
	"context"
	"encoding/json"
	"fmt"
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
		if begun && slices.Contains([]string{"references", "templates", "scripts", "assets"}, name) {
			return in
		}
		if at, begun = at+"/"+Path(name), false; has(at + "/" + skillFile) {
			in, begun = at, true
		}
	}
	return in
}

// skillMark reports whether a SKILL.md has a mark of a person's.
func skillMark(data []byte, mark string) bool {
	v, _ := markdown.Parse(data).Meta("metadata")
	return v.Texts()[mark] == "true"
}

// checkSkill fails with [ErrRefused] where a machine's commit changes a skill that a person pinned, or
// gives one over to machines. It reports whether a person has to say yes, as to any change of a skill
// that a person wrote, a new file in its folder included, or gave the skill over.
func (t *Tx) checkSkill(
	ctx context.Context, p Path, g store.Group, earlier []store.Group,
) (must, given bool, err error) {
	before := func(p Path) []byte {
		if _, err := t.tx.Touch(p); err != nil {
			return nil
		}
		return t.before(p, earlier)
	}
	folder := SkillFolder(p, func(p Path) bool { return before(p) != nil })
	if p.Base() == skillFile && skillMark(g.Files[p].Data, SkillManaged) && !skillMark(before(p), SkillManaged) &&
		!slices.ContainsFunc(whyOf(g.Why).Moved, func(m [2]Path) bool {
			return m[1] == p && skillMark(before(m[0]), SkillManaged)
		}) {
		return false, false, fmt.Errorf("%q: %w: only a person gives a skill over to agents", p, ErrRefused)
	}
	if folder == "" {
		return false, false, nil
	}
	main := folder + "/" + skillFile
	switch data := before(main); {
	case markdown.SkillPin(markdown.Parse(data)) != "":
		err = fmt.Errorf("%q: %w: the skill is pinned, and no agent changes it", folder, ErrRefused)
		return false, false, WithHint(err, "tell the person what you would change in it")
	case skillMark(data, SkillManaged):
		return false, true, nil
	}
	must, err = t.personalSkill(ctx, main)
	return must, false, err
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

// personalSkill reports whether a person wrote a SKILL.md, edited it, or put it into the archive.
func (t *Tx) personalSkill(ctx context.Context, main Path) (bool, error) {
	if ClassOf(main) == ClassArchive {
		for version, err := range t.v.History().Versions(ctx, "", main) {
			if err != nil || !version.Commit.ByMachine() {
				return true, err
			}
			break
		}
	}
	return t.personal(ctx, main)
}

// A skill from elsewhere has a record in [ElsewhereFolder] and waits: it is withheld from agents until the person
// accepts the tree that its folder is in HEAD. Which trees they accepted is local state, so that no file and no
// commit that comes with a clone says so. It stays accepted
//
//	while the folder is that tree, whatever is not committed: who edits it on disk sits here
//	where a transaction of stet changed it here: a person did, or let a machine, or the scan found nothing
//	where all commits since are the person's own, as git names them here, and none brought the skill anew

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

// An elsewhere is the skills from elsewhere that HEAD has a record of.
type elsewhere struct {
	key   string        // HEAD, and what was accepted, when it was made
	waits map[Path]bool // by folder
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
	const stamped = len("@20060102T150405Z")
	at := strings.TrimPrefix(string(p), "archive/")
	for ; strings.HasPrefix(at, "skills/"); at = Path(at).Dir() {
		name := at
		if i := strings.LastIndexByte(at, '@'); i > 0 && len(at)-i == stamped {
			name = at[:i]
		}
		for _, name := range []Path{Path(at), Path(name)} {
			if waits, is := e.waits[name]; is {
				return name, waits
			}
		}
	}
	return "", false
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

// elsewhere finds out which skills are from elsewhere, and which of them wait.
func (v *Vault) elsewhere(ctx context.Context) (*elsewhere, error) {
	head, err := v.store.Repo().Head()
	if err != nil {
		return nil, v.store.Explain(err)
	}
	said, err := v.State().Seen(acceptedName)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	v.hidden.skills.Lock()
	defer v.hidden.skills.Unlock()
	key := head.ID.String() + string(said)
	if v.hidden.found != nil && v.hidden.found.key == key {
		return v.hidden.found, nil
	}
	out := &elsewhere{key, map[Path]bool{}}
	objects := v.store.Repo().Stage()
	tree, err := objects.TreeOf(head.ID)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	records, found, err := objects.Lookup(tree, v.store.GitPath(ElsewhereFolder))
	if err != nil {
		return nil, v.store.Explain(err)
	}
	all := acceptances(said)
	if found && records.IsDir() {
		for e, err := range objects.Walk(records.ID) {
			folder := recorded(Path(ElsewhereFolder + "/" + e.Name))
			if err == nil && folder != "" {
				var accepted bool
				accepted, err = v.accepted(ctx, objects, tree, head.ID.String(), folder, all[folder])
				out.waits[folder] = !accepted
			}
			if err != nil {
				return nil, v.store.Explain(err)
			}
		}
	}
	v.hidden.found = out
	return out, nil
}

// treeOf is the git tree that a skill's folder is in a tree of the vault, in the archive as well; "" for none.
func (v *Vault) treeOf(objects *gitstore.Objects, tree gitstore.ID, folder Path) (string, error) {
	for _, at := range []Path{folder, "archive/" + folder} {
		if e, ok, err := objects.Lookup(tree, v.store.GitPath(at)); ok || err != nil {
			return e.ID.String(), err
		}
	}
	return "", nil
}

// accepted reports whether the person accepted a skill's folder as a commit has it, whose tree is given.
func (v *Vault) accepted(
	ctx context.Context, objects *gitstore.Objects, tree gitstore.ID, rev string, folder Path, a acceptance,
) (bool, error) {
	now, err := v.treeOf(objects, tree, folder)
	if err != nil || a.Tree == "" || now == a.Tree || now == "" {
		return err == nil && a.Tree != "", err
	}
	h, any := v.Whole().History(), false
	own := h.own()
	for c, err := range h.Log(ctx, LogOptions{Rev: rev, Without: string(a.At), Path: folder, Changes: true}) {
		brings := func(c Change) bool { return recorded(c.Path) == folder }
		if err != nil || !own(c, "") || slices.ContainsFunc(c.Changes, brings) {
			return false, err
		}
		any = true
	}
	return any, nil
}

// keepAccepted notes that what was accepted before a transaction of stet's is so after it, unless that brought
// the skill anew.
func (v *Vault) keepAccepted(ctx context.Context, done *store.Result) error {
	said, err := v.State().Seen(acceptedName)
	if err != nil || len(said) == 0 || len(done.Commits) == 0 {
		return err
	}
	touched := map[Path]bool{}
	all := acceptances(said)
	for folder := range all {
		for _, c := range done.Changes {
			if recorded(c.Path) == folder {
				touched[folder] = false
				break
			}
			for _, p := range []Path{c.Path, c.From} {
				if strings.HasPrefix(strings.TrimPrefix(string(p), "archive/"), string(folder)+"/") {
					touched[folder] = true
				}
			}
		}
	}
	next := map[Path]acceptance{}
	for folder, is := range touched {
		if !is {
			continue
		}
		before, err := v.accepted(ctx, done.Objects, done.From, string(done.Base), folder, all[folder])
		if err != nil {
			return err
		}
		if !before {
			continue
		}
		tree, err := v.treeOf(done.Objects, done.To, folder)
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

// AcceptSkill notes that the person accepts the skill from elsewhere in a folder as that git tree, which it is in
// HEAD. It fails with [ErrConflict] where it is another one by now.
func (s *State) AcceptSkill(ctx context.Context, folder Path, tree string) error {
	now, head, err := s.SkillTree(folder)
	if err == nil && now != tree {
		err = WithHint(fmt.Errorf("accept %q: %w: it changed since it was shown", folder, ErrConflict),
			"look at it again")
	}
	if err != nil {
		return err
	}
	return s.v.accept(ctx, func(all map[Path]acceptance) { all[folder] = acceptance{tree, head} })
}

// SkillTree is the git tree that a skill's folder is in HEAD, archived or not, "" for none; and HEAD.
func (s *State) SkillTree(folder Path) (tree string, rev Revision, err error) {
	head, err := s.v.store.Repo().Head()
	if err != nil {
		return "", "", s.v.store.Explain(err)
	}
	objects := s.v.store.Repo().Stage()
	root, err := objects.TreeOf(head.ID)
	if err == nil {
		tree, err = s.v.treeOf(objects, root, folder)
	}
	return tree, Revision(head.ID.String()), s.v.store.Explain(err)
}

// Permit makes a staged file executable, or plain.
func (t *Tx) Permit(p Path, executable bool) { t.tx.Permit(p, executable) }

// TreesAt are the git trees that folders will be with what is staged so far, "" for no folder.
func (t *Tx) TreesAt(folders []Path) ([]string, error) { return t.tx.TreesAt(folders) }
