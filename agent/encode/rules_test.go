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
