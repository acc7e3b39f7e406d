package memory

import (
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
)

// asOf reads --as-of; a day counts to its end.
func asOf(e *console.Env, in *console.Input) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, in.String("as-of"), time.Local); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Second), nil
	}
	return e.Time(in.String("as-of"))
}

func tellMoment(e *console.Env, at *agent.Moment) {
	if at != nil {
		e.Note("as of %s: commit %s of %s, read without an index", at.At, at.Rev.Short(), at.When)
	}
}

func tellProblems(e *console.Env, memories []agent.Memory) {
	for _, m := range memories {
		if m.Problem != "" {
			e.Warn("%s: %s", m.Path, m.Problem)
		}
	}
}
