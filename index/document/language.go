package document

import (
	"fmt"
	"strings"
	"sync"

	porterstemmer "github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"

	"stet/templates/lexicon"
)

// A Language is the stemmer and the stop words of one language. Stop words are indexed,
// but left out of a query that has other words; question words are among them, since a
// question is about the words that follow them.
type Language struct {
	Name  string
	stem  func(word string) string // of a folded word of three letters or more
	stops map[string]bool
}

// IsStop reports a stop word.
func (l *Language) IsStop(word string) bool { return l.stops[word] }

// Version is what the language adds to the name of the index folder: what is
// stemmed otherwise cannot be searched otherwise.
func (l *Language) Version() string {
	if l.Name == English {
		return ""
	}
	return "-" + l.Name
}

// The languages that are always there: English is the default, None takes
// every word as it stands.
const (
	English = "english"
	None    = "none"
)

// Languages lists the names that Options.Language may have.
func Languages() []string {
	return []string{
		English, "danish", "dutch", "finnish", "french", "german", "italian", "norwegian", "portuguese", "russian",
		"spanish", "swedish", None,
	}
}

// englishLanguage is the default, made once: every query needs it.
var englishLanguage = sync.OnceValue(func() *Language {
	return &Language{Name: English, stem: stemEnglish, stops: lexicon.Words("stop", "en")}
})

// LanguageOf finds a language; "" is English.
func LanguageOf(name string) (*Language, error) {
	none := func(w string) string { return w }
	switch name {
	case "", English:
		return englishLanguage(), nil
	case None:
		return &Language{Name: name, stem: none}, nil
	}
	l, ok := map[string]struct {
		code string // of its section in the lexicon
		stem func(*snowballstem.Env) bool
	}{
		"danish": {"da", danish.Stem}, "dutch": {"nl", dutch.Stem}, "finnish": {"fi", finnish.Stem},
		"french": {"fr", french.Stem}, "german": {"de", german.Stem}, "italian": {"it", italian.Stem},
		"norwegian": {"no", norwegian.Stem}, "portuguese": {"pt", portuguese.Stem}, "russian": {"ru", russian.Stem},
		"spanish": {"es", spanish.Stem}, "swedish": {"sv", swedish.Stem},
	}[name]
	if !ok {
		return nil, fmt.Errorf("search language %q is not known: one of %s", name, strings.Join(Languages(), ", "))
	}
	stops := map[string]bool{}
	for w := range lexicon.Words("stop", l.code) {
		stops[fold(w)] = true
	}
	return &Language{Name: name, stops: stops, stem: func(w string) string {
		env := snowballstem.NewEnv(w)
		l.stem(env)
		return env.Current()
	}}, nil
}

// stemEnglish is Porter's stem. Words with anything but ASCII letters stand
// for themselves: digits are names, and other alphabets are not English.
func stemEnglish(w string) string {
	if !isPlainASCII(w) {
		return w
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(w)))
}
