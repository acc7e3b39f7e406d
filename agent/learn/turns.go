package learn

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"stet/markdown"
	"stet/templates/prompts"
	"stet/vault/guard"
	"stet/vault/session"
)

// LightText is how many characters a light review sees of a turn.
const LightText = 200

// loopText is how many a loop sees.
const loopText = 2000

// A source is a turn that a lesson may rest on.
type source struct {
	session string
	number  int
	time    time.Time
	user    bool
}

// A heard turn is one as the model is shown it, or a part of one.
type heard struct {
	prompts.Heard
	number int
	who    string
	part   int  // parts of the turn before this one
	cut    bool // more of the turn follows
}

// voiced is the turn with its speaker, and the number of the part.
func (h heard) voiced(cut bool) heard {
	h.Says, h.cut = h.who+h.Says, cut
	if cut || h.part > 0 {
		h.Part = h.part + 1
	}
	return h
}

// upto is the number of the last turn that has been shown to its end with this one.
func (h heard) upto() int {
	if h.cut {
		return h.number - 1
	}
	return h.number
}

// said is what the turns of a job say without what stet itself put there. What is a secret in one of them, or in a
// related one, is from now on one in all: what a sealed transcript does not show goes to no model.
func (r *review) said() []string {
	r.clean = guard.NewStrictRedactor(func(guard.Finding) bool { return false })
	gave := given(r.job.Turns)
	says := make([]string, len(r.job.Turns))
	for i, t := range r.job.Turns {
		says[i] = said(t, gave)
		r.clean.Learn(says[i])
	}
	for _, t := range r.job.Related {
		r.clean.Learn(t.Text)
	}
	return says
}

// heard are the turns of a job as they are shown, without secrets.
func (r *review) heard(says []string) []heard {
	var out []heard
	for i, t := range r.job.Turns {
		text := r.clean.Clean(says[i])
		switch {
		case strings.TrimSpace(text) == "":
			continue
		case r.job.Whole:
		case r.light():
			text = first(text, LightText)
		default:
			text = first(text, loopText)
		}
		n := r.job.First + i
		label := strconv.Itoa(n)
		r.sources[label] = source{r.job.Session, n, t.Time, t.Role == "user"}
		who := t.Role
		if t.Name != "" {
			who += " " + t.Name
		}
		h := prompts.Heard{Turn: label, Time: moment(t.Time), Says: text}
		out = append(out, heard{Heard: h, number: n, who: who + ": "})
	}
	return out
}

// related are the related turns, under labels that no turn of the job has.
func (r *review) related() (out []prompts.Heard) {
	for i, t := range r.job.Related {
		label := "e" + strconv.Itoa(i+1)
		r.sources[label] = source{t.Session, t.Number, t.Time, true}
		text := r.clean.Clean(string(markdown.StripInjected([]byte(t.Text))))
		if strings.TrimSpace(text) == "" {
			continue
		}
		out = append(out, prompts.Heard{Turn: label, Time: moment(t.Time), Says: "user: " + first(text, LightText)})
	}
	return out
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("Mon 2006-01-02 15:04")
}

// given are the ids of the calls by which an agent looked into the vault: their results are memories,
// and would be learnt again.
func given(turns []session.Turn) map[string]bool {
	gave := map[string]bool{}
	for _, t := range turns {
		for _, c := range t.Calls {
			if c.ID != "" && ours(c.Name) {
				gave[c.ID] = true
			}
		}
	}
	return gave
}

// ours reports a tool by which agents read what stet keeps, whatever a client puts in front of its name. Other
// programs have a "git_history" and a "load_skill": before such a word stet has to be named.
func ours(tool string) bool {
	is := func(name string) bool { return tool == name || strings.HasSuffix(tool, "_"+name) }
	return slices.ContainsFunc([]string{"memory_search", "memory_read", "session_search"}, is) ||
		slices.ContainsFunc([]string{"history", "skill"}, func(name string) bool {
			return tool == name || is(name) && strings.Contains(tool, "stet")
		})
}

// said is what a turn says, its calls of tools included.
func said(t session.Turn, gave map[string]bool) string {
	text := string(markdown.StripInjected(t.Text))
	switch {
	case t.Role == "user":
	case t.Role == "system":
		return "" // the client's words, and those of stet in them
	case t.Role == "tool" && (gave[t.Call] || ours(t.Name)):
		text = "(what stet answered)"
	default:
		text = injectedAnywhere().ReplaceAllString(text, "")
	}
	for _, c := range t.Calls {
		text += "\n→ " + c.Name + " " + injectedAnywhere().ReplaceAllString(string(c.Arguments), "")
	}
	return strings.ToValidUTF8(strings.TrimPrefix(text, "\n"), "�")
}

// injectedAnywhere is a block as tools and agents pass it on: in the middle of a line, as JSON, or without its end.
var injectedAnywhere = sync.OnceValue(func() *regexp.Regexp {
	const open, shut = `(?:<|\\u003[cC])`, `(?:>|\\u003[eE])`
	return regexp.MustCompile(`(?s)` + open + `stet-context.*?(?:` + open + `/stet-context` + shut + `|$)`)
})

// first is the beginning of a text: so many characters, and a mark where more follow.
func first(text string, characters int) string {
	at := 0
	for range characters {
		if at == len(text) {
			return text
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	if at == len(text) {
		return text
	}
	return text[:at] + "…"
}

// weigh is a text in quarters of a token, as JSON and rather too many, up to the character at which
// more than most are reached; end is where that is.
func weigh(text string, most int) (sum, end int) {
	for i, c := range text {
		n := 4
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\t':
			n = 2
		case c < ' ':
			n = 6
		case c < utf8.RuneSelf:
			n = 1
		}
		if sum += n; sum > most {
			return sum - n, i
		}
	}
	return sum, len(text)
}

// frame is what label, time and punctuation of a turn take, in quarters of a token.
const frame = 100

// take is what of the turns fits into so many tokens, in order, and what is left. A turn that fits into
// no request is taken in parts, and nothing is dropped.
func take(turns []heard, tokens int) (portion, rest []heard) {
	left := 4 * tokens
	for i, h := range turns {
		sum, end := weigh(h.Says, left-frame)
		switch {
		case end == len(h.Says):
			portion, left = append(portion, h.voiced(false)), left-sum-frame
			continue
		case i > 0:
			return portion, turns[i:]
		}
		tail := h
		h.Says, tail.Says, tail.part = h.Says[:end], h.Says[end:], h.part+1
		return []heard{h.voiced(true)}, append([]heard{tail}, turns[1:]...)
	}
	return portion, nil
}

// size is the tokens that turns take.
func size(turns []heard) int {
	sum := 0
	for _, h := range turns {
		n, _ := weigh(h.Says, math.MaxInt)
		sum += n + frame
	}
	return sum / 4
}

// newest are the last turns that take at most so many tokens.
func newest(turns []heard, tokens int) (out []heard) {
	left, from := 4*tokens, len(turns)
	for ; from > 0; from-- {
		sum, _ := weigh(turns[from-1].Says, math.MaxInt)
		if left -= sum + frame; left < 0 {
			break
		}
		out = append(out, turns[from-1].voiced(false))
	}
	slices.Reverse(out)
	return out
}
