package imports

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stet/templates"
	"stet/vault"
)

// Which program wrote a file is told by the keys of its first records, not by its name: people rename and move
// exports. Memories in Markdown look alike whoever wrote them, so those have to be named.

const (
	headBytes   = 1 << 20 // of a file are looked at
	headRecords = 20
	deepest     = 64 // objects and arrays in each other
)

// A Found is a source and the files that are its.
type Found struct {
	Source Source
	Places []string
}

// Detect tells by their contents which sources the files below places belong to, in the order of [Sources]. Others
// are problems. check refuses a file before it is opened; nil refuses none. Cost: the first MiB of each file.
func Detect(ctx context.Context, places []string, check func(file string) error) ([]Found, []Problem, error) {
	files, err := Source{}.files(places)
	if err == nil {
		err = checkAll(files, check)
	}
	if err != nil {
		return nil, nil, err
	}
	byName := map[string][]string{}
	var others []Problem
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		name, what := detect(f.path)
		if name == "" {
			others = append(others, Problem{File: f.path, Text: what})
			continue
		}
		byName[name] = append(byName[name], f.path)
	}
	var found []Found
	for _, s := range Sources() {
		if list := byName[s.Name]; len(list) > 0 {
			found = append(found, Found{s, list})
		}
	}
	return found, others, nil
}

// checkAll asks check about every file, with links followed.
func checkAll(files []file, check func(file string) error) error {
	for i := 0; i < len(files) && check != nil; i++ {
		real, err := filepath.EvalSymlinks(files[i].path)
		if err == nil {
			err = check(real)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// detect names the source of a file, or says what it is instead.
func detect(path string) (source, instead string) {
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		return detectZip(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err.Error()
	}
	defer func() { _ = f.Close() }() // it was only read
	return detectStream(path, f)
}

func detectZip(path string) (source, instead string) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return "", "not a zip archive: " + err.Error()
	}
	defer func() { _ = z.Close() }() // it was only read
	slices.SortFunc(z.File, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	for _, m := range z.File {
		if !m.Mode().IsRegular() || !hasExt(".json", ".jsonl", ".ndjson")(m.Name) {
			continue
		}
		in, err := m.Open()
		if err != nil {
			continue
		}
		name, _ := detectStream(m.Name, in)
		if err := in.Close(); err == nil && name != "" {
			return name, ""
		}
	}
	return "", "a zip archive of " + files(len(z.File)) + " without conversations"
}

func detectStream(path string, in io.Reader) (source, instead string) {
	head, err := io.ReadAll(io.LimitReader(in, headBytes))
	if err != nil && len(head) == 0 {
		return "", err.Error()
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(head) == 0 {
		return "", "empty"
	}
	shapes := shapesOf(head)
	for _, s := range shapes {
		s[""] = filepath.Base(path)
	}
	for _, s := range append([]Source{qwen()}, Sources()...) { // what Claude Code writes looks like it, less two keys
		if s.is != nil && slices.ContainsFunc(shapes, s.is) {
			return s.Name, ""
		}
	}
	return "", unclaimed(path, head, shapes)
}

// unclaimed says in a few words what a file is that no source claims.
func unclaimed(path string, head []byte, shapes []shape) string {
	switch {
	case hasExt(".md", ".markdown")(path):
		return "Markdown; memories of a program come in with --from NAME"
	case bytes.IndexByte(head, 0) >= 0:
		return "no text"
	case len(shapes) == 0:
		return "no JSON"
	}
	var keys []string
	for key := range shapes[0] {
		if strings.Count(key, ".") == 1 && !strings.HasSuffix(key, "[]") {
			keys = append(keys, valid(key[1:]))
		}
	}
	slices.Sort(keys)
	if more := len(keys) - 8; more > 0 {
		keys = append(keys[:8], fmt.Sprintf("%d more", more))
	}
	return "JSON of an unknown form, with the keys " + strings.Join(keys, ", ")
}

// A shape is what stands in the head of one record: the first text at each path, as in ".message.content[].type", and
// "" where no short text stands. The name of the file stands at "".
type shape map[string]string

func (s shape) has(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { _, ok := s[p]; return !ok })
}

// one reports whether one of the values stands at path.
func (s shape) one(path string, values ...string) bool {
	have, ok := s[path]
	return ok && slices.Contains(values, have)
}

// shapesOf reads the first records of JSON, JSON lines or an array, as far as the head goes. What is broken is passed
// over to the next line.
func shapesOf(head []byte) (out []shape) {
	if head[0] == '[' {
		head = head[1:]
	}
	for len(head) > 0 && len(out) < headRecords {
		d, s := json.NewDecoder(bytes.NewReader(head)), shape{}
		err := s.value(d, "", 0)
		if len(s) > 0 {
			out = append(out, s)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		head = head[min(int64(len(head)), max(1, d.InputOffset())):]
		if err != nil {
			_, head, _ = bytes.Cut(head, []byte{'\n'})
		}
		head = bytes.TrimLeft(head, " \t\r\n,")
	}
	return out
}

// value takes up one value at path.
func (s shape) value(d *json.Decoder, path string, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if depth > deepest {
		return bad("nested more than %d times", deepest)
	}
	at := path
	if t == json.Delim('[') {
		at += "[]"
	}
	if _, known := s[at]; !known && at != "" && strings.Count(at, ".") <= 4 {
		text, _ := t.(string)
		if len(text) > 64 {
			text = ""
		}
		s[at] = text
	}
	if t != json.Delim('{') && t != json.Delim('[') {
		return nil
	}
	for d.More() {
		sub := at
		if t == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			sub += fmt.Sprintf(".%v", key)
		}
		if err := s.value(d, sub, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// ErrNothing reports an import that read no conversation and no memory.
var ErrNothing = errors.New("nothing was read")

// RunAll imports from each source in turn, a commit each, and sums it up: one report where there is one. Files that
// no source claims are listed. Where nothing was read it fails with [ErrNothing] and says what was found instead.
func RunAll(ctx context.Context, v *vault.Vault, found []Found, others []Problem, o Options) (*Report, error) {
	sum := &Report{Written: []Written{}, Problems: []Problem{}, Commits: []vault.Revision{}, DryRun: o.Write.DryRun}
	for _, f := range found {
		r, err := Run(ctx, v, f.Source, f.Places, o)
		sum.add(r)
		if err != nil {
			return sum, err
		}
	}
	if len(sum.Each) == 1 {
		sum = sum.Each[0]
	}
	if sum.Others = others; sum.Read > 0 {
		return sum, nil
	}
	var places []string
	for _, f := range found {
		places = append(places, f.Places...)
	}
	return sum, nothing(ctx, sum, places)
}

// add sums up what another run did.
func (r *Report) add(x *Report) {
	r.Source = strings.TrimPrefix(r.Source+", "+x.Source, ", ")
	for _, n := range [][2]*int{{&r.Files, &x.Files}, {&r.Unread, &x.Unread}, {&r.Read, &x.Read}, {&r.Added, &x.Added},
		{&r.Grown, &x.Grown}, {&r.Changed, &x.Changed}, {&r.Unchanged, &x.Unchanged}, {&r.Skipped, &x.Skipped},
		{&r.Rejected, &x.Rejected}, {&r.Messages, &x.Messages}, {&r.Redacted, &x.Redacted},
		{&r.Malformed, &x.Malformed}} {
		*n[0] += *n[1]
	}
	r.Bytes += x.Bytes
	r.Written, r.Problems = append(r.Written, x.Written...), append(r.Problems, x.Problems...)
	r.Notes, r.Commits = append(r.Notes, x.Notes...), append(r.Commits, x.Commits...)
	r.Each = append(r.Each, x)
}

// nothing says why nothing was read.
func nothing(ctx context.Context, r *Report, places []string) error {
	var why []string
	switch {
	case r.Source == "":
	case r.Malformed > 0:
		p := r.Problems[0]
		why = append(why, fmt.Sprintf("%d malformed, the first in %q: %s", r.Malformed, p.File, p.Text))
	default:
		why = append(why, files(r.Files)+" without a conversation or memory of "+r.Source)
	}
	others, hint := r.Others, "\"stet import\" alone lists what can be imported"
	if len(others) == 0 {
		found, more, err := Detect(ctx, places, nil)
		others = more
		for _, f := range found {
			if err == nil && f.Source.Name != r.Source {
				why = append(why, files(len(f.Places))+" of "+f.Source.Title)
				hint = "stet import --from " + templates.Quote(f.Source.Name, filepath.Base(places[0]))
			}
		}
	}
	if n := len(others); n > 0 {
		first := others[0]
		why = append(why, fmt.Sprintf("%s of no known format, the first %q: %s", files(n), first.File, first.Text))
		if slices.ContainsFunc(others, func(p Problem) bool { return vault.Path(p.File).IsMarkdown() }) {
			hint = "copy a folder of notes into the vault, and \"stet adopt FOLDER\" commits it; " + hint
		}
	}
	if len(why) == 0 {
		why = append(why, "no files")
	}
	return vault.WithHint(fmt.Errorf("import: %w: %s", ErrNothing, strings.Join(why, "; ")), "%s", hint)
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return itoa(n) + " files"
}
