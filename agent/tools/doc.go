// Package tools is what a model may do with a vault: eight tools with a JSON Schema each, one
// implementation for the command line, reviews, MCP and tests.
//
// A call never panics and never writes half of what it was asked for. A call that is refused, or that
// cannot mean anything, changes nothing and is a reply that says why. Replies are one line of JSON,
// bounded in size; what was left out of one is counted there. Nothing private is in any of them.
//
// Arguments are one JSON object and are read by one rule, for all tools: a key that the tool does not
// have is refused, and so is a key that stands there twice; null is as good as no key; a number or
// boolean in quotes counts as what it says, and so does a list in quotes that is JSON; q is query, content
// is text, and id or path is ref, where a tool has those; any other value of another type is refused.
//
//	box := tools.New(app, tools.Options{Session: "4711"}) // app was opened with agent.Options.Agent
//	reply, err := box.Call(ctx, "memory_save", json.RawMessage(`{"text": "Production runs on MySQL 8.4."}`))
package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"stet/agent"
	"stet/agent/llm"
	"stet/templates"
	"stet/vault"
)

// Options say for whom the tools work.
type Options struct {
	Agent   string // who writes; "" is the agent that the App was opened for
	Actor   string // of the commits: nudge…; "" is agent
	Door    string // of the commits; "" is that of the App
	Session string // noted in the commits, unless a call names another one
	// Review is set for a review of a conversation: of a skill only a file that was viewed is changed.
	Review bool
	// Shown is done to each text of a reply; nil is nothing.
	Shown func(string) string
	// Only are the tools that there are, "skill.view" for one action of a tool; empty is all.
	Only []string
}

// A Box is the tools for one session of one agent. It is safe for concurrent use.
type Box struct {
	app  *agent.App
	o    Options
	all  []tool
	mu   sync.Mutex // one call at a time: an App serves one goroutine
	past *memory
}

// A memory is what one session remembers of its calls.
type memory struct {
	mu     sync.Mutex
	lost   []failure       // calls that failed, the latest last
	viewed map[string]bool // files of skills that were shown
}

// A failure is a call that failed, some times in a row.
type failure struct {
	about [sha256.Size]byte // the hash of what the call was about
	times int
	head  vault.Revision // when it failed last
}

// take is what is known of the failures of a call, which it forgets.
func (m *memory) take(about [sha256.Size]byte) failure {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.lost, func(f failure) bool { return f.about == about })
	if i < 0 {
		return failure{about: about}
	}
	f := m.lost[i]
	m.lost = slices.Delete(m.lost, i, i+1)
	return f
}

// note keeps a failure in mind, with the latest ones.
func (m *memory) note(f failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const most = 100
	m.lost = append(m.lost[max(len(m.lost)-most+1, 0):], f)
}

// New returns the tools over a vault that was opened for an agent; over nil they can be listed.
func New(app *agent.App, o Options) *Box {
	if o.Agent == "" && app != nil {
		o.Agent = app.Agent()
	}
	b := &Box{app: app, o: o, past: &memory{viewed: map[string]bool{}}}
	for _, t := range table() {
		if t, ok := t.only(o.Only); ok {
			b.all = append(b.all, t)
			if o.Actor == "" && !b.Hint(t.name).Reads { // a review knows which one it is of
				b.all[len(b.all)-1].params = append(t.params, param{name: sessionArg, kind: text})
			}
		}
	}
	return b
}

// On is the same box for the next call, over another look at the vault: it knows what failed and what was
// viewed before.
func (b *Box) On(app *agent.App) *Box {
	next := &Box{app: app, o: b.o, all: b.all, past: b.past}
	next.o.Agent = app.Agent()
	return next
}

// A Hint says of a tool what a client shows of it, and when it need not ask.
type Hint struct {
	Title       string
	Reads       bool // it changes nothing
	Destructive bool // it takes something away or changes it, though history keeps all
	Idempotent  bool // done twice it is as done once
	Long        bool // a reply may be a whole text
}

// Hint is that of one of the tools, as far as they may be used.
func (b *Box) Hint(name string) Hint {
	i := slices.IndexFunc(b.all, func(t tool) bool { return t.name == name })
	if i < 0 {
		return Hint{}
	}
	t := b.all[i]
	writes := func(action string) bool { return !slices.Contains(t.reads, action) }
	for _, p := range t.params {
		if p.name == "action" && !slices.ContainsFunc(p.enum, writes) {
			return Hint{Title: t.hint.Title, Reads: true, Idempotent: true, Long: t.hint.Long}
		}
	}
	return t.hint
}

// Reading are the tools, and the actions of tools, that change nothing, for Options.Only.
func Reading() (names []string) {
	for _, t := range table() {
		if t.hint.Reads {
			names = append(names, t.name)
		}
		for _, action := range t.reads {
			names = append(names, t.name+"."+action)
		}
	}
	return names
}

// Memories are those of Reading and the tools that write memories, for Options.Only.
func Memories() []string {
	names := Reading()
	for _, t := range table() {
		if !t.hint.Reads && t.reads == nil {
			names = append(names, t.name)
		}
	}
	return names
}

// Tools describes the tools, always in the same order.
func (b *Box) Tools() []llm.Tool {
	out := make([]llm.Tool, 0, len(b.all))
	for _, t := range b.all {
		out = append(out, llm.Tool{Name: t.name, Description: strings.Join(strings.Fields(t.about), " "),
			Schema: t.schema()})
	}
	return out
}

// Call carries out one call. A call that is refused is a reply that says why; err is set only where
// the caller must stop: it was cancelled, or the vault cannot be used.
func (b *Box) Call(ctx context.Context, name string, args json.RawMessage) (reply string, err error) {
	reply, why := b.Answer(ctx, name, args)
	for _, stop := range []error{ctx.Err(), vault.ErrDamaged, vault.ErrReadOnly, errNoAgent} {
		if stop != nil && errors.Is(why, stop) {
			return "", why
		}
	}
	return reply, nil
}

// tries is how often in a row one call may fail before it waits for the vault to change: a model that repeats
// itself does not listen.
const tries = 3

// blamed reports whether a call failed for what it asked. Any other failure may have passed when it is made again.
func blamed(err error) bool {
	return slices.ContainsFunc([]error{agent.ErrUsage, vault.ErrInvalid, vault.ErrRefused, vault.ErrRejected,
		vault.ErrConflict, vault.ErrNotFound, vault.ErrAmbiguous, vault.ErrNoRevision, vault.ErrBadPath,
		vault.ErrNotRegular, vault.ErrTooLarge, fs.ErrNotExist}, func(one error) bool { return errors.Is(err, one) })
}

// errNoAgent is a mistake of the caller's: the tools would show what is private.
var errNoAgent = errors.New("tools work on a vault that was opened for an agent")

// Answer is [Box.Call] with the reason of a refusal, nil for none.
func (b *Box) Answer(ctx context.Context, name string, args json.RawMessage) (reply string, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.app.Agent() == "" {
		return Refusal(errNoAgent), errNoAgent
	}
	i := slices.IndexFunc(b.all, func(t tool) bool { return t.name == name })
	if i < 0 {
		err := agent.Usagef("there is no tool %q", name).Suggest("the tools: %s", strings.Join(b.names(), ", "))
		return b.shown(Refusal(err)), err
	}
	t := b.all[i]
	in, err := read(args, t.params, "")
	about := t.name + " " + string(args)
	if err == nil {
		about = t.name + " " + in.about(t.params)
	}
	past := b.past.take(sha256.Sum256([]byte(about)))
	head := b.app.Head()
	stuck := past.times >= tries && past.head == head
	if stuck {
		err = agent.Usagef("this call failed %s, and the vault is as it was", templates.Plural(tries, "time")).
			Suggest("go on without it, and tell the user what did not work")
	}
	var out any
	if err == nil {
		call := &Box{app: b.app, o: b.o, all: b.all, past: b.past}
		if !t.hint.Reads && in.text(sessionArg) != "" {
			call.o.Session = in.text(sessionArg)
			delete(in, sessionArg)
		}
		out, err = t.run(ctx, call, in)
	}
	switch {
	case err != nil && ctx.Err() == nil && blamed(err) && !stuck:
		b.past.note(failure{past.about, past.times + 1, head})
	case err != nil && past.times > 0:
		b.past.note(past)
	}
	if err != nil {
		err = agent.Told(err)
		return b.shown(Refusal(err)), err
	}
	if d, wrote := out.(*done); wrote {
		d.Vault = b.app.Root()
	}
	return b.shown(render(out)), nil
}

// shown is a reply without what an agent is not told.
func (b *Box) shown(reply string) string { return Texts(reply, b.clean) }

func (b *Box) clean(text string) string {
	if text = b.app.Shown(text); b.o.Shown != nil {
		text = b.o.Shown(text)
	}
	return text
}

func (b *Box) names() (out []string) {
	for _, t := range b.all {
		out = append(out, t.name)
	}
	return out
}

// sessionArg is the argument of the tools that write by which a call says which conversation it is of: a client's
// server may outlive the one that it was started in, and know of none.
const sessionArg = "session"

// by says who writes.
func (b *Box) by() agent.Write {
	return agent.Write{Agent: b.o.Agent, Actor: b.o.Actor, Door: b.o.Door, Session: b.o.Session}
}

// because is [Box.by] with the turn that asks for a call.
func (b *Box) because(in arguments) agent.Write {
	w := b.by()
	w.Because = in.text("because")
	return w
}

// A tool is one row of the table.
type tool struct {
	name   string
	about  string // for the model, a paragraph
	hint   Hint
	reads  []string // of its actions, those that change nothing
	params []param
	run    func(ctx context.Context, b *Box, in arguments) (any, error)
}

func table() []tool {
	return []tool{memorySearch(), memoryRead(), memorySave(), memoryEdit(), memoryForget(), sessionSearch(), skills(),
		history()}
}

// only is t with the actions that are wanted; ok is false where none is.
func (t tool) only(wanted []string) (_ tool, ok bool) {
	if len(wanted) == 0 || slices.Contains(wanted, t.name) {
		return t, true
	}
	for i, p := range t.params {
		if p.name != "action" {
			continue
		}
		t.params = slices.Clone(t.params)
		t.params[i].enum = slices.DeleteFunc(slices.Clone(p.enum), func(a string) bool {
			return !slices.Contains(wanted, t.name+"."+a)
		})
		return t, len(t.params[i].enum) > 0
	}
	return t, false
}
