package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

// A key that is given to every command, as each word, behind each flag that takes text, on
// standard input and in the editor, stands in no object of git and in nothing of stet's that travels.
func TestNoCommandBringsAKeyIntoHistory(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: needs git")
	}
	key := "AKIA" + "Q4RT7WXZ2MNPL6VB" // made here: none stands in the repository
	home := t.TempDir()
	dir := filepath.Join(home, "notes")
	editor := filepath.Join(home, "editor")
	text := "The ferry's key is " + key + ".\n"
	line := `{"session":"s","speaker":"user","date":"2026-03-02","text":"it is ` + key + `"}` + "\n"
	script := "#!/bin/sh\necho \"" + strings.TrimSpace(text) + "\" >>\"$1\"\n"
	for name, data := range map[string]string{"editor": script, "talk.jsonl": line} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(data), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	runs, env := 0, environ(home)
	env["EDITOR"] = editor
	delete(env, "STET_SESSIONS_TRACK")
	try := func(args ...string) {
		t.Helper()
		runs++
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		here(ctx, env, dir, text, args...) // most of it is refused
	}
	prepare := func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		try("init")
		try("remember", "The gate opens at nine.", "--title", "Gate")
		try("remember", "The dock is closed.", "--title", "Dock")
		try("profile", "add", "Prefers short answers.")
	}
	check := func(command string) {
		t.Helper()
		out, err := gitIn(dir, "cat-file", "--batch-all-objects", "--batch")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(out, []byte(key)) {
			t.Errorf("stet %s: the key stands in git's objects", command)
		}
		files, err := filepath.Glob(filepath.Join(dir, ".stet", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if strings.Contains(file, key) || err == nil && bytes.Contains(data, []byte(key)) {
				t.Errorf("stet %s: the key stands in %s", command, file)
			}
		}
	}
	never := []string{"watch", "bench", "completion", "help"} // go on, take minutes, write nothing
	for n, c := range Commands() {
		if slices.Contains(never, c.Name) || testing.Short() && n%4 != 0 {
			continue
		}
		prepare()
		names := [][]string{{c.Name}}
		for _, v := range c.Verbs {
			names = append(names, []string{c.Name, v.Name})
		}
		for _, name := range names {
			try(append(name, key)...)
			try(append(name, text)...)
			try(append(name, "-")...)
			try(append(name, "gate")...)
			try(append(name, "gate", text)...)
			try(append(name, "jsonl", filepath.Join(home, "talk.jsonl"))...)
			for _, f := range c.Flags {
				if _, ok := f.(*cli.BoolFlag); ok {
					try(append(name, "gate", text, "--"+f.Names()[0])...)
					continue
				}
				try(append(name, "gate", "--"+f.Names()[0], text)...)
				try(append(name, "The gate is red.", "--"+f.Names()[0], key)...)
			}
		}
		check(c.Name)
	}
	t.Logf("%d command lines", runs)
}
