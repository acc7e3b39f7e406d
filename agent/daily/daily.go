// Package daily says which note is the one of a day, and with what it begins: from the settings of Obsidian's daily
// notes, whose dates are written in the tokens of Moment.js. It reads bytes and returns text, and knows no vault: where
// a path leads is for its caller to check.
package daily

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// File is where Obsidian keeps the settings, seen from the top of a vault.
const File = ".obsidian/daily-notes.json"

// maxSettings bounds the file, in bytes. Obsidian writes a hundred.
const maxSettings = 64 << 10

// Settings are what stet takes from the file. What is "" was not set.
type Settings struct {
	Folder   string `json:"folder"`
	Format   string `json:"format"`   // of the name, with slashes for folders; "" is YYYY-MM-DD
	Template string `json:"template"` // a path, with or without ".md"
}

// Read reads the file. It fails where that is no JSON, or larger than any settings are.
func Read(data []byte) (s Settings, err error) {
	if len(data) > maxSettings {
		return s, fmt.Errorf("too large for settings (%d bytes, at most %d)", len(data), maxSettings)
	}
	return s, json.Unmarshal(data, &s)
}

// Path is where the note of a day is, seen from the top of the vault, as the settings say: untrusted, and nothing is
// made clean. It fails where the format has a token that is not known.
func (s Settings) Path(day time.Time) (string, error) {
	name, err := Format(cmp.Or(strings.TrimSpace(s.Format), "YYYY-MM-DD"), day)
	if folder := strings.Trim(strings.TrimSpace(s.Folder), "/"); folder != "" { // "/Journal/" is Journal
		name = folder + "/" + name
	}
	return name + ".md", err
}

// variable is a place in a template that is filled in.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\{\{ *(?:(title)|(date|time) *(?::([^{}\n]+))?) *\}\}`)
})

// Fill fills in {{title}}, {{date}} and {{time}}, the last two also with a format as in {{date:dddd}}, and leaves every
// other byte alone. It fails where a format has a token that is not known.
func Fill(template []byte, title string, now time.Time) (filled []byte, err error) {
	filled = variable().ReplaceAllFunc(template, func(found []byte) []byte {
		part := variable().FindSubmatch(found)
		if len(part[1]) > 0 {
			return []byte(title)
		}
		usual := "YYYY-MM-DD"
		if strings.EqualFold(string(part[2]), "time") {
			usual = "HH:mm"
		}
		text, ferr := Format(cmp.Or(strings.TrimSpace(string(part[3])), usual), now)
		err = cmp.Or(err, ferr)
		return []byte(text)
	})
	return filled, err
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Format writes a time in a format of Moment.js, in English. What stands in brackets is taken as it is, as is all that
// is no Latin letter. It fails at the first token that is not known, and names it.
func Format(format string, t time.Time) (string, error) {
	var out strings.Builder
	for rest := format; rest != ""; {
		first := rest[:1]
		n := len(rest) - len(strings.TrimLeft(rest, first))
		switch {
		case first == "[":
			text, after, closed := strings.Cut(rest[1:], "]")
			if !closed {
				return "", fmt.Errorf("the date format %q has a [ without a ]", format)
			}
			out.WriteString(text)
			rest = after
			continue
		case strings.Trim(first, letters) == first:
			out.WriteString(first)
			rest = rest[1:]
			continue
		case strings.HasPrefix(rest[n:], "o"):
			n++ // an ordinal
		}
		text := token(rest[:n], t)
		if text == "" {
			return "", fmt.Errorf("the date format %q has the unknown token %q", format, rest[:n])
		}
		out.WriteString(text)
		rest = rest[n:]
	}
	return out.String(), nil
}

// token writes the part of a time that a token stands for, "" for one that is not known.
func token(name string, t time.Time) string {
	year, week := t.ISOWeek()
	saturday := t.AddDate(0, 0, int(time.Saturday-t.Weekday())) // whose year is that of a week from Sunday on
	american := (saturday.YearDay()-1)/7 + 1
	switch name {
	case "YYYY", "YY", "MMMM", "MMM", "MM", "M", "DD", "D", "dddd", "ddd", "HH", "mm", "ss":
		layouts := map[string]string{"YYYY": "2006", "YY": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1",
			"DD": "02", "D": "2", "dddd": "Monday", "ddd": "Mon", "HH": "15", "mm": "04", "ss": "05"}
		return t.Format(layouts[name])
	case "Do":
		return ordinal(t.Day())
	case "GGGG":
		return fmt.Sprintf("%04d", year)
	case "WW":
		return fmt.Sprintf("%02d", week)
	case "gggg":
		return fmt.Sprintf("%04d", saturday.Year())
	case "ww":
		return fmt.Sprintf("%02d", american)
	case "Q":
		return strconv.Itoa((int(t.Month()) + 2) / 3)
	}
	return ""
}

func ordinal(n int) string {
	end := "th"
	if i := n % 10; i > 0 && i < 4 && n/10 != 1 {
		end = []string{"st", "nd", "rd"}[i-1]
	}
	return strconv.Itoa(n) + end
}
