package notebook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

const user = "USER.md"

func small() notebook.Limits { return notebook.Limits{Core: 100, Profile: 100} }

// open is the profile of a new vault, its limit 100 characters.
func open(t *testing.T, files ...string) (*vaulttest.Fixture, *vault.Vault, *notebook.Notebook) {
	t.Helper()
	f := vaulttest.New(t, files...)
	o := f.Options()
	o.Settings = []settings.Layer{settings.Layer{Source: settings.User}.With(settings.AgentsEdit, "all", "")}
	v := f.OpenWith(o)
	return f, v, notebook.Profile(v, small())
}

func add(t *testing.T, n *notebook.Notebook, text string) *notebook.Result {
	t.Helper()
	res, err := n.Add(t.Context(), notebook.New{Text: text}, vault.Write{})
	if err != nil {
		t.Fatalf("add %q: %v", text, err)
	}
	return res
}

func TestAddMakesOneCommitThatNamesTheEntry(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "# Me\r\n\r\n* one\r\n* two")
	res, err := n.Add(t.Context(), notebook.New{Text: "drinks tea", Kind: "preference"},
		vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "Hermes", Door: "cli", Session: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Read(user), "# Me\r\n\r\n* one\r\n* two\r\n* [preference] drinks tea"; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	c, err := v.History().CommitAt(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Trailers.Get("Stet-Memory"); got != n.Address(res.Entry) || !strings.HasPrefix(got, "USER.md#") || c.Op != vault.OpRemember ||
		c.Author != "Hermes" || c.Subject != "remember: [preference] drinks tea" || len(c.Changes) != 1 {
		t.Errorf("commit %+v", c)
	}
	if res.Usage.Characters != 3+3+23 || res.Usage.Entries != 3 || res.Usage.Percent() != 29 {
		t.Errorf("usage %+v", res.Usage)
	}
}

func TestExactDuplicateIsNoSecondEntry(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- [fact] lives in Ulm\n")
	before, _ := v.Head()
	for _, x := range []notebook.New{{Text: "lives in Ulm"}, {Text: "[fact] lives in Ulm"}, {Text: " lives in Ulm\n", Kind: "fact"}} {
		res, err := n.Add(t.Context(), x, vault.Write{})
		if err != nil || !res.Duplicate || !res.Unchanged || res.Entry.Kind != "fact" {
			t.Errorf("add %+v: %+v %v", x, res, err)
		}
	}
	if after, _ := v.Head(); after != before || f.Read(user) != "- [fact] lives in Ulm\n" {
		t.Error("a duplicate was written")
	}
	if res, err := n.Add(t.Context(), notebook.New{Text: "lives in Ulm", Kind: "preference"}, vault.Write{}); err != nil || res.Duplicate {
		t.Errorf("another kind is another entry: %+v %v", res, err)
	}
}

func TestReplaceKeepsBoxAndKindAndNamesWhatItSupersedes(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- [x] [fact] runs Postgres\n- other\n")
	old := markdown.ReadEntry("[x] [fact] runs Postgres")
	res, err := n.Replace(t.Context(), "Postgres", notebook.New{Text: "runs MySQL"}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Read(user); got != "- [x] [fact] runs MySQL\n- other\n" {
		t.Errorf("the file is %q", got)
	}
	c, err := v.History().CommitAt(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if c.Op != vault.OpUpdate || c.Trailers.Get("Supersedes") != n.Address(old) || c.Trailers.Get("Stet-Memory") != n.Address(res.Entry) {
		t.Errorf("commit %+v", c)
	}
	if res, err = n.Replace(t.Context(), "runs MySQL", notebook.New{Text: "[ ] [routine] backs up"}, vault.Write{}); err != nil || res.Entry.Text != "[ ] [routine] backs up" {
		t.Errorf("own box and kind: %q %v", res.Entry.Text, err)
	}
	if res, err = n.Replace(t.Context(), "backs", notebook.New{Text: "backs up"}, vault.Write{}); err != nil || !res.Unchanged {
		t.Errorf("the same again: %+v %v", res, err)
	}
	if _, err = n.Replace(t.Context(), "backs up", notebook.New{Text: "[ ] [routine] other"}, vault.Write{}); err != nil {
		t.Error(err)
	}
	if _, err = n.Add(t.Context(), notebook.New{Text: "third"}, vault.Write{}); err != nil {
		t.Error(err)
	}
	if res, err = n.Replace(t.Context(), "third", notebook.New{Text: "other"}, vault.Write{}); err != nil || !res.Duplicate {
		t.Errorf("replaced by what is there: %+v %v", res, err)
	}
	if got := f.Read(user); got != "- [ ] [routine] other\n- other\n" {
		t.Errorf("the file is %q", got)
	}
}

func TestABulletThatWasCopiedWithTheTextIsNone(t *testing.T) {
	t.Parallel()
	f, _, n := open(t)
	for _, text := range []string{"- one", "* [ ] two\n  lines\n", "- three\n- four", "1. five", "-six", "- - seven"} {
		add(t, n, text)
	}
	want := "- one\n- [ ] two\n  lines\n- - three\n  - four\n- 1. five\n- -six\n- - seven\n"
	if got := f.Read(user); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
}

func TestRemoveIsAForgetInHistory(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- a one\n\n- b two\n\ntext\n")
	res, err := n.Remove(t.Context(), "two", vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.History().CommitAt(t.Context(), "HEAD")
	if err != nil || f.Read(user) != "- a one\n\ntext\n" || c.Op != vault.OpForget || c.Trailers.Get("Stet-Memory") != n.Address(res.Old) || c.Subject != "forget: b two" {
		t.Errorf("%q, commit %+v, %v", f.Read(user), c, err)
	}
}

func TestEntriesAreFoundByAddressOrUniquePart(t *testing.T) {
	t.Parallel()
	_, _, n := open(t, user, "- likes tea\n- likes tea with milk\n- [fact] Likes rain\n- twin\n- twin\n- room 7 and\n  room 77\n- room 78\n")
	page, err := n.Read()
	if err != nil {
		t.Fatal(err)
	}
	hash := page.Entries[1].Hash()
	for ref, want := range map[string]int{
		"likes tea": 0, "with": 1, hash: 1, "#" + hash: 1, "USER.md#" + hash: 1, "USER.md#e:" + hash: 1, "Likes": 2, "Likes rain": 2, "[fact]": 2, "twin": 3,
		"room 7 ": 5, "room 7 and\r\nroom": 5, " room 78 ": 6,
	} {
		if e, err := n.Find(page.Entries, ref); err != nil || e.Start != page.Entries[want].Start {
			t.Errorf("%q finds %q (%v), want %q", ref, e.Text, err, page.Entries[want].Text)
		}
	}
	var many *vault.AmbiguousError
	if _, err := n.Find(page.Entries, "likes"); !errors.As(err, &many) || len(many.Candidates) != 2 ||
		many.Candidates[1].Path != vault.Path("USER.md#"+hash) || many.Candidates[1].Title != "likes tea with milk" {
		t.Errorf("ambiguous: %v", err)
	}
	var none *vault.NotFoundError
	for _, ref := range []string{"LIKES", "", " ", "#00000000", "USER.md#"} {
		if _, err := n.Find(page.Entries, ref); !errors.As(err, &none) || len(none.Near) != 7 {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestAnErrorNamesAHundredEntriesAtMost(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 130 {
		fmt.Fprintf(&page, "- number %d\n", i)
	}
	_, _, n := open(t, user, page.String())
	_, err := n.Remove(t.Context(), "number", vault.Write{})
	var many *vault.AmbiguousError
	var hint interface{ Hint() string }
	if !errors.As(err, &many) || len(many.Candidates) != 100 || !errors.As(err, &hint) || !strings.HasSuffix(hint.Hint(), "(30 more match)") {
		t.Errorf("%v", err)
	}
}

func TestHandEditsAreCommittedFirst(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- a\n")
	f.Write(user, "- a\n- by hand\n")
	res := add(t, n, "by stet")
	if len(res.Adopted) != 1 || len(res.Commits) != 2 || f.Read(user) != "- a\n- by hand\n- by stet\n" {
		t.Errorf("%+v %q", res.Result, f.Read(user))
	}
	if c, err := v.History().CommitAt(t.Context(), "HEAD~1"); err != nil || c.Op != vault.OpAdopt {
		t.Errorf("%+v %v", c, err)
	}
}

func TestDryRunSaysWhatWouldMoveAndWritesNothing(t *testing.T) {
	t.Parallel()
	f, v, n := open(t, user, "- "+strings.Repeat("a", 60)+"\n")
	before, _ := v.Head()
	res, err := n.Add(t.Context(), notebook.New{Text: strings.Repeat("b", 60)}, vault.Write{DryRun: true})
	if err != nil || len(res.Moved) != 1 || !res.DryRun || !strings.Contains(res.Diff, "+- bbb") || len(res.Changes) != 2 {
		t.Errorf("%+v %v", res, err)
	}
	if after, _ := v.Head(); after != before || !strings.HasPrefix(f.Read(user), "- aaa") {
		t.Error("a dry run wrote")
	}
}

func TestWhatCannotBeWrittenIsInvalid(t *testing.T) {
	t.Parallel()
	_, _, n := open(t, user, "- a\n")
	for _, x := range []notebook.New{
		{}, {Text: " \n"}, {Text: "\xff"}, {Text: "a\x00"}, {Text: "---"}, {Text: "x", Kind: "two words"}, {Text: "x", Kind: "x"}, {Text: "[fact] x", Kind: "routine"},
	} {
		if _, err := n.Add(context.Background(), x, vault.Write{}); !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("add %+v: %v", x, err)
		}
		if _, err := n.Replace(context.Background(), "a", x, vault.Write{}); !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("replace by %+v: %v", x, err)
		}
	}
	big := strings.Repeat("x", vault.MaxFileSize)
	if _, err := n.Add(context.Background(), notebook.New{Text: big}, vault.Write{}); !errors.Is(err, vault.ErrTooLarge) {
		t.Errorf("10 MiB: %v", err)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	t.Parallel()
	f, v, n := open(t)
	const writers, each = 4, 8
	var texts []string
	errs := make(chan error, writers*each)
	var wg sync.WaitGroup
	for w := range writers {
		own := notebook.Profile(f.Open(), small())
		for i := range each {
			texts = append(texts, fmt.Sprintf("writer %d says %d", w, i))
		}
		wg.Go(func() {
			for i := range each {
				_, err := own.Add(t.Context(), notebook.New{Text: fmt.Sprintf("writer %d says %d", w, i)}, vault.Write{})
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if inside, moved := kept(t, v, n, texts); inside > 6 || inside+moved != writers*each {
		t.Errorf("%d in the notebook, %d moved", inside, moved)
	}
}

// What a person committed with git stays theirs to judge: it must not stop the
// notebook when it has to leave.
func TestASecretThatIsCommittedAlreadyCanMove(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f, v, n := open(t)
	secret := "key AKIA" + "Q3EGRZ7LX5WJ2VNT " + strings.Repeat("x", 40)
	if _, err := n.Add(t.Context(), notebook.New{Text: secret}, vault.Write{}); !errors.Is(err, vault.ErrRefused) {
		t.Fatalf("a secret was added: %v", err)
	}
	f.Write(user, "- "+secret+"\n")
	f.Git("add", user)
	f.Git("commit", "-q", "-m", "by hand")
	if res := add(t, n, sized("new", 60)); len(res.Moved) != 1 {
		t.Errorf("%+v", res)
	}
	kept(t, v, n, []string{secret, sized("new", 60)})
}

// kept reports where every text is: in the notebook, or as the body of a memory.
func kept(t *testing.T, v *vault.Vault, n *notebook.Notebook, texts []string) (inside, moved int) {
	t.Helper()
	page, err := n.Read()
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for _, e := range page.Entries {
		where[e.Body()] = "notebook"
	}
	s, err := v.History().View(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range s.Files() {
		if err != nil {
			t.Fatal(err)
		}
		if vault.ClassOf(p) != vault.ClassMemory {
			continue
		}
		data, _, err := s.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(string(vault.ReadMemory(p, data).Body), "\n")
		if where[text] != "" {
			t.Errorf("%q stands in %s and in %s", text, where[text], p)
		}
		where[text] = string(p)
	}
	for _, text := range texts {
		switch where[text] {
		case "":
			t.Errorf("%q is lost", text)
		case "notebook":
			inside++
		default:
			moved++
		}
	}
	return inside, moved
}

func TestTwoHundredAddsToAFullNotebookLoseNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, user, "# About me\n\n- [instruction] Answer in German.\n\n## Pinned\n\n- [fact] Allergic to nuts.\n")
	v := f.Open()
	n := notebook.Profile(v, notebook.DefaultLimits())
	adds := 200
	if testing.Short() {
		adds = 60
	}
	kinds := []string{"", "fact", "preference", "routine", "event"}
	var texts []string
	for i := range adds {
		x := notebook.New{Text: fmt.Sprintf("Number %03d: %s", i, strings.Repeat("what there is to know. ", i%7)), Kind: kinds[i%len(kinds)]}
		if i%11 == 0 {
			x.Under = "Work"
		}
		texts = append(texts, markdown.EntryText(x.Text))
		res, err := n.Add(t.Context(), x, vault.Write{Writer: vault.Writer{Actor: "agent"}})
		if err != nil {
			t.Fatal(err)
		}
		page, err := n.Read()
		if err != nil {
			t.Fatal(err)
		}
		if page.Usage.Characters > page.Usage.Limit || page.Usage != res.Usage || len(res.Commits) != 1 {
			t.Fatalf("after %d adds: %+v, reported %+v in %d commits", i+1, page.Usage, res.Usage, len(res.Commits))
		}
		if e, err := n.Find(page.Entries, n.Address(res.Entry)); err != nil || e.Body() != texts[i] {
			t.Fatalf("the entry just written is gone: %v", err)
		}
	}
	inside, moved := kept(t, v, n, texts)
	kept(t, v, n, []string{"Allergic to nuts."})
	if inside == 0 || moved < adds/3 {
		t.Errorf("%d in the notebook, %d moved: the test shows nothing", inside, moved)
	}
	if got := f.Read(user); !strings.Contains(got, "## Pinned\n\n- [fact] Allergic to nuts.\n") || !strings.Contains(got, "Answer in German.") {
		t.Errorf("what was pinned or an instruction is gone:\n%s", got)
	}
	if n := utf8.RuneCountInString(f.Read(user)); n > 2000 {
		t.Errorf("the file grew to %d characters", n)
	}
}
