package agent_test

import (
	"errors"
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
