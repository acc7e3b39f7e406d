package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What a check sum or its very shape proves needs no word that names it: numbers of cards
// and accounts, and the words of a wallet on a line of their own.

var provenForms = sync.OnceValue(func() (out struct{ card, issuer, other, iban *regexp.Regexp }) {
	out.card = regexp.MustCompile(`\d{4}([ -])\d{4}[ -]\d{4}[ -]\d{4}|3[47]\d\d[ -]\d{6}[ -]\d{5}|\d{15,16}`)
	out.issuer = regexp.MustCompile(`^(?:4|5[1-5]|2[2-7]|3[47]|35(?:2[89]|[3-8])|6011|65|62)`)
	out.other = regexp.MustCompile(`(?i)(?:order|invoice|tracking|ticket|parcel|ref|serial|imei|id|` +
		`no|nr|number|time|stamp|nonce|seed)[^\n\d]{0,12}$`)
	out.iban = regexp.MustCompile(`[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?`)
	return out
})

// ibanLengths are the countries of international account numbers with how long each is.
const ibanLengths = "" +
	"AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 " +
	"FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 " +
	"LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 " +
	"SA24 SE24 SI19 SK24 SM27 TN24 TR26 UA29 VG24 XK20"

// proven lists what needs no keyword, in order.
func proven(text string) (found []match) {
	forms := provenForms()
	add := func(id string, start, end int) {
		found = append(found, match{&rule{id: id}, start, end, text[start:end], text[max(0, start-excerptWidth):start]})
	}
	for at, end := 0, 0; at < len(text); at = end + 1 {
		end = lineEnd(text, at)
		numbers, account := mayProve(text[at:end])
		if numbers {
			for _, in := range forms.card.FindAllStringSubmatchIndex(text[at:end], -1) {
				from, to := at+in[0], at+in[1]
				s, before := text[from:to], text[max(0, from-30):from]
				if bare(text, from, to) && forms.issuer.MatchString(s) && card("", s) &&
					(in[2] >= 0 || !forms.other.MatchString(before)) {
					add("payment-card", from, to)
				}
			}
		}
		if account {
			for _, in := range forms.iban.FindAllStringIndex(text[at:end], -1) {
				from, to := at+in[0], accountEnd(text, at+in[0], at+in[1])
				if to > 0 && bare(text, from, to) && iban("", text[from:to]) {
					add("iban", from, to)
				}
			}
		}
		if line := strings.TrimLeft(text[at:end], " \t>*-`\""); wallet(line) {
			add("recovery-phrase", end-len(line), end)
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.start - b.start })
	return found
}

// mayProve reports whether a line may hold the number of a card, and that of an account: its expressions take 100 times
// as long to find that most do not.
func mayProve(line string) (numbers, account bool) {
	run, runs, digits := 0, 0, 0
	for i := 0; i < len(line); i++ {
		if c := line[i]; !digit(c) {
			run = 0
			continue
		}
		if digits++; run == 1 && i > 2 && capital(line[i-2]) && capital(line[i-3]) {
			account = true
		}
		if run++; run == 4 {
			runs++
		}
		numbers = numbers || run >= 15 || runs > 2 && digits >= 15
	}
	return numbers, account
}

func capital(c byte) bool { return c >= 'A' && c <= 'Z' }

// accountEnd is where the number of an account ends that begins a match, as long as its country has them; 0 for none.
func accountEnd(text string, from, end int) (to int) {
	country := strings.Index(ibanLengths, text[from:from+2])
	if country%5 != 0 {
		return 0
	}
	size := int(ibanLengths[country+2]-'0')*10 + int(ibanLengths[country+3]-'0')
	for to = from; size > 0 && to < end; to++ {
		if text[to] != ' ' {
			size--
		}
	}
	if size > 0 {
		return 0
	}
	return to
}

// bare reports whether a number is not a part of a longer one, a name or a path.
func bare(text string, start, end int) bool {
	part := func(c byte) bool { return wordByte(c) || strings.IndexByte("_-./", c) >= 0 }
	if start > 0 && part(text[start-1]) {
		return false
	}
	return end >= len(text) || !wordByte(text[end]) && text[end] != '_' && text[end] != '-' &&
		(text[end] != '.' || end+1 == len(text) || !digit(text[end+1]))
}

// wallet reports whether a line is nothing but the words of a wallet: as many as one has,
// short ones, none twice, and none that sentences are made with.
func wallet(line string) bool {
	const apart = " \t,`\".0123456789)" // what words are parted by
	if len(line) > 240 {
		return false
	}
	for i := range len(line) { // most lines have another byte soon
		if line[i]-'a' >= 26 && strings.IndexByte(apart, line[i]) < 0 {
			return false
		}
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(apart, r) })
	if n := len(words); n != 12 && n != 15 && n != 18 && n != 21 && n != 24 || like("sentence", line) {
		return false
	}
	seen := map[string]bool{}
	for _, w := range words {
		if len(w) < 3 || len(w) > 8 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || seen[w] ||
			like("smallWord", w) {
			return false
		}
		seen[w] = true
	}
	return true
}
