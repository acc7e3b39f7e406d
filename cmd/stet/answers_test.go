package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A typist types what is read, and does something before.
type typist struct {
	io.Reader
	before *func()
}

func (r typist) Read(p []byte) (int, error) {
	if do := *r.before; do != nil {
		*r.before = nil
		do()
	}
	return r.Reader.Read(p)
}

func TestProposalsOnATerminalAreAskedAbout(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.run(0, "", "config", "set", "memory.write_approval", "stage")
	for _, text := range []string{"Tea is in the left cupboard.", "The bins go out on Tuesday.", "The lift is slow."} {
		s.run(0, "", "remember", text, "--as", "robo")
	}
	out, talk := s.run(0, "what?\ny\nn\nq\n", "review", "--proposed")
	if !strings.Contains(out, "+The bins go out on Tuesday.") || strings.Count(talk, "[1/3]") != 2 ||
		strings.Count(talk, "no refuses it") != 1 ||
		!strings.Contains(talk, "1 accepted, 1 rejected, 1 left for later") {
		t.Errorf("review: %q %q", out, talk)
	}
	for name, want := range map[string]bool{"tea-is-in-the-left-cupboard.md": true,
		"the-bins-go-out-on-tuesday.md": false, "the-lift-is-slow.md": false} {
		if _, err := os.Stat(filepath.Join(s.dir, "memories", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.run(8, "", "remember", "The bins go out on Tuesday", "--as", "robo")
	if _, talk = s.run(0, "", "review", "--proposed"); !strings.Contains(talk,
		"0 accepted, 0 rejected, 1 left for later") {
		t.Errorf("nobody answers: %q", talk)
	}
	if _, talk = s.run(0, "", "review"); strings.Contains(talk, "keep it?") {
		t.Errorf("what was accepted was looked at: %q", talk)
	}
}

// Of two reviews at once each answer is about what its own question showed, a yes as well as a no.
func TestAnAnswerIsAboutWhatItsQuestionShowed(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"y\n", "n\n"} {
		s := newSession(t)
		s.run(0, "", "config", "set", "memory.write_approval", "stage")
		s.run(0, "", "remember", "The shed code is 4711.", "--as", "robo")
		s.meanwhile = func() {
			files, err := filepath.Glob(filepath.Join(s.dir, ".stet/proposals/*.md"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			data, err := os.ReadFile(files[0])
			data = bytes.ReplaceAll(data, []byte("4711"), []byte("5000"))
			if err = errors.Join(err, os.WriteFile(files[0], data, 0o644)); err != nil {
				t.Fatal(err)
			}
			if out, _ := s.run(0, "l\n", "review", "--proposed"); !strings.Contains(out, "5000") {
				t.Errorf("the other review shows %q", out)
			}
		}
		out, talk := s.run(0, answer, "review", "--proposed")
		if !strings.Contains(out, "4711") || !strings.Contains(talk, "0 accepted, 0 rejected, 1 left for later") {
			t.Errorf("%q to 4711 answers what was not shown: %q %q", answer, out, talk)
		}
		if out, _ = s.run(0, "y\n", "review", "--proposed"); !strings.Contains(out, "5000") {
			t.Errorf("%q: it waits no more: %q", answer, out)
		}
		if out, _ = s.run(0, "", "search", "shed"); !strings.Contains(out, "5000") {
			t.Errorf("%q: a yes to what was shown stores nothing: %q", answer, out)
		}
	}
}

// A question shows the beginning of a long text, and yes is about what was shown: it shows the rest first. What
// "all" keeps is shown, and what is too long for that is asked about.
func TestWhatIsTooLongIsShownBeforeItIsKept(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	long := func(name string) string {
		return name + " begins.\n" + strings.Repeat("A line of "+name+".\n", 3000) + name + " ends."
	}
	s.run(0, "", "remember", long("Alpha"), "--as", "robo")
	s.run(0, "", "remember", "A short one.", "--as", "robo")
	s.run(0, "", "remember", long("Beta"), "--as", "robo")
	for _, answer := range []string{"y", "a"} {
		out, talk := s.run(0, answer+"\nq\n", "review")
		head, rest, _ := strings.Cut(out, "more lines")
		if !strings.Contains(head, "+Alpha begins.") || strings.Contains(head, "Alpha ends.") ||
			!strings.Contains(rest, "+Alpha ends.") ||
			!strings.Contains(talk, "0 kept, 0 taken back, 3 left for later") {
			t.Errorf("%q: %d bytes, %q", answer, len(out), talk)
		}
	}
	out, talk := s.run(0, "a\na\nq\n", "review")
	if !strings.Contains(out, "+A short one.") || strings.Contains(out, "Beta ends.") ||
		!strings.Contains(talk, "2 kept, 0 taken back, 1 left for later") {
		t.Errorf("all: %d bytes, %q", len(out), talk)
	}
	s.run(0, "", "config", "set", "memory.write_approval", "stage")
	s.run(0, "", "remember", long("Gamma"), "--as", "robo")
	if out, talk = s.run(0, "y\nl\n", "review", "--proposed"); !strings.Contains(out, "+Gamma ends.") ||
		!strings.Contains(talk, "0 accepted, 0 rejected, 1 left for later") {
		t.Errorf("proposed: %d bytes, %q", len(out), talk)
	}
}
