package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An editor for tests is a shell script that gets the file as $1.
func (s *session) editor(script string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "editor.sh")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		s.t.Fatal(err)
	}
	s.env["EDITOR"] = "sh " + file
}

func TestOnATerminalRememberAndNewOpenAnEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editors are shell scripts")
	}
	t.Parallel()
	s := newSession(t)
	stored := func() string {
		out, _ := s.run(0, "", "list", "--paths")
		return out
	}
	// Nothing written is nothing stored, by whatever way nothing was written.
	for _, nothing := range []string{"true", ": > $1", "echo >> $1"} {
		s.editor(nothing)
		for _, args := range [][]string{{"remember"}, {"new"}} {
			out, talk := s.run(0, "", args...)
			if out != "" || !strings.Contains(talk, "you wrote nothing, and nothing was stored") {
				t.Errorf("%q with %q: %q %q", args, nothing, out, talk)
			}
		}
	}
	for _, nothing := range []string{"true", ": > $1", `sed -i 's/$/\r/' $1`, `printf %s "$(cat $1)" > $1`} {
		s.editor(nothing)
		out, talk := s.run(0, "", "new", "decision", "Use", "MySQL")
		if out != "" || !strings.Contains(talk, "you wrote nothing") {
			t.Errorf("new decision with %q: %q %q", nothing, out, talk)
		}
	}
	form := filepath.Join(s.dir, ".stet", "templates", "card.md")
	err := errors.Join(os.MkdirAll(filepath.Dir(form), 0o777),
		os.WriteFile(form, []byte("---\ntitle:\n---\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	s.editor("true")
	if _, talk := s.run(0, "", "new", "card"); !strings.Contains(talk, "you wrote nothing") {
		t.Errorf("an empty form: %q", talk)
	}
	if got := stored(); got != "" {
		t.Fatalf("stored: %s", got)
	}
	s.editor(`sed -i 's/^title:.*/title: Only a title/' $1`)
	if out, talk := s.run(0, "", "new", "card"); !strings.Contains(out, "remembered  memories/only-a-title.md") {
		t.Errorf("a title alone: %q %q", out, talk)
	}

	s.editor(`printf '# Gate\n\nThe gate code is 4711.\n' | cat - $1 > $1.new; mv $1.new $1`)
	out, _ := s.run(0, "", "remember", "--scope", "/house", "--private")
	if !strings.Contains(out, "remembered  memories/house/gate.md") {
		t.Errorf("remember: %q", out)
	}
	out, _ = s.run(0, "", "show", "gate")
	if !strings.HasSuffix(out, "# Gate\n\nThe gate code is 4711.\n") || !strings.Contains(out, "private: true") {
		t.Errorf("stored: %q", out)
	}
	s.editor(`sed -i 's/What was decided?/MySQL 8.4./; s/^# .*/# Use MySQL/' $1`)
	if out, _ := s.run(0, "", "new", "decision"); !strings.Contains(out, "remembered  memories/use-mysql.md") {
		t.Errorf("new decision: %q", out)
	}
	out, _ = s.run(0, "", "show", "use-mysql")
	for _, says := range []string{"MySQL 8.4.", "kind: decision", "title: Use MySQL"} {
		if strings.Contains(out, says) {
			continue
		}
		t.Errorf("stored: %q", out)
	}
	if out, _ := s.run(0, "", "log", "-n", "2"); strings.Count(out, "remember: ") != 2 {
		t.Errorf("one commit each: %q", out)
	}

	// A note in a folder of the user's own
	s.editor("true")
	if out, _ := s.run(0, "", "new", "./Idea"); !strings.Contains(out, "unchanged") {
		t.Errorf("a note left as it was: %q", out)
	}
	s.editor("echo Write it down. >> $1")
	if out, _ := s.run(0, "", "new", "./Idea", "--tag", "now"); !strings.Contains(out, "begun  Idea.md") {
		t.Errorf("a note: %q", out)
	}
	if out, _ := s.run(0, "", "show", "Idea.md"); out != "---\ntags: [now]\n---\n# Idea\n\nWrite it down.\n" {
		t.Errorf("a note: %q", out)
	}
	s.editor("echo never asked > $1")
	s.run(3, "", "new", "./Idea")

	// The note of today
	s.editor("true")
	if out, _ := s.run(0, "", "today"); !strings.Contains(out, "unchanged") {
		t.Errorf("a note of today left as it was: %q", out)
	}
	for _, word := range []string{"Early.", "Late."} {
		s.editor("echo " + word + " >> $1")
		if out, _ := s.run(0, "", "today"); !strings.Contains(out, "written  daily/2026-01-09.md") {
			t.Errorf("the note of today: %q", out)
		}
	}
	s.run(2, "", "today", "--print", "x")
	if out, _ := s.run(0, "", "today", "--print"); out != "# 2026-01-09\n\nEarly.\nLate.\n" {
		t.Errorf("the note of today: %q", out)
	}

	// What was typed is kept where the editor fails, and where what was saved is not stored.
	kept := func(talk, text string) {
		t.Helper()
		_, file, _ := strings.Cut(strings.TrimSpace(talk), "your text is kept in ")
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), text) {
			t.Errorf("%q: %v %q", talk, err, data)
		}
	}
	s.editor("echo typed in vain >> $1; exit 3")
	_, talk := s.run(1, "", "remember")
	kept(talk, "typed in vain")
	s.editor("echo my card is 4111 1111 1111 1111 > $1")
	_, talk = s.run(0, "n\n", "remember")
	kept(talk, "4111")
	before := stored()
	s.editor("echo never > $1")
	if _, talk = s.run(2, "", "remember", "--no-input"); !strings.Contains(talk, "nothing to remember") {
		t.Errorf("--no-input: %q", talk)
	}
	s.run(2, "", "remember", "--json")
	s.run(2, "", "remember", "--as", "robo")
	s.run(2, "", "remember", "--dry-run")
	if out, _ := s.run(0, "", "new", "--as", "robo"); !strings.Contains(out, "decision") {
		t.Errorf("an agent gets the list: %q", out)
	}
	if out, _ := s.run(0, "", "new", "--list"); !strings.Contains(out, "decision") {
		t.Errorf("--list: %q", out)
	}
	s.env["EDITOR"] = ""
	s.env["PATH"] = ""
	if got := stored(); got != before {
		t.Errorf("stored meanwhile: %q, before %q", got, before)
	}
}
