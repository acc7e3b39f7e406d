package vault

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"stet/vault/gitstore"
	"stet/vault/guard"
)

// Words that commits and files of a vault hold.
const (
	// ActorUser is the actor of what a person did.
	ActorUser = "user"
	// SkillPinned and SkillManaged are marks in the metadata of a SKILL.md, "true" where they hold: no
	// machine changes the skill; a person gave it over to machines.
	SkillPinned  = "stet-pinned"
	SkillManaged = "stet-managed"
	// UsageFolder is where each clone's curator keeps how often skills were used there, one file a clone.
	UsageFolder = ".stet/usage"
	// ElsewhereFolder has a record of each skill from elsewhere: that of skills/a/b is a/b.yaml.
	ElsewhereFolder = ".stet/skills"
)

// A Writer says who writes and on whose word.
type Writer struct {
	// Actor is user, agent, curator…; "" is user. For any other actor the
	// author is AgentName, else Actor, with an address under agent.invalid.
	Actor     string
	AgentName string
	Door      string // cli, mcp…; "" leaves the trailer out
	Session   string
	// Again lets a machine propose what was rejected before: a person asked for it. Of a person's
	// write the commit says so, and what was rejected stays so for machines.
	Again bool
	// Approver is the person who let a machine write, as "Name <address>"; "" is
	// nobody, and where machines have to be approved their write waits.
	Approver string
	// Via is the agent at whose command another one's words, or a person's, are committed; "" is that of
	// [Options.Via].
	Via string
	// Given are words as they were given from which names of files and folders are
	// made: a slug no longer looks like the secret that it spells. The guard checks
	// them, the message does not hold them.
	Given []string
	// Asked names the turns of a person's that ask for a machine's change of one memory or notebook that a
	// person wrote, given without the keys that stet keeps, or says why none do; nil knows of none.
	Asked func(_ context.Context, from, to Path, before, after []byte) (turns []string, err error) `json:"-"`
	// Extra are those that [Writer.Trail] added, in order.
	Extra []trailerLine
}

// Carry adds those trailers of a proposal that come along with it when it is accepted.
func (w *Writer) Carry(extra [][2]string) {
	for _, l := range extra {
		if slices.ContainsFunc(trailerKeys(), func(k trailer) bool { return k.carried && k.key == l[0] }) {
			w.Trail(l[0], l[1])
		}
	}
}

// Trail adds a trailer of the table, one without values of its own; any other is left out.
func (w *Writer) Trail(key, value string) {
	w.Extra = append(slices.Clip(w.Extra), trailerLine{key, value})
}

// A Why describes a commit: its subject, author and trailers. Op and Subject are
// required.
type Why struct {
	Writer
	Op       Op
	Subject  string // without the "op: " in front; cut to fit
	Run      string
	Body     string     // free text between subject and trailers
	Memories []string   // ids, or path#hash of entries
	Settles  bool       // it answers what waits in the inbox: of a person's memories an agent only proposes that
	Moved    [][2]Path  // renames that history should follow
	Reverts  []Revision // commits this one takes back
}

// A trailerLine is one "Key: value" line.
type trailerLine struct{ Key, Value string }

// trailers are the lines of a commit message's last paragraph, in order.
type trailers []trailerLine

// Get is the first value of key, "" when there is none. Keys are compared
// without case, as git does.
func (t trailers) Get(key string) string {
	for _, l := range t {
		if strings.EqualFold(l.Key, key) {
			return l.Value
		}
	}
	return ""
}

// All lists the values of key in order.
func (t trailers) All(key string) []string {
	var out []string
	for _, l := range t {
		if strings.EqualFold(l.Key, key) {
			out = append(out, l.Value)
		}
	}
	return out
}

// subjectWidth is the width git's own tools are made for.
const subjectWidth = 72

// Message renders the commit message. What is likely meant to be kept from others is left out of subject and body,
// as it is of names: whoever may list commits reads them.
func (w *Why) Message() string {
	var b strings.Builder
	b.WriteString(subjectLine(w.Op, w.Subject))
	b.WriteString("\n\n")
	if body := strings.TrimSpace(oneParagraphEach(guard.Elided(w.Body))); body != "" {
		b.WriteString(body + "\n\n")
	}
	for _, l := range w.trailers() {
		fmt.Fprintf(&b, "%s: %s\n", l.Key, l.Value)
	}
	return b.String()
}

func subjectLine(op Op, subject string) string {
	return cutRunes(fmt.Sprintf("%s: %s", op, guard.Elided(oneLine(subject))), subjectWidth)
}

// A trailer is one key of commit messages.
type trailer struct {
	key     string
	values  func(*Why) []string // nil: what [Why.Extra] has of it, in its order
	carried bool                // a proposal brings it along; the others are made anew
}

// trailerKeys lists the trailers of docs/FORMAT.md in the order in which they stand.
func trailerKeys() []trailer {
	one := func(s string) []string { return []string{s} }
	return []trailer{
		{key: "Stet-Op", values: func(w *Why) []string { return one(string(w.Op)) }},
		{key: "Stet-Actor", values: func(w *Why) []string { return one(w.actor()) }},
		{key: "Stet-Door", values: func(w *Why) []string { return one(w.Door) }},
		{key: "Stet-Memory", values: func(w *Why) []string { return w.Memories }},
		{key: "Stet-Moved", values: func(w *Why) (out []string) {
			for _, m := range w.Moved {
				out = append(out, quotePath(m[0])+" "+quotePath(m[1]))
			}
			return out
		}},
		{key: "Stet-Session", values: func(w *Why) []string { return one(w.Session) }},
		{key: "Stet-Run", values: func(w *Why) []string { return one(w.Run) }},
		{key: "Stet-Via", values: func(w *Why) []string { return one(w.Via) }},
		{key: "Stet-Again", values: func(w *Why) []string {
			if !w.Again || w.actor() != ActorUser {
				return nil
			}
			return one("yes")
		}},
		{key: "Stet-Approved-By", values: func(w *Why) []string { return one(w.Approver) }},
		{key: "Stet-Rule", carried: true}, {key: "Stet-Confidence", carried: true}, {key: "Stet-Mode", carried: true},
		{key: "Stet-Filed", carried: true}, {key: "Supersedes", carried: true}, {key: "Conflicts-With", carried: true},
		{key: "May-Outdate"}, {key: "Stet-Finishes"}, {key: "Stet-Redacted"}, {key: "Stet-Flag"},
		{key: "Stet-Source", carried: true}, {key: "Stet-Because"}, {key: saidTrailer},
		{key: "Stet-Absorbed-Into", carried: true}, {key: "Stet-Reason", carried: true},
		{key: "Reverts", values: func(w *Why) (out []string) {
			for _, r := range w.Reverts {
				out = append(out, string(r))
			}
			return out
		}},
	}
}

func (w *Why) trailers() (t trailers) {
	add := func(key string, values ...string) {
		for _, v := range values {
			if v = oneLine(v); v != "" {
				t = append(t, trailerLine{key, v})
			}
		}
	}
	keys := trailerKeys()
	extra := slices.IndexFunc(keys, func(k trailer) bool { return k.values == nil })
	for _, k := range keys[:extra] {
		add(k.key, k.values(w)...)
	}
	for _, l := range w.Extra {
		if slices.ContainsFunc(keys, func(k trailer) bool { return k.values == nil && k.key == l.Key }) {
			add(l.Key, l.Value)
		}
	}
	for _, k := range keys[extra:] {
		if k.values != nil {
			add(k.key, k.values(w)...)
		}
	}
	return t
}

func (w Writer) actor() string {
	if w.Actor == "" {
		return ActorUser
	}
	return w.Actor
}

// Author is the person for what a person did, else the agent.
func (w *Why) Author(c *gitstore.Config) gitstore.Signature {
	if w.actor() == ActorUser {
		return c.Identity("AUTHOR")
	}
	name := w.machineName()
	return gitstore.Signature{Name: name, Email: strings.ReplaceAll(strings.ToLower(name), " ", "-") + "@agent.invalid"}
}

// via is the agent at whose command a person's edits are committed.
func (w Writer) via() string {
	if w.Via == "" && w.actor() != ActorUser {
		return w.machineName()
	}
	return w.Via
}

// machineName is the author's name of what a machine did.
func (w Writer) machineName() string { return cmp.Or(agentName(w.AgentName), agentName(w.Actor)) }

func agentName(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < 0x20 || r == '<' || r == '>' || r == '@' || r == 0x7f {
			return -1
		}
		return r
	}, s))
}

// parseMessage splits a commit message into subject, body and trailers. The
// last paragraph counts as trailers only when each of its lines is one.
func parseMessage(msg string) (subject, body string, t trailers) {
	subject, rest, _ := strings.Cut(strings.TrimRight(msg, "\n"), "\n")
	rest = strings.Trim(rest, "\n")
	last := rest
	for _, after, more := strings.Cut(last, "\n\n"); more; _, after, more = strings.Cut(last, "\n\n") {
		last = strings.TrimLeft(after, "\n") // a search from the end goes slowly over thousands of moves
	}
	t = make(trailers, 0, strings.Count(last, "\n")+1)
	for line := range strings.SplitSeq(last, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || key == "" || strings.ContainsAny(key, " \t") {
			return subject, rest, nil
		}
		t = append(t, trailerLine{key, strings.TrimSpace(value)})
	}
	return subject, strings.TrimRight(strings.TrimSuffix(rest, last), "\n"), t
}

// moves reads the Stet-Moved trailers.
func (t trailers) moves() [][2]Path {
	var out [][2]Path
	for _, v := range t.All("Stet-Moved") {
		from, rest, err := unquotePath(v)
		if err != nil {
			continue // a hand-written trailer decides nothing
		}
		to, _, err := unquotePath(strings.TrimSpace(rest))
		if err == nil {
			out = append(out, [2]Path{from, to})
		}
	}
	return out
}

// quotePath quotes a path so that any bytes survive on one line. Go's syntax
// is a superset of what git's C-style quoting needs for valid UTF-8.
func quotePath(p Path) string { return strconv.Quote(string(p)) }

func unquotePath(s string) (Path, string, error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", err
	}
	text, err := strconv.Unquote(q)
	return Path(text), s[len(q):], err
}

// oneLine folds white space and drops control characters.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	}), " ")
}

// oneParagraphEach keeps a body from being read as trailers by never letting
// it end in "Key: value" lines: such lines are indented.
func oneParagraphEach(s string) string {
	lines := strings.Split(strings.ToValidUTF8(s, "\ufffd"), "\n")
	for i, l := range lines {
		if _, _, t := parseMessage("x\n\n" + l); len(t) > 0 {
			lines[i] = "  " + l
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\x00", "")
}

// cutRunes cuts s to n code points, the last an ellipsis when it was longer.
func cutRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}

// gitReverts finds what plain "git revert" writes into its message.
var gitReverts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`This reverts commit ([0-9a-f]{40})`)
})

// Reverts lists the commits that c takes back, by its trailers or by the message of a plain
// "git revert".
func (c Commit) Reverts() []Revision {
	var out []Revision
	for _, rev := range c.Trailers.All("Reverts") {
		out = append(out, Revision(rev))
	}
	// git 2.43 and later call the revert of a revert so.
	if strings.HasPrefix(c.Subject, "Revert ") || strings.HasPrefix(c.Subject, "Reapply ") {
		for _, m := range gitReverts().FindAllStringSubmatch(c.Body, -1) {
			out = append(out, Revision(m[1]))
		}
	}
	return out
}
