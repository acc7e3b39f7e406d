package encode

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A change is what a clause says about something that was otherwise before.
type change struct {
	from, to []word // what was and what is; either may be missing
	what     []word // what changed: "the standup" in "moved the standup to Thursday"
	ended    bool   // from is over, and nothing takes its place
}

var changeVerbs = sync.OnceValue(func() map[string]bool {
	return set(`switched switch moved move migrated migrate changed change converted upgraded downgraded transitioned relocated rescheduled postponed shifted pushed bumped raised lowered increased decreased reduced
		renamed replaced swapped went
		gewechselt umgestiegen migriert umgezogen gezogen verschoben umbenannt ersetzt geändert wechselten
		passé passés passée migré basculé déménagé déplacé remplacé changé
		cambiamos cambiado cambió migramos migrado pasamos pasado movió mudó mudé trasladado reemplazado cambié
		passati passato migrato spostato trasferito cambiato sostituito`)
})

var fromWords = sync.OnceValue(func() map[string]bool { return set(`from von vom de desde da dal`) })
var toWords = sync.OnceValue(func() map[string]bool { return set(`to auf zu nach à vers a hacia into with by durch par por con`) })

// change is the change that a clause tells of, nil for none. It is read once: a new
// clause is compared with those of many stored texts.
func (c *clause) change() *change {
	if !c.changeRead {
		c.changeRead, c.changed = true, c.readChange()
	}
	return c.changed
}

func (c *clause) readChange() *change {
	if ch := c.endedChange(); ch != nil {
		return ch
	}
	if ch := c.insteadOf(); ch != nil {
		return ch
	}
	if ch := c.unspacedChange(); ch != nil {
		return ch
	}
	k := slices.IndexFunc(c.words, func(w word) bool { return changeVerbs()[w.fold] })
	if k < 0 {
		return nil
	}
	f, t := -1, -1
	for i := leadIn(c.words); i < len(c.words)-1; i++ {
		w := c.words[i].fold
		switch {
		case f < 0 && fromWords()[w] && !(i < k && len(c.subject) > 0 && c.words[i].from < c.subject[len(c.subject)-1].to):
			f = i
		case t < 0 && toWords()[w] && (i > k || k == len(c.words)-1) && !isVerb(c.words[i+1]):
			t = i
		}
	}
	if t < 0 || c.words[k].fold == "went" && f < 0 {
		return nil
	}
	ch := &change{to: c.upTo(t+1, f)}
	if f >= 0 {
		ch.from = c.upTo(f+1, t)
	}
	if stop := least(f, t); k < stop {
		ch.what = c.words[k+1 : stop]
	}
	c.objects(k, ch)
	return ch
}

// objects sorts out what "replaced", "renamed" and the passive are about.
func (c *clause) objects(k int, ch *change) {
	passive := k > 0 && slices.ContainsFunc(c.words[:k], func(w word) bool {
		return slices.Contains([]string{"was", "were", "is", "been", "got", "are", "wurde", "ist", "été", "ha", "est", "fue", "è", "sido"}, w.fold)
	})
	switch c.words[k].fold {
	case "replaced", "renamed", "swapped", "ersetzt", "umbenannt", "remplacé", "reemplazado", "sostituito":
		if ch.from == nil {
			ch.from, ch.what = ch.what, nil
			if len(ch.from) == 0 && passive {
				ch.from = c.subject
			}
		}
	default:
		if len(stems(ch.what)) == 0 && (passive || !loose(ownerOf(c.subject))) {
			ch.what = c.subject
		}
	}
}

func loose(owner string) bool { return owner == "" || owner == "we" || owner == "user" }

// upTo is the words from i on, up to word stop or what explains them.
func (c *clause) upTo(i, stop int) []word {
	words := c.words[i:]
	if stop > i {
		words = c.words[i:stop]
	}
	words = upToBreak(words)
	for n, w := range words {
		if n > 0 && (changeVerbs()[w.fold] || slices.Contains([]string{"on", "last", "this", "yesterday", "today", "for", "für", "pour", "para", "per", "in", "at", "effective", "again", "now"}, w.fold)) {
			return words[:n]
		}
	}
	return words
}

func least(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// endedChange reads "no longer uses V", "stopped using V", "V is gone".
func (c *clause) endedChange() *change {
	words := c.words
	for i := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1].fold
		}
		at := -1
		switch w := words[i].fold; {
		case w == "no" && next == "longer", w == "ya" && next == "no", w == "nicht" && next == "mehr", w == "kein" && next == "mehr":
			at = i + 2
		case (w == "stopped" || w == "quit") && strings.HasSuffix(next, "ing"):
			at = i + 2
		case (w == "dropped" || w == "ditched" || w == "abandoned" || w == "retired" || w == "decommissioned") && i > 0 && isStop(words[i-1].fold) && next != "":
			at = i + 1
		case (w == "gone" || w == "dropped" || w == "retired" || w == "decommissioned") && i > 0 && c.verb >= 0 && c.verb < i && len(c.subject) > 0 && copulas()[words[c.verb].fold]:
			return &change{from: c.subject, ended: true}
		}
		if at < 0 {
			continue
		}
		if at >= len(words) || words[i].fold == "nicht" || words[i].fold == "kein" {
			// The cue stands behind what has ended: "wir benutzen Redis nicht mehr".
			at = max(c.verb+1, 0)
			return &change{from: words[at:max(i, at)], ended: true}
		}
		rest := upToBreak(words[at:])
		if len(rest) > 1 && isVerb(rest[0]) {
			rest = rest[1:]
		}
		return &change{from: rest, ended: true}
	}
	if n := len(words); n > 2 && (words[n-1].fold == "anymore" || words[n-1].fold == "more" && words[n-2].fold == "any") && c.verb >= 0 {
		if at, no := c.negated(); no {
			rest := words[max(at, c.verb)+1 : n-1]
			if len(rest) > 1 && isVerb(rest[0]) {
				rest = rest[1:]
			}
			return &change{from: rest, ended: true}
		}
	}
	return nil
}

// insteadOf reads "uses V instead of W".
func (c *clause) insteadOf() *change {
	for i := range c.words {
		for _, cue := range [][]string{{"instead", "of"}, {"rather", "than"}, {"statt"}, {"anstelle", "von"}, {"au", "lieu", "de"}, {"en", "lugar", "de"}, {"en", "vez", "de"}, {"invece", "di"}} {
			if c.words[i].fold != cue[0] || i+len(cue) >= len(c.words) || folds(c.words[i:i+len(cue)]) != strings.Join(cue, " ") {
				continue
			}
			from := upToBreak(c.words[i+len(cue):])
			var to []word
			if i > c.verb && c.verb >= 0 {
				to = c.words[c.verb+1 : i]
			}
			if len(to) == 0 && len(from) == len(c.words)-i-len(cue) {
				return nil
			}
			return &change{from: from[:min(len(from), 3)], to: to}
		}
	}
	return nil
}

var fromTo = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`[从從](.+?)(?:换成了?|換成了?|换到了?|迁移到了?|遷移到|改成了?|改为|切换到了?|搬到了?|搬去了?)(.+)`),
		regexp.MustCompile(`(?:[はが、]|^)([^はが、]+?)から(.+?)[にへ](?:移行|変更|切り替え|乗り換え|引っ越)`),
	}
})

// unspacedChange reads what Chinese and Japanese say without spaces.
func (c *clause) unspacedChange() *change {
	if !strings.ContainsFunc(c.String(), unspaced) {
		return nil
	}
	for _, re := range fromTo() {
		if m := re.FindStringSubmatchIndex(c.text[c.from:c.to]); m != nil {
			return &change{from: wordsOf(c.text, c.from+m[2], c.from+m[3]), to: wordsOf(c.text, c.from+m[4], c.from+m[5])}
		}
	}
	return nil
}
