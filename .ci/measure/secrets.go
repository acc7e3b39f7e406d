package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"stet/vault/guard"
)

// secrets counts what the guard finds where a person knows of no secret: on lines drawn from the text files below
// each path, or with -redact as an import would take it out of transcripts, files of JSON lines. It prints each
// finding with what stands around it, for a person to judge. The bound is one line in a hundred.
func secrets(flags *flag.FlagSet, args []string, _ string) error {
	most := flags.Int("lines", 5000, "draw `N` lines")
	seed := flags.Uint64("seed", 1, "draw by this `NUMBER`")
	redact := flags.Bool("redact", false, "count what is taken out of transcripts")
	flags.Parse(args)
	var files []string
	for _, root := range flags.Args() {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(p, ".jsonl") == *redact {
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if *redact {
		return redactions(files)
	}
	drawn, err := draw(files, *most, rand.New(rand.NewPCG(*seed, 0)))
	if err != nil {
		return err
	}
	lines, hits := 0, 0
	for _, file := range files {
		wanted := drawn[file]
		if len(wanted) == 0 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		lines += len(wanted)
		all := bytes.Split(data, []byte("\n"))
		for _, f := range guard.Secrets("x.md", data) {
			if wanted[f.Line] {
				hits++
				wanted[f.Line] = false // a line counts once
				fmt.Printf("%s %s:%d: %.200s\n", f.Rule, file, f.Line, bytes.TrimSpace(all[f.Line-1]))
			}
		}
	}
	fmt.Printf("%d of %d lines in %d files, seed %d: %.2f %%\n", hits, lines, len(files), *seed,
		100*float64(hits)/float64(max(lines, 1)))
	if hits*100 > lines {
		return fmt.Errorf("%w: a finding on more than 1 %% of lines", errMissed)
	}
	return nil
}

// draw picks lines that are not blank, all with the same chance: by file, their numbers from 1.
func draw(files []string, most int, r *rand.Rand) (map[string]map[int]bool, error) {
	type line struct {
		file   string
		number int
	}
	var kept []line
	seen := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			continue // no text
		}
		number := 0
		for text := range bytes.Lines(data) {
			number++
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			if seen++; len(kept) < most {
				kept = append(kept, line{file, number})
			} else if i := r.IntN(seen); i < most {
				kept[i] = line{file, number}
			}
		}
	}
	drawn := map[string]map[int]bool{}
	for _, l := range kept {
		if drawn[l.file] == nil {
			drawn[l.file] = map[int]bool{}
		}
		drawn[l.file][l.number] = true
	}
	return drawn, nil
}

// redactions prints what a redactor takes out of each file, which is one conversation.
func redactions(files []string) error {
	size, count := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		size += len(data)
		var texts []string
		for line := range bytes.Lines(data) {
			var v any
			if json.Unmarshal(line, &v) == nil { // a torn line is none
				texts = said(v, texts)
			}
		}
		r := guard.NewRedactor(func(guard.Finding) bool { return false })
		for _, text := range texts {
			r.Learn(text)
		}
		for _, text := range texts {
			count += told(file, text, r.Clean(text))
		}
	}
	fmt.Printf("%d redactions in %d bytes of %d files; how many are false says who reads them\n", count, size, len(files))
	return nil
}

// said appends every text in a value of JSON.
func said(v any, texts []string) []string {
	switch v := v.(type) {
	case string:
		texts = append(texts, v)
	case []any:
		for _, v := range v {
			texts = said(v, texts)
		}
	case map[string]any:
		for _, v := range v {
			texts = said(v, texts)
		}
	}
	return texts
}

// told prints what stood where markers stand now, and counts them.
func told(file, text, cleaned string) (n int) {
	const mark, around = "[redacted: ", 60
	before, rest, found := strings.Cut(cleaned, mark)
	for at := len(before); found; n++ {
		var rule, next string
		rule, rest, _ = strings.Cut(rest, "]")
		next, rest, found = strings.Cut(rest, mark)
		end := len(text)
		if found || next != "" {
			end = at + max(strings.Index(text[at:], next), 0)
		}
		fmt.Printf("%s %s: %q\n", rule, file, text[max(0, at-around):at]+"«"+text[at:end]+"»")
		at = end + len(next)
	}
	return n
}
