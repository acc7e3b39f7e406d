package llm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// The two wire formats.
const (
	ModeOpenAI    = "chat_completions"
	ModeAnthropic = "anthropic_messages"
)

// Options describe one model and the way to it.
type Options struct {
	Provider string // one of [Providers]; "" is custom
	Model    string
	BaseURL  string // "" is the provider's own
	Mode     string // "" is the provider's own
	Key      Secret // "" sends none
	Price    string // as [ParsePrice] reads it; "" is what is known
	Timeouts Timeouts
	Retry    Retry
}

// A Provider is a server, or a program for one, that stet knows by name.
type Provider struct {
	Name    string
	BaseURL string
	Mode    string
	KeyEnv  string // the variable that its key usually stands in
}

// Providers lists the known ones; "custom" is any other, at BaseURL.
func Providers() []Provider {
	return []Provider{
		{"openai", "https://api.openai.com/v1", ModeOpenAI, "OPENAI_API_KEY"},
		{"anthropic", "https://api.anthropic.com", ModeAnthropic, "ANTHROPIC_API_KEY"},
		{"openrouter", "https://openrouter.ai/api/v1", ModeOpenAI, "OPENROUTER_API_KEY"},
		{"ollama", "http://localhost:11434/v1", ModeOpenAI, ""},
		{"llamacpp", "http://localhost:8080/v1", ModeOpenAI, ""},
		{"lmstudio", "http://localhost:1234/v1", ModeOpenAI, ""},
		{"vllm", "http://localhost:8000/v1", ModeOpenAI, ""},
		{"custom", "", ModeOpenAI, ""},
	}
}

func provider(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name == or(name, "custom") {
			return p, true
		}
	}
	return Provider{}, false
}

// New checks o, with [ErrSetup], and returns a client for it. It makes no
// connection.
func New(o Options) (Client, error) {
	p, ok := provider(o.Provider)
	if !ok {
		return nil, fmt.Errorf("%w: there is no provider %q", ErrSetup, o.Provider)
	}
	o.Provider, o.BaseURL, o.Mode = p.Name, or(o.BaseURL, p.BaseURL), or(o.Mode, p.Mode)
	switch {
	case o.Model == "":
		return nil, fmt.Errorf("%w: it has no name", ErrSetup)
	case o.BaseURL == "":
		return nil, fmt.Errorf("%w: provider custom needs a base URL", ErrSetup)
	case o.Mode != ModeOpenAI && o.Mode != ModeAnthropic:
		return nil, fmt.Errorf("%w: there is no API mode %q", ErrSetup, o.Mode)
	}
	u, err := address(o)
	if err != nil {
		return nil, err
	}
	m := Model{Provider: o.Provider, Name: o.Model, Host: u.Host, Price: priceOf(o.Model)}
	if m.Price.Status == CostEstimated && !near(u.Hostname()) {
		m.Window = listedWindow
	}
	switch {
	case o.Price != "":
		if m.Price, err = ParsePrice(o.Price); err != nil {
			return nil, err
		}
	case near(u.Hostname()):
		m.Price = Price{Status: CostFree}
	}
	t := o.Timeouts.filled()
	c := call{model: m, key: o.Key, http: newTransport(o), firstByte: t.FirstByte, whole: t.Whole}
	if o.Mode == ModeAnthropic {
		return &anthropicClient{call: c, url: u.JoinPath("v1", "messages").String()}, nil
	}
	return newOpenAI(c, u), nil
}

// address brings a base URL into the one form that each API mode needs: people
// copy them with and without "/v1" and with the path of the call.
func address(o Options) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(o.BaseURL))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: the base URL is no http:// or https:// address", ErrSetup)
	case u.User != nil:
		return nil, fmt.Errorf("%w: the base URL holds a name or password; the key belongs into an environment variable", ErrSetup)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%w: the base URL holds more than an address", ErrSetup)
	case o.Key != "" && u.Scheme == "http" && !near(u.Hostname()):
		return nil, fmt.Errorf("%w: the key would cross the network to %s in the clear; use https://", ErrSetup, u.Host)
	case strings.ContainsFunc(string(o.Key), func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("%w: the key holds characters that no key has; was it copied whole?", ErrSetup)
	}
	p := strings.TrimRight(u.Path, "/")
	for _, tail := range []string{"/chat/completions", "/messages"} {
		p = strings.TrimSuffix(p, tail)
	}
	if o.Mode == ModeAnthropic {
		p = strings.TrimSuffix(p, "/v1")
	} else if p == "" {
		p = "/v1"
	}
	u.Path, u.RawPath = p, ""
	return u, nil
}

// near hosts are this machine or its own network: what they do costs nothing.
func near(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost")
}

// A call is what the clients of both formats share.
type call struct {
	model Model
	key   Secret
	http  *transport

	firstByte, whole time.Duration
}

// Model says who answers.
func (c *call) Model() Model { return c.model }

func (c *call) fail(kind error, status int, detail string) *CallError {
	e := &CallError{Kind: kind, Model: c.model.Name, Host: c.model.Host, Status: status, Detail: c.key.tell(detail)}
	switch {
	case kind == ErrKey:
		e.hint = "check the variable that models.*.key_env names; keys go into the environment, never into a file"
	case status == http.StatusTooManyRequests:
		e.hint = "wait a little, or look at the limits of your account"
	case status == http.StatusNotFound:
		e.hint = "check models.*.model and models.*.base_url; a local server must have the model pulled"
	}
	return e
}

// broken is the error of a call that got no answer, or not all of it.
func (c *call) broken(ctx context.Context, err error, began bool) error {
	if cause := context.Cause(ctx); cause != nil {
		if !errors.Is(cause, errWhole) && !errors.Is(cause, errSlow) {
			return cause // the caller's own
		}
		err = cause
	}
	e := c.fail(ErrUnavailable, 0, bare(err).Error())
	e.spent = began || errors.Is(err, errFirstByte) || errors.Is(err, errWhole) || errors.Is(err, errSlow)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Detail, e.hint = "nothing listens there", "start the server, or check models.*.base_url"
	case errors.Is(err, errTooBig):
		e.Kind = ErrAbsurd
	case errors.Is(err, errFirstByte):
		e.hint = "a model that is slow to load needs a larger models.*.timeout"
	case errors.Is(err, errSlow):
		e.hint = "a model that is slow needs a larger models.*.timeout"
	}
	return e
}

// refused is the error of an answer that is none: HTTP said so.
func (c *call) refused(status int, code, message string) error {
	text := strings.ToLower(code + " " + message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return c.fail(ErrKey, status, message)
	case status == http.StatusPaymentRequired || has("insufficient_quota", "credit balance"):
		e := c.fail(ErrUnavailable, status, message)
		e.hint = "the account has no credit left"
		return e
	case status == http.StatusRequestEntityTooLarge, status < 500 && has("context length", "context_length", "prompt is too long", "context window", "exceeds the available context"):
		return c.fail(ErrTooLong, status, message)
	case status < 500 && has("content_policy", "content policy", "content_filter", "moderation"):
		return c.fail(ErrRefused, status, message)
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500, status == 0:
		return c.fail(ErrUnavailable, status, message)
	}
	return c.fail(ErrRejected, status, message)
}

// complete checks an answer that came to its end.
func (c *call) complete(req Request, reply Reply) (Reply, error) {
	reply.Text = withoutThinking(strings.ToValidUTF8(reply.Text, "\uFFFD"))
	reply.Usage = c.model.Price.charge(counted(reply.Usage, req, reply))
	for _, call := range reply.Calls {
		if call.Name == "" {
			return Reply{Usage: reply.Usage}, c.spent(ErrAbsurd, "it calls a tool without a name")
		}
	}
	if strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0 {
		if reply.Stop == StopLength {
			return Reply{Usage: reply.Usage}, c.spent(ErrTooLong, "it used up its tokens before it said anything")
		}
		return Reply{Usage: reply.Usage}, c.spent(ErrAbsurd, "it is empty")
	}
	return reply, nil
}

func (c *call) spent(kind error, detail string) error {
	e := c.fail(kind, 0, detail)
	e.spent = true
	return e
}

// ended is the error of an answer that ended badly.
func (c *call) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errNonsens):
		return c.spent(ErrAbsurd, err.Error())
	case errors.Is(err, errEndless):
		return c.spent(ErrTooLong, err.Error())
	case errors.Is(err, ErrRefused):
		return c.spent(ErrRefused, "")
	}
	return c.broken(ctx, err, true)
}

// lost is what a call that broke off has used up, as far as it came.
func (c *call) lost(req Request, reply Reply) Reply {
	return Reply{Usage: c.model.Price.charge(counted(reply.Usage, req, reply))}
}

// withoutThinking drops the thoughts that some local models write in front of
// their answer.
func withoutThinking(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	for _, tag := range []string{"think>", "thinking>"} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "<"+tag); ok {
			if _, answer, ok := strings.Cut(rest, "</"+tag); ok {
				return strings.TrimLeft(answer, " \t\r\n")
			}
		}
	}
	return text
}
