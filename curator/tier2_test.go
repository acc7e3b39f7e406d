package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/agent"
	"stet/curator/fork"
	"stet/markdown"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/skill"
	"stet/vault/vaulttest"
)

// A model answers a job with calls and a last word.
type model func(job fork.Job) fork.Result

func (m model) Run(_ context.Context, job fork.Job) (fork.Result, error) {
	out := m(job)
	out.Model, out.Provider = "fake", "test"
	if out.Ended == "" {
		out.Ended = fork.Done
	}
	return out, nil
}

type args = map[string]any

func calls(all ...args) (out []fork.Call) {
	for _, a := range all {
		data, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		out = append(out, fork.NewCall(fork.ToolName, string(data)))
	}
	return out
}

// umbrella is what an honest model does with skills of a job: a section each, with description and text, and their
// files in a folder of their own.
func umbrella(job fork.Job, name string, members ...string) (out []fork.Call) {
	return umbrellaOf(job, name, "", members)
}

// umbrellaOf is an umbrella whose sections, with a folder, only lead to the texts, which stand in that.
func umbrellaOf(job fork.Job, name, folder string, members []string) (out []fork.Call) {
	var main strings.Builder
	var after []fork.Call
	all := map[string]fork.Skill{}
	for _, s := range job.Skills {
		all[s.Name] = s
	}
	fmt.Fprintf(&main, "# %s\n\nOne section for each task.\n", name)
	for _, member := range members {
		s := all[member]
		now, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
		text := string(markdown.Parse(s.Files[skill.File].Data).Body())
		for _, p := range slices.Sorted(maps.Keys(s.Files)) {
			if p != skill.File {
				to := member + "/" + p
				after = append(after, calls(args{"action": "copy_file", "name": member, "file": p, "into": name,
					"to": to})...)
				if folder != "" {
					text = strings.ReplaceAll(text, "]("+p, "](../"+p)
				}
				text = strings.ReplaceAll(text, p, to)
			}
		}
		for _, other := range members {
			text = strings.ReplaceAll(text, "](../"+other+"/SKILL.md)", "](#"+other+")")
		}
		fmt.Fprintf(&main, "\n## %s\n\n%s\n\n", member, now.Description)
		if folder != "" {
			file := folder + "/" + member + ".md"
			fmt.Fprintf(&main, "How: [%s](%s)\n", member, file)
			after = append(calls(args{"action": "write_file", "name": name, "file": file, "text": text}), after...)
			text = ""
		}
		fence := false
		for line := range strings.Lines(text) {
			if markdown.FenceOf(strings.TrimRight(line, "\n")) != "" {
				fence = !fence
			}
			if strings.HasPrefix(line, "#") && !fence {
				line = "##" + line
			}
			main.WriteString(line)
		}
		after = append(after, calls(args{"action": "delete", "name": member, "absorbed_into": name,
			"reason": "a section of " + name})...)
	}
	out = calls(args{"action": "list"}, args{"action": "create", "name": name, "category": "tools",
		"description": "Everything about " + name + ".", "text": main.String()})
	return append(out, after...)
}

// account is the block at the end.
func account(into string, members ...string) string {
	var b strings.Builder
	b.WriteString("I merged them.\n\n```yaml\nconsolidations:\n")
	for _, m := range members {
		fmt.Fprintf(&b, "  - {from: %s, into: %s, reason: alike}\n", m, into)
	}
	b.WriteString("prunings: []\n```\n")
	return b.String()
}

func honest(job fork.Job) fork.Result {
	return fork.Result{Calls: umbrella(job, "git-history", "git-bisect", "git-rebase"),
		Final: account("git-history", "git-bisect", "git-rebase")}
}

// teach has an agent make a skill with a text and files.
func (d *desk) teach(name, category, text string, files map[string]string) {
	d.Helper()
	d.open(func(a *agent.App) error {
		by := agent.Write{Agent: "robo"}
		_, err := a.Skills().New(d.Context(), agent.NewSkillOptions{Write: by, Name: name, Category: category,
			Description: "Use this to " + strings.ReplaceAll(name, "-", " ") + " at work.", Text: text})
		for _, f := range slices.Sorted(maps.Keys(files)) {
			if err == nil {
				put := agent.PutSkillOptions{Write: by, Ref: name, File: f, Text: files[f]}
				_, err = a.Skills().Put(d.Context(), put)
			}
		}
		return err
	})
}

const bisect = `# Bisect

Find the commit that broke a test by halving the range.

1. Mark a bad commit and a good one that is at most 200 commits older.
2. Run [the script](scripts/run.sh) with a timeout of 90 seconds.

` + "```sh\ngit bisect start HEAD v1.4.2\ngit bisect run scripts/run.sh\n```" + `

Never bisect over a merge of a release branch.
See [the notes](references/notes.md) for what to do when a build fails.
`

const rebase = `# Rebase

Put a branch on top of main before review.

- Fetch first, then rebase with autosquash.
- Push with lease to the remote on port 2222, never with force.

` + "```sh\ngit rebase --autosquash origin/main\n```" + `

It follows what [bisect](../git-bisect/SKILL.md) finds.
`

// shelf is a vault with two skills that could be merged, with files, and others.
func shelf(t *testing.T) *desk {
	d := newDesk(t)
	d.teach("git-bisect", "dev", bisect, map[string]string{"scripts/run.sh": "#!/bin/sh\nmake test\n",
		"references/notes.md": "# Notes\n\nSkip commits that do not build: exit 125.\n"})
	d.teach("git-rebase", "dev", rebase, nil)
	d.teach("bread", "home", "# Bread\n\nBake at 230 degrees for 45 minutes. It is like "+
		"[bisect](../../dev/git-bisect/references/notes.md).\n", nil)
	d.open(func(a *agent.App) error {
		by := agent.Write{}
		_, err := a.Skills().New(d.Context(), agent.NewSkillOptions{Write: by, Name: "git-mine",
			Description: "What I do with git.", Text: "# Mine\n\nHands off.\n"})
		return err
	})
	return d
}

// second makes a run with a model.
func (d *desk) second(m fork.Runner) *Report {
	d.Helper()
	return d.runWith(Options{Consolidate: true, Runner: m})
}

func names(all []Absorbed, applied bool) string {
	var out []string
	for _, a := range all {
		if a.Applied == applied {
			out = append(out, a.Name+">"+a.Into)
		}
	}
	return strings.Join(out, " ")
}

// blobs are the hashes of all files of skills that HEAD has, those of the archive as well.
func (d *desk) blobs() map[string]bool {
	d.Helper()
	out := map[string]bool{}
	for line := range strings.Lines(d.tree()) {
		out[strings.Fields(line)[2]] = true
	}
	return out
}

func TestAnHonestModelBuildsAnUmbrella(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	before, was := d.tree(), d.blobs()
	if r := d.second(nil); len(r.Suggested) != 1 || len(r.Commits) != 0 || d.tree() != before {
		t.Fatalf("without a model: %+v", r)
	}
	var asked fork.Job
	r := d.second(model(func(job fork.Job) fork.Result {
		asked = job
		return honest(job)
	}))
	if names(r.Consolidated, true) != "git-bisect>git-history git-rebase>git-history" || len(r.Claims) > 0 {
		t.Fatalf("%+v\n%+v\n%+v", r.Consolidated, r.Claims, r.Coverage)
	}
	for _, s := range asked.Skills {
		if s.Name == "git-mine" {
			t.Errorf("the model was given %s", s.Name)
		}
	}
	if !slices.Contains(asked.Taken, "git-mine") {
		t.Error("the model is not told that the name git-mine is taken")
	}
	for _, p := range []string{"archive/skills/dev/git-bisect/scripts/run.sh", "archive/skills/dev/git-rebase/SKILL.md",
		"skills/tools/git-history/git-bisect/scripts/run.sh"} {
		if d.git("ls-tree", "HEAD", p) == "" {
			t.Errorf("there is no %s", p)
		}
	}
	if got := d.git("show", "HEAD:skills/home/bread/SKILL.md"); !strings.Contains(got,
		"(../../tools/git-history/git-bisect/references/notes.md)") {
		t.Errorf("the link of another skill: %s", got)
	}
	now := d.blobs()
	for hash := range was {
		if !now[hash] && !strings.Contains(d.git("show", hash), "Bread") {
			t.Errorf("lost: %s", d.git("show", hash))
		}
	}
	if got := d.git("log", "-1", "--skip=1", "--format=%s%n%(trailers:key=Supersedes,valueonly,separator=%x20)"); got !=
		"consolidate: git-bisect, git-rebase into git-history\ngit-bisect git-rebase" {
		t.Error(got)
	}
	again := model(func(fork.Job) fork.Result { t.Error("asked again"); return fork.Result{} })
	if r := d.second(again); len(r.Commits) > 0 {
		t.Errorf("%+v", r.Commits)
	}
	c := r.Commits[0]
	if c.After != "" {
		t.Errorf("revert first %s", c.After)
	}
	d.git("revert", "--no-edit", string(c.Rev))
	if d.tree() != before {
		t.Error("reverted, the tree is another one")
	}
}

// What a person took back is not done again, whatever the model says.
func TestATakenBackMergeIsNotRepeated(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for how, takeBack := range map[string]func(d *desk, r *Report){
		"git revert": func(d *desk, r *Report) { d.git("revert", "--no-edit", string(r.Commits[0].Rev)) },
		"undo": func(d *desk, _ *Report) {
			d.open(func(a *agent.App) error {
				_, err := a.History().Undo(d.Context(), 1, false, agent.Write{})
				return err
			})
		},
		"revert of the run": func(d *desk, r *Report) {
			d.open(func(a *agent.App) error {
				_, err := a.History().Revert(d.Context(), agent.RevertOptions{OfRun: r.Run})
				return err
			})
		},
		"restore": func(d *desk, _ *Report) {
			d.open(func(a *agent.App) error {
				_, err := a.Skills().Restore(d.Context(), "git-bisect", agent.Write{})
				if err == nil {
					_, err = a.Skills().Restore(d.Context(), "git-rebase", agent.Write{})
				}
				return err
			})
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d := shelf(t)
			whole := d.tree()
			r := d.second(model(honest))
			if len(r.Commits) != 1 {
				t.Fatalf("%+v", r.Consolidated)
			}
			takeBack(d, r)
			if how != "restore" && d.tree() != whole {
				t.Error("it does not bring back what was")
			}
			stays := func(d *desk) {
				for _, wait := range []int{0, 20, 100} {
					d.days(wait)
					if r := d.second(model(honest)); names(r.Consolidated, true) != "" || len(r.Suggested) > 0 {
						t.Errorf("after %d days again: %+v %+v", wait, r.Consolidated, r.Suggested)
					}
					if d.git("ls-tree", "HEAD", "skills/dev/git-bisect/SKILL.md") == "" {
						t.Errorf("after %d days it is gone", wait)
					}
				}
			}
			clone := filepath.Join(t.TempDir(), "clone")
			if out, err := vaulttest.Git(".", "clone", "-q", d.dir, clone); err != nil {
				t.Fatal(out)
			}
			stays(deskAt(t, clone))
			stays(d)
		})
	}
}

// The work of a model that does not end well is told, and nothing of it is done; where a bound ended it, what was
// finished is kept.
func TestHowTheWorkEnds(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, ended := range []string{fork.Failed, fork.Cancelled, fork.Limit} {
		d := shelf(t)
		before := d.tree()
		var r *Report
		d.open(func(a *agent.App) error {
			var err error
			r, err = Run(d.Context(), a, Options{Consolidate: true, Runner: model(func(job fork.Job) fork.Result {
				out := honest(job)
				out.Ended, out.Error, out.Final = ended, "it broke", ""
				return out
			})})
			if (err != nil) != (ended != fork.Limit) {
				t.Errorf("%s: %v", ended, err)
			}
			return nil
		})
		d.check(r.Run)
		if kept := d.tree() != before; kept != (ended == fork.Limit) || len(r.ToolCalls) == 0 || r.LLMError == "" {
			t.Errorf("%s: kept %v, %d calls, %q, %+v", ended, kept, len(r.ToolCalls), r.LLMError, r.Consolidated)
		}
	}
	d := shelf(t)
	before := d.tree()
	d.open(func(a *agent.App) error {
		ctx, stop := context.WithCancel(d.Context())
		r, err := Run(ctx, a, Options{Consolidate: true, Runner: model(func(job fork.Job) fork.Result {
			stop()
			return honest(job)
		})})
		if !errors.Is(err, context.Canceled) || r == nil {
			t.Fatalf("stopped: %v", err)
		}
		d.check(r.Run)
		return nil
	})
	if d.tree() != before {
		t.Error("stopped, and something was done")
	}
}

// Each step of the file system fails, alone or from it on: then nothing of the tier is done or all of it, and in
// the end every commit stands in one report.
func TestEachFailingStepOfAMerge(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	first := shelf(t)
	before, answer := first.tree(), model(honest)
	try := func(d *desk, hook durable.Hook) {
		a, err := agent.Open(d.Context(), agent.Options{Dir: d.dir, At: d.dir, Door: "cli", Getenv: d.getenv,
			Hook: hook, Now: func() time.Time { return d.at }})
		if err == nil {
			_, _ = Run(d.Context(), a, Options{Consolidate: true, Runner: answer})
			_ = a.Close()
		}
	}
	copied := func() *desk {
		d := deskAt(t, filepath.Join(t.TempDir(), "vault"))
		if err := os.CopyFS(d.dir, os.DirFS(first.dir)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	var count durabletest.Counter
	try(copied(), count.Hook)
	stride := 11
	if !testing.Short() {
		stride = 1
	}
	none, all, interrupted := 0, 0, 0
	for n := 0; n < len(count.Steps()); n += stride {
		for _, stays := range []bool{false, true} {
			d := copied()
			hook := durabletest.FailAt(n, syscall.EIO, nil)
			if stays {
				hook, _ = durabletest.FailFrom(n, syscall.EIO, nil)
			}
			try(d, hook)
			d.days(1)
			d.second(nil)
			switch tree := d.tree(); {
			case tree == before:
				none++
			case d.git("ls-tree", "HEAD", "archive/skills/dev/git-rebase/SKILL.md") != "" &&
				d.git("ls-tree", "HEAD", "archive/skills/dev/git-bisect/scripts/run.sh") != "" &&
				d.git("ls-tree", "HEAD", "skills/tools/git-history/git-bisect/scripts/run.sh") != "":
				all++
			default:
				t.Fatalf("step %d: a part is done:\n%s", n, tree)
			}
			reports, _ := filepath.Glob(filepath.Join(d.dir, Folder, "*"))
			told := 0
			for _, at := range reports {
				d.check(filepath.Base(at))
				data, err := os.ReadFile(filepath.Join(at, "run.json"))
				var r Report
				if err = errors.Join(err, json.Unmarshal(data, &r)); err != nil {
					t.Fatal(err)
				}
				if told += len(r.Commits); r.Interrupted {
					interrupted++
				}
			}
			made := len(strings.Fields(d.git("log", "--format=%h", "--grep", "^Stet-Op: consolidate$")))
			if made != told {
				t.Errorf("step %d, stays %v: %d commits, %d are told", n, stays, made, told)
			}
		}
	}
	if none == 0 || all == 0 || interrupted == 0 {
		t.Errorf("nothing %d, all %d, told later %d", none, all, interrupted)
	}
}

// The reasons of a merge that only history knows of are those of its skills, also where a model gave none for one.
func TestReasonsOfAnInterruptedMerge(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	d.hook = func(s durable.Step) error {
		if s.Label == "ref" && s.Op == durable.OpSyncDir {
			return syscall.EIO
		}
		return nil
	}
	a, err := d.app()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), a, Options{Tier: 2, Consolidate: true, Runner: model(func(job fork.Job) fork.Result {
		out := honest(job)
		for i, c := range out.Calls {
			out.Calls[i].Arguments = []byte(strings.Replace(string(c.Arguments),
				`"name":"git-bisect","reason":"a section of git-history"`, `"name":"git-bisect","reason":" "`, 1))
		}
		out.Final = "Done."
		return out
	})})
	if err = errors.Join(err, a.Close()); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	d.hook = nil
	d.days(1)
	d.second(nil)
	var reasons []string
	d.open(func(a *agent.App) error {
		all, err := runs(d.Context(), mustPermit(t, a))
		for _, run := range all {
			r, lerr := Load(d.Context(), a, run)
			err = errors.Join(err, lerr)
			for _, c := range r.Consolidated {
				reasons = append(reasons, c.Name+": "+c.Reason)
			}
		}
		return err
	})
	want := []string{"git-bisect: " + noReason, "git-rebase: a section of git-history"}
	if !slices.Equal(reasons, want) {
		t.Errorf("%q, want %q", reasons, want)
	}
}
