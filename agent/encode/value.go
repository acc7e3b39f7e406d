package encode

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// values are what of some words cannot be exchanged, in a form in which equal ones
// are equal: "4k" and "4000", "March 3" and "3 March".
func values(words []word) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if d, n := date(words[i:]); n > 0 {
			out = append(out, d)
			i += n - 1
			continue
		}
		if num := number(w.fold); num != "" {
			out = append(out, num)
			continue
		}
		if w.value() {
			out = append(out, strings.TrimSuffix(w.fold, "/"))
		}
	}
	return out
}

var numeric = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[$€£¥]?(\d{1,3}(?:[,_']\d{3})+|\d+)(\.\d+)?(k|m|bn|%|[$€£¥]|ms|s|min|h|kb|mb|gb|tb|kg|g|km|cm|mm|am|pm|st|nd|rd|th)?$`)
})

// number is the canonical form of a number with or without a unit, "" for another
// word.
func number(fold string) string {
	if n, ok := numerals()[fold]; ok {
		return n
	}
	if fold == "" || !strings.ContainsAny(fold[:1], "0123456789$€£¥") && !strings.HasPrefix(fold, "€") {
		return ""
	}
	m := numeric().FindStringSubmatch(fold)
	if m == nil {
		return ""
	}
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",_'", r) {
			return -1
		}
		return r
	}, m[1])
	f, err := strconv.ParseFloat(digits+m[2], 64)
	if err != nil {
		return ""
	}
	unit := m[3]
	switch unit {
	case "k":
		f, unit = f*1e3, ""
	case "m":
		f, unit = f*1e6, ""
	case "bn":
		f, unit = f*1e9, ""
	case "st", "nd", "rd", "th":
		unit = ""
	}
	for _, sign := range []string{"$", "€", "£", "¥"} {
		if strings.HasPrefix(fold, sign) {
			unit = sign
		}
	}
	return strconv.FormatFloat(f, 'f', -1, 64) + unit
}

var numerals = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, list := range []string{
		"zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
		"null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
		"zéro _ deux trois quatre cinq six sept huit neuf dix onze douze",
		"cero _ dos tres cuatro cinco seis siete ocho nueve diez once doce",
	} {
		for i, w := range strings.Fields(list) {
			if w != "_" {
				out[w] = strconv.Itoa(i)
			}
		}
	}
	for i, w := range strings.Fields("thirty forty fifty sixty seventy eighty ninety") {
		out[w] = strconv.Itoa(30 + 10*i)
	}
	for i, r := range []rune("一二三四五六七八九十") {
		out[string(r)] = strconv.Itoa(i + 1)
	}
	return out
})

var months = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for _, list := range []string{
		"january february march april may june july august september october november december",
		"jan feb mar apr _ jun jul aug sep oct nov dec",
		"januar februar märz _ mai juni juli _ _ oktober _ dezember",
		"janvier février mars avril _ juin juillet août septembre octobre novembre décembre",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	} {
		for i, w := range strings.Fields(list) {
			if w != "_" {
				out[w] = i + 1
			}
		}
	}
	return out
})

// date reads a day of a month at the start of words, with how many words it is.
func date(words []word) (string, int) {
	day := func(i int) string {
		if i >= len(words) {
			return ""
		}
		n := number(strings.TrimSuffix(words[i].fold, "."))
		if d, err := strconv.Atoi(n); err != nil || d < 1 || d > 31 {
			return ""
		}
		return n
	}
	month := func(i int) int {
		if i >= len(words) || !words[i].value() {
			if i < len(words) && !isStop(words[i].fold) && words[i].fold != "may" && words[i].fold != "mar" {
				return months()[words[i].fold]
			}
			return 0
		}
		return months()[words[i].fold]
	}
	if m := month(0); m > 0 && day(1) != "" {
		return "date:" + strconv.Itoa(m) + "-" + day(1), 2
	}
	if d := day(0); d != "" {
		at := 1
		if at < len(words) && slices.Contains([]string{"of", "de", "di"}, words[at].fold) {
			at++
		}
		if m := month(at); m > 0 {
			return "date:" + strconv.Itoa(m) + "-" + d, at + 1
		}
	}
	return "", 0
}

var weekdays = sync.OnceValue(func() map[string]bool {
	return set(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
		montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche
		lunes martes miércoles jueves viernes sábado domingo`)
})
