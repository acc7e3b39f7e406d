package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"stet/agent/approval"
	"stet/index"
	"stet/index/document"
	"stet/vault"
	"stet/vault/doctor"
	"stet/vault/lineage"
	"stet/vault/settings"
)

// Vault holds the use cases of the vault as a whole.
type Vault struct{ a *App }

// Vault holds the use cases of the vault as a whole.
func (a *App) Vault() Vault { return Vault{a} }

// InitOptions say which folder becomes a vault.
type InitOptions struct {
	Write
	Dir      string // absolute; made if needed
	Unignore bool   // add rules to .gitignore that undo those which hide the vault's files
	// Nested makes it below another vault, which loses sight of what it holds; without it Ask is asked, and
	// where that is nil, [Environment.Init] fails with [ErrUsage].
	Nested bool
	Ask    func(outer string) (bool, error)
}

// Initialised is the result of [Environment.Init].
type Initialised struct {
	Root              string          `json:"root"`
	CreatedRepository bool            `json:"created_repository"`
	AlreadyVault      bool            `json:"already_vault"`
	Files             []vault.Path    `json:"files"`          // written by stet
	Adopted           int             `json:"adopted"`        // the user's files, committed as they are
	Held              []vault.Problem `json:"held,omitempty"` // those the guard left uncommitted
	Commits           []Commit        `json:"commits"`
	Diff              string          `json:"diff,omitempty"`
	DryRun            bool            `json:"dry_run,omitempty"`
	Plan              *Plan           `json:"plan,omitempty"`
}

// Init makes a vault of a folder. Done again it changes nothing.
func (e *Environment) Init(ctx context.Context, o InitOptions) (*Initialised, error) {
	if err := e.check(o.Write, "init", ""); err != nil {
		return nil, err
	}
	if err := e.outside(o.Write, "init", o.Dir); err != nil {
		return nil, err
	}
	if err := e.mayNest(o); err != nil {
		return nil, err
	}
	options, err := e.VaultOptions(false)
	if err != nil {
		return nil, err
	}
	res, err := vault.Init(ctx, o.Dir, vault.InitOptions{
		DryRun: o.DryRun, Unignore: o.Unignore, Writer: o.vault(e).Writer}, options)
	if err != nil {
		return nil, err
	}
	for _, w := range res.Warnings {
		e.warn("%s", w)
	}
	if outer, err := vault.Find(filepath.Dir(res.Root)); err == nil && !res.AlreadyVault {
		e.warn("%q is below the vault %q, which does not see what a vault inside it holds", res.Root, outer)
	}
	if !o.DryRun && o.Agent == "" {
		if s, err := e.Settings(); err != nil || s.Text(settings.DefaultVault) == "" {
			_ = e.agree(madeMark + res.Root) // for install alone, which does without it
		} else if err = e.agree(res.Root); err != nil {
			e.warn("stet may ask whether to write to this vault: %v", err)
		}
	}
	out := &Initialised{
		Root: res.Root, CreatedRepository: res.CreatedRepository, AlreadyVault: res.AlreadyVault,
		Files: append([]vault.Path{}, res.Files...), Adopted: res.Adopted, Held: res.Held,
		Commits: viewCommits(res.Commits), Diff: res.Diff, DryRun: res.DryRun,
	}
	if res.DryRun {
		out.Plan = &Plan{Ops: []vault.Change{}}
		for _, p := range res.Files {
			out.Plan.Ops = append(out.Plan.Ops, vault.Change{Status: vault.Added, Path: p})
		}
	}
	if res.AlreadyVault || res.DryRun {
		return out, nil
	}
	a, err := e.OpenAt(ctx, Place{Root: res.Root}, false)
	if err == nil {
		a.hints(ctx, a.firstAdopted(ctx, res))
		if o.Agent == "" && res.Beside != "" {
			a.note("this is a repository of more than notes (%s): memories become commits on the branch that is "+
				"checked out, now %q; a vault in a folder of its own keeps them apart", res.Beside, res.Branch)
		}
		err = errors.Join(a.keepSessions(ctx, o.Write, out), a.Close())
	}
	return out, err
}

// firstAdopted is what the making of a vault did, with the files of the user's that it committed.
func (a *App) firstAdopted(ctx context.Context, made *vault.InitResult) *vault.Result {
	out := &vault.Result{Commits: made.Commits}
	if made.Adopted == 0 {
		return out
	}
	files, _ := a.v.Files(ctx, vault.WalkOptions{}) // what cannot be listed is not hinted at
	for _, f := range files {
		out.Changes = append(out.Changes, vault.Change{Status: vault.Added, Path: f.Path})
	}
	return out
}

// keepSessions keeps transcripts of conversations out of git where the user has not said otherwise: whoever makes a
// vault has not been told yet that they would go where it is pushed.
func (a *App) keepSessions(ctx context.Context, w Write, out *Initialised) error {
	track, _ := settings.Find(string(settings.SessionsTrack))
	if w.Agent != "" || a.Settings().Entry(track).Source != settings.Default || a.o.Getenv(track.Env()) != "" {
		return nil
	}
	value := "false"
	done, err := a.v.Configure(ctx, string(settings.SessionsTrack), &value, Write{}.vault(a.Environment))
	if err == nil {
		out.Commits = append(out.Commits, viewCommits(done.Commits)...)
		a.note("transcripts of conversations stay out of git; \"stet config set sessions.track true\" commits them")
	}
	return err
}

// mayNest fails where the folder is inside a vault and nobody agrees to that.
func (e *Environment) mayNest(o InitOptions) error {
	dir := o.Dir
	for { // the nearest folder that exists
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	outer, err := vault.Find(dir)
	if strings.Contains(filepath.ToSlash(dir)+"/", "/.git/") {
		return nil // it is refused for that
	}
	if err != nil || outer == o.Dir || o.Nested || o.DryRun {
		return nil
	}
	if real, err := filepath.EvalSymlinks(o.Dir); err == nil && real == outer {
		return nil // it is that vault
	}
	if _, err := os.Stat(filepath.Join(o.Dir, ".git")); err == nil {
		return nil // a repository of its own is nothing that the outer one sees
	}
	if o.Ask != nil {
		if yes, err := o.Ask(outer); err != nil || yes {
			return err
		}
		return ErrDeclined
	}
	return Usagef("init %q: it is below the vault %q, which would no longer see what it holds", o.Dir, outer).
		Suggest("a folder of that vault needs no vault of its own; --nested makes one all the same")
}

// Status is where a vault stands.
type Status struct {
	Root     string              `json:"root"`
	Branch   string              `json:"branch"` // "" when detached
	Detached bool                `json:"detached"`
	Head     vault.Revision      `json:"head"`
	State    string              `json:"state"`          // an unfinished git operation
	Ends     string              `json:"ends,omitempty"` // how that ends
	Busy     bool                `json:"busy"`           // another stet process is writing
	Counts   map[vault.Class]int `json:"counts"`
	Changed  []vault.Change      `json:"changed"` // by hand, not committed
	Staged   []vault.Change      `json:"staged"`
	Problems []vault.Problem     `json:"problems"` // files that stet leaves alone
	Kept     int                 `json:"kept"`     // versions of files that could not be brought back
	Proposed int                 `json:"proposed"` // writes of agents that wait for approval
	Skills   int                 `json:"skills"`   // from elsewhere that wait for the user
	Others   int                 `json:"others"`   // commits of agents and others that nobody reviewed, of the newest
	Pending  int                 `json:"pending"`  // memories that a model is to finish
	// Undecided memories may outdate or contradict others.
	Undecided int      `json:"undecided"`
	Last      *Commit  `json:"last,omitempty"`
	Reviews   *Reviews `json:"reviews,omitempty"` // of conversations
}

// recent is how many commits a status looks through for those of others.
const recent = 200

// Status compares the files with HEAD and counts what waits for the user, for which the history is read while the files
// are looked at. Where the history cannot be read the result and the error are both set.
func (v Vault) Status(ctx context.Context) (*Status, error) {
	out := &Status{}
	var st *vault.Status
	var failed error
	var look sync.WaitGroup
	look.Go(func() { st, failed = v.a.v.Status(ctx) })
	if v.a.o.Agent != "" {
		look.Wait() // what an agent may see is asked of the index, which only one may open
	}
	waiting, _, err := approval.List(ctx, v.a.v)
	out.Proposed = len(waiting)
	if n, serr := v.a.Skills().waiting(ctx); serr == nil {
		out.Skills = n
	}
	if reviews, rerr := v.a.Learning().Reviews(ctx); rerr == nil {
		out.Reviews = reviews // it is told of, and nothing hangs on it
	}
	if v.a.o.Agent == "" {
		others, oerr := lineage.Unreviewed(ctx, v.a.v, "", recent)
		if out.Others = len(others); oerr != nil {
			err = errors.Join(err, fmt.Errorf("the commits of others are not counted: %w", oerr))
		}
	}
	if x, xerr := v.a.Index(true); xerr == nil {
		out.Pending, out.Undecided = x.Waiting()
	}
	if look.Wait(); failed != nil {
		return nil, failed
	}
	out.Root, out.Branch, out.Detached, out.Head, out.State = st.Root, st.Branch, st.Detached, st.Head, st.State
	out.Ends, out.Busy, out.Kept, out.Counts = st.Ends, st.Busy, st.Kept, st.Counts
	out.Changed, out.Staged = append([]vault.Change{}, st.Changed...), append([]vault.Change{}, st.Staged...)
	out.Problems = append([]vault.Problem{}, st.Problems...)
	if st.Last != nil {
		last := ViewCommit(*st.Last)
		out.Last = &last
	}
	return out, err
}

// Diagnosis is the result of [Vault.Examine].
type Diagnosis struct {
	Problems []vault.Problem `json:"problems"` // what is left
	Fixed    []vault.Problem `json:"fixed"`    // with DryRun, what would be
	Commits  []Commit        `json:"commits"`  // that fixing made
	DryRun   bool            `json:"dry_run,omitempty"`
	Unread   int             `json:"unread,omitempty"` // files whose contents were left unread
}

// Sound reports whether nothing is wrong: what is left is advice at most.
func (d *Diagnosis) Sound() bool {
	return !slices.ContainsFunc(d.Problems, func(p vault.Problem) bool { return !p.Advice })
}

// examined is of how many files [Vault.Examine] reads the contents unless it goes deep: some two seconds of work.
const examined = 10_000

// ExamineOptions say how [Vault.Examine] looks at the vault.
type ExamineOptions struct {
	Write
	Fix  bool // repair what can be repaired; a dry run says what would be
	Deep bool // read the contents of all files, also where there are more than ten thousand
}

// Examine looks for damage, and repairs it where that is asked.
func (v Vault) Examine(ctx context.Context, o ExamineOptions) (*Diagnosis, error) {
	a, fix, dry, w := v.a, o.Fix, o.DryRun, o.Write
	if fix {
		if err := a.check(w, "doctor", ""); err != nil {
			return nil, err
		}
	}
	x, err := a.Index(!fix || dry)
	if err != nil {
		return nil, err
	}
	look := doctor.Options{Index: rebuildable{x}, Fix: fix && !dry, Door: a.o.Door, Now: a.o.Now(), Read: examined}
	if o.Deep {
		look.Read = 0
	}
	if show := a.o.Progress; show != nil {
		look.Progress = func(ev vault.Event) { show(ev.Phase, ev.Done, ev.Total) }
	}
	report, err := doctor.Examine(ctx, a.v, look)
	if err != nil {
		return nil, err
	}
	for _, w := range report.Warnings {
		a.warn("%s", w)
	}
	a.updateIndex(ctx, report.Changes)
	out := &Diagnosis{Problems: append([]vault.Problem{}, report.Problems...),
		Fixed:   append([]vault.Problem{}, report.Fixed...),
		Commits: viewCommits(report.Commits), DryRun: dry, Unread: report.Unread}
	installed, err := a.Installed(InstallOptions{})
	for _, s := range installed {
		if s.Problem != "" {
			out.Problems = append(out.Problems, vault.Problem{ID: "hooks", Advice: true,
				Text: fmt.Sprintf("%s %s: %q", s.Path, s.Problem, s.Hint)})
		}
	}
	if dry {
		out.Fixed = slices.DeleteFunc(slices.Clone(out.Problems), func(p vault.Problem) bool { return !p.Fixable })
	}
	return out, err
}

// rebuildable lets doctor rebuild a search index.
type rebuildable struct{ *index.Index }

// Mend rebuilds the index.
func (m rebuildable) Mend(ctx context.Context) error {
	_, err := m.Rebuild(ctx)
	return err
}

// IDs tells what the index knows where it has the files as they are.
func (m rebuildable) IDs(files []vault.File, see func(vault.Path, string)) error {
	n, err := m.Unread(func() ([]vault.File, error) { return files, nil })
	if err == nil && n > 0 {
		err = errors.New("the search index is not up to date")
	}
	if err != nil {
		return err
	}
	return m.Known(func(r *document.Record) { see(r.Path, document.ID(r.Meta)) })
}

// Reindexed is the result of [Vault.Reindex].
type Reindexed struct {
	Total    int           `json:"total"`              // files
	Embedded int           `json:"embedded,omitempty"` // files that got a vector
	TookMS   float64       `json:"took_ms"`
	Took     time.Duration `json:"-"`
}

// Reindex rebuilds the search index from the files. It fails with [vault.ErrReadOnly] where it
// cannot be written.
func (v Vault) Reindex(ctx context.Context, w Write) (*Reindexed, error) {
	if err := v.a.check(w, "reindex", ""); err != nil {
		return nil, err
	}
	stats, err := v.a.rebuild(ctx)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, vault.WithHint(fmt.Errorf("rebuild search index: %w: %w", vault.ErrReadOnly, err),
			"searches are right without an index; make the folder writable for this user to keep one")
	}
	if err != nil {
		return nil, err
	}
	for _, w := range stats.Warnings {
		v.a.warn("%s", w)
	}
	return &Reindexed{Total: stats.Total, Embedded: stats.Embedded, TookMS: milliseconds(stats.Took),
		Took: stats.Took}, nil
}

// Files lists the paths of the vault's files that are not archived, in order.
func (v Vault) Files(ctx context.Context) ([]vault.Path, error) {
	files, err := v.a.v.Files(ctx, vault.WalkOptions{})
	var out []vault.Path
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out, err
}
