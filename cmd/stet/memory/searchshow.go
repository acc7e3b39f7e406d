package memory

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/markdown"
	"stet/vault"
)

// showHits prints hits on a terminal: how old each is, its title with its scope, and below it the line that matches;
// that line alone where it begins with the title. Where a hit stands --paths, --format and --json say.
func showHits(p *console.Printer, hits []agent.Hit, taken int) {
	p.Beside(hitRows(hits), taken, func(i, most, room int) string {
		tail := hitTail(p, hits[i])
		h, same := titled(hits[i])
		if same {
			return hitLine(p, h, most, tail)
		}
		title := p.Cut(console.Line1(h.Title), max(room-cells.Width(tail), leastLine))
		return title + tail + "\n" + hitLine(p, h, most, "")
	}, func(i int) { p.Lines("    ", hits[i].Explain) })
}

// hitRows are what hits are called by, and how old they are.
func hitRows(hits []agent.Hit) []cells.Row {
	rows := make([]cells.Row, len(hits))
	for i, h := range hits {
		at, _ := time.Parse(time.RFC3339, h.Updated) // "" is no time
		rows[i] = cells.Row{Name: console.Line1(h.Short), At: at}
		if h.Class == vault.ClassSession {
			rows[i].Name = console.Line1(h.ID[max(0, len(h.ID)-6):]) // as "session list" does
		}
	}
	return rows
}

// hitLine is the line of a hit that matches, in so many columns, with what stands behind it, and below that of a
// message the reply.
func hitLine(p *console.Printer, h agent.Hit, most int, tail string) string {
	who := ""
	if h.Message > 0 {
		who = fmt.Sprintf("%d  %s: ", h.Message, console.Line1(cmp.Or(h.Speaker, h.Role)))
	}
	tail += hitNote(h)
	line := who + highlight(p.Env, hitWithin(p, h, max(most-cells.Width(who+tail), leastLine))) + tail
	for _, reply := range h.Reply {
		line += "\n" + hitLine(p, reply, most, "")
	}
	return line
}

// leastLine is how many columns a title or a line gets, whatever stands behind it.
const leastLine = 20

// hitTail is the place of a hit in so many columns as it may take behind a title.
func hitTail(p *console.Printer, h agent.Hit) string {
	const most = 30
	switch place := console.Line1(placeOf(h)); {
	case place == "":
		return ""
	case h.ID == "":
		return "  " + p.CutPath(place, p.Columns()-most)
	default:
		return "  " + p.Cut(place, most)
	}
}

// placeOf is the scope of a hit, if it has one; of what has no id its file, or as an entry of a notebook its address.
func placeOf(h agent.Hit) string {
	switch {
	case h.Class == vault.ClassSession || h.ID != "" && h.Scope == "/":
		return ""
	case h.ID == "":
		return cmp.Or(h.Entry, string(h.Path))
	}
	return h.Scope
}

// titled reports whether the line of a hit begins with the title, which then need not be said twice, and makes the line
// of one that is a heading its words.
func titled(h agent.Hit) (agent.Hit, bool) {
	line := strings.TrimLeft(strings.TrimPrefix(h.Snippet, "title: "), "#>-*\"' ")
	title := markdown.Fold(strings.TrimRight(h.Title, "…"))
	rest, begins := strings.CutPrefix(markdown.Fold(line), title)
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case h.Entry != "":
		return h, true
	case title == "" || !begins || unicode.IsLetter(next) || unicode.IsDigit(next):
		return h, false
	}
	return hitFrom(h, line, len(h.Snippet)-len(line)), true
}

// hitWithin is a hit whose line takes so many columns at most: what matches is in it.
func hitWithin(p *console.Printer, h agent.Hit, most int) agent.Hit {
	first := 0
	if len(h.Highlights) > 0 {
		first = h.Highlights[0].Start
	}
	line, from := p.Around(h.Snippet, first, most)
	if from > 0 {
		from -= len("…")
	}
	return hitFrom(h, line, from)
}

// hitFrom is a hit with another part of its line, which begins at a byte of it. What is marked there stays marked.
func hitFrom(h agent.Hit, line string, from int) agent.Hit {
	was, marks := h.Snippet, h.Highlights
	h.Snippet, h.Highlights = line, nil
	for _, r := range marks {
		start, end := r.Start-from, r.End-from
		if start >= 0 && end <= len(line) && line[start:end] == was[r.Start:r.End] {
			h.Highlights = append(h.Highlights, index.Range{Start: start, End: end})
		}
	}
	return h
}
