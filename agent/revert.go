package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/templates"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/settings"
	"stet/vault/skill"
)

// AdoptOptions selects edits made by hand. Of Write, Message and DryRun count: the commit is the
// user's.
type AdoptOptions struct {
	Write
	Paths []string // files or folders; none is all of stet's own folders
	All   bool     // notes outside stet's own folders too
	Yes   bool     // commit the deletion of many files
}

// Adopt commits edits made by hand as they are. It fails as [vault.Vault.Adopt] does.
func (h History) Adopt(ctx context.Context, o AdoptOptions) (*Written, error) {
	return h.a.write(ctx, o.Write, "adopt", "", func(vault.Write) (*vault.Result, error) {
		to := vault.AdoptOptions{All: o.All, Yes: o.Yes, DryRun: o.DryRun, Message: o.Message, Door: h.a.o.Door,
			Via: o.Via}
		for _, word := range o.Paths {
			p, err := h.a.path(word)
			if err != nil {
				return nil, err
			}
			to.Paths = append(to.Paths, p)
		}
		return h.a.v.Adopt(ctx, to)
	})
}

// RevertOptions selects commits: Revs, and all that a session or a curator run wrote.
type RevertOptions struct {
	Write
	Revs             []string
	OfSession, OfRun string
	Reject           bool // the user looked at the commits and rejects them
	// Confirm shows the user the difference, and asks; nil asks nobody. An answer of no is
	// [ErrDeclined].
	Confirm func(diff string) (bool, error)
}

// Revert takes commits back in one commit and keeps what changed since. The result has the diff.
// It fails with [ErrUsage] when nothing is selected, and as [vault.Vault.Revert] does.
func (h History) Revert(ctx context.Context, o RevertOptions) (*Written, error) {
	return h.a.write(ctx, o.Write, "revert", "", func(w vault.Write) (*vault.Result, error) {
		if len(o.Revs) == 0 && o.OfSession == "" && o.OfRun == "" {
			return nil, Usagef("nothing to revert").
				Suggest(`name a commit ("stet log" shows them), --session or --run; "stet undo" takes back the newest`)
		}
		return confirmed(o.Confirm, w, func(w vault.Write) (*vault.Result, error) {
			return h.a.v.History().Revert(ctx, vault.RevertOptions{
				Revs: o.Revs, Session: o.OfSession, Run: o.OfRun, Reject: o.Reject, Write: w,
			})
		})
	})
}

// An EditedSinceError is a conflict: the user committed an edit by hand, or anything with plain git, after what undo
// would take back, and undo takes back neither. Which of the two is meant, the user says.
type EditedSinceError struct{ Edit, Older vault.Commit }

func (e *EditedSinceError) Error() string {
	return fmt.Sprintf("undo: %v: your own %s %q is newer than %q, the newest operation that undo takes back",
		vault.ErrConflict, e.what(), e.Edit.Subject, e.Older.Subject)
}

func (e *EditedSinceError) what() string {
	if e.Edit.Op == "" {
		return "git commit"
	}
	return "edit"
}

// Unwrap makes errors.Is(err, vault.ErrConflict) true.
func (e *EditedSinceError) Unwrap() error { return vault.ErrConflict }

// Hint names both ways on.
func (e *EditedSinceError) Hint() string {
	return fmt.Sprintf(`nothing was written; "stet revert %s" takes back your %s; "stet undo --yes" takes back %q`,
		e.Edit.Rev.Short(), e.what(), e.Older.Subject)
}

// Undo takes back the newest n operations. It skips commits of plain git, adopted edits, settings and
// sealed sessions, and a notice names them. Where fewer operations are left nothing is changed, and a
// notice says so. A user's undo that would skip an adopted edit or a git commit of theirs fails with
// [EditedSinceError] unless skip says that this is meant.
func (h History) Undo(ctx context.Context, n int, skip bool, w Write) (*Written, error) {
	past := h.a.v.History()
	if skip || w.Agent != "" || w.DryRun {
		return h.step(ctx, past.Undo, "undo", n, w)
	}
	return h.step(ctx, func(ctx context.Context, n int, w vault.Write) (*vault.Result, error) {
		dry := w
		dry.DryRun = true
		res, err := past.Undo(ctx, 1, dry) // what is newer than the newest of them
		if err != nil || len(res.Took) == 0 {
			return past.Undo(ctx, n, w)
		}
		name, email := h.a.v.Person()
		if i := slices.IndexFunc(res.Passed, func(c vault.Commit) bool {
			return c.Op == vault.OpAdopt || c.Op == "" && c.Author == name && c.AuthorEmail == email
		}); i >= 0 {
			older, err := past.CommitAt(ctx, res.Took[0])
			if err != nil {
				return nil, err
			}
			return nil, &EditedSinceError{res.Passed[i], older}
		}
		return past.Undo(ctx, n, w)
	}, "undo", n, w)
}

// Redo brings back the newest n operations that were undone; what one undo took comes back together.
func (h History) Redo(ctx context.Context, n int, w Write) (*Written, error) {
	return h.step(ctx, h.a.v.History().Redo, "redo", n, w)
}

func (h History) step(
	ctx context.Context, do func(context.Context, int, vault.Write) (*vault.Result, error), name string, n int,
	by Write,
) (*Written, error) {
	own, back := name == "undo", []string(nil)
	out, err := h.a.write(ctx, by, name, "", func(w vault.Write) (*vault.Result, error) {
		res, err := do(ctx, n, w)
		if errors.Is(err, vault.ErrNothingToUndo) {
			h.a.note("%v", err)
			res = &vault.Result{Unchanged: true, DryRun: w.DryRun}
			res.Base, err = h.a.v.Head()
		}
		if err == nil && len(res.Passed) > 0 {
			h.a.note("%s", passedBy(name, res.Passed))
		}
		for i := 0; err == nil && i < len(res.Took); i++ {
			c, cerr := h.a.v.History().CommitAt(ctx, res.Took[i])
			if own = own && cerr == nil && !c.ByMachine(); cerr == nil {
				back = append(back, c.Subject)
				if name == "undo" && len(back) == 1 {
					h.a.outsideGit(ctx, c.When)
				}
			}
		}
		return res, err
	})
	if err == nil {
		out.Own, out.Back = own, back
	}
	return out, err
}

// outsideGit tells of transcripts that were written after a commit and are in none.
func (a *App) outsideGit(ctx context.Context, since time.Time) {
	if a.Settings().Bool(settings.SessionsTrack) {
		return
	}
	files, _ := a.v.Files(ctx, vault.WalkOptions{Under: "sessions"}) // what cannot be listed is not told of
	files = slices.DeleteFunc(files, func(f vault.File) bool { return !f.ModTime.After(since.Add(time.Second)) })
	if n := len(files); n > 0 {
		a.note("%s: conversations are kept out of git (sessions.track is false), and undo "+
			"takes back commits alone; delete the files to be rid of them",
			Plural(n, "transcript came in later and stays", "transcripts came in later and stay"))
	}
}

// passedBy says which newer commits a step skipped, newest first, and how the newest is taken back.
func passedBy(name string, passed []vault.Commit) string {
	newest := passed[0].Rev.Short()
	if !slices.ContainsFunc(passed, func(c vault.Commit) bool { return c.Op != vault.OpAdopt }) {
		return fmt.Sprintf(`%s works on what stet wrote, and skips %s (%s): "stet revert %[3]s" takes it back`, name,
			Plural(len(passed), "adopted edit"), newest)
	}
	return fmt.Sprintf("newer commits that %s skips: %d; \"stet revert %s\" takes back the newest, %q", name,
		len(passed), newest, passed[0].Subject)
}

// RestoreOptions name a memory to bring back.
type RestoreOptions struct {
	Write
	Ref string
	At  string // the version of this revision; "" is from the archive, or as it last was
}

// Restore brings a memory back from the archive, a deleted file as it last was, or an older
// version of a file; then the result has the diff. It fails with [vault.ErrNotFound].
func (h History) Restore(ctx context.Context, o RestoreOptions) (*Written, error) {
	ref := h.a.ref(o.Ref)
	if strings.HasSuffix(o.Ref, "/") {
		ref = strings.TrimSuffix(ref, "/") + "/" // a folder, and no note of that name
	}
	out, err := h.a.write(ctx, o.Write, "restore", o.Ref, func(w vault.Write) (*vault.Result, error) {
		return lineage.Restore(ctx, h.a.v, ref, o.At, w)
	})
	if err != nil || o.At == "" || out.Diff != "" || len(out.Commits) == 0 {
		return out, err
	}
	diffs, err := h.a.v.History().Diff(ctx, string(out.Base), string(out.Commits[len(out.Commits)-1].Rev), nil)
	if err != nil {
		h.a.warn("show the difference: %v", err) // the write itself is done
	}
	out.Diff = textOf(diffs)
	return out, nil
}

// Restore moves a skill of the archive back to where it was; see [skill.Restore].
func (s Skills) Restore(ctx context.Context, ref string, by Write) (*SkillWritten, error) {
	var was skill.Skill
	res, err := s.change(ctx, by, "skill", ref, true, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		was = one
		return skill.Restore(ctx, s.a.v, one, w)
	})
	if err == nil {
		into, line, err := skill.Absorber(ctx, s.a.v, was)
		if err != nil {
			s.a.warn("find where %s was merged into: %v", was.Name, err) // it is restored
		} else if line > 0 && !into.Waits && !into.Private {
			s.a.note("%s:%d still has the section of %s: agents find both; take the section out there, or archive the "+
				"skill again; \"stet skill lint %s\" names links that lead nowhere by now", into.Main(), line, was.Name,
				templates.Quote(was.Name))
		}
	}
	if errors.Is(err, vault.ErrNotFound) {
		if one, _, ferr := s.find(ctx, ref, false); ferr == nil {
			err = fmt.Errorf("restore %q: %w: it is active; there is nothing to restore", one.Folder, vault.ErrNotFound)
		}
	}
	return res, err
}
