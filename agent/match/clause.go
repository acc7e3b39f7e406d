package match

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/agent/encode"
)

// A reading is a text with its sentences and what each of them says.
type reading struct {
	text      string
	words     []token
	sentences []sentence
}

type sentence struct {
	piece
	clauses []piece
}

// A piece is a part of a text.
type piece struct {
	text     string
	from, to int // bytes, the mark at its end left out
	words    []token
}

func (p piece) String() string { return p.text[p.from:p.to] }

func read(text string) *reading {
	r := &reading{text: text, words: tokens(text)}
	start := 0
	for i, w := range r.words {
		if i+1 < len(r.words) && !endsSentence(text, w, r.words[i+1]) {
			continue
		}
		gap := text[w.to:]
		if i+1 < len(r.words) {
			gap = text[w.to:r.words[i+1].from]
		}
		end := w.to + len(mark(gap))
		s := sentence{piece: piece{text, r.words[start].from, end, r.words[start : i+1]}}
		s.clauses = clauses(text, s.words)
		r.sentences = append(r.sentences, s)
		start = i + 1
	}
	return r
}

// mark is the punctuation that directly follows a word.
func mark(gap string) string {
	return gap[:len(gap)-len(strings.TrimLeftFunc(gap, func(r rune) bool { return strings.ContainsRune(".!?。！？\"')]”’*_`", r) }))]
}

func endsSentence(text string, w, next token) bool {
	gap := text[w.to:next.from]
	if strings.Contains(gap, "\n\n") || strings.Contains(gap, "\n- ") || strings.Contains(gap, "\n* ") || strings.Contains(gap, "\n#") || strings.ContainsAny(gap, "。！？") {
		return true
	}
	if !strings.ContainsAny(gap, ".!?") {
		return false
	}
	// "J. Smith", "e.g. this"
	short := strings.Contains(gap, ".") && (utf8.RuneCountInString(w.raw) == 1 || strings.Contains(w.raw, "."))
	r, _ := utf8.DecodeRuneInString(next.raw)
	return !short && !unicode.IsLower(r)
}

// clauses cuts a sentence where a second verb begins: "lives in Bern and works at
// Acme" says two things, "owns cats and dogs" one.
func clauses(text string, words []token) []piece {
	var out []piece
	start := 0
	for i := 1; i+2 < len(words); i++ {
		if !joins()[words[i].fold] || !slices.ContainsFunc(words[start:i], isVerb) {
			continue
		}
		if next := words[i+1]; !isVerb(next) && !(i+3 < len(words) && subjects()[next.fold] && slices.ContainsFunc(words[i+2:min(i+5, len(words))], isVerb)) {
			continue
		}
		if slices.ContainsFunc(words[start:i], denies) && slices.ContainsFunc(words[i+1:min(i+3, len(words))], denies) {
			continue // "does not own a car and hasn't driven in years": one denial
		}
		out = append(out, piece{text, words[start].from, words[i-1].to, words[start:i]})
		start = i + 1
	}
	return append(out, piece{text, words[start].from, words[len(words)-1].to, words[start:]})
}

// Replace puts now in the place of what the description means in text: of the clauses
// of a text with several facts those that have to do with it, else the whole text. It
// reports whether anything of the old text is left.
func (q *Query) Replace(text, now string) (string, bool) {
	r := read(text)
	scores, best := q.clauseScores(r)
	var kept strings.Builder
	kept.WriteString(text[:lead(r)])
	at, left, put := lead(r), false, false
	k := 0
	for _, s := range r.sentences {
		mine := scores[k : k+len(s.clauses)]
		k += len(s.clauses)
		rest, whole := s.without(func(i int) bool { return meant(mine, i, best) })
		if whole {
			left = left || rest != ""
			continue
		}
		kept.WriteString(text[at:s.from])
		kept.WriteString(rest)
		at, left = s.to, left || rest != ""
		if rest == "" {
			put = true
			kept.WriteString(now)
		}
	}
	if !left || best <= 0 {
		return now, false
	}
	kept.WriteString(text[at:])
	if put {
		return kept.String(), true
	}
	body := strings.TrimRight(kept.String(), "\n ")
	return body + " " + now + kept.String()[len(body):], true
}

func lead(r *reading) int {
	if len(r.sentences) == 0 {
		return 0
	}
	return r.sentences[0].from
}

// clauseScores says of every clause of a text how much of the description it has.
func (q *Query) clauseScores(r *reading) (scores []float64, best float64) {
	for _, s := range r.sentences {
		for _, c := range s.clauses {
			got := 0.0
			for _, p := range q.any {
				got = max(got, p.inClause(s, c))
			}
			scores, best = append(scores, got), max(best, got)
		}
	}
	return scores, best
}

func (p *part) inClause(s sentence, c piece) float64 {
	got := 0.0
	for _, t := range p.terms {
		if t.weight == weightTerm {
			got += t.match(c.words)
		}
	}
	for _, n := range p.names {
		// Whoever a whole sentence is about tells no clause of it from another.
		if n.in(c.words) && (len(s.clauses) == 1 || !n.at(s.words)) {
			got++
		}
	}
	have := identifiers(c.words)
	for _, id := range p.ids {
		if have[id] {
			got++
		}
	}
	return got
}

// meant reports whether clause i of a sentence is what the description means, or
// cannot stand without it.
func meant(scores []float64, i int, best float64) bool {
	return best > 0 && scores[i] >= 0.5*best && scores[i] > 0
}

// without is the sentence without its dead clauses; whole is set when none is dead.
func (s sentence) without(dead func(i int) bool) (rest string, whole bool) {
	var alive []int
	for i := range s.clauses {
		if !dead(i) {
			alive = append(alive, i)
		}
	}
	switch {
	case len(alive) == len(s.clauses):
		return s.String(), true
	case len(alive) == 0:
		return "", false
	}
	var b strings.Builder
	for n, i := range alive {
		c := s.clauses[i]
		switch {
		case n > 0:
			b.WriteString(" and ")
		case i > 0 && isVerb(c.words[0]):
			b.WriteString(s.subject()) // it borrowed the one of the clause that goes
		}
		b.WriteString(c.String())
	}
	out := b.String()
	r, n := utf8.DecodeRuneInString(out)
	if first, _ := utf8.DecodeRuneInString(s.String()); unicode.IsUpper(first) {
		out = string(unicode.ToUpper(r)) + out[n:]
	}
	return out + s.text[s.clauses[len(s.clauses)-1].to:s.to], false
}

// subject is what stands before the first verb, with the space behind it.
func (s sentence) subject() string {
	i := slices.IndexFunc(s.words, isVerb)
	if i < 1 {
		return ""
	}
	return s.text[s.from:s.words[i].from]
}

func denies(w token) bool {
	switch w.fold {
	case "not", "never", "no", "cannot", "nicht", "nie", "kein", "keine", "ne", "jamais", "nunca":
		return true
	}
	return strings.HasSuffix(w.fold, "n't")
}

func isVerb(w token) bool {
	return verbs()[w.stem] || auxiliaries()[w.fold] || strings.HasSuffix(w.fold, "n't") || len(w.fold) > 4 && strings.HasSuffix(w.fold, "ed") && !w.capital()
}

var joins = sync.OnceValue(func() map[string]bool { return set(`and but while whereas und aber et mais y pero e ma`) })

var subjects = sync.OnceValue(func() map[string]bool { return set(`i he she it we they his her their my our its`) })

var auxiliaries = sync.OnceValue(func() map[string]bool {
	return set(`is are was were am has have had does do did can cannot could will would should must may might
		ran lived wrote drove ate drank went came got made took gave said kept held met left wore rode flew stood meant paid
		spoke taught led grew knew began bought sold built chose spent won lost sang swam slept`)
})

// verbs holds the stems of verbs that say what somebody or something does.
var verbs = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range set(`lives works runs uses plays speaks drives owns studies teaches manages leads reads writes enjoys likes loves hates prefers
		volunteers supports attends belongs collects practices practises drinks eats smokes wears holds keeps serves sells buys trains coaches
		travels commutes rents raises grows cooks bakes sings dances paints builds designs develops maintains organizes organises hosts
		participates competes swims cycles hikes climbs sleeps wakes takes makes gives gets goes comes wants needs knows thinks believes hopes
		follows identifies considers remains stays becomes moves relocates joins leaves starts starts stops quits owes pays earns invests saves
		watches listens carries flies visits plans intends avoids refuses requires contains includes costs expires ends begins sits stands
		reports helps tutors mentors mines edits publishes performs acts represents operates handles processes stores sends receives returns
		connects deploys hosts offers provides features specializes specialises majors graduates suffers takes treats cares fosters breeds
		rides rows sails surfs skis knits sews codes programs freelances consults chairs heads directs advises`) {
		out[encode.Stem(w)] = true
	}
	return out
})
