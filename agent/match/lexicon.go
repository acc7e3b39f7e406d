package match

import (
	"slices"
	"strings"
	"sync"

	"stet/agent/encode"
	"stet/templates/lexicon"
)

// is reports whether a word is of a class of the lists "description" and "class".
func is(t token, class string) bool { return slices.Contains(classes()[t.fold], class) }

var classes = sync.OnceValue(func() map[string][]string {
	out := lexicon.Groups("description")
	for w, heads := range lexicon.Groups("class", "en", "de", "fr", "es", "it") {
		for _, h := range heads {
			switch h {
			case "self", "user": // the person whom the vault is about
				out[w] = append(out[w], "self")
			case "kin", "deny":
				out[w] = append(out[w], h)
			}
		}
	}
	return out
})

// asked maps stems to the attributes that they ask for, said to those they give a value.
var asked = sync.OnceValue(func() map[string][]string { return attributes("asked") })
var said = sync.OnceValue(func() map[string][]string { return attributes("asked", "said") })

func attributes(sections ...string) map[string][]string {
	out := map[string][]string{}
	for w, heads := range lexicon.Groups("attribute", sections...) {
		out[encode.Stem(w)] = append(out[encode.Stem(w)], heads...)
	}
	return out
}

func denies(t token) bool { return is(t, "deny") || strings.HasSuffix(t.fold, "n't") }

// isVerb reports whether a word says what somebody or something does.
func isVerb(t token) bool {
	return verbs()[t.stem] || strings.HasSuffix(t.fold, "n't") ||
		len(t.fold) > 4 && strings.HasSuffix(t.fold, "ed") && !t.capital()
}

var verbs = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range lexicon.Words("verb") {
		out[encode.Stem(w)] = true
	}
	return out
})
