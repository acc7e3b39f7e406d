package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/agent/imports"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// ImportOptions say what comes in.
type ImportOptions struct {
	Write
	Source   string   // the name of one of [imports.Sources]; "" tells by the contents of Places
	Places   []string // files and folders to read, absolute; none takes those where the source keeps its own
	Since    time.Time
	Project  string
	Reread   bool // read files again that have not changed since they were read
	Progress func(imports.Progress)
}

// Imported is the result of an import.
type Imported struct {
	*imports.Report
	Plan *Plan `json:"plan,omitempty"`
}

// SourceNames lists the sources of imports.
func SourceNames() []string {
	var names []string
	for _, s := range imports.Sources() {
		names = append(names, s.Name)
	}
	return names
}

func (e *Environment) importHost() imports.Host {
	return imports.Host{Getenv: e.o.Getenv, Home: e.o.Getenv("HOME")}
}

// Import brings in conversations or memories of another program, as one step of undo. What is here
// already in the same words is left out. When it is interrupted the error comes after a commit of
// what was read, and the next run does the rest.
func (v Vault) Import(ctx context.Context, o ImportOptions) (*Imported, error) {
	a := v.a
	w, err := a.permit(o.Write, "import", o.Source)
	if err != nil {
		return nil, err
	}
	found, others, err := a.importSources(ctx, o)
	if err != nil {
		return nil, err
	}
	memories, err := o.holdMemories(found, a.v.Waits(w))
	if err != nil {
		return nil, err
	}
	run := imports.Options{Write: w, Project: o.Project, Now: a.o.Now(), Reread: o.Reread, Since: o.Since,
		Progress: o.Progress, Hold: a.o.Hold,
		Committed: func(res *vault.Result) error {
			for _, w := range res.Warnings {
				a.warn("%s", w)
			}
			a.updateIndex(ctx, res.Changes)
			return nil
		}}
	if o.Agent != "" {
		run.Check, run.Exclude = o.Write.outsideVaults(o.Source), a.Hooks().excluded
	}
	if memories && a.Settings().Bool(settings.Cognitive) {
		x, err := a.writerIndex(false)
		if err != nil {
			return nil, err
		}
		run.Find = x
	}
	report, err := imports.RunAll(ctx, a.v.Whole(), found, others, run)
	for _, n := range report.Notes {
		a.note("%s", n)
	}
	if report.Files == 0 && len(o.Places) == 0 && errors.Is(err, imports.ErrNothing) {
		err = nil // where the source keeps its own, none yet is no mistake
	}
	if err != nil {
		if len(report.Commits) > 0 && errors.Is(err, context.Canceled) {
			a.note("imported %s; the same command imports the rest", Plural(len(report.Written), "conversation"))
		}
		return nil, err
	}
	out := &Imported{Report: report}
	if report.DryRun {
		out.Plan = &Plan{Ops: []vault.Change{}}
		for _, w := range report.Written {
			op := vault.Change{Status: vault.Added, Path: w.Path}
			if w.State == imports.StateGrown || w.State == imports.StateUpdated {
				op.Status = vault.Modified
			}
			out.Plan.Ops = append(out.Plan.Ops, op)
		}
		out.Plan.Base, err = a.v.Head()
	}
	return out, err
}

// holdMemories reports whether one of the sources holds memories. It fails where o is not for one of them; waits is
// whether the user approves first what the agent writes.
func (o ImportOptions) holdMemories(found []imports.Found, waits bool) (memories bool, err error) {
	for _, f := range found {
		memories = memories || f.Source.Memories
		switch {
		case f.Source.Memories && (!o.Since.IsZero() || o.Project != ""):
			return false, Usagef("--since and --project are for conversations; %s holds memories", f.Source.Name)
		case o.Agent != "" && !f.Source.Memories && waits:
			return false, o.refused("import", f.Source.Name,
				"the user wants to approve what agents write (memory.write_approval)")
		}
	}
	return memories, nil
}

// outsideVaults refuses an agent the files of a vault and of its repository: a vault withholds what is private
// from it, and an import would store that again.
func (w Write) outsideVaults(source string) func(file string) error {
	looked := map[string]error{}
	return func(file string) error {
		dir := filepath.Dir(file)
		if err, ok := looked[dir]; ok {
			return err
		}
		root, err := vault.Find(dir)
		for at := dir; errors.Is(err, vault.ErrNotVault) && at != filepath.Dir(at); at = filepath.Dir(at) {
			_, herr := os.Lstat(filepath.Join(at, "HEAD"))
			if _, oerr := os.Lstat(filepath.Join(at, "objects")); herr == nil && oerr == nil {
				root, err = at, nil
			}
		}
		if looked[dir] = nil; !errors.Is(err, vault.ErrNotVault) {
			why := fmt.Sprintf("what it would read is in the vault or repository %q", root)
			looked[dir] = vault.WithHint(w.refused("import", source, why),
				"name a file or folder outside of vaults; the user can import from them")
		}
		return looked[dir]
	}
}

// importSources finds the source by its name and where it is read, or the sources that o.Places belong to.
func (a *App) importSources(ctx context.Context, o ImportOptions) (
	found []imports.Found, others []imports.Problem, err error,
) {
	if o.Source == "" {
		check := o.Write.outsideVaults("")
		if o.Agent == "" {
			check = nil
		}
		return imports.Detect(ctx, o.Places, check)
	}
	source, err := FindSource(o.Source)
	switch {
	case err != nil:
		return nil, nil, err
	case len(o.Places) > 0:
		return []imports.Found{{Source: source, Places: o.Places}}, nil, nil
	case source.Named():
		return nil, nil, Usagef("%s has no place of its own", source.Name).
			Suggest("name the file: stet import %s FILE", source.Name)
	}
	places := source.Find(a.importHost())
	if len(places) == 0 {
		return nil, nil,
			vault.WithHint(fmt.Errorf("import %s: %w: it is not on this machine", source.Name, vault.ErrNotFound),
				"name the file or folder: stet import %s PATH", source.Name)
	}
	return []imports.Found{{Source: source, Places: places}}, nil, nil
}

// FindSource is the source of that name. It fails with [ErrUsage].
func FindSource(name string) (imports.Source, error) {
	source, ok := imports.Find(name)
	if ok {
		return source, nil
	}
	err := Usagef("no source %q", name)
	if near := Nearest(name, SourceNames()); near != "" {
		return source, err.Suggest("did you mean %q?", near)
	}
	return source, err.Suggest("one of %s", strings.Join(SourceNames(), ", "))
}

// Sweep does what hooks left to be done: it takes up turns that were kept apart, imports the client's own records
// of the conversations that hooks have recorded, and seals what has ended. The client's record wins; what hooks
// alone have recorded stays beside it. It fails with [vault.ErrRefused], and with what kept one conversation, after
// the others.
func (h Hooks) Sweep(ctx context.Context, w Write) error {
	if err := h.a.check(w, "worker", ""); err != nil {
		return err
	}
	v := h.a.v.Whole()
	var failed error // each of one conversation, and logged with it
	err := v.State().Alone(ctx, "sweep", false, func() error {
		err := session.TakeUp(ctx, v)
		names, nerr := v.State().SeenNames(session.HookTalk)
		for _, name := range names {
			if ctx.Err() == nil {
				failed = errors.Join(failed, h.sweep(ctx, v, strings.TrimPrefix(name, session.HookTalk)))
			}
		}
		return errors.Join(err, nerr, ctx.Err())
	})
	switch {
	case errors.Is(err, vault.ErrBusy): // whoever is at it looks at all of them
		return nil
	case err != nil && ctx.Err() == nil: // nobody may look at this process
		err = errors.Join(err, h.Fail(ctx, "worker", "run", "", err))
	}
	err = errors.Join(err, failed)
	h.a.sealEnded(ctx)
	if x, xerr := h.a.openIndex(false, nil); xerr == nil { // hooks make none
		if _, xerr = x.CatchUp(ctx); xerr != nil && ctx.Err() == nil {
			h.a.warn("search index not updated: %v; the next search will do it", xerr)
		}
	}
	return err
}

// againAfter is how long a conversation rests whose import failed.
const againAfter = time.Minute

// sweep does what is left to be done of one conversation, and logs a failure with it.
func (h Hooks) sweep(ctx context.Context, v *vault.Vault, key string) error {
	data, err := v.State().Seen(session.HookTalk + key)
	var t talk
	if err != nil || json.Unmarshal(data, &t) != nil {
		return err
	}
	if err = h.takeIn(ctx, v, key, t); errors.Is(err, vault.ErrBusy) {
		return nil // the next one does it
	}
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, h.Fail(ctx, t.Client, "import", t.Session, err))
	}
	return err
}

// takeIn imports one conversation if it has ended, if no event of it came for long, or if another one of its
// client has begun since.
func (h Hooks) takeIn(ctx context.Context, v *vault.Vault, key string, t talk) error {
	var of lastBrief
	data, err := v.State().Seen(lastBriefName + t.Client)
	if err == nil {
		_ = json.Unmarshal(data, &of) // then no conversation has begun since
	}
	now := h.a.o.Now().UTC()
	quiet := now.Sub(t.Last)
	begun := of.Session != t.Session && of.Started.After(t.Last) && of.Started.After(t.Looked)
	if t.Failed && now.Sub(t.Looked) < againAfter {
		return nil
	}
	source, known := imports.Find(t.Client)
	stamp, files := h.files(source, known, t)
	if over := t.Ended || quiet > quietTalk || begun; over && (stamp == "" || t.Ended && stamp == t.Stamp) {
		if err := h.seal(ctx, v, key); err != nil || quiet <= keptTalk {
			return err
		}
	} else if over && stamp != t.Stamp {
		if err = h.bring(ctx, v, source, files, &t, key); err != nil {
			err, stamp = fmt.Errorf("import conversation %s of %s: %w", t.Session, t.Client, err), t.Stamp
		}
		failed := err != nil
		_, serr := h.update(ctx, key, func(is *talk) {
			is.Looked, is.Failed, is.Stamp, is.Steps = now, failed, stamp, t.Steps
		})
		return errors.Join(err, serr)
	}
	if quiet > keptTalk {
		return v.State().SetSeen(ctx, session.HookTalk+key, func([]byte) ([]byte, error) { return nil, nil })
	}
	return nil
}

// seal makes a transcript of a conversation that hooks alone have recorded.
func (h Hooks) seal(ctx context.Context, v *vault.Vault, key string) error {
	sealed, err := session.Seal(ctx, v, key, session.Options{Reason: "ended", Door: h.a.o.Door, Wait: true})
	if errors.Is(err, vault.ErrNotFound) {
		return nil // all of it is sealed, or nothing was said
	}
	if err == nil {
		h.a.updateIndex(ctx, []vault.Change{{Status: vault.Modified, Path: sealed.Path}})
	}
	return err
}

// files are those in which the client keeps a conversation, where they lie among its own, and what they are now;
// "" for none.
func (h Hooks) files(source imports.Source, known bool, t talk) (stamp string, files []string) {
	if !known || t.Transcript == "" {
		return "", nil
	}
	file := realPath(t.Transcript)
	own := slices.ContainsFunc(source.Find(h.a.importHost()), func(place string) bool {
		in, err := filepath.Rel(realPath(place), file)
		return err == nil && filepath.IsLocal(in)
	})
	info, err := os.Stat(file)
	if !own || err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	stamp, files = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), []string{file}
	beside := strings.TrimSuffix(file, filepath.Ext(file))
	if info, err := os.Stat(beside); err == nil && info.IsDir() { // sub-agents
		files = append(files, beside)
	}
	return stamp, files
}

// bring imports the files of a conversation, as what its agent wrote, and drops the turns of hooks that they hold.
func (h Hooks) bring(
	ctx context.Context, v *vault.Vault, source imports.Source, files []string, t *talk, key string,
) error {
	by := Write{Agent: t.Client, Door: session.HookDoor}
	report, err := imports.Run(ctx, v, source, files, imports.Options{Write: by.vault(h.a.Environment),
		Now: h.a.o.Now(), Exclude: h.excluded,
		Committed: func(res *vault.Result) error {
			h.a.updateIndex(ctx, res.Changes)
			return nil
		}})
	if err != nil {
		return err
	}
	for _, p := range report.Problems {
		h.a.warn("%s", p.Text)
	}
	if report.Skipped > 0 {
		why := errors.New(strings.Join(report.Notes, "; "))
		return errors.Join(h.Fail(ctx, t.Client, "import", t.Session, why), h.seal(ctx, v, key))
	}
	messages, err := session.Settle(ctx, v, key, nil)
	if err == nil && messages > 0 {
		err = h.steps(ctx, v, t, key, messages)
	}
	return err
}
