package guard

import (
	_ "embed"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A check looks at a match beyond what an expression can say. lead is what
// stands before the secret in the match.
type check func(lead, secret string) bool

func checks() map[string]check {
	return map[string]check{
		"random": func(_, s string) bool { return !wordy(s) },
		"key":    key, "password": password, "memorable": memorable,
		"basic": basic, "card": card, "iban": iban, "phrase": phrase,
		"given": func(_, s string) bool { return !placeholder(s) },
		"apart": func(lead, s string) bool { return !placeholder(s) && !userOf(lead, s) },
		"drawn": func(_, s string) bool { return !wordy(s) && !placeholder(s) && !like("aName", s) },
	}
}

//go:embed rules/words.txt
var wordsText string

// commonWords are what stands behind "password:" and is none, and the names of
// methods and programs that look like one.
var commonWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(wordsText) {
		if !strings.HasPrefix(line, "#") {
			for _, w := range strings.Fields(line) {
				words[w] = true
			}
		}
	}
	return words
})

//go:embed rules/shapes.txt
var shapesText string

var shapes = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for line := range strings.Lines(shapesText) {
		if name, expr, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); name != "#" {
			all[name] = regexp.MustCompile(expr)
		}
	}
	return all
})

// like reports whether s has one of the shapes of shapes.txt.
func like(shape, s string) bool { return shapes()[shape].MatchString(s) }

// key reports whether a value that something called a key is one: no words, no
// address, and no hash unless its name says that it is kept secret.
func key(lead, s string) bool {
	strong := like("strongName", lead)
	return !wordy(s) && !placeholder(s) && !words64(s) && !like("aName", s) &&
		(strong || !like("address", s) && entropy(s) > 3.5 && !like("hexOrUUID", s)) &&
		(len(s) != 36 || strings.Count(s, "-") != 4 || like("sureName", lead))
}

// words64 reports whether s is base64 of words, as the keys of examples are.
func words64(s string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && len(b) >= 8 && printable(b) && wordy(string(b))
}

// userOf reports whether s stands as the user before itself in a URL, as on machines of developers.
func userOf(lead, s string) bool {
	user := strings.TrimSuffix(lead, ":")
	return strings.EqualFold(user[strings.LastIndexByte(user, '/')+1:], s)
}

// password reports whether what somebody calls a password is one, and not a
// word of the sentence, a placeholder, an expression of a program or a PIN.
func password(lead, s string) bool {
	if low := strings.ToLower(lead); strings.HasPrefix(low, "pass ") && !strings.Contains(lead, "|") {
		return false // a boarding pass or a mountain pass, not a password
	}
	if at := shapes()["nextLine"].FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	s = strings.Trim(s, "*_.,;:!?)]}>\"'`…。，")
	low := strings.ToLower(s)
	if len(s) < 6 || commonWords()[low] || entropy(s) < 2.2 {
		return false
	}
	letters, digits, others, turns := 0, 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case digit(c):
			digits++
		case lower(c)-'a' < 26:
			letters++
			if i > 0 && c-'A' < 26 && s[i-1]-'a' < 26 {
				turns++
			}
		default:
			others++
		}
	}
	can := false
	switch {
	case letters == 0 && others == 0: // a PIN
	case digits == 0 && strings.Trim(s, "-_.'’&/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
		can = turns > 1 && !wordy(s) // a word, or words
	case !ascii(s):
		can = letters+digits > others && digits > 0
	default:
		can = digits > 0 && letters > 0 && !compound(low) ||
			digits == 0 && others > 0 && letters > 3 && strings.ContainsAny(s, "!@#$%^&*+=?")
	}
	return can && !placeholder(s) && !like("plainForm", s)
}

// memorable is as password, but words with a number between hyphens are one too: people remember passwords so, and
// routers have them printed on. It is for rules that flag, which stops nothing: names of things look alike.
func memorable(lead, s string) bool {
	s = strings.Trim(s, "*_.,;:!?)]}>\"'`…。，")
	return password(lead, s) || len(s) >= 8 && compound(strings.ToLower(s)) && strings.ContainsAny(s, "0123456789") &&
		strings.Trim(s, "0123456789-_./:+") != "" && !placeholder(s)
}

// compound reports a name of several parts each of which is a word or a number,
// such as db-password-2 or step_1.
func compound(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-_./:+", r) })
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p != "" && !wordLike(p) && strings.Trim(p, "0123456789") != "" && !commonWords()[p] && !commonWords()[strings.TrimRight(p, "0123456789")] {
			return false
		}
	}
	return true
}

func placeholder(s string) bool {
	s = shapes()["paint"].ReplaceAllString(s, "")
	s = strings.TrimRight(s, ")],;.")
	low := strings.ToLower(s)
	named := func(word string) bool { return strings.Contains(low, word) }
	return commonWords()[low] || strings.Trim(s, "xX*.-_0•") == "" || like("notGiven", s) ||
		slices.ContainsFunc([]string{"pass", "pw", "secret", "token"}, named) && like("madeUp", s)
}

// basic reports whether a value is what the Basic scheme sends: a name and a
// password.
func basic(_, s string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	_, secret, ok := strings.Cut(string(b), ":")
	return err == nil && ok && printable(b) && !placeholder(secret)
}

// pairs are the letters that often follow a letter in words: each field is one
// letter with its followers.
const pairs = "aabcdefgiklmnprstuvxy babcdefilorsu cabcdefhiklorstuy dabcdefilorsu eabcdefgilmnpqrstvwx fabcdefilorstu " +
	"gaceghilnorsu haeiort iabcdefglmnoprstvz jaeou kaeilns ladeilostuy mabeimopsu nacdefgiklnopstuv oabcdfgiklmnoprstuvw " +
	"paehiloprstu qu racdefgiklmnoprstuvy sacehiklmopstuwy tacefhiloprstuwy uabcefgilmnprst vaeio waehinors xacefptx yeps zaeo"

var follows = sync.OnceValue(func() (is [256][256]bool) {
	for _, f := range strings.Fields(pairs) {
		for i := 1; i < len(f); i++ {
			is[f[0]][f[i]] = true
		}
	}
	return is
})

// spelled counts the letters of s, the pairs of letters in it, and how many of
// those words have.
func spelled(s string) (letters, all, usual int) {
	is, before := follows(), byte(0)
	for i := range len(s) {
		c := lower(s[i])
		if c-'a' >= 26 {
			before = 0
			continue
		}
		if letters++; before != 0 {
			all++
			if is[before][c] {
				usual++
			}
		}
		before = c
	}
	return letters, all, usual
}

// wordy reports whether a text is made of words and numbers, as names and paths
// are, rather than drawn at random.
func wordy(s string) bool {
	size := 0
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) }) {
		if len(part) > 4 || strings.Trim(part, "0123456789") != "" {
			size += len(part)
		}
	}
	letters, all, usual := spelled(s)
	return letters*10 >= size*6 && usual*4 >= all*3
}

// wordLike reports whether s can be one word.
func wordLike(s string) bool {
	letters, all, usual := spelled(s)
	return letters == len(s) && usual*10 >= all*7 && (s[1:] == strings.ToLower(s[1:]) || s == strings.ToUpper(s))
}

// card is the check of the digits of payment cards.
func card(_, s string) bool {
	sum, n := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if !digit(s[i]) {
			continue
		}
		d := int(s[i] - '0')
		if n++; n%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return n >= 13 && n <= 19 && sum%10 == 0
}

// iban is the check of the digits of international account numbers.
func iban(_, s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	rest := 0
	for _, c := range s[4:] + s[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// phrase reports whether words are a wallet's, and no sentence.
func phrase(_, s string) bool {
	switch n := len(strings.FieldsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })); n {
	case 12, 15, 18, 21, 24, 25:
		return !like("sentence", s)
	}
	return false
}
