package merge

import (
	"strings"
	"testing"
)

// A line of a model's own has words of a skill, denies what that denies and nothing else, and changes no number.
func TestWordsOfAModelsOwn(t *testing.T) {
	t.Parallel()
	const skill = "Deploy the site's docs, and don't restart the API. Use for builds above 2.5 GB or 10:30 h, " +
		"up to 5% of them, unless the disk is full, e.g. on web1."
	for text, want := range map[string]string{
		"deploys the docs of the site":      "",
		"deploying a site’s doc":            "",
		"do not restart the API":            "",
		"don’t restart the API":             "",
		"restart the API":                   "restart, api",
		"don't deploy the site":             "not deploy",
		"unless the disk is full":           "",
		"the disk is full":                  "disk",
		"builds above 25 GB":                "25",
		"builds above 2.5 GB":               "",
		"builds above 2,5 MB":               "2,5, mb",
		"5% of builds":                      "",
		"5 of builds":                       "5",
		"10:30 h":                           "",
		"30:10 h":                           "30:10",
		"web1":                              "",
		"web2":                              "web2",
		"deploy with-out docs":              "with out",
		"never deploy the site":             "never deploy",
		"deploy the site before the builds": "before builds",
	} {
		got := strings.Join(foreign(text, vocabulary{}.add(skill)), ", ")
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
