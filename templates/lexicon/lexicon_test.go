package lexicon_test

import (
	"testing"

	"stet/templates/lexicon"
)

func TestWordsOfALanguage(t *testing.T) {
	t.Parallel()
	if en := lexicon.Words("stop", "en"); !en["the"] || en["der"] {
		t.Error("the English stop words hold \"the\", and \"der\" is German")
	}
	if all := lexicon.Words("stop"); !all["the"] || !all["der"] {
		t.Error("without a language every section is read")
	}
	if got := lexicon.Languages("stop"); len(got) < 10 || got[0] != "en" {
		t.Errorf("languages of the stop words: %v", got)
	}
}
