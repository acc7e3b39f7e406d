package imports

import (
	"bytes"
	"slices"
	"time"

	"stet/markdown"
	"stet/vault/guard"
	"stet/vault/session"
)

// hooked is s with what only a client's hooks have told of in between: the messages of them in its transcript, nil for
// none, and those of its open turns. The source's own words win: what it holds as well is left out. g is what that has
// more than the transcript. ok is false where hooks told of nothing, and where the transcript is no longer what the
// source had. now is when messages have other numbers. What an agent observed stands in the transcript, without the
// id that each message of the source has, and is taken like what hooks told where some of it is the source's.
func (s *Session) hooked(have []byte, open []markdown.Message, now time.Time, c *censor) (
	merged *Session, g growth, ok bool,
) {
	spans, old := markdown.Parse(have).Messages(), markdown.ParseTranscript(have)
	turns := slices.Concat(old.Messages, open)
	hooks, observed := slices.ContainsFunc(turns, byHook), s.observed(old.Messages)
	beside := func(i int) bool { return byHook(turns[i]) || observed && i < len(spans) && turns[i].Ref == "" }
	if len(spans) != len(old.Messages) ||
		!hooks && len(s.taken) == 0 && !(observed && compare(have, s, c).changed > 0) {
		return nil, g, false
	}
	for i, at := range spans {
		if at.Number != i+1 || at.Attached != "" && beside(i) {
			return nil, g, false // a person took one out, or its text is elsewhere
		}
	}
	v := *s
	v.Messages = slices.Clone(s.Messages)
	places, own := s.places(have, spans, turns, c)
	if !hooks && !slices.ContainsFunc(places, func(j int) bool { return j >= 0 }) {
		return nil, g, false
	}
	for i, m := range old.Messages {
		switch j := places[i]; {
		case beside(i) || j == takenBack:
		case j < 0:
			return nil, g, false
		case m.Attached == "" && !bytes.HasPrefix(own[j].Content, m.Content):
			v.Messages[j].Content = m.Content // as a person left it
		}
	}
	var numbers []int
	v.Messages, numbers = v.among(turns, places, beside)
	v.Renumbered = old.Renumbered
	if r := session.Renumbering(now, numbers); r != "" {
		v.Renumbered = append(v.Renumbered, r)
	}
	for i, m := range old.Messages {
		if numbers[i] != i+1 || places[i] >= 0 && m.Ref != v.Messages[i].Ref {
			first := min(i, len(v.Messages)-1) // something has to be new
			return &v, growth{from: first, cut: spans[first].Start}, true
		}
	}
	if len(spans) == 0 {
		return &v, g, true
	}
	return &v, compare(have, &v, c), true
}

func byHook(m markdown.Message) bool { return m.Ref == session.HookRef }

// observed reports messages of a transcript that nothing imported: those of s have ids there.
func (s *Session) observed(turns []markdown.Message) bool {
	noID := func(m markdown.Message) bool { return m.Ref == "" }
	return !slices.ContainsFunc(s.Messages, noID) && slices.ContainsFunc(turns, noID)
}

// takenBack is the place of a turn that the person took back: it stands in a conversation of its own.
const takenBack = -2

// places are where s has the turns, of which the first stand in the transcript in have, -1 for none; and its messages
// without secrets. All that the source has is compared at once, in the order in which it was said: what the person
// took back keeps no turn from its place that only has the same words.
func (s *Session) places(have []byte, spans []markdown.MessageSpan, turns []markdown.Message, c *censor) (
	places []int, own []markdown.Message,
) {
	secrets, strict := c.about(s), c.strictly(s)
	for _, m := range turns {
		secrets.Learn(string(m.Content))
		strict.Learn(string(m.Content))
	}
	all, at := s.said()
	turns, said := cleaned(strict, turns), cleaned(strict, all)
	kept := cleaned(secrets, all)
	known := func() []*guard.Redactor { return []*guard.Redactor{strict, secrets} }
	places = session.Covered(turns, said, func(i, j int) bool {
		return byHook(turns[i]) || i < len(spans) && sameMessage(have, spans[i], &said[j], known)
	})
	own = make([]markdown.Message, len(s.Messages))
	for j, place := range at {
		if place >= 0 {
			own[place] = kept[j]
		}
	}
	for i, j := range places {
		if j >= 0 {
			places[i] = at[j]
		}
	}
	return places, own
}

// said is what was said in s and what was taken back of it, by time, and where each stands in s.
func (s *Session) said() (all []markdown.Message, at []int) {
	taken := slices.SortedStableFunc(slices.Values(s.taken), byTime)
	for i, m := range s.Messages {
		for len(taken) > 0 && taken[0].Time.Before(m.Time) {
			all, at, taken = append(all, taken[0]), append(at, takenBack), taken[1:]
		}
		all, at = append(all, m), append(at, i)
	}
	for _, m := range taken {
		all, at = append(all, m), append(at, takenBack)
	}
	return all, at
}

func byTime(a, b markdown.Message) int { return a.Time.Compare(b.Time) }

// among are the messages of s with those turns of hooks in their places that it does not have, and the number that each
// turn gets, 0 for one that was taken back; others than those beside the source stay open, behind all.
func (s *Session) among(turns []markdown.Message, places []int, beside func(int) bool) (
	out []markdown.Message, numbers []int,
) {
	numbers = make([]int, len(turns))
	next := 0
	upTo := func(j int) { out, next = append(out, s.Messages[next:j]...), j }
	for i, m := range turns {
		switch {
		case places[i] >= 0:
			upTo(places[i] + 1)
		case !beside(i) || places[i] == takenBack:
			continue
		default:
			last := len(s.Messages)
			if k := slices.IndexFunc(places[i:], func(j int) bool { return j >= 0 }); k >= 0 {
				last = places[i+k]
			}
			for next < last && s.Messages[next].Time.Before(m.Time) {
				upTo(next + 1)
			}
			out = append(out, m)
		}
		numbers[i] = len(out)
	}
	upTo(len(s.Messages))
	left := len(out)
	for i, n := range numbers {
		if n == 0 && places[i] != takenBack {
			left++
			numbers[i] = left
		}
	}
	return out, numbers
}

// cleaned are messages without secrets.
func cleaned(secrets *guard.Redactor, messages []markdown.Message) []markdown.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Content, _ = take(secrets, out[i].Content)
	}
	return out
}
