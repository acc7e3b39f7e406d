package pipeline

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stet/agent/llm"
	"stet/templates/prompts"
)

// The tasks, as their calls are counted.
const (
	taskPlace = "classify"
	taskJudge = "consolidate"
)

type prompt interface {
	System() string
	User() string
}

func request(task string, p prompt) llm.Request {
	return llm.Request{Task: task, System: p.System(), MaxTokens: answer, Messages: []llm.Message{{Role: llm.User, Text: p.User()}}}
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func (r *run) place(ctx context.Context, n Note) (*Placed, error) {
	p := prompts.Place{Today: day(r.Now), Note: cut(n.Text, maxText), Title: n.Title, Kind: n.Kind, Date: day(n.When), Categories: r.Categories}
	for _, s := range r.Scopes {
		p.Scopes = append(p.Scopes, prompts.Scope(s))
	}
	said, _, err := llm.Ask[prompts.Placed](ctx, r.Model, "place", request(taskPlace, p))
	if err != nil {
		return nil, err
	}
	return r.placed(n, said), nil
}

const (
	maxNew        = 3 // parts of a scope that a model adds to one in use
	maxPart       = 40
	maxCategories = 5
)

// placed brings an answer into bounds. A scope or category that is in use is taken as
// it is written there.
func (r *run) placed(n Note, said prompts.Placed) *Placed {
	out := &Placed{Scope: r.scope(said.Scope), Importance: 0.5}
	out.ValidFrom, out.ValidUntil, out.When = r.dates(n, said)
	if f := said.Importance; f != nil {
		out.Importance = math.Round(max(min(*f, 1), 0)*100) / 100
	}
	for _, c := range said.Categories {
		if known := inUse(r.Categories, c); known != "" {
			c = known
		} else if c = plain(c); c == "" {
			continue
		}
		if !slices.Contains(out.Categories, c) && len(out.Categories) < maxCategories {
			out.Categories = append(out.Categories, c)
		}
	}
	return out
}

// scope is the scope that a model means. Nothing makes a new project.
func (r *run) scope(said string) string {
	scopes := make([]string, len(r.Scopes))
	for i, s := range r.Scopes {
		scopes[i] = s.Path
	}
	if known := inUse(scopes, said); known != "" {
		return known
	}
	var parts []string
	for part := range strings.SplitSeq(said, "/") {
		if part = plain(part); part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) > 0 && parts[0] == "memories" { // the folder that the scopes are in
		parts = parts[1:]
	}
	for n := len(parts); n > 0; n-- {
		if known := inUse(scopes, "/"+strings.Join(parts[:n], "/")); known != "" {
			return strings.Join(append([]string{known}, parts[n:min(n+maxNew, len(parts))]...), "/")
		}
	}
	if len(parts) > 0 && parts[0] == "projects" {
		parts = parts[1:]
	}
	return "/" + strings.Join(parts[:min(maxNew, len(parts))], "/")
}

// dates are those of an answer that can be right: days, none of them centuries away. A
// memory is not found outside of its dates, so that none begins after it was written, and
// one ends only where its words say that it does.
func (r *run) dates(n Note, said prompts.Placed) (from, until, when string) {
	written := n.When
	if written.IsZero() {
		written = r.Now
	}
	words := wordsOf(n.Text)
	if !has(words, timed()) && !slices.ContainsFunc(words, number) {
		return "", "", ""
	}
	read := func(s string) (time.Time, string) {
		s, _, _ = strings.Cut(strings.TrimSpace(s), "T")
		t, err := time.Parse(time.DateOnly, s)
		if err != nil || t.Before(written.AddDate(-maxYears, 0, 0)) || t.After(written.AddDate(maxYears, 0, 0)) {
			return time.Time{}, ""
		}
		return t, s
	}
	begin, from := read(said.ValidFrom)
	end, until := read(said.ValidUntil)
	if begin.After(written) {
		from = ""
	}
	if end.Before(begin) || end.Before(written.UTC().Truncate(24*time.Hour)) || !has(words, hedging()) {
		until = ""
	}
	_, when = read(said.When)
	return from, until, when
}

const maxYears = 120 // between a note and a date it names

// plain is s as a part of a scope or a category: letters, digits and few signs in lower
// case, "" when there is no letter or digit in it.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r), strings.ContainsRune("-_.+#&'", r):
			return unicode.ToLower(r)
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, s)
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return ""
	}
	return strings.TrimSpace(string([]rune(s)[:min(maxPart, utf8.RuneCountInString(s))]))
}

func inUse(list []string, said string) string {
	for _, s := range list {
		if strings.EqualFold(s, strings.TrimSpace(said)) {
			return s
		}
	}
	return ""
}

func (r *run) judge(ctx context.Context, n Note) ([]Action, error) {
	j := prompts.Judge{Today: day(r.Now), Note: n.Text, Title: n.Title, Date: day(n.When), Author: n.Author, Scope: n.Scope}
	for i, s := range n.Near {
		j.Stored = append(j.Stored, prompts.Stored{Number: i + 1, Note: s.Text, Title: s.Title, Scope: s.Scope, Date: day(s.When), Author: s.Author})
	}
	said, _, err := llm.Ask[prompts.Judged](ctx, r.Model, "judge", request(taskJudge, j))
	if err != nil {
		return nil, err
	}
	return actions(said, len(n.Near)), nil
}

// actions are those of an answer about so many memories, one for each. A memory that the
// answer leaves out is kept, and so is one that it names twice with different actions.
func actions(said prompts.Judged, shown int) []Action {
	out := make([]Action, shown)
	for i := range out {
		out[i].Kind = Keep
	}
	seen := map[int]Action{}
	for _, a := range said.Actions {
		if a.Number < 1 || a.Number > shown {
			continue
		}
		got := Action{Kind: Kind(a.Action), Quote: strings.TrimSpace(a.Quote), Text: strings.TrimSpace(a.Text), Confidence: max(min(a.Confidence, 1), 0)}
		if got.Kind == "" || len(got.Text) > 2*maxText || strings.ContainsRune(got.Text+got.Quote, 0) {
			got = Action{Kind: Keep}
		}
		if before, twice := seen[a.Number]; twice && before != got {
			got = Action{Kind: Keep}
		}
		seen[a.Number], out[a.Number-1] = got, got
	}
	return out
}

// cut shortens a text to so many bytes, between two characters.
func cut(s string, longest int) string {
	if len(s) <= longest {
		return s
	}
	for longest > 0 && !utf8.RuneStart(s[longest]) {
		longest--
	}
	return s[:longest]
}
