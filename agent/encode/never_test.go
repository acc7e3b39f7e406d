package encode_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
)

func TestWhatWasNeverDoneAndIsDoneIsForAPerson(t *testing.T) {
	t.Parallel()
	check(t, encode.Conflict, []pair{
		// Done first, then denied.
		{"I attended a workshop on soldering in May.", "I have never attended any workshops."},
		{"I've already finished three fraction exercises, can you check them?", "I've never tried any fraction exercises before, where do I start?"},
		{"We used Redis for the sessions of the shop.", "We have never used Redis."},
		{"Mara visited Rome in May.", "Mara has never been to Rome."},
		{"My score on the chess puzzles was 8 of 10.", "I have never solved any chess puzzles."},
		{"I wrote unit tests for the tax parser.", "Tell me about unit tests, which I have never written."},
		{"I feel better after completing the breathing course.", "I haven't ever attended a breathing course."},
		{"I built the hen house and painted the garden fence.", "I've never painted or oiled a garden fence."},
		{"I just took the boat exam on Lake Thun.", "I have never prepared for or taken any boat exams."},
		{"I've been learning guitar chords with Ivo.", "I've never practised guitar chords or bass lines."},
		// Denied first, then done: the world may have moved on.
		{"I've never deployed the ticket shop to Hetzner.", "I deployed the ticket shop to Hetzner last night."},
		{"I have never written any shell scripts for the archive.", "I've written two shell scripts for the archive."},
		{"I've never used Flask-Login.", "I used Flask-Login in the shop."},
	})
}

func TestWhatWasNeverDoneAndIsNotDoneIsLeftAlone(t *testing.T) {
	t.Parallel()
	check(t, "", []pair{
		// Plans, attempts, wishes, questions, conditions.
		{"I plan to attend a workshop on soldering.", "I have never attended any workshops on soldering."},
		{"I'm trying to write unit tests for the parser.", "I have never written unit tests for the parser."},
		{"I want to learn guitar chords after completing the singing course.", "I have never practised guitar chords."},
		{"Have you used Redis?", "I have never used Redis."},
		{"If I had attended a workshop on soldering, this would hold.", "I have never attended a workshop on soldering."},
		{"I'm going to visit Rome.", "I have never been to Rome."},
		// Somebody else, something else, somewhere else.
		{"Jonas attended a workshop on soldering.", "I have never attended a workshop on soldering."},
		{"I attended a concert in the park.", "I have never attended any workshops in the park."},
		{"I wrote unit tests for the lexer.", "I have never written unit tests for the parser."},
		{"I took a driving course in Basel.", "I have never taken a driving course in Bern."},
		{"I took a fire safety course.", "I have never taken a sailing safety course."},
		{"I sold the garden fence.", "I have never painted a garden fence."},
		// Not done there either, or only for a time.
		{"I have never attended any workshops.", "I have never been to any workshops."},
		{"I did not attend the workshop on soldering.", "I have never attended a workshop on soldering."},
		{"I ate breakfast at the station.", "I haven't eaten breakfast today."},
		// Begun since: that was true when it was said.
		{"I've never really studied bookkeeping.", "I've completed eight bookkeeping sheets."},
	})
}

// However often a deed is denied or done again, one contradiction is raised once.
func TestOneContradictionIsRaisedOnce(t *testing.T) {
	t.Parallel()
	deed := encode.Memory{ID: "1", Text: "I completed five cipher puzzles in the train.", Authority: encode.Statement}
	denial := encode.Memory{ID: "2", Text: "I've never completed any cipher puzzles, so I start from scratch.", Authority: encode.Statement}
	for _, c := range []struct {
		now    string
		stored []encode.Memory
		want   int
	}{
		{denial.Text, []encode.Memory{deed}, 1},
		{denial.Text, []encode.Memory{deed, {ID: "3", Text: "I finished two more cipher puzzles at home.", Authority: encode.Statement}}, 1},
		{"Again, I've never completed any cipher puzzles, and I am tired.", []encode.Memory{deed, denial}, 0},
		{"I completed six more cipher puzzles on Sunday.", []encode.Memory{deed, denial}, 0},
		{"I completed six more cipher puzzles on Sunday.", []encode.Memory{denial}, 1},
	} {
		plan := encode.Decide(encode.Memory{ID: "new", Text: c.now, Authority: encode.Statement}, c.stored, encode.Corpus{})
		if len(plan.Verdicts) != c.want || plan.Duplicate != nil {
			t.Errorf("%q beside %d: got %+v, want %d verdicts", c.now, len(c.stored), plan, c.want)
		}
	}
}

// What is read of a text is a part of it, whatever the text.
func TestWhatWasSaidStandsInTheText(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"I", "never", "have", "haven't", "'ve", "attended", "written", "been to", "workshops", "or", "and", ",", ".", "?", "which", "my score", "on", "after completing", "tests", "Mara", "used", "Redis", "so", "project", "\n"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 1, 14).Draw(t, "pieces"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		old, now := text.Draw(t, "old"), text.Draw(t, "now")
		_, v := verdict(pair{old, now})
		if !strings.Contains(now, v.Said) || !strings.Contains(old, v.Was) {
			t.Fatalf("%q, then %q: %q is not in it, or %q", old, now, v.Said, v.Was)
		}
		encode.Probes(now)
	})
}

// What a clause only mentions, meets at the moment or does not know of, it does not
// deny.
func TestANegationBesideThePointIsNone(t *testing.T) {
	t.Parallel()
	check(t, "", []pair{
		{"I set a short token expiry for the shop.", "I don't know how to set the token expiry."},
		{"The export reads the invoices from the scanner.", "I'm getting a message that says the export is not able to read the invoices."},
		{"The lock handles wet weather correctly.", "I'm worried about the lock freezing and not handling wet weather."},
		{"I'm aiming for 85 points in the quiz.", "I'm aiming for 95 points in the quiz."},
		{"I managed to get it down to 180 grams.", "I managed to get it down to 125 grams."},
		{"We moved the pump to avoid noise in the bedroom.", "The pump makes noise in the bedroom."},
		{"I'm still seeing paint errors on the door.", "I'm not seeing any paint errors on the door."},
		{"I'll check the torch batteries on Friday.", "I can't wait to check the torch batteries."},
		{"Now the title is: The Long Rain", "Now the title is: The Short Snow"},
		{"My name for the boat is Selma.", "Change the name to Petra."},
		{"I'm gonna keep the orchard.", "I'm not gonna keep bees in the orchard."},
		{"The glue does not hold plates that are not dry.", "The glue holds plates."},
	})
	check(t, encode.Conflict, []pair{
		{"The export reads the invoices from the scanner.", "The export does not read the invoices from the scanner."},
		{"The lock cannot handle wet weather.", "The lock handles wet weather."},
		{"The pump makes noise in the bedroom.", "The pump never makes any noise in the bedroom."},
		{"Jonas swims in the lake.", "Jonas doesn't swim in the lake."},
		{"The ferry to Lindau takes bicycles.", "The ferry to Lindau doesn't take any bicycles."},
	})
}

func TestAValueIsNoOtherKindOfThing(t *testing.T) {
	t.Parallel()
	check(t, encode.Supersede, []pair{
		{"My last name is Ferrer.", "My last name is now Ortega."},
		{"My first name is Lena.", "I changed my first name to Lara."},
	})
	check(t, "", []pair{
		{"My last name is Ferrer.", "I changed my first name to Lara."},
		{"My first name is Lena.", "My surname is Ortega."},
		{"My son's first name is Tom.", "My son's first name is Ben."},
		{"I checked that my code is ready for production.", "I checked that my code is efficient."},
		{"I am still seeing some issues.", "The tests pass without any issues."},
		{"The share of the rent is 1:3 or 1/3.", "The share of the rent is 1/3 or 0.33."},
	})
}
