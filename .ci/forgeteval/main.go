// Command forgeteval runs the cases of ForgetEval-Adv against stet's command line:
// what is inscribed is remembered, what is superseded, released or purged is named
// only by a description, and what search then gives back is looked at. It is a module
// of its own because stet's tests do not need it. From its folder:
//
//	go run . PATH/cases.jsonl
//
// The mapping: inscribe = remember; supersede = update --match, and where nothing is
// meant remember; release = forget --match --all; purge = forget --match --all --purge.
// recall = search, then, up to k, what was written last: a person or an agent sees that
// in any context, and a search by words alone does not answer "tell me everything".
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

func main() {
	verbose := flag.Bool("v", false, "name the cases that failed")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: forgeteval [-v] PATH/cases.jsonl")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "forgeteval:", err)
		os.Exit(1)
	}
}

// A testCase is one record of the data.
type testCase struct {
	ID       string   `json:"case_id"`
	Category string   `json:"category"`
	Ops      []change `json:"ops"`
	Query    string   `json:"query"`
	K        int      `json:"k"`
	Must     []string `json:"must_contain"`
	MustNot  []string `json:"must_not_contain"`
	Probe    bool     `json:"probe_must_not"`
}

type change struct {
	Op      string `json:"op"`
	Text    string `json:"text"`
	Query   string `json:"query"`
	NewText string `json:"new_text"`
}

// An outcome is how one case ended.
type outcome struct {
	passed bool
	found  bool // passed with what search finds alone
	err    error
}

func run(file string, verbose bool) (err error) {
	cases, err := readCases(file)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "stet-forgeteval-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	program := filepath.Join(tmp, "stet")
	build := exec.Command("go", "build", "-o", program, "./cmd/stet")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build stet: %w\n%s", err, out)
	}
	outcomes := make([]outcome, len(cases))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(cases); i += workers {
				dir := filepath.Join(tmp, fmt.Sprint(i))
				outcomes[i] = play(program, dir, cases[i])
				outcomes[i].err = errors.Join(outcomes[i].err, os.RemoveAll(dir))
			}
		})
	}
	wg.Wait()
	return report(cases, outcomes, verbose)
}

// workers is how many cases run at once.
const workers = 2

func readCases(file string) ([]testCase, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []testCase
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, c)
	}
	return out, lines.Err()
}

// A store is one empty vault with a home of its own.
type store struct{ program, dir string }

func play(program, dir string, c testCase) outcome {
	s := store{program, dir}
	if err := s.reset(); err != nil {
		return outcome{err: err}
	}
	for _, o := range c.Ops {
		if err := s.apply(o); err != nil {
			return outcome{err: fmt.Errorf("%s: %s %q: %w", c.ID, o.Op, o.Query+o.Text, err)}
		}
	}
	passed, err := s.judge(c, s.recall)
	if err != nil {
		return outcome{err: err}
	}
	found, err := s.judge(c, s.search)
	return outcome{passed, found, err}
}

func (s store) reset() error {
	config := filepath.Join(s.dir, "config", "stet")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte("guard:\n  secrets: warn\n"), 0o600); err != nil {
		return err
	}
	_, err := s.stet("init", filepath.Join(s.dir, "vault"))
	return err
}

// exitNotFound is the exit code for what is not there, or is there more than once.
const exitNotFound = 4

func (s store) apply(o change) error {
	var err error
	switch o.Op {
	case "inscribe":
		_, err = s.stet("remember", "--", o.Text)
		return err
	case "supersede":
		if _, err = s.stet("update", "--match="+o.Query, "--text="+o.NewText, "--yes"); code(err) == exitNotFound {
			_, err = s.stet("remember", "--", o.NewText)
		}
		return err
	case "release":
		_, err = s.stet("forget", "--match="+o.Query, "--all", "--yes")
	case "purge":
		_, err = s.stet("forget", "--match="+o.Query, "--all", "--purge", "--yes")
	default:
		return fmt.Errorf("unknown operation %q", o.Op)
	}
	if code(err) == exitNotFound {
		return nil
	}
	return err
}

func code(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// stet runs one command line. Nothing of the person's own configuration is seen.
func (s store) stet(args ...string) ([]byte, error) {
	cmd := exec.Command(s.program, append(args, "--json")...)
	if args[0] != "init" {
		cmd.Args = append([]string{s.program, "-C", filepath.Join(s.dir, "vault"), "--json"}, args...)
	}
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"), "STET_VAULT=", "STET_AGENT=")
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("stet %q: %w: %s", args, err, talk.String())
	}
	return out, err
}

// search is what search gives back.
func (s store) search(query string, k int) ([]string, error) {
	out, err := s.stet("search", "-n", fmt.Sprint(k), "--", query)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct{ Hits []struct{ Path string } }
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, err
	}
	var texts []string
	for _, h := range answer.Result.Hits {
		body, err := s.body(h.Path)
		if err != nil {
			return nil, err
		}
		texts = append(texts, body)
	}
	return texts, nil
}

func (s store) body(path string) (string, error) {
	out, err := s.stet("show", path)
	if err != nil {
		return "", err
	}
	var answer struct{ Result struct{ Body string } }
	err = json.Unmarshal(out, &answer)
	return strings.TrimSpace(answer.Result.Body), err
}

// recall is search, filled up to k with what was written last.
func (s store) recall(query string, k int) ([]string, error) {
	texts, err := s.search(query, k)
	if err != nil || len(texts) >= k {
		return texts, err
	}
	out, err := s.stet("list", "--sort", "created", "-n", fmt.Sprint(k))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct{ Memories []struct{ Path string } }
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, err
	}
	for _, m := range answer.Result.Memories {
		body, err := s.body(m.Path)
		if err != nil {
			return nil, err
		}
		if len(texts) < k && !slices.Contains(texts, body) {
			texts = append(texts, body)
		}
	}
	return texts, nil
}

// judge scores a case as the benchmark does: what must be there in the answer to the
// query, what must not in that answer and in those to the forbidden strings.
func (s store) judge(c testCase, recall func(string, int) ([]string, error)) (bool, error) {
	texts, err := recall(c.Query, c.K)
	if err != nil {
		return false, err
	}
	blob := strings.ToLower(strings.Join(texts, " "))
	for _, want := range c.Must {
		if !strings.Contains(blob, strings.ToLower(want)) {
			return false, nil
		}
	}
	if c.Probe {
		for _, probe := range c.MustNot {
			more, err := recall(strings.TrimSpace(probe), c.K)
			if err != nil {
				return false, err
			}
			blob += " " + strings.ToLower(strings.Join(more, " "))
		}
	}
	return !slices.ContainsFunc(c.MustNot, func(not string) bool { return strings.Contains(blob, strings.ToLower(not)) }), nil
}

func report(cases []testCase, outcomes []outcome, verbose bool) error {
	type sum struct{ passed, found, all int }
	var total sum
	by := map[string]sum{}
	var errs []error
	for i, o := range outcomes {
		n := by[cases[i].Category]
		for _, t := range []*sum{&total, &n} {
			t.all++
			if o.passed {
				t.passed++
			}
			if o.found {
				t.found++
			}
		}
		by[cases[i].Category] = n
		if o.err != nil {
			errs = append(errs, o.err)
		}
		if verbose && !o.passed {
			fmt.Println("failed:", cases[i].ID)
		}
	}
	var names []string
	for name := range by {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Printf("%-28s %6s %12s %5s\n", "", "passed", "search alone", "of")
	for _, name := range names {
		fmt.Printf("%-28s %6d %12d %5d\n", name, by[name].passed, by[name].found, by[name].all)
	}
	fmt.Printf("%-28s %6d %12d %5d\n", "all", total.passed, total.found, total.all)
	return errors.Join(errs...)
}
