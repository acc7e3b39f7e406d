package agent

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"
	"time"

	"stet/agent/ran"
	"stet/agent/recall"
	"stet/index"
	"stet/index/document"
	"stet/vault"
	"stet/vault/coderepo"
	"stet/vault/session"
	"stet/vault/settings"
)

// SessionQuery asks what was said.
type SessionQuery struct {
	recall.Query
	Matches   bool // messages alone, best first
	All       bool // all that matches with what was said around it, not the best of each conversation
	Summarise bool // let the model for small tasks say what the conversations answer
}

// SessionsFound is the answer to a [SessionQuery], best first.
type SessionsFound struct {
	Query     string          `json:"query"`
	Tier      string          `json:"tier"`
	Total     int             `json:"total"`               // messages that match
	Degraded  string          `json:"degraded,omitempty"`  // why files were searched in place of the index
	Operators []string        `json:"operators,omitempty"` // the parts of the query that were not read as words
	Uncovered int             `json:"uncovered,omitempty"` // messages not searched: their file is binary, or missing
	Summary   *recall.Summary `json:"summary,omitempty"`
	Sessions  []FoundSession  `json:"sessions"`
	Matches   []SessionMatch  `json:"matches,omitempty"`
}

// A FoundSession is a conversation and what of it answers; parts that went on in other sessions,
// or worked for it, are segments of their own.
type FoundSession struct {
	Session  session.Known    `json:"session"`
	Score    float64          `json:"score"`
	Passages []SessionMatch   `json:"passages,omitempty"` // best first, without All at most [mostPassages]
	More     int              `json:"more,omitempty"`     // messages that match as well
	Segments []SessionSegment `json:"segments,omitempty"` // with All alone
}

// mostPassages is how many messages of a conversation an answer shows unless asked for all.
const mostPassages = 3

// A SessionSegment is a run of messages of one session.
type SessionSegment struct {
	Session  string     `json:"session"`
	Path     vault.Path `json:"path,omitempty"` // "" while it is open
	Open     bool       `json:"open,omitempty"`
	Messages []Message  `json:"messages"`
}

// A SessionMatch is a message that answers.
type SessionMatch struct {
	Session      string     `json:"session"`
	Path         vault.Path `json:"path,omitempty"` // "" while it is open
	Open         bool       `json:"open,omitempty"` // not sealed, or not all of it
	Message      int        `json:"message"`
	Line         int        `json:"line"`
	Role         string     `json:"role"`
	Speaker      string     `json:"speaker,omitempty"`
	Ref          string     `json:"ref,omitempty"`
	Time         time.Time  `json:"time,omitzero"` // UTC
	Score        float64    `json:"score"`
	Tier         string     `json:"tier"`
	Snippet      string     `json:"snippet"`
	At           int        `json:"-"`                       // where in Snippet the first word of the query stands
	SupersededBy string     `json:"superseded_by,omitempty"` // the memory that superseded one of this message
	Label
}

// Search finds conversations and messages, open sessions included. A summary that cannot be had is
// a notice, and the result is that without one.
func (s Sessions) Search(ctx context.Context, q SessionQuery) (out *SessionsFound, err error) {
	x, live, err := s.searcher(ctx)
	if err != nil {
		return nil, err
	}
	q.Live = live
	if q.Matches {
		return s.matches(ctx, x, q)
	}
	q.Alone = !q.All && !q.Summarise
	answer, err := recall.Sessions(ctx, s.a.v, x, q.Query)
	if err != nil {
		return nil, err
	}
	s.notice(answer.Degraded, answer.Warnings)
	out = &SessionsFound{
		Query: q.Text, Tier: answer.Tier, Total: answer.Total, Degraded: answer.Degraded, Operators: answer.Operators,
		Uncovered: answer.Uncovered, Sessions: []FoundSession{},
	}
	if q.Summarise && len(answer.Found) > 0 {
		if out.Summary, err = s.summarise(ctx, q, answer); err != nil {
			return nil, err
		}
	}
	for _, f := range answer.Found {
		found := FoundSession{Session: s.a.viewSession(f.Root), Score: f.Score}
		if out.Summary != nil {
			f.Segments, f.Matches = nil, nil // the summary stands for them
		}
		said := map[string]bool{}
		for i, m := range f.Matches {
			if i > 0 && len(m.Highlights) == 0 {
				continue // what stands beside it matches
			}
			if !q.All && (len(found.Passages) == mostPassages || said[m.Snippet]) {
				found.More++
				continue
			}
			said[m.Snippet] = true
			found.Passages = append(found.Passages, s.match(m))
		}
		for _, seg := range f.Segments {
			in := s.a.viewSession(seg.In)
			shown := SessionSegment{in.ID, in.Path, in.Open, s.a.viewLines(seg.In, seg.Lines)}
			found.Segments = append(found.Segments, shown)
		}
		out.Sessions = append(out.Sessions, found)
	}
	return out, nil
}

func (s Sessions) matches(ctx context.Context, x *index.Index, q SessionQuery) (*SessionsFound, error) {
	m, err := recall.FindMatches(ctx, s.a.v, x, q.Query)
	if err != nil {
		return nil, err
	}
	s.notice(m.Degraded, m.Warnings)
	out := &SessionsFound{Query: q.Text, Tier: m.Tier, Total: m.Total, Degraded: m.Degraded, Operators: m.Operators,
		Uncovered: m.Uncovered, Sessions: []FoundSession{}}
	for _, h := range m.List {
		out.Matches = append(out.Matches, s.match(h))
	}
	return out, nil
}

func (s Sessions) match(h recall.Match) SessionMatch {
	in := s.a.viewSession(h.In)
	at := 0
	if len(h.Highlights) > 0 {
		at = h.Highlights[0].Start
	}
	return SessionMatch{
		At: at, Session: in.ID, Path: in.Path, Open: in.Open, Message: h.Message, Line: h.Line, Role: h.Role,
		Speaker: h.Speaker, Ref: h.Ref, Time: utc(h.Updated), Score: h.Score, Tier: h.Tier, Snippet: h.Snippet,
		SupersededBy: h.SupersededBy, Label: s.a.said(h.In)(h.Role, h.Snippet),
	}
}

func (s Sessions) notice(degraded string, warnings []string) {
	if degraded != "" {
		s.a.warn("index unavailable (%s); searched files directly", degraded)
	}
	for _, w := range warnings {
		s.a.warn("%s", w)
	}
}

// summarise asks the model for a summary of an answer, nil where there is none to be had.
func (s Sessions) summarise(ctx context.Context, q SessionQuery, a *recall.Answer) (sum *recall.Summary, err error) {
	model, done := s.a.auxiliary(s.a.Settings())
	defer done()
	if model == nil {
		s.a.warn("no model is configured: this is what was said")
		return nil, nil
	}
	sum, err = recall.Summarise(ctx, s.a.v, model, q.Text, a, q.Budget)
	switch {
	case ctx.Err() != nil:
		return sum, context.Cause(ctx)
	case err != nil:
		s.a.warn("no summary: %v; this is what was said", err)
		sum = nil
	case sum.LeftOut > 0:
		s.a.note("%s, private or like a secret, not shown to the model", Plural(sum.LeftOut, "message"))
	}
	return sum, nil
}

// searcher opens the search index, with the open sessions where there are any.
func (s Sessions) searcher(ctx context.Context) (*index.Index, *recall.Live, error) {
	x, err := s.a.Index(false)
	if err != nil {
		return nil, nil, err
	}
	live, err := recall.Open(ctx, s.a.v)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range live.Warnings {
		s.a.warn("%s", w)
	}
	if !live.Any() {
		return x, nil, nil
	}
	// What is in files goes into the index now, so that only open sessions are left to be read for
	// this query. Where that fails the search says what it does without.
	_, err = x.CatchUp(ctx)
	if ctx.Err() != nil {
		return nil, nil, err
	}
	x, err = s.a.sourceIndex(live, time.Time{})
	return x, live, err
}

// RanQuery asks what was run in conversations.
type RanQuery struct {
	Text           string // an error as it was pasted, words of a command, or a path
	Agent, Project string // "" for all
	Limit          int    // answers; 0 is all, from all conversations, however long that takes
	Folder         string // of [Sessions.Files]: one in a repository of code whose commits are named; "" for none
}

// RanIn is in which conversation something was run.
type RanIn struct {
	Session string     `json:"session"`
	Path    vault.Path `json:"path,omitempty"` // "" while it is open
	Title   string     `json:"title"`
	Project string     `json:"project,omitempty"`
	Label
}

// Ran is the answer to a [RanQuery].
type Ran struct {
	Query    string       `json:"query"`
	Total    int          `json:"total"`              // answers, shown or not
	Searched int          `json:"searched"`           // conversations that were read
	Older    int          `json:"older,omitempty"`    // others with the words, that were not: it would take too long
	Degraded string       `json:"degraded,omitempty"` // why files were searched in place of the index
	Fixes    []RanFix     `json:"fixes,omitempty"`
	Commands []RanCommand `json:"commands,omitempty"`
	Files    []RanFile    `json:"files,omitempty"`
}

// A RanFix is what was run after an error.
type RanFix struct {
	RanIn
	ran.Fix
}

// A RanCommand is a command that was run and succeeded.
type RanCommand struct {
	RanIn
	ran.Command
}

// A RanFile is what a conversation did with a file, and the commits of a repository that fall into it, newest first.
type RanFile struct {
	RanIn
	ran.Touch
	Commits []coderepo.Commit `json:"commits,omitempty"`
}

// Fix finds what was run after an error before, and whether it went away. See [ran.Fixes]. It fails with [ErrUsage] for
// a text that has no words.
func (s Sessions) Fix(ctx context.Context, q RanQuery) (*Ran, error) {
	q.Text = ran.Ends(q.Text)
	var all []ran.Fix
	var r *recall.Ran
	tries, err := ran.Tries(q.Text)
	for i := 0; i < len(tries) && err == nil && (i == 0 || !tries[i-1].Enough(all)); i++ {
		var found *recall.Ran
		if found, err = s.ran(ctx, q, tries[i].Words, tries[i].Holds); err == nil {
			if fixes := ran.Fixes(found.Talks, q.Text); i == 0 || ran.Better(fixes, all) {
				r, all = found, fixes
			}
		}
	}
	if errors.Is(err, ran.ErrNoWords) {
		return nil, Usagef("%v: %q", err, q.Text)
	} else if err != nil {
		return nil, err
	}
	out := q.answer(r, len(all))
	for _, f := range all[:min(len(all), q.Limit)] {
		out.Fixes = append(out.Fixes, RanFix{s.in(r, f.Path, f.Error, f.Command), f})
	}
	return out, nil
}

// How finds commands that were run and succeeded. See [ran.Commands].
func (s Sessions) How(ctx context.Context, q RanQuery) (*Ran, error) {
	lang, err := document.LanguageOf(s.a.Settings().Text(settings.SearchLanguage))
	if err != nil {
		return nil, err
	}
	r, err := s.ran(ctx, q, q.Text, nil)
	if err != nil {
		return nil, err
	}
	all := ran.Commands(r.Talks, q.Text, lang)
	out := q.answer(r, len(all))
	for _, c := range all[:min(len(all), q.Limit)] {
		out.Commands = append(out.Commands, RanCommand{s.in(r, c.Path, c.Command, c.About), c})
	}
	return out, nil
}

// Files finds the conversations that changed or read a file, and, where it stands in a repository of code, the commits
// that fall into them. See [ran.Touched]. A repository that cannot be read is a notice.
func (s Sessions) Files(ctx context.Context, q RanQuery) (*Ran, error) {
	names, base := []string{q.Text}, path.Base(filepath.ToSlash(q.Text))
	name := q.named(q.Text)
	if strings.Contains(name, "/") {
		names = append(names, name) // in another clone its folder is another one
	}
	r, err := s.ran(ctx, q, base, func(text []byte) bool { return ran.MayName(text, base) })
	if err != nil {
		return nil, err
	}
	all := ran.Touched(r.Talks, names...)
	changed, since := ran.Changes(all)
	for i := 0; name == "" && i < len(changed); i++ {
		name = q.named(changed[i])
	}
	var commits []coderepo.Commit
	if name != "" && len(changed) > 0 {
		if commits, err = coderepo.Commits(ctx, q.Folder, name, since, s.a.o.Getenv); err != nil {
			s.a.warn("commits are not named: %v", err)
		}
	}
	of := map[int][]coderepo.Commit{}
	for _, c := range commits {
		if i := r.MadeIn(all, name, c.Time); i >= 0 {
			of[i] = append(of[i], c)
		}
	}
	out := q.answer(r, len(all))
	for i, f := range all[:min(len(all), q.Limit)] {
		out.Files = append(out.Files, RanFile{s.in(r, f.Path, append(f.Files, f.Line)...), f, of[i]})
	}
	return out, nil
}

// ran reads the conversations that have the words.
func (s Sessions) ran(ctx context.Context, q RanQuery, words string, holds func([]byte) bool) (*recall.Ran, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, Usagef("nothing to look for: the text is empty")
	}
	x, live, err := s.searcher(ctx)
	if err != nil {
		return nil, err
	}
	ask := recall.Query{Text: words, Agent: q.Agent, Project: q.Project, Live: live}
	if q.Limit <= 0 {
		ask.Limit = -1
	}
	r, err := recall.WhatRan(ctx, s.a.v, x, ask, holds)
	if err == nil {
		s.notice(r.Degraded, nil)
	}
	return r, err
}

func (q *RanQuery) answer(r *recall.Ran, total int) *Ran {
	if q.Limit <= 0 {
		q.Limit = total
	}
	return &Ran{Query: q.Text, Total: total, Searched: len(r.Talks), Older: r.Older, Degraded: r.Degraded}
}

// in names a conversation, and says of the texts that are shown of it whose they are: where an agent told what the user
// said, what tools answered is its word as well.
func (s Sessions) in(r *recall.Ran, p vault.Path, texts ...string) RanIn {
	k := s.a.viewSession(r.Known[p])
	said := s.a.said(k)
	l := said("tool", strings.Join(texts, "\n"))
	if said("user", "").Origin == fromAgent {
		l.Origin = fromAgent
	}
	return RanIn{k.ID, k.Path, k.Title, k.Project, l}
}

// named is what the repository of the query's folder calls a file, "" where there is none.
func (q *RanQuery) named(file string) string {
	if q.Folder == "" {
		return ""
	}
	name, _ := coderepo.Name(q.Folder, file) // without one there is nothing to add
	return name
}
