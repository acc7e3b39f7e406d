// Package processtest runs many processes against one vault: writers that are
// killed, a person's git, an editor and a reader, all at once. It holds tests
// only, in a folder of its own because they run their own test binary again.
package processtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// childEnv holds "dir writer first count" for a process that is a writer.
const childEnv = "STET_PROCESS_WRITER"

// Files that more than one party writes.
const (
	sharedFile    = "memories/shared.md"    // every writer appends to it
	contestedFile = "memories/contested.md" // and to this, which the editor saves as well
	diaryFile     = "notes/diary.md"        // the editor's alone
)

// adopter is the writer that commits what the editor saved, as a watcher does.
const adopter = "watcher"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := runWriter(strings.Split(args, "\n")); err != nil {
			fmt.Printf("failed %v\n", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	vaulttest.InMemory()
	os.Exit(m.Run())
}

// A writer is one child. It says "try" with the paths it is about to change
// before each operation, "ack" for each path after it, then "done".
type writer struct {
	v    *vault.Vault
	name string
	n    int // the operation's number
}

func runWriter(args []string) error {
	first, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	ctx := context.Background()
	v, err := vault.Open(ctx, args[0], options())
	if err != nil {
		return err
	}
	w := &writer{v: v, name: args[1]}
	for w.n = first; w.n < count; w.n++ {
		if err := w.step(ctx); err != nil {
			return fmt.Errorf("%s step %d: %w", w.name, w.n, err)
		}
		fmt.Printf("done %d\n", w.n)
	}
	return v.Close()
}

func options() vault.Options {
	return vault.Options{Now: time.Now, Env: vaulttest.Env, SecondLook: time.Nanosecond, LockWait: time.Minute,
		Settings: []settings.Layer{settings.Layer{Source: settings.User}.With(settings.AgentsEdit, "all", "")}}
}

// step does operation w.n. A file that the editor saves again and again may be
// busy; nothing else may fail.
func (w *writer) step(ctx context.Context) error {
	const tries = 50
	var err error
	for range tries {
		var res *vault.Result
		if res, err = w.operate(ctx); err == nil {
			w.ack(res)
			return nil
		}
		if !errors.Is(err, vault.ErrBusy) {
			return err
		}
	}
	return err
}

func (w *writer) operate(ctx context.Context) (*vault.Result, error) {
	block := block(fmt.Sprintf("%s-%d", w.name, w.n))
	how := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: w.name}}
	if w.name == adopter {
		return w.v.Adopt(ctx, vault.AdoptOptions{All: true, Door: "watch", Leave: func(c vault.Change) bool { return c.Status == vault.Deleted }})
	}
	switch w.n % 10 {
	case 4:
		how.Each = w.n%20 == 4
		notes := make([]vault.Note, 3)
		for i := range notes {
			notes[i] = vault.Note{Text: block, Title: fmt.Sprintf("batch %d %d", w.n, i), Scope: "/" + w.name}
		}
		return w.v.Remember(ctx, notes, how)
	case 5, 6:
		p, err := w.own(ctx)
		if err != nil {
			return nil, err
		}
		return w.update(ctx, p, block, how)
	case 7:
		return w.update(ctx, sharedFile, block, how)
	case 8:
		return w.update(ctx, contestedFile, block, how)
	case 9:
		if w.n%20 == 19 {
			return w.v.Adopt(ctx, vault.AdoptOptions{Paths: []vault.Path{diaryFile}})
		}
		p, err := w.own(ctx)
		if err != nil {
			return nil, err
		}
		fmt.Printf("try %d %s archive/%s\n", w.n, p, p)
		return w.v.Forget(ctx, []string{p}, how)
	}
	note := vault.Note{Text: block, Title: fmt.Sprintf("note %d", w.n), Scope: "/" + w.name, Kind: "fact"}
	return w.v.Remember(ctx, []vault.Note{note}, how)
}

func (w *writer) update(ctx context.Context, p, text string, how vault.Write) (*vault.Result, error) {
	fmt.Printf("try %d %s\n", w.n, p)
	return w.v.UpdateMemory(ctx, p, vault.Patch{Append: &text}, how)
}

// own is one of the writer's memories, the same one when a step is repeated.
func (w *writer) own(ctx context.Context) (string, error) {
	mine, err := w.v.List(ctx, vault.Filter{Scope: "/" + w.name})
	if err != nil {
		return "", err
	}
	if len(mine) == 0 {
		return "", fmt.Errorf("writer %s has no memory left", w.name)
	}
	return string(mine[w.n%len(mine)].Path), nil
}

func (w *writer) ack(res *vault.Result) {
	if len(res.Commits) == 0 {
		return // an adopt that found nothing
	}
	rev := res.Commits[len(res.Commits)-1].Rev
	say := func(p vault.Path, h vault.Hash) {
		if h == "" {
			h = "-"
		}
		fmt.Printf("ack %d %s %s %s\n", w.n, rev, p, h)
	}
	for _, c := range res.Changes {
		if c.From != "" {
			say(c.From, "")
		}
		say(c.Path, c.New)
	}
}

// block is a text of which every torn part shows.
func block(token string) string {
	return "begin " + token + "\n" + strings.Repeat("filling "+token+"\n", 60) + "end " + token + "\n"
}

// whole reports whether a text consists of whole blocks.
func whole(text string) error {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		word, token, _ := strings.Cut(line, " ")
		switch {
		case word == "begin" && open == "":
			open = token
		case word == "end" && open == token:
			open = ""
		case word == "begin" || word == "end" || word == "filling" && token != open:
			return fmt.Errorf("line %q inside block %q", line, open)
		}
	}
	if open != "" {
		return fmt.Errorf("block %q has no end", open)
	}
	return nil
}
