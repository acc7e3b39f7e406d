package pipeline

import (
	"context"
	"fmt"
	"math"
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
	said, _, err := llm.AskOnce[prompts.Placed](ctx, r.Model, "place", req)
	if err != nil {
		return nil, err
	}
	return r.placed(said)
}

const (
	maxDepth      = 3 // of a scope that a model makes
	maxPart       = 40
	maxCategories = 5
	maxCategory   = 40
)

// placed checks an answer. A scope or category that is in use is taken as it is
// written there.
func (r *run) placed(said prompts.Placed) (*Placed, error) {
	if !(said.Importance >= 0 && said.Importance <= 1) {
		return nil, absurd("importance is %v", said.Importance)
	}
	out := &Placed{Importance: math.Round(said.Importance*100) / 100, Scope: inUse(r.Scopes, said.Scope)}
	if out.Scope == "" {
		scope, err := newScope(said.Scope)
		if err != nil {
			return nil, err
		}
		if out.Scope = inUse(r.Scopes, scope); out.Scope == "" {
			out.Scope = scope
		}
	}
	if len(said.Categories) > maxCategories {
		return nil, absurd("%d categories", len(said.Categories))
	}
	for _, c := range said.Categories {
		if known := inUse(r.Categories, c); known != "" {
			out.Categories = append(out.Categories, known)
			continue
		}
		c = strings.ToLower(strings.TrimSpace(c))
		if c == "" {
			continue
		}
		if !plain(c, maxCategory) {
			return nil, absurd("a category is %q", cut(c, maxCategory))
		}
		out.Categories = append(out.Categories, c)
	}
	return out, nil
}

// newScope is a scope that nobody used before, in its one form.
func newScope(said string) (string, error) {
	var parts []string
	for part := range strings.SplitSeq(said, "/") {
		part = strings.ToLower(strings.TrimSpace(part))
		if part == "" {
			continue
		}
		if !plain(part, maxPart) {
			return "", absurd("a part of the scope is %q", cut(part, maxPart))
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) > maxDepth:
		return "", absurd("the scope has %d parts", len(parts))
	case len(parts) > 0 && parts[0] == "projects":
		return "", absurd("it makes a project")
	}
	return "/" + strings.Join(parts, "/"), nil
}

// plain reports whether s is a word or a few, with a letter or digit in it.
func plain(s string, longest int) bool {
	if utf8.RuneCountInString(s) > longest || !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -_.+#&'", r)
	})
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
	said, _, err := llm.AskOnce[prompts.Judged](ctx, r.Model, "judge", request(taskJudge, j))
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
