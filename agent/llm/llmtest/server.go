// Package llmtest is models for tests: servers over real HTTP that speak both
// wire formats, answer from what they are asked, and go wrong in every way that
// servers do.
//
// A model of this package cannot pass a test by knowing its answer: what it
// saves must stand in the request ([Grounded]), and a request that lacks a part
// of its prompt fails the test ([Request.Must]).
//
//	model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
//		r.Must(t, llmtest.Expect{System: []string{"what the user revealed"}, Tools: []string{"memory_save"}})
//		return llm.Reply{Text: "Nothing to save."}
//	})
//	client, err := llm.New(model.Options(llm.ModeAnthropic))
package llmtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/agent/llm"
)

// TB is what a server needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// An Answer is a model: it derives a reply from a request and from nothing else.
// A reply without usage gets one that is counted.
type Answer func(*Request) llm.Reply

// A Server is one model behind an address, for both formats. It is safe for
// concurrent use.
type Server struct {
	t      TB
	http   *httptest.Server
	answer Answer

	mu     sync.Mutex
	asked  []Request
	tries  int
	faults []Fault
	always Fault
	free   bool
}

// Serve starts a server that ends with the test. Its answers must be grounded:
// see [Grounded] and [Server.Free].
func Serve(t TB, answer Answer) *Server {
	s := &Server{t: t, answer: answer}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// Free lets the model say what does not stand in the request.
func (s *Server) Free() *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = true
	return s
}

// URL is the address in the form of both formats' servers: without "/v1".
func (s *Server) URL() string { return s.http.URL }

// Options lead a client to the server, with little patience.
func (s *Server) Options(mode string) llm.Options {
	return llm.Options{Model: "test-model", BaseURL: s.http.URL, Mode: mode, Key: Key,
		Retry: llm.Retry{First: time.Millisecond, Longest: time.Second}}
}

// Key is the one key that the server accepts. It looks like none that exists.
const Key = "test-key" + "-0123456789abcdef"

// Asked lists the requests that were answered, in order.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Tries counts the requests that arrived, those that failed included.
func (s *Server) Tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

// Fail makes the next requests go wrong, one fault each.
func (s *Server) Fail(faults ...Fault) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
	return s
}

// Always makes every request go wrong that no other fault takes.
func (s *Server) Always(f Fault) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = f
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Only behind its body a server sees that the client hung up.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.tries++
	fault := s.always
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	answer := func(w http.ResponseWriter) { s.respond(w, r) }
	if fault != nil {
		fault(w, r, answer)
		return
	}
	answer(w)
}

func (s *Server) respond(w http.ResponseWriter, r *http.Request) {
	parse, write := parseOpenAI, writeOpenAI
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch r.URL.Path {
	case "/v1/chat/completions":
	case "/v1/messages":
		parse, write, key = parseAnthropic, writeAnthropic, r.Header.Get("X-Api-Key")
		if r.Header.Get("Anthropic-Version") == "" {
			refuse(w, http.StatusBadRequest, "anthropic-version: header is required")
			return
		}
	default:
		refuse(w, http.StatusNotFound, "no such path: "+r.URL.Path)
		return
	}
	if key != Key {
		refuse(w, http.StatusUnauthorized, "incorrect API key provided: "+key)
		return
	}
	req, err := parse(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	reply := s.answer(req)
	s.mu.Lock()
	s.asked = append(s.asked, *req)
	free := s.free
	s.mu.Unlock()
	if !free {
		if said := Grounded(req, reply); said != "" {
			s.t.Errorf("the model says what nobody told it: %q", said)
		}
	}
	if reply.Usage == (llm.Usage{}) {
		reply.Usage = llm.Usage{Input: llm.Tokens(req.Text()), Output: llm.Tokens(reply.Text) + 1}
	}
	write(w, req, reply)
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": message}}) // the client hung up
}
