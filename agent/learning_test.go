package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

// A talker says turns of one conversation, each a second after the last.
type talker struct {
	*testing.T
	f     *vaulttest.Fixture
	a     *App
	clock *time.Time
	n     int
}

const talkID = "chat-1"

func newTalker(t *testing.T) *talker {
	t.Helper()
	f := vaulttest.New(t)
	f.LeaveDirty()
	now := time.Date(2026, 1, 9, 14, 0, 0, 0, time.UTC)
	k := &talker{T: t, f: f, clock: &now}
	k.open()
	t.Cleanup(func() { _ = k.a.Close() })
	return k
}

func (k *talker) open() {
	k.Helper()
	a, err := Open(k.Context(), Options{At: k.f.Dir, Door: "cli", PID: 7, Now: func() time.Time { return *k.clock },
		Getenv: vaulttest.Env, Notify: func(n Notice) {
			if n.Warning {
				k.Error(n.Text)
			}
		}})
	if err != nil {
		k.Fatal(err)
	}
	k.a = a
}

// turn is one turn of the user and its answer; it reports whether a review became due.
func (k *talker) turn() (queued bool) {
	k.Helper()
	k.n++
	for _, role := range []string{"user", "assistant"} {
		*k.clock = k.clock.Add(time.Second)
		done, err := k.a.Sessions().Observe(k.Context(), session.Turn{Session: talkID, Agent: "scribe", Role: role,
			Text: fmt.Appendf(nil, "%s says number %d.", role, k.n)})
		if err != nil {
			k.Fatal(err)
		}
		if done.Queued && role == "user" {
			k.Errorf("turn %d: due before the reply", k.n)
		}
		queued = queued || done.Queued
	}
	return queued
}

func (k *talker) end() {
	k.Helper()
	*k.clock = k.clock.Add(time.Second)
	if _, err := k.a.Sessions().End(k.Context(), EndOptions{All: true, Reason: "ended"}); err != nil {
		k.Fatal(err)
	}
}

func (k *talker) write() {
	k.Helper()
	*k.clock = k.clock.Add(time.Second)
	_, err := k.a.Memories().Remember(k.Context(), RememberOptions{Write: Write{Agent: "scribe", Session: talkID},
		Plain: true, Notes: []vault.Note{{Text: fmt.Sprintf("Number %d was said.", k.n)}}})
	if err != nil {
		k.Fatal(err)
	}
}

func (k *talker) loseMarks() {
	k.Helper()
	files, err := filepath.Glob(filepath.Join(k.a.v.StateDir(), "seen", "marks-*"))
	if err != nil || len(files) == 0 {
		k.Fatalf("no marks: %v", err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			k.Fatal(err)
		}
	}
}

func (k *talker) marks() session.Marks {
	k.Helper()
	m, _, err := session.MarksOf(k.a.v, session.Key("scribe", talkID))
	if err != nil {
		k.Fatal(err)
	}
	return m
}

// The tenth turn fires, whatever happens to the session, the process and the marks before it.
func TestTheTenthTurnFiresOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   int // after this turn
		do   func(*talker)
		want []int
	}{
		"nothing":               {0, nil, []int{10, 20}},
		"a write":               {7, (*talker).write, []int{17, 27}},
		"another process":       {7, (*talker).open, []int{10, 20}},
		"sealed":                {7, (*talker).end, []int{10, 20}},
		"marks lost":            {7, (*talker).loseMarks, []int{10, 20}},
		"marks lost at 9":       {9, (*talker).loseMarks, []int{10, 20}},
		"marks lost at 14":      {14, (*talker).loseMarks, []int{10, 20}},
		"sealed, and lost":      {7, func(k *talker) { k.end(); k.loseMarks() }, []int{10, 20}},
		"lost, and sealed":      {7, func(k *talker) { k.loseMarks(); k.end() }, []int{10, 20}},
		"written, and lost":     {7, func(k *talker) { k.write(); k.loseMarks() }, []int{17, 27}},
		"written, sealed, lost": {7, func(k *talker) { k.write(); k.end(); k.loseMarks() }, []int{17, 27}},
		"sealed, then written":  {7, func(k *talker) { k.end(); k.write() }, []int{17, 27}},
		"marks of another kind": {7, func(k *talker) {
			k.loseMarks()
			name := filepath.Join(k.a.v.StateDir(), "seen", "marks-"+session.Key("scribe", talkID))
			if err := os.WriteFile(name, []byte(`{"at": "seven"`), 0o600); err != nil {
				k.Fatal(err)
			}
		}, []int{10, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTalker(t)
			var fired []int
			for k.n < 29 {
				if k.turn() {
					fired = append(fired, k.n)
				}
				if k.n == c.at && c.do != nil {
					c.do(k)
				}
			}
			if !slices.Equal(fired, c.want) {
				t.Errorf("due after turns %v, want %v; the marks are %+v", fired, c.want, k.marks())
			}
			k.end()
			if m := k.marks(); m.Sealed != 58 || m.Memory.Asked != 58 || !m.Whole || !m.Waits() {
				t.Errorf("at the end the marks are %+v", m)
			}
			if jobs, err := k.a.v.State().Jobs(session.Reviews); err != nil || len(jobs) != 1 {
				t.Errorf("queued are %q, %v; want one job of the session", jobs, err)
			}
		})
	}
}

// Whoever speaks at the same time, and in however many processes, each review becomes due once.
func TestTwoObserversAskOnce(t *testing.T) {
	t.Parallel()
	k := newTalker(t)
	fired := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 4 {
		a, err := Open(t.Context(), Options{At: k.f.Dir, Now: k.a.o.Now, Getenv: vaulttest.Env})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for i := range 25 {
				done, err := a.Sessions().Observe(context.Background(), session.Turn{Session: talkID, Agent: "scribe",
					Role: "user", Text: fmt.Appendf(nil, "%d says number %d.", w, i)})
				if err != nil {
					t.Error(err)
				} else if done.Queued {
					mu.Lock()
					fired++
					mu.Unlock()
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// Asked before message 11, 21 … 91; two that become due between two counts are one.
	m := k.marks()
	if fired == 0 || fired > 9 || m.Asks != fired || m.Memory.Asked < 80 {
		t.Errorf("%d reviews of 100 turns became due, the marks are %+v", fired, m)
	}
}

func TestAPrivateConversationIsNotQueued(t *testing.T) {
	t.Parallel()
	k := newTalker(t)
	for i := range 24 {
		*k.clock = k.clock.Add(time.Second)
		done, err := k.a.Sessions().Observe(t.Context(), session.Turn{Session: talkID, Agent: "scribe", Private: true,
			Role: []string{"user", "assistant"}[i%2], Text: []byte(strings.Repeat("secret ", i+1))})
		if err != nil || done.Queued {
			t.Fatalf("message %d: %+v, %v", i+1, done, err)
		}
	}
	k.end()
	if jobs, err := k.a.v.State().Jobs(session.Reviews); err != nil || len(jobs) != 0 || k.marks().Open() {
		t.Errorf("queued are %q, %v; the marks are %+v", jobs, err, k.marks())
	}
}
