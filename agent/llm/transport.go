package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Timeouts bound the parts of a call.
type Timeouts struct {
	Connect time.Duration // 0 is 10 s
	// FirstByte is from the request to the first byte of the answer; 0 is 2 min, since a local model may have to be
	// loaded. A quarter more, or a second, is what the call may take with its retries, and a second for each 16 bytes
	// that the answer says.
	FirstByte time.Duration
	Idle      time.Duration // between two bytes of the answer; 0 is 1 min
	Whole     time.Duration // the call with its retries, whatever it says; 0 is 15 min
}

// Retry says how often and how patiently a call is tried again.
type Retry struct {
	Max     int           // 0 is 3, negative none
	First   time.Duration // the pause before the second try, doubled before each further one; 0 is 500 ms
	Longest time.Duration // the longest pause; a server that asks for more is unavailable; 0 is 30 s
}

func or[T comparable](v, deflt T) T {
	var zero T
	if v == zero {
		return deflt
	}
	return v
}

func (t Timeouts) filled() Timeouts {
	return Timeouts{or(t.Connect, 10*time.Second), or(t.FirstByte, 2*time.Minute), or(t.Idle, time.Minute), or(t.Whole, 15*time.Minute)}
}

// These end a body from within.
var (
	errFirstByte = errors.New("no answer in time")
	errIdle      = errors.New("the answer stopped coming")
	errTooBig    = errors.New("the answer is larger than any answer should be")
	errRedirect  = errors.New("it redirects to another address, which is not followed")
)

const (
	maxBody = 16 << 20 // bytes; an answer of 100,000 tokens in single events has 20 % of it
	maxPeek = 64 << 10 // bytes of an error that are looked at
)

// A transport sends requests to one server.
type transport struct {
	client *retryablehttp.Client
}

func newTransport(o Options) *transport {
	t, r := o.Timeouts.filled(), o.Retry
	base := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: t.Connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: t.Connect, IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.HTTPClient = &http.Client{
		Transport:     &watched{base: base, firstByte: t.FirstByte, idle: t.Idle},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.RetryMax = max(or(r.Max, 3), 0)
	c.RetryWaitMin, c.RetryWaitMax = or(r.First, 500*time.Millisecond), or(r.Longest, 30*time.Second)
	c.Backoff = pause
	c.CheckRetry = func(ctx context.Context, resp *http.Response, err error) (bool, error) {
		return retriable(ctx, resp, err, c.RetryWaitMax), nil
	}
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return &transport{c}
}

// Do sends a request, again where that may help, until an answer begins. What
// is no stream of events becomes one of a single event.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	r, err := retryablehttp.FromRequest(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, errors.Join(errRedirect, resp.Body.Close())
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode == http.StatusOK && kind == "application/json" {
		return asEvent(resp)
	}
	return resp, nil
}

// asEvent makes a stream of a whole answer: some servers do not stream.
func asEvent(resp *http.Response) (*http.Response, error) {
	data, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	line := bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' ' // between tokens: inside a string JSON has them escaped
		}
		return r
	}, data)
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("data: "), bytes.NewReader(line), strings.NewReader("\n\ndata: [DONE]\n\n")))
	return resp, nil
}

// pause waits as the server says, else twice as long each time, by chance
// shorter so that clients that failed together do not return together.
func pause(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
	if wait, ok := asked(resp); ok {
		return wait
	}
	wait := min(least<<min(attempt, 16), most)
	return wait/2 + time.Duration(rand.Int64N(int64(wait/2)+1))
}

// asked is the pause that a server asks for.
func asked(resp *http.Response) (time.Duration, bool) {
	if resp == nil || resp.Header.Get("Retry-After") == "" {
		return 0, false
	}
	const none = -1
	// The library heeds the header of these answers only.
	same := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: resp.Header}
	wait := retryablehttp.DefaultBackoff(none, none, 0, same)
	return wait, wait >= 0
}

func retriable(ctx context.Context, resp *http.Response, err error, longest time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		return !hopeless(err)
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		520, 522, 524, 529: // Cloudflare's troubles with a server behind it, Anthropic's overload
	default:
		return false
	}
	if resp.Header.Get("X-Should-Retry") == "false" {
		return false
	}
	wait, ok := asked(resp)
	if ok && wait > longest {
		return false
	}
	return !outOfMoney(resp)
}

// hopeless errors come again at once: nobody listens, or it is the wrong host.
func hopeless(err error) bool {
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var noTLS tls.RecordHeaderError
	return errors.Is(err, errFirstByte) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.As(err, &name) && name.IsNotFound || errors.As(err, &cert) || errors.As(err, &authority) || errors.As(err, &noTLS)
}

// outOfMoney looks into an answer, which stays readable: OpenAI says "too many
// requests" to an empty account as well.
func outOfMoney(resp *http.Response) bool {
	if resp.StatusCode != http.StatusTooManyRequests {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxPeek))
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	return err == nil && bytes.Contains(head, []byte("insufficient_quota"))
}

// watched limits the time to the first byte, the pauses and the size of a body.
type watched struct {
	base            http.RoundTripper
	firstByte, idle time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(w.firstByte, func() { cancel(errFirstByte) })
	resp, err := w.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		cause := context.Cause(ctx)
		cancel(nil)
		if errors.Is(cause, errFirstByte) {
			return nil, fmt.Errorf("%w (%s)", errFirstByte, w.firstByte)
		}
		return nil, err
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, w: w, cause: func() error { return context.Cause(ctx) }, cancel: cancel, timer: timer, left: maxBody}
	return resp, nil
}

// A watchedBody reads an answer under the limits. Its timer runs only while a
// Read waits, so that a slow consumer is nobody's fault.
type watchedBody struct {
	io.ReadCloser
	w       *watched
	cause   func() error // why the answer was ended from here
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	started bool
	left    int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooBig
	}
	if b.started {
		b.timer.Stop()
		b.timer = time.AfterFunc(b.w.idle, func() { b.cancel(errIdle) })
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.timer.Stop()
	b.left -= int64(n)
	b.started = b.started || n > 0
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := b.cause(); errors.Is(cause, errIdle) || errors.Is(cause, errFirstByte) {
			return n, cause
		}
	}
	return n, err
}

// Close lets go of the answer.
func (b *watchedBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// bare is an error of the transport without the address, which the host stands
// for.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
