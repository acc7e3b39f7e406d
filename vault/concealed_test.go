package vault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"stet/markdown"
	"stet/vault"
	"stet/vault/tombstone"
	"stet/vault/vaulttest"
)

// A meddling context does something once, when it is asked whether it has ended after being armed.
type meddling struct {
	context.Context
	armed *bool
	do    func()
}

func (m meddling) Err() error {
	if *m.armed {
		*m.armed = false
		m.do()
	}
	return m.Context.Err()
}

// reads fails the test unless a reader is given, or refused, what stood in a file.
func reads(ctx context.Context, t *testing.T, v *vault.Vault, rev string, p vault.Path, refused bool) {
	t.Helper()
	s, err := v.History().View(ctx, rev)
	if err != nil {
		t.Fatal(err)
	}
	if data, _, err := s.Read(p); errors.Is(err, vault.ErrRefused) != refused {
		t.Errorf("%s at %s: %q, %v; refused is to be %v", p, rev, data, err, refused)
	}
}

func TestWhatBecamePrivateWhileThePastWasReadIsHidden(t *testing.T) {
	t.Parallel()
	var files []string
	for n := range 70 { // enough for what was found to be kept
		files = append(files, fmt.Sprintf("memories/m%d.md", n), "# One of many\n")
	}
	f := vaulttest.New(t, files...)
	v, armed := f.Open(), false
	o := f.Options()
	o.Reader = "robo"
	o.Private = func(context.Context, func() ([]vault.File, error)) (map[vault.Path]string, error) {
		armed = true
		return nil, nil
	}
	ctx := meddling{context.Background(), &armed, func() {
		for _, mark := range []bool{true, false} {
			yes := []vault.KeyValue{{Key: "private", Value: markdown.Bool(mark)}}
			if _, err := v.UpdateMemory(t.Context(), "memories/m1.md", vault.Patch{Set: yes}, vault.Write{}); err != nil {
				t.Error(err)
			}
		}
	}}
	reads(ctx, t, f.OpenWith(o), "", "memories/m2.md", false)
	o.Private = func(context.Context, func() ([]vault.File, error)) (map[vault.Path]string, error) { return nil, nil }
	reads(t.Context(), t, f.OpenWith(o), "HEAD~2", "memories/m1.md", true)
}

func TestForgottenIsForgottenWhateverElseWasSaidOfTheSameBytes(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "old.md", "The safe is behind the door.\n", "other.md", "Nothing.\n")
	f.LeaveDirty()
	v := f.Open()
	s, err := v.History().View(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, blob, err := s.Read("old.md")
	if err != nil {
		t.Fatal(err)
	}
	_, was, err := s.Read("other.md")
	if err != nil {
		t.Fatal(err)
	}
	for n, w := range []vault.Hash{"", was} {
		stone := tombstone.Of(tombstone.Forget, "The safe is behind the door.")
		stone.At, stone.Actor, stone.Blob, stone.Was = time.Unix(1e9, 0), vault.ActorUser, string(blob), string(w)
		f.Write(fmt.Sprintf("%s/01jd7q8r5t9v3x6y2z4a7c0e1%d.yaml", tombstone.Dir, n),
			string(tombstone.Encode([]tombstone.Stone{stone})))
	}
	f.Git("mv", "old.md", "new.md")
	f.Git("commit", "-qm", "move")
	f.Write("new.md", "Something else.\n")
	o := f.Options()
	o.Reader = "robo"
	reads(t.Context(), t, f.OpenWith(o), "HEAD~1", "old.md", true)
}
