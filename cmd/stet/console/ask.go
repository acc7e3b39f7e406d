package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// AskAnew asks a question that nobody could expect: what was typed ahead is no answer to it,
// nor is anything but yes or no, or the empty line, which is no. It may be called only when
// [Env.CanAsk] says so.
func AskAnew(e *Env, question string) (bool, error) {
	if f, ok := e.In.(*os.File); ok {
		if err := drain(f.Fd()); err != nil {
			return false, fmt.Errorf("forget what was typed ahead: %w", err)
		}
	}
	for {
		line, err := e.Ask(question + " [y/N]")
		switch strings.ToLower(line) {
		case "y", "yes":
			return err == nil, err
		case "", "n", "no":
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
	}
}

// Ask asks for one line. It takes no byte beyond it, so that the next question
// finds its own answer. It fails with io.EOF when nobody answers, and with context.Canceled at
// Ctrl-C. It may be called only when [Env.CanAsk] says so.
func (e *Env) Ask(question string) (string, error) {
	e.clearLine()
	if _, err := fmt.Fprintf(e.Err, "%s ", question); err != nil {
		return "", err
	}
	type answer struct {
		line string
		err  error
	}
	given := make(chan answer, 1)
	go func() { // a read of a terminal ends at no signal
		line, err := readLine(e.In)
		given <- answer{line, err}
	}()
	select {
	case a := <-given:
		return a.line, a.err
	case <-e.Interrupted:
		_, err := fmt.Fprintln(e.Err)
		return "", errors.Join(context.Canceled, err)
	}
}

func readLine(in io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := in.Read(one)
		if n > 0 && one[0] == '\n' {
			break
		}
		line = append(line, one[:n]...)
		if errors.Is(err, io.EOF) && len(line) > 0 {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(string(line)), nil
}
