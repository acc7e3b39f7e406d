package curator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stet/agent"
	"stet/curator/fork"
	"stet/vault/vaulttest"
)

// A spoiler makes the mark of the curator unreadable while the model works.
type spoiler struct {
	model
	mark string
}

func (s spoiler) Run(ctx context.Context, job fork.Job) (fork.Result, error) {
	if err := errors.Join(os.Remove(s.mark), os.Mkdir(s.mark, 0o700)); err != nil {
		return fork.Result{}, err
	}
	return s.model.Run(ctx, job)
}

// What a model did is done also where it cannot be noted whose turn it was, and the report tells so.
func TestWorkIsDoneWithoutNotingTurns(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, memories := range []bool{false, true} {
		d, does := shelf(t), model(honest)
		if memories {
			d, does = teas(t), joins(tea, tea, teaToo)
		}
		var r *Report
		var mark string
		d.open(func(a *agent.App) error {
			v, _, err := a.Permit(agent.Write{}, "curate", "")
			if err != nil {
				return err
			}
			mark = filepath.Join(v.StateDir(), "seen", markName)
			if r, err = Run(d.Context(), a, Options{Consolidate: !memories, Memories: memories,
				Runner: spoiler{does, mark}}); err == nil {
				t.Error("the mark is still there")
			}
			return nil
		})
		if r == nil || len(r.Commits) != 1 || r.LLMError+r.Memories.LLMError != "" || len(r.Left) != 1 ||
			r.Left[0].Name != "turns of the model" {
			t.Errorf("memories %v: %+v", memories, r)
		}
		if err := os.Remove(mark); err != nil {
			t.Error(err)
		}
	}
}
