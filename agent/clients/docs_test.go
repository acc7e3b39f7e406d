package clients_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"stet/agent/clients"
)

var _ = flag.Bool("update", false, "write docs/AGENTS.md anew")

// TestDocs holds docs/AGENTS.md to the table.
func TestDocs(t *testing.T) {
	const file = "../../docs/AGENTS.md"
	var b strings.Builder
	head, err := os.ReadFile("testdata/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(head)
	for _, c := range clients.All() {
		if len(c.Events) == 0 {
			fmt.Fprintf(&b, "\n## %s (`%s`)\n\n`stet install %s` prints the server's entry, for `%s`: %s.\n", c.Title,
				c.Name, c.Name, c.Server.User, strings.Join(c.Then, "; "))
			continue
		}
		fmt.Fprintf(&b, "\n## %s (`%s`)\n\nVersion %s, looked at on %s: %s. Hooks stand in `%s`", c.Title, c.Name,
			c.Version, c.Date, c.Source, c.Hooks.User)
		if c.Hooks.Project != "" {
			fmt.Fprintf(&b, ", of one project in `%s`", c.Hooks.Project)
		}
		fmt.Fprintf(&b, ", the server in `%s`, the skill below `%s`. What is left to you: %s", c.Server.User,
			c.Skills[0].User, strings.Join(c.Then, "; "))
		fmt.Fprintf(&b, ". At most %d characters of an answer reach its model whole.\n\n"+
			"| event | of ours | seconds | read of it | what an answer can do |\n|---|---|---|---|---|\n", c.Chars)
		for _, e := range c.Events {
			fields := maps.Clone(c.Fields)
			maps.Copy(fields, e.Fields)
			var read []string
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				read = append(read, "`"+strings.ReplaceAll(fields[name], "|", "`, `")+"`")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %s |\n", e.Name, e.Event, e.Timeout, strings.Join(read, ", "),
				can(e))
		}
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/AGENTS.md is not what the table says (%v); go test ./agent/clients -update", err)
	}
}

// can says in words what an answer to an event can do.
func can(e clients.Event) string {
	words := map[string]string{clients.Context: "put text before the model",
		clients.Block: "let the turn go on with a text"}
	var out []string
	for _, how := range slices.Sorted(maps.Keys(e.Says)) {
		text := words[how]
		if since := e.Says[how].Since; since != "" {
			text += " (from " + since + " on)"
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, "; ")
}
