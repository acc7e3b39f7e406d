// Package hook is what stands between the hooks of agent programs and stet: one reader makes one event of ours
// from what a program sends, one writer makes of a text exactly the output that the program takes. What differs
// from program to program is in the table of agent/clients.
package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stet/agent/clients"
)

// The kinds of events.
const (
	Start     = "start"  // a conversation begins, goes on, or goes on after a compaction
	Prompt    = "prompt" // a turn of the user's begins
	Answer    = "answer" // the program has answered, and may go on
	Stop      = "stop"   // it has nothing more to do
	SubStop   = "subagent-stop"
	Compact   = "compact" // what was said is about to be summarised
	End       = "end"
	Interrupt = "interrupt"
)

// most is the largest input that is read. Prompts hold whole files.
const most = 32 << 20

// An Event is something that happened in a program, in our words. What the program did not say, or said in
// another type than it should, is empty.
type Event struct {
	Client clients.Client
	In     clients.Event // as the program calls it
	Kind   string

	Session    string   // as the program calls it
	Dir        string   // that the program works in
	Roots      []string // all folders that it has open, where it may have several
	Transcript string   // file of the conversation, or of the sub-agent's
	Agent      string   // id of the sub-agent; "" outside of one
	Model      string
	Source     string // of a start: startup, resume, clear, compact…
	Prompt     string
	Origin     string // of a prompt: who wrote it; "" is not said
	Message    string // the last of the assistant's
	Version    string // of the program; "" is not said
	Status     string // of a stop: completed, aborted, error; "" is not said
	Active     bool   // the program goes on already because a hook asked for it
	Busy       bool   // something runs in the background that will wake the program
}

// withoutMark leaves out a byte order mark at the beginning, which programs of Windows write.
func withoutMark(in io.Reader) io.Reader {
	r := bufio.NewReader(in)
	if first, _ := r.Peek(1); len(first) == 1 && first[0] == 0xEF { // more than that may not come
		if mark, _ := r.Peek(3); string(mark) == "\uFEFF" {
			_, _ = r.Discard(len(mark))
		}
	}
	return r
}

// Read reads one event: one JSON value, and nothing behind it, since a program may leave its end open. It fails
// for an event that the client does not have and for what is no JSON object.
func Read(c clients.Client, name string, in io.Reader) (*Event, error) {
	of, ok := c.Event(name)
	if !ok {
		return nil, fmt.Errorf("%s has no event %q", c.Title, name)
	}
	var v any
	limited := &io.LimitedReader{R: in, N: most}
	if err := json.NewDecoder(withoutMark(limited)).Decode(&v); limited.N <= 0 {
		return nil, fmt.Errorf("the JSON value on standard input is longer than %d MB", most>>20)
	} else if err != nil {
		return nil, fmt.Errorf("no JSON value on standard input: %w", err)
	}
	input, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("standard input holds no JSON object")
	}
	e := &Event{Client: c, In: of, Kind: of.Event}
	find := func(field string) any {
		path := of.Fields[field]
		if path == "" {
			path = c.Fields[field]
		}
		return lookUp(input, path)
	}
	for field, into := range map[string]*string{"session": &e.Session, "cwd": &e.Dir, "transcript": &e.Transcript,
		"agent": &e.Agent, "model": &e.Model, "source": &e.Source, "prompt": &e.Prompt, "origin": &e.Origin,
		"message": &e.Message, "version": &e.Version, "status": &e.Status} {
		*into = text(find(field))
	}
	if roots, ok := find("roots").([]any); ok {
		for _, root := range roots {
			if dir, ok := root.(string); ok {
				e.Roots = append(e.Roots, dir)
			}
		}
	}
	e.Active, e.Busy = truth(find("active")), truth(find("busy"))
	if strings.TrimSpace(e.Session) == "" {
		return nil, errors.New("the input names no session")
	}
	return e, nil
}

// lookUp follows a path of keys and list numbers; of several, parted by "|", the first that leads to something.
func lookUp(v any, paths string) any {
	for path := range strings.SplitSeq(paths, "|") {
		at := v
		for key := range strings.SplitSeq(path, ".") {
			switch in := at.(type) {
			case map[string]any:
				at = in[key]
			case []any:
				at = nil
				if n, err := strconv.Atoi(key); err == nil && n >= 0 && n < len(in) {
					at = in[n]
				}
			default:
				at = nil
			}
		}
		if at != nil && paths != "" {
			return at
		}
	}
	return nil
}

// text is a text, or the texts of the parts of a message.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, part := range v {
			if s := text(lookUp(part, "text")); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n\n")
	}
	return ""
}

// truth is true, a number above zero, or a list that holds something.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v > 0
	case []any:
		return len(v) > 0
	}
	return false
}

// ErrSilent reports an event whose output can say nothing that way.
var ErrSilent = errors.New("the program takes no such output")

// Says reports whether an output can say a text that way, as far as the version of the program is known.
func (e *Event) Says(how string) bool {
	way, ok := e.In.Says[how]
	return ok && (way.Since == "" || e.Version == "" || !older(e.Version, way.Since))
}

// Output is what the program is to be given so that a text reaches it that way; a text that is too long for it
// loses its end. It fails with [ErrSilent].
func (e *Event) Output(how, text string) ([]byte, error) {
	if !e.Says(how) {
		return nil, fmt.Errorf("%s %s %s: %w", e.Client.Name, e.In.Name, how, ErrSilent)
	}
	var said, out bytes.Buffer
	plain := json.NewEncoder(&said)
	plain.SetEscapeHTML(false)
	if err := plain.Encode(cut(strings.ToValidUTF8(text, "�"), e.Client.Chars)); err != nil {
		return nil, err
	}
	if err := json.Compact(&out, e.In.Says[how].Output); err != nil {
		return nil, err
	}
	data := bytes.Replace(out.Bytes(), []byte(`"$text"`), bytes.TrimSpace(said.Bytes()), 1)
	return data, e.In.Check(data)
}

// cut leaves whole lines of a text until it has at most n characters.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	short := string([]rune(text)[:n-1])
	if i := strings.LastIndexByte(short, '\n'); i > 0 {
		short = short[:i]
	}
	return short + "…"
}

// older reports whether version a comes before b; numbers parted by dots count, and what follows them does not.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m = leading(x[i])
		}
		if i < len(y) {
			n = leading(y[i])
		}
		if m != n {
			return m < n
		}
	}
	return false
}

func leading(s string) int {
	n, _ := strconv.Atoi(s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]) // what is no number counts as none
	return n
}

// WrittenBy is the version of the program that wrote the end of the conversation's file, "" where it names none.
func (e *Event) WrittenBy() string {
	if e.Client.Written == "" || e.Transcript == "" || !slices.ContainsFunc([]string{clients.Context, clients.Block},
		func(how string) bool { return e.In.Says[how].Since != "" }) {
		return ""
	}
	info, err := os.Stat(e.Transcript)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe may never end
		return ""
	}
	f, err := os.Open(e.Transcript)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	const end = 64 << 10
	data := make([]byte, min(end, info.Size()))
	n, err := f.ReadAt(data, info.Size()-int64(len(data)))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	mark := `"` + e.Client.Written + `":"`
	i := bytes.LastIndex(data[:n], []byte(mark))
	if i < 0 {
		return ""
	}
	version, _, _ := strings.Cut(string(data[i+len(mark):n]), `"`)
	return version
}
