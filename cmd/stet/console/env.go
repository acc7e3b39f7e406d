package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/tools"
	"stet/vault"
	"stet/vault/settings"
)

// Schema is the number of the JSON envelope. It changes when a field changes
// its meaning or goes away, not when one is added.
const Schema = 1

// An envelope is every successful answer under --json.
type envelope struct {
	Schema   int      `json:"schema"`
	Vault    string   `json:"vault"` // absolute root; "" for commands without a vault
	Command  string   `json:"command"`
	Result   any      `json:"result"`
	Warnings []string `json:"warnings"`
}

// A Failure is every error under --json, on standard error.
type Failure struct {
	Schema int         `json:"schema"`
	Error  failureBody `json:"error"`
}

// A failureBody says what failed. Code is stable and can be branched on; Exit
// is the exit code; Candidates are what an ambiguous or unknown name could mean.
type failureBody struct {
	Code       string      `json:"code"`
	Exit       int         `json:"exit"`
	Message    string      `json:"message"`
	Hint       string      `json:"hint"`
	Candidates []candidate `json:"candidates"`
	More       int         `json:"more,omitempty"`     // candidates that are not listed
	Findings   []finding   `json:"findings,omitempty"` // of the guard
}

// A finding is one place that the guard refused a write for.
type finding struct {
	Rule        string `json:"rule"`
	Line        int    `json:"line,omitempty"` // 0: in a name or in the commit's message
	Column      int    `json:"column,omitempty"`
	Excerpt     string `json:"excerpt"` // without the secret
	Fingerprint string `json:"fingerprint"`
}

// A candidate is one thing that a name could mean.
type candidate struct {
	ID    string `json:"id,omitempty"`
	Short string `json:"short,omitempty"`
	Path  string `json:"path,omitempty"`
	Title string `json:"title,omitempty"`
	Name  string `json:"name,omitempty"`
}

// An Env is one run of one command: the host, the global flags, and what has
// been said so far. It is used by one goroutine.
type Env struct {
	Host
	*agent.Environment
	JSON, Quiet, NoColor, NoInput, NoPager bool

	// Command is the name of the running command, "" before it is known.
	Command string
	// Interrupted is closed at Ctrl-C; nil never is.
	Interrupted <-chan struct{}
	// Busy is set while Ctrl-C must not end the process: the user works in a program that it
	// started, or it saves what it has or clears up.
	Busy atomic.Bool
	// Lasting is set while a command runs that Ctrl-C is to end, and nothing else: it has time to.
	Lasting atomic.Bool

	actor    string // the agent that acts, "" for the user
	via      string // the agent among whose tools the user, or another agent, acts
	tool     bool   // see [agent.Options]
	at       string // -C
	flags    settings.Layer
	colour   string // display.color, "" until a vault is open
	root     string // of the opened vault
	opened   []*agent.App
	warnings []string
	midLine  bool // a line of progress stands on standard error
	status   bool // a line of status stands on standard output
}

// New returns the environment of one run on that host.
func New(h Host) *Env {
	e := &Env{Host: h}
	e.Environment = agent.NewEnvironment(e.options(e.flags))
	return e
}

// ReadFlags takes over the global flags. The error is an [agent.ErrUsage].
func (e *Env) ReadFlags(c *cli.Context) error {
	e.at = c.String("C")
	e.JSON = c.Bool("json")
	e.Quiet = c.Bool("quiet")
	e.NoColor = c.Bool("no-color")
	e.NoInput = c.Bool("no-input")
	e.NoPager = c.Bool("no-pager")
	e.flags = settings.Layer{Source: settings.Flag}
	if wait := c.Duration("lock-wait"); wait < 0 {
		return agent.Usagef("--lock-wait %s: a wait cannot be negative", wait).Suggest("0s does not wait at all")
	} else if c.IsSet("lock-wait") {
		e.flags = e.flags.With(settings.LockWait, wait.String(), "--lock-wait")
	}
	if e.NoColor {
		e.flags = e.flags.With(settings.DisplayColor, "never", "--no-color")
	}
	e.Environment = agent.NewEnvironment(e.options(e.flags))
	return nil
}

// Abs returns the path of a file that the user named, seen from the folder
// the command was started in.
func (e *Env) Abs(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.Dir, name)
}

// Note says something on standard error that is not part of the answer.
func (e *Env) Note(format string, args ...any) {
	if e.Quiet || e.JSON {
		return
	}
	e.say(fmt.Sprintf(format, args...))
}

// Warn says on standard error, and in a JSON answer, that something is not as it
// should be although the command went on.
func (e *Env) Warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(e.warnings, text) {
		return
	}
	e.warnings = append(e.warnings, text)
	if !e.JSON {
		e.say("warning: " + text)
	}
}

// say writes to standard error. When that stream is broken there is nobody
// to tell, so its errors are dropped.
func (e *Env) say(text string) {
	e.clearLine()
	_ = e.clearStatus() // a broken standard output is met by the answer
	line := "stet: " + Line1(e.shown(text))
	if e.ErrTerminal {
		line = fold(line, e.Columns(), len("stet: "))
	}
	_, _ = fmt.Fprintln(e.Err, line)
}

// encode writes one line of JSON. Text stays readable: nothing but what JSON
// itself demands is escaped.
func (e *Env) encode(w io.Writer, v any) error {
	var line strings.Builder
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	told := line.String()
	if e.actor+e.via != "" {
		told = tools.Texts(told, e.shown)
	}
	_, err := io.WriteString(w, told)
	return err
}

// Finish closes what was opened, reports err, if any, and returns the exit code.
func (e *Env) Finish(err error) int {
	err = agent.Told(err)
	found, more := e.candidates(err)
	for _, a := range e.opened {
		if err := a.Close(); err != nil {
			e.Warn("close vault: %v", err) // by now the answer has been given
		}
	}
	if err == nil {
		return ExitDone
	}
	exit, why := Judge(err)
	if errors.Is(err, ErrProblems) {
		return exit // the answer is the list of problems
	}
	hint := why.Hint
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		hint = hinter.Hint()
	}
	if e.JSON {
		// A broken standard error leaves nobody to tell; the exit code remains.
		_ = e.encode(e.Err, Failure{Schema: Schema, Error: failureBody{
			Code: why.Name, Exit: exit, Message: plain(err), Hint: hint, Candidates: found, More: more,
			Findings: findings(err)}})
		return exit
	}
	if exit == ExitInterrupted {
		e.say("interrupted")
		return exit
	}
	for line := range strings.Lines(plain(err)) {
		e.say(strings.TrimSuffix(line, "\n"))
	}
	for _, c := range found {
		if c.Path != "" || c.ID != "" {
			e.say("  " + strings.Join(slices.DeleteFunc([]string{c.Short, c.Title, c.Path},
				func(s string) bool { return s == "" }), "  "))
		}
	}
	if more > 0 {
		e.say(fmt.Sprintf("  and %d more", more))
	}
	if hint != "" {
		e.say("hint: " + hint)
	}
	return exit
}

// plain is the message of an error with the system calls in it in words: "statat x: …" says nothing to a person.
func plain(err error) string {
	text := err.Error()
	calls := map[string]string{"statat": "look at", "lstat": "look at", "stat": "look at", "fstatat": "look at",
		"openat": "open", "unlinkat": "remove", "mkdirat": "make the folder", "mkdir": "make the folder",
		"readlinkat": "read the link", "fdopendir": "list", "readdirent": "list", "renameat": "rename"}
	var at *fs.PathError
	for errors.As(err, &at) {
		if word := calls[at.Op]; word != "" {
			text = strings.Replace(text, at.Op+" "+at.Path+":", word+" "+strconv.Quote(at.Path)+":", 1)
		}
		err = at.Err
	}
	return text
}

// GiveUp tells that a command was interrupted which goes on, and returns the exit code.
func GiveUp(h Host, json bool) int {
	e := New(h)
	e.JSON, e.midLine = json, h.ErrTerminal && !json
	return e.Finish(context.Canceled)
}

func findings(err error) []finding {
	var refused *vault.GuardError
	if !errors.As(err, &refused) {
		return nil
	}
	out := make([]finding, 0, len(refused.Findings))
	for _, f := range refused.Findings {
		out = append(out,
			finding{Rule: f.Rule, Line: f.Line, Column: f.Column, Excerpt: f.Excerpt, Fingerprint: f.Fingerprint})
	}
	return out
}

// mostCandidates bounds the candidates that an error lists.
const mostCandidates = 10

// candidates are what an ambiguous or unknown name could mean, and how many more there are.
func (e *Env) candidates(err error) (out []candidate, more int) {
	out = []candidate{}
	if many := (*vault.AmbiguousError)(nil); errors.As(err, &many) {
		listed := many.Candidates[:min(len(many.Candidates), mostCandidates)]
		more = len(many.Candidates) - len(listed)
		ids := make([]string, 0, len(listed))
		for _, m := range listed {
			ids = append(ids, m.ID)
		}
		var short map[string]string
		if len(e.opened) > 0 {
			short = e.opened[0].Shorts(ids)
		}
		for _, m := range listed {
			out = append(out, candidate{ID: m.ID, Short: short[m.ID], Path: string(m.Path), Title: m.Headline()})
		}
	}
	if none := (*vault.NotFoundError)(nil); errors.As(err, &none) {
		for _, n := range none.Near {
			out = append(out, candidate{Name: n})
		}
	}
	return out, more
}
