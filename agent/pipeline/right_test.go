package pipeline_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"stet/agent/encode"
	"stet/agent/pipeline"
)

// What a person would call right is carried out, as far as the words bear it out: of these
// answers of a good model, written without a look at the guards, four in five.
func TestPlainlyRightAnswersAreCarriedOut(t *testing.T) {
	t.Parallel()
	const S, C, U, D = pipeline.Supersede, pipeline.Correct, pipeline.Update, pipeline.Duplicate
	bad := 0
	all := []struct {
		stored, note string
		kind         pipeline.Kind
		quote, text  string
	}{
		{"The deploy freeze starts on 20 December.", "The deploy freeze now starts on 18 December.", S, "", ""},
		{"Our standup is on Zoom.", "Standup is on Google Meet since this week.", S, "", ""},
		{"I work from the Leipzig office.", "I work from home now.", S, "", ""},
		{"My dentist is Dr. Kern.", "I changed dentists; Dr. Kern was too far away. I see Dr. Vogt now.", S, "", ""},
		{"The API key rotates every 90 days.", "The API key rotates every 30 days.", S, "", ""},
		{"We host on Heroku.", "We moved everything off Heroku onto Fly.io last month.", S, "", ""},
		{"Lena is our team lead.", "Lena left the company; Omar is our team lead now.", S, "", ""},
		{"I drink two cups of coffee a day.", "I stopped drinking coffee in March.", S, "", ""},
		{"The wifi password is hunter42.", "New wifi password: lantern77.", S, "", ""},
		{"My rent is 950 euros.", "My rent went up to 1020 euros.", S, "", ""},
		{"We use Slack for chat.", "We switched from Slack to Mattermost.", S, "", ""},
		{"Invoices are sent on the 1st.", "Since May invoices are sent on the 15th.", S, "", ""},
		{"The kids go to Lindenschule.", "The kids go to Waldschule since August.", S, "", ""},
		{"Our cat Miso is on a diet.", "Miso finished her diet, the vet is happy.", S, "", ""},
		{"The main branch is called master.", "We renamed master to main.", S, "", ""},
		{"Node 16 is required to build the frontend.", "The frontend now needs Node 20 to build.", S, "", ""},
		{"I'm vegetarian.", "I eat meat again.", S, "", ""},
		{"Max is single.", "Max got married in June.", S, "", ""},
		{"The gym costs 30 euros a month.", "The gym raised its price to 35 euros a month.", S, "", ""},
		{"We deploy with Jenkins. Deploys take ten minutes.", "Deploys go through GitHub Actions now instead of Jenkins.", S, "We deploy with Jenkins.", ""},
		{"Tests live in /tests and docs in /docs.", "Docs moved to /website.", S, "docs in /docs", ""},
		{"Ann is on parental leave until May.", "Ann is back from parental leave.", S, "", ""},
		{"The bug in the export is open.", "The bug in the export was fixed in 2.3.1.", S, "", ""},
		{"My phone is a Pixel 6.", "I bought an iPhone 15, the Pixel 6 is gone.", S, "", ""},
		{"The server room code is 8812.", "The server room code was changed to 3307.", S, "", ""},
		{"Our office is at Hafenstraße 3.", "We relocated to Marktplatz 9.", S, "", ""},
		{"The retro is every two weeks.", "The retro is weekly from now on.", S, "", ""},
		{"Staging uses SQLite.", "Staging was migrated to Postgres.", S, "", ""},
		{"Tom plays in a band.", "Tom quit the band.", S, "", ""},
		{"Ich arbeite bei Siemens.", "Ich arbeite seit April bei Bosch.", S, "", ""},
		{"Unser Hund heißt Balu und ist krank.", "Balu ist wieder gesund.", S, "ist krank", ""},
		{"J'habite à Lyon.", "J'ai déménagé à Nantes.", S, "", ""},
		{"Vivo en Sevilla.", "Ahora vivo en Bilbao.", S, "", ""},
		{"The trial period ends on 3 March.", "The trial period was extended to 3 April.", S, "", ""},
		{"Support hours are 9 to 17.", "Support hours are 8 to 18.", S, "", ""},
		{"The lead time for laptops is 3 weeks.", "The lead time for laptops is 5 weeks.", S, "", ""},
		{"We pin React to version 17.", "React is upgraded to version 18.", S, "", ""},
		{"My brother lives in Oslo with his wife.", "My brother moved to Bergen.", S, "", ""},
		{"Please use tabs for indentation.", "Use spaces for indentation from now on.", S, "", ""},
		{"The CFO is Karin Holm.", "Karin Holm retired; Erik Lund is the CFO.", S, "", ""},
		{"The car is in the garage for repair.", "The car is repaired and back.", S, "", ""},
		{"Our logo is blue.", "Our logo is green since the rebranding.", S, "", ""},
		{"I have a dog called Rex.", "Rex died last week.", S, "", ""},
		{"The feature flag new-checkout is off.", "The feature flag new-checkout is on.", S, "", ""},
		{"The library closes at 18:00.", "The library closes at 20:00 now.", S, "", ""},
		{"My email is ann@old.example.", "My email changed to ann@new.example.", S, "", ""},
		{"We buy bread at Bäcker Huber.", "Bäcker Huber closed for good.", S, "", ""},
		{"The invoice number is 4811.", "Correction: the invoice number is 4711.", C, "4811", "4711"},
		{"Lisa's birthday is on 4 July.", "I got it wrong: Lisa's birthday is on 14 July.", C, "4 July", "14 July"},
		{"The client is called Brandt GmbH.", "Typo: the client is called Brandl GmbH.", C, "Brandt GmbH", "Brandl GmbH"},
		{"The meeting room is B204.", "Sorry, the meeting room is B240, not B204.", C, "B204", "B240"},
		{"Paul was born in 1981.", "Actually Paul was born in 1982.", C, "1981", "1982"},
		{"Ann likes tea.", "Ann also likes coffee.", U, "", ""},
		{"The printer is on floor 2.", "The printer prints in colour.", U, "", ""},
		{"The dashboard shows latency.", "The dashboard refreshes every minute.", U, "", ""},
		{"Tom speaks French.", "Tom speaks Italian.", U, "", ""},
		{"The backup runs at night.", "The backup keeps 30 days.", U, "", ""},
		{"The shop opens at 9.", "The shop opens at nine.", D, "", ""},
		{"We use PostgreSQL for the orders.", "For the orders we use PostgreSQL.", D, "", ""},
		{"Ann is allergic to nuts.", "Ann's allergic to nuts.", D, "", ""},
		{"Deploys happen on Tuesdays.", "Deploys happen on Tuesdays!", D, "", ""},
		{"Never push to main directly.", "Do not push to main directly.", D, "", ""},
		{"The API returns XML.", "The API stopped returning XML and returns JSON.", S, "", ""},
		{"I take the 7:40 train.", "I take the 8:10 train now.", S, "", ""},
		{"Our house is for sale.", "We sold our house.", S, "", ""},
		{"The contract with Acme runs until 2027.", "We cancelled the contract with Acme.", S, "", ""},
		{"Nina is pregnant.", "Nina had her baby, a girl called Ida.", S, "", ""},
		{"Sam is looking for a job.", "Sam found a job at the zoo.", S, "", ""},
		{"We log to stdout.", "Logs go to Loki now.", S, "", ""},
		{"The default timeout is 30 seconds.", "We lowered the default timeout to 10 seconds.", S, "", ""},
	}
	for _, c := range all {
		q := c.quote
		if q == "" && c.kind == S {
			q = c.stored
		}
		r := ruling(pipeline.Note{Text: c.note, Author: "user"}, pipeline.Stored{Text: c.stored, Author: "user"}, pipeline.Action{Kind: c.kind, Quote: q, Text: c.text, Confidence: .95})
		want := c.kind
		if want == C {
			want = U
		}
		if r.Kind != want {
			bad++
			t.Logf("%s %q <- %q: %s %s", c.kind, c.stored, c.note, r.Kind, r.Refused)
		}
	}
	if done := len(all) - bad; 5*done < 4*len(all) {
		t.Errorf("%d of %d are carried out", done, len(all))
	}
}

// A model that calls every clause untrue takes something true from few of the labelled
// sequences, and one that calls the right ones untrue is followed more often. The bounds are
// what was measured, rounded up and down; they are no proof that nothing is lost.
func TestAModelThatCallsEverythingUntrue(t *testing.T) {
	t.Parallel()
	const mostLost, leastDone = 0.05, 0.1
	for _, name := range []string{"dev", "later", "own"} {
		data, err := os.ReadFile("../../.ci/train/data/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		items, lost, changes, done := 0, 0, 0, 0
		for line := range strings.Lines(string(data)) {
			var it struct {
				Given  []pipeline.Stored
				New    pipeline.Note
				Expect struct {
					Keep, Gone []string
					Certain    bool
				}
			}
			if err := json.Unmarshal([]byte(line), &it); err != nil {
				t.Fatal(err)
			}
			items++
			spoiled, followed := false, len(it.Expect.Gone) > 0 && it.Expect.Certain
			if followed {
				changes++
			}
			for _, g := range it.Given {
				for _, c := range encode.Clauses(g.Text) {
					quote := g.Text[c.From:c.To]
					about := func(p string) bool { return strings.Contains(p, quote) || strings.Contains(quote, p) }
					gone := slices.ContainsFunc(it.Expect.Gone, about)
					r := ruling(it.New, g, pipeline.Action{Kind: pipeline.Supersede, Quote: quote, Confidence: 1})
					taken := r.Kind == pipeline.Supersede
					followed = followed && (taken || !gone)
					spoiled = spoiled || taken && !gone && slices.ContainsFunc(it.Expect.Keep, about)
				}
			}
			if spoiled {
				lost++
			}
			if followed {
				done++
			}
		}
		t.Logf("%s: something true lost in %d of %d, right removals done in %d of %d", name, lost, items, done, changes)
		if float64(lost) > mostLost*float64(items) || float64(done) < leastDone*float64(changes) {
			t.Errorf("%s: lost in %d of %d, carried out in %d of %d", name, lost, items, done, changes)
		}
	}
}
