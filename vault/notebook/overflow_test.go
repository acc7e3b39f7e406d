package notebook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/vaulttest"
)

// sized is a text of so many characters that begins with name.
func sized(name string, n int) string {
	return name + strings.Repeat(".", n-len(name))
}

func names(moved []notebook.Moved) string {
	var out []string
	for _, m := range moved {
		out = append(out, strings.TrimRight(m.Entry.Body(), "."))
	}
	return strings.Join(out, " ")
}

func TestTheLeastValuableGoesFirst(t *testing.T) {
	t.Parallel()
	_, _, n := open(t)
	for _, kind := range []string{"[instruction] i", "[fact] f1", "n1", "[routine] r", "[fact] f2", "[Odd] o", "[preference] p"} {
		add(t, n, sized(kind, 20))
	}
	// Each fills a fifth of the limit: the first two to go have gone.
	if page, _ := n.Read(); page.Usage.Characters != 100 || strings.Contains(string(page.Data), "n1") {
		t.Fatalf("%s", page.Data)
	}
	for _, want := range []string{"r", "f1", "f2", "p", "i"} {
		res := add(t, n, sized("[instruction] "+want+"2", 20))
		if got := names(res.Moved); got != want {
			t.Errorf("%s went, want %s", got, want)
		}
	}
	// All of one kind: the oldest.
	if got := names(add(t, n, sized("[instruction] last", 40)).Moved); got != "r2 f12" {
		t.Errorf("%s went, want the two oldest", got)
	}
}

func TestAgeIsThatOfTheTextNotOfTheLine(t *testing.T) {
	t.Parallel()
	f, _, n := open(t, user, "- "+sized("a", 30)+"\n- "+sized("b", 30)+"\n")
	add(t, n, sized("c", 30))
	// By hand: a is rewritten, b and c change places.
	f.Write(user, "# New\n\n- "+sized("c", 30)+"\n- "+sized("A", 30)+"\n- "+sized("b", 30)+"\n")
	f.Git("commit", "-q", "-a", "-m", "by hand")
	if got := names(add(t, n, sized("d", 10)).Moved); got != "" {
		t.Errorf("%s went although there was room", got)
	}
	if got := names(add(t, n, sized("e", 60)).Moved); got != "b c" {
		t.Errorf("%s went, want the oldest texts b and c", got)
	}
}

func TestMovedEntryIsAMemoryThatSaysWhereItCameFrom(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "# Me\n\n## Home & garden\n\n- [ ] [fact] "+sized("Roses need", 60)+"\n  and water\n")
	page, err := n.Read()
	if err != nil {
		t.Fatal(err)
	}
	res := add(t, n, sized("[fact] new", 60))
	if len(res.Moved) != 1 || len(res.Commits) != 1 {
		t.Fatalf("%+v", res)
	}
	m := res.Moved[0].Memory
	got := vault.ReadMemory(m.Path, []byte(f.Read(string(m.Path))))
	want := "[ ] " + sized("Roses need", 60) + "\nand water\n"
	if string(got.Body) != want || got.Kind != "fact" || got.Source != n.Address(page.Entries[0]) || got.ID == "" ||
		strings.Join(got.Categories, ",") != "home-garden" || !got.Created.Equal(res.Moved[0].Since) || !got.Updated.After(got.Created) {
		t.Errorf("%+v\n%s", got, f.Read(string(m.Path)))
	}
	c, err := v.History().CommitAt(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if about := c.Trailers.All("Stet-Memory"); len(about) != 2 || about[0] != n.Address(res.Entry) || about[1] != got.ID ||
		c.Body != "moved "+got.Source+" to "+string(m.Path) {
		t.Errorf("commit %+v", c)
	}
	if got := f.Read(user); got != "# Me\n\n- "+sized("[fact] new", 60)+"\n\n## Home & garden\n" {
		t.Errorf("the notebook is %q", got)
	}
}

func TestWhatIsPinnedNeverGoes(t *testing.T) {
	t.Parallel()
	pinned := "# Pinned\n\n- " + sized("keep", 70) + "\n"
	f, v, n := open(t, user, pinned)
	add(t, n, sized("a", 20))
	if got := names(add(t, n, sized("b", 25)).Moved); got != "a" {
		t.Errorf("%s went", got)
	}
	// 30 characters are left in all: a longer text is stored, and there is no
	// room for the line that would point to it.
	before := f.Read(user)
	res := add(t, n, sized("too long", 31))
	if res.Stored == nil || res.Pointed || len(res.Moved) != 0 || f.Read(user) != before || res.Usage.Characters != 95 {
		t.Errorf("%+v, the notebook is %q", res, f.Read(user))
	}
	if !strings.HasPrefix(f.Read(string(res.Stored.Path)), "---\nid: ") || !strings.HasSuffix(before, pinned) {
		t.Errorf("%q", before)
	}
	// A pinned entry may be replaced by a longer one.
	if res, err := n.Replace(t.Context(), "keep", notebook.New{Text: sized("kept", 90)}, vault.Write{}); err != nil || names(res.Moved) != "b" || res.Usage.Characters != 90 {
		t.Errorf("%+v %v", res, err)
	}
	kept(t, v, n, []string{sized("a", 20), sized("b", 25), sized("too long", 31), sized("kept", 90)})
}

func TestAnEntryAboveTheWholeLimitLeavesALine(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- [fact] "+sized("old", 40)+"\n- x\n")
	long := "[routine] Water `the` [roses] and lilies.\n\n" + strings.Repeat("Every day. ", 20)
	res := add(t, n, long)
	if res.Stored == nil || !res.Pointed || res.Usage.Characters > 100 {
		t.Fatalf("%+v", res)
	}
	want := "[routine] [Water the roses and lilies. …](" + string(res.Stored.Path) + ")"
	if res.Entry.Text != want || res.Entry.Kind != "routine" {
		t.Errorf("the line is %q, want %q", res.Entry.Text, want)
	}
	if m := vault.ReadMemory(res.Stored.Path, []byte(f.Read(string(res.Stored.Path)))); m.Kind != "routine" || !strings.HasPrefix(string(m.Body), "Water `the` [roses]") {
		t.Errorf("%+v", m)
	}
	if c, err := v.History().CommitAt(t.Context(), "HEAD"); err != nil || !strings.Contains(c.Body, "too long for USER.md, stored in "+string(res.Stored.Path)) {
		t.Errorf("commit %+v %v", c, err)
	}
	if again := add(t, n, long); !again.Duplicate || !again.Unchanged || again.Stored.Path != res.Stored.Path {
		t.Errorf("the same again: %+v", again)
	}
	rep, err := n.Replace(t.Context(), "x", notebook.New{Text: sized("Longer than all", 200)}, vault.Write{})
	if err != nil || rep.Stored == nil || !strings.Contains(rep.Entry.Text, "](memories/") || rep.Usage.Characters > 100 {
		t.Errorf("%+v %v\n%s", rep, err, f.Read(user))
	}
}

// What a long text replaces goes, also when another line points to the text
// already.
func TestReplacingByATextThatIsStoredAlreadyRemovesTheOld(t *testing.T) {
	t.Parallel()
	f, _, n := open(t, user, "- x\n- y\n")
	long := sized("Longer than all", 200)
	line := "- " + add(t, n, long).Entry.Text + "\n"
	if want := "- x\n- y\n" + line; f.Read(user) != want {
		t.Fatalf("%q, want %q", f.Read(user), want)
	}
	for _, old := range []string{"x", "](memories/"} {
		res, err := n.Replace(t.Context(), old, notebook.New{Text: long}, vault.Write{})
		if err != nil || !res.Duplicate || res.Unchanged != (old != "x") {
			t.Errorf("replace %s: %+v %v", old, res, err)
		}
		if want := "- y\n" + line; f.Read(user) != want {
			t.Errorf("replace %s: %q, want %q", old, f.Read(user), want)
		}
	}
}

func TestANotebookThatAPersonMadeTooLargeIsNotTrimmed(t *testing.T) {
	t.Parallel()
	var hand strings.Builder
	for i := range 8 {
		fmt.Fprintf(&hand, "- %s\n", sized(fmt.Sprintf("by hand %d", i), 30))
	}
	f, v, n := open(t, user, hand.String())
	// The first write makes it larger by itself; each further one takes the
	// place of what stet wrote before.
	for i := range 5 {
		res := add(t, n, sized(fmt.Sprintf("written %d", i), 20))
		if want := 0; i > 0 {
			want = 1
			if len(res.Moved) != want || !strings.HasPrefix(res.Moved[0].Entry.Text, fmt.Sprintf("written %d", i-1)) {
				t.Errorf("write %d moved %s", i, names(res.Moved))
			}
		} else if len(res.Moved) != want {
			t.Errorf("the first write moved %s", names(res.Moved))
		}
		if !strings.HasPrefix(f.Read(user), hand.String()) || res.Usage.Characters != 8*30+20 {
			t.Fatalf("after write %d: %+v\n%s", i, res.Usage, f.Read(user))
		}
	}
	if inside, moved := kept(t, v, n, []string{sized("written 0", 20), sized("written 3", 20), sized("written 4", 20), sized("by hand 0", 30)}); inside != 2 || moved != 2 {
		t.Errorf("%d inside, %d moved", inside, moved)
	}
	if res, err := n.Remove(t.Context(), "by hand 3", vault.Write{}); err != nil || len(res.Moved) != 0 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestGitRevertOfAnOverflowBringsBackTheNotebook(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f, v, n := open(t, user, "- "+sized("a", 40)+"\n- "+sized("b", 40)+"\n")
	before := f.Read(user)
	res := add(t, n, sized("c", 60))
	if len(res.Moved) != 1 {
		t.Fatalf("%+v", res)
	}
	f.Git("revert", "--no-edit", "HEAD")
	if f.Read(user) != before {
		t.Errorf("git revert left %q, want %q", f.Read(user), before)
	}
	if s, err := v.History().View(t.Context(), "HEAD"); err != nil {
		t.Error(err)
	} else if _, hash, _ := s.Read(res.Moved[0].Memory.Path); hash != "" {
		t.Error("the moved memory is still there")
	}
	// stet takes the same way back, and forth. What came back by the revert is
	// newer now than what stayed.
	if res = add(t, n, sized("c", 60)); names(res.Moved) != "b" {
		t.Fatalf("%s went", names(res.Moved))
	}
	after := f.Read(user)
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}}); err != nil || f.Read(user) != before {
		t.Errorf("stet revert: %v, %q", err, f.Read(user))
	}
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}}); err != nil || f.Read(user) != after {
		t.Errorf("and back: %v, %q", err, f.Read(user))
	}
	kept(t, v, n, []string{sized("a", 40), sized("b", 40), sized("c", 60)})
}

func TestAgeIsFoundBehindAMerge(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f, _, n := open(t, user, "## X\n\n- "+sized("x", 10)+"\n\nfar\n\napart\n\n## Y\n\n- "+sized("y", 10)+"\n")
	under := func(text, heading string) *notebook.Result {
		t.Helper()
		res, err := n.Add(t.Context(), notebook.New{Text: text, Under: heading}, vault.Write{})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	f.Git("checkout", "-q", "-b", "side")
	under(sized("early", 30), "X")
	f.Git("checkout", "-q", "main")
	under(sized("late", 30), "Y")
	f.Git("merge", "-q", "--no-edit", "side")
	if got := names(under(sized("x, y and early go", 70), "X").Moved); got != "x y early" {
		t.Errorf("%s went, want what is older than the merge", got)
	}
}

func TestWhatIsNotCommittedYetIsNewest(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- "+sized("committed", 40)+"\n")
	f.Write(user, "- "+sized("by hand", 40)+"\n- "+sized("committed", 40)+"\n")
	if got := names(add(t, n, sized("new", 60)).Moved); got != "committed" {
		t.Errorf("%s went", got)
	}
	kept(t, v, n, []string{sized("by hand", 40), sized("committed", 40), sized("new", 60)})
}

// A revert rejects what the commit said, not what only moved out of its way.
func TestWhatMovedIsNotRejectedByARevert(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, plain := range []bool{false, true} {
		f, v, n := open(t, user, "- "+sized("a", 40)+"\n- [fact] "+sized("b", 40)+"\n")
		agent := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "bot"}}
		add(t, n, sized("c", 60))
		if plain {
			f.Git("revert", "--no-edit", "HEAD")
		} else if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(f.Dir, ".stet/tombstones/*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if data, err := os.ReadFile(name); err != nil || strings.Count(string(data), "action:") != 1 {
				t.Errorf("plain %v: more than what was said is rejected (%v):\n%s", plain, err, data)
			}
		}
		if _, err := n.Add(t.Context(), notebook.New{Text: sized("c", 60)}, agent); !errors.Is(err, vault.ErrRejected) {
			t.Errorf("plain %v: the agent says again what was taken back: %v", plain, err)
		}
		if got := names(add(t, n, sized("d", 90)).Moved); got != "a b" {
			t.Errorf("plain %v: the same entries cannot leave: %q went", plain, got)
		}
		kept(t, v, n, []string{sized("a", 40), sized("b", 40), sized("d", 90)})
	}
}

func TestWhatAPersonRemovedIsNotWrittenAgainByAMachine(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- [fact] lives in Ulm\n- other\n")
	agent := vault.Write{Writer: vault.Writer{Actor: "agent"}}
	if _, err := n.Remove(t.Context(), "Ulm", vault.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"lives in Ulm", "[preference] Lives in Ulm."} {
		if _, err := n.Add(t.Context(), notebook.New{Text: text}, agent); !errors.Is(err, vault.ErrRejected) {
			t.Errorf("the agent adds %q: %v", text, err)
		}
		if _, err := n.Replace(t.Context(), "other", notebook.New{Text: text}, agent); !errors.Is(err, vault.ErrRejected) {
			t.Errorf("the agent replaces by %q: %v", text, err)
		}
	}
	// What a person writes by hand stands, and may leave when there is no room.
	f.Write(user, "- [fact] lives in Ulm\n- other\n")
	if got := names(add(t, n, sized("long", 90)).Moved); got != "lives in Ulm" {
		t.Errorf("%q went", got)
	}
	stones := func() int {
		found, err := filepath.Glob(filepath.Join(f.Dir, ".stet/tombstones/*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if stones() != 1 {
		t.Errorf("%d tombstones: moving an entry lifted what a person rejected", stones())
	}
	// The person says it again: no longer rejected.
	if add(t, n, "[fact] lives in Ulm"); stones() != 0 {
		t.Errorf("%d tombstones are left", stones())
	}
	if _, err := n.Remove(t.Context(), "lives in Ulm", agent); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}}); err != nil || !strings.Contains(f.Read(user), "lives in Ulm") || stones() != 0 {
		t.Errorf("%v %s", err, f.Read(user))
	}
}

// What an agent writes never takes the place of a person's entry, and goes first itself.
func TestAnAgentMovesOnlyWhatAgentsWrote(t *testing.T) {
	t.Parallel()
	f, _, n := open(t)
	agent := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "bot"}}
	by := func(w vault.Write, text string) *notebook.Result {
		t.Helper()
		res, err := n.Add(t.Context(), notebook.New{Text: text}, w)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	add(t, n, sized("hers", 40))
	by(agent, sized("[instruction] its", 40))
	if got := names(by(agent, sized("next", 50)).Moved); got != "its" {
		t.Errorf("%q went, want the agent's own entry", got)
	}
	// No room without one of the person's: a memory, and the person's entries stay.
	if res := by(agent, sized("more", 70)); res.Stored == nil || len(res.Moved) != 0 {
		t.Errorf("%+v", res)
	}
	if text := f.Read(user); !strings.Contains(text, "hers") {
		t.Errorf("the person's entry is gone: %s", text)
	}
	// A person's entry, even of the least valuable kind, stays longer than an agent's.
	if got := names(add(t, n, sized("mine", 40)).Moved); !strings.HasPrefix(got, "next") || strings.Contains(got, "hers") {
		t.Errorf("%q went, want the agent's entry", got)
	}
	_, err := n.Add(t.Context(), notebook.New{Text: "x", Under: "Pinned"}, agent)
	if !errors.Is(err, vault.ErrRefused) {
		t.Errorf("an agent pins an entry: %v", err)
	}
}
