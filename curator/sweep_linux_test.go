package curator

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stet/agent"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

// reports checks every report of the vault, and that each commit of a run stands in one of them, and counts those that
// tell of the archive of a skill.
func (d *desk) reports(name string) (told int) {
	d.Helper()
	commits := 0
	d.open(func(a *agent.App) error {
		all, err := runs(d.Context(), mustPermit(d.T, a))
		for _, run := range all {
			d.check(run)
			r, lerr := Load(d.Context(), a, run)
			commits += len(r.Commits)
			if err = errors.Join(err, lerr); err == nil && strings.Contains(did(r), name+" archived") {
				told++
			}
		}
		return err
	})
	ops := d.git("log", "--format=%(trailers:key=Stet-Op,valueonly,separator=)", "--grep", "^Stet-Run: ")
	if made := len(strings.Fields(ops)) - strings.Count(ops, "report"); made != commits {
		d.Errorf("%d commits of runs, %d are told", made, commits)
	}
	return told
}

// library has the curator's work to do: two skills to archive, one to mark, a memory that expired.
func (d *desk) library() {
	d.Helper()
	d.skill("old", "web", "references/a.md", "scripts/run.sh")
	d.skill("older", "")
	d.write("memories/code.md", "---\nexpires: 2026-06-02\n---\nThe code is 77.\n")
	d.commit("by hand")
	d.days(60)
	d.skill("fading", "")
	d.open(func(a *agent.App) error {
		_, err := a.Skills().Use(d.Context(), "fading", agent.Write{})
		return err
	})
	d.days(35)
}

// Each step that changes the file system fails once as on a full disk: nothing or the whole tier is done, the next run
// does the rest, and every commit stands in one report.
func TestEachFailingStepOfARun(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	model := newDesk(t)
	model.library()
	whole := model.tree()
	var steps []durable.Step
	count := func(s durable.Step) error { steps = append(steps, s); return nil }
	stride := 23
	if !testing.Short() {
		stride = 5
	}
	done, none, failed := 0, 0, 0
	for at := 0; at <= len(steps); at++ {
		if at%stride > 0 && steps[at-1].Label != "ref" { // there a run is committed, or is not
			continue
		}
		d := deskAt(t, filepath.Join(t.TempDir(), "copy"))
		if err := os.CopyFS(d.dir, os.DirFS(model.dir)); err != nil {
			t.Fatal(err)
		}
		for name, value := range model.env {
			d.env[name] = value
		}
		d.at = model.at
		n, mu := 0, sync.Mutex{}
		d.hook = func(s durable.Step) error {
			mu.Lock()
			defer mu.Unlock()
			if n++; at > 0 && n == at {
				return syscall.ENOSPC
			}
			return nil
		}
		if at == 0 {
			d.hook = count
		}
		a, err := d.app()
		if err == nil {
			_, err = Run(t.Context(), a, Options{})
			err = errors.Join(err, a.Close())
		}
		if d.hook = nil; err != nil {
			failed++
		}
		switch now := d.tree(); {
		case now == whole:
			none++
		case strings.Contains(now, "archive/skills/web/old/SKILL.md") &&
			strings.Contains(now, "archive/skills/older/") && strings.Contains(now, "archive/memories/code.md"):
			done++
		default:
			t.Errorf("step %d: a part is done: %v\n%s", at, err, now)
		}
		d.at = d.at.Add(time.Hour)
		d.open(func(a *agent.App) error {
			_, err := Run(t.Context(), a, Options{})
			return err
		})
		if d.reports("old") != 1 || d.reports("older") != 1 {
			t.Errorf("step %d (%v): old stands in %d reports", at, err, d.reports("old"))
		}
	}
	if failed < 5 || none == 0 || done < 2 {
		t.Errorf("%d steps: %d runs failed, %d did nothing, %d all", len(steps), failed, none, done)
	}
}

// A person edits, moves and commits skills twenty times a second while runs are on: every byte is there in the end.
func TestAPersonWorksMeanwhile(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.dirty()
	const skills, edits = 12, 60
	for i := range skills {
		d.write(fmt.Sprintf("skills/s%02d/SKILL.md", i), skillText(fmt.Sprintf("s%02d", i),
			"metadata:\n  stet-created-by: agent\n"))
	}
	d.commit(byAgent)
	d.days(95)
	stop, person := make(chan struct{}), sync.WaitGroup{}
	person.Go(func() {
		defer close(stop)
		for i := range edits {
			time.Sleep(50 * time.Millisecond)
			name := fmt.Sprintf("s%02d", i%skills)
			file := filepath.Join(d.dir, "skills", name, fmt.Sprintf("mine-%d.md", i))
			if i%3 == 1 {
				file = filepath.Join(d.dir, "skills", name, "SKILL.md")
			}
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
			if err != nil {
				file = filepath.Join(d.dir, fmt.Sprintf("mine-%d.md", i)) // the skill went to the archive meanwhile
				f, err = os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
			}
			if err == nil {
				_, err = fmt.Fprintf(f, "A person's line %d.\n", i)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Error(err)
			}
			switch i % 10 {
			case 4: // git says so where stet is at it
				_, _ = vaulttest.Git(d.dir, "add", "-A")
				_, _ = vaulttest.Git(d.dir, "commit", "-qm", "by hand")
			case 8:
				_ = os.Rename(filepath.Join(d.dir, "skills", name), filepath.Join(d.dir, "skills", name+"-moved"))
			}
		}
	})
	for on := true; on; {
		select {
		case <-stop:
			on = false
		default:
		}
		a, err := d.app()
		if err == nil {
			_, err = Run(t.Context(), a, Options{})
			err = errors.Join(err, a.Close())
		}
		if err != nil && !errors.Is(err, vault.ErrBusy) {
			t.Log(err)
		}
		d.at = d.at.Add(time.Minute)
	}
	person.Wait()
	var all bytes.Buffer
	err := filepath.WalkDir(d.dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && e.Type().IsRegular() {
			data, rerr := os.ReadFile(p)
			all.Write(data)
			err = rerr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	past := d.git("log", "-p", "--all", "--format=")
	for i := range edits {
		line := fmt.Sprintf("A person's line %d.\n", i)
		if !strings.Contains(all.String(), line) && !strings.Contains(past, line) {
			t.Errorf("line %d is nowhere", i)
		} else if !strings.Contains(all.String(), line) {
			t.Errorf("line %d is in history alone", i)
		}
	}
}

// No clock and no setting makes the curator fail, or do what cannot be taken back.
func TestBadClocksAndCutoffs(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for name, c := range map[string]struct {
		at          time.Time
		stale, gone string
		want        string
	}{
		"before the epoch": {time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), "30", "90", ""},
		"after 2100":       {time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC), "30", "90", "x archived"},
		"the wrong order":  {now().Add(40 * day), "90", "30", "x archived"},
		"the same":         {now().Add(40 * day), "40", "40", "x archived"},
		"for ever":         {now().Add(40 * day), "999999999", "999999999", ""},
		"nought":           {now().Add(40 * day), "0", "0", "x stale"}, // no setting: the defaults hold
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.skill("x", "")
			d.at = c.at
			d.env["STET_CURATOR_STALE_AFTER_DAYS"], d.env["STET_CURATOR_ARCHIVE_AFTER_DAYS"] = c.stale, c.gone
			before := d.tree()
			a, err := d.app()
			if name == "nought" {
				if err == nil {
					t.Error("a cutoff of no days is taken")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), a, Options{})
			if err = errors.Join(err, a.Close()); err != nil || did(r) != c.want {
				t.Fatalf("%v, %+v", err, r)
			}
			d.check(r.Run)
			if c.want == "" {
				return
			}
			d.open(func(a *agent.App) error {
				_, err := a.History().Undo(t.Context(), 1, false, agent.Write{})
				return err
			})
			if d.tree() != before {
				t.Error("undone, the vault is another one")
			}
		})
	}
}

// What stands in a skill's folder, or where reports go, costs that skill its turn at most.
func TestOddFolders(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.dirty()
	made := "metadata:\n  stet-created-by: agent\n"
	bomb := "a: &a [x, x]\n"
	for c := 'b'; c < 'm'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1)
	}
	d.write("skills/good/SKILL.md", skillText("good", made))
	d.write("skills/bomb/SKILL.md", skillText("bomb", made+bomb))
	d.write("skills/empty/notes.txt", "No skill.\n")
	d.write("skills/two/a/SKILL.md", skillText("two", made))
	d.write("skills/two/b/SKILL.md", skillText("two", made))
	d.write("skills/link/SKILL.md", skillText("link", made))
	d.write("skills/pipe/SKILL.md", skillText("pipe", made))
	d.write("skills/many/SKILL.md", skillText("many", made))
	files := 500
	if !testing.Short() {
		files = 10_000
	}
	for i := range files {
		d.write(fmt.Sprintf("skills/many/assets/%d.txt", i), fmt.Sprint(i))
	}
	d.commit(byAgent)
	d.write("skills/large/SKILL.md", skillText("large", made))
	d.write("skills/large/data.bin", strings.Repeat("x", 50<<20))
	if err := os.Symlink("/etc/hostname", filepath.Join(d.dir, "skills/link/host")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(d.dir, "skills/pipe/fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	d.days(95)
	id := d.at.Format("20060102-150405")
	d.planted = true
	d.write("logs/curator/"+id+"/run.json", "{\"run\":")
	d.write("logs/curator/"+id+"/REPORT.md", "# Half\n")
	var r *Report
	d.open(func(a *agent.App) (err error) {
		r, err = Run(t.Context(), a, Options{})
		return err
	})
	if did(r) != "good archived, many archived, two archived, two archived" || r.Run != id+"-2" {
		t.Errorf("%s in run %s", did(r), r.Run)
	}
	var left []string
	for _, l := range r.Left {
		left = append(left, l.Name)
	}
	if strings.Join(left, " ") != "link pipe" {
		t.Errorf("left %+v", r.Left)
	}
	d.open(func(a *agent.App) error {
		_, err := Load(t.Context(), a, id)
		if !errors.Is(err, vault.ErrDamaged) {
			t.Errorf("half a run.json: %v", err)
		}
		return nil
	})
}

// Where nothing may be written a run says so at once, and changes nothing.
func TestWhereNothingMayBeWritten(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("x", "")
	d.days(95)
	d.git("branch", "side")
	d.write("a.md", "one\n")
	d.commit("one")
	d.git("checkout", "-q", "side")
	d.write("a.md", "two\n")
	d.commit("two")
	if out, err := vaulttest.Git(d.dir, "merge", "main"); err == nil {
		t.Fatal(out)
	}
	head := d.git("rev-parse", "HEAD")
	d.open(func(a *agent.App) error {
		if _, err := Run(t.Context(), a, Options{}); !errors.Is(err, vault.ErrInProgress) {
			t.Errorf("in a merge: %v", err)
		}
		return nil
	})
	d.git("merge", "--abort")
	d.hook = func(durable.Step) error { return syscall.EROFS }
	a, err := d.app()
	if err == nil {
		_, err = Run(t.Context(), a, Options{})
		err = errors.Join(err, a.Close())
	}
	if d.hook = nil; err == nil || d.git("rev-parse", "HEAD") != head {
		t.Errorf("read-only: %v", err)
	}
	if r := d.run(); did(r) != "x archived" || r.Interrupted {
		t.Errorf("then: %s", did(r))
	}
}

// A look waits until nobody has said anything for a while.
func TestALookWaitsForQuiet(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("x", "")
	d.days(95)
	look := func() (r *Report) {
		t.Helper()
		d.open(func(a *agent.App) (err error) {
			r, err = IfDue(d.Context(), a, agent.Write{}, nil)
			return err
		})
		return r
	}
	look() // the first one is deferred
	d.days(2)
	d.open(func(a *agent.App) error {
		_, err := a.Sessions().Observe(t.Context(), session.Turn{Session: "talk", Role: "user",
			Text: []byte("Hello."), Time: d.at.Add(-time.Hour)})
		return err
	})
	if r := look(); r != nil {
		t.Errorf("an hour after somebody spoke: %s", did(r))
	}
	d.at = d.at.Add(90 * time.Minute)
	if r := look(); r == nil || did(r) != "x archived" {
		t.Errorf("two and a half hours after: %+v", r)
	}
}
