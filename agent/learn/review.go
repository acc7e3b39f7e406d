package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"stet/agent/llm"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/session"
)

const (
	maxRounds  = 8
	maxTokens  = 4096   // of one answer
	someWindow = 24_000 // tokens, of a model of which nothing is known
	leastTurns = 1_000  // tokens that the turns get at least, whatever else is in the request
	// leastPortion is the tokens of turns below which no smaller portion is tried: the model's window is
	// smaller than was thought, or its answer was longer.
	leastPortion = 250
	maxCalls     = 32 // of tools, of one answer
)

// A review is a job under way.
type review struct {
	client  llm.Client
	box     Toolbox
	job     Job
	tools   []llm.Tool // as the model sees them
	before  []prompts.Heard
	sources map[string]source // of all turns and related ones, by label
	shown   []string          // labels of the turns in the request, in order
	clean   *guard.Redactor   // of what is said in all of the turns
	out     Outcome
}

// Review carries out a job. It fails with [vault.ErrRefused] for a private conversation and
// [vault.ErrInvalid] for a job without a part, both before anything is sent; with [llm.ErrAbsurd] or
// [llm.ErrTooLong] for an answer that is none; and with what the client or the toolbox failed with. The
// outcome says also then what was saved.
func Review(ctx context.Context, client llm.Client, box Toolbox, job Job) (Outcome, error) {
	r := &review{client: client, box: box, job: job, sources: map[string]source{}}
	if err := r.prepare(); err != nil {
		return r.out, err
	}
	says := r.said()
	r.before = r.related()
	turns := r.heard(says)
	if err := r.read(ctx, turns); err != nil {
		return r.out, fmt.Errorf("review of session %s: %w", job.Session, err)
	}
	r.out.Upto = job.First + len(job.Turns) - 1
	r.out.Nothing = len(r.out.Saved)+len(r.out.Proposed)+len(r.out.Refused) == 0 && r.out.Skill == ""
	return r.out, nil
}

func (r *review) prepare() error {
	refuse := func(kind error, why string) error {
		return fmt.Errorf("review of session %s: %w: %s", r.job.Session, kind, why)
	}
	r.tools = r.offered()
	switch {
	case !r.job.Memory && !r.job.Skill:
		return refuse(vault.ErrInvalid, "neither memories nor a skill are asked for")
	case slices.ContainsFunc(r.job.Turns, func(t session.Turn) bool { return t.Private }):
		return refuse(vault.ErrRefused, "it is private, and goes to no model")
	case len(r.tools) == 0:
		return refuse(vault.ErrInvalid, "the toolbox has no tool for it")
	}
	return nil
}

// light reports a review whose memory part is one call, and which has no other.
func (r *review) light() bool { return r.job.Mode != ModeFull && !r.job.Skill }

// read shows the model turns: the newest, or all of them in portions that fit into its window.
func (r *review) read(ctx context.Context, turns []heard) error {
	window, most := cmp.Or(r.client.Model().Window, someWindow), math.MaxInt
	for len(turns) > 0 {
		system, ask, tokens := r.plan(window)
		tokens = min(tokens, most)
		portion, rest := newest(turns, tokens), []heard(nil)
		if r.job.Whole {
			portion, rest = take(turns, tokens)
		} else if len(portion) == 0 { // the newest alone is too long: its beginning
			portion, _ = take(turns[len(turns)-1:], tokens)
		}
		rounds := r.out.Rounds
		err := r.loop(ctx, r.request(system, ask, portion))
		switch {
		case errors.Is(err, llm.ErrTooLong) && r.out.Rounds == rounds && size(portion) > 2*leastPortion:
			window, most = window/2, size(portion)/2
			continue
		case err != nil:
			return err
		}
		if r.out.From == 0 {
			r.out.From = portion[0].number
		}
		if r.job.Whole {
			r.out.Upto = portion[len(portion)-1].upto()
		}
		turns = rest
	}
	return nil
}

// plan is what a request holds besides turns, and how many tokens are left for those.
func (r *review) plan(window int) (system string, ask prompts.Review, tokens int) {
	ask = prompts.Review{Memory: r.job.Memory, Skill: r.job.Skill, Flush: r.job.Whole, Frozen: r.job.Frozen,
		Before: r.before}
	if strings.Contains(r.job.System, ask.Frozen) {
		ask.Frozen = "" // the model is shown it there
	}
	system = r.job.System
	left := func() int { return window - maxTokens - r.request(system, ask, nil).Tokens() }
	if r.job.Whole && left() < window/4 {
		system, ask.Frozen = "", r.job.Frozen // of a flush the turns are what counts
	}
	tokens = left()
	if !r.light() {
		tokens /= 2 // the rest is for what the tools answer
	}
	return system, ask, max(tokens, leastTurns)
}

// request is the first of a loop about these turns, which are what a lesson may rest on.
func (r *review) request(system string, ask prompts.Review, portion []heard) llm.Request {
	ask.Turns = []prompts.Heard{}
	r.shown = nil
	for _, h := range portion {
		ask.Turns = append(ask.Turns, h.Heard)
		r.shown = append(r.shown, h.Turn)
	}
	return llm.Request{Task: r.job.Actor, System: system, Tools: r.tools, MaxTokens: maxTokens,
		Messages: []llm.Message{{Role: llm.User, Text: ask.User()}}}
}

// loop asks the model until it has no more calls to make, or may make none.
func (r *review) loop(ctx context.Context, req llm.Request) error {
	l := llm.Loop{Client: r.client, Rounds: r.rounds(), Call: r.call}
	final, err := l.Run(ctx, req)
	r.out.Calls, r.out.Rounds, r.out.Usage = r.out.Calls+l.Asked, r.out.Rounds+l.Made, r.out.Usage.Plus(l.Usage)
	if err == nil && l.Made == 0 && !nothing(final) {
		return fmt.Errorf("%w: it calls no tool and does not say %q, but %.80q", llm.ErrAbsurd, nothingToSave, final)
	}
	return err
}

func (r *review) rounds() int {
	switch {
	case r.light():
		return 1
	case r.job.Skill:
		return maxRounds
	}
	return cmp.Or(r.job.MaxRounds, maxRounds)
}

// nothingToSave is the sentence by which a review ends that saves nothing.
const nothingToSave = "Nothing to save."

// nothing reports whether a text ends with that sentence, whatever stands around its words.
func nothing(text string) bool {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.Trim(lines[len(lines)-1], " \t\r.!*_`'\"")
	return strings.EqualFold(last, strings.TrimSuffix(nothingToSave, "."))
}
