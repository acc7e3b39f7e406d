package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stet/agent"
	"stet/index"
	"stet/vault"
)

// A vault from Go: make one, store a memory, replace what it outdates, find it, take it back.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is a temporary folder
	ctx, root := context.Background(), filepath.Join(dir, "notes")
	names := map[string]string{"HOME": dir, "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}
	o := agent.Options{At: root, Door: "cli", Now: time.Now, Getenv: func(key string) string { return names[key] }}
	if _, err := agent.NewEnvironment(o).Init(ctx, agent.InitOptions{Dir: root}); err != nil {
		panic(err)
	}

	app, err := agent.Open(ctx, o) // finds the vault; no lock is held until something is written
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"We use PostgreSQL.", "We switched from PostgreSQL to MySQL."} {
		res, err := app.Memories().Remember(ctx, agent.RememberOptions{Notes: []vault.Note{{Text: text}}})
		if err != nil {
			panic(err)
		}
		fmt.Println(res.Memories[0].Path, len(res.Decisions))
	}
	found, err := app.Memories().Search(ctx, agent.SearchOptions{Query: index.Query{Text: "mysql"}})
	fmt.Println(found.Hits[0].Snippet, err, app.Close())
	// Output:
	// memories/we-use-postgresql.md 0
	// memories/we-switched-from-postgresql-to-mysql.md 1
	// We switched from PostgreSQL to MySQL. <nil> <nil>
}
