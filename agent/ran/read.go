package ran

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"stet/markdown"
)

// mostAsked is how many characters of a person's turn are shown.
const mostAsked = 160

type reader struct {
	talk *Talk
	open map[string]int // id of a call without a result to its step
	last []int          // the steps of the last message with calls, for results that name none
}

func (r *reader) message(m *markdown.Message) {
	switch m.Role {
	case "user":
		if text := bytes.TrimSpace(markdown.StripInjected(m.Content)); typed(text) {
			r.talk.turns = append(r.talk.turns, turn{m.Number, len(r.talk.steps), m.Time, text})
		}
	case "tool":
		r.result(m)
	}
	if len(m.Calls) == 0 {
		return
	}
	r.last = r.last[:0]
	for _, c := range m.Calls {
		s := step{message: m.Number, when: m.Time, tool: c.Name, raw: c.Arguments, said: firstLine(m.Content, 200)}
		n := len(r.talk.steps)
		r.talk.steps = append(r.talk.steps, s)
		r.last = append(r.last, n)
		if c.ID != "" {
			r.open[c.ID] = n
		}
	}
}

// typed reports a turn that a person may have typed: not a mark that a client sets.
func typed(text []byte) bool {
	return len(text) > 0 && text[0] != '<' && !bytes.HasPrefix(text, []byte("[Request interrupted")) &&
		!bytes.HasPrefix(text, []byte("Caveat: "))
}

// result gives a result to the call it answers.
func (r *reader) result(m *markdown.Message) {
	n, ok := r.open[m.Call]
	if !ok {
		if m.Call != "" || len(r.last) == 0 {
			return
		}
		n, r.last = r.last[0], r.last[1:]
	}
	delete(r.open, m.Call)
	s := &r.talk.steps[n]
	if s.result > 0 {
		return
	}
	s.result, s.out, s.attached = m.Number, m.Content, m.Attached
}

// arguments reads what a tool was given. Every client has names of its own for the same few things.
func (s *step) arguments(raw []byte) {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		s.patched(string(raw)) // some clients hand over a patch as it is
		return
	}
	text := func(keys ...string) string {
		for _, k := range keys {
			var v string
			if json.Unmarshal(in[k], &v) == nil && v != "" {
				return v
			}
		}
		return ""
	}
	path := text("file_path", "path", "notebook_path", "filePath", "target_file", "absolute_path", "relative_path",
		"filename", "file")
	command := text("command", "cmd", "script", "CommandLine")
	if command == "" {
		var argv []string
		if json.Unmarshal(in["command"], &argv) == nil || json.Unmarshal(in["cmd"], &argv) == nil {
			command = shellOf(argv)
		}
	}
	s.about = firstLine([]byte(text("description", "explanation", "justification")), mostAsked)
	s.before = text("old_string", "old_str", "oldText", "old_text", "oldString")
	s.after = text("new_string", "new_str", "newText", "new_text", "newString", "content", "file_text", "contents")
	writes := s.before != "" || s.after != "" || writing(s.tool) && command != "view"
	if path != "" {
		s.files = append(s.files, touch{path, writes})
		return
	}
	s.patched(text("input", "patch", "patch_text", "diff"))
	if command != "" && !s.patched(command) {
		s.command = strings.TrimSpace(command)
	}
}

// shellOf is the script among the arguments of a shell, or the arguments as one line.
func shellOf(argv []string) string {
	if len(argv) == 3 && (argv[1] == "-lc" || argv[1] == "-c") {
		return argv[2]
	}
	return strings.Join(argv, " ")
}

// patched reads a patch in the form that models are taught, and reports whether it was one.
func (s *step) patched(text string) bool {
	if !strings.Contains(text, "*** Begin Patch") {
		return false
	}
	var before, after []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(line, mark); ok {
				s.files = append(s.files, touch{strings.TrimSpace(p), true})
			}
		}
		switch {
		case strings.HasPrefix(line, "-"):
			before = append(before, line[1:])
		case strings.HasPrefix(line, "+"):
			after = append(after, line[1:])
		}
	}
	s.before, s.after = strings.Join(before, "\n"), strings.Join(after, "\n")
	return true
}

// writing reports a tool whose name says that it changes files.
func writing(tool string) bool {
	tool = strings.ToLower(tool)
	return slices.ContainsFunc([]string{"edit", "write", "patch", "replace", "create", "insert", "delete"},
		func(w string) bool { return strings.Contains(tool, w) }) && !strings.HasPrefix(tool, "todo")
}

// judge says from a result whether a step failed. Clients keep no more of that than their words for it.
func (s *step) judge() {
	out := bytes.TrimSpace(s.out)
	code := s.code
	head := out[:min(len(out), 400)]
	for _, mark := range [...]string{"The user doesn't want to", "<tool_use_error>Sibling tool call errored",
		"Request interrupted", "[Request interrupted", "Permission to use ", "User rejected", "rejected by user"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			s.refused, s.failed = true, true
			return
		}
	}
	s.failed = bytes.HasPrefix(head, []byte("<tool_use_error>")) || bytes.HasPrefix(head, []byte("Error: ")) ||
		bytes.HasPrefix(head, []byte("File has been unexpectedly modified"))
	for line := range bytes.Lines(head) {
		if m := forms().exitLine.FindSubmatch(bytes.TrimSpace(line)); m != nil && code == "" {
			code = string(m[1])
		}
	}
	last := out[bytes.LastIndexByte(out, '\n')+1:]
	if m := forms().exitLine.FindSubmatch(bytes.TrimSpace(last)); m != nil && code == "" {
		code = string(m[1])
	}
	if n, err := strconv.Atoi(code); err == nil {
		s.exit, s.failed = &n, s.failed || n != 0
	} else if s.command != "" {
		s.failed = s.failed || complains(s.command, string(out))
	}
}

// complains reports an output that is nothing but the complaint of a program that was run: clients that keep no exit
// code keep no more of a failure.
func complains(command, out string) bool {
	const most = 2000
	first, _, _ := strings.Cut(out, "\n")
	looks := onlyLooks(command) // what it prints may be anybody's: only its own name tells that it complains
	switch {
	case strings.HasPrefix(first, "Traceback (most recent call last)"):
		return !looks
	case len(out) > most || first == "":
		return false
	}
	runs := []string{"bash", "sh", "zsh"}
	if !looks {
		runs = append(runs, "error", "fatal", "hint")
	}
	for _, c := range split(command) {
		if f := strings.Fields(forms().assigned.ReplaceAllString(c, "")); len(f) > 0 {
			runs = append(runs, path.Base(f[0]))
		}
	}
	complaint := func(line string) bool {
		who, _, ok := strings.Cut(line, ": ")
		return ok && slices.Contains(runs, who)
	}
	if strings.HasPrefix(first, "fatal: ") {
		return slices.Contains(runs, "git")
	}
	for line := range strings.Lines(out) {
		if strings.TrimSpace(line) != "" && !complaint(line) {
			return false
		}
	}
	return true
}

// firstLine is the first line with words in it, cut to so many characters.
func firstLine(text []byte, most int) string {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(bytes.Trim(line, "#*-=_`> \t")) > 0 {
			return cut(string(line), most)
		}
	}
	return ""
}

func cut(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
