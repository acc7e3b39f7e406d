package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Fault is one way for a request to go wrong. answer gives the right answer to
// a writer of the fault's choice.
type Fault func(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter))

// Status answers with an error, and headers given as name and value in turns.
func Status(code int, message string, headers ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		refuse(w, code, message)
	}
}

// Silent takes the request and never answers.
func Silent() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) { <-r.Context().Done() }
}

// Stalls answers rightly up to that many bytes, and then says nothing more while
// the connection stays.
func Stalls(after int) Fault {
	return func(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter)) {
		answer(&cut{ResponseWriter: w, left: after, end: func() { <-r.Context().Done() }})
	}
}

// Torn answers rightly up to that many bytes, and then drops the connection,
// wherever in an event, an escape or a character that is. Of 0 bytes the client
// sees nothing at all.
func Torn(after int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, answer func(http.ResponseWriter)) {
		answer(&cut{ResponseWriter: w, left: after, end: func() { panic(http.ErrAbortHandler) }})
	}
}

// Ends answers rightly up to that many bytes, and then ends in good order as if
// that were all.
func Ends(after int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, answer func(http.ResponseWriter)) {
		answer(&cut{ResponseWriter: w, left: after, end: func() {}})
	}
}

// Says answers with these bytes and nothing else.
func Says(contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) {
		w.Header().Set("Content-Type", contentType)
		_, _ = fmt.Fprint(w, body) // the client hung up
	}
}

// Streams answers with these events, one a line, and the end of the stream.
func Streams(lines ...string) Fault {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "data: %s\n\n", l)
	}
	return Says("text/event-stream", b.String())
}

// Redirects sends the client elsewhere.
func Redirects(to string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}
}

// Endless repeats a text for as long as anybody listens.
func Endless(contentType, text string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) {
		w.Header().Set("Content-Type", contentType)
		block := []byte(strings.Repeat(text, 1+(64<<10)/len(text)))
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
}

// Drips sends one byte of the answer after another, with a pause behind each.
func Drips(pause time.Duration) Fault { return drips(http.StatusOK, pause, ":") }

// DripsError is [Drips] of an error.
func DripsError(pause time.Duration) Fault { return drips(http.StatusBadRequest, pause, ":") }

// DripsWords sends whole events, of either protocol, that say one letter each.
func DripsWords(pause time.Duration) Fault {
	return drips(http.StatusOK, pause, `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"},`+
		`"choices":[{"delta":{"content":"x"}}]}`+"\n\n")
}

func drips(status int, pause time.Duration, text string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(text)); err != nil || http.NewResponseController(w).Flush() != nil {
				return // the client hung up
			}
			time.Sleep(pause)
		}
	}
}

// EndlessHeader begins an answer and comes to no end of its header: many lines with the same
// text, or one line of it.
func EndlessHeader(text string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err) // the server speaks HTTP/1
		}
		_, err = conn.Write([]byte("HTTP/1.1 200 OK\r\nX-A: "))
		for block := []byte(strings.Repeat(text, 1<<10)); err == nil; {
			_, err = conn.Write(block)
		}
		_ = conn.Close() // the client hung up
	}
}

// cut passes so many bytes on and then ends the answer in its own way.
type cut struct {
	http.ResponseWriter
	left int
	sent bool
	end  func()
	over bool
}

func (c *cut) Write(p []byte) (int, error) {
	if c.over {
		return len(p), nil
	}
	n := min(len(p), c.left)
	c.left -= n
	c.sent = c.sent || n > 0
	if n > 0 {
		if _, err := c.ResponseWriter.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		c.over = true
		// With nothing sent the client must not even see headers.
		if c.sent {
			if err := http.NewResponseController(c.ResponseWriter).Flush(); err != nil {
				return 0, err
			}
		}
		c.end()
	}
	return len(p), nil
}

// Unwrap lets a response controller find what it can flush.
func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }
