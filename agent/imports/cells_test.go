package imports_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"stet/agent/imports"
	"stet/markdown"
	"stet/vault"
	"stet/vault/vaulttest"
)

// Every cell of the table of formats in docs/FORMAT.md is what the reader makes of the examples of its source.
func TestEveryCellOfTheTableOfFormats(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "| source | what it reads |")
	table, _, _ = strings.Cut("| source | what it reads |"+table, "\n\n")
	rows := strings.Split(table, "\n")
	heads := strings.Split(rows[0], " | ")
	if len(rows) < 12 || len(heads) != 10 {
		t.Fatalf("%d rows, %d columns", len(rows), len(heads))
	}
	for _, row := range rows[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[0], -1) {
			t.Run(name[1], func(t *testing.T) {
				t.Parallel()
				e := examplesOf(t, name[1])
				for i, check := range []func(string) bool{3: e.roles, 4: e.tools, 5: e.thinking, 6: e.branches,
					7: e.titles, 8: e.projects, 9: e.times} {
					if check != nil && !check(cells[i]) {
						t.Errorf("no such examples: %s: %q", strings.Trim(heads[i], "| "), cells[i])
					}
				}
			})
		}
	}
}

// examples are the files of a source, as text, and what comes of them.
type examples struct {
	files string
	all   []*markdown.Transcript
}

// examplesOf imports every example of a source; forks of a program read those of the program as well.
func examplesOf(t *testing.T, name string) *examples {
	e := &examples{}
	f := vaulttest.New(t)
	v := f.Open()
	forks := map[string]string{"openclaw-sessions": "pi", "roo-code": "cline", "kilo-code": "cline"}
	for _, pattern := range []string{"formats/" + name, "formats/" + name + "-old", "cells/" + name,
		"formats/" + forks[name], "cells/" + forks[name]} {
		a, err := txtar.ParseFile("testdata/" + pattern + ".txtar")
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		dir, places := t.TempDir(), []string{}
		for _, file := range a.Files {
			if file.Name == "want" {
				continue
			}
			p := filepath.Join(dir, filepath.FromSlash(file.Name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, file.Data, 0o666)); err != nil {
				t.Fatal(err)
			}
			if e.files += string(file.Data); strings.HasPrefix(filepath.Ext(p), ".json") {
				places = append(places, p)
			}
		}
		if _, err := imports.Run(t.Context(), v, source(t, name), places, imports.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for p, text := range tree(t, f.Dir) {
		if vault.ClassOf(vault.Path(p)) == vault.ClassSession {
			e.all = append(e.all, markdown.ParseTranscript([]byte(text)))
		}
	}
	if len(e.all) == 0 {
		t.Fatal("no examples")
	}
	return e
}

const dash = "–"

// any reports a transcript for which is holds.
func (e *examples) any(is func(*markdown.Transcript) bool) bool {
	return slices.ContainsFunc(e.all, is)
}

func (e *examples) message(is func(markdown.Message) bool) bool {
	return e.any(func(x *markdown.Transcript) bool { return slices.ContainsFunc(x.Messages, is) })
}

func (e *examples) roles(cell string) bool {
	have := map[string]bool{}
	for _, x := range e.all {
		for _, m := range x.Messages {
			have[m.Role] = true
		}
	}
	want := strings.Split(cell, ", ")
	slices.Sort(want)
	return cell == "any" && len(have) > 1 || slices.Equal(slices.Sorted(maps.Keys(have)), want)
}

func (e *examples) tools(cell string) bool {
	calls := e.message(func(m markdown.Message) bool { return len(m.Calls) > 0 })
	results := e.message(func(m markdown.Message) bool { return m.Role == "tool" })
	return calls == strings.Contains(cell, "calls") && results == strings.Contains(cell, "results") &&
		(calls || cell == dash)
}

// thinking: in the examples a model thinks "secretly".
func (e *examples) thinking(cell string) bool {
	kept := e.message(func(m markdown.Message) bool { return strings.Contains(string(m.Content), "secretly") })
	left := cell == "left out"
	return !kept && strings.Contains(e.files, "secretly") == left && (left || cell == dash)
}

func (e *examples) branches(cell string) bool {
	inner, linked := false, false // a part of its parent's file, and a conversation with a name of its own
	for _, x := range e.all {
		inner = inner || x.Parent != "" && strings.Contains(x.Origin, "/")
		linked = linked || x.Parent != "" && !strings.Contains(x.Origin, "/")
	}
	for _, what := range strings.Split(cell, ", ") {
		is, known := map[string]bool{"forks": linked, "parent": linked, "`parent`": linked, "parent session": linked,
			"tree": inner, "rewinds": inner, "prompts taken back": inner, "sub-agents": inner || linked,
			dash: !inner && !linked}[what]
		if !known || !is {
			return false
		}
	}
	return true
}

func (e *examples) titles(cell string) bool {
	first, given := false, false
	for _, x := range e.all {
		i := slices.IndexFunc(x.Messages, func(m markdown.Message) bool { return m.Role == "user" })
		words := i >= 0 && strings.HasPrefix(string(x.Messages[i].Content), x.Title) && x.Title != ""
		first, given = first || words, given || x.Title != "" && !words
	}
	if _, also, ok := strings.Cut(cell, "else "); ok {
		return first && given && also == "first words"
	}
	return cell == "first words" && first && !given || cell != "first words" && given
}

func (e *examples) projects(cell string) bool {
	return e.any(func(x *markdown.Transcript) bool { return x.Project != "" }) == (cell != dash)
}

func (e *examples) times(cell string) bool {
	return e.message(func(m markdown.Message) bool { return !m.Time.IsZero() }) == (cell != dash)
}

// What is known of a conversation follows as it goes on.
func TestFactsFollow(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	first := `{"type":"assistant","uuid":"a1","sessionId":"s1","gitBranch":"main","message":{"model":"m-1",` +
		`"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}` + "\n"
	more := `{"type":"user","uuid":"u1","parentUuid":"a1","sessionId":"s1","gitBranch":"tides","message":{"content":` +
		`[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Error 2"}]}}` + "\n" +
		`{"type":"user","uuid":"c1","parentUuid":"u1","sessionId":"s1","isCompactSummary":true,` +
		`"message":{"content":"So far."}}` + "\n" +
		`{"type":"assistant","uuid":"a2","parentUuid":"c1","sessionId":"s1",` +
		`"message":{"model":"m-2","content":"So."}}` + "\n"
	run(t, v, "claude-code", place(t, "s1.jsonl", first))
	if r := run(t, v, "claude-code", place(t, "s1.jsonl", first+more)); r.Grown != 1 {
		t.Fatalf("%+v", r)
	}
	for p, text := range tree(t, f.Dir) {
		if vault.ClassOf(vault.Path(p)) != vault.ClassSession {
			continue
		}
		x := markdown.ParseTranscript([]byte(text))
		models := slices.Equal(x.Models, []string{"m-1", "m-2"})
		if x.Branch != "tides" || !models || x.Compactions != 1 || x.Errors != 1 {
			t.Errorf("%q, %q, summed up %d, failed %d", x.Branch, x.Models, x.Compactions, x.Errors)
		}
	}
}
