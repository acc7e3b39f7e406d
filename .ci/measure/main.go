// Command measure compares what stet does with data sets of others. From the repository:
//
//	go run ./.ci/measure forgeteval [-v] PATH/cases.jsonl   cases of ForgetEval-Adv, played by --match
//	go run ./.ci/measure sessions [-questions N] FOLDER...  session search on imports, against bench
//	go run ./.ci/measure contradictions [-q] FOLDER...      flags on conversations, to be judged by a person
//	go run ./.ci/measure pairs [-v LABEL] PATH/pairs.jsonl  labelled pairs of sentences that are merged
//	go run ./.ci/measure secrets [-lines N] [-seed N] PATH...      what the guard finds in texts that hold no secret
//	go run ./.ci/measure secrets -redact PATH...            what an import would take out of transcripts
//	go run ./.ci/measure corpus -o FOLDER REPOSITORY...     a vault of agents' conversations with real tool output
//	go run ./.ci/measure found [-n N] [-seed N] FOLDER      whether what is pasted from its messages is found there
//	go run ./.ci/measure found -questions FILE FOLDER       whether questions find the conversations they are about
//
// It exits 2 when a bound does not hold. What it makes stands in a temporary folder and is
// removed. A folder is one of those that "stet bench --help" describes.
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
	"sync"
)

// errMissed reports that a bound does not hold.
var errMissed = errors.New("a bound does not hold")

func main() {
	measures := map[string]func(flags *flag.FlagSet, args []string, tmp string) error{
		"forgeteval": forgetEval, "sessions": sessions, "contradictions": contradictions, "pairs": pairs,
		"secrets": secrets, "corpus": corpus, "found": found,
	}
	if len(os.Args) < 3 || measures[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: measure forgeteval|sessions|contradictions|pairs|secrets|corpus|found [FLAG...] PATH...")
		os.Exit(1)
	}
	tmp, err := os.MkdirTemp("", "stet-measure-*")
	if err == nil {
		err = measures[os.Args[1]](flag.NewFlagSet(os.Args[1], flag.ExitOnError), os.Args[2:], tmp)
	}
	err = errors.Join(err, os.RemoveAll(tmp))
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
	}
	if errors.Is(err, errMissed) {
		os.Exit(2)
	} else if err != nil {
		os.Exit(1)
	}
}

// lines reads a file of JSON lines.
func lines[T any](file string) (out []T, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, len(data)+1)
	for n := 1; s.Scan(); n++ {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		out = append(out, v)
	}
	return out, s.Err()
}

// workers is how many cases or questions are played at once.
const workers = 2

// each calls f with every index below n.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				errs[i] = f(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// A stet is the command line of this tree, with a home of its own.
type stet struct{ program, home string }

func build(dir string) (string, error) {
	program := filepath.Join(dir, "stet")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/stet").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build stet: %w\n%s", err, out)
	}
	return program, nil
}

// run runs one command line on a vault, "" for none, and reads its JSON result. Nothing of
// the person's own configuration is seen.
func (s stet) run(vault string, result any, args ...string) error {
	if vault != "" {
		args = append([]string{"-C", vault}, args...)
	}
	cmd := exec.Command(s.program, append([]string{"--json"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_CONFIG_HOME="+filepath.Join(s.home, "config"), "STET_VAULT=", "STET_AGENT=", "GIT_CONFIG_NOSYSTEM=1")
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("stet %q: %w: %s", args, err, talk.String())
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(out, &struct{ Result any }{result})
}
