package curator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/agent"
	"stet/curator/fork"
	"stet/curator/merge"
	"stet/templates"
	"stet/vault"
)

// Folder is where each run has a folder with its report.
const Folder = "logs/curator"

// A Report is what one run did, as run.json has it. Lists are in the order in which things were done.
type Report struct {
	Run             string       `json:"run"` // its id, and the name of its folder: the time (UTC) as 20060102-150405
	StartedAt       time.Time    `json:"started_at"`
	DurationSeconds float64      `json:"duration_seconds"`
	Model           string       `json:"model"`    // "" where no model was asked
	Provider        string       `json:"provider"` // its provider
	AutoTransitions Counts       `json:"auto_transitions"`
	Counts          Totals       `json:"counts"`
	ToolCalls       []fork.Call  `json:"tool_calls"`
	LLMSummary      string       `json:"llm_summary"`
	LLMFinal        string       `json:"llm_final"`
	LLMError        string       `json:"llm_error"`
	TokenUsage      fork.Usage   `json:"token_usage"`
	Cost            float64      `json:"cost"` // in dollars
	Transitions     []Transition `json:"transitions"`
	Consolidated    []Absorbed   `json:"consolidated"`
	Pruned          []Absorbed   `json:"pruned"`
	Before          []Standing   `json:"before"`
	After           []Standing   `json:"after"`
	Commits         []Commit     `json:"commits"`
	Memories        Memories     `json:"memories"`
	Left            []Left       `json:"left"`               // what was due and could not be done
	Proposed        []Waiting    `json:"proposed,omitempty"` // what waits for the person instead of being done
	Interrupted     bool         `json:"interrupted,omitempty"`
	DryRun          bool         `json:"dry_run,omitempty"`
	Plan            *agent.Plan  `json:"plan,omitempty"` // of a dry run
	Diff            string       `json:"diff,omitempty"` // unified; of a dry run

	Coverage  []merge.Coverage `json:"coverage"`            // of the skills that a model took away
	Claims    []merge.Claim    `json:"claims,omitempty"`    // what it says it did, and was not done
	Suggested []fork.Cluster   `json:"suggested,omitempty"` // skills that could be merged
	// StillNamed are lines of others that name what was merged, Twins skills of which none was, for their names.
	StillNamed []Mention `json:"still_named,omitempty"`
	Twins      []Twins   `json:"same_name,omitempty"`

	// Since the run, as [Load] finds it: by commit the one that took it back, and the skills that left the archive.
	TakenBack map[vault.Revision]vault.Revision `json:"taken_back,omitempty"`
	Restored  []string                          `json:"restored,omitempty"`
}

// Totals count the skills that the curator owns, and what became of them.
type Totals struct {
	Before       int `json:"before"`
	After        int `json:"after"`
	Archived     int `json:"archived_this_run"`
	Added        int `json:"added_this_run"`
	Consolidated int `json:"consolidated_this_run"`
	Pruned       int `json:"pruned_this_run"`
	ToolCalls    int `json:"tool_calls_total"`
	Requests     int `json:"requests_total,omitempty"` // to a model about skills
	Others       int `json:"others,omitempty"`         // skills that it does not own
}

// A Transition is one change of a skill's state.
type Transition struct {
	Name     string         `json:"name"`
	From     State          `json:"from"`
	To       State          `json:"to"`
	Why      string         `json:"why"`
	Evidence string         `json:"evidence"` // what says so
	Path     vault.Path     `json:"path"`     // its folder before
	Into     vault.Path     `json:"into"`     // and after
	Commit   vault.Revision `json:"commit,omitempty"`
}

// A Commit is one commit of a run.
type Commit struct {
	Rev     vault.Revision `json:"rev"`
	Op      vault.Op       `json:"op"`
	Subject string         `json:"subject"`
	Revert  string         `json:"revert"` // the command line that takes it back
	// After is the newer commit of the run that has to be taken back before it; "" where it can be reverted on its own.
	After vault.Revision `json:"revert_after,omitempty"`
	Diff  string         `json:"-"`
	Files string         `json:"-"` // how many it changed
	Lines int            `json:"-"` // of all differences
	on    vault.Revision // its parent
}

// A Standing is a skill that the curator owns, before or after a run.
type Standing struct {
	Name         string     `json:"name"`
	State        State      `json:"state"`
	Pinned       bool       `json:"pinned"`
	CreatedAt    string     `json:"created_at"`       // "" where it is not known
	LastActivity string     `json:"last_activity_at"` // as CreatedAt
	Hash         vault.Hash `json:"hash"`             // of SKILL.md
}

// Memories are what a run did to memories.
type Memories struct {
	Checked  int     `json:"checked"`  // without private ones
	Archived []Ended `json:"archived"` // went to the archive
	Moved    []Ended `json:"moved"`    // entries of a full notebook that became memories
	Merging
}

// An Ended memory no longer stands where it stood.
type Ended struct {
	Path     vault.Path     `json:"path"` // before; of an entry its address
	Into     vault.Path     `json:"into"` // after
	Why      string         `json:"why"`
	Evidence string         `json:"evidence"` // what says so
	Commit   vault.Revision `json:"commit,omitempty"`
}

// Left is a change that was due and not made.
type Left struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Waiting is a change that waits for the person.
type Waiting struct {
	Name string `json:"name"`
	To   State  `json:"to"`
	ID   string `json:"proposal"`
}

func newReport(r *runner, counts Counts) *Report {
	out := emptyReport(runID(r.v, r.begun), r.begun)
	out.DryRun = r.o.DryRun
	out.AutoTransitions = Counts{Checked: counts.Checked}
	out.Counts = Totals{Before: counts.Checked, After: counts.Checked, Others: len(r.lib.all) - len(r.lib.rows)}
	for i := range r.lib.rows {
		out.Before = append(out.Before, r.lib.standing(i, r.begun))
	}
	out.After = slices.Clone(out.Before)
	return out
}

func emptyReport(id string, begun time.Time) *Report {
	return &Report{Run: id, StartedAt: begun, ToolCalls: []fork.Call{}, Transitions: []Transition{},
		Consolidated: []Absorbed{}, Pruned: []Absorbed{}, Before: []Standing{}, After: []Standing{},
		Commits: []Commit{}, Coverage: []merge.Coverage{}, Left: []Left{},
		Memories: Memories{Archived: []Ended{}, Moved: []Ended{}}}
}

// runID is the name of a run that nobody has.
func runID(v *vault.Vault, begun time.Time) string {
	id := begun.Format("20060102-150405")
	for n := 2; ; n++ {
		if _, err := v.Whole().ReadHead(vault.Path(Folder+"/"+id+"/run.json"), 1); err != nil {
			return id
		}
		id = fmt.Sprintf("%s-%d", begun.Format("20060102-150405"), n)
	}
}

func (l *library) standing(i int, now time.Time) Standing {
	r := l.rows[i]
	out := Standing{Name: r.Name, State: r.State, Pinned: r.Pinned, Hash: l.skills[i].Hash,
		LastActivity: r.anchor(now).Format(time.RFC3339)}
	if !r.Created.IsZero() {
		out.CreatedAt = r.Created.Format(time.RFC3339)
	}
	return out
}

func (r *Report) leave(name string, err error) {
	text := err.Error()
	if strings.HasSuffix(text, "it changes what a person wrote") && !strings.Contains(name, "/") { // a skill, no memory
		err = vault.WithHint(err, `"stet curate own %s" gives it over`, templates.Quote(name))
	}
	if hint, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		text += " (" + hint.Hint() + ")"
	}
	r.Left = append(r.Left, Left{name, text})
}

// note writes down what a transaction did, and how each of its commits is taken back.
func (r *runner) note(ctx context.Context, jobs []job, done *vault.Result) error {
	if r.o.DryRun {
		r.out.Plan, r.out.Diff = &agent.Plan{Base: done.Base, Ops: done.Changes}, done.Diff
	} else {
		r.a.Settle(ctx, done)
	}
	own := r.ownCommits(done)
	r.own = own
	if err := r.out.list(ctx, r.v, own, r.o.DryRun); err != nil {
		return err
	}
	n := -1 // of the commit that did the job
	for i, j := range jobs {
		if j.own != nil || i == 0 {
			n++
		}
		if by := own[n].Rev; r.o.DryRun {
			j.tell("")
		} else {
			j.tell(by)
		}
	}
	hashes := map[vault.Path]vault.Hash{}
	for _, c := range done.Changes {
		hashes[c.Path] = c.New
	}
	r.out.After = []Standing{}
	for i, s := range r.lib.skills {
		after, to := r.lib.standing(i, r.begun), r.became[i]
		if to == Archived {
			continue
		}
		if to != "" {
			after.State, after.Hash = to, hashes[s.Main()]
		}
		r.out.After = append(r.out.After, after)
	}
	return nil
}

// did notes a transition and counts it.
func (r *Report) did(t Transition) {
	r.Transitions = append(r.Transitions, t)
	switch t.To {
	case Archived:
		r.AutoTransitions.Archived++
		r.Counts.Archived++
		if !r.Interrupted { // nobody counted then
			r.Counts.After--
		}
	case Stale:
		r.AutoTransitions.MarkedStale++
	case Active:
		r.AutoTransitions.Reactivated++
	}
}

// wholeDiff is how many lines of a diff a report shows.
const wholeDiff = 200

// list notes the commits of a run, whose changes are known, oldest first, with their differences.
func (r *Report) list(ctx context.Context, v *vault.Vault, commits []vault.Commit, dry bool) error {
	if dry {
		return nil
	}
	after, err := proven(ctx, v, commits)
	if err != nil {
		return err
	}
	past := v.Whole().History().Ancestry()
	for i, c := range commits {
		out := Commit{Rev: c.Rev, Op: c.Op, Subject: c.Subject, Revert: "git revert " + string(c.Rev), After: after[i],
			Files: agent.Plural(len(c.Changes), "file"), on: vault.Revision(c.Before())}
		for _, ch := range c.Changes {
			f, err := past.Diff(vault.Version{Commit: c, Change: ch})
			if err != nil {
				return err
			}
			if out.Lines += strings.Count(f.Text, "\n"); out.Lines <= wholeDiff {
				out.Diff += f.Text
				continue
			}
			out.Diff = ""
		}
		r.Commits = append(r.Commits, out)
	}
	return nil
}

// Long reports whether the page folds its differences.
func (r *Report) Long() bool { return len(r.Commits) > 10 }

// Chains are what "git revert" is given to take the run back, newest first: commits that stand one on another as one
// range.
func (r *Report) Chains() (out []string) {
	for i := len(r.Commits) - 1; i >= 0; i-- {
		first := i
		for first > 0 && r.Commits[first].on == r.Commits[first-1].Rev {
			first--
		}
		chain := string(r.Commits[i].Rev)
		if first < i {
			chain = fmt.Sprintf("%s~1..%s", r.Commits[first].Rev, chain)
		}
		out, i = append(out, chain), first
	}
	return out
}

// JSON is run.json.
func (r *Report) JSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(r)
	return out.Bytes(), err
}

// Path is where REPORT.md stands.
func (r *Report) Path() vault.Path { return vault.Path(Folder + "/" + r.Run + "/REPORT.md") }

// Markdown is REPORT.md.
func (r *Report) Markdown() ([]byte, error) { return templates.Report(r) }

// save commits the report, alone. Lines of the page that the guard stops are left out of it.
func (r *Report) save(ctx context.Context, by *runner) error {
	from := r.StartedAt
	if from.Equal(by.begun) {
		from = by.clock
	}
	r.DurationSeconds = float64(by.a.Now().Sub(from).Milliseconds()) / 1000
	data, err := r.JSON()
	page, err2 := r.Markdown()
	if err = errors.Join(err, err2); err == nil {
		err = r.put(ctx, by, data, page)
	}
	if _, stopped := errors.AsType[*vault.GuardError](err); stopped {
		r.redact(by.v)
		data, err = r.JSON()
		if page, err2 = r.Markdown(); errors.Join(err, err2) == nil {
			err = r.put(ctx, by, data, masked(by.v, r.Path(), page))
		}
	}
	return err
}

// masked is a page without the lines that look like secrets.
func masked(v *vault.Vault, p vault.Path, page []byte) []byte {
	lines := bytes.SplitAfter(page, []byte("\n"))
	for range lines { // a line that goes may leave another that looks like one
		found := v.Secrets(p, bytes.Join(lines, nil))
		if len(found) == 0 {
			break
		}
		for _, f := range found {
			if f.Line > 0 && f.Line <= len(lines) {
				lines[f.Line-1] = []byte("(left out: this line looks like a secret)\n")
			}
		}
	}
	return bytes.Join(lines, nil)
}

func (r *Report) put(ctx context.Context, by *runner, data, page []byte) error {
	why := by.w.Why(vault.OpReport, r.Summary())
	why.Run = r.Run
	res, err := by.v.Transact(ctx, why, false, func(tx *vault.Tx) error {
		return errors.Join(tx.Put(vault.Path(r.Path().Dir()+"/run.json"), "", data), tx.Put(r.Path(), "", page))
	})
	if err == nil {
		by.a.Settle(ctx, res)
	}
	return err
}
