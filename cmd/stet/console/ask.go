package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Choose asks until the answer is a word that begins with one of the letters, or the letter alone, and
// returns the letter: q for the empty line and when nobody answers. To any other answer it says what the answers mean.
// Anew is a question that nobody could expect: what was typed ahead is no answer to it. It may be called only when
// [Env.CanAsk] says so.
func Choose(e *Env, anew bool, letters, question, answers string) (byte, error) {
	if f, ok := e.In.(*os.File); ok && anew {
		if err := drain(f.Fd()); err != nil {
			return 'q', fmt.Errorf("forget what was typed ahead: %w", err)
		}
	}
	for {
		answer, err := e.Ask(question)
		if errors.Is(err, io.EOF) || err == nil && answer == "" {
			return 'q', nil
		}
		if err != nil {
			return 'q', err
		}
		answer = strings.ToLower(answer)
		for _, word := range []string{"yes", "no", "later", "diff", "all", "both", "merge", "1", "2", "quit"} {
			if (answer == word || answer == word[:1]) && strings.Contains(letters, word[:1]) {
				return word[0], nil
			}
		}
		e.Note("%s", answers)
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
