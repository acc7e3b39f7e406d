package markdown

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// A MessageSpan says where a message stands in a transcript, without a copy
// of it. Offsets are in the file.
type MessageSpan struct {
	Number     int
	Role, Name string
	Time       time.Time
	Ref, Call  string
	Tokens     int
	Attached   string
	Start, End int // heading to the next heading
	// TextStart and TextEnd enclose the content, without the fence it may
	// stand in.
	TextStart, TextEnd int
	Calls              []CallSpan
	escaped, fenced    bool
}

// Text is what was said, of a message that is not in a file of its own; src is the transcript.
func (m *MessageSpan) Text(src []byte) []byte {
	if text := src[m.TextStart:m.TextEnd]; !m.escaped {
		return text
	} else {
		return unescapeText(text)
	}
}

// A CallSpan is a tool call inside a message.
type CallSpan struct {
	ID, Name   string
	Start, End int // of what is shown of the arguments
	note       callNote
}

// Arguments are what the call was given; src is the transcript.
func (c *CallSpan) Arguments(src []byte) []byte {
	text := src[c.Start:c.End]
	if args, ok := c.note.arguments(text); ok {
		return args
	}
	return text
}

// Messages lists the messages of a transcript in order. Other files have none.
// A heading counts when its number is above that of the message before it.
func (d *Document) Messages() []MessageSpan {
	var out []MessageSpan
	number, calls := 0, callNotes{}
	at, line, m := calls.nextMessage(d.src, d.split.body, number)
	for at >= 0 {
		m.Start = at
		number = m.Number
		m.readNote(d.src, at+line)
		skip := m.readText(d.src)
		next, nextLine, following := calls.nextMessage(d.src, skip, number)
		m.End = next
		if next < 0 {
			m.End = len(d.src)
		}
		m.close(d.src, next >= 0, calls)
		clear(calls)
		out = append(out, m)
		at, line, m = next, nextLine, following
	}
	return out
}

// Reread fills in the message that stands from m.Start to m.End of a transcript, where [Document.Messages] found it
// before; false where none begins there. Cost: of that message alone.
func (m *MessageSpan) Reread(d *Document) bool {
	start, end := m.Start, m.End
	if start < d.split.body || start > end || end > len(d.src) {
		return false
	}
	line, _ := cutLine(d.src[start:end])
	var ok bool
	if *m, ok = messageHeading(line); !ok {
		return false
	}
	m.Start, m.End = start, end
	m.readNote(d.src[:end], start+len(line))
	m.readText(d.src[:end])
	m.close(d.src[:end], end < len(d.src), callNotes{})
	return true
}

// callNotes are the notes of calls by the offsets of their fences, nil for what is none: the way to the next heading
// and the message that ends there pass the same ones.
type callNotes map[int]*callNote

// read reads the note in the info string of the fence at at, behind the word of a call at begin.
func (c callNotes) read(at int, info string, begin int) *callNote {
	n, known := c[at]
	if !known {
		n = &callNote{}
		if json.Unmarshal([]byte(info[begin+len(callInfo)-1:]), n) != nil {
			n = nil
		}
		c[at] = n
	}
	return n
}

// nextMessage finds the next heading at or behind from, which is the start of
// a line: its offset, or -1, and the length of its line.
func (c callNotes) nextMessage(src []byte, from, after int) (at, length int, m MessageSpan) {
	begin := from
	for at = lineWith(src, from, "## "); at >= 0; {
		if call := lineWith(src[:at], from, "```"); call >= 0 {
			line, _ := cutLine(src[call:])
			if info, ok := fenceInfo(line); !ok || c.ourCall(src, begin, call, info) < 0 {
				from = call + len(line)
			} else {
				_, _, from = stetFence(src, call, info)
			}
			if at < from {
				at = lineWith(src, from, "## ")
			}
			continue
		}
		line, _ := cutLine(src[at:])
		if m, ok := messageHeading(line); ok && m.Number > after {
			return at, len(line), m
		}
		from = at + len(line)
		at = lineWith(src, from, "## ")
	}
	return -1, 0, m
}

// lineWith is where the first line begins at or behind from, which is the start of a line, that begins with these
// characters; -1 where none does. Cost: as bytes.Index, a fraction of a look at each line.
func lineWith(src []byte, from int, begins string) int {
	for at := from; ; at++ {
		i := bytes.Index(src[at:], []byte(begins))
		if i < 0 {
			return -1
		}
		if at += i; at == from || src[at-1] == '\n' {
			return at
		}
	}
}

// messageHeading reads "## 14 · user · Caroline · 2026-01-09T14:02:11Z".
func messageHeading(line []byte) (m MessageSpan, ok bool) {
	if len(line) < 6 || line[0] != '#' || line[1] != '#' || line[2] != ' ' || line[3] < '1' || line[3] > '9' {
		return m, false
	}
	parts := strings.SplitN(string(trimEOL(line[3:])), dot, 4)
	n, err := strconv.Atoi(parts[0])
	if len(parts) < 2 || err != nil || n < 1 || parts[1] == "" {
		return m, false
	}
	m.Number, m.Role = n, parts[1]
	rest := parts[2:]
	if len(rest) > 0 {
		if t, ok := headingTime(rest[len(rest)-1]); ok {
			m.Time = t
			rest = rest[:len(rest)-1]
		}
	}
	m.Name = strings.Join(rest, dot)
	return m, true
}

func headingTime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err == nil
}

// readNote reads the line below the heading, which ends at from, and sets
// TextStart behind it.
func (m *MessageSpan) readNote(src []byte, from int) {
	m.TextStart = skipBlankLine(src, from)
	line, _ := cutLine(src[m.TextStart:])
	text := trimEOL(line)
	if !bytes.HasPrefix(text, []byte(noteOpen)) || !bytes.HasSuffix(text, []byte(noteClose)) {
		return
	}
	var n messageNote
	if json.Unmarshal(text[len(noteOpen)-1:len(text)-len(noteClose)], &n) != nil {
		return
	}
	m.TextStart = skipBlankLine(src, m.TextStart+len(line))
	m.Ref, m.Call, m.Tokens, m.escaped, m.fenced = n.Ref, n.Call, n.Tokens, n.Escaped, n.Fenced
	if !strings.ContainsAny(n.File, `/\`) && n.File != "." && n.File != ".." {
		m.Attached = n.File // what names another folder is not ours
	}
	if n.Role != "" {
		m.Role = n.Role
	}
	if n.Name != "" {
		m.Name = n.Name
	}
}

func skipBlankLine(src []byte, at int) int {
	if line, _ := cutLine(src[at:]); len(line) > 0 && len(trimEOL(line)) == 0 {
		return at + len(line)
	}
	return at
}

// readText looks whether the content stands in a fence of ours and returns
// from where on the next heading can stand. TextEnd stays 0 for content that
// is not fenced.
func (m *MessageSpan) readText(src []byte) int {
	line, _ := cutLine(src[m.TextStart:])
	info, ok := fenceInfo(line)
	if at := ourFence(info, textInfo); !ok || at < 0 || at > 0 && !m.fenced || info[at:] != textInfo {
		return m.TextStart
	}
	in, out, after := stetFence(src, m.TextStart, info)
	m.TextStart, m.TextEnd = in, out
	return after
}

// close fills in what needs the end of the message.
func (m *MessageSpan) close(src []byte, followed bool, notes callNotes) {
	end := m.End
	if followed { // the blank line that separates messages
		end = trimOneEOL(src, m.TextStart, end)
	}
	at := m.TextStart
	if m.TextEnd > 0 {
		at = m.TextEnd
	}
	calls := -1
	for at < end {
		if at = lineWith(src[:end], at, "```"); at < 0 {
			break
		}
		line, _ := cutLine(src[at:end])
		info, ok := fenceInfo(line)
		if begin := notes.ourCall(src, m.TextStart, at, info); ok && begin >= 0 {
			in, out, after := stetFence(src[:end], at, info)
			if n := notes.read(at, info, begin); n != nil {
				if calls < 0 {
					if calls = at; begin > 0 {
						calls = behindLabel(src, m.TextStart, at, n.label())
					}
				}
				m.Calls = append(m.Calls, CallSpan{ID: n.ID, Name: n.Name, Start: in, End: out, note: *n})
			}
			at = after
			continue
		}
		at += len(line)
	}
	if m.TextEnd > 0 {
		return
	}
	m.TextEnd = end
	if calls >= 0 {
		// A blank line stands between the content and the first call.
		m.TextEnd = trimOneEOL(src, m.TextStart, calls)
	}
	m.TextEnd = trimOneEOL(src, m.TextStart, m.TextEnd)
}

// behindLabel is where the line begins that stands above the call at at, with a blank line between, and begins with
// label; at, where there is none.
func behindLabel(src []byte, from, at int, label string) int {
	end := trimOneEOL(src, from, trimOneEOL(src, from, at))
	start := max(from, bytes.LastIndexByte(src[:end], '\n')+1)
	if start < end && bytes.HasPrefix(src[start:end], []byte(label)) {
		return start
	}
	return at
}

// ourFence is where in an info string a word of ours begins: at once, or behind the name of a language; -1 where none
// does.
func ourFence(info, word string) int {
	at := 0
	if !strings.HasPrefix(info, stetPrefix) {
		at = strings.IndexByte(info, ' ') + 1
	}
	if !strings.HasPrefix(info[at:], word) {
		return -1
	}
	return at
}

// ourCall is where in the info string of the fence at at the word of a call begins, -1 where it is no call. Behind the
// name of a language it is one below its label alone: what looks so in a transcript of before was said.
func (c callNotes) ourCall(src []byte, from, at int, info string) int {
	begin := ourFence(info, callInfo)
	if begin > 0 {
		if n := c.read(at, info, begin); n == nil || behindLabel(src, from, at, n.label()) == at {
			return -1
		}
	}
	return begin
}

// trimOneEOL takes one line ending off the end of src[start:end].
func trimOneEOL(src []byte, start, end int) int {
	if end > start && src[end-1] == '\n' {
		end--
		if end > start && src[end-1] == '\r' {
			end--
		}
	}
	return max(start, end)
}

// fenceInfo is the info string of a line that opens a fence of backticks.
func fenceInfo(line []byte) (string, bool) {
	n := 0
	for n < len(line) && line[n] == '`' {
		n++
	}
	if n < 3 {
		return "", false
	}
	info := string(trimEOL(line[n:]))
	return info, !strings.Contains(info, "`")
}

// stetFence reads the fenced block with the given info string that begins at
// at: where its text begins and ends, and the end of its closing line. As in
// Markdown, a fence that is never closed runs to the end.
func stetFence(src []byte, at int, info string) (start, end, after int) {
	line, _ := cutLine(src[at:])
	eol := line[len(trimEOL(line)):]
	fence := line[:len(line)-len(eol)-len(info)]
	start = at + len(line)
	for end = start; end < len(src); {
		next := lineWith(src, end, string(fence))
		if next < 0 {
			break
		}
		end = next
		line, _ := cutLine(src[end:])
		if bytes.Equal(trimEOL(line), fence) {
			return start, start + len(bytes.TrimSuffix(src[start:end], eol)), end + len(line)
		}
		end += len(line)
	}
	return start, len(src), len(src)
}
