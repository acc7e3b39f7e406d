// Command compare measures stet's search index against SQLite FTS5 and bleve
// v2, in one run, on notes it makes up. It is a module of its own, so that
// stet does not require what it is compared with.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"stet/vault"
)

func main() {
	docs := flag.Int("docs", 100000, "number of notes of 1 KB")
	asked := flag.Int("questions", 200, "questions of each kind")
	dir := flag.String("dir", "", "folder for notes and indexes; a temporary one by default")
	flag.Parse()
	held, err := run(*docs, *asked, *dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
	if !held {
		os.Exit(2)
	}
}

func run(docs, asked int, dir string) (held bool, err error) {
	tmp, err := os.MkdirTemp(dir, "stet-compare-*")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	src := &notes{dir: filepath.Join(tmp, "notes"), state: filepath.Join(tmp, "state")}
	if err := os.MkdirAll(src.state, 0o700); err != nil {
		return false, err
	}
	questions, err := fill(src, docs, asked)
	if err != nil {
		return false, err
	}
	fmt.Printf("%d notes of 1 KB, %d questions of each kind, %d processors; load %s\n\n", docs, asked, runtime.NumCPU(), load())
	engines := []engine{&stet{}, &fts5{}, &bleveIndex{}}
	fmt.Printf("full build")
	took := make([]time.Duration, len(engines))
	for i, e := range engines {
		began := time.Now()
		if err := e.build(src); err != nil {
			return false, fmt.Errorf("%s: build: %w", e.name(), err)
		}
		defer func() { err = errors.Join(err, e.close()) }()
		took[i] = time.Since(began)
		fmt.Printf("  %s %.1f s", e.name(), took[i].Seconds())
	}
	fmt.Printf("\n\n%-9s %-6s %9s %9s %6s\n", "", "", "p50", "p99", "empty")
	held = verdict("full build against bleve", ratio(took[0], took[2]), 1)
	for _, kind := range kinds() {
		of, err := measure(engines, questions[kind])
		if err != nil {
			return false, fmt.Errorf("%s: %w", kind, err)
		}
		show(kind, engines, of)
		if kind == "sentence" {
			held = verdict("sentence p50 against FTS5", ratio(of[0].at(50), of[1].at(50)), 0.5) && held
		}
	}
	fmt.Printf("\nload %s\n", load())
	return held, nil
}

// fill writes the notes and gathers questions from some of them, all over.
func fill(src *notes, docs, asked int) (map[string][]question, error) {
	c := newCorpus(20260101)
	questions := map[string][]question{}
	for i := range docs {
		text, numbers := c.note()
		if err := src.add(vault.Path(fmt.Sprintf("memories/%03d/%06d.md", i*1000/docs, i)), text); err != nil {
			return nil, err
		}
		if i%max(1, docs/(4*asked)) > 0 {
			continue
		}
		for _, q := range c.ask(numbers) {
			if len(questions[q.kind]) < asked {
				questions[q.kind] = append(questions[q.kind], q)
			}
		}
	}
	for _, kind := range kinds() {
		if len(questions[kind]) < asked {
			return nil, fmt.Errorf("only %d questions of kind %s in %d notes: take more notes or fewer questions", len(questions[kind]), kind, docs)
		}
	}
	return questions, nil
}

// A sample is what one engine did with the questions of one kind.
type sample struct {
	took  []time.Duration // ascending; none where the engine cannot answer
	empty int
}

func (s *sample) at(percent int) time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	return s.took[min(len(s.took)-1, len(s.took)*percent/100)]
}

// measure asks every engine every question in turn, so that what else the
// machine does falls on all alike. The first tenth is asked twice: to warm up.
func measure(engines []engine, list []question) ([]sample, error) {
	out := make([]sample, len(engines))
	warm := len(list) / 10
	for n, q := range append(slices.Clone(list[:warm]), list...) {
		for i, e := range engines {
			began := time.Now()
			found, err := e.ask(q)
			took := time.Since(began)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", e.name(), q.words, err)
			}
			if found < 0 || n < warm {
				continue
			}
			out[i].took = append(out[i].took, took)
			if found == 0 {
				out[i].empty++
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].took)
	}
	return out, nil
}

func show(kind string, engines []engine, of []sample) {
	for i, e := range engines {
		if len(of[i].took) == 0 {
			fmt.Printf("%-9s %-6s %9s %9s %6s\n", kind, e.name(), "-", "-", "-")
			continue
		}
		fmt.Printf("%-9s %-6s %6.1f ms %6.1f ms %6d", kind, e.name(), ms(of[i].at(50)), ms(of[i].at(99)), of[i].empty)
		if i > 0 {
			fmt.Printf("   stet takes %.2f of it at p50, %.2f at p99", ratio(of[0].at(50), of[i].at(50)), ratio(of[0].at(99), of[i].at(99)))
		}
		fmt.Println()
	}
}

// verdict prints a ratio beside its bound: it is a property of the programs,
// where a time is one of the machine as well.
func verdict(what string, got, most float64) bool {
	word := "holds"
	if got > most {
		word = "DOES NOT HOLD"
	}
	fmt.Printf("%s: %.2f, at most %.2f: %s\n", what, got, most, word)
	return got <= most
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// load is the system's load average where it tells.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil || len(data) < 4 {
		return "unknown"
	}
	return string(data[:4])
}
