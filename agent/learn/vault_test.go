package learn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/agent/tools"
	"stet/vault/vaulttest"
)

// With the tools as they are, each lesson is a commit of its own with its actor and session.
func TestTheToolsOfAVaultStoreWhatIsLearnt(t *testing.T) {
	t.Parallel()
	dir := vaulttest.New(t).Dir
	open := agent.Options{At: dir, Dir: dir, Door: "test", Now: time.Now, Getenv: func(string) string { return "" },
		Agent: "codex"}
	app, err := agent.Open(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(); err != nil {
			t.Error(err)
		}
	})
	review := func(job learn.Job, model func(learn.Job) llm.Client) learn.Outcome {
		t.Helper()
		box := tools.New(app, tools.Options{Actor: job.Actor, Session: id, Review: true})
		out, err := learn.Review(t.Context(), model(job), box, job)
		if err != nil || len(out.Refused) > 0 {
			t.Errorf("%v: %+v", err, out)
		}
		return out
	}
	grounded := func(job learn.Job) llm.Client { return clientOf(t, llmtest.Serve(t, reviewer(job).Answer(t))) }
	first, skill := usual(), deploying()
	if out := review(first, grounded); len(out.Saved) != 4 {
		t.Errorf("saved %q", out.Saved)
	}
	if out := review(skill, grounded); out.Skill != "deploy-the-site" {
		t.Errorf("%+v", out)
	}
	user := read(t, dir, "USER.md")
	for _, entry := range []string{"[instruction] I hate when you start every reply with 'Got it'",
		"[fact] My wife's birthday is March 15th", "[preference] I prefer tea to coffee",
		"[routine] Please book a ride to the airport at 6 am"} {
		if !strings.Contains(user, entry) {
			t.Errorf("USER.md lacks %q:\n%s", entry, user)
		}
	}
	commits, err := app.History().Log(t.Context(), agent.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	actors, sources := map[string]int{}, 0
	for _, c := range commits.Commits {
		if c.Trailers["Stet-Session"] == id {
			actors[c.Trailers["Stet-Actor"]]++
		}
		if s := c.Trailers["Stet-Source"]; s == "session:"+id+"#7" || s == "session:"+id+"#9" {
			sources++
		}
	}
	if actors["nudge"] != 4 || actors["skill-nudge"] != 1 || sources != 4 {
		t.Errorf("commits by %v, %d of them with their source", actors, sources)
	}
	again := review(first, grounded)
	if len(again.Saved) > 0 || !again.Nothing || read(t, dir, "USER.md") != user {
		t.Errorf("once more: %+v", again)
	}
	order := func(learn.Job) llm.Client {
		return clientOf(t, llmtest.Serve(t, says(calls("memory_forget", `{"ref":"USER.md"}`,
			"memory_edit", `{"ref":"USER.md","text":""}`), llm.Reply{Text: "Nothing to save."})))
	}
	first.Mode = learn.ModeFull
	box := tools.New(app, tools.Options{Actor: "nudge", Session: id, Review: true})
	out, err := learn.Review(t.Context(), order(first), box, first)
	if err != nil || len(out.Refused) != 2 || read(t, dir, "USER.md") != user {
		t.Errorf("an order: %v: %+v", err, out)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
