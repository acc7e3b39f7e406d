package fork_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"stet/curator/fork"
	"stet/vault"
)

func page(name, body string) []byte {
	return []byte("---\nname: " + name + "\ndescription: What " + name + " is for.\nmetadata:\n" +
		"  stet-created-by: agent\n---\n\n" + body)
}

func job() fork.Job {
	files := func(name string) map[string]fork.File {
		return map[string]fork.File{"SKILL.md": {Data: page(name, "# "+name+"\n\nRun it.\n")},
			"scripts/run.sh": {Data: []byte("echo " + name + "\n"), Exec: true}}
	}
	var out fork.Job
	for _, name := range []string{"git-bisect", "git-rebase"} {
		s := fork.Skill{Name: name, Folder: vault.Path("skills/" + name), Files: files(name)}
		out.Skills = append(out.Skills, s)
	}
	out.Taken = []string{"deploy"}
	return out
}

func do(t *testing.T, d *fork.Desk, args map[string]any) (string, error) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return d.Do(fork.NewCall("skill", string(data)))
}

type call = map[string]any

// What a call may not do it does not do, says why, and leaves every byte as it was.
func TestRefusedCallsChangeNothing(t *testing.T) {
	t.Parallel()
	const name = "git-rebase"
	managed := strings.Replace(string(page("git-rebase", "x\n")), "agent\n", "agent\n  stet-managed: \"true\"\n", 1)
	for says, args := range map[string]call{
		"not those of skill":      {"action": "view", "name": name, "colour": "red"},
		"no skill":                {"action": "view", "name": "deploy"},
		"no action":               {"action": "move", "name": name},
		"needs absorbed_into":     {"action": "delete", "name": name},
		"needs a reason":          {"action": "delete", "name": name, "absorbed_into": ""},
		"no other skill":          {"action": "delete", "name": name, "absorbed_into": "git"},
		"is no other skill here":  {"action": "delete", "name": name, "absorbed_into": "git-rebase"},
		"not renamed":             {"action": "edit", "name": name, "text": string(page("git", "x\n"))},
		"not for you to set":      {"action": "edit", "name": name, "text": managed},
		"line 1":                  {"action": "edit", "name": name, "text": "# no front matter\n"},
		"leaves":                  {"action": "write_file", "name": name, "file": "../x.md", "text": "x"},
		"is no name for a file":   {"action": "write_file", "name": name, "file": ".gitignore", "text": "x"},
		"no name for a file of a": {"action": "write_file", "name": name, "file": "x/SKILL.md", "text": "x"},
		"too long": {"action": "write_file", "name": name, "file": "x",
			"text": strings.Repeat("x", 11<<20)},
		"already":        {"action": "create", "name": "deploy", "description": "d", "text": "x"},
		"does not stand": {"action": "patch", "name": name, "old": "nothing", "new": "x"},
		"times":          {"action": "patch", "name": name, "old": "git", "new": "x"},
		"another file": {"action": "copy_file", "name": name, "file": "scripts/run.sh",
			"into": "git-bisect"},
		"has no file \"SKILL.md\" t": {"action": "remove_file", "name": name},
	} {
		d := fork.NewDesk(job())
		_, err := do(t, d, args)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want it to say %q", args, err, says)
		}
		same(t, d.Skills(), job().Skills)
	}
	for _, c := range []fork.Call{{Name: "bash", Arguments: json.RawMessage(`{}`)}, fork.NewCall("skill", "{"),
		fork.NewCall("skill", `{"action": "list"} {"action": "list"}`)} {
		if _, err := fork.NewDesk(job()).Do(c); err == nil {
			t.Errorf("%s %s was done", c.Name, c.Arguments)
		}
	}
}

func same(t *testing.T, got, want []fork.Skill) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d skills, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Name != want[i].Name || !maps.EqualFunc(got[i].Files, want[i].Files, func(a, b fork.File) bool {
			return string(a.Data) == string(b.Data) && a.Exec == b.Exec
		}) {
			t.Errorf("skill %s is not as it was", got[i].Name)
		}
	}
}

// An umbrella is built: made, given a script with its mode, and both skills go into it.
func TestDeskBuildsAnUmbrella(t *testing.T) {
	t.Parallel()
	j := job()
	d := fork.NewDesk(j)
	for _, c := range []call{
		{"action": "list"},
		{"action": "view", "name": "git-bisect"},
		{"action": "create", "name": "git", "description": "Rebase and bisect.", "text": "# git\n\nBoth.\n"},
		{"action": "copy_file", "name": "git-bisect", "file": "scripts/run.sh", "into": "git",
			"to": "scripts/bisect.sh"},
		{"action": "edit", "name": "git", "text": "---\nname: git\ndescription: Rebase, bisect.\n---\n\n# git\n"},
		{"action": "patch", "name": "git", "old": "# git", "new": "# git\n\n## git-bisect"},
		{"action": "delete", "name": "git-bisect", "absorbed_into": "git"},
		{"action": "delete", "name": "git-rebase", "absorbed_into": "git", "reason": "one of many"},
	} {
		if _, err := do(t, d, c); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	}
	all := d.Skills()
	if len(all) != 1 || all[0].Folder != "skills/git" || !all[0].Files["scripts/bisect.sh"].Exec {
		t.Fatalf("the desk has %+v", all)
	}
	if text := string(all[0].Files["SKILL.md"].Data); !strings.Contains(text, "stet-created-by: agent") ||
		!strings.Contains(text, "## git-bisect") {
		t.Errorf("SKILL.md is\n%s", text)
	}
	want := fork.Removal{Name: "git-rebase", Into: "git", Reason: "one of many"}
	if got := d.Removed(); len(got) != 2 || got[1] != want {
		t.Errorf("removed: %+v", got)
	}
	same(t, j.Skills, job().Skills)
}

// A long file is shown in parts, at whole characters, and the parts are the file.
func TestViewIsBounded(t *testing.T) {
	t.Parallel()
	d, text := fork.NewDesk(job()), strings.Repeat("äöü ", 30_000)
	long := call{"action": "write_file", "name": "git-rebase", "file": "a.md", "text": text}
	if _, err := do(t, d, long); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for offset := 0; ; {
		part, err := do(t, d, call{"action": "view", "name": "git-rebase", "file": "a.md", "offset": offset})
		if err != nil || len(part) > 41_000 {
			t.Fatalf("%d bytes: %v", len(part), err)
		}
		part, _, more := strings.Cut(part, "\n… ")
		got.WriteString(part)
		if offset += len(part); !more {
			break
		}
	}
	if got.String() != text {
		t.Errorf("the parts are %d bytes, the file %d", got.Len(), len(text))
	}
}
