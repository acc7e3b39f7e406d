package curator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stet/curator/fork"
	"stet/curator/merge"
	"stet/markdown"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
)

// A step is one commit of the second tier: a merge, or where that has no umbrella a skill that goes to the archive
// alone.
type step struct {
	merge.Merge
	links map[vault.Path]map[vault.Path]vault.Path // new targets of links, by file and old target
	to    map[string]vault.Path                    // where each skill went, by name
}

func steps(plan merge.Plan) (out []*step) {
	for _, m := range plan.Merges {
		out = append(out, &step{Merge: m})
	}
	for _, p := range plan.Prunes {
		out = append(out, &step{Merge: merge.Merge{Absorbed: []fork.Skill{p.Skill}, Reasons: []string{p.Reason}}})
	}
	return out
}

// publish does a plan in one chain of commits. A step that fails is left and noted, and the others are done. On a
// branch that moved since, the plan is judged anew first, once.
func (t *second) publish(ctx context.Context, c merge.Case, plan merge.Plan) error {
	head, err := t.v.Head()
	if err == nil && head != c.Job.Base {
		if _, err = t.look(ctx); err == nil {
			plan, err = t.judge(ctx, c)
		}
	}
	todo := steps(plan)
	if err == nil {
		err = t.incoming(ctx, todo)
	}
	if err != nil {
		return err
	}
	if t.w.Approver == "" && t.a.Settings().Text(settings.SkillApproval) == "stage" {
		return t.proposeSteps(ctx, todo)
	}
	for len(todo) > 0 {
		done, err := t.transactSteps(ctx, todo, false)
		if err == nil {
			err = t.published(ctx, done, todo)
			t.unsure = err != nil
			return err
		}
		n := len(todo)
		if t.unsure = t.more(ctx); t.unsure {
			return err
		}
		if !global(ctx, err) {
			todo = slices.DeleteFunc(todo, func(s *step) bool { return !t.works(ctx, s) })
		}
		if n == len(todo) { // it is none of theirs
			t.unsure = !global(ctx, err)
			return err
		}
	}
	return nil
}

// works reports whether a step can be done alone, if need be without the links to it that others have. One that
// cannot is noted.
func (t *second) works(ctx context.Context, s *step) bool {
	_, err := t.transactSteps(ctx, []*step{s}, true)
	if err != nil && s.links != nil {
		s.links = nil
		_, err = t.transactSteps(ctx, []*step{s}, true)
	}
	if err != nil {
		t.out.settle(s, func(a *Absorbed) { a.Veto = err.Error() })
	}
	return err == nil
}

// proposeSteps lets every step wait for the person.
func (t *second) proposeSteps(ctx context.Context, todo []*step) error {
	for _, s := range todo {
		if !t.works(ctx, s) {
			continue
		}
		done, err := t.transactSteps(ctx, []*step{s}, false)
		if err != nil {
			return err
		}
		t.a.Settle(ctx, done)
		t.out.settle(s, func(a *Absorbed) {
			a.Veto = waits
			for _, p := range done.Proposed {
				t.out.Proposed = append(t.out.Proposed, Waiting{Name: a.Name, To: Archived, ID: p.ID})
			}
		})
	}
	return nil
}

// incoming notes in each step which files of other skills of the curator's have links that lead to what it archives.
func (t *second) incoming(ctx context.Context, todo []*step) error {
	at, busy := map[vault.Path]*step{}, map[vault.Path]bool{}
	for _, s := range todo {
		busy[s.Umbrella.Folder] = true
		for _, gone := range s.Absorbed {
			at[gone.Folder], busy[gone.Folder] = s, true
		}
	}
	for i, one := range t.lib.skills {
		if len(at) == 0 || busy[one.Folder] || t.free(i) != "" {
			continue
		}
		files, err := one.Contents(ctx, t.v, nil)
		if err != nil {
			return err
		}
		for _, f := range files {
			data, _, err := t.view.Read(f.Path)
			now, _, err2 := t.v.ReadFile(f.Path)
			if !f.Path.IsMarkdown() || err != nil || err2 != nil || !bytes.Equal(now, data) {
				continue // what somebody works on is left
			}
			for _, l := range markdown.Parse(data).Links() {
				for folder, s := range at {
					if old := leadsTo(f.Path, l, folder); old != "" && s.Umbrella.Files != nil {
						s.relink(f.Path, folder, old)
					}
				}
			}
		}
	}
	return nil
}

// leadsTo is where a link leads, "" where that is not below a folder. A link by name finds what it names anywhere.
func leadsTo(from vault.Path, l markdown.Link, folder vault.Path) vault.Path {
	if l.Kind == markdown.WikiLink || l.Kind == markdown.WikiEmbed || l.Target == "" {
		return ""
	}
	for _, p := range []string{path.Join(from.Dir(), l.Target), path.Clean(strings.TrimPrefix(l.Target, "/"))} {
		if strings.HasPrefix(p+"/", string(folder)+"/") {
			return vault.Path(p)
		}
	}
	return ""
}

// relink notes that links of a file to old, in the folder of a skill that goes, lead into the umbrella then.
func (s *step) relink(file, folder, old vault.Path) {
	i := slices.IndexFunc(s.Absorbed, func(gone fork.Skill) bool { return gone.Folder == folder })
	was := strings.TrimPrefix(string(old), string(folder)+"/")
	if s.links == nil {
		s.links = map[vault.Path]map[vault.Path]vault.Path{}
	}
	if s.links[file] == nil {
		s.links[file] = map[vault.Path]vault.Path{}
	}
	s.links[file][old] = s.Umbrella.Folder + "/" + vault.Path(merge.Holder(s.Absorbed[i], was, s.Umbrella))
}

// transactSteps does steps, each one commit.
func (t *second) transactSteps(ctx context.Context, todo []*step, dry bool) (*vault.Result, error) {
	return t.v.Transact(ctx, t.why(vault.OpMerge, ""), dry, func(tx *vault.Tx) error {
		next := chained(tx)
		for _, s := range todo {
			next(t.about(s))
			s.to = map[string]vault.Path{}
			err := t.build(ctx, tx, s.Merge)
			for _, gone := range s.Absorbed {
				if err == nil {
					s.to[gone.Name], err = t.shelve(ctx, tx, gone)
				}
			}
			for _, file := range slices.Sorted(maps.Keys(s.links)) {
				if err == nil {
					err = retarget(tx, file, s.links[file])
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// noReason stands where a model gave none, so that the reasons of a commit are as many as its skills.
const noReason = "no reason was given"

// about describes the commit of a step.
func (t *second) about(s *step) vault.Why {
	var names []string
	for _, gone := range s.Absorbed {
		names = append(names, gone.Name)
	}
	why := t.why(vault.OpArchive, "skill "+names[0])
	if s.Umbrella.Files != nil {
		why = t.why(vault.OpMerge, strings.Join(names, ", ")+" into "+s.Umbrella.Name)
		for _, name := range names {
			why.Trail("Supersedes", name)
		}
		why.Trail("Stet-Absorbed-Into", s.Umbrella.Name)
	}
	for _, reason := range s.Reasons {
		why.Trail("Stet-Reason", cmp.Or(strings.TrimSpace(reason), noReason)) // a trailer without a value is none
	}
	return why
}

// build stages the files of an umbrella.
func (t *second) build(ctx context.Context, tx *vault.Tx, m merge.Merge) error {
	u := m.Umbrella
	if u.Files == nil {
		return nil
	}
	if m.Before.Files != nil {
		if err := t.same(ctx, tx, m.Before); err != nil {
			return fmt.Errorf("%s: %w", u.Name, err)
		}
	} else if there, err := (skill.Skill{Folder: u.Folder}).Contents(ctx, t.v, nil); err != nil || len(there) > 0 {
		return errors.Join(err, fmt.Errorf("%s: %w: files stand there", u.Folder, vault.ErrConflict))
	}
	all := maps.Clone(m.Before.Files)
	if all == nil {
		all = map[string]fork.File{}
	}
	maps.Copy(all, u.Files)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		at := u.Folder + "/" + vault.Path(p)
		now, stays := u.Files[p]
		was, had := m.Before.Files[p]
		_, hash, err := tx.Read(at)
		switch {
		case err != nil:
		case !stays:
			err = tx.Remove(at, hash)
		case !had || was.Exec != now.Exec || !bytes.Equal(was.Data, now.Data):
			if err = tx.Put(at, hash, now.Data); err == nil && was.Exec != now.Exec {
				tx.Permit(at, now.Exec)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shelve stages that a skill goes to the archive, byte for byte.
func (t *second) shelve(ctx context.Context, tx *vault.Tx, gone fork.Skill) (vault.Path, error) {
	if err := t.same(ctx, tx, gone); err != nil {
		return "", fmt.Errorf("%s: %w", gone.Name, err)
	}
	to, err := t.toArchive(ctx, tx, t.lib.skills[t.at[gone.Name]])
	for p, f := range gone.Files {
		if err == nil {
			var now []byte
			if now, _, err = tx.Read(to + "/" + vault.Path(p)); err == nil && !bytes.Equal(now, f.Data) {
				err = errChanged
			}
		}
	}
	return to, err
}

// toArchive stages that a skill of the library goes to the archive, and returns where.
func (t *second) toArchive(ctx context.Context, tx *vault.Tx, s skill.Skill) (vault.Path, error) {
	stock, err := skill.Look(ctx, t.v, []skill.Skill{s})
	if err != nil {
		return "", err
	}
	return stock.ToArchive(ctx, t.v, tx, s, t.now)
}

// section is the line of the umbrella at which a skill is to be found now, "" for no umbrella.
func (s *step) section(name string) string {
	if line := merge.SectionOf(s.Merge, name); line > 0 {
		return fmt.Sprintf("%s/%s:%d", s.Umbrella.Folder, skill.File, line)
	}
	return ""
}

// retarget stages the links of a file that lead elsewhere now.
func retarget(tx *vault.Tx, file vault.Path, to map[vault.Path]vault.Path) error {
	data, was, err := tx.Read(file)
	if err != nil {
		return err
	}
	doc := markdown.Parse(data)
	err = doc.RewriteLinks(func(l markdown.Link) (string, bool) {
		for old, now := range to {
			if leadsTo(file, l, old) == old {
				near, err := filepath.Rel(file.Dir(), string(now))
				return filepath.ToSlash(near), err == nil && l.CanHold(filepath.ToSlash(near))
			}
		}
		return "", false
	})
	if err != nil || bytes.Equal(doc.Bytes(), data) {
		return err
	}
	return tx.Put(file, was, doc.Bytes())
}

// published writes down what the second tier did.
func (t *second) published(ctx context.Context, done *vault.Result, todo []*step) error {
	own := t.ownCommits(done)
	t.own = append(t.own, own...)
	t.a.Settle(ctx, done)
	for i, s := range todo {
		if s.Umbrella.Files != nil && s.Before.Files == nil {
			t.out.Counts.Added++
			t.out.Counts.After++
		}
		t.out.settle(s, func(a *Absorbed) {
			t.out.Counts.Archived++
			t.out.Counts.After--
			a.Applied, a.Veto = true, ""
			a.Section = s.section(a.Name)
			if a.To, a.Commit = s.to[a.Name], own[i].Rev; a.Into == "" {
				t.out.Counts.Pruned++
				return
			}
			t.out.Counts.Consolidated++
		})
	}
	lib, err := read(ctx, t.v, t.begun)
	if err != nil {
		return err
	}
	t.out.After = nil
	for i := range lib.skills {
		t.out.After = append(t.out.After, lib.standing(i, t.begun))
	}
	if err := t.mentions(ctx, todo); err != nil {
		return err
	}
	t.out.Commits = nil
	return t.out.list(ctx, t.v, t.own, false)
}
