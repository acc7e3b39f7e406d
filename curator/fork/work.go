package fork

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"stet/agent/llm"
	"stet/markdown"
	"stet/templates"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/skill"
)

const (
	ceiling   = 9_999 // answers that call the tool
	maxAnswer = 8_192 // tokens of one answer
)

// errBound ends the work of a model that has reached one of its bounds.
var errBound = errors.New("a bound is reached")

// Work has a model do a job with the tool alone, on a desk of its own. It is told nothing but the prompt and the job.
// What ends the work is in the result. It fails, and asks nothing, with [vault.ErrInvalid] for a job of another version
// and with [vault.ErrRefused] for one that holds what is private.
func Work(ctx context.Context, client llm.Client, job Job) (Result, error) {
	if err := job.check(); err != nil {
		return Result{}, err
	}
	m, b := client.Model(), job.Bounds
	out := Result{Model: m.Name, Provider: m.Provider, Calls: []Call{}}
	if b.MaxRounds = min(b.MaxRounds, ceiling); b.MaxRounds <= 0 {
		b.MaxRounds = ceiling
	}
	ctx, end := context.WithTimeoutCause(ctx, b.Time(), fmt.Errorf("%w: it took %s", errBound, b.Time()))
	defer end()
	desk := NewDesk(job)
	l := llm.Loop{Client: client, Rounds: b.MaxRounds, Before: b.before, Most: b.most(m.Price),
		Call: func(ctx context.Context, c llm.Call, _ int) (llm.Message, error) {
			call := NewCall(c.Name, c.Arguments)
			answer, err := desk.Do(call)
			if err != nil {
				call.Error, answer = err.Error(), err.Error()
			}
			out.Calls = append(out.Calls, call)
			return llm.Message{Role: llm.ToolResult, CallID: c.ID, Text: answer, Failed: err != nil}, context.Cause(ctx)
		}}
	final, err := l.Run(ctx, job.request())
	if err == nil && l.Made == b.MaxRounds {
		err = fmt.Errorf("%w: %s that call the tool", errBound, templates.Plural(l.Made, "answer"))
	}
	u := l.Usage
	out.Final, out.Rounds, out.Cost = final, l.Asked, u.USD
	out.Usage = Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	out.Ended, out.Error = ended(ctx, err)
	return out, nil
}

// Time is how long the work may take at most; without MaxMinutes a day.
func (b Bounds) Time() time.Duration {
	if b.MaxMinutes <= 0 {
		return 24 * time.Hour
	}
	return time.Duration(min(b.MaxMinutes, 60*24)) * time.Minute
}

// before fails where the next request could use more than the bounds.
func (b Bounds) before(most llm.Usage) error {
	switch tokens := most.Input + most.Output; {
	case b.MaxTokens > 0 && tokens > b.MaxTokens:
		return fmt.Errorf("%w: the next answer could make it %s, and curator.max_tokens is %d", errBound,
			templates.Plural(tokens, "token"),
			b.MaxTokens)
	case b.MaxUSD > 0 && most.USD > b.MaxUSD:
		return fmt.Errorf("%w: the next answer could make it %s, and curator.max_usd is %s", errBound,
			llm.Dollars(most.USD), llm.Dollars(b.MaxUSD))
	}
	return nil
}

// most is how many tokens one more answer may have whatever the server was asked for: those that the bounds leave.
func (b Bounds) most(p llm.Price) func(llm.Usage) int {
	return func(used llm.Usage) int {
		left := math.MaxInt
		if b.MaxTokens > 0 {
			left = b.MaxTokens - used.Input - used.Output
		}
		if b.MaxUSD > 0 && p.Output > 0 {
			left = min(left, int((b.MaxUSD-used.USD)*1e6/p.Output))
		}
		return max(left, maxAnswer)
	}
}

// ended says how the work ended, and why.
func ended(ctx context.Context, err error) (how, why string) {
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause // whatever it made fail
	}
	switch {
	case err == nil:
		return Done, ""
	case errors.Is(err, errBound), errors.Is(err, llm.ErrLimit), errors.Is(err, llm.ErrTooLong):
		return Limit, err.Error()
	case errors.Is(err, context.Canceled):
		return Cancelled, err.Error()
	}
	return Failed, err.Error()
}

func (j Job) check() error {
	if j.Version != Version {
		return fmt.Errorf("job of version %d: %w: this is stet of version %d", j.Version, vault.ErrInvalid, Version)
	}
	for _, s := range j.Skills {
		if now, _ := skill.Parse(s.Folder, s.Files[skill.File].Data); now.Private {
			return fmt.Errorf("job: %w: a skill of it is private, and goes to no model", vault.ErrRefused)
		}
	}
	return nil
}

// request is the first of the work.
func (j Job) request() llm.Request {
	by := map[string]prompts.Candidate{}
	for _, s := range j.Skills {
		now, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
		c := prompts.Candidate{Name: s.Name, Description: now.Description, Files: map[string]int{}}
		for name, f := range s.Files {
			c.Files[name] = len(f.Data)
		}
		if j.Memories {
			c = prompts.Candidate{Name: s.Name, Text: string(markdown.Parse(s.Files[skill.File].Data).Body())}
		}
		by[s.Name] = c
	}
	ask := prompts.Curator{Memories: j.Memories}
	for _, c := range j.Clusters {
		ask.Clusters = append(ask.Clusters, prompts.Cluster{Why: c.Why, Skills: c.Names, Refused: c.Refused})
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		ask.Skills = append(ask.Skills, by[name])
	}
	return llm.Request{Task: "curator", System: ask.System(), Tools: []llm.Tool{Tool()}, MaxTokens: maxAnswer,
		Messages: []llm.Message{{Role: llm.User, Text: ask.User()}}}
}
