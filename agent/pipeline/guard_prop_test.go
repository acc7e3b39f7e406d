package pipeline_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
	"stet/agent/pipeline"
)

// saying draws something that is said of somebody.
func saying(r *rapid.T, who, label string) string {
	city := rapid.SampledFrom([]string{"Bern", "Basel", "Prague", "Köln"}).Draw(r, label+" city")
	return rapid.SampledFrom([]string{
		who + " lives in " + city + ".", who + " moved to " + city + ".", who + " now lives in " + city + " and pays %d euros.",
		who + "'s phone number is %d.", who + "'s phone number is now %d.", who + " deploys from main, but not on Fridays.",
		who + " no longer works in room %d.", who + " works in room %d. The key hangs by the door.", who + " never eats meat.",
		who + " left the team in May.", who + " leads team %d except in summer.", who + " quit smoking, and likes tea.",
	}).Draw(r, label)
}

func filled(text string, n int) string {
	if strings.Contains(text, "%d") {
		return fmt.Sprintf(text, n)
	}
	return text
}

// wanted draws an action of a model that may say anything.
func wanted(r *rapid.T, note, stored string) pipeline.Action {
	part := func(text, label string) string {
		words := strings.Fields(text)
		from := rapid.IntRange(0, len(words)-1).Draw(r, label+" from")
		return strings.Join(words[from:rapid.IntRange(from+1, len(words)).Draw(r, label+" to")], " ")
	}
	text := []string{note, stored, stored + " " + note, part(note, "text"), strings.TrimSuffix(stored, ".") + " and " + note, rapid.String().Draw(r, "any")}
	return pipeline.Action{
		Kind:       rapid.SampledFrom([]pipeline.Kind{pipeline.Supersede, pipeline.Correct, pipeline.Update, pipeline.Duplicate}).Draw(r, "kind"),
		Quote:      rapid.SampledFrom([]string{"", stored, note, part(stored, "quote"), part(stored, "quote 2")}).Draw(r, "quoted"),
		Text:       rapid.SampledFrom(text).Draw(r, "text"),
		Confidence: rapid.SampledFrom([]float64{0.5, 0.9, 1}).Draw(r, "confidence"),
	}
}

func draw(r *rapid.T, by, of string) (note, stored string) {
	stored = filled(saying(r, of, "stored"), rapid.IntRange(1, 99).Draw(r, "n"))
	if rapid.Bool().Draw(r, "two") {
		stored += " " + filled(saying(r, of, "more"), rapid.IntRange(1, 99).Draw(r, "m"))
	}
	return filled(saying(r, by, "note"), rapid.IntRange(100, 199).Draw(r, "k")), stored
}

// Whatever a model wants: what remains of a memory is clauses of it, whole and in their
// order, each number and each "not" with them, and what goes was quoted.
func TestWhatRemainsIsWhatWasSaid(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(`\d+|\b(?:not|no|never|but|except)\b`)
	rapid.Check(t, func(r *rapid.T) {
		note, stored := draw(r, "Ann", "Ann")
		a := wanted(r, note, stored)
		got := ruling(pipeline.Note{Text: note}, pipeline.Stored{Text: stored}, a)
		switch got.Kind {
		case pipeline.Supersede:
			if a.Confidence < encode.Sure {
				r.Fatalf("%+v at confidence %v", got, a.Confidence)
			}
			var left []string
			for _, c := range encode.Clauses(stored) {
				said := stored[c.From:c.To]
				if slices.Contains(got.Gone, said) {
					continue
				}
				if !strings.Contains(got.Text, said[1:]) {
					r.Fatalf("%q loses %q: %+v", stored, said, got)
				}
				left = append(left, marks.FindAllString(said, -1)...)
			}
			if have := marks.FindAllString(got.Text, -1); !slices.Equal(have, left) {
				r.Fatalf("%q keeps %q of %q: %+v", stored, have, left, got)
			}
		case pipeline.Update:
			for _, n := range marks.FindAllString(got.Text, -1) {
				if !strings.Contains(stored+note, n) {
					r.Fatalf("%q and %q became %q", stored, note, got.Text)
				}
			}
		case pipeline.Duplicate:
			for _, n := range marks.FindAllString(note, -1) {
				if !strings.Contains(stored, n) {
					r.Fatalf("%q is swallowed by %q", note, stored)
				}
			}
		}
	})
}

// A note about one person takes nothing from what is said of another one.
func TestOtherPeopleAreLeftAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		note, stored := draw(r, "Ann", "Bob")
		a := wanted(r, note, stored)
		got := ruling(pipeline.Note{Text: note}, pipeline.Stored{Text: stored}, a)
		if got.Kind == pipeline.Supersede || got.Kind == pipeline.Duplicate || got.Kind == pipeline.Update && a.Kind == pipeline.Correct {
			r.Fatalf("%q, %q: %+v makes %+v", note, stored, a, got)
		}
	})
}
