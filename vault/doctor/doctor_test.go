package doctor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/doctor"
	"stet/vault/vaulttest"
)

// Every kind of finding has a script that brings it about and reads its name,
// and every name that the code gives a problem is in the table.
func TestEveryCheckHasAScript(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join("..", "..", "cmd", "stet", "testdata", "script", "doctor*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	var all strings.Builder
	for _, s := range scripts {
		data, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	var ids []string
	for _, c := range doctor.Checks() {
		if slices.Contains(ids, c.ID) || c.Finds == "" {
			t.Errorf("%q stands twice in the table, or says nothing", c.ID)
		}
		ids = append(ids, c.ID)
		if !strings.Contains(all.String(), "stdout '^"+c.ID+"  ") {
			t.Errorf("no script makes doctor find %q", c.ID)
		}
		if c.Mends != "" && !strings.Contains(all.String(), "stdout '^fixed  "+c.ID+"  ") && !strings.Contains(all.String(), "stdout 'fixed'") {
			t.Errorf("no script makes doctor mend %q", c.ID)
		}
	}
	sources, err := filepath.Glob(filepath.Join("..", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`Problem\{\s*ID:\s+"([^"]+)"|c\.add\("([^"]+)"`)
	found := 0
	for _, file := range append(sources, more...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(data), -1) {
			found++
			if id := m[1] + m[2]; id != "too-large" && !slices.Contains(ids, id) { // of adopting, not of doctor
				t.Errorf("%s: %q is not in the table", file, id)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d names found in the sources: the test looks at the wrong place", found)
	}
}

func TestAVaultThatIsWellHasNoFindings(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\n[b](b.md)\n", "memories/b.md", "---\nsupersedes: [01jd7q8r5t9v3x6y2z4a7c0e1f]\n---\nb\n", "note.md", "[[nothing]]\n")
	r, err := doctor.Examine(t.Context(), f.Open(), doctor.Options{Fix: true})
	if err != nil || len(r.Problems)+len(r.Fixed)+len(r.Commits) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A file of dead links is told of as one with some: the rest is a number.
func TestDeadLinksOfAFileAreBounded(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", strings.Repeat("[[nothing]]\n", 1000), "memories/b.md", "[[nowhere]]\n")
	r, err := doctor.Examine(t.Context(), f.Open(), doctor.Options{})
	if err != nil || len(r.Problems) > 100 {
		t.Fatalf("%d problems, %v", len(r.Problems), err)
	}
	told, rest := 0, 0
	for _, p := range r.Problems {
		if n, ok := strings.CutPrefix(p.Text, "links to what is not there, besides these: "); ok {
			rest, _ = strconv.Atoi(n)
		} else if p.Path == "memories/a.md" {
			told++
		}
	}
	if told == 0 || told+rest != 1000 || told+2 != len(r.Problems) {
		t.Errorf("%d told, %d more, of 1000: %v", told, rest, r.Problems)
	}
}

// Of files with one id the one that is there the longest keeps it, whatever
// their names; each other gets its own, in a commit, and only that line changes.
func TestTheYoungerCopiesGetIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	text := "---\n# mine\nid:   01jd7q8r5t9v3x6y2z4a7c0e1f\ntitle: x\n---\nBody.\r\n"
	f := vaulttest.New(t, "memories/z.md", text)
	v := f.Open()
	for _, name := range []string{"memories/a.md", "memories/m.md"} {
		f.Write(name, text)
		if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	f.Write("memories/b.md", text) // not committed yet: the person's edit comes first
	r, err := doctor.Examine(t.Context(), v, doctor.Options{Fix: true, Door: "cli"})
	if err != nil || len(r.Problems) > 0 || len(r.Fixed) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if f.Read("memories/z.md") != text {
		t.Error("the oldest lost its id")
	}
	seen := map[string]bool{"01jd7q8r5t9v3x6y2z4a7c0e1f": true}
	for _, name := range []string{"memories/a.md", "memories/b.md", "memories/m.md"} {
		now := f.Read(name)
		m := vault.ReadMemory(vault.Path(name), []byte(now))
		if seen[m.ID] || strings.Replace(text, "01jd7q8r5t9v3x6y2z4a7c0e1f", m.ID, 1) != now {
			t.Errorf("%s became %q", name, now)
		}
		seen[m.ID] = true
	}
	if len(r.Commits) != 4 { // three ids and the person's own file
		t.Errorf("%d commits: %+v", len(r.Commits), r.Commits)
	}
	if _, err := v.History().Undo(t.Context(), 3, vault.Write{}); err != nil {
		t.Errorf("undo: %v", err)
	}
}

// A broken index is no reason not to look at the rest.
type brokenIndex struct{ mended bool }

func (b *brokenIndex) Check(context.Context) ([]vault.Problem, error) {
	if b.mended {
		return nil, nil
	}
	return []vault.Problem{{ID: "search-index", Fixable: true}}, nil
}

func (b *brokenIndex) Mend(context.Context) error {
	b.mended = true
	return nil
}

func (*brokenIndex) IDs([]vault.File, func(vault.Path, string)) error { return errors.New("broken") }

type hopelessIndex struct{ brokenIndex }

func (*hopelessIndex) Mend(context.Context) error { return errors.New("no") }

func TestWhatIsReportedAsMendedIsMended(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	r, err := doctor.Examine(t.Context(), v, doctor.Options{Index: &brokenIndex{}})
	if err != nil || len(r.Problems) != 1 || len(r.Fixed) != 0 {
		t.Errorf("without fix: %+v, %v", r, err)
	}
	r, err = doctor.Examine(t.Context(), v, doctor.Options{Index: &brokenIndex{}, Fix: true})
	if err != nil || len(r.Problems) != 0 || len(r.Fixed) != 1 {
		t.Errorf("with fix: %+v, %v", r, err)
	}
	if _, err := doctor.Examine(t.Context(), v, doctor.Options{Index: &hopelessIndex{}, Fix: true}); err == nil {
		t.Error("a repair that failed is not reported")
	}
}

// Of a vault with more files than are to be read the notes come last, and what is not read is counted. The
// index knows the ids of the others.
func TestTheContentsOfALargeVaultAreNotAllRead(t *testing.T) {
	t.Parallel()
	id := "01jd7q8r5t9v3x6y2z4a7c0e1f"
	f := vaulttest.New(t, "memories/a.md", "---\nid: "+id+"\n---\n[[nothing]]\n",
		"memories/b.md", "---\nsupersedes: ["+id+"]\n---\nb\n",
		"n/1.md", "---\nid: "+id+"\n---\n1\n", "n/2.md", "---\nbad: [\n---\n2\n", "n/3.md", "3\n")
	v, all := f.Open(), []string{"front-matter n/2.md", "duplicate-id n/1.md", "dead-link memories/a.md"}
	known := knowing{"n/1.md": id, "memories/a.md": id}
	for _, c := range []struct {
		o      doctor.Options
		want   []string
		unread int
	}{
		{doctor.Options{}, all, 0},
		{doctor.Options{Read: 5}, all, 0},
		{doctor.Options{Read: 2}, nil, 3},
		{doctor.Options{Read: 2, Index: known}, []string{"duplicate-id n/1.md"}, 3},
		{doctor.Options{Read: 1, Index: known}, []string{"duplicate-id n/1.md"}, 4},
	} {
		last := vault.Event{}
		c.o.Progress = func(ev vault.Event) { last = ev }
		r, err := doctor.Examine(t.Context(), v, c.o)
		var got []string
		for _, p := range r.Problems {
			got = append(got, p.ID+" "+string(p.Path))
		}
		if err != nil || !slices.Equal(got, c.want) || r.Unread != c.unread {
			t.Errorf("of %d: %q, %d unread, %v, want %q, %d", c.o.Read, got, r.Unread, err, c.want, c.unread)
		}
		if last.Done != last.Total || last.Total != 5-c.unread {
			t.Errorf("of %d: the last that was told is %+v", c.o.Read, last)
		}
	}
}

// knowing is an index that knows these ids.
type knowing map[vault.Path]string

func (knowing) Check(context.Context) ([]vault.Problem, error) { return nil, nil }
func (knowing) Mend(context.Context) error                     { return nil }
func (k knowing) IDs(_ []vault.File, see func(vault.Path, string)) error {
	for p, id := range k {
		see(p, id)
	}
	return nil
}
