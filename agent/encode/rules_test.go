package encode_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"stet/agent/encode"
)

func TestRulesListsEveryRule(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, m := range regexp.MustCompile(`(?m)^\trule\w+ += "([^"]+)"$`).FindAllSubmatch(code, -1) {
		written = append(written, string(m[1]))
	}
	if got := encode.Rules(); len(got) < 8 || !slices.Equal(got, written) {
		t.Errorf("listed %q, written down %q", got, written)
	}
}

// What is "no longer" so of one number leaves what is stored of another one.
func TestTheEndOfOneNumberIsNotThatOfAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, new string
		flagged  bool
	}{
		{"The staging API runs on port 5434.", "The API no longer runs on 5433.", false},
		{"The database runs on 5434.", "The database no longer runs on 5433.", false},
		{"The backup starts at 03:00.", "The backup no longer starts at 02:00.", false},
		{"The office is open until 18:00.", "The office is no longer open until 20:00.", false},
		{"The database runs on 5433.", "The database no longer runs on 5433.", true},
		{"The API runs on port 5433.", "The API no longer runs on port 5433, it runs on 5435.", true},
	} {
		p := encode.Decide(encode.Memory{ID: "n", Text: c.new}, []encode.Memory{{ID: "o", Text: c.old}}, encode.Corpus{})
		if (len(p.Verdicts) > 0) != c.flagged {
			t.Errorf("%q beside %q: %+v", c.new, c.old, p.Verdicts)
		}
	}
}
