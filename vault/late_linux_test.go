package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// TestASaveWhileLateBytesComeBackLosesNeither: what a program wrote into the displaced file waits
// when another program writes in place at the moment in which it would come back.
func TestASaveWhileLateBytesComeBackLosesNeither(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/infra/gate.md", gateText)
	file := filepath.Join(f.Dir, "memories/infra/gate.md")
	write := func(text string, into *os.File) {
		_, err := into.WriteString(text)
		must(err)
		must(into.Close())
	}
	open := func() *os.File {
		g, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		must(err)
		return g
	}
	held := open()
	must(updateGate(f.Open()))
	write("LATE\n", held)
	saved := false
	v, err := vault.Open(ctxb(), f.Dir, crashOptions(func(step durable.Step) error {
		if step.Op == durable.OpExchange && !saved {
			saved = true
			write("SOON\n", open())
		}
		return nil
	}))
	must(err)
	defer v.Close()
	// A process that another test forks has the files of this one open until it runs its program: what was late then
	// waits for one more command.
	var data []byte
	for tries := 0; tries < 2 || tries < 20 && !strings.Contains(string(data), "LATE\n"); tries++ {
		must(updateGate(v))
		data, err = os.ReadFile(file)
		must(err)
	}
	for _, want := range []string{"LATE\n", "SOON\n"} {
		if !saved || strings.Count(string(data), want) != 1 {
			t.Errorf("saved %v, %q is not once in %q", saved, want, data)
		}
	}
}
