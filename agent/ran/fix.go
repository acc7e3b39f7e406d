package ran

import (
	"cmp"
	"slices"
	"strings"
)

// What became of an error, as far as a conversation tells.
const (
	Gone    = "gone"        // what had given it was run again without it
	Changed = "other error" // what had given it was run again, and failed with something else
	Open    = "not checked" // nothing of the kind was run again
)

// A Fix is what was run after an error.
type Fix struct {
	Where
	Error   string `json:"error"`   // the line, as it stood there
	Match   string `json:"match"`   // what of it is the same: verbatim, numbers, paths, end, words
	Command string `json:"command"` // what gave it: a command, or a tool and a file; "" where a person reported it
	Steps   []Step `json:"steps"`   // what was run then, without what only looked at something
	More    int    `json:"more,omitempty"`
	Said    *Ask   `json:"said,omitempty"` // what a person said meanwhile
	Outcome string `json:"outcome"`        // Gone, Changed or Open
	Check   *Step  `json:"check,omitempty"`
	Tries   int    `json:"tries,omitempty"` // how often the error had come back before
	Times   int    `json:"times"`           // how often it was dealt with in this way

	standing
	sure int
}

// A Step is one thing that was run.
type Step struct {
	Message int    `json:"message"`
	Tool    string `json:"tool"`
	Command string `json:"command,omitempty"`
	File    string `json:"file,omitempty"`
	Before  string `json:"before,omitempty"` // of an edit: the first line that went
	After   string `json:"after,omitempty"`  // and the first one that came
	Failed  bool   `json:"failed,omitempty"`
	Times   int    `json:"times,omitempty"` // of edits of one file in a row, of which this is the last
}

// mostSteps is how many steps after an error are shown, mostAfter how far they are looked for.
const (
	mostSteps = 5
	mostAfter = 80
)

// Fixes finds what was run after an error in conversations: those first that have most of its lines, then those after
// which it was gone, then the nearest, then the newest. Lines that have the end of the error, or else its words, count
// only where none is nearer.
func Fixes(talks []*Talk, pasted string) []Fix {
	list := looked(pasted)
	if len(list) == 0 {
		return nil
	}
	var out []Fix
	for _, loose := range []bool{false, true} {
		for _, t := range talks {
			out = append(out, t.fixes(list, loose)...)
		}
		if len(out) > 0 {
			break
		}
	}
	if ends := func(f Fix) bool { return f.near <= ending }; slices.ContainsFunc(out, ends) {
		out = slices.DeleteFunc(out, func(f Fix) bool { return !ends(f) })
	}
	if followed := func(f Fix) bool { return len(f.Steps) > 0 || f.Check != nil }; slices.ContainsFunc(out, followed) {
		out = slices.DeleteFunc(out, func(f Fix) bool { return !followed(f) })
	}
	slices.SortStableFunc(out, func(a, b Fix) int {
		return cmp.Or(cmp.Compare(b.lines, a.lines), cmp.Compare(b.rank(), a.rank()), cmp.Compare(a.near, b.near),
			cmp.Compare(b.words, a.words), cmp.Compare(b.sure, a.sure), b.Time.Compare(a.Time),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return alike(out, func(f *Fix) string { return f.kind() }, func(f *Fix) { f.Times++ })
}

// rank puts first what helped.
func (f *Fix) rank() int {
	switch {
	case f.Outcome == Gone && len(f.Steps) > 0:
		return 3
	case f.Outcome == Gone:
		return 2
	case f.Outcome == Changed:
		return 1
	}
	return 0
}

// kind is what two fixes have in common that do the same.
func (f *Fix) kind() string {
	var b strings.Builder
	b.WriteString(folded(f.Error, anywhere) + "\x00" + f.Outcome)
	for _, s := range f.Steps {
		b.WriteString("\x00" + folded(plain(s.Command), anywhere) + "\x00" + s.File + "\x00" + s.After)
	}
	return b.String()
}

// alike drops of each kind all but the first, which counts them.
func alike[T any](list []T, kind func(*T) string, count func(*T)) []T {
	at := map[string]int{}
	out := list[:0]
	for i := range list {
		k := kind(&list[i])
		n, known := at[k]
		if !known {
			n, at[k] = len(out), len(out)
			out = append(out, list[i])
		}
		count(&out[n])
	}
	return out
}

// A met is one place in a conversation where the error stands.
type met struct {
	step    int // the one that gave it, or before which a person reported it
	message int
	told    bool // by a person
	standing
}

// met lists where the error stands: in what commands gave, in failures of other tools, and in what a person pasted. A
// file that was read and has such a line in it is no error.
func (t *Talk) met(list []wanted, loose bool) (out []met) {
	next := 0
	for i := range t.steps {
		for ; next < len(t.turns) && t.turns[next].at <= i; next++ {
			out = t.reported(out, &t.turns[next], list, loose)
		}
		s := &t.steps[i]
		if is := in(list, t.output(s), loose); is.near < apart {
			if s = t.step(i); s.failed || s.command != "" && !onlyLooks(s.command) {
				out = append(out, met{i, s.result, false, is})
			}
		}
	}
	for ; next < len(t.turns); next++ {
		out = t.reported(out, &t.turns[next], list, loose)
	}
	return out
}

func (t *Talk) reported(out []met, u *turn, list []wanted, loose bool) []met {
	if is := in(list, u.text, loose); is.near < apart {
		return append(out, met{u.at, u.message, true, is})
	}
	return out
}

// fixes follows each error to where it was gone. One that came back before that was tried in vain.
func (t *Talk) fixes(list []wanted, loose bool) (out []Fix) {
	all, tries := t.met(list, loose), 0
	for n, m := range all {
		end := len(t.steps)
		if n+1 < len(all) {
			end = all[n+1].step
		}
		f := t.follow(m, end)
		if f.Outcome == Open && n+1 < len(all) && all[n+1].step-m.step < mostAfter {
			tries++ // it came back
			continue
		}
		f.Tries, tries = tries, 0
		out = append(out, f)
	}
	return out
}

// follow tells what was run after an error, up to step end.
func (t *Talk) follow(m met, end int) Fix {
	f := Fix{Where: t.at(m), Error: cut(m.line, 240), Match: matchNames()[m.near], Outcome: Open,
		standing: m.standing}
	from, gave := m.step, (*step)(nil)
	if !m.told {
		gave, from = t.step(m.step), m.step+1
		f.Command = gave.short()
	}
	end = min(end, from+mostAfter)
	last := end
	for i := from; i < end && gave != nil; i++ {
		s := t.step(i)
		sure := s.repeats(gave)
		if s.result == 0 || s.refused || sure == another || s.failed && s.command != "" && sure < sameWork {
			continue
		}
		last, f.sure, f.Outcome = i, sure, Gone
		if s.failed {
			f.Outcome = Changed
		}
		check := s.show()
		f.Check = &check
		if !s.failed || s.command == "" {
			break
		}
	}
	t.between(&f, from, last, gave)
	return f
}

// at is the place of an error.
func (t *Talk) at(m met) Where {
	if m.step < len(t.steps) && !m.told {
		return t.where(m.step)
	}
	w := Where{Path: t.Path, Message: m.message}
	for _, u := range t.turns {
		if u.message == m.message {
			w.Time, w.Asked = u.when, &Ask{u.message, firstLine(u.text, mostAsked)}
		}
	}
	return w
}

// between fills in the steps from one to another, and what a person said meanwhile.
func (t *Talk) between(f *Fix, from, last int, gave *step) {
	all := gave != nil && gave.command == "" // an edit fails until the file was read
	for _, only := range []bool{!all, false} {
		for i := from; i < last; i++ {
			s := t.step(i)
			if s.refused || only && (s.command == "" && !s.wrote() || s.command != "" && onlyLooks(s.command)) {
				continue
			}
			one, n := s.show(), len(f.Steps)
			if n > 0 && one.File != "" && f.Steps[n-1].File == one.File && f.Steps[n-1].Tool == one.Tool {
				one.Times = max(1, f.Steps[n-1].Times) + 1
				f.Steps[n-1] = one
				continue
			}
			f.Steps = append(f.Steps, one)
		}
		if len(f.Steps) > 0 || f.Outcome == Gone {
			break
		}
	}
	if f.Outcome == Open && len(f.Steps) > 2 {
		f.Steps = f.Steps[:2] // nobody knows what belongs to the error
	} else if n := len(f.Steps) - mostSteps; n > 0 {
		f.Steps, f.More = f.Steps[n:], n // the last ones helped
	}
	for _, u := range t.turns {
		if u.at >= from && u.at <= last && u.message > f.Result && u.message != f.Message {
			f.Said = &Ask{u.message, firstLine(u.text, mostAsked)}
			break
		}
	}
}

// repeats says how surely a step does what an earlier one did.
func (s *step) repeats(earlier *step) int {
	switch {
	case earlier.command != "" && s.command != "":
		return again(earlier.command, s.command)
	case earlier.command == "" && s.command == "" && s.tool == earlier.tool && !s.failed:
		if slices.Equal(s.paths(), earlier.paths()) {
			return sameWork
		} else if len(earlier.files) == 0 {
			return likeIt // the client did not keep what it was given
		}
	}
	return another
}

func (s *step) paths() (out []string) {
	for _, f := range s.files {
		out = append(out, f.path)
	}
	return out
}

func (s *step) wrote() bool {
	return slices.ContainsFunc(s.files, func(f touch) bool { return f.writes })
}

// short is a step in one line.
func (s *step) short() string {
	if s.command != "" {
		return cut(s.command, 400)
	}
	return strings.TrimSpace(s.tool + " " + strings.Join(s.paths(), " "))
}

func (s *step) show() Step {
	out := Step{Message: s.message, Tool: s.tool, Command: cut(s.command, 400), Failed: s.failed}
	if s.command == "" {
		out.File = strings.Join(s.paths(), " ")
		out.Before, out.After = firstChange(s.before, s.after)
	}
	return out
}

// firstChange is the first line that an edit took away, and the first that it brought.
func firstChange(before, after string) (went, came string) {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	went = first(old, now)
	return went, first(now, old)
}

func first(of, without []string) string {
	for _, l := range of {
		if strings.TrimSpace(l) != "" && !slices.Contains(without, l) {
			return cut(l, mostAsked)
		}
	}
	return ""
}
