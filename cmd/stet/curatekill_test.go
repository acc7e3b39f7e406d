package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/curator"
	"stet/vault/vaulttest"
)

// A run of the curator that is killed at any step has done nothing or the whole of it, and in the end every commit of
// it stands in one report.
func TestKillSweepOfARun(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: needs git")
	}
	files := map[string]string{"old/SKILL.md": "", "old/scripts/run.sh": "echo\n", "web/older/SKILL.md": "",
		"fading/SKILL.md": ""}
	v := victim{args: []string{"curate"}}
	home, model := v.model(t)
	for p, text := range files {
		if text == "" {
			text = "---\nname: " + filepath.Base(filepath.Dir(p)) +
				"\ndescription: d\nmetadata:\n  stet-created-by: agent\n---\nText.\n"
		}
		file := filepath.Join(model, "skills", p)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"add", "skills"},
		{"commit", "-qm", "skill: many\n\nStet-Op: skill\nStet-Actor: agent\n"}} {
		cmd := vaulttest.Command(model, args...)
		cmd.Env = append(cmd.Env, "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	stride := 7
	if !testing.Short() {
		stride = 3
	}
	archived := func(dir string) (n int) {
		for _, p := range []string{"old", "web/older", "fading"} {
			if _, err := os.Stat(filepath.Join(dir, "archive/skills", p, "SKILL.md")); err == nil {
				n++
			}
		}
		return n
	}
	killed, none, all, interrupted := 0, 0, 0, 0
	for step := 1; ; step += stride {
		dir := v.copy(t, home, model, step)
		out, code := child(t, home, dir, fmt.Sprint("STET_TEST_CRASH=", step), "curate")
		if code == 0 {
			break
		}
		if code != -1 {
			t.Fatalf("step %d: exit %d\n%s", step, code, out)
		}
		killed++
		// A writer repairs.
		if out, code := here(t.Context(), environ(home), dir, "", "new", "reference", "A title"); code != 0 {
			t.Fatalf("step %d: exit %d\n%s", step, code, out)
		}
		switch archived(dir) {
		case 0:
			none++
		case 3:
			all++
		default:
			t.Fatalf("step %d: a part of the run is done", step)
		}
		if out, code := here(t.Context(), environ(home), dir, "", "curate"); code != 0 || archived(dir) != 3 {
			t.Fatalf("step %d, the next run: exit %d\n%s", step, code, out)
		}
		if err := checkVault(dir); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		interrupted += checkReports(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if killed < 10 || none == 0 || all == 0 || interrupted == 0 {
		t.Errorf("killed %d times, %d times nothing and %d times all was done, %d times that was reported later",
			killed, none, all, interrupted)
	}
}

// A run that has a model merge skills and is killed at any step has merged nothing or all, and in the end every commit
// stands in one report. What is killed at the step may be the process of the model as well.
func TestKillSweepOfAMerge(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: needs git")
	}
	v := victim{}
	for _, what := range []string{"bisect", "rebase"} {
		v.prepare = append(v.prepare, []string{"skill", "new", "git-" + what, "--as", "robo",
			"--description", "Use this to " + what + ".",
			"--text", "Use this to " + what + " before review."})
	}
	home, model := v.model(t)
	server := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply { return curating(t, r) })
	env := "TEST_MODEL_KEY=" + llmtest.Key + " STET_CURATOR_NET_LOSS=1"
	for key, value := range map[string]string{"PROVIDER": "custom", "MODEL": "test-model", "BASE_URL": server.URL(),
		"API_MODE": "chat_completions", "KEY_ENV": "TEST_MODEL_KEY", "PRICE": "1/2"} {
		env += " STET_MODELS_CURATOR_" + key + "=" + value
	}
	stride := 13
	if !testing.Short() {
		stride = 3
	}
	killed, none, all, interrupted := 0, 0, 0, 0
	for step := 1; ; step += stride {
		dir := v.copy(t, home, model, step)
		out, code := child(t, home, dir, fmt.Sprint(env, " STET_TEST_CRASH=", step), "curate", "--consolidate")
		if code == 0 {
			break
		}
		if code == -1 {
			killed++
		} else if !strings.Contains(out, "signal: killed") {
			t.Fatalf("step %d: exit %d\n%s", step, code, out)
		}
		if out, code := here(t.Context(), environ(home), dir, "", "curate"); code != 0 { // and repairs
			t.Fatalf("step %d, the next run: exit %d\n%s", step, code, out)
		}
		merged := 0
		for _, p := range []string{"archive/skills/git-bisect", "archive/skills/git-rebase", "skills/git-tasks"} {
			if _, err := os.Stat(filepath.Join(dir, p, "SKILL.md")); err == nil {
				merged++
			}
		}
		switch merged {
		case 0:
			none++
		case 3:
			all++
		default:
			t.Fatalf("step %d: a part of the merge is done", step)
		}
		if err := checkVault(dir); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		interrupted += checkReports(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if killed < 5 || none == 0 || all == 0 || interrupted == 0 {
		t.Errorf("killed %d times, %d times nothing and %d times all was done, %d times that was reported later",
			killed, none, all, interrupted)
	}
}

// checkReports holds all reports of a vault to its history, and counts those of interrupted runs.
func checkReports(t *testing.T, dir string) (interrupted int) {
	t.Helper()
	out, err := vaulttest.Git(dir, "log", "--format=%H", "--grep", "^Stet-Op: archive$", "--grep", "^Stet-Op: curate$",
		"--grep", "^Stet-Op: consolidate$")
	if err != nil {
		t.Fatal(out)
	}
	var told []string
	files, _ := filepath.Glob(filepath.Join(dir, curator.Folder, "*", "run.json"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r curator.Report
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(filepath.Dir(file), "REPORT.md"))
		if err != nil || r.Interrupted != strings.Contains(string(page), "interrupted") {
			t.Errorf("%s: %v", file, err)
		}
		for _, c := range r.Commits {
			told = append(told, string(c.Rev))
			if !strings.Contains(string(page), string(c.Rev)) {
				t.Errorf("%s does not name %s", file, c.Rev)
			}
		}
		if r.Interrupted {
			interrupted++
		}
	}
	did := strings.Fields(out)
	slices.Sort(did)
	if slices.Sort(told); !slices.Equal(did, told) {
		t.Errorf("commits %v, and the reports tell of %v", did, told)
	}
	return interrupted
}
