package imports_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"stet/agent/imports"
	"stet/markdown"
	"stet/vault"
	"stet/vault/vaulttest"
)

// Each format's files give what stands under "want": messages, roles, tools, no thinking, branches, titles, projects
// and times, as docs/FORMAT.md tells of them.
func TestFormats(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/formats/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal(cases, err)
	}
	for _, c := range cases {
		name := strings.TrimSuffix(filepath.Base(c), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(c)
			if err != nil {
				t.Fatal(err)
			}
			dir, want := t.TempDir(), ""
			for _, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
					continue
				}
				p := filepath.Join(dir, filepath.FromSlash(f.Name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, f.Data, 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			checkFormat(t, strings.TrimSuffix(name, "-old"), dir, want)
		})
	}
}

func checkFormat(t *testing.T, source, dir, want string) {
	f := vaulttest.New(t)
	v := f.Open()
	if r := run(t, v, source, dir); r.Malformed > 0 {
		t.Errorf("malformed: %+v", r.Problems)
	}
	if got := digest(t, f.Dir); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if r := run(t, v, source, dir); r.Added+r.Grown+r.Changed > 0 {
		t.Errorf("again: %+v", r)
	}
	found, _, err := imports.Detect(context.Background(), []string{dir}, nil)
	if err != nil || len(found) != 1 {
		t.Fatalf("detected %v, %v", found, err)
	}
	alike := map[string]string{"roo-code": "cline", "kilo-code": "cline", "openclaw-sessions": "pi"}
	if name := found[0].Source.Name; name != source && name != alike[source] {
		t.Errorf("detected as %s", name)
	}
}

// digest is every transcript of a vault in short, in the order of their foreign ids.
func digest(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	names := map[string]string{}
	var all []*markdown.Transcript
	for p, text := range tree(t, dir) {
		if vault.ClassOf(vault.Path(p)) == vault.ClassSession {
			x := markdown.ParseTranscript([]byte(text))
			all, names[x.ID[10:]] = append(all, x), x.Origin
		}
	}
	names[imports.SessionID("pi", "p0", all[0].Started)[10:]] = "p0"
	for _, x := range all {
		s := x.Origin + fmt.Sprintf(" %q", x.Title)
		for _, fact := range []string{x.Model, x.Project} {
			if fact != "" {
				s += " " + fact
			}
		}
		if !x.Started.IsZero() {
			s += x.Started.Format(" 2006-01-02T15:04:05Z")
		}
		if x.Parent != "" {
			s += " of " + names[x.Parent[10:]]
		}
		if x.Tokens != nil {
			s += fmt.Sprintf(" in %d out %d", x.Tokens.Input, x.Tokens.Output)
		}
		if x.Branch != "" {
			s += " on " + x.Branch
		}
		if len(x.Models) > 0 {
			s += fmt.Sprintf(" by %q", x.Models)
		}
		if x.Compactions+x.Errors > 0 {
			s += fmt.Sprintf(" summed up %d, failed %d", x.Compactions, x.Errors)
		}
		s += "\n"
		for _, m := range x.Messages {
			s += "  " + m.Role
			if m.Name != "" {
				s += " " + m.Name
			}
			if !m.Time.IsZero() {
				s += m.Time.Format(" 15:04:05")
			}
			if m.Ref != "" {
				s += " " + m.Ref
			}
			if m.Call != "" {
				s += " <" + m.Call + ">"
			}
			s += ": " + string(m.Content)
			for _, call := range m.Calls {
				s += fmt.Sprintf(" [%s %s %s]", call.ID, call.Name, call.Arguments)
			}
			s += "\n"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// The table of formats names every source of conversations.
func TestFormatsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "### What can be read")
	table, _, _ = strings.Cut(table, "### Imported memories")
	for _, s := range imports.Sources() {
		if named := strings.Contains(table, "`"+s.Name+"`"); named == s.Memories {
			t.Errorf("%s in the table: %v", s.Name, named)
		}
	}
}

// A conversation without an id is the same one wherever it stands in its file, and keeps the id of an earlier version.
func TestAConversationWithoutAnIDIsKnownByItsWords(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	talk := func(words ...string) string {
		var b strings.Builder
		for _, w := range words {
			fmt.Fprintf(&b, `{"conversations":[{"from":"human","value":%q},{"from":"gpt","value":"Yes, %s."}]}`+"\n", w[:5], w)
		}
		return b.String()
	}
	at := place(t, "share.jsonl", talk("Hello one", "Hello two", "Where", "Whom?"))
	if r := run(t, v, "sharegpt", at); r.Added != 4 {
		t.Fatalf("first: %+v", r)
	}
	if err := os.WriteFile(at, []byte(talk("Front", "Hello one", "Hello two", "Where", "Whom?")), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := run(t, v, "sharegpt", at); r.Added != 1 || r.Unchanged != 4 {
		t.Errorf("with one in front: %+v", r)
	}
	old := imports.SessionID("openai", "o.jsonl:1:5499befb", time.Time{})
	f.Write("sessions/undated/how-tall-"+old[len(old)-6:]+".md", "---\nid: "+old+"\nagent: openai\nsource: import\n"+
		"origin: o.jsonl:1:5499befb\nmessages: 1\n---\n\n## 1 · system\n\nBe kind.\n")
	known := place(t, "o.jsonl", `{"messages":[{"role":"system","content":"Be kind."}]}`+"\n")
	if r := run(t, v, "openai", known); r.Unchanged != 1 || r.Added != 0 {
		t.Errorf("with the id of an earlier version: %+v", r)
	}
}
