package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/agent/clients"
	"stet/agent/hook"
	"stet/agent/snapshot"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/session"
	"stet/vault/settings"
)

// Hooks holds the use cases of the hooks that clients run in their conversations.
type Hooks struct{ a *App }

// Hooks holds the use cases of the hooks that clients run in their conversations.
func (a *App) Hooks() Hooks { return Hooks{a} }

// HookOptions are an event of a client, for which the App was opened as an agent.
type HookOptions struct {
	*hook.Event
	Tool bool // an agent runs the hook among its tools: nothing shows who said what
}

// A HookReply is what comes of an event.
type HookReply struct {
	Output []byte // what the client is to read, nil for nothing
	Work   bool   // [Hooks.Sweep] and a worker have something to do
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
	// mostLogged are the bytes of one part of a line of it.
	mostLogged = 200
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
	Failed bool      `json:"failed,omitempty"` // to be imported then
	Stamp  string    `json:"stamp,omitempty"`
	Steps  int       `json:"steps,omitempty"`
}

// update changes what hooks know of a conversation and returns it.
func (h Hooks) update(ctx context.Context, key string, change func(*talk)) (t talk, err error) {
	err = h.a.v.State().SetSeen(ctx, session.HookTalk+key, func(now []byte) ([]byte, error) {
		if t = (talk{}); json.Unmarshal(now, &t) != nil {
			t = talk{}
		}
		change(&t)
		return json.Marshal(t)
	})
	return t, passing(err)
}

// A lastBrief is what the last brief showed a client of the vault. It lies in local state.
type lastBrief struct {
	Head     vault.Revision `json:"head,omitempty"`
	Proposed int            `json:"proposed,omitempty"`
	Offered  bool           `json:"offered,omitempty"` // the older conversations
	Session  string         `json:"session,omitempty"` // its last conversation
	Started  time.Time      `json:"started,omitzero"`  // and when that began or went on
}

const lastBriefName = "hooks-"

// Handle records an event and returns what the client is to be given for it. It asks no model and waits for nobody:
// what cannot be written now is kept apart and taken up by the next one. It fails with [vault.ErrRefused] and with
// what the disk says.
func (h Hooks) Handle(ctx context.Context, o HookOptions) (*HookReply, error) {
	w := Write{Agent: h.a.o.Agent}
	if err := h.a.check(w, "hook", ""); err != nil {
		return &HookReply{}, err
	}
	if slices.ContainsFunc(append([]string{cmp.Or(o.Dir, h.a.o.Dir)}, o.Roots...), h.excluded) {
		return &HookReply{}, nil
	}
	if o.Tool {
		return nil, fmt.Errorf("session %q: %w: an agent ran this hook, and nothing shows who said what", o.Session,
			vault.ErrRefused)
	}
	switch o.Kind {
	case hook.Start:
		return h.start(ctx, o)
	case hook.Prompt:
		return h.prompt(ctx, o)
	case hook.Stop:
		return h.stop(ctx, o)
	case hook.Answer:
		_, err := h.answer(ctx, o, func(*talk) {})
		return &HookReply{}, err
	case hook.SubStop:
		return &HookReply{}, h.subagent(ctx, o)
	case hook.Compact:
		return h.compact(ctx, o)
	}
	_, err := h.noteEvent(ctx, o, func(*talk) {}) // an end, or an interruption
	return &HookReply{Work: true}, err
}

// noteEvent updates what hooks know of a conversation by an event of it, and by change. Where nothing can be written
// now it returns what the event alone says.
func (h Hooks) noteEvent(ctx context.Context, o HookOptions, change func(*talk)) (talk, error) {
	return h.update(ctx, session.Key(o.Client.Name, o.Session), func(t *talk) {
		t.Client, t.Session, t.Last = o.Client.Name, o.Session, h.a.o.Now().UTC()
		switch o.Kind { // what ends later than its conversation does not open it again
		case hook.End:
			t.Ended = true
		case hook.Start, hook.Prompt:
			t.Ended = false
		}
		if o.Transcript != "" {
			t.Transcript = o.Transcript
		}
		change(t)
	})
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

// record adds a turn to a conversation, or keeps it apart where that cannot be done now.
func (h Hooks) record(ctx context.Context, o HookOptions, t session.Turn) (*Observed, error) {
	if strings.TrimSpace(string(t.Text)) == "" {
		return &Observed{}, nil
	}
	t.Agent, t.Source, t.Ref = o.Client.Name, session.HookDoor, session.HookRef
	t.Project, t.Model, t.Time = o.Dir, o.Model, h.a.o.Now().UTC()
	lost := session.HookMay(ctx, h.a.v, &t)
	if errors.Is(lost, vault.ErrRefused) {
		return &Observed{}, lost
	}
	if len(t.Text) > session.MaxTurn {
		t.Text = t.Text[:session.MaxTurn]
	}
	if lost == nil {
		earlier := session.TakeUp(ctx, h.a.v)
		if lost = earlier; !errors.Is(earlier, vault.ErrBusy) { // what is damaged keeps no later turn out
			done, err := h.a.Sessions().Observe(ctx, t)
			if lost = errors.Join(err, earlier); done != nil {
				return done, lost
			}
			if errors.Is(err, vault.ErrRefused) {
				return &Observed{}, lost
			}
		}
	}
	if errors.Is(lost, vault.ErrBusy) {
		lost = nil
	}
	return &Observed{}, errors.Join(session.Spool(h.a.v, t), lost)
}

// start gives the brief.
func (h Hooks) start(ctx context.Context, o HookOptions) (reply *HookReply, err error) {
	reply = &HookReply{Work: true}
	brief := o.Says(clients.Context)
	if brief {
		text, err := h.brief(ctx, o)
		if err == nil {
			err = reply.say(o, clients.Context, text)
		}
		if err != nil {
			return reply, err
		}
	}
	if o.Source == "compact" { // what was shown is gone from the context
		shown := remindedName + session.Key(o.Client.Name, o.Session)
		err = h.a.v.State().SetSeen(ctx, shown, func([]byte) ([]byte, error) { return nil, nil })
	}
	_, herr := h.noteEvent(ctx, o, func(t *talk) { t.Briefed = t.Briefed || brief })
	return reply, errors.Join(passing(err), herr)
}

// say makes an output of a text, "" for none.
func (r *HookReply) say(o HookOptions, way, text string) (err error) {
	if text != "" {
		r.Output, err = o.Output(way, text)
	}
	return err
}

// passing is err, unless it only says that nothing can be noted now: the client is answered all the same.
func passing(err error) error {
	if errors.Is(err, vault.ErrBusy) || errors.Is(err, vault.ErrReadOnly) {
		return nil
	}
	return err
}

// prompt records a turn of the person's, and says what of the vault it needs.
func (h Hooks) prompt(ctx context.Context, o HookOptions) (*HookReply, error) {
	reply := &HookReply{}
	text := o.Typed()
	if text == "" || o.Agent != "" {
		return reply, nil
	}
	says := o.Says(clients.Context)
	var beside sync.WaitGroup // what needs no turn recorded: recording waits for the disk
	defer beside.Wait()
	var hint []string
	if says && !hook.IsCommand(text) {
		x, _ := h.a.openIndex(false, nil) // that it cannot be opened is told below
		beside.Go(func() {
			hint = h.hint(o, text)
			if x != nil {
				x.Warm()
			}
		})
	}
	done, lost := h.record(ctx, o, session.Turn{Session: o.Session, Role: "user", Text: []byte(text)})
	if passing(lost) != nil {
		return reply, lost
	}
	start, _ := o.Client.Kind(hook.Start)
	stop, _ := o.Client.Kind(hook.Stop)
	brief, nudge := false, ""
	_, err := h.noteEvent(ctx, o, func(t *talk) {
		if t.Turns++; done.Queued {
			t.Due = t.Turns - 1
		}
		if says && len(start.Says) == 0 {
			brief, t.Briefed = !t.Briefed, true
		}
		if says && len(stop.Says) == 0 {
			nudge = h.nudge(o, t)
		}
	})
	if err != nil || !says {
		return reply, errors.Join(lost, err)
	}
	said := ""
	if brief {
		if said, err = h.brief(ctx, o); err != nil {
			return reply, err
		}
	}
	if said += nudge; !hook.IsCommand(text) && h.indexReady(ctx) {
		needed, rerr := h.a.Memories().Remind(ctx, RemindOptions{Prompt: text, Session: o.Session,
			Agent: o.Client.Name})
		if err = passing(rerr); needed != nil {
			said += needed.Text
		}
		beside.Wait()
		said += hook.Fence(hint...)
	}
	return reply, errors.Join(lost, err, reply.say(o, clients.Context, said))
}

// answer records what the program said, and notes the review that is due with it.
func (h Hooks) answer(ctx context.Context, o HookOptions, then func(*talk)) (talk, error) {
	done, lost := h.record(ctx, o, session.Turn{Session: o.Session, Role: "assistant", Text: []byte(o.Message)})
	if passing(lost) != nil {
		return talk{}, lost
	}
	t, err := h.noteEvent(ctx, o, func(t *talk) {
		if done.Queued {
			t.Due = t.Turns
		}
		then(t)
	})
	return t, errors.Join(lost, err)
}

// stop records the answer and, where nothing was saved for long, asks for it.
func (h Hooks) stop(ctx context.Context, o HookOptions) (*HookReply, error) {
	ways := []string{clients.Context, clients.Block}
	if h.a.Settings().Text(settings.HooksNudge) == "block" {
		slices.Reverse(ways)
	}
	i := slices.IndexFunc(ways, o.Says)
	nudge := ""
	_, err := h.answer(ctx, o, func(t *talk) {
		if i >= 0 && !o.Active && !o.Busy && (o.Status == "" || o.Status == "completed") && !o.Asks() {
			nudge = h.nudge(o, t)
		}
	})
	reply := &HookReply{Work: true}
	if nudge != "" && err == nil {
		err = reply.say(o, ways[i], nudge)
	}
	return reply, err
}

// nudge is the request to save something, "" where none is due. It is noted before it is given, so that no
// interval has two.
func (h Hooks) nudge(o HookOptions, t *talk) string {
	every := h.a.every().Turns
	if t.Due == 0 || every == 0 || h.a.Settings().Text(settings.HooksNudge) == "off" {
		return ""
	}
	marks, err := h.a.uncounted(session.Key(o.Client.Name, o.Session))
	if err != nil {
		return "" // the next stop asks
	}
	saved := marks.Turns < t.Turns-t.Due // something was saved since
	if t.Due = 0; saved || t.Nudges >= mostNudges {
		return ""
	}
	t.Nudges++
	return hook.Fence(prompts.HookNudge(every, o.Session, marks.Skill.Asked > marks.Skill.Done))
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
func (h Hooks) compact(ctx context.Context, o HookOptions) (*HookReply, error) {
	now, again := h.a.o.Now().UTC(), false
	_, err := h.noteEvent(ctx, o, func(t *talk) {
		if again = now.Sub(t.Compacted) < onceCompacted; !again {
			t.Compacted = now
		}
	})
	if err != nil || again {
		return &HookReply{}, err
	}
	_, err = h.a.Learning().ask(ctx, o.Client.Name, o.Session)
	if errors.Is(err, vault.ErrNotFound) {
		err = nil // nothing was said yet
	}
	return &HookReply{Work: true}, passing(err)
}

// Fail notes why an event of a session, "" where none is known, was not taken in: a hook fails no agent. Of a private
// conversation nothing is noted. Each part is bounded and holds no secret and nothing that steers a terminal.
func (h Hooks) Fail(ctx context.Context, client, event, of string, why error) error {
	if of != "" {
		turn := session.Turn{Agent: client, Session: of}
		if err := session.HookMay(ctx, h.a.v, &turn); errors.Is(err, session.ErrPrivate) {
			return nil
		}
	}
	line := h.a.o.Now().UTC().Format(time.RFC3339)
	for _, part := range []string{client, event + ":", why.Error()} {
		part = strings.Join(strings.Fields(snapshot.Clean(part)), " ")
		if found := guard.Secrets("", []byte(part)); len(found) > 0 {
			part = guard.Marker(found[0].Rule)
		}
		line += " " + strings.ToValidUTF8(part[:min(len(part), mostLogged)], "")
	}
	return h.a.v.State().Note(hookLog, line, mostLog)
}
