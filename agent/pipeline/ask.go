package pipeline

import (
	"context"
	"fmt"
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

func absurd(format string, args ...any) error {
	return fmt.Errorf("%w: %s", llm.ErrAbsurd, fmt.Sprintf(format, args...))
}

func (r *run) place(ctx context.Context, n Note) (*Placed, error) {
	req := request(taskPlace, prompts.Place{Note: cut(n.Text, maxText), Title: n.Title, Kind: n.Kind, Scopes: r.Scopes, Categories: r.Categories})
	said, _, err := llm.Ask[prompts.Placed](ctx, r.Model, "place", req)
	if err != nil {
		return nil, err
	}
	return r.placed(said), nil
}

const (
	maxNew        = 3 // parts of a scope that a model adds to one in use
	maxPart       = 40
	maxCategories = 5
)

// placed brings an answer into bounds. A scope or category that is in use is taken as
// it is written there.
func (r *run) placed(said prompts.Placed) *Placed {
	out := &Placed{Scope: r.scope(said.Scope), Importance: 0.5}
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
	if known := inUse(r.Scopes, said); known != "" {
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
		if known := inUse(r.Scopes, "/"+strings.Join(parts[:n], "/")); known != "" {
			return strings.Join(append([]string{known}, parts[n:min(n+maxNew, len(parts))]...), "/")
		}
	}
	if len(parts) > 0 && parts[0] == "projects" {
		parts = parts[1:]
	}
	return "/" + strings.Join(parts[:min(maxNew, len(parts))], "/")
}

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
	j := prompts.Judge{Note: n.Text, Scope: n.Scope}
	for i, s := range n.Near {
		date := ""
		if !s.When.IsZero() {
			date = s.When.UTC().Format(time.DateOnly)
		}
		j.Stored = append(j.Stored, prompts.Stored{Number: i + 1, Note: s.Text, Scope: s.Scope, Date: date})
	}
	said, _, err := llm.Ask[prompts.Judged](ctx, r.Model, "judge", request(taskJudge, j))
	if err != nil {
		return nil, err
	}
	return actions(said, len(n.Near))
}

// actions checks an answer about so many memories: each stands in it once, and no
// other one.
func actions(said prompts.Judged, shown int) ([]Action, error) {
	out := make([]Action, shown)
	for _, a := range said.Actions {
		switch {
		case a.Number < 1 || a.Number > shown:
			return nil, absurd("it names note %d of %d", a.Number, shown)
		case out[a.Number-1].Kind != "":
			return nil, absurd("it names note %d twice", a.Number)
		case !(a.Confidence >= 0 && a.Confidence <= 1):
			return nil, absurd("confidence is %v", a.Confidence)
		case len(a.Text) > 2*maxText || strings.ContainsRune(a.Text, 0):
			return nil, absurd("the text for note %d cannot be one", a.Number)
		}
		got := Action{Kind: Kind(a.Action), Confidence: a.Confidence}
		switch got.Kind {
		case Supersede, Update:
			got.Text = strings.TrimSpace(a.Text)
		case Keep, Conflict, Duplicate:
		default:
			return nil, absurd("there is no action %q", cut(a.Action, maxPart))
		}
		if got.Kind == Update && got.Text == "" {
			return nil, absurd("note %d is to say nothing", a.Number)
		}
		out[a.Number-1] = got
	}
	for i, a := range out {
		if a.Kind == "" {
			return nil, absurd("it leaves note %d out", i+1)
		}
	}
	return out, nil
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
