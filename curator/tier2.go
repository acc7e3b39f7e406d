package curator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/curator/fork"
	"stet/curator/merge"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
)

// maxAsked is how many bytes of SKILL.md a model is asked about in one run: it reads all of them, and writes most of
// them once more, within a bound of tokens that counts them in each round.
const maxAsked = 64 << 10

// maxJob is how many bytes all files of a job have at most.
const maxJob = 16 << 20

// A second is the second tier of a run: a model makes umbrellas of skills that could be merged, on a copy, and what of
// that holds is published.
type second struct {
	*runner
	view *vault.Snapshot
	at   map[string]int // owned skills by name, those of which there is one
	size int            // lines of all of them
	// alone are skills that could be merged, but are too long for it.
	alone []fork.Cluster
}

// consolidate makes the second tier. Where no model is to be asked it says which skills could be merged. What fails is
// told in the report, but for err: then commits are made that it does not tell of.
func (r *runner) consolidate(ctx context.Context) (failed, err error) {
	t := &second{runner: r}
	found, failed := t.look(ctx)
	if failed != nil || len(found) == 0 {
		return failed, nil
	}
	if r.out.Suggested = slices.Concat(found, t.alone); r.o.Runner == nil || r.o.DryRun {
		return nil, nil
	}
	r.inTurn(found, firstName)
	job, failed := t.job(ctx, found)
	if failed != nil || len(job.Clusters) == 0 {
		return failed, nil
	}
	result, failed := r.ask(ctx, job)
	defer func() { t.suggested(job, result) }()
	r.out.asked(result, failed)
	r.noteAsked(ctx, found, job, result, firstName)
	c := merge.Case{Job: job, Result: result, Lines: t.size, Floors: merge.Floors{Lines: t.floor(), Values: 1, Code: 1,
		Loss: r.a.Settings().Float(settings.CuratorLoss)}}
	ctx = context.WithoutCancel(ctx) // what the model did is told whoever stops it
	if failed != nil {
		c.Closed = func(string, vault.Path) string { return "the work of the model did not end well" }
		c.Exists = func(vault.Path) bool { return true }
		r.out.judged(merge.Judge(c), job)
		return fmt.Errorf("consolidate: %w", failed), nil
	}
	plan, failed := t.judge(ctx, c)
	if failed == nil {
		t.noteRefused(ctx, found, job, plan)
		failed = t.publish(ctx, c, plan)
	}
	if r.unsure {
		return nil, failed
	}
	if failed != nil {
		r.out.undone(failed)
	}
	return failed, nil
}

// ask has a model do a job. It fails as well where the work did not end well.
func (r *runner) ask(ctx context.Context, job fork.Job) (fork.Result, error) {
	result, err := r.o.Runner.Run(ctx, job)
	if err == nil {
		err = context.Cause(ctx) // a person stopped it
	}
	if err == nil && (result.Ended == fork.Failed || result.Ended == fork.Cancelled) {
		err = errors.New(cmp.Or(result.Error, "it ended with "+result.Ended))
	}
	return result, err
}

func (r *runner) floor() float64 { return r.a.Settings().Float(settings.CuratorFloor) }

// look reads the library as it is now, and finds the skills that could be merged.
func (t *second) look(ctx context.Context) ([]fork.Cluster, error) {
	var err error
	if t.lib, err = read(ctx, t.v, t.a.Now()); err != nil {
		return nil, err
	}
	if t.view, err = t.v.History().View(ctx, string(t.lib.base)); err != nil {
		return nil, err
	}
	t.at, t.size = map[string]int{}, 0
	var all []fork.Skill
	size := map[string]int{}
	for i, s := range t.lib.skills {
		data, _, err := t.view.Read(s.Main())
		if err != nil || data == nil {
			continue // one that nobody has committed yet
		}
		one := fork.Skill{Name: s.Name, Folder: s.Folder, Files: map[string]fork.File{skill.File: {Data: data}}}
		if t.size += merge.Lines(one); t.free(i) == "" {
			t.at[s.Name], all, size[s.Name] = i, append(all, one), len(data)
		}
	}
	t.out.twins(t.lib.all)
	found, alone := parted(merge.Clusters(all), size)
	t.alone = alone
	return found, nil
}

// free says why a model must not touch a skill of the library, "" where it may.
func (t *second) free(i int) string {
	r := t.lib.rows[i]
	same := func(s skill.Skill) bool { return s.Name == r.Name }
	switch {
	case r.Pinned:
		return "it is pinned"
	case r.Kept:
		return "a person took back what was done to it"
	case slices.IndexFunc(t.lib.skills, same) != i || slices.ContainsFunc(t.lib.skills[i+1:], same):
		return "another skill has its name"
	}
	return ""
}

// job is what a model is asked: the clusters that fit, with those of their skills that the curator could archive.
func (t *second) job(ctx context.Context, found []fork.Cluster) (fork.Job, error) {
	job := fork.Job{Version: fork.Version, Run: t.out.Run, Base: t.lib.base, Bounds: t.bounds()}
	room, most, last := maxAsked, maxJob, readMark(t.v)
	for _, c := range found {
		var some []fork.Skill
		size, whole := 0, 0
		for _, name := range c.Names {
			one, err := t.whole(ctx, t.lib.skills[t.at[name]])
			if err != nil {
				if global(ctx, err) {
					return job, err
				}
				t.out.leave(name, err)
				continue
			}
			some, size = append(some, one), size+len(one.Files[skill.File].Data)
			for _, f := range one.Files {
				whole += len(f.Data)
			}
		}
		if len(some) < 2 || size > room || whole > most {
			continue
		}
		room, most = room-size, most-whole
		c.Names = nil
		for _, one := range some {
			c.Names = append(c.Names, one.Name)
		}
		c.Refused = last.refused(c.Names)
		job.Clusters, job.Skills = append(job.Clusters, c), append(job.Skills, some...)
	}
	slices.SortFunc(job.Skills, func(a, b fork.Skill) int { return strings.Compare(a.Name, b.Name) })
	all, err := t.others(ctx)
	for _, one := range all {
		if !one.Private {
			job.Taken = append(job.Taken, one.Name, string(one.Folder))
		}
	}
	return job, err
}

// bounds are those of a run's work with a model.
func (r *runner) bounds() fork.Bounds {
	s := r.a.Settings()
	return fork.Bounds{MaxTokens: s.Int(settings.CuratorTokens), MaxMinutes: s.Int(settings.CuratorMinutes),
		MaxUSD: s.Float(settings.CuratorUSD)}
}

// others are all skills there are, those of the archive as well.
func (r *runner) others(ctx context.Context) ([]skill.Skill, error) {
	live, err := skill.All(ctx, r.v, false)
	old, err2 := skill.All(ctx, r.v, true)
	return slices.Concat(live, old), errors.Join(err, err2)
}

// whole is a skill with all its files as the commit has them. It fails where the disk has others, where one is
// private, and where the curator could not archive the skill.
func (t *second) whole(ctx context.Context, s skill.Skill) (fork.Skill, error) {
	out := fork.Skill{Name: s.Name, Folder: s.Folder, Files: map[string]fork.File{}}
	files, err := s.Contents(ctx, t.v, nil)
	for _, f := range files {
		data, _, err := t.view.Read(f.Path)
		now, _, err2 := t.v.ReadFile(f.Path)
		exec, err3 := t.view.Executable(f.Path)
		switch err = errors.Join(err, err2, err3); {
		case err != nil:
			return out, err
		case data == nil || !bytes.Equal(now, data):
			return out, errChanged
		case f.Path.IsMarkdown() && vault.ReadMemory(f.Path, data).Private:
			return out, fmt.Errorf("%q: %w: it is private", f.Path, vault.ErrRefused)
		case f.Path.IsMarkdown() && !utf8.Valid(data):
			return out, fmt.Errorf("%q: %w: it is no text", f.Path, vault.ErrInvalid)
		}
		out.Files[string(f.Path[len(s.Folder)+1:])] = fork.File{Data: data, Exec: exec}
	}
	if err == nil {
		_, err = t.v.Transact(ctx, t.why(vault.OpMerge, s.Name), true, func(tx *vault.Tx) error {
			_, err := t.toArchive(ctx, tx, s)
			return err
		})
	}
	return out, err
}

// judge decides what of a case is done, as the vault is now.
func (t *second) judge(ctx context.Context, c merge.Case) (merge.Plan, error) {
	all, err := t.others(ctx)
	if err != nil {
		return merge.Plan{}, err
	}
	mine := map[string]vault.Path{}
	for _, s := range c.Job.Skills {
		mine[s.Name] = s.Folder
	}
	old := cutoffsOf(t.begun, t.a.Settings().Int(settings.CuratorStale), 0).Stale
	c.Used = map[string]bool{}
	for name, i := range t.at {
		c.Used[name] = t.lib.rows[i].anchor(t.begun).After(old)
	}
	c.Closed = func(name string, folder vault.Path) string {
		i, ours := t.at[name]
		switch {
		case mine[name] == folder && (!ours || t.lib.skills[i].Folder != folder):
			return "it is no longer where it was, or no longer the curator's"
		case mine[name] == folder:
			return t.free(i)
		}
		for _, s := range all {
			if s.Name == name || s.Folder == folder || strings.HasPrefix(string(folder), string(s.Folder)+"/") {
				return "another skill has its name or its place"
			}
		}
		return ""
	}
	c.Exists = func(p vault.Path) bool {
		for _, folder := range mine {
			if p == folder || strings.HasPrefix(string(p), string(folder)+"/") {
				return false // of that the desk knows
			}
		}
		has, err := t.view.Has(p)
		return err == nil && has
	}
	plan := merge.Judge(c)
	t.out.judged(plan, c.Job)
	return plan, nil
}

// same fails where a skill is not what the model was given.
func (t *second) same(ctx context.Context, tx *vault.Tx, s fork.Skill) error {
	files, err := skill.Skill{Folder: s.Folder}.Contents(ctx, t.v, nil)
	if err == nil && len(files) != len(s.Files) {
		err = errChanged
	}
	for p, f := range s.Files {
		if err == nil {
			var now []byte
			now, _, err = tx.Read(s.Folder + "/" + vault.Path(p))
			if err == nil && !bytes.Equal(now, f.Data) || now == nil {
				err = errors.Join(err, errChanged)
			}
		}
	}
	return err
}
