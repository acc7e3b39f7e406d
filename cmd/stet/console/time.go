package console

import (
	"time"

	"stet/agent"
	"stet/index/period"
)

// Time reads a point in time as people give it, the first moment of a day or month: see [period.Read]. "" is no time.
// The error is an [agent.ErrUsage].
func (e *Env) Time(text string) (time.Time, error) {
	p, err := readPeriod(e, text)
	return p.Point, err
}

// AsOf reads --as-of, the zero time without it; what has a name, as a day or a month, counts to its end.
func (in *Input) AsOf(e *Env) (time.Time, error) {
	p, err := readPeriod(e, in.String("as-of"))
	if p.Named {
		p.Point = p.To.Add(-time.Second)
	}
	return p.Point, err
}

// Span reads --since and --until, the zero time without them. Until what has a name, as a day or a month,
// counts to its end.
func (in *Input) Span(e *Env) (since, until time.Time, err error) {
	since, err = e.Time(in.String("since"))
	if err == nil {
		var p period.Period
		if p, err = readPeriod(e, in.String("until")); p.Named {
			p.Point = p.To.Add(-1)
		}
		until = p.Point
	}
	return since, until, err
}

func readPeriod(e *Env, text string) (period.Period, error) {
	if text == "" {
		return period.Period{}, nil
	}
	p, ok := period.Read(text, e.Now().Local())
	if !ok {
		return p, agent.Usagef("%q is not a time", text).Suggest("%s; or RFC 3339: 2026-01-31T14:00:00Z", period.Forms)
	}
	return p, nil
}

// Day is a date and time of day for people, in their own zone; "" for no time.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
