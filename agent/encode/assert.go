package encode

import (
	"slices"
	"strings"
	"sync"
)

// asserted reports whether a clause says that something is so. Questions,
// conditions, wishes and plans never contradict and are never contradicted.
func (c *clause) asserted() bool {
	if c.question || len(c.words) < 2 {
		return false
	}
	if owner := ownerOf(c.subject); c.verb >= 0 && c.words[c.verb].fold == "will" && (owner == "user" || owner == "we") {
		return false
	}
	for i, w := range c.words {
		if hedges()[w.fold] {
			return false
		}
		if intends()[w.fold] && i+1 < len(c.words) && slices.Contains([]string{"to", "of", "on", "about", "for"}, c.words[i+1].fold) {
			return false
		}
		if w.fold == "going" && i+1 < len(c.words) && c.words[i+1].fold == "to" {
			return false
		}
	}
	first := c.words[0].fold
	return !(first == "let's" || first == "let" || first == "should" || orders()[first] || first == "do" && !c.words[0].owns && len(c.words) > 1 && c.words[1].fold != "not")
}

// orders ask for a change when they begin a clause; none has happened.
var orders = sync.OnceValue(func() map[string]bool {
	return set(`change switch move migrate convert upgrade downgrade rename replace swap please`)
})

// hedges make a clause a condition, a wish or a guess.
var hedges = sync.OnceValue(func() map[string]bool {
	return set(`if unless whether would could might maybe perhaps possibly probably suppose supposing imagine hypothetically wish wishes
		considering consider considers evaluating wonder wondering thinks planning intend intends hopefully
		trying sure unsure understand interested struggling trouble stuck wondered confused
		gonna wanna
		wenn falls würde würden könnte vielleicht si peut-être pourrait quizás quizá tal_vez podría se forse potrebbe 如果 もし`)
})

var intends = sync.OnceValue(func() map[string]bool {
	return set(`want wants plan plans hope hopes intend intends like thinking thought tempted looking aim aims aiming`)
})

// past reports whether a clause tells of an event or of something that is over:
// two events can both have happened.
func (c *clause) past() bool {
	if c.verb < 0 {
		return false
	}
	w := c.words[c.verb]
	switch w.fold {
	case "was", "were", "had", "did", "met", "went", "came", "got", "made", "took", "gave", "said", "bought", "sold", "lived", "worked", "war", "était", "era":
		return true
	case "moved", "switched", "changed", "migrated", "renamed", "replaced", "stopped":
		return false
	}
	return strings.HasSuffix(w.fold, "ed") && w.fold != "need" && !slices.ContainsFunc(c.words[:c.verb], func(w word) bool { return w.fold == "have" || w.fold == "has" })
}

// limited reports whether a clause holds for a stretch of time only. Two such can
// stand beside each other: an address for the summer and one for the winter.
func (c *clause) limited() bool {
	text := " " + folds(c.words) + " "
	for _, cue := range []string{" until ", " till ", " between ", " during ", " used to ", " formerly ", " previously ", " for the summer ", " for the winter ", " in winter ", " in summer ",
		" on weekends ", " bis ", " jusqu'à ", " hasta ", " fino "} {
		if strings.Contains(text, cue) {
			return true
		}
	}
	for i, w := range c.words {
		if i > 0 && slices.Contains([]string{"in", "from", "through"}, c.words[i-1].fold) && len(w.fold) == 4 && (strings.HasPrefix(w.fold, "19") || strings.HasPrefix(w.fold, "20")) && number(w.fold) != "" {
			return true
		}
	}
	return false
}

// negated reports whether a clause denies something, and from which word on. Two
// negations cancel each other; "not only" and "no later than" are none.
func (c *clause) negated() (at int, yes bool) {
	at = -1
	for i, w := range c.words {
		next := ""
		if i+1 < len(c.words) {
			next = c.words[i+1].fold
		}
		switch {
		case w.fold == "not" && (next == "only" || next == "just"), w.fold == "no" && (next == "later" || next == "matter" || next == "more" || next == "problem" || w.comma),
			w.fold == "non" && next == "solo":
			continue
		case w.fold == "no" && slices.Contains([]string{"longer", "doubt"}, next) && next == "doubt":
			continue
		case negator(w.fold), againsts()[w.fold]:
			yes = !yes
			if at < 0 || yes {
				at = i
			}
		}
	}
	return at, yes
}

var abbreviations = sync.OnceValue(func() map[string]bool {
	return set(`mr mrs ms dr st vs no e.g i.e etc approx dept prof ca z.b bzw nr inc ltd co`)
})

var leadWords = sync.OnceValue(func() map[string]bool {
	return set(`now actually currently today recently correction update also finally so well then jetzt nun aktuell maintenant désormais ahora actualmente ora adesso`)
})

// corrects reports whether a clause says of itself that it replaces what was
// said before.
func (c *clause) corrects() bool {
	if len(c.words) == 0 {
		return false
	}
	switch c.words[0].fold {
	case "correction", "update", "updated", "actually", "korrektur", "corrección", "correzione":
		return true
	}
	text := " " + folds(c.words) + " "
	for _, cue := range []string{" now ", " from now on ", " as of ", " effective ", " from today ", " starting today ", " nowadays ", " has changed to ", " changed to ", " is now ",
		" jetzt ", " nun ", " ab sofort ", " ab heute ", " inzwischen ", " maintenant ", " désormais ", " dorénavant ", " ahora ", " a partir de ahora ", " adesso ", " ora "} {
		if strings.Contains(text, cue) {
			return true
		}
	}
	return strings.Contains(c.String(), "现在") || strings.Contains(c.String(), "今は")
}
