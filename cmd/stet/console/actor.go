package console

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"stet/agent"
	"stet/agent/clients"
	"stet/vault"
	"stet/vault/settings"
)

// me is what the user gives to --as among the tools of an agent.
const me = "me"

// Identify finds out who acts: whom --as names, else STET_AGENT, else the client whose tool this
// process is, else whom the command takes for granted. "--as me" among an agent's tools asks on the
// controlling terminal; without one, or with another answer than yes, it is a [vault.ErrRefused], and without a
// question for all that [agent.AsMe] does not name. What is written so is shown no more than the agent is. No agent
// records a conversation of another client.
func Identify(e *Env, in *Input) error {
	among, err := e.among()
	if err != nil {
		return err
	}
	switch as := in.String("as"); {
	case as == me && among != "":
		if err := confirmMe(in, among); err != nil {
			return err
		}
		e.via = among
	case as != me && as != "":
		if e.actor = as; among != as {
			e.via = among
		}
		if name := in.Definition.Name; e.via != "" && (name == "observe" || name == "session") &&
			slices.Contains(clients.Names(), as) {
			return vault.WithHint(fmt.Errorf("%s --as %s: %w: this runs among the tools of %q", name, as,
				vault.ErrRefused, among), "what %s itself recorded counts as the user's; leave --as out", as)
		}
	case as == "":
		e.actor = cmp.Or(among, in.Definition.Actor)
	}
	// A client starts its hooks, what they start, and its server itself: there the environment is the user's.
	client, _ := clients.Find(among)
	e.tool = among != "" && !slices.Contains([]string{"hook", "mcp"}, in.Definition.Name) &&
		(e.Getenv("STET_AGENT") != "" || clients.RunsHook(e.Getenv) || !client.Harness(e.Getenv))
	if e.actor != "" || e.via != "" {
		e.Environment = agent.NewEnvironment(e.options(e.flags))
	}
	return nil
}

// among is the agent in whose environment this process runs, "" for none.
func (e *Env) among() (string, error) {
	if name := e.Getenv("STET_AGENT"); name != "" && name != me {
		return name, nil
	}
	tool := clients.ToolOf(e.Getenv)
	if tool == "" {
		return "", nil
	}
	s, err := e.Settings()
	if err != nil || !s.Bool(settings.AgentsDetect) {
		return "", err
	}
	return tool, nil
}

// confirmMe asks on the controlling terminal, which an agent's tools do not have.
func confirmMe(in *Input, among string) (err error) {
	command := strings.TrimSpace(in.Definition.Name + " " + in.Word(0))
	refused := func(why, hint string) error {
		return vault.WithHint(fmt.Errorf("%s --as me: %w: this runs among the tools of %q, %s", in.Definition.Name,
			vault.ErrRefused, among, why), "%s", hint)
	}
	if !agent.AsMe(command, in.IsSet) {
		return refused("which could answer in your name", "open a terminal that no agent started, and do it there")
	}
	nobody := refused("and nobody confirms it", `"stet help agents" lists what an agent may do`)
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nobody
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	if _, err := fmt.Fprintf(terminal, "stet %s runs among the tools of %s. Is it you? [y/N] ",
		in.Definition.Name, Line1(among)); err != nil {
		return err
	}
	answer, err := bufio.NewReader(terminal).ReadString('\n')
	if err != nil || !strings.EqualFold(strings.TrimSpace(answer), "y") {
		return nobody
	}
	return nil
}
