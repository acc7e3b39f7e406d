package encode_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
)

func TestTheSameInOtherWordsIsADuplicate(t *testing.T) {
	t.Parallel()
	check(t, encode.Duplicate, []pair{
		// The voice.
		{"The release notes are written by Mara.", "Mara writes the release notes."},
		{"Mara writes the release notes.", "The release notes are written by Mara."},
		{"The invoices are being checked by the new clerk.", "The new clerk is checking the invoices."},
		{"The contract was signed by Jonas in Bern.", "Jonas signed the contract in Bern."},
		{"The old boiler was taken away by two plumbers.", "Two plumbers took away the old boiler."},
		{"The budget has been approved by the board.", "The board has approved the budget."},
		{"The drafts are not read by the lawyers.", "The lawyers do not read the drafts."},
		{"The pump is driven by a motor with a belt.", "A motor with a belt drives the pump."},
		// A clause that is an adjective, and one that can be shorter.
		{"The server, which is old, stands in the cellar.", "The old server stands in the cellar."},
		{"Ruth feeds a cat that is blind.", "Ruth feeds a blind cat."},
		{"People who are waiting outside get tea.", "People waiting outside get tea."},
		{"Lena rides a green coloured moped.", "Lena rides a green moped."},
		// Words of the same meaning, contractions, one for a, a repeated auxiliary.
		{"The kids sleep on the sofa.", "The children sleep on the couch."},
		{"My phone has a large screen.", "My telephone has a big screen."},
		{"The gate doesn't open on Sundays.", "The gate does not open on Sundays."},
		{"We can't reach the lab by bus.", "We cannot reach the lab by bus."},
		{"One fox lives behind the shed.", "A fox lives behind the shed."},
		{"Two guards are standing at the gate and smoking.", "Two guards are standing at the gate and are smoking."},
		{"I talk to Ivo often. The movie starts at 8.", "I speak to Ivo frequently. The film begins at eight."},
	})
}

func TestOtherWordsThatSaySomethingElseAreNoDuplicate(t *testing.T) {
	t.Parallel()
	for _, p := range []pair{
		// Who does it to whom.
		{"Mara is managed by Jonas.", "Mara manages Jonas."},
		{"The dog was bitten by the cat.", "The dog bit the cat."},
		{"The notes are written by Mara.", "Jonas writes the notes."},
		{"The report was written by Mara and Jonas.", "Mara wrote the report."},
		{"The ball was thrown by a man with a hat and is red.", "A man with a hat threw the ball and is red."},
		// When, whether and how surely.
		{"The contract is signed by Jonas.", "Jonas signed the contract."},
		{"The contract was signed by Jonas.", "Jonas will sign the contract."},
		{"The budget has been approved by the board.", "The board may approve the budget."},
		{"The drafts are not read by the lawyers.", "The lawyers read the drafts."},
		{"The report was finished by Friday.", "The report was finished by Monday."},
		{"Are the notes written by Mara?", "Mara writes the notes."},
		// Where and what of.
		{"The box is carried by Ann to the attic.", "Ann carries the box from the attic."},
		{"The server which is old is beside the new rack.", "The new server is beside the old rack."},
		{"The door that is red leads to the hall.", "The door leads to the red hall."},
		{"The kids sleep on the sofa.", "The children sleep under the couch."},
		{"Users who are paying are leaving.", "Users are paying and are leaving."},
		// Words of nearly the same meaning, and names.
		{"The kids stroll in the park.", "The adults stroll in the park."},
		{"A woman runs the bakery.", "A man runs the bakery."},
		{"We bought a big van.", "We sold a large van."},
		{"We work at Big Phone.", "We work at Large Telephone."},
		{"The meeting started at 8.", "The meeting finished at 8."},
		// Numbers, and a word that only looks like one.
		{"One guard stands at the gate.", "Two guards stand at the gate."},
		{"The one key is in the drawer.", "The key is in the drawer."},
		{"One of the keys fits.", "The keys fit."},
		{"The 3 invoices are checked by Mara.", "Mara checks the 4 invoices."},
		{"We can't reach the lab by bus.", "We can reach the lab by bus."},
		{"The gate doesn't open on Sundays.", "The gate opens on Sundays."},
		// To have something is not to be it.
		{"I have a doctor.", "I am a doctor."},
		{"Ivo has a good teacher.", "Ivo is a good teacher."},
		{"The boss had a thief.", "The boss was a thief."},
	} {
		for _, q := range []pair{p, {p.now, p.old}} {
			if got, v := verdict(q); got == encode.Duplicate || got == encode.Supersede && strings.HasPrefix(v.Rule, "near-text") {
				t.Errorf("%q, then %q: the same by %s", q.old, q.now, v.Rule)
			}
		}
	}
}

// In whichever voice, with another number, name, negation or the roles exchanged it
// is something else.
func TestTheVoiceHidesNoDifference(t *testing.T) {
	t.Parallel()
	who := rapid.SampledFrom([]string{"Mara", "Jonas", "the new clerk", "two plumbers", "a man with a hat", "nobody", "the board of Halyard", "7 students"})
	what := rapid.SampledFrom([]string{"the notes", "3 invoices", "the old boiler", "a key that is red", "the vans", "no box", "the contract of March 3"})
	verb := rapid.SampledFrom([][2]string{{"signed", "signed"}, {"took", "taken"}, {"wrote", "written"}, {"checked", "checked"}, {"sold", "sold"}, {"bought", "bought"}})
	rapid.Check(t, func(t *rapid.T) {
		a, b := who.Draw(t, "a"), who.Draw(t, "b")
		x, y := what.Draw(t, "x"), what.Draw(t, "y")
		v, w := verb.Draw(t, "v"), verb.Draw(t, "w")
		active := a + " " + v[0] + " " + x + "."
		passive := y + " was " + w[1] + " by " + b + "."
		got, by := verdict(pair{active, passive})
		if same := a == b && x == y && v == w; !same && got == encode.Duplicate {
			t.Fatalf("%q is %q by %s", passive, active, by.Rule)
		}
	})
}
