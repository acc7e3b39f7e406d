package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/agent/ingest"
	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

// updates are pairs of which the second makes the first untrue, far from databases.
var updates = [][2]string{
	{"I live in Bern.", "I moved to Lisbon."},
	{"Mara works at Nordlicht.", "Mara now works at Halyard Labs."},
	{"My phone number is 555 0134.", "My phone number is 555 0177."},
	{"My timezone is Europe/Zurich.", "My timezone is America/Toronto."},
	{"My dentist is Dr. Albers.", "My dentist is Dr. Quint."},
	{"Ruth's manager is Ivo.", "Ruth's manager is now Petra."},
	{"I use vim.", "I switched to Helix."},
	{"My address is Elm Road 3.", "My address is Oak Lane 9."},
	{"We use npm.", "We moved from npm to pnpm."},
	{"We use Jenkins.", "We replaced Jenkins with GitHub Actions."},
	{"We deploy to Heroku.", "We no longer deploy to Heroku."},
	{"I smoke.", "I quit smoking."},
}

// likely are pairs of which the second probably makes the first untrue.
var likely = [][2]string{
	{"Mara lives in Turin.", "Mara moved to Genoa."},
	{"The rent is 1450 euros.", "The rent is now 1520 euros."},
	{"We deploy to Heroku.", "We deploy to Fly.io instead of Heroku."},
	{"The choir meets in the library.", "The choir moved from the library to the town hall."},
	{"I use Slack for team chat.", "I replaced Slack with Zulip."},
	{"The gate code is 4711.", "The gate code is 4712."},
	{"The bakery opens at 7.", "The bakery now opens at 8."},
	{"We use Jenkins for CI.", "We replaced Jenkins with GitHub Actions."},
	{"The staging port is 8080.", "The staging port is 8443."},
	{"The wifi password is on the fridge.", "The wifi password is now in the drawer."},
}

// beside are pairs that are both true.
var beside = [][2]string{
	{"I love tea.", "I love coffee."},
	{"My son's name is Tom.", "My son's name is Ben."},
	{"My son is called Tom.", "My daughter is called Ann."},
	{"I lived in Bern from 2010 to 2015.", "I live in Zurich."},
	{"My address until March is Elm Road 3.", "My address is Oak Lane 9."},
	{"Mara lives in Turin.", "Jonas lives in Genoa."},
	{"The staging port is 8080.", "The production port is 8443."},
	{"The deadline for the report is March 3.", "The deadline for the talk is March 17."},
	{"We use vim.", "Should we switch to Helix?"},
	{"We use Slack.", "We might switch to Zulip."},
	{"We meet in the library.", "We plan to move to the town hall."},
	{"We use Slack.", "The other company switched to Zulip."},
	{"Ticket 12 is closed.", "Ticket 13 is closed."},
	{"On 3 March we met Bob.", "On 5 March we met Bob."},
	{"The car is red.", "The car is fast."},
	{"Ann speaks French.", "Ann speaks Dutch."},
	{"I am allergic to nuts.", "I am allergic to shellfish."},
	{"Ann manages Bob.", "Bob manages Ann."},
	{"We never deploy on Fridays.", "We never deploy on Fridays in December."},
	{"I love Bern.", "I moved from Bern to Lisbon."},
	{"The backup runs at night.", "The tests run in parallel."},
	{"I do not like olives.", "I like almonds."},
	{"Paul has a cat.", "Paul has a dog."},
	{"Eva plays the cello.", "Eva does not play the piano."},
	{"The password policy requires 12 characters.", "The username policy requires 3 characters."},
	{"I worked at Nordlicht.", "I work at Halyard Labs."},
	{"The kitchen is warm.", "The cellar is cold."},
	{"Lena drives a Volvo.", "Lena rides a horse."},
	{"My mother's birthday is 4 May.", "My father's birthday is 9 June."},
	{"The ferry leaves at 8.", "The train leaves at 9."},
}

func pairVault(t *testing.T) (*vaulttest.Fixture, *vault.Vault, *index.Index) {
	t.Helper()
	f := vaulttest.New(t)
	v := f.Open()
	x, err := index.Open(v, index.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return f, v, x
}

// say stores a text as the command does, with the index brought up to date after it.
func say(t *testing.T, v *vault.Vault, x *index.Index, text string) *ingest.Result {
	t.Helper()
	res := store(t, v, x, vault.Write{}, text)
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return res
}

// Of what is said on Monday and untrue on Friday one memory is left, by one commit
// that "git revert" takes back, and that no machine makes again.
func TestWhatChangedNeverStandsBesideWhatItChanges(t *testing.T) {
	t.Parallel()
	for _, pair := range updates {
		t.Run(pair[1], func(t *testing.T) {
			t.Parallel()
			f, v, x := pairVault(t)
			old := say(t, v, x, pair[0]).Memories[0]
			before := vaulttest.Image(t, f.Dir, ".git")
			res := say(t, v, x, pair[1])
			live, err := v.List(t.Context(), vault.Filter{})
			if err != nil || len(live) != 1 || len(res.Commits) != 1 {
				t.Fatalf("%d live memories after %d commits, %v", len(live), len(res.Commits), err)
			}
			if len(live[0].Supersedes) != 1 || live[0].Supersedes[0] != old.ID || !strings.Contains(string(live[0].Body), strings.TrimSuffix(pair[1], ".")) {
				t.Errorf("what is left says %q and supersedes %q", live[0].Body, live[0].Supersedes)
			}
			if data, err := os.ReadFile(filepath.Join(f.Dir, "archive", filepath.FromSlash(string(old.Path)))); err != nil || !strings.Contains(string(data), pair[0]) {
				t.Errorf("the archive: %v, %q", err, data)
			}
			f.Git("revert", "--no-edit", "HEAD")
			vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git"))
			if _, err := x.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err = ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: pair[1], Kind: "said"}}, vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}})
			if !errors.Is(err, vault.ErrRejected) {
				t.Errorf("a machine says it again: %v", err)
			}
		})
	}
}

// What is likely and not proven stays, and the new memory says what it may outdate.
func TestWhatIsLikelyIsFlagged(t *testing.T) {
	t.Parallel()
	for _, pair := range likely {
		t.Run(pair[1], func(t *testing.T) {
			t.Parallel()
			_, v, x := pairVault(t)
			old := say(t, v, x, pair[0]).Memories[0]
			say(t, v, x, pair[1])
			live, err := v.List(t.Context(), vault.Filter{})
			if err != nil || len(live) != 2 {
				t.Fatalf("%d live memories, %v", len(live), err)
			}
			for _, m := range live {
				if want := m.ID != old.ID; (len(m.MayOutdate) == 1) != want || len(m.Conflicts) > 0 {
					t.Errorf("%q may outdate %q", m.Body, m.MayOutdate)
				}
			}
		})
	}
}

func TestWhatIsBothTrueStaysBoth(t *testing.T) {
	t.Parallel()
	for _, pair := range beside {
		t.Run(pair[1], func(t *testing.T) {
			t.Parallel()
			_, v, x := pairVault(t)
			say(t, v, x, pair[0])
			res := say(t, v, x, pair[1])
			live, err := v.List(t.Context(), vault.Filter{})
			if err != nil || len(live) != 2 || len(res.Plan.Decisions()) != 0 {
				t.Errorf("%d live memories, %+v, %v", len(live), res.Plan.Decisions(), err)
			}
		})
	}
}
