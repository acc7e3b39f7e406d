package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/session"
)

func observeCommand() *console.Command {
	return &console.Command{
		Name: "observe", Group: console.Session,
		Summary: "add one turn to a conversation, and return at once",
		Args:    "TEXT... | -", MaxArgs: -1,
		Details: `The turn is on disk when the command returns, in local state that never travels: nothing is
			committed, no index is opened and no writer is waited for. The conversation begins with its first turn.
			It is sealed, as a transcript below sessions/, by "stet session end", or by the next command that writes
			once it has been idle for session.idle_minutes. An id that is not stet's own is that of one agent: give
			--as with every turn, or with none.`,
		Examples: `stet observe --session 4711 --role user "Which port does the gate use?"  # one turn
			stet observe --session 4711 --role assistant --model small-1 - < reply.txt  # from standard input
			stet observe --session 4711 --role tool --name grep --call c1 "3 lines"  # what a tool answered`,
		Flags: console.Flags(
			console.Text("session", "the conversation's `ID`, as stet or the agent calls it (also: STET_SESSION)"),
			console.Text("role", "who speaks: `ROLE` user, assistant, tool or system"),
			console.Text("as", "the agent `NAME` whose conversation it is (also: STET_AGENT)"),
			console.Text("name", "the `NAME` of the speaker or the tool"),
			console.Text("model", "the `MODEL` that answered"),
			console.Text("project", "the `NAME` of the project that the conversation is about"),
			console.Text("title", "what the conversation is called, instead of its first words: `TEXT`"),
			console.Text("parent", "the session `ID` that this one goes on from or works for"),
			console.Text("source", "how it was held: `WORD` cli, voice, sms, hook, ...", console.Door),
			console.Text("call", "of a tool's answer, the `ID` of the call"),
			console.Text("ref", "the `ID` that the message has elsewhere"),
			console.Text("time", "when it was said, if not now: `TIME` as RFC 3339"),
			console.Number("tokens", "the message has `N` tokens"),
		),
		Run: runObserve,
	}
}

func runObserve(ctx context.Context, e *console.Env, in *console.Input) error {
	t, err := turnOf(e, in)
	if err != nil {
		return err
	}
	// Read-only waits for no writer: a turn is no part of the vault's tree.
	return e.With(ctx, true, func(a *agent.App) error {
		done, err := a.Sessions().Observe(ctx, t)
		if err != nil {
			return err
		}
		return e.Show(done, func(*console.Printer) {})
	})
}

func turnOf(e *console.Env, in *console.Input) (session.Turn, error) {
	t := session.Turn{
		Session: cmp.Or(in.String("session"), e.Getenv("STET_SESSION")),
		Agent:   e.By(in).Agent,
		Source:  in.String("source"), Project: in.String("project"), Parent: in.String("parent"),
		Title: in.String("title"),
		Model: in.String("model"), Role: in.String("role"), Name: in.String("name"), Ref: in.String("ref"),
		Call: in.String("call"), Tokens: in.Int("tokens"),
	}
	switch {
	case t.Session == "":
		return t, agent.Usagef("observe needs --session ID").
			Suggest("any word that names the conversation; STET_SESSION says it once for all turns")
	case t.Role == "":
		return t, agent.Usagef("observe needs --role").Suggest("one of %s", strings.Join(agent.Roles(), ", "))
	case len(in.Words) == 0:
		return t, agent.Usagef("nothing was said").
			Suggest(`give the text as an argument, or "-" to read standard input`)
	}
	var err error
	if t.Time, err = e.Time(in.String("time")); err != nil {
		return t, err
	}
	text := strings.Join(in.Words, " ")
	if t.Text = []byte(text); text == "-" && in.Literal > 0 {
		if t.Text, err = io.ReadAll(io.LimitReader(e.In, session.MaxTurn+1)); err != nil {
			return t, fmt.Errorf("read standard input: %w", err)
		}
	}
	return t, nil
}
