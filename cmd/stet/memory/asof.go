package memory

import (
	"stet/agent"
	"stet/cmd/stet/console"
)

func tellMoment(e *console.Env, at *agent.Moment) {
	if at != nil {
		e.Note("as of %s: commit %s of %s", at.At, at.Rev.Short(), at.When)
	}
}

func tellProblems(e *console.Env, memories []agent.Memory) {
	for _, m := range memories {
		if m.Problem != "" {
			e.Warn("%s: %s", m.Path, m.Problem)
		}
	}
}
