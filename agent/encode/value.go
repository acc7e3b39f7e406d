package encode

import (
	"regexp"
	"strings"
	"sync"
)

var numeric = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-−<>±≤≥#]?)[$€£¥]?(\d{1,3}(?:[,_']\d{3})+|\d+)(\.\d+)?(k|m|bn|%|[$€£¥]|ms|s|min|h|kb|mb|gb|tb|kg|g|km|cm|mm|am|pm|st|nd|rd|th)?$`)
})

// number is the canonical form of a number with or without a unit, "" for another
// word: "4k" and "4,000" are one number. Every digit counts: "3.1" is not "3.10", and "042"
// is not "42".
func number(fold string) string {
	if !hasDigit(fold) {
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
	}, m[2])
	digits += m[3]
	unit := m[4]
	switch unit {
	case "k":
		if m[3] == "" && digits[0] != '0' {
			digits, unit = digits+"000", ""
		}
	case "st", "nd", "rd", "th":
		unit = ""
	}
	for _, sign := range []string{"$", "€", "£", "¥"} {
		if strings.Contains(fold, sign) {
			unit = sign
		}
	}
	return strings.Trim(m[1], "#") + digits + unit
}
