package imports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
)

// array calls fn with every element of the JSON array in in, one in memory at a
// time. An element of the wrong form is a problem; broken JSON ends the file.
func (r *reading) array(name string, in io.Reader, fn func(n int, element []byte) error) error {
	d := json.NewDecoder(bufio.NewReaderSize(skipBOM(in), 64<<10))
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
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return broken(err)
		}
		if err := r.line(name, n, element, false, fn); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	return nil
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
			return context.Cause(r.ctx)
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
