package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A forgetCase is one record of ForgetEval.
type forgetCase struct {
	ID       string `json:"case_id"`
	Category string
	Ops      []struct {
		Op, Text, Query string
		NewText         string `json:"new_text"`
	}
	Query   string
	K       int
	Must    []string `json:"must_contain"`
	MustNot []string `json:"must_not_contain"`
	Probe   bool     `json:"probe_must_not"`
}

// forgetEval plays cases against the command line: what is inscribed is remembered, what is
// superseded, released or purged is named only by a description, and what search then gives
// back is looked at. Supersede is update --match, and where nothing is meant remember;
// recall is search, then, up to k, what was written last: a person or an agent sees that in
// any context, and a search by words alone does not answer "tell me everything".
func forgetEval(flags *flag.FlagSet, args []string, tmp string) error {
	verbose := flags.Bool("v", false, "name the cases that failed")
	flags.Parse(args)
	cases, err := lines[forgetCase](flags.Arg(0))
	if err != nil {
		return err
	}
	program, err := build(tmp)
	if err != nil {
		return err
	}
	passed, found := make([]bool, len(cases)), make([]bool, len(cases))
	err = each(len(cases), func(i int) (err error) {
		s := forgetful{stet{program, filepath.Join(tmp, fmt.Sprint(i))}}
		if passed[i], found[i], err = s.play(cases[i]); err != nil {
			return fmt.Errorf("%s: %w", cases[i].ID, err)
		}
		return os.RemoveAll(s.home)
	})
	sums := map[string]*[3]int{}
	for i, c := range cases {
		for _, name := range []string{c.Category, "all"} {
			if sums[name] == nil {
				sums[name] = &[3]int{}
			}
			for k, is := range []bool{passed[i], found[i], true} {
				if is {
					sums[name][k]++
				}
			}
		}
		if *verbose && !passed[i] {
			fmt.Println("failed:", c.ID)
		}
	}
	fmt.Printf("%-28s %6s %12s %5s\n", "", "passed", "search alone", "of")
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Printf("%-28s %6d %12d %5d\n", name, sums[name][0], sums[name][1], sums[name][2])
	}
	return err
}

// A forgetful is a vault of one case.
type forgetful struct{ stet }

func (s forgetful) vault() string { return filepath.Join(s.home, "vault") }

func (s forgetful) play(c forgetCase) (passed, found bool, err error) {
	config := filepath.Join(s.home, "config", "stet")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return false, false, err
	}
	if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte("guard:\n  secrets: warn\n"), 0o600); err != nil {
		return false, false, err
	}
	if err := s.run("", nil, "init", s.vault()); err != nil {
		return false, false, err
	}
	for _, o := range c.Ops {
		var err error
		switch o.Op {
		case "inscribe":
			err = s.run(s.vault(), nil, "remember", "--", o.Text)
		case "supersede":
			if err = s.run(s.vault(), nil, "update", "--match="+o.Query, "--text="+o.NewText, "--yes"); notFound(err) {
				err = s.run(s.vault(), nil, "remember", "--", o.NewText)
			}
		case "release":
			err = s.run(s.vault(), nil, "forget", "--match="+o.Query, "--all", "--yes")
		case "purge":
			err = s.run(s.vault(), nil, "forget", "--match="+o.Query, "--all", "--purge", "--yes")
		default:
			err = fmt.Errorf("unknown operation %q", o.Op)
		}
		if err != nil && (o.Op == "inscribe" || !notFound(err)) {
			return false, false, err
		}
	}
	if passed, err = c.judge(s.recall); err == nil {
		found, err = c.judge(s.search)
	}
	return passed, found, err
}

// notFound reports the exit code for what is not there, or is there more than once.
func notFound(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 4
}

type shown struct{ Path string }

// search is what search gives back.
func (s forgetful) search(query string, k int) ([]string, error) {
	var answer struct{ Hits []shown }
	if err := s.run(s.vault(), &answer, "search", "-n", fmt.Sprint(k), "--", query); err != nil {
		return nil, err
	}
	return s.bodies(nil, answer.Hits, k)
}

// recall is search, filled up to k with what was written last.
func (s forgetful) recall(query string, k int) ([]string, error) {
	texts, err := s.search(query, k)
	if err != nil || len(texts) >= k {
		return texts, err
	}
	var answer struct{ Memories []shown }
	if err := s.run(s.vault(), &answer, "list", "--sort", "created", "-n", fmt.Sprint(k)); err != nil {
		return nil, err
	}
	return s.bodies(texts, answer.Memories, k)
}

// bodies adds the texts of memories, each once, up to k.
func (s forgetful) bodies(texts []string, of []shown, k int) ([]string, error) {
	for _, m := range of {
		var memory struct{ Body string }
		if err := s.run(s.vault(), &memory, "show", m.Path); err != nil {
			return nil, err
		}
		if body := strings.TrimSpace(memory.Body); len(texts) < k && !slices.Contains(texts, body) {
			texts = append(texts, body)
		}
	}
	return texts, nil
}

// judge scores a case as the benchmark does: what must be there in the answer to the
// query, what must not in that answer and in those to the forbidden strings.
func (c forgetCase) judge(recall func(string, int) ([]string, error)) (bool, error) {
	queries, blob := []string{c.Query}, ""
	if c.Probe {
		queries = append(queries, c.MustNot...)
	}
	holds := func(s string) bool { return strings.Contains(blob, strings.ToLower(s)) }
	for i, q := range queries {
		texts, err := recall(strings.TrimSpace(q), c.K)
		if err != nil {
			return false, err
		}
		blob += " " + strings.ToLower(strings.Join(texts, " "))
		if i == 0 && slices.ContainsFunc(c.Must, func(s string) bool { return !holds(s) }) {
			return false, nil
		}
	}
	return !slices.ContainsFunc(c.MustNot, holds), nil
}
