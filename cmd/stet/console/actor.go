package console

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"stet/agent"
	"stet/vault"
	"stet/vault/settings"
)

// A client is a program that runs commands as an agent's tools, and the variable that it sets for
// them alone. Source says where that is written, and when it was looked up.
type client struct{ name, variable, value, source string }

// clients lists the variables that are known to mean an agent's tool process. Those that a client
// also sets for shells that a person types in are not among them.
func clients() []client {
	return []client{
		{"claude-code", "CLAUDECODE", "1", "github.com/anthropics/claude-code/issues/531, 2026-11-22"},
		{"codex", "CODEX_THREAD_ID", "", "github.com/openai/codex/issues/36883, 2026-11-22"},
		{"cursor", "CURSOR_AGENT", "1", "forum.cursor.com/t/132427, 2026-11-22"},
		{"gemini-cli", "GEMINI_CLI", "1",
			"github.com/google-gemini/gemini-cli/blob/main/docs/cli/commands.md, 2026-11-22"},
	}
}

// me is what the user gives to --as among the tools of an agent.
const me = "me"

// Identify finds out who acts: whom --as names, else STET_AGENT, else the client whose tool this
// process is, else whom the command takes for granted. "--as me" among an agent's tools asks on the
// controlling terminal; without one, or with another answer than yes, it is a [vault.ErrRefused].
func Identify(e *Env, in *Input) error {
	among, err := e.among()
	if err != nil {
		return err
	}
	switch as := in.String("as"); {
	case as == me && among != "":
		if err := confirmMe(in.Definition.Name, among); err != nil {
			return err
		}
		e.via = among
	case as != me && as != "":
		e.actor = as
	case as == "":
		e.actor = cmp.Or(among, in.Definition.Actor)
	}
	if e.actor != "" {
		e.Environment = agent.NewEnvironment(e.options(e.flags))
	}
	return nil
}

// among is the agent in whose environment this process runs, "" for none.
func (e *Env) among() (string, error) {
	if name := e.Getenv("STET_AGENT"); name != "" && name != me {
		return name, nil
	}
	for _, c := range clients() {
		if v := e.Getenv(c.variable); v == "" || c.value != "" && v != c.value {
			continue
		}
		s, err := e.Settings()
		if err != nil || !s.Bool(settings.AgentsDetect) {
			return "", err
		}
		return c.name, nil
	}
	return "", nil
}

// confirmMe asks on the controlling terminal, which an agent's tools do not have.
func confirmMe(command, among string) (err error) {
	refused := vault.WithHint(fmt.Errorf("%s --as me: %w: this runs among the tools of %q, and nobody confirms it",
		command, vault.ErrRefused, among), `"stet help agents" lists what an agent may do`)
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return refused
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	if _, err := fmt.Fprintf(terminal, "stet %s runs among the tools of %s. Is it you? [y/N] ", command,
		Line1(among)); err != nil {
		return err
	}
	answer, err := bufio.NewReader(terminal).ReadString('\n')
	if err != nil || !strings.EqualFold(strings.TrimSpace(answer), "y") {
		return refused
	}
	return nil
}
