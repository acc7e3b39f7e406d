package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Options name an endpoint that speaks OpenAI's embeddings protocol, as
// Ollama, llama.cpp and others do.
type Options struct {
	// BaseURL is what "/embeddings" is added to, as http://localhost:11434/v1.
	BaseURL string
	Model   string
	Key     string // sent as a bearer token; "" sends none
}

var (
	// ErrEndpoint reports an endpoint that did not answer with vectors.
	ErrEndpoint = errors.New("the embedding endpoint failed")
	// ErrRefused reports an endpoint, as [ErrEndpoint] does, that is there and does
	// not take one of these texts: it is longer than the model can read, say.
	ErrRefused = errors.New("the embedding endpoint refused a text")
)

const (
	requestTime = time.Minute // one request with its retries
	retries     = 2
	retryMin    = 200 * time.Millisecond
	retryMax    = 400 * time.Millisecond
	maxAnswer   = 64 << 20 // more than 500 vectors of 4096 numbers
)

// A Client is an [Embedder] over HTTP. It tries again, with jitter or when the
// endpoint says so, what may go well the second time, and follows no redirect:
// texts go to the host that was named and to no other.
type Client struct {
	o    Options
	url  string
	host string
	http *retryablehttp.Client
}

// NewClient checks o. It makes no connection.
func NewClient(o Options) (*Client, error) {
	u, err := url.Parse(o.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the base URL of the embedder is no http:// or https:// address")
	case u.User != nil:
		return nil, errors.New("the base URL of the embedder holds a name or password; the key belongs into an environment variable")
	case o.Model == "":
		return nil, errors.New("the embedder needs the name of a model")
	}
	c := &Client{o: o, url: u.JoinPath("embeddings").String(), host: u.Host, http: retryablehttp.NewClient()}
	c.http.Logger = nil
	c.http.RetryMax, c.http.RetryWaitMin, c.http.RetryWaitMax = retries, retryMin, retryMax
	c.http.Backoff = retryablehttp.RateLimitLinearJitterBackoff
	c.http.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.http.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Model implements [Embedder].
func (c *Client) Model() string { return c.o.Model }

// Close lets go of idle connections.
func (c *Client) Close() { c.http.HTTPClient.CloseIdleConnections() }

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type response struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Embed implements [Embedder] with one request. It fails with [ErrEndpoint],
// [ErrRefused], [ErrAbsurd] or the cause of ctx.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	body, err := json.Marshal(request{c.o.Model, texts})
	if err != nil {
		return nil, err
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, c.url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	// Nothing was written that closing could lose.
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		// What it says may repeat the key or the texts.
		err := fmt.Errorf("%s answered %d %s: %w", c.host, resp.StatusCode, http.StatusText(resp.StatusCode), ErrEndpoint)
		switch resp.StatusCode {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			err = fmt.Errorf("%w: %w", err, ErrRefused)
		}
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	return c.vectors(data, len(texts))
}

// failed says in few words why there is no answer.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s did not answer in time: %w: %w", c.host, ErrEndpoint, context.Cause(ctx))
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which the host stands for
	}
	return fmt.Errorf("%s: %w: %w", c.host, ErrEndpoint, err)
}

// vectors reads an answer, whose entries may come in any order.
func (c *Client) vectors(data []byte, n int) ([][]float32, error) {
	var answer response
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&answer); err != nil || len(data) > maxAnswer {
		return nil, fmt.Errorf("%s sent no readable JSON: %w", c.host, ErrAbsurd)
	}
	out := make([][]float32, n)
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("%s sent a vector for text %d of %d: %w", c.host, d.Index, n, ErrAbsurd)
		}
		out[d.Index] = d.Embedding
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("%s sent no vector for some texts, or two: %w", c.host, ErrAbsurd)
	}
	return out, nil
}
