package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"stet/agent/ingest"
	"stet/vault"
	"stet/vault/vaulttest"
)

func memory(f *vaulttest.Fixture, n, text, conflicts string) {
	id := "01jd7q8r5t9v3x6y2z4a7c0e1" + n
	f.Write("memories/m"+n+".md", "---\nid: "+id+"\ncreated: 2026-01-0"+n+"\nconflicts_with: ["+conflicts+"]\n---\n"+text+"\n")
}

const first = "01jd7q8r5t9v3x6y2z4a7c0e11"

// Of three memories one is in conflict with two: what one pair comes to leaves the
// other alone.
func TestAPairIsSettledAlone(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	memory(f, "1", "Port 8080.", "01jd7q8r5t9v3x6y2z4a7c0e12, 01jd7q8r5t9v3x6y2z4a7c0e13")
	memory(f, "2", "Port 8443.", first)
	memory(f, "3", "No port.", first)
	v := f.Open()
	found, err := ingest.Inbox(t.Context(), v)
	if err != nil || len(found) != 2 || found[0].B.Path != "memories/m2.md" {
		t.Fatalf("got %+v, %v", found, err)
	}
	one, _ := found[0].Cases()
	if _, err := one.Both(t.Context(), v, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	found, err = ingest.Inbox(t.Context(), v)
	if err != nil || len(found) != 1 || found[0].B.Path != "memories/m3.md" {
		t.Fatalf("after the first pair: %+v, %v", found, err)
	}
	all, err := ingest.Find(t.Context(), v, "m1")
	if err != nil || len(all.Others) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	before := vaulttest.Image(t, f.Dir, ".git", ".stet")
	if _, err := all.Merge(t.Context(), v, "Port 8080 inside, none outside.", vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/m1.md"); !strings.Contains(got, "none outside") || strings.Contains(got, "conflicts_with") || !strings.Contains(got, "supersedes: [01jd7q8r5t9v3x6y2z4a7c0e13]") {
		t.Errorf("got %q", got)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git", ".stet"))
}

func TestASideThatChangedIsNotSettled(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	memory(f, "1", "Port 8080.", "01jd7q8r5t9v3x6y2z4a7c0e12")
	memory(f, "2", "Port 8443.", first)
	v := f.Open()
	c, err := ingest.Find(t.Context(), v, "m2")
	if err != nil {
		t.Fatal(err)
	}
	memory(f, "1", "Port 8081.", "01jd7q8r5t9v3x6y2z4a7c0e12")
	if _, err := c.Keep(t.Context(), v, vault.Write{}); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("keep: %v", err)
	}
	if _, err := c.Merge(t.Context(), v, "Port 8082.", vault.Write{}); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("merge: %v", err)
	}
	if got := f.Read("memories/m1.md"); !strings.Contains(got, "Port 8081.") {
		t.Errorf("got %q", got)
	}
	f.LeaveDirty()
}
