package ingest_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/vault"
	"stet/vault/vaulttest"
)

func memory(f *vaulttest.Fixture, n, text, conflicts string) {
	id := "01jd7q8r5t9v3x6y2z4a7c0e1" + n
	f.Write("memories/m"+n+".md", "---\nid: "+id+"\ncreated: 2026-01-0"+n+"\nconflicts_with: ["+conflicts+"]\n---\n"+text+"\n")
}

const first = "01jd7q8r5t9v3x6y2z4a7c0e11"

func settled(t *testing.T, v *vault.Vault, p *ingest.Plan, err error) error {
	t.Helper()
	if err != nil {
		return err
	}
	_, err = p.Settle(t.Context(), v, vault.Write{})
	return err
}

// Of three memories one is in conflict with two: what one pair comes to leaves the
// other alone.
func TestAPairIsSettledAlone(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	memory(f, "1", "Port 8080.", "01jd7q8r5t9v3x6y2z4a7c0e12, 01jd7q8r5t9v3x6y2z4a7c0e13")
	memory(f, "2", "Port 8443.", first)
	memory(f, "3", "No port.", first)
	v := f.Open()
	found, err := ingest.Inbox(t.Context(), v, nil)
	if err != nil || len(found) != 2 || found[0].B.Path != "memories/m2.md" {
		t.Fatalf("got %+v, %v", found, err)
	}
	one, _ := found[0].Cases()
	plan, err := one.Both(t.Context(), v)
	if err = settled(t, v, plan, err); err != nil {
		t.Fatal(err)
	}
	found, err = ingest.Inbox(t.Context(), v, nil)
	if err != nil || len(found) != 1 || found[0].B.Path != "memories/m3.md" {
		t.Fatalf("after the first pair: %+v, %v", found, err)
	}
	all, err := ingest.Find(t.Context(), v, nil, "m1")
	if err != nil || len(all.Others) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	before := vaulttest.Image(t, f.Dir, ".git", ".stet")
	plan, err = all.Merge(t.Context(), v, "Port 8080 inside, none outside.")
	if d := plan.Decisions(); len(d) != 1 || d[0].Kind != encode.Supersede || d[0].Rule != ingest.ByPerson || d[0].Confidence != 1 || d[0].Was != "No port." {
		t.Errorf("planned %+v", d)
	}
	if now := vaulttest.Image(t, f.Dir, ".git", ".stet"); !maps.Equal(now, before) {
		t.Error("a plan changes something")
	}
	if err = settled(t, v, plan, err); err != nil {
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
	c, err := ingest.Find(t.Context(), v, nil, "m2")
	if err != nil {
		t.Fatal(err)
	}
	memory(f, "1", "Port 8081.", "01jd7q8r5t9v3x6y2z4a7c0e12")
	plan, err := c.Keep(t.Context(), v)
	if err = settled(t, v, plan, err); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("keep: %v", err)
	}
	plan, err = c.Merge(t.Context(), v, "Port 8082.")
	if err = settled(t, v, plan, err); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("merge: %v", err)
	}
	if got := f.Read("memories/m1.md"); !strings.Contains(got, "Port 8081.") {
		t.Errorf("got %q", got)
	}
	f.LeaveDirty()
}

// What the index tells of is read alone, in any order, with what it names; where it cannot tell, all is read.
func TestTheInboxReadsWhatIsInDoubt(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	memory(f, "1", "Port 8080.", strings.ToUpper("01jd7q8r5t9v3x6y2z4a7c0e12"))
	memory(f, "2", "Port 8443.", "")
	memory(f, "3", "Nobody asks for this one.", first)
	v := f.Open()
	told := func(err error) ingest.Doubts {
		return func(context.Context) ([]vault.Path, map[string][]vault.Path, error) {
			byID := map[string][]vault.Path{"01jd7q8r5t9v3x6y2z4a7c0e12": {"memories/m2.md"}, first: {"memories/m1.md"}}
			return []vault.Path{"memories/gone.md", "memories/m1.md"}, byID, err
		}
	}
	for want, doubts := range map[int]ingest.Doubts{1: told(nil), 2: told(errors.New("no index"))} {
		found, err := ingest.Inbox(t.Context(), v, doubts)
		ok := err == nil && len(found) == want
		if !ok || found[0].A.Path != "memories/m1.md" || found[0].B.Path != "memories/m2.md" {
			t.Errorf("want %d, got %+v, %v", want, found, err)
		}
	}
}
