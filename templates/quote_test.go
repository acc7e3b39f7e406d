package templates_test

import (
	"testing"

	"stet/templates"
)

func TestQuoteOfNamesThatWouldMislead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{templates.Quote("-odd.md"), "./-odd.md"}, {templates.Quote("-o'd d.md"), `'./-o'\''d d.md'`},
		{templates.Quote("a/-odd.md"), "a/-odd.md"}, {templates.Quote("stet", "-C", "x"), "stet -C x"},
		{templates.Quote("-0.5"), "-0.5"}, {templates.Quote("a\u202eb.md"), `$'a\342\200\256b.md'`},
		{templates.Quote("it's\\ \u00a0\n\xff"), `$'it\'s\\ \302\240\012\377'`},
		{templates.Quote("größe ☕"), "'größe ☕'"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
