package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

// hooked is a turn of a conversation that another front end has begun under the same name.
func hooked(text string, n int) session.Turn {
	return session.Turn{Session: "s", Agent: "robo", Source: session.HookDoor, Ref: session.HookRef, Role: "user",
		Time: moment(n), Text: []byte(text)}
}

func hear(v *vault.Vault, text string, n int) error {
	t, ctx := hooked(text, n), context.Background()
	return errors.Join(session.HookMay(ctx, v, &t), session.TakeUp(ctx, v), session.Append(ctx, v, t))
}

// hookOps record a turn of a hook's beside what an agent has begun, and take up what waits.
func hookOps() []crashOp {
	return []crashOp{
		{name: "aside", run: func(v *vault.Vault) error { return hear(v, "third", 3) }},
		{name: "take-up", run: func(v *vault.Vault) error {
			must(session.Spool(v, hooked("third", 3)))
			return session.TakeUp(context.Background(), v)
		}},
	}
}

// TestKilledWhileAHookMakesRoom kills the process before each step of putting aside what another front end began and of
// taking up what waited. Whether the next hook comes at once or after all was sealed, each turn is kept once.
func TestKilledWhileAHookMakesRoom(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(err)
	for _, op := range hookOps() {
		template := filepath.Join(crashDir(t), "template")
		must(os.MkdirAll(template, 0o755))
		_, err := vault.Init(t.Context(), template, vault.InitOptions{}, crashOptions(op, nil))
		must(err)
		v, err := vault.Open(t.Context(), template, crashOptions(op, nil))
		must(err)
		must(session.NoteContext(t.Context(), v, "robo", "s", moment(0), markdown.FrozenContext{Query: "q"}))
		for n, text := range []string{"first", "second"} {
			turn := hooked(text, n+1)
			turn.Source, turn.Ref = "cli", ""
			must(session.Append(t.Context(), v, turn))
		}
		must(v.Close())
		killed, more := 0, true
		for n := 0; more; n++ {
			at := copyOf(t, template)
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), childOp+"="+op.name, childDir+"="+at, childStep+"="+strconv.Itoa(n))
			out, err := cmd.CombinedOutput()
			if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || exit.Exited()) {
				t.Fatalf("%s, step %d: the child failed by itself: %v\n%s", op.name, n, err, out)
			}
			if more = !strings.Contains(string(out), "ACK\n"); more {
				killed++
			}
			for _, sealed := range []bool{false, true} {
				heardOnce(t, op, copyOf(t, at), fmt.Sprintf("%s, killed before step %d, sealed then: %v", op.name, n, sealed),
					sealed, !more)
			}
			must(os.RemoveAll(at))
		}
		if killed < 5 {
			t.Errorf("%s: %d children were killed", op.name, killed)
		}
	}
}

// heardOnce says a fourth turn, seals all, and looks for what the transcripts hold.
func heardOnce(t *testing.T, op crashOp, dir, where string, sealed, acked bool) {
	t.Helper()
	v, err := vault.Open(t.Context(), dir, crashOptions(op, nil))
	must(err)
	defer v.Close()
	all := func() {
		_, err := session.SealEnded(t.Context(), v, moment(0).Add(time.Hour), session.Options{})
		if err != nil {
			t.Errorf("%s: seal: %v", where, err)
		}
	}
	if sealed {
		all()
	}
	if err := hear(v, "fourth", 4); err != nil {
		t.Errorf("%s: the next hook: %v", where, err)
	}
	all()
	files, err := filepath.Glob(filepath.Join(dir, "sessions/*/*/*.md"))
	must(err)
	var said []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(err)
		told := markdown.ParseTranscript(data)
		if told.Context == nil || told.Context.Query != "q" {
			t.Errorf("%s: %s does not say what snapshot it was given", where, file)
		}
		for _, m := range told.Messages {
			said = append(said, string(m.Content))
		}
	}
	slices.Sort(said)
	got := strings.Join(said, " ")
	if got != "first fourth second third" && (acked || got != "first fourth second") {
		t.Errorf("%s: %d transcripts hold %q", where, len(files), got)
	}
	for _, problem := range vaulttest.Problems(dir) {
		t.Errorf("%s: %s", where, problem)
	}
}

// TestSpooledBesideAPrivateSession takes up what was said before a session was made private, and keeps it as private;
// of what nobody could tell whether it was said in a private one nothing stays.
func TestSpooledBesideAPrivateSession(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	private := hooked("first", 1)
	private.Private = true
	before, unknown := hooked("before", 2), hooked("unknown", 3)
	if err := session.HookMay(t.Context(), v, &before); err != nil || before.ID == "" {
		t.Fatal(before.ID, err)
	}
	err := errors.Join(session.Append(t.Context(), v, private), session.Spool(v, before), session.Spool(v, unknown),
		session.TakeUp(t.Context(), v))
	n, qerr := v.State().Queued("turns")
	lines, lerr := v.State().Session(session.Key("robo", "s"))
	if err = errors.Join(err, qerr, lerr); err != nil || n != 0 || len(lines) != 2 {
		t.Fatalf("%d turns wait, and the session has %q: %v", n, lines, err)
	}
	if said := string(lines[1]); !strings.Contains(said, `"before"`) || !strings.Contains(said, `"private":true`) {
		t.Errorf("taken up is %s", said)
	}
}

// TestASpooledTurnStandsBehindWhatWasSealed keeps what a person said again after the session was sealed, although
// nobody could tell, when they said it, which session it was of.
func TestASpooledTurnStandsBehindWhatWasSealed(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	for n, text := range []string{"yes", "two"} {
		turn := hooked(text, n+1)
		turn.Ref = "u" + strconv.Itoa(n) // of the client's own record
		must(session.Append(t.Context(), v, turn))
	}
	seal := func() {
		_, err := session.SealEnded(t.Context(), v, moment(0).Add(time.Hour), session.Options{})
		must(err)
	}
	seal()
	must(session.Spool(v, hooked("yes", 5))) // within the time that a hook is late
	must(session.TakeUp(t.Context(), v))
	seal()
	c, err := session.Hear(t.Context(), v, "s")
	must(err)
	if len(c.Messages) != 3 || string(c.Messages[2].Content) != "yes" {
		t.Errorf("the transcript holds %d messages: %v", len(c.Messages), c.Messages)
	}
}

// TestNotesStayOnceWhereNothingIsPutAside: another hook was faster, and the snapshot is noted in its session already.
func TestNotesStayOnceWhereNothingIsPutAside(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	key := session.Key("robo", "s")
	must(session.NoteContext(t.Context(), v, "robo", "s", moment(0), markdown.FrozenContext{Query: "q"}))
	line := `{"v":1,"session":%q,"agent":"robo","source":%q,"role":"user","ref":%q,"time":%q,"text":"said"}`
	for _, of := range [][]any{
		{"s (cli)", "cli", "", moment(1).Format(time.RFC3339)},
		{"s", session.HookDoor, session.HookRef, moment(2).Format(time.RFC3339)},
	} {
		must(v.State().AppendSession(t.Context(), key, fmt.Appendf(nil, line, of...)))
	}
	must(hear(v, "third", 3))
	lines, err := v.State().Session(key)
	must(err)
	if all := string(bytes.Join(lines, []byte{'\n'})); strings.Count(all, `"context"`) != 1 {
		t.Errorf("the session holds\n%s", all)
	}
}

// TestTakeUpReadsASessionOnce: twice as many turns that wait cost twice as much, not four times.
func TestTakeUpReadsASessionOnce(t *testing.T) { // alone, as it counts what is allocated
	cost := func(turns int) uint64 {
		v := vaulttest.New(t).Open()
		for n := range turns {
			must(session.Spool(v, hooked(strings.Repeat("word ", 50)+strconv.Itoa(n), n)))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must(session.TakeUp(t.Context(), v))
		runtime.ReadMemStats(&after)
		lines, err := v.State().Session(session.Key("robo", "s"))
		if must(err); len(lines) != turns {
			t.Errorf("%d of %d turns were taken up", len(lines), turns)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	cost(1)
	if few, many := cost(50), cost(200); many > 6*few {
		t.Errorf("200 turns allocate %d bytes, 50 turns %d", many, few)
	}
}
