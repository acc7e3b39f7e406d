package pipeline_test

import (
	"testing"

	"stet/agent/pipeline"
)

// A change that a note states plainly is carried out, and one of something else is not.
func TestAChangeInPlainWordsIsCarriedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stored, note, like string }{
		{"Stand-up is at 9:30 every weekday.", "Stand-up moved to 10:00, and retro is on Fridays at 14:00.", "Stand-up has not moved to 10:00."},
		{"We do not support GraphQL.", "The GraphQL gateway is live since Monday; REST stays for partners.", "The GraphQL gateway of staging is live since Monday."},
		{"Our address is Gartenweg 4, 50667 Köln.", "We moved to Rheinufer 20, 50996 Köln on 1 June.", "We moved to PostgreSQL 16 on 1 June."},
		{"I work as an accountant at Brandt GmbH.", "I quit at Brandt GmbH; from September I'm freelance.", "My brother quit at Brandt GmbH."},
		{"My GP is Dr. Weber, Hauptstraße 12.", "Dr. Weber retired; my new GP is Dr. Aydin, Marktplatz 3.", "My new dentist is Dr. Aydin, Marktplatz 3."},
		{"I take ibuprofen for my back pain.", "I'm no longer taking ibuprofen, the doctor switched me to naproxen.", "My mother is no longer taking ibuprofen."},
		{"We drive a VW Golf, plate K-AB 123.", "El coche nuevo es un Skoda Enyaq eléctrico; vendimos el Golf.", "My brother sold the Golf."},
		{"The launch is planned for 3 November.", "The launch has slipped to 17 November.", "Tom said that the launch has slipped to 17 November."},
		{"I am allergic to ibuprofen.", "", "I'm no longer taking ibuprofen."},
		{"I have lunch at Brandt GmbH.", "", "I quit at Brandt GmbH."},
		{"We drive a VW Golf and a Fiat Panda.", "", "We sold the Golf."},
		{"My phone is a Pixel.", "", "My new phone number is 555."},
		{"My mother's address is Gartenweg 4, 50667 Köln.", "", "We moved to Rheinufer 20, 50996 Köln."},
		{"The launch party is planned for 3 November.", "", "The launch has slipped to 17 November."},
	} {
		for note, want := range map[string]pipeline.Kind{c.note: pipeline.Supersede, c.like: pipeline.Conflict} {
			if note == "" {
				continue
			}
			n := pipeline.Note{Text: note, Near: []pipeline.Stored{{Text: c.stored}}}
			if r := pipeline.Weigh(n, []pipeline.Action{{Kind: pipeline.Supersede, Quote: c.stored, Confidence: 1}})[0]; r.Kind != want || r.Text != "" {
				t.Errorf("%q takes %q: %+v, want %s", note, c.stored, r, want)
			}
		}
	}
	n := pipeline.Note{Text: "We moved to Rheinufer 20, 50996 Köln on 1 June.", Near: []pipeline.Stored{{Text: "Our address is Gartenweg 4, 50667 Köln."}}}
	if r := pipeline.Weigh(n, []pipeline.Action{{Kind: pipeline.Supersede, Quote: "Our address is Gartenweg 4", Confidence: 1}})[0]; r.Kind != pipeline.Supersede || r.Text != "" {
		t.Errorf("the quote is not widened to its clause: %+v", r)
	}
}
