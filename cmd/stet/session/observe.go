package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
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
			--as with every turn, or with none; stet's own id means the conversation that has it. An agent adds to
			what it records itself, and neither to what hooks of a client record nor to what you imported.`,
		Examples: `stet observe --session 4711 --role user "Which port does the gate use?"  # one turn
			stet observe --session 4711 --role assistant --model small-1 - < reply.txt  # from standard input
			stet observe --session 4711 --role tool --name grep --call c1 "3 lines"  # what a tool answered
			stet observe --session 7ck2ma --role user "The spare one is blue."  # adds it to an earlier one`,
		Flags: console.Flags(
			console.Text("session", "the conversation's `ID`, as stet or the agent calls it (also: STET_SESSION)"),
			console.Text("role", "who speaks: `ROLE` user, assistant, tool or system"),
			console.Text("as", "the agent `NAME` whose conversation it is (also: STET_AGENT)"),
			console.Text("name", "the `NAME` of the speaker or the tool"),
			console.Text("model", "the `MODEL` that answered"),
			console.Text("project", "the `NAME` of the project that the conversation is about"),
			console.Text("title", "what the conversation is called, instead of its first words: `TEXT`"),
			console.Text("parent", "the session `ID` that this one goes on from or works for, as stet or "+
				"the agent calls it"),
			console.Text("source", "how it was held: `WORD` cli, voice, sms, hook, ...", console.Door),
			console.Text("call", "of a tool's answer, the `ID` of the call"),
			console.Text("ref", "the `ID` that the message has elsewhere"),
			console.Text("time", "when it was said, if not now: `TIME` as RFC 3339"),
			console.Number("tokens", "the message has `N` tokens"),
			console.Text("calls", "calls of tools that it makes, as `JSON`: [{\"id\", \"name\", \"arguments\"}]"),
			console.Text("provider", "the `NAME` of the service that ran the model"),
			console.Text("model-config", "the settings of the model, a line of `TEXT`"),
			console.Text("usage", "tokens that the turn took: `IN/OUT`, or IN/OUT/CACHED; they add up"),
			console.Text("cost", "what it cost in US `DOLLARS`; it adds up"),
			console.Bool("private", "keep the whole conversation from agents"),
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
		if t.Session, err = a.Sessions().Meant(ctx, t.Agent, t.Session); err != nil {
			return err
		}
		done, err := a.Sessions().Observe(ctx, t)
		if err != nil {
			return err
		}
		if e.OutTerminal {
			e.Note("added to the conversation %s, open until \"stet session end %[1]s\" writes it into its file",
				short(done.Key))
		}
		if err := e.Show(done, func(*console.Printer) {}); err != nil || !done.Background {
			return err
		}
		if err := e.Spawn("-C", a.Root(), "worker", "run", "--quiet"); err != nil {
			e.Warn("start the review that is due: %v; \"stet worker run\" makes it", err)
		}
		return nil
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
		Provider: in.String("provider"), ModelConfig: in.String("model-config"), Private: in.Bool("private"),
	}
	if err := spent(&t, in); err != nil {
		return t, err
	}
	switch {
	case t.Session == "":
		return t, agent.Usagef("observe needs --session ID").
			Suggest("any word that names the conversation; STET_SESSION says it once for all turns")
	case t.Role == "":
		return t, agent.Usagef("observe needs --role").Suggest("one of %s", strings.Join(agent.Roles(), ", "))
	case len(in.Words) == 0 && len(t.Calls) == 0:
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
		// The end of the last line is the pipe's, and was not said.
		t.Text = bytes.TrimSuffix(bytes.TrimSuffix(t.Text, []byte("\n")), []byte("\r"))
	}
	return t, nil
}

// spent reads what was called and what the turn took.
func spent(t *session.Turn, in *console.Input) error {
	if text := in.String("calls"); text != "" {
		var calls []struct {
			ID, Name  string
			Arguments json.RawMessage
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&calls); err != nil || decoder.More() {
			return agent.Usagef("--calls is no list of calls: %v", cmp.Or(err, errors.New("more stands behind it"))).
				Suggest(`as [{"id": "c1", "name": "grep", "arguments": {"pattern": "port"}}]`)
		}
		for _, c := range calls {
			if c.Name == "" {
				return agent.Usagef("--calls: a call needs a name")
			}
			var words string // arguments that are text already stay as they are
			if json.Unmarshal(c.Arguments, &words) != nil {
				words = string(c.Arguments)
			}
			t.Calls = append(t.Calls, markdown.ToolCall{ID: c.ID, Name: c.Name, Arguments: []byte(words)})
		}
	}
	if text := in.String("usage"); text != "" {
		var n [3]int
		parts := strings.Split(text, "/")
		for i, part := range parts {
			value, err := strconv.Atoi(part)
			if err != nil || value < 0 || len(parts) < 2 || len(parts) > len(n) {
				return agent.Usagef("--usage %q: not tokens in and out", text).
					Suggest("as 1200/80, or 1200/80/900 with those that were cached")
			}
			n[i] = value
		}
		t.Usage = &markdown.TokenUse{Input: n[0], Output: n[1], CacheRead: n[2]}
	}
	if text := in.String("cost"); text != "" {
		usd, err := strconv.ParseFloat(text, 64)
		if err != nil || !(usd >= 0 && usd < 1e9) {
			return agent.Usagef("--cost %q: not an amount of US dollars", text).Suggest("as 0.0042")
		}
		t.Cost = &usd
	}
	return nil
}
