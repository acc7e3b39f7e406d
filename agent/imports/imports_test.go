package imports_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/agent/imports"
	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

// source is the source of that name, which there must be.
func source(t testing.TB, name string) imports.Source {
	t.Helper()
	s, ok := imports.Find(name)
	if !ok {
		t.Fatalf("no source %q", name)
	}
	return s
}

// place writes a file below a new folder and returns its path.
func place(t testing.TB, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, v *vault.Vault, name, at string) *imports.Report {
	t.Helper()
	r, err := imports.Run(context.Background(), v, source(t, name), []string{at}, imports.Options{})
	if err != nil {
		t.Fatalf("import %s: %v", name, err)
	}
	return r
}

// tree is every file below sessions and memories with its bytes.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, top := range []string{"sessions", "memories"} {
		err := filepath.WalkDir(filepath.Join(dir, top), func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if errors.Is(err, os.ErrNotExist) {
					return nil
				}
				return err
			}
			data, err := os.ReadFile(p)
			rel, _ := filepath.Rel(dir, p)
			out[filepath.ToSlash(rel)] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func sameTree(t testing.TB, got, want map[string]string) {
	t.Helper()
	for p, text := range want {
		if have, ok := got[p]; !ok || have != text {
			t.Errorf("%s differs:\n%s\nwant:\n%s", p, have, text)
		}
	}
	for p := range got {
		if _, ok := want[p]; !ok {
			t.Errorf("%s is there and should not be", p)
		}
	}
}

// chat is a source of n conversations with m messages each.
func chat(n, m int) string {
	var b strings.Builder
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for s := range n {
		for i := range m {
			role := []string{"user", "assistant"}[i%2]
			fmt.Fprintf(&b, `{"session":"s%d","id":"s%d:%d","role":%q,"date":%q,"text":"In talk %d this is number %d: the ferry leaves at %d."}`+"\n",
				s, s, i, role, start.AddDate(0, 0, s).Add(time.Duration(i)*time.Minute).Format(time.RFC3339), s, i, i)
		}
	}
	return b.String()
}

// A transcript goes on wherever a person put it, also under a name whose last
// word is as long as the end of an id.
func TestARenamedTranscriptGrows(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	first := run(t, v, "jsonl", place(t, "talk.jsonl", chat(3, 2)))
	names := []string{"sessions/gate.md", "sessions/2026/our-garden.md", "sessions/2026/03/2026-03-04-our-garden.md"}
	for i, w := range first.Written {
		f.Write(names[i], f.Read(string(w.Path)))
		if err := os.Remove(filepath.Join(f.Dir, string(w.Path))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	r := run(t, v, "jsonl", place(t, "talk.jsonl", chat(4, 4)))
	if r.Grown != 3 || r.Added != 1 {
		t.Errorf("%+v", r)
	}
	for i, name := range names {
		if got := markdown.ParseTranscript([]byte(f.Read(name))); len(got.Messages) != 4 || got.ID != first.Written[i].ID {
			t.Errorf("%s has %d messages", name, len(got.Messages))
		}
	}
}

func TestSecondImportWritesNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	at := place(t, "talk.jsonl", chat(5, 4))
	if r := run(t, v, "jsonl", at); r.Added != 5 || r.Messages != 20 || len(r.Commits) != 1 {
		t.Fatalf("first: %+v", r)
	}
	before, want := head(t, v), tree(t, f.Dir)
	if r := run(t, v, "jsonl", at); r.Unchanged != 5 || len(r.Written) != 0 || len(r.Commits) != 0 {
		t.Errorf("second: %+v", r)
	}
	if now := head(t, v); now != before {
		t.Errorf("HEAD moved from %s to %s", before, now)
	}
	sameTree(t, tree(t, f.Dir), want)
}

func head(t testing.TB, v *vault.Vault) vault.Revision {
	t.Helper()
	h, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A source imported while it grows gives the files that it gives at once.
func TestGrownIsWhatOneImportWouldHaveMade(t *testing.T) {
	t.Parallel()
	whole := chat(2, 6)
	lines := strings.SplitAfter(whole, "\n")
	want := vaulttest.New(t)
	run(t, want.Open(), "jsonl", place(t, "talk.jsonl", whole))
	got := vaulttest.New(t)
	v := got.Open()
	for n := 1; n < len(lines); n++ {
		run(t, v, "jsonl", place(t, "talk.jsonl", strings.Join(lines[:n], "")+lines[n][:len(lines[n])/2]))
	}
	sameTree(t, tree(t, got.Dir), tree(t, want.Dir))
}

// An answer that is imported line by line while it is written becomes one.
func TestAnswerThatGrowsStaysOneMessage(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"user","uuid":"u1","timestamp":"2026-03-02T09:00:00Z","message":{"role":"user","content":"How high is the tide?"}}`,
		`{"type":"assistant","uuid":"a1","parentUuid":"u1","timestamp":"2026-03-02T09:01:00Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"I look."}]}}`,
		`{"type":"assistant","uuid":"a2","parentUuid":"a1","timestamp":"2026-03-02T09:01:01Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{"at":1}}]}}`,
		`{"type":"assistant","uuid":"a3","parentUuid":"a2","timestamp":"2026-03-02T09:01:01Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"look","input":{"at":2}}]}}`,
		`{"type":"user","uuid":"r1","parentUuid":"a2","timestamp":"2026-03-02T09:01:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"4 m"}]}}`,
		`{"type":"user","uuid":"r2","parentUuid":"a3","timestamp":"2026-03-02T09:01:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"5 m"}]}}`,
		`{"type":"assistant","uuid":"a4","parentUuid":"r2","timestamp":"2026-03-02T09:01:09Z","message":{"id":"n","role":"assistant","content":"4 to 5 metres."}}`,
	}
	f := vaulttest.New(t)
	v := f.Open()
	for n := 1; n <= len(lines); n++ {
		run(t, v, "claude-code", place(t, "s1.jsonl", strings.Join(lines[:n], "\n")+"\n"))
	}
	files := tree(t, f.Dir)
	if len(files) != 1 {
		t.Fatalf("%d files, want one: %v", len(files), files)
	}
	for _, text := range files {
		var got []string
		for _, m := range markdown.ParseTranscript([]byte(text)).Messages {
			got = append(got, fmt.Sprintf("%s %s %d", m.Role, m.Content, len(m.Calls)))
		}
		want := []string{"user How high is the tide? 0", "assistant I look. 2", "tool 4 m 0", "tool 5 m 0", "assistant 4 to 5 metres. 0"}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A conversation that no file can hold becomes several, each after the other,
// and grows like one.
func TestLongConversationIsSeveralFiles(t *testing.T) {
	t.Parallel()
	line := func(i int) string {
		return fmt.Sprintf(`{"session":"s","id":"%d","role":"user","date":"2026-03-02T09:00:00Z","text":%q}`+"\n", i, strings.Repeat("tide ", 12000))
	}
	var b strings.Builder
	for i := range 100 {
		b.WriteString(line(i))
	}
	f := vaulttest.New(t)
	v := f.Open()
	if r := run(t, v, "jsonl", place(t, "a.jsonl", b.String())); r.Added != 2 {
		t.Fatalf("%d files of %d messages, want 2", r.Added, r.Messages)
	}
	b.WriteString(line(100))
	if r := run(t, v, "jsonl", place(t, "a.jsonl", b.String())); r.Added != 0 || r.Grown != 1 || r.Unchanged != 1 || r.Messages != 1 {
		t.Errorf("grown: %+v", r)
	}
	if testing.Short() {
		return
	}
	if r := run(t, v, "jsonl", place(t, "a.jsonl", line(0)[:40]+strings.Repeat("x", 70<<20)+"\n"+line(1))); r.Malformed != 1 || r.Read != 1 {
		t.Errorf("a line that is too long: %d malformed, %d read", r.Malformed, r.Read)
	}
}

func TestSecretsOfAppendedMessagesAreTakenOut(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	first := `{"session":"s","role":"user","text":"Where is the key? See /home/ada/src/api/token.go."}` + "\n"
	run(t, v, "jsonl", place(t, "a.jsonl", first))
	secret := "ghp" + "_" + "0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQkPlOmN"
	grown := first + `{"session":"s","role":"assistant","text":"It is ` + secret + `.","calls":[{"name":"x","arguments":"{\"t\":\"` + secret + `\"}"}]}` + "\n"
	if r := run(t, v, "jsonl", place(t, "a.jsonl", grown)); r.Grown != 1 || r.Redacted != 2 {
		t.Errorf("%+v", r)
	}
	for p, text := range tree(t, f.Dir) {
		if strings.Contains(text, secret) || !strings.Contains(text, "/home/ada/src/api/token.go") {
			t.Errorf("%s holds %s", p, text)
		}
	}
	if r := run(t, v, "jsonl", place(t, "a.jsonl", grown)); r.Unchanged != 1 {
		t.Errorf("again: %+v", r)
	}
}

// Ended by the person in the middle and started again, a run makes what one run
// makes; so does one that ended at any commit.
func TestInterruptedImportGoesOn(t *testing.T) {
	t.Parallel()
	at := place(t, "a.jsonl", chat(12, 2))
	want := vaulttest.New(t)
	clean := run(t, want.Open(), "jsonl", at)
	got := vaulttest.New(t)
	v := got.Open()
	ctx, cancel := context.WithCancel(context.Background())
	_, err := imports.Run(ctx, v, source(t, "jsonl"), []string{at}, imports.Options{
		CommitBytes: 1500, Committed: func(*vault.Result) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	r := run(t, v, "jsonl", at)
	if r.Unchanged == 0 || r.Added == 0 || r.Unchanged+r.Added != clean.Added {
		t.Errorf("resumed: %d there, %d new of %d", r.Unchanged, r.Added, clean.Added)
	}
	sameTree(t, tree(t, got.Dir), tree(t, want.Dir))
}

// Ended in the middle of its reading, a run commits what it has read, once.
func TestAnEndedImportCommitsWhatItHasRead(t *testing.T) {
	t.Parallel()
	at := place(t, "a.jsonl", chat(12, 2))
	want := vaulttest.New(t)
	run(t, want.Open(), "jsonl", at)
	got := vaulttest.New(t)
	v := got.Open()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := imports.Run(ctx, v, source(t, "jsonl"), []string{at}, imports.Options{Progress: func(p imports.Progress) {
		if p.Sessions == 7 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || r.Added < 6 || r.Added > 8 || len(r.Commits) != 1 {
		t.Fatalf("%v: %d new, %d commits", err, r.Added, len(r.Commits))
	}
	if rest := run(t, v, "jsonl", at); rest.Unchanged != r.Added || rest.Added != 12-r.Added || len(rest.Commits) != 1 {
		t.Errorf("then %+v", rest)
	}
	sameTree(t, tree(t, got.Dir), tree(t, want.Dir))
}

// A large run makes one commit, whose parts do not have to be in memory together.
func TestARunIsOneCommit(t *testing.T) {
	t.Parallel()
	at := place(t, "a.jsonl", chat(2300, 1))
	f := vaulttest.New(t)
	r, err := imports.Run(t.Context(), f.Open(), source(t, "jsonl"), []string{at}, imports.Options{})
	if err != nil || r.Added != 2300 || len(r.Commits) != 1 {
		t.Errorf("%v: %d new, %d commits", err, r.Added, len(r.Commits))
	}
}

// A run that brings more is several, so that no writer waits for all of it, and one step to undo.
func TestALargeRunIsOneStep(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	r, err := imports.Run(t.Context(), v, source(t, "jsonl"), []string{place(t, "a.jsonl", chat(40, 3))},
		imports.Options{CommitBytes: 9000})
	if err != nil || r.Added != 40 || len(r.Commits) < 2 {
		t.Errorf("%v: %d new, %d commits", err, r.Added, len(r.Commits))
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Error(err)
	}
	for p := range tree(t, f.Dir) {
		if strings.HasPrefix(p, "sessions/") {
			t.Errorf("%s is there still", p)
		}
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("skip: no mkfifo")
	}
	dir := filepath.Dir(place(t, "a.jsonl", chat(1, 1)))
	if out, err := exec.Command(mkfifo, filepath.Join(dir, "b.jsonl")).CombinedOutput(); err != nil {
		t.Skipf("skip: %s", out)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "c.jsonl")); err != nil {
		t.Fatal(err)
	}
	if r := run(t, vaulttest.New(t).Open(), "jsonl", dir); r.Files != 1 || r.Added != 1 {
		t.Errorf("%+v", r)
	}
}

// TestAPromptTakenBackStandsOnce grows a record in which prompts are taken back, one of them behind another that is
// taken back later: each stands in one conversation, however many of them there were before.
func TestAPromptTakenBackStandsOnce(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	parents := []string{"", "u1", "u2", "u2", "u1", "u5", ""} // u4 in place of u3, u5 in place of u2, u7 in that of u1
	var lines string
	for i, parent := range parents {
		lines += fmt.Sprintf(`{"type":"user","uuid":"u%d","parentUuid":%q,"timestamp":"2026-11-20T10:00:%02dZ",`+
			`"message":{"role":"user","content":"prompt %d."}}`+"\n", i+1, parent, i, i+1)
		run(t, v, "claude-code", place(t, "talk.jsonl", lines))
		all := fmt.Sprint(tree(t, f.Dir))
		for n := range i + 1 {
			if got := strings.Count(all, fmt.Sprintf("\nprompt %d.\n", n+1)); got != 1 {
				t.Fatalf("after %d lines, prompt %d stands %d times", i+1, n+1, got)
			}
		}
	}
}

// A process that dies behind the commit point of a person's import takes no proof with it of who recorded the turns.
func TestTurnsOfAnImportThatDiedAreProven(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	o, dead := f.Options(), false
	o.Hook = func(step durable.Step) error {
		if dead {
			return syscall.EIO
		}
		dead = step.Label == "ref" && step.Op == durable.OpRename
		return nil
	}
	v, err := vault.Open(t.Context(), f.Dir, o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = imports.Run(t.Context(), v, source(t, "jsonl"), []string{place(t, "a.jsonl", chat(1, 2))}, imports.Options{})
	if !dead {
		t.Fatalf("the import came to no commit: %v", err)
	}
	_ = v.Close()
	v = f.Open()
	files, err := v.Files(t.Context(), vault.WalkOptions{Under: "sessions"})
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	talk, err := session.Hear(t.Context(), v, string(files[0].Path))
	if err != nil {
		t.Fatal(err)
	}
	if err := talk.Proven(t.Context(), 1); err != nil {
		t.Error(err)
	}
}
