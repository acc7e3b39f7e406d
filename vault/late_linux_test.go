package vault_test

import (
	"errors"
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

// TestAnEditorThatReadWhatStoodForAMomentDestroysNothing: while stet gives a person's bytes back, what it had placed
// stands there for a moment. An editor that reads it then, and saves its buffer later, writes over bytes that are in
// no commit.
func TestAnEditorThatReadWhatStoodForAMomentDestroysNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"added": gateText + "SAVED\n", "rewritten": "SAVED\n"} {
		t.Run(name, func(t *testing.T) { t.Parallel(); givenBack(t, text, false) })
		t.Run(name+" and in an object of no commit", func(t *testing.T) { t.Parallel(); givenBack(t, text, true) })
	}
}

// givenBack lets an editor save over what is given back; object: a commit of that was begun and given up.
func givenBack(t *testing.T, text string, object bool) {
	f := vaulttest.New(t, "memories/infra/gate.md", gateText)
	file := filepath.Join(f.Dir, "memories/infra/gate.md")
	exchanges := 0
	var buffer []byte
	v, err := vault.Open(ctxb(), f.Dir, crashOptions(func(step durable.Step) error {
		var err error
		switch {
		case step.Op == durable.OpExchange && exchanges == 0:
			exchanges++
			err = os.WriteFile(file, []byte(text), 0o644)
		case step.Op == durable.OpExchange:
			exchanges++
			buffer, err = os.ReadFile(file)
		case step.Op == durable.OpRemove && len(buffer) > 0:
			if object {
				f.Git("hash-object", "-w", file)
			}
			err = os.WriteFile(file, append(buffer, "LATER\n"...), 0o644)
			buffer = nil
		}
		return err
	}))
	must(err)
	defer v.Close()
	must(updateGate(v))
	if exchanges != 2 || buffer != nil {
		t.Fatalf("%d exchanges, and the editor has not saved %q", exchanges, buffer)
	}
	for range 3 {
		must(updateGate(f.Open()))
	}
	now, err := os.ReadFile(file)
	must(err)
	kept, err := filepath.Glob(filepath.Join(f.Dir, ".git/stet/*/lost/kept-*"))
	must(err)
	all := string(now)
	for _, name := range kept {
		data, err := os.ReadFile(name)
		must(err)
		all += string(data)
	}
	for _, want := range []string{"SAVED\n", "LATER\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is lost: %q, kept %q", want, all, kept)
		}
	}
	for _, name := range kept {
		must(os.RemoveAll(filepath.Dir(name)))
	}
}

// TestOfSeveralSavesTheNewestStands: one comes before a commit's file is placed, another before the first is given
// back. The newest stands in the file, and the older one is kept.
func TestOfSeveralSavesTheNewestStands(t *testing.T) {
	t.Parallel()
	const path = "memories/infra/gate.md"
	update := func(s durable.Step) bool { return s.Op == durable.OpExchange }
	forget := func(s durable.Step) bool {
		into := strings.HasSuffix(s.Path, path) || strings.HasSuffix(s.To, path)
		return s.Op == durable.OpRename && s.Label == "file" && into && !strings.Contains(s.To, "archive")
	}
	for name, c := range map[string]struct {
		run   func(*vault.Vault) error
		at    func(durable.Step) bool
		saves int
	}{
		"update": {updateGate, update, 1}, "update twice": {updateGate, update, 2},
		"forget": {forgetGate, forget, 1}, "forget twice": {forgetGate, forget, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t, path, gateText, "memories/infra/door.md", "The door sticks.\n") // which stays
			file, text, n := filepath.Join(f.Dir, path), "", 0
			v, err := vault.Open(ctxb(), f.Dir, crashOptions(func(s durable.Step) error {
				if n == c.saves || !c.at(s) {
					return nil
				}
				n++
				text = gateText + strings.Repeat("SAVED\n", n)
				return os.WriteFile(file, []byte(text), 0o644)
			}))
			must(err)
			defer v.Close()
			must(c.run(v))
			if now, err := os.ReadFile(file); n != c.saves || err != nil || string(now) != text {
				t.Errorf("after %d saves it holds %q: %v", n, now, err)
			}
			if first := gateText + "SAVED\n"; !isKept(f.Dir, first) {
				t.Error("the first save is lost")
			}
			must(forgetLost(f.Dir))
			_, err = v.Adopt(ctxb(), vault.AdoptOptions{})
			must(err)
		})
	}
}

func forgetGate(v *vault.Vault) error {
	_, err := v.Forget(ctxb(), []string{"memories/infra/gate.md"}, vault.Write{})
	return err
}

// forgetLost removes what was kept, which the check that ends a test would complain of.
func forgetLost(dir string) error {
	lost, err := filepath.Glob(filepath.Join(dir, ".git/stet/*/lost"))
	for _, name := range lost {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}
