package imports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Problem is something of a source that could not be read.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 0: the file itself
	Text string `json:"text"`
}

// mostProblems is how many problems are kept to be listed; all are counted.
const mostProblems = 1000

// maxLine bounds one line. Claude Code and Codex write images into lines, which
// reach some ten megabytes.
const maxLine = 64 << 20

// A reading is one pass over a source.
type reading struct {
	ctx      context.Context
	emit     func(*Session) error
	wants    func(*Session) bool
	progress Progress
	tell     func(Progress)
	problems []Problem
	count    int
	// started holds when a conversation began, for those that came out of it.
	started map[string]time.Time
	began   map[string]time.Time // those of them that the present file said
	broken  bool                 // the present file could not be read to its end

	keep     func(memory) error // of a source of memories
	notes    []string           // what is worth saying and no problem
	projects map[string]string  // names of projects by folder
}

func (r *reading) note(text string) {
	if len(r.notes) < mostProblems {
		r.notes = append(r.notes, text)
	}
}

func (r *reading) remember(foreign string, started time.Time) {
	if r.started == nil {
		r.started = map[string]time.Time{}
	}
	r.started[foreign] = started
	if r.began == nil {
		r.began = map[string]time.Time{}
	}
	r.began[foreign] = started
}

// Progress is how far a run has come.
type Progress struct {
	Source       string
	Bytes, Total int64 // of the files of the source
	Sessions     int
	Written      int
}

func (r *reading) problem(name string, line int, text string) {
	r.count++
	if len(r.problems) < mostProblems {
		r.problems = append(r.problems, Problem{File: name, Line: line, Text: text})
	}
}

// session hands on what was read.
func (r *reading) session(s *Session) error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	if r.tell != nil {
		r.tell(r.progress)
	}
	if len(s.Messages) == 0 {
		return nil
	}
	r.progress.Sessions++
	if r.wants != nil && !r.wants(s) {
		return nil
	}
	return r.emit(s)
}

// errStop ends a pass over lines early.
var errStop = errors.New("stop")

// A badLine is the error of a line that is skipped.
type badLine struct{ text string }

func (e badLine) Error() string { return e.text }

func bad(format string, args ...any) error { return badLine{fmt.Sprintf(format, args...)} }

// lines calls fn with every line that is not blank; an object that goes on over several lines is one, with the number
// of its first. A line for which it returns a badLine is a problem; a last line without its newline is one that is
// still being written, unless it is the only one, and fn's badLine for it is nothing: it will be there next time.
func (r *reading) lines(name string, in io.Reader, fn func(n int, line []byte) error) error {
	buf := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	next, oneLine := 1, false // an object that has no end makes all others lines of their own
	for {
		n := next
		next++
		var whole bool
		var err error
		line, whole, err = readLine(buf, line[:0])
		if err != nil && !errors.Is(err, io.EOF) {
			if ctx := context.Cause(r.ctx); ctx != nil {
				return ctx
			}
			r.broken = true
			r.problem(name, n, "cannot be read on: "+err.Error())
			return nil
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if whole && err == nil && !oneLine && opens(line) {
			more, ok, rerr := restOf(buf, line)
			if oneLine = !ok; ok {
				line, next = append(append(line, '\n'), more...), next+bytes.Count(more, []byte{'\n'})+1
			} else {
				buf = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(more), failing{rerr}, buf), 64<<10)
			}
		}
		text := bytes.TrimSpace(line)
		torn := err != nil
		switch {
		case !whole:
			r.problem(name, n, fmt.Sprintf("longer than %d MiB", maxLine>>20))
		case len(text) > 0:
			if ferr := r.line(name, n, text, torn && n > 1, fn); ferr != nil {
				if errors.Is(ferr, errStop) {
					return nil
				}
				return ferr
			}
		}
		if torn {
			return nil
		}
	}
}

// opens reports a line that begins an object and ends inside of it, between two of its tokens.
func opens(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) > 0 && text[0] == '{' && bytes.IndexByte([]byte("{[,:"), text[len(text)-1]) >= 0
}

// restOf reads on to the line that ends the object that line begins. ok is false where there is none within maxLine:
// then more is all that was read, and err why that could not go on, nil at the end of the file.
func restOf(in *bufio.Reader, line []byte) (more []byte, ok bool, err error) {
	depth := nested(line, 0)
	for depth > 0 && len(more) < maxLine {
		part, whole, rerr := readLine(in, nil)
		if !whole && rerr == nil {
			rerr = fmt.Errorf("a line is longer than %d MiB", maxLine>>20)
		}
		if rerr != nil && !errors.Is(rerr, io.EOF) {
			return append(more, part...), false, rerr
		}
		if depth = nested(part, depth); depth == 0 {
			return append(more, part...), true, nil
		}
		if more = append(more, part...); rerr != nil {
			return more, false, nil
		}
		more = append(more, '\n')
	}
	return more, false, nil
}

// nested is how many objects and arrays are open behind line, of which depth were before it; 0 where they close, or
// where a text goes on over its end, which JSON has none of: -1.
func nested(line []byte, depth int) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 && len(bytes.TrimSpace(line[i+1:])) == 0 {
				return 0
			}
		case '"':
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
			if i >= len(line) {
				return -1
			}
		}
		if depth <= 0 && line[i] != ' ' && line[i] != '\t' && line[i] != '\r' {
			return -1
		}
	}
	return depth
}

// failing reads as nothing, or fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

func (r *reading) line(name string, n int, text []byte, torn bool, fn func(int, []byte) error) error {
	err := fn(n, text)
	var b badLine
	if !errors.As(err, &b) {
		return err
	}
	if !torn {
		r.problem(name, n, b.text)
	}
	return nil
}

// readLine reads up to a newline, which it leaves out. Of a line that is too long
// it keeps nothing: whole is false.
func readLine(in *bufio.Reader, line []byte) (_ []byte, whole bool, err error) {
	whole = true
	for {
		part, err := in.ReadSlice('\n')
		if whole && len(line)+len(part) > maxLine {
			whole, line = false, line[:0]
		}
		if whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte{'\n'}), whole, err
		}
	}
}

// decode reads one JSON value that must be the whole of data.
func decode(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return badLine{plainJSON(err)}
	}
	return nil
}

// plainJSON says what is wrong with JSON without the names of our types.
func plainJSON(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field == "" {
		return "not an object: " + kind.Value
	}
	if errors.As(err, &kind) {
		return fmt.Sprintf("%q is a %s, which it cannot be", strings.ToLower(kind.Field), kind.Value)
	}
	return "not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
}

// array calls fn with every element of the JSON array in in, one in memory at a
// time. An element of the wrong form is a problem; broken JSON ends the file.
func (r *reading) array(name string, in io.Reader, fn func(n int, element []byte) error) error {
	part := &element{in: in, left: maxLine}
	d := json.NewDecoder(bufio.NewReaderSize(skipBOM(part), 64<<10))
	broken := func(err error) error {
		if ctx := context.Cause(r.ctx); ctx != nil {
			return ctx
		}
		r.problem(name, 0, "ends in the middle: "+strings.TrimPrefix(err.Error(), "json: "))
		return nil
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		r.problem(name, 0, "not a JSON array")
		return context.Cause(r.ctx)
	}
	for n := 1; d.More(); n++ {
		var data json.RawMessage
		if err := d.Decode(&data); err != nil {
			return broken(err)
		}
		if err := r.line(name, n, data, false, fn); err != nil {
			return err
		}
		part.left = maxLine
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	return nil
}

// element bounds what the decoder holds of one element.
type element struct {
	in   io.Reader
	left int
}

func (e *element) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, fmt.Errorf("an element is longer than %d MiB", maxLine>>20)
	}
	n, err := e.in.Read(p)
	e.left -= n
	return n, err
}

func skipBOM(in io.Reader) io.Reader {
	buf := bufio.NewReader(in)
	if head, _ := buf.Peek(3); bytes.Equal(head, []byte("\ufeff")) {
		_, _ = buf.Discard(3) // just peeked
	}
	return buf
}

// records calls fn with every record of a file that is a JSON array or JSON lines.
func (r *reading) records(name string, in io.Reader, fn func(n int, record []byte) error) error {
	buf := bufio.NewReaderSize(skipBOM(in), 64<<10)
	for {
		b, err := buf.ReadByte()
		if err != nil {
			if ctx := context.Cause(r.ctx); ctx != nil || errors.Is(err, io.EOF) {
				return ctx
			}
			r.broken = true
			r.problem(name, 0, "cannot be read on: "+err.Error())
			return nil
		}
		if b == ' ' || b == '\t' || b == '\r' || b == '\n' {
			continue
		}
		if err := buf.UnreadByte(); err != nil {
			return err
		}
		if b == '[' {
			return r.array(name, buf, fn)
		}
		return r.lines(name, buf, fn)
	}
}
