package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Undo after an edit by hand was adopted asks what is meant, and takes back nothing else unasked.
func TestUndoAfterAnAdoptAsksWhichIsMeant(t *testing.T) {
	t.Parallel()
	for answer, left := range map[string]string{"": "kept mine", "1": "kept", "2": "mine"} {
		s := newSession(t)
		s.run(0, "", "remember", "keep me", "--title", "Kept")
		if err := os.WriteFile(filepath.Join(s.dir, "memories", "mine.md"), []byte("Mine.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		s.run(0, "", "adopt")
		_, talk := s.run(0, answer+"\n", "undo")
		if !strings.Contains(talk, "adopt: memories/mine.md (your own edit; removes files that it added)") ||
			!strings.Contains(talk, "remember: Kept") {
			t.Errorf("the question does not name both:\n%s", talk)
		}
		var have []string
		for _, name := range []string{"kept", "mine"} {
			if _, err := os.Stat(filepath.Join(s.dir, "memories", name+".md")); err == nil {
				have = append(have, name)
			}
		}
		if got := strings.Join(have, " "); got != left {
			t.Errorf("after answer %q there is %q, want %q", answer, got, left)
		}
	}
}

// What is shown before a question is the person's files, not the records that stet keeps beside them.
func TestRevertShowsNoRecordsBeforeItAsks(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(0, "", "remember", "keep me", "--title", "Kept")
	out, _ := s.run(0, "n\n", "revert", "HEAD")
	if !strings.Contains(out, "-keep me") || strings.Contains(out, ".stet/") {
		t.Errorf("revert shows\n%s", out)
	}
}

// The bare command prints what there is to do and ends, as git does: keys that follow go to the shell.
func TestTheBareCommandOpensNoPager(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.env["PAGER"] = "echo paged:"
	if out, _ := s.run(0, ""); strings.Contains(out, "paged:") || !strings.Contains(out, "holds") {
		t.Errorf("stet alone prints\n%s", out)
	}
	if out, _ := s.run(0, "", "help"); !strings.Contains(out, "paged:") {
		t.Errorf("help is not paged:\n%s", out)
	}
}

// A log that is cut says so on a terminal, and only then.
func TestOnATerminalALogSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(0, "", "remember", "The gate is green.")
	s.run(0, "", "remember", "The door is red.")
	out, talk := s.run(0, "", "log", "-n", "1")
	if strings.Count(out, "\n") != 1 || !strings.Contains(talk, "more with -n 0") {
		t.Errorf("one of several: %q, %q", out, talk)
	}
	if _, talk = s.run(0, "", "log", "-n", "0"); talk != "" {
		t.Errorf("all: %q", talk)
	}
}

// All is marked that was listed, and nothing that came while the question stood.
func TestReviewOfAllAsksOnce(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(0, "", "remember", "One.", "--as", "robo")
	s.run(0, "", "remember", "Two.", "--as", "robo")
	for answer, marked := range map[string]bool{"n\n": false, "": false} {
		out, talk := s.run(0, answer, "review", "--accept-all")
		if strings.Contains(out, "marked") != marked || !strings.Contains(talk, "mark all 2 as reviewed") ||
			!strings.Contains(out, "remember: One.") || strings.Contains(out, "+One.") {
			t.Errorf("%q: %q %q", answer, out, talk)
		}
	}
	s.meanwhile = func() { s.run(0, "", "remember", "Three.", "--as", "robo") }
	if out, _ := s.run(0, "y\n", "review", "--accept-all"); !strings.Contains(out, "\n2 marked as reviewed") {
		t.Errorf("review: %q", out)
	}
	out, _ := s.run(0, "", "review", "--dry-run")
	if !strings.Contains(out, "Three.") || strings.Contains(out, "Two.") {
		t.Errorf("left: %q", out)
	}
}
