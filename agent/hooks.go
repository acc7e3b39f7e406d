package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/agent/clients"
	"stet/agent/hook"
	"stet/agent/route"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// Hooks holds the use cases of the hooks by which clients tell of their conversations.
type Hooks struct{ a *App }

// Hooks holds the use cases of the hooks by which clients tell of their conversations.
func (a *App) Hooks() Hooks { return Hooks{a} }

// HookOptions are an event of a client, for which the App was opened as an agent.
type HookOptions struct {
	*hook.Event
	Tool bool // the hook runs among an agent's tools: nothing shows who said what
}

// A HookReply is what the client is to be told.
type HookReply struct {
	How  string // [clients.Context] or [clients.Block]
	Text string // "" is nothing
	Work bool   // [Hooks.Sweep] and a worker have something to do
}

const (
	mostBrief     = 8000 // characters of a brief
	mostNudges    = 3    // of one session
	onceCompacted = 10 * time.Second
	// A conversation of which nothing was heard for so long is imported although nobody said that it ended.
	quietTalk = 10 * time.Minute
	// What hooks know of a conversation is forgotten after so long.
	keptTalk = 30 * 24 * time.Hour
	hookLog  = "hook"
	mostLog  = 64 << 10 // bytes of the log
)

// A talk is what hooks know of one conversation, beside its turns. It lies in local state.
type talk struct {
	Client     string    `json:"client"`
	Session    string    `json:"session"` // as the client calls it
	Transcript string    `json:"transcript,omitempty"`
	Last       time.Time `json:"last"`
	Ended      bool      `json:"ended,omitempty"`
	Briefed    bool      `json:"briefed,omitempty"`
	Turns      int       `json:"turns,omitempty"` // that the person typed
	Due        int       `json:"due,omitempty"`   // at this one a nudge was due that was not given yet
	Nudges     int       `json:"nudges,omitempty"`
	Compacted  time.Time `json:"compacted,omitzero"`
	// Of the transcript: when it was last imported, what it was then, and up to which message steps are counted.
	Looked time.Time `json:"looked,omitzero"`
	Stamp  string    `json:"stamp,omitempty"`
	Steps  int       `json:"steps,omitempty"`
}

const talkName = "hook-"

// seen changes what hooks know of a conversation and returns it.
func (h Hooks) seen(ctx context.Context, key string, change func(*talk)) (t talk, err error) {
	err = h.a.v.State().SetSeen(ctx, talkName+key, func(now []byte) ([]byte, error) {
		if t = (talk{}); json.Unmarshal(now, &t) != nil {
			t = talk{}
		}
		change(&t)
		return json.Marshal(t)
	})
	return t, err
}

// A client's mark is what it was told of the vault last.
type told struct {
	Head     vault.Revision `json:"head,omitempty"`
	Proposed int            `json:"proposed,omitempty"`
	Offered  bool           `json:"offered,omitempty"` // the older conversations
	Started  time.Time      `json:"started,omitzero"`  // of its last conversation
}

const toldName = "hooks-"

// Tell takes in an event and says what the client is to be told of it. It asks no model and waits for nobody: what
// cannot be written now is kept apart and taken up by the next one. It fails with [vault.ErrRefused] and with
// what the disk says.
func (h Hooks) Tell(ctx context.Context, o HookOptions) (*HookReply, error) {
	w := Write{Agent: h.a.o.Agent}
	if err := h.a.check(w, "hook", ""); err != nil || h.excluded(o.Dir) {
		return &HookReply{}, err
	}
	key := session.Key(o.Client.Name, o.Session)
	t, err := h.seen(ctx, key, func(t *talk) {
		t.Client, t.Session, t.Last = o.Client.Name, o.Session, h.a.o.Now().UTC()
		if o.Transcript != "" && o.Kind != hook.SubStop {
			t.Transcript = o.Transcript
		}
		t.Ended = o.Kind == hook.End
	})
	if err = passing(err); err != nil {
		return &HookReply{}, err
	}
	switch o.Kind {
	case hook.Start:
		return h.start(ctx, o, key)
	case hook.Prompt:
		return h.prompt(ctx, o, key, t)
	case hook.Answer:
		return &HookReply{}, h.answer(ctx, o, key)
	case hook.Stop:
		return h.stop(ctx, o, key)
	case hook.SubStop:
		return &HookReply{}, h.subagent(ctx, o)
	case hook.Compact:
		return h.compact(ctx, o, key, t)
	}
	return &HookReply{Work: true}, nil // an end, or an interruption
}

// excluded reports a folder for which the person wants no hooks.
func (h Hooks) excluded(dir string) bool {
	for _, out := range h.a.Settings().List(settings.HooksExclude) {
		for _, at := range []string{dir, realPath(dir)} {
			if in, err := filepath.Rel(realPath(h.a.expand(out)), at); err == nil && filepath.IsLocal(in) && dir != "" {
				return true
			}
		}
	}
	return false
}

// realPath is a path behind links, or as it is.
func realPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}

// record adds a turn to a conversation, or keeps it apart where another process is at it.
func (h Hooks) record(ctx context.Context, o HookOptions, t session.Turn) (*Observed, error) {
	if strings.TrimSpace(string(t.Text)) == "" {
		return &Observed{}, nil
	}
	t.Agent, t.Source, t.Ref = o.Client.Name, session.HookDoor, session.HookRef
	t.Project, t.Model, t.Time = o.Dir, o.Model, h.a.o.Now().UTC()
	if o.Tool {
		t.Ref = session.HookToolRef
	}
	if len(t.Text) > session.MaxTurn {
		t.Text = t.Text[:session.MaxTurn]
	}
	err := session.TakeUp(ctx, h.a.v)
	var done *Observed
	if err == nil {
		done, err = h.a.Sessions().Observe(ctx, t)
	}
	if errors.Is(err, vault.ErrBusy) {
		return &Observed{}, session.Spool(h.a.v, t)
	}
	if done == nil {
		done = &Observed{}
	}
	return done, err
}

// start gives the brief.
func (h Hooks) start(ctx context.Context, o HookOptions, key string) (*HookReply, error) {
	reply := &HookReply{How: clients.Context, Work: true}
	if !o.Says(clients.Context) {
		return reply, nil
	}
	var err error
	if reply.Text, err = h.brief(ctx, o); err != nil {
		return reply, err
	}
	if o.Source == "compact" { // what was shown is gone from the context
		err = h.a.v.State().SetSeen(ctx, remindedName+key, func([]byte) ([]byte, error) { return nil, nil })
	}
	_, serr := h.seen(ctx, key, func(t *talk) { t.Briefed = true })
	return reply, errors.Join(passing(err), passing(serr))
}

// passing is err, unless it only says that nothing can be noted now: the client is answered all the same.
func passing(err error) error {
	if errors.Is(err, vault.ErrBusy) || errors.Is(err, vault.ErrReadOnly) {
		return nil
	}
	return err
}

// prompt records a turn of the person's, and says what of the vault it needs.
func (h Hooks) prompt(ctx context.Context, o HookOptions, key string, t talk) (*HookReply, error) {
	reply := &HookReply{How: clients.Context}
	text := o.Typed()
	if text == "" || o.Agent != "" {
		return reply, nil
	}
	done, lost := h.record(ctx, o, session.Turn{Session: o.Session, Role: "user", Text: []byte(text)})
	if passing(lost) != nil {
		return reply, lost
	}
	_, err := h.seen(ctx, key, func(t *talk) {
		if t.Turns++; done.Queued {
			t.Due = t.Turns - 1
		}
	})
	if err = passing(err); err != nil || !o.Says(clients.Context) {
		return reply, err
	}
	if start, ok := o.Client.Kind(hook.Start); ok && !t.Briefed && start.Says[clients.Context].Output == nil {
		if reply.Text, err = h.brief(ctx, o); err == nil {
			_, err = h.seen(ctx, key, func(t *talk) { t.Briefed = true })
		}
		if err = passing(err); err != nil {
			return reply, err
		}
	}
	if stop, ok := o.Client.Kind(hook.Stop); ok && len(stop.Says) == 0 {
		nudge, err := h.nudge(ctx, o, key)
		if reply.Text += nudge; err != nil {
			return reply, err
		}
	}
	if strings.HasPrefix(text, "/") {
		return reply, nil
	}
	needed, err := h.a.Memories().Remind(ctx, RemindOptions{Prompt: text, Session: o.Session, Agent: o.Client.Name})
	if needed != nil {
		reply.Text += needed.Text
	}
	reply.Text += hook.Fence(h.hint(o, text)...)
	return reply, errors.Join(lost, passing(err))
}

// hint tells a model that a turn reads like something to keep.
func (h Hooks) hint(o HookOptions, text string) []string {
	for _, found := range route.Turn(text) {
		if found.Confidence >= route.Likely {
			return []string{fmt.Sprintf("This turn may hold something to keep: if it does, save it with memory_save; "+
				"session %q is this conversation.", o.Session)}
		}
	}
	return nil
}

// answer records what the program said, and notes the review that is due with it.
func (h Hooks) answer(ctx context.Context, o HookOptions, key string) error {
	done, err := h.record(ctx, o, session.Turn{Session: o.Session, Role: "assistant", Text: []byte(o.Message)})
	if err == nil && done.Queued {
		_, err = h.seen(ctx, key, func(t *talk) { t.Due = t.Turns })
	}
	return passing(err)
}

// stop records the answer and, where nothing was saved for long, asks for it.
func (h Hooks) stop(ctx context.Context, o HookOptions, key string) (*HookReply, error) {
	reply := &HookReply{Work: true}
	if err := h.answer(ctx, o, key); err != nil {
		return reply, err
	}
	ways := []string{clients.Context, clients.Block}
	if h.a.Settings().Text(settings.HooksNudge) == "block" {
		slices.Reverse(ways)
	}
	i := slices.IndexFunc(ways, o.Says)
	if i < 0 || o.Active || o.Busy || o.Status != "" && o.Status != "completed" || o.Asks() {
		return reply, nil
	}
	var err error
	reply.How = ways[i]
	reply.Text, err = h.nudge(ctx, o, key)
	return reply, err
}

// nudge is the request to save something, "" where none is due. It is noted before it is given, so that no
// interval has two.
func (h Hooks) nudge(ctx context.Context, o HookOptions, key string) (string, error) {
	every := h.a.every().Turns
	marks, err := h.a.uncounted(key)
	if err != nil || every == 0 || h.a.Settings().Text(settings.HooksNudge) == "off" {
		return "", err
	}
	give := false
	_, err = h.seen(ctx, key, func(t *talk) {
		saved := marks.Turns < t.Turns-t.Due // something was saved since
		give = t.Due > 0 && !saved && t.Nudges < mostNudges
		if give {
			t.Nudges++
		}
		if give || saved {
			t.Due = 0
		}
	})
	if err != nil || !give {
		return "", passing(err)
	}
	return hook.Fence(prompts.HookNudge(every, marks.Skill.Asked > marks.Skill.Done)), nil
}

// subagent records how a sub-agent ended, as a conversation of its own below the one that called it.
func (h Hooks) subagent(ctx context.Context, o HookOptions) error {
	name := strings.TrimSuffix(filepath.Base(o.Transcript), ".jsonl")
	if o.Transcript == "" {
		name = "agent-" + o.Agent
	}
	_, err := h.record(ctx, o, session.Turn{Session: o.Session + "/" + name, Parent: o.Session, Role: "assistant",
		Text: []byte(o.Message)})
	return err
}

// compact asks for a review of all that is about to be summarised, once a compaction.
func (h Hooks) compact(ctx context.Context, o HookOptions, key string, t talk) (*HookReply, error) {
	now := h.a.o.Now().UTC()
	if now.Sub(t.Compacted) < onceCompacted {
		return &HookReply{}, nil
	}
	_, err := h.seen(ctx, key, func(t *talk) { t.Compacted = now })
	if err == nil {
		_, err = h.a.Learning().ask(ctx, o.Client.Name, o.Session)
	}
	if errors.Is(err, vault.ErrNotFound) {
		err = nil // nothing was said yet
	}
	return &HookReply{Work: true}, passing(err)
}

// Fail notes why an event was not taken in: a hook fails no agent.
func (h Hooks) Fail(client, event string, why error) error {
	line := fmt.Sprintf("%s %s %s: %s", h.a.o.Now().UTC().Format(time.RFC3339), client, event,
		strings.Join(strings.Fields(why.Error()), " "))
	return h.a.v.State().Note(hookLog, line, mostLog)
}
