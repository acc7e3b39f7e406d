package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Killed before any mutating step, a review has learnt each lesson whole or not at all; the next run learns the
// others, and none twice. No turn of the conversation is lost.
func TestKillSweepOfAReview(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: the sweep needs SIGKILL")
	}
	lessons := []string{"My wife's birthday is March 15th.", "I live in Prague.", "I don't eat pork."}
	talk := [][]string{{"remember", "--plain", "The port is 5433."}}
	for _, text := range lessons {
		talk = append(talk, []string{"observe", "--session", "talk", "--role", "user", text},
			[]string{"observe", "--session", "talk", "--role", "assistant", "I see."})
	}
	for name, r := range map[string]reviewKill{
		"when it has ended": {lessons, victim{prepare: append(talk[:len(talk):len(talk)],
			[]string{"session", "end", "talk"}), args: []string{"worker", "run"}}},
		"while it is open": {lessons, victim{prepare: talk, args: []string{"nudge", "--session", "talk"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.sweep(t)
		})
	}
}

type reviewKill struct {
	lessons []string
	victim
}

func (r reviewKill) sweep(t *testing.T) {
	home, model := r.model(t)
	stride := 3
	switch {
	case os.Getenv("STET_FULL") != "":
		stride = 1
	case testing.Short():
		stride = 9
	}
	t.Logf("one step in %d (STET_FULL=1 takes all)", stride)
	partly := map[int]bool{} // how many lessons kills have left
	for step := 1; ; step += stride {
		dir := r.copy(t, home, model, step)
		run := func(args ...string) string {
			t.Helper()
			out, code := here(t.Context(), environ(home), dir, "", args...)
			if code != 0 {
				t.Fatalf("step %d: %q: exit %d\n%s", step, args, code, out)
			}
			return out
		}
		if out, code := child(t, home, dir, fmt.Sprint("STET_TEST_CRASH=", step), r.args...); code == 0 {
			break // the command has fewer steps
		} else if code != -1 {
			t.Fatalf("step %d: exit %d, want a kill\n%s", step, code, out)
		}
		run("list")
		partly[r.learnt(t, step, run)] = true
		run(r.args...)
		if n := r.learnt(t, step, run); n != len(r.lessons) {
			t.Fatalf("step %d: %d lessons after the next run, want all", step, n)
		}
		if out := run("worker", "run"); out != "nothing waits\n" {
			t.Fatalf("step %d: a review is made again: %s", step, out)
		}
		said := run("session", "show", "talk")
		for _, text := range r.lessons {
			if strings.Count(said, "\n  "+text+"\n") != 1 {
				t.Fatalf("step %d: %q does not stand in the conversation once:\n%s", step, text, said)
			}
		}
		if err := checkVault(dir); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	for n := range len(r.lessons) + 1 {
		if !partly[n] {
			t.Errorf("no kill left %d lessons: the sweep missed the writes", n)
		}
	}
}

// learnt counts the lessons, each of which has an entry and a commit of its own or neither.
func (r reviewKill) learnt(t *testing.T, step int, run func(...string) string) (n int) {
	t.Helper()
	entries, commits := run("profile"), run("log")
	for _, text := range r.lessons {
		e, c := strings.Count(entries, "] "+text), strings.Count(commits, "] "+text)
		if e != c || e > 1 {
			t.Fatalf("step %d: %q has %d entries and %d commits\n%s%s", step, text, e, c, entries, commits)
		}
		n += e
	}
	return n
}
