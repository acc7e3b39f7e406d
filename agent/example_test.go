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

// A conversation that a program holds: each turn is on disk when it returns, and what is worth keeping is
// learnt beside it.
func ExampleApp_Session() {
	ctx, app, clean := exampleVault()
	defer clean()
	chat, err := app.Session(ctx, agent.LiveOptions{ID: "4711", Agent: "hotline", Source: "voice"})
	if err != nil {
		panic(err)
	}
	fmt.Println(chat.Turn(ctx, "user", "The gate code is 4711 now."))
	fmt.Println(chat.Turn(ctx, "assistant", "Noted."))
	fmt.Println(chat.Close()) // it is sealed, and what nobody has reviewed is queued
	list, err := app.Sessions().List(ctx, agent.SessionFilter{})
	fmt.Println(list.Sessions[0].Title, list.Sessions[0].Messages, err, app.Close())
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// The gate code is 4711 now. 2 <nil> <nil>
}

// exampleVault makes a vault in a temporary folder, which clean removes.
func exampleVault() (ctx context.Context, app *agent.App, clean func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	ctx = context.Background()
	names := map[string]string{"HOME": dir}
	o := agent.Options{At: dir, Door: "cli", Now: time.Now, Getenv: func(key string) string { return names[key] }}
	if _, err := agent.NewEnvironment(o).Init(ctx, agent.InitOptions{Dir: dir}); err != nil {
		panic(err)
	}
	if app, err = agent.Open(ctx, o); err != nil {
		panic(err)
	}
	return ctx, app, func() { _ = os.RemoveAll(dir) }
}
