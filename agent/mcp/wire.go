package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine is the longest message in bytes, more than the largest arguments of a tool.
	maxLine = 8 << 20
	// maxWaiting is how many requests wait for their answers before no more are taken up, and how many lines are
	// read ahead, so that the end of the stream is seen.
	maxWaiting = 256
	// codeCancelled is the code of the error of a request that the client has cancelled.
	codeCancelled = -32800
	// lastWords is how long the answers to what was asked may take, and the client to read them, when the
	// client's stream has ended.
	lastWords = 10 * time.Second
)

// A transport is a client on a pair of streams, one message a line. That of the library ends the whole
// connection at a line that is no message; here such a line is answered with what is wrong with it, and the
// next one is read.
type transport struct {
	in    *bufio.Reader
	lines chan line
	out   chan []byte // what is written, one at a time
	wrote chan error  // how that went
	ended chan struct{}
	end   func()

	mu      sync.Mutex // of what follows
	changed *sync.Cond // waiting
	waiting map[jsonrpc.ID]request
	queue   []jsonrpc.Message // of a batch, not read yet
	batches bool              // the client speaks a revision that has them
}

// A request waits for its answer.
type request struct {
	method string
	batch  *batch // that it came in, nil for none
}

// A batch is several requests on one line, which are answered on one line.
type batch struct {
	left    int
	answers []json.RawMessage
}

type line struct {
	data []byte
	err  error
}

var errTooLong = fmt.Errorf("a message has at most %d bytes", maxLine)

func newTransport(in io.Reader, out io.Writer) *transport {
	t := &transport{in: bufio.NewReader(in), lines: make(chan line, maxWaiting), ended: make(chan struct{}),
		out: make(chan []byte), wrote: make(chan error, 1),
		waiting: map[jsonrpc.ID]request{}}
	t.changed = sync.NewCond(&t.mu)
	t.end = sync.OnceFunc(func() { close(t.ended) })
	go func() {
		for {
			select {
			case data := <-t.out:
				_, err := out.Write(data)
				t.wrote <- err
			case <-t.ended:
				return
			}
		}
	}()
	return t
}

// Connect begins to read.
func (t *transport) Connect(context.Context) (mcp.Connection, error) {
	go func() {
		for {
			data, err := t.line()
			over := err != nil && !errors.Is(err, errTooLong)
			if over {
				time.AfterFunc(lastWords, func() { _ = t.Close() }) // it fails never
			}
			select {
			case t.lines <- line{data, err}:
			case <-t.ended:
				return
			}
			if over {
				return
			}
		}
	}()
	return t, nil
}

// line is the next line without its end. One that is too long is read to its end and lost.
func (t *transport) line() ([]byte, error) {
	var data []byte
	size := 0
	for {
		part, err := t.in.ReadSlice('\n')
		if size += len(part); size <= maxLine {
			data = append(data, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && size == 0:
			return nil, err
		case size > maxLine:
			return nil, errTooLong
		}
		return bytes.TrimSpace(data), nil // without an end at the end of the stream
	}
}

// SessionID is that of a stream: there is one.
func (t *transport) SessionID() string { return "" }

// Close ends reading, and waiting for answers and for the client to read them.
func (t *transport) Close() error {
	t.end()
	t.mu.Lock() // an answer that nobody reads gives it back
	defer t.mu.Unlock()
	t.changed.Broadcast()
	return nil
}

func (t *transport) over() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// Read is the next message. At the end of the stream it first waits for the answers to what was asked.
func (t *transport) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if msg, ok := t.queued(); ok {
			return msg, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.ended:
			return nil, io.EOF
		case l := <-t.lines:
			switch {
			case errors.Is(l.err, errTooLong):
				t.refuse(nil, jsonrpc.CodeInvalidRequest, l.err)
			case l.err != nil:
				t.wait(0)
				return nil, io.EOF
			case len(l.data) > 0:
				t.accept(l.data)
			}
		}
	}
}

func (t *transport) queued() (jsonrpc.Message, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return nil, false
	}
	msg := t.queue[0]
	t.queue = t.queue[1:]
	return msg, true
}

// wait waits until at most n requests have no answer.
func (t *transport) wait(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) > n && !t.over() {
		t.changed.Wait()
	}
}

// accept queues the messages of a line, and answers at once what is none.
func (t *transport) accept(data []byte) {
	t.wait(maxWaiting)
	if !utf8.Valid(data) || !json.Valid(data) {
		t.refuse(nil, jsonrpc.CodeParseError, errors.New("a message is one line of JSON in UTF-8"))
		return
	}
	if data[0] != '[' {
		t.admit(data, nil)
		return
	}
	var all []json.RawMessage
	t.mu.Lock()
	batches := t.batches
	t.mu.Unlock()
	if json.Unmarshal(data, &all) != nil || len(all) == 0 || !batches {
		t.refuse(nil, jsonrpc.CodeInvalidRequest, errors.New("one message a line: this revision has no batches"))
		return
	}
	b := &batch{left: 1} // until all are admitted
	for _, one := range all {
		t.admit(one, b)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.answered(b, nil) // a broken stream is met by the next answer
}

// admit queues one message, and answers at once what is none.
func (t *transport) admit(data []byte, b *batch) {
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		t.refuse(b, jsonrpc.CodeInvalidRequest, err)
		return
	}
	req, asks := msg.(*jsonrpc.Request)
	t.mu.Lock()
	defer t.mu.Unlock()
	if asks && req.IsCall() {
		if _, twice := t.waiting[req.ID]; twice {
			err := fmt.Errorf("the id %v waits for its answer already", req.ID.Raw())
			t.refuseLocked(b, jsonrpc.CodeInvalidRequest, err)
			return
		}
		t.waiting[req.ID] = request{req.Method, b}
		if b != nil {
			b.left++
		}
	}
	t.queue = append(t.queue, msg)
}

// refuse answers what has no id that could be trusted.
func (t *transport) refuse(b *batch, code int64, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuseLocked(b, code, why)
}

func (t *transport) refuseLocked(b *batch, code int64, why error) {
	data, err := json.Marshal(struct {
		Version string        `json:"jsonrpc"`
		ID      *int          `json:"id"`
		Error   jsonrpc.Error `json:"error"`
	}{"2.0", nil, jsonrpc.Error{Code: code, Message: why.Error()}})
	if err != nil {
		return // it is text and a number
	}
	if b != nil {
		b.answers = append(b.answers, data)
		return
	}
	_ = t.send(data) // a broken stream is met by the next answer
}

// Write sends a message; the answer to one of a batch when all of the batch are there.
func (t *transport) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	res, answers := msg.(*jsonrpc.Response)
	if answers && errors.Is(res.Error, context.Canceled) { // while it waited for its turn
		res.Error = &jsonrpc.Error{Code: codeCancelled, Message: "cancelled before it began: nothing was done"}
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !answers {
		return t.send(data)
	}
	req := t.waiting[res.ID]
	delete(t.waiting, res.ID)
	t.changed.Broadcast()
	if req.method == "initialize" {
		t.batches = t.batches || hasBatches(res.Result)
	}
	if req.batch != nil {
		return t.answered(req.batch, data)
	}
	return t.send(data)
}

// hasBatches reports whether the revision that was agreed on has batches.
func hasBatches(result json.RawMessage) bool {
	var r struct {
		Revision string `json:"protocolVersion"`
	}
	return json.Unmarshal(result, &r) == nil && slices.Contains([]string{"2024-11-05", "2025-03-26"}, r.Revision)
}

// answered notes one answer of a batch, nil for none, and sends all when none is left.
func (t *transport) answered(b *batch, data []byte) error {
	if data != nil {
		b.answers = append(b.answers, data)
	}
	if b.left--; b.left > 0 || len(b.answers) == 0 {
		return nil
	}
	all, err := json.Marshal(b.answers)
	if err != nil {
		return err
	}
	return t.send(all)
}

// send waits until the client has read, or is no longer waited for.
func (t *transport) send(data []byte) error {
	select {
	case t.out <- append(data, '\n'):
	case <-t.ended:
		return io.ErrClosedPipe
	}
	select {
	case err := <-t.wrote:
		return err
	case <-t.ended:
		return io.ErrClosedPipe
	}
}
