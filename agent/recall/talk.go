package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stet/index"
	"stet/index/document"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/session"
)

// mostOfOne is how many characters of one message an answer shows: a pasted file
// must not be all of it.
const mostOfOne = 2_000

// headSize is what the heading of a message counts for in a budget.
const headSize = 40

// A Talk is one conversation, sealed or open, to be read page by page.
type Talk struct {
	Known session.Known
	Open  bool
	Whole bool // show results and arguments of tools whole, not their first lines
	list  []markdown.Message
	v     *vault.Vault
}

// Read finds the conversation that ref names, open or sealed. Of one that is
// both, the sealed part comes first; a ref that names a sealed one means no other. The user may name it by a part
// of its title that no other has. It fails with [session.ErrUnknownSession] or a [vault.AmbiguousError].
func Read(ctx context.Context, v *vault.Vault, ref string) (*Talk, error) {
	k, data, err := session.Find(ctx, v, ref)
	if errors.Is(err, session.ErrUnknownSession) {
		open, oerr := readOpen(v, ref)
		if !errors.Is(oerr, session.ErrUnknownSession) || v != v.Whole() {
			return open, oerr
		}
		if k, err = session.Titled(ctx, v, ref); err != nil {
			return nil, err
		}
		if k.Path == "" {
			return readOpen(v, k.ID)
		}
		k, data, err = session.Find(ctx, v, string(k.Path))
	}
	if err != nil {
		return nil, err
	}
	t := &Talk{Known: k, v: v, list: markdown.ParseTranscript(data).Messages}
	rest, err := session.Rest(v, k.ID, data)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return t, nil
	case err != nil:
		return nil, err
	}
	t.goOn(rest)
	return t, nil
}

// readOpen reads a conversation of which nothing is sealed.
func readOpen(v *vault.Vault, ref string) (*Talk, error) {
	open, err := session.FindOpen(v, ref)
	if err != nil {
		return nil, err
	}
	t := &Talk{v: v, Known: open.Known()}
	t.goOn(open)
	return t, nil
}

// goOn puts open turns on the end.
func (t *Talk) goOn(open *session.Open) {
	t.Open = true
	last := 0
	if n := len(t.list); n > 0 {
		last = t.list[n-1].Number
	}
	for i, m := range open.Facts.Messages {
		m.Number = last + i + 1
		t.list = append(t.list, m)
	}
	t.Known.Messages, t.Known.Ended = len(t.list), open.Last
}

// load reads a transcript; one that is gone has no messages.
func (s *searching) load(k session.Known) *Talk {
	t := &Talk{Known: k, v: s.v, Open: k.Open}
	if data, err := s.read(k.Path); err == nil {
		t.list = markdown.ParseTranscript(data).Messages
	}
	return t
}

// at is the place of the message with that number, or of the next one.
func (t *Talk) at(number int) int {
	i := 0
	for i < len(t.list) && t.list[i].Number < number {
		i++
	}
	return i
}

// line is a message of which what matches is to be seen, "" for nothing.
func (t *Talk) line(number, room int, matches string) (Line, bool) {
	i := t.at(number)
	if i == len(t.list) || t.list[i].Number != number || room <= headSize {
		return Line{}, false
	}
	return t.show(&t.list[i], room, matches), true
}

// foldLines is how many lines of a result are shown where it is not whole.
const foldLines = 5

// show is a message within that many characters, of a long one the part with the line that matches.
func (t *Talk) show(m *markdown.Message, room int, matches string) Line {
	l := Line{Number: m.Number, Role: m.Role, Name: m.Name, Time: m.Time}
	room -= headSize
	for _, c := range m.Calls {
		call := t.call(&c, matches)
		if n := utf8.RuneCountInString(call.Name + call.Arguments); n < room {
			l.Calls = append(l.Calls, call)
			room -= n
		} else {
			l.Cut = true
		}
	}
	content := m.Content
	if m.Attached != "" {
		file := vault.Path(t.Known.Path.Dir() + "/" + markdown.AttachmentDir(t.Known.Path.Base()) + "/" + m.Attached)
		data, _, err := t.v.ReadFile(file)
		if content = data; err != nil || !utf8.Valid(data) {
			content = fmt.Appendf(nil, "[%s in %s]", templates.Plural(len(data), "byte"), file)
		}
	}
	text := strings.ToValidUTF8(string(markdown.StripInjected(content)), "\ufffd")
	text = strings.TrimLeft(strings.TrimRightFunc(text, unicode.IsSpace), "\r\n")
	from := 0
	if at := strings.Index(text, matches); at > 0 {
		from = strings.LastIndexByte(text[:at], '\n') + 1
	}
	most := map[string]int{"tool": foldLines, "system": 1}[m.Role]
	if most > 0 && !t.Whole && matches == "" {
		text, l.More = fold(text, most)
	}
	runes := []rune(text)
	if room = max(0, room); len(runes) > room {
		begin := max(0, min(utf8.RuneCountInString(text[:from])-room/4, len(runes)-room))
		runes = runes[begin : begin+room]
		if begin > 0 && room > 0 {
			runes[0] = '…'
		}
		l.Cut, l.More = true, 0
	}
	l.Text, l.Cut = string(runes), l.Cut || l.More > 0
	return l
}

// fold is the first lines of a result, and how many follow.
func fold(text string, lines int) (string, int) {
	const mostOfLines = 800
	end := 0
	for range lines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 || end+i > mostOfLines {
			break
		}
		end += i + 1
	}
	if end == 0 || strings.Count(text[end:], "\n") == 0 {
		return text, 0
	}
	return strings.TrimRight(text[:end], "\n"), strings.Count(text[end:], "\n") + 1
}

// call is a call as it is shown: whole, or on one line, that of its arguments which matches if one does.
func (t *Talk) call(c *markdown.ToolCall, matches string) Call {
	v := c.View()
	out := Call{Name: cmp.Or(c.Name, "tool"), Arguments: v.Line(), Changes: v.Changes()}
	switch {
	case t.Whole:
		out.Arguments, out.Changes = v.Whole(), ""
	case matches != "" && strings.Contains(string(document.Arguments(c.Arguments)), matches):
		out.Arguments = matches
	}
	return out
}

// size is what a line takes of a budget.
func (l *Line) size() int {
	n := headSize + utf8.RuneCountInString(l.Text)
	for _, c := range l.Calls {
		n += utf8.RuneCountInString(c.Name + c.Arguments)
	}
	return n
}

// A Page is a part of a conversation.
type Page struct {
	Lines []Line
	Next  int // the number of the message after it, 0 at the end
	Total int // messages of the conversation
}

// Outdate says of lines which of them led to a memory that does not hold any more.
func (t *Talk) Outdate(lines []Line, old *index.Outdated) {
	for i := range lines {
		lines[i].SupersededBy = old.By(t.Known.ID, t.Known.Origin, lines[i].Number)
	}
}

// At is [Talk.Page] of the messages that had these numbers at a moment, without any where they are there no more.
func (t *Talk) At(from, to int, when time.Time, budget int) Page {
	first, last := t.Known.Number(from, when), t.Known.Number(to, when)
	if from > 0 && cmp.Or(first, last) == 0 {
		return Page{Total: len(t.list)}
	}
	if from > 0 {
		first = cmp.Or(first, last)
	}
	if to > 0 {
		last = cmp.Or(last, first)
	}
	return t.Page(first, last, budget)
}

// Page returns the messages from one number to another, 0 for the last, as far
// as the budget goes. One that is longer than what is left is cut when it is the
// first, else it is for the next page. A negative budget is none.
func (t *Talk) Page(from, to, budget int) Page {
	p := Page{Total: len(t.list)}
	for i := t.at(from); i < len(t.list) && (to == 0 || t.list[i].Number <= to); i++ {
		room := budget
		if budget < 0 {
			room = math.MaxInt
		}
		l := t.show(&t.list[i], room, "")
		if l.Cut && l.More == 0 && len(p.Lines) > 0 || room <= headSize {
			p.Next = t.list[i].Number
			return p
		}
		p.Lines = append(p.Lines, l)
		if budget > 0 {
			budget = max(0, budget-l.size())
		}
	}
	return p
}

// Around returns a message and those next to it, as many on either side as the
// budget allows, beside at most.
func (t *Talk) Around(number, beside, budget int) Page {
	p := Page{Total: len(t.list)}
	middle := t.at(number)
	if middle == len(t.list) {
		return p
	}
	whole := t.Whole
	t.Whole = true
	l := t.show(&t.list[middle], budget, "")
	l.Hit, t.Whole = true, whole
	p.Lines = []Line{l}
	budget -= l.size()
	low, high := middle, middle
	for d := 1; d <= beside; d++ {
		for _, i := range [...]int{middle - d, middle + d} {
			if i < 0 || i >= len(t.list) || i != low-1 && i != high+1 {
				continue
			}
			next := t.show(&t.list[i], budget, "")
			if next.Cut && next.More == 0 || budget <= headSize {
				continue
			}
			budget -= next.size()
			if i < middle {
				p.Lines, low = append([]Line{next}, p.Lines...), i
			} else {
				p.Lines, high = append(p.Lines, next), i
			}
		}
	}
	if high+1 < len(t.list) {
		p.Next = t.list[high+1].Number
	}
	return p
}

// Before returns what was spoken last at a moment: the [Talk.Turn] of the newest message of the user up to then.
func (t *Talk) Before(at time.Time, budget int) Page {
	for _, m := range slices.Backward(t.list) {
		if m.Role == "user" && !m.Time.After(at) {
			return t.Turn(m.Number, budget)
		}
	}
	return Page{Total: len(t.list)}
}

// Turn returns a message of the user, and what follows it up to the user's next one.
func (t *Talk) Turn(number, budget int) Page {
	last := t.at(number)
	for last+1 < len(t.list) && t.list[last+1].Role != "user" {
		last++
	}
	return t.Page(number, t.list[last].Number, budget)
}
