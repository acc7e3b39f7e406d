package curator

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// A desk is a vault with skills of an agent's, and a clock that the test moves.
type desk struct {
	*testing.T
	dir string
	at  time.Time
	env map[string]string

	hook durable.Hook
	// planted says that a report stands there that no run wrote.
	planted bool
	dirty   func() // the vault may end with edits that nobody committed
}

func newDesk(t *testing.T) *desk {
	f := vaulttest.New(t)
	d := deskAt(t, f.Dir)
	t.Cleanup(d.checkReports)
	d.dirty = f.LeaveDirty
	return d
}

func deskAt(t *testing.T, dir string) *desk {
	home := t.TempDir()
	return &desk{T: t, dir: dir, at: now(), env: map[string]string{"HOME": home,
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_STATE_HOME": filepath.Join(home, ".state")}}
}

func (d *desk) getenv(key string) string {
	if v, ok := d.env[key]; ok {
		return v
	}
	return vaulttest.Env(key)
}

func (d *desk) app() (*agent.App, error) {
	return agent.Open(d.Context(), agent.Options{Dir: d.dir, At: d.dir, Door: "cli", Getenv: d.getenv, Hook: d.hook,
		Now: func() time.Time { return d.at }})
}

// open runs use on the vault, opened for the person.
func (d *desk) open(use func(*agent.App) error) {
	d.Helper()
	a, err := d.app()
	if err == nil {
		err = errors.Join(use(a), a.Close())
	}
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) days(n int) { d.at = d.at.Add(time.Duration(n) * day) }

// skill has an agent make a skill with files beside it.
func (d *desk) skill(name, category string, files ...string) {
	d.Helper()
	d.open(func(a *agent.App) error {
		by := agent.Write{Agent: "robo"}
		_, err := a.Skills().New(d.Context(), agent.NewSkillOptions{Write: by, Name: name, Category: category,
			Description: "Does " + name + ".", Text: "How to " + name + ".\n"})
		for _, f := range files {
			if err == nil {
				put := agent.PutSkillOptions{Write: by, Ref: name, File: f, Text: name + f}
				_, err = a.Skills().Put(d.Context(), put)
			}
		}
		return err
	})
}

// run makes a run, and checks that all it tells is so.
func (d *desk) run() *Report {
	d.Helper()
	return d.runWith(Options{})
}

func (d *desk) runWith(o Options) (r *Report) {
	d.Helper()
	d.open(func(a *agent.App) (err error) {
		r, err = Run(d.Context(), a, o)
		return err
	})
	if !o.DryRun {
		d.check(r.Run)
	}
	return r
}

// git runs the real git, at the time of the desk.
func (d *desk) git(args ...string) string {
	d.Helper()
	cmd := vaulttest.Command(d.dir, args...)
	stamp := d.at.Format(time.RFC3339)
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_DATE="+stamp, "GIT_COMMITTER_DATE="+stamp)
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tree is what HEAD holds, without logs, tombstones and counts.
func (d *desk) tree() string {
	d.Helper()
	var out []string
	for line := range strings.Lines(d.git("ls-tree", "-r", "HEAD")) {
		_, p, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(p, "logs/") && !strings.HasPrefix(p, ".stet/") {
			out = append(out, strings.TrimSpace(line)+"\n")
		}
	}
	return strings.Join(out, "")
}

// checkReports holds every report of the vault to its commits: each test ends with it.
func (d *desk) checkReports() {
	files, err := filepath.Glob(filepath.Join(d.dir, Folder, "*", "run.json"))
	if err != nil || d.planted {
		return
	}
	for _, file := range files {
		d.checkReport(filepath.Base(filepath.Dir(file)))
	}
}

// check is checkReport, and the vault is whole.
func (d *desk) check(run string) {
	d.Helper()
	vaulttest.Check(d, d.dir)
	d.checkReport(run)
}

// checkReport holds one report to the commits: run.json, REPORT.md and history say the same.
func (d *desk) checkReport(run string) {
	d.Helper()
	folder := filepath.Join(d.dir, Folder, run)
	data, err := os.ReadFile(filepath.Join(folder, "run.json"))
	if err != nil {
		d.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "REPORT.md"))
	if err != nil {
		d.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		d.Fatal(err)
	}
	var want []string
	for _, c := range r.Commits {
		want = append(want, string(c.Rev))
		if !strings.Contains(string(page), c.Revert) || c.Revert != "git revert "+string(c.Rev) {
			d.Errorf("REPORT.md does not say how %s is taken back", c.Rev)
		}
	}
	got := strings.Fields(d.git("log", "--reverse", "--format=%H %(trailers:key=Stet-Op,valueonly,separator=%x2C)",
		"--grep", "Stet-Run: "+run+"$"))
	var own, reports []string
	for i := 0; i+1 < len(got); i += 2 {
		switch got[i+1] {
		case "report":
			reports = append(reports, got[i])
		case "archive", "curate", "consolidate":
			own = append(own, got[i])
		}
	}
	if !slices.Equal(own, want) || len(reports) != 1 {
		d.Errorf("run %s: commits %v and reports %v, run.json has %v", run, own, reports, want)
	}
	if files := d.git("show", "--format=", "--name-only", reports[0]); files != Folder+"/"+run+"/REPORT.md\n"+
		Folder+"/"+run+"/run.json" {
		d.Errorf("the report is not alone: %s", files)
	}
	for _, t := range r.Transitions {
		if !slices.Contains(want, string(t.Commit)) || !strings.Contains(string(page), t.Name) {
			d.Errorf("%+v is of no commit of the run, or missing in REPORT.md", t)
		}
		if t.To == Archived && (d.git("ls-tree", "-r", "--name-only", string(t.Commit), string(t.Into)+"/") == "" ||
			d.git("ls-tree", "-r", "--name-only", string(t.Commit), string(t.Path)+"/") != "") {
			d.Errorf("%+v: the commit does not do that", t)
		}
	}
	for i, e := range slices.Concat(r.Memories.Archived, r.Memories.Moved) {
		gone := i >= len(r.Memories.Archived) || d.git("ls-tree", string(e.Commit), string(e.Path)) == ""
		if !slices.Contains(want, string(e.Commit)) || !strings.Contains(string(page), string(e.Path)) || !gone ||
			d.git("ls-tree", string(e.Commit), string(e.Into)) == "" {
			d.Errorf("%+v is of no commit of the run, or missing in REPORT.md", e)
		}
	}
	d.checkSecond(&r, string(page), want)
	if r.Counts.Archived != r.AutoTransitions.Archived+r.Counts.Consolidated+r.Counts.Pruned ||
		r.Counts.Before-r.Counts.After != r.Counts.Archived-r.Counts.Added && !r.Interrupted {
		d.Errorf("counts: %+v, %+v", r.Counts, r.AutoTransitions)
	}
}

// checkSecond holds what a report says of the second tier to the commits.
func (d *desk) checkSecond(r *Report, page string, commits []string) {
	d.Helper()
	for _, a := range slices.Concat(r.Consolidated, r.Pruned) {
		if !strings.Contains(page, a.Name) || a.Applied != (a.Commit != "") || a.Applied != (a.Veto == "") {
			d.Errorf("%+v is not whole, or missing in REPORT.md", a)
		}
		if !a.Applied {
			continue
		}
		was := d.git("ls-tree", "-r", string(a.Commit)+"^:"+string(a.From))
		now := d.git("ls-tree", "-r", string(a.Commit)+":"+string(a.To))
		if !slices.Contains(commits, string(a.Commit)) || was != now ||
			d.git("ls-tree", string(a.Commit), string(a.From)+"/SKILL.md") != "" {
			d.Errorf("%+v does not stand in the archive as it was", a)
		}
	}
	for _, a := range slices.Concat(r.Memories.Consolidated, r.Memories.Pruned) {
		if !strings.Contains(page, string(a.From)) || a.Applied != (a.Commit != "") || a.Applied != (a.Veto == "") {
			d.Errorf("%+v is not whole, or missing in REPORT.md", a)
		}
		at := string(a.Commit)
		if a.Applied && (!slices.Contains(commits, at) || d.git("ls-tree", at, string(a.From)) != "" ||
			d.git("rev-parse", at+"^:"+string(a.From)) != d.git("rev-parse", at+":"+string(a.To)) ||
			d.git("ls-tree", at, a.Into) == "" || d.git("ls-tree", at+"^", a.Into) != "") {
			d.Errorf("%+v does not stand in the archive as it was, or the new one is missing", a)
		}
	}
	for _, c := range slices.Concat(r.Claims, r.Memories.Claims) {
		if !strings.Contains(page, c.Done) {
			d.Errorf("%+v is missing in REPORT.md", c)
		}
	}
	if len(r.ToolCalls) != r.Counts.ToolCalls {
		d.Errorf("%d calls, counted %d", len(r.ToolCalls), r.Counts.ToolCalls)
	}
}

func did(r *Report) string {
	var out []string
	for _, t := range r.Transitions {
		out = append(out, t.Name+" "+string(t.To))
	}
	return strings.Join(out, ", ")
}
