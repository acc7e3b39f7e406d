package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

// batchLine is one line of a batch file. A key that is absent takes the value of its flag.
type batchLine struct {
	Text       string   `json:"text"`
	Title      string   `json:"title"`
	Scope      string   `json:"scope"`
	Categories []string `json:"categories"`
	Importance *float64 `json:"importance"`
	Kind       string   `json:"kind"`
	Pinned     bool     `json:"pinned"`
	Private    bool     `json:"private"`
	Source     string   `json:"source"`
}

// batch reads a whole batch file before anything is written.
func batch(e *console.Env, in *console.Input, name string) (notes []vault.Note, err error) {
	data, err := readBatch(e, name)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		note, err := decodeNote(line, noteFromFlags(in))
		if err != nil {
			return nil, agent.Usagef("%s: line %d: %v", name, number, err).
				Suggest(`one JSON object per line, for example {"text":"…","scope":"/infra"}; nothing was written`)
		}
		notes = append(notes, note)
	}
	if len(notes) == 0 {
		return nil, agent.Usagef("%s: no memories in it", name)
	}
	return notes, nil
}

// maxBatch bounds a batch file, in bytes.
const maxBatch = 256 << 20

func readBatch(e *console.Env, name string) ([]byte, error) {
	in := e.In
	if name != "-" {
		f, err := os.Open(e.Abs(name))
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBatch+1))
	if err == nil && len(data) > maxBatch {
		err = agent.Usagef("%s: more than %d bytes", name, maxBatch).Suggest("split it into several files")
	}
	return data, err
}

// decodeNote reads a line over the values of the flags.
func decodeNote(line []byte, note vault.Note) (vault.Note, error) {
	l := batchLine{Title: note.Title, Scope: note.Scope, Categories: note.Categories, Importance: note.Importance,
		Kind: note.Kind, Pinned: note.Pinned, Private: note.Private, Source: note.Source}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return note, plainJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return note, errors.New("more than one value on the line")
	}
	switch {
	case strings.TrimSpace(l.Text) == "":
		return note, errors.New(`"text" is missing or empty`)
	case l.Importance != nil && (*l.Importance < 0 || *l.Importance > 1):
		return note, fmt.Errorf(`"importance" is %v, not a number from 0 to 1`, *l.Importance)
	}
	return vault.Note{Text: l.Text, Title: l.Title, Scope: l.Scope, Categories: l.Categories, Importance: l.Importance,
		Kind: l.Kind, Pinned: l.Pinned, Private: l.Private, Source: l.Source}, nil
}

// plainJSON says what is wrong with a line in words that fit any JSON reader.
func plainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		words := map[reflect.Kind]string{reflect.String: "a string", reflect.Float64: "a number",
			reflect.Bool: "true or false", reflect.Slice: "a list of strings"}
		return fmt.Errorf("%q must be %s, not a %s", kind.Field, words[kind.Type.Kind()], kind.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON object ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
