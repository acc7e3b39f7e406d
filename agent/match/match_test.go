package match_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/match"
)

// find returns the texts that a description means, in the order they were given.
func find(query string, texts ...string) []string {
	var all []match.Text
	for _, t := range texts {
		all = append(all, match.Text{Key: t, Text: t})
	}
	var keys []string
	for _, h := range match.Parse(query).Find(all) {
		keys = append(keys, h.Key)
	}
	return slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return !slices.Contains(keys, t) })
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query string
		yes   []string
		no    []string
	}{
		{"my old address", []string{"I live at 4 Mill Lane in Hull."}, []string{"The boiler is serviced in May.", "Mill Lane Dairy delivers milk on Fridays to Otto."}},
		{"everything about my old address", []string{"My old address was 12 Elm Street, York."}, []string{"I live at 4 Mill Lane in Hull.", "My sister Ida lives in Leeds."}},
		{"where I live", []string{"I live at 4 Mill Lane in Hull."}, []string{"My sister Ida lives in Leeds."}},
		{"everything about Rosa the gardener", []string{"Rosa plants beans in May.", "Rosa's van is green."}, []string{"The walls are painted rosa.", "Rosalind runs the shop."}},
		{"Ada Byron", []string{"Ada Byron rents the attic."}, []string{"Ada rents the cellar.", "Lord Byron wrote poems.", "Ada Byronson likes tea."}},
		{"invoice INV-2041-7", []string{"Paid: INV-2041-7.", "inv20417 was late."}, []string{"Paid: INV-2041-71.", "Paid: INV-2041."}},
		{"+44 20 7946 0958", []string{"Call +44 (20) 7946-0958 for help."}, []string{"Call +44 20 7946 09581 for help."}},
		{"lena@example.org", []string{"Write to LENA@Example.org.", "Write to lena+shop@example.org."}, []string{"Write to lena.b@example.org.", "Write to lena@example.org.uk."}},
		{"host 10.0.0.7", []string{"The host 010.000.000.007 is down.", "10.0.0.7 is the printer."}, []string{"10.0.0.70 is the scanner."}},
		{"token 9f3b11aa", []string{"The token is 9f3b11aa-77c0-4d21-9e55-01234567abcd."}, []string{"The token is 9f3b11ab-77c0-4d21-9e55-01234567abcd."}},
		{"Dmitri Orlov", []string{"Дмитрий Орлов pays by card.", "Dmitri Orlov called."}, []string{"Дмитрий Соколов called.", "Олег Орлов called."}},
		{"Zoë Brontë", []string{"Zoe Bronte called."}, []string{"Zoe called."}},
		{"my job", []string{"I work as a baker in Hull."}, []string{"My sister has two cats.", "The bakery opens at six."}},
		{"Wi-Fi password", []string{"The WiFi password is on the fridge."}, []string{"The Wi-Fi is slow upstairs."}},
		{"the heron statue", nil, []string{"The statue of the duke was cleaned.", "Herons nest at the lake."}},
		{"the heron's diet", nil, []string{"Herons nest at the lake.", "I am on a vegan diet."}},
		{"Otto's diet", nil, []string{"Otto likes chess.", "I am on a vegan diet."}},
		{"New Haven office", []string{"The New Haven office has a garden."}, []string{"The new office has a garden."}},
		{"plate KX-1200 / kx1300", []string{"Plate KX 1200 is ours.", "KX-1300 was sold."}, []string{"KX-1400 is new."}},
		{"switched to Emacs", []string{"I switched to Emacs."}, []string{"I switched to tea."}},
		{"does not eat fish", []string{"Otto does not eat fish."}, []string{"Otto eats beans."}},
	} {
		if got := find(tt.query, slices.Concat(tt.yes, tt.no)...); !slices.Equal(got, tt.yes) {
			t.Errorf("%q means %q, want %q", tt.query, got, tt.yes)
		}
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"everything about Rosa": true, "all notes on the boat": true, "Rosa": false, "the boat": false, "information about Rosa": true,
	} {
		if got := match.Parse(query).All(); got != want {
			t.Errorf("%q asks for all: %t", query, got)
		}
	}
	for _, query := range []string{"", "the", "everything about", " / "} {
		if !match.Parse(query).Empty() {
			t.Errorf("%q is not empty", query)
		}
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, text, now, want string }{
		{"home town", "Ida lives in Hull and works as a baker.", "Ida moved to York.", "Ida works as a baker. Ida moved to York."},
		{"Ida's job", "Ida lives in Hull and works as a baker.", "Ida retired.", "Ida lives in Hull. Ida retired."},
		{"pet", "Ida owns cats and dogs.", "Ida has a parrot.", "Ida has a parrot."},
		{"my car", "I do not own a car and haven't driven for years.", "I bought a van.", "I bought a van."},
		{"the boiler", "The roof leaks. The boiler is new.\n\nCall Otto first.\n", "The boiler is broken.", "The roof leaks. The boiler is broken.\n\nCall Otto first.\n"},
		{"the key", "The key is with Dr. Miller. The gate is green.", "Eve has it.", "Eve has it. The gate is green."},
		{"Miller", "Dr. Miller has the key. The gate is green.", "Eve has it.", "Eve has it. The gate is green."},
		{"the gate", "We meet on Sun. The gate is green.", "The gate is red.", "We meet on Sun. The gate is red."},
		{"the gate", "It takes 5 ms. The gate is green.", "The gate is red.", "It takes 5 ms. The gate is red."},
		{"my diet", "- I am vegan.\n- I drive a van.\n", "I eat fish.", "- I eat fish.\n- I drive a van.\n"},
	} {
		if got, _ := match.Parse(tt.query).Replace(tt.text, tt.now); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.query, tt.text, got, tt.want)
		}
	}
}

// Whatever is asked, the new text is there, and a name or an identifier that is asked
// for stands in everything that is found.
func TestPropertiesOfAnyDescription(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom(strings.Fields("Otto Rosa Ada lives works in Hull York as and baker the my I not drives 4711-22-90 a@b.org . , ; / - car job everything 北京 Ωmega é \n"))
		sentence := rapid.Map(rapid.SliceOfN(word, 0, 12), func(w []string) string { return strings.Join(w, " ") })
		text, query := sentence.Draw(t, "text"), sentence.Draw(t, "query")
		q := match.Parse(query)
		if got, _ := q.Replace(text, "NEW"); !strings.Contains(got, "NEW") {
			t.Fatalf("the new text is lost: %q", got)
		}
		for _, h := range match.Parse("Rosa " + query).Find([]match.Text{{Key: "k", Text: text}}) {
			if !strings.Contains(query, "/") && !strings.Contains(text, "Rosa") && !strings.Contains(query, "4711-22-90") && !strings.Contains(query, "a@b.org") {
				t.Fatalf("%q was met without its name: %v", text, h)
			}
		}
	})
}
