package encode_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
)

// sentence draws what people write: statements of known shapes, changes, denials,
// plans, several at once, and now and then no language at all.
func sentence() *rapid.Generator[string] {
	who := rapid.SampledFrom([]string{"We", "I", "Mara", "The project", "Production", "Our team", "Wir", "Nous", "The staging server"})
	thing := rapid.SampledFrom([]string{"PostgreSQL", "MySQL", "npm", "pnpm", "vim", "Jenkins", "Redis", "tea", "Bern", "Lisbon", "port 8080", "March 3", "4k", "the lab", "tabs"})
	shape := rapid.SampledFrom([]string{
		"W uses T.", "W use T", "W switched to T.", "W switched from T to U.", "W no longer uses T.", "W never uses T.", "W lives in T and works at U.", "W moved to T.",
		"W might use T.", "The deadline is T.", "My city is T; my editor is U.", "W loves T.", "W hates T.", "Does W use T?", "W replaced T with U. It is fast.", "W benutzt T nicht mehr.", "- T\n- U\n",
	})
	known := rapid.Custom(func(t *rapid.T) string {
		s := shape.Draw(t, "shape")
		return strings.NewReplacer("W", who.Draw(t, "who"), "T", thing.Draw(t, "t"), "U", thing.Draw(t, "u")).Replace(s)
	})
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(known, known, known, rapid.String()), 1, 3).Draw(t, "parts")
		return strings.Join(parts, " ")
	})
}

func memories(t *rapid.T) []encode.Memory {
	texts := rapid.SliceOfN(sentence(), 0, 6).Draw(t, "stored")
	var out []encode.Memory
	for i, s := range texts {
		out = append(out, encode.Memory{ID: strconv.Itoa(i), Text: s, Authority: encode.Authority(rapid.IntRange(0, 3).Draw(t, "authority"))})
	}
	return out
}

func TestNoVerdictBreaksThePromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := memories(t)
		m := encode.Memory{ID: "new", Text: sentence().Draw(t, "new"), Authority: encode.Authority(rapid.IntRange(0, 3).Draw(t, "new authority"))}
		plan := encode.Decide(m, stored, encode.Corpus{})
		if plan.Duplicate != nil && len(plan.Verdicts) > 0 {
			t.Fatalf("a duplicate has verdicts: %+v", plan)
		}
		for i, v := range plan.Verdicts {
			n, err := strconv.Atoi(v.Old)
			if err != nil || i > 0 && plan.Verdicts[i-1].Old >= v.Old {
				t.Fatalf("verdicts are not one for each memory: %+v", plan.Verdicts)
			}
			old := stored[n]
			if v.Kind == encode.Supersede && (old.Authority > m.Authority || v.Confidence < encode.Sure) {
				t.Fatalf("%+v supersedes %+v by %s with %.2f", m, old, v.Rule, v.Confidence)
			}
			if v.Kind == encode.Conflict && v.Confidence >= encode.Sure {
				t.Fatalf("a sure conflict: %+v", v)
			}
			for _, w := range strings.Fields(v.Rest) {
				if !strings.Contains(strings.ToLower(old.Text), strings.Trim(strings.ToLower(w), ".,;!?")) {
					t.Fatalf("%q is left of %q", v.Rest, old.Text)
				}
			}
		}
	})
}

func TestTheOrderOfTheStoredDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := memories(t)
		m := encode.Memory{ID: "new", Text: sentence().Draw(t, "new"), Authority: encode.Statement}
		if a, b := encode.Decide(m, stored, encode.Corpus{}), encode.Decide(m, rapid.Permutation(stored).Draw(t, "order"), encode.Corpus{}); !reflect.DeepEqual(a, b) {
			t.Fatalf("got %+v, in another order %+v", a, b)
		}
	})
}

func TestWhatIsStoredTwiceIsADuplicate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := memories(t)
		if len(stored) == 0 {
			return
		}
		again := rapid.SampledFrom(stored).Draw(t, "again")
		if !strings.ContainsAny(strings.ToLower(again.Text), "abcdefghijklmnopqrstuvwxyz") {
			return // signs alone say nothing
		}
		again.ID = "new"
		if plan := encode.Decide(again, stored, encode.Corpus{}); plan.Duplicate == nil || plan.Duplicate.Confidence < encode.Sure {
			t.Fatalf("%q was stored again: %+v", again.Text, plan)
		}
	})
}

// However a statement is said again, with another value it is another one.
func TestAnotherValueIsNeverADuplicate(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(
		rapid.StringMatching(`[1-9][0-9]{0,4}`), rapid.StringMatching(`[0-9]\.[1-9]\.[0-9]`), rapid.StringMatching(`-?[1-9]0?%`), rapid.StringMatching(`[a-z]{2,5}@[a-z]{2,4}\.example`),
		rapid.StringMatching(`/[a-z]{2,4}/[a-z]{2,4}`), rapid.StringMatching(`[A-Z][a-z]{3,7}`), rapid.SampledFrom([]string{"March 3", "3 April", "Tuesday", "Thursday", "20k", "2M", "not 5", "€5", "$5"}))
	shapes := rapid.SampledFrom([]pair{
		{"The answer is X.", "the answer is Y"}, {"On Mondays the meter in the cellar shows X.", "The meter in the cellar shows Y on Mondays."},
		{"We keep the spare key at X and the tools in the shed.", "We keep the spare key at Y and the tools in the shed."},
		{"# Note\n\n- X is what the long and detailed sheet on the old red wall says about the matter in hand.", "Y is what the long and detailed sheet on the old red wall says about the matter in hand"},
		{"Der Wert ist X.", "der Wert ist Y!"}, {"值是 X。", "值是 Y"},
	})
	canonical := strings.NewReplacer("20k", "20000", "2M", "2000000")
	rapid.Check(t, func(t *rapid.T) {
		x, y := value.Draw(t, "x"), value.Draw(t, "y")
		if strings.EqualFold(canonical.Replace(x), canonical.Replace(y)) {
			return
		}
		s := shapes.Draw(t, "shape")
		got, v := verdict(pair{strings.ReplaceAll(s.old, "X", x), strings.ReplaceAll(s.now, "Y", y)})
		if got == encode.Duplicate {
			t.Fatalf("%q and %q are the same by %s", x, y, v.Rule)
		}
	})
}

// Whatever is said of one named subject, nothing stored of another one goes.
func TestAnotherSubjectChangesNothing(t *testing.T) {
	t.Parallel()
	shape := rapid.SampledFrom([]string{
		"W lives in T.", "W works at T.", "W uses T.", "W moved to T.", "W moved from T to U.", "W left T.", "W no longer uses T.",
		"W lives in T now.", "W switched from T to U.", "W's city is T.", "W's city is T now, and W's editor is U.",
	})
	thing := rapid.SampledFrom([]string{"PostgreSQL", "MySQL", "Bern", "Lisbon", "Globex", "Acme"})
	rapid.Check(t, func(t *rapid.T) {
		say := func(who, of string) string {
			s := shape.Draw(t, of)
			return strings.NewReplacer("W", who, "T", thing.Draw(t, of+" t"), "U", thing.Draw(t, of+" u")).Replace(s)
		}
		old, text := say("Mara", "old"), say("Jonas", "new")
		if kind, v := verdict(pair{old, text}); kind == encode.Supersede || kind == encode.Duplicate {
			t.Fatalf("%q, then %q: %s by %s", old, text, kind, v.Rule)
		}
	})
}

// A sentence in front of a text or behind it never makes a clause go that the text alone
// leaves, but where the sentence alone does.
func TestAnotherSentenceRemovesNothingMore(t *testing.T) {
	t.Parallel()
	beside := rapid.SampledFrom([]string{"The lift is slow.", "Olga paints boats.", "Lunch is at noon.", "It rained.", "He was there."})
	gone := func(text, old string) int {
		n := 0
		for _, v := range encode.Decide(said(text), stored(old), encode.Corpus{}).Verdicts {
			n += len(v.Gone)
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		old, text, extra := sentence().Draw(t, "old"), sentence().Draw(t, "new"), beside.Draw(t, "beside")
		alone := gone(text, old)
		for _, more := range []string{extra + " " + text, strings.TrimSpace(text) + "\n\n" + extra} {
			if n := gone(more, old); n > alone {
				t.Fatalf("%q removes %d clauses of %q, %q removes %d", more, n, old, text, alone)
			}
		}
	})
}
