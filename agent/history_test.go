package agent_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// The policy holds below every front end: an agent neither decides proposals nor marks commits as
// reviewed, and the user does.
func TestOnlyTheUserReviews(t *testing.T) {
	t.Parallel()
	ctx, scribe := t.Context(), agent.Write{Agent: "scribe"}
	a, err := agent.Open(ctx, agent.Options{
		At: vaulttest.New(t).Dir, Door: "test", Now: time.Now, Getenv: func(string) string { return "" },
		Flags: settings.Layer{}.With(settings.WriteApproval, "stage", "test"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	remember := func(text string) *agent.Written {
		t.Helper()
		res, err := a.Memories().Remember(ctx, agent.RememberOptions{Write: scribe, Notes: []vault.Note{{Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	id := remember("The gate code is 4711.").Proposed[0].ID
	remember("The roof leaks in May.")
	h := a.History()
	all, err := h.Decide(ctx, agent.DecideOptions{Write: scribe, AcceptAll: true})
	if !errors.Is(err, vault.ErrRefused) {
		t.Errorf("an agent decided: %+v, %v", all, err)
	}
	waiting, err := h.Proposals(ctx)
	if err != nil || len(waiting.Proposed) != 2 {
		t.Fatalf("%+v, %v; want two proposals", waiting, err)
	}
	if err := h.Preview(ctx, &waiting.Proposed[0]); err != nil ||
		!strings.Contains(waiting.Proposed[0].Diff, "+The gate code") {
		t.Errorf("preview: %+v, %v", waiting.Proposed[0], err)
	}
	done, err := h.Decide(ctx, agent.DecideOptions{Accept: []string{id}})
	if !errors.Is(err, vault.ErrConflict) {
		t.Errorf("accepted what was not shown: %+v, %v", done, err)
	}
	if err := h.Shown(ctx, agent.Write{}, waiting.Proposed); err != nil {
		t.Fatal(err)
	}
	done, err = h.Decide(ctx, agent.DecideOptions{Accept: []string{id}, RejectAll: true})
	if err != nil || len(done.Decided) != 2 || done.Decided[0].Verdict != "accepted" ||
		done.Decided[1].Verdict != "rejected" {
		t.Fatalf("the user decided: %+v, %v", done, err)
	}
	_, err = h.Review(ctx, agent.ReviewOptions{Write: scribe, AcceptAll: true})
	if !errors.Is(err, vault.ErrRefused) {
		t.Errorf("an agent marked commits as reviewed: %v", err)
	}
	review, err := h.Review(ctx, agent.ReviewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.MarkReviewed(ctx, scribe, review, nil, nil); !errors.Is(err, vault.ErrRefused) {
		t.Errorf("an agent marked commits as reviewed: %v", err)
	}
}

// TestDecideReadsWhatWasShownOnce: how much was ever shown counts once, not for each proposal.
func TestDecideReadsWhatWasShownOnce(t *testing.T) { // alone, as it counts what is allocated
	ctx, f := t.Context(), vaulttest.New(t)
	a, err := agent.Open(ctx, agent.Options{
		At: f.Dir, Door: "test", Now: time.Now, Getenv: func(string) string { return "" },
		Flags: settings.Layer{}.With(settings.WriteApproval, "stage", "test"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for n := range 20 {
		note := []vault.Note{{Text: fmt.Sprintf("The code of gate %d is %d.", n, 4711*n)}}
		o := agent.RememberOptions{Write: agent.Write{Agent: "scribe"}, Notes: note}
		if _, err := a.Memories().Remember(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	decide := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := a.History().Decide(ctx, agent.DecideOptions{AcceptAll: true})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, vault.ErrConflict) {
			t.Errorf("decided what was not shown: %v", err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	decide()
	little := decide()
	seen := []byte(strings.Repeat(strings.Repeat("0", 26)+":"+strings.Repeat("1", 64)+"\n", 20_000))
	err = f.Open().State().SetSeen(ctx, "shown", func([]byte) ([]byte, error) { return seen, nil })
	if err != nil {
		t.Fatal(err)
	}
	if much := decide(); much > little+10*uint64(len(seen)) {
		t.Errorf("of %d bytes %d more are allocated", len(seen), much-little)
	}
}
