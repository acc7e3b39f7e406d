package curator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"stet/agent/llm"
	"stet/curator/fork"
	"stet/vault/vaulttest"
)

// endless makes calls, one an answer, and after that never answers again.
type endless struct{ calls []fork.Call }

func (endless) Model() llm.Model { return llm.Model{Name: "endless"} }

func (m *endless) Generate(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	if len(m.calls) == 0 {
		<-ctx.Done()
		return llm.Reply{}, context.Cause(ctx)
	}
	c := m.calls[0]
	m.calls = m.calls[1:]
	call := llm.Call{ID: fmt.Sprint(len(m.calls)), Name: c.Name, Arguments: string(c.Arguments)}
	return llm.Reply{Calls: []llm.Call{call}}, nil
}

// Where curator.max_minutes ends the work, the umbrellas that were finished by then are done, and one under way is not.
func TestAModelThatNeverEnds(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for name, c := range map[string]struct {
		until string // after the call that takes this skill away it never answers again
		want  string
	}{
		"all is done":       {"git-stash", "git-bisect>git-history git-rebase>git-history git-stash>git-history"},
		"one is left":       {"git-rebase", ""},
		"before any delete": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := shelf(t)
			d.teach("git-stash", "dev", "# Stash\n\nPut work aside before a rebase.\n", nil)
			before := d.tree()
			var runner asking = func(ctx context.Context, job fork.Job) (out fork.Result, err error) {
				all := umbrella(job, "git-history", "git-bisect", "git-rebase", "git-stash")
				for i, call := range all {
					if strings.Contains(string(call.Arguments), `"delete"`) &&
						(c.until == "" || strings.Contains(string(call.Arguments), `"`+c.until+`"`)) {
						if c.until != "" {
							i++
						}
						all = all[:i]
						break
					}
				}
				synctest.Test(t, func(t *testing.T) { // its minutes pass at once
					out, err = fork.Work(t.Context(), &endless{all}, job)
				})
				return out, err
			}
			r := d.second(runner)
			if names(r.Consolidated, true) != c.want || !strings.Contains(r.LLMError, "it took 15m") {
				t.Errorf("%s, %q, %+v", names(r.Consolidated, true), r.LLMError, r.Consolidated)
			}
			if (d.tree() == before) != (c.want == "") {
				t.Error("the tree says something else than the report")
			}
			page, err := r.Markdown()
			if err != nil || strings.Contains(string(page), "nothing of it was done") != (c.want == "") {
				t.Errorf("%v\n%s", err, page)
			}
		})
	}
}

// asking is a model as a function.
type asking func(context.Context, fork.Job) (fork.Result, error)

func (a asking) Run(ctx context.Context, job fork.Job) (fork.Result, error) { return a(ctx, job) }
