package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/markdown"
)

// Claude Code keeps a conversation as <projects>/<folder>/<session>.jsonl, one JSON object a line, appended to while it
// goes on, and deletes it after 30 days. The form is internal to it and changes: what is not known here is passed over,
// and the name of the folder, which cannot be turned back into a path, is not used.
//
// Lines form a tree by parentUuid. The answers of tools called at once hang beside
// the chain that leads to the last line and belong to it all the same; a prompt
// beside it was taken back, and what follows from it is a conversation of its own,
// whose parent this one is. So is what a sub-agent did.

func claudeCode() Source {
	return Source{
		Name: "claude-code", Title: "Claude Code, conversations",
		places: func(h Host) []string { return []string{h.under("CLAUDE_CONFIG_DIR", ".claude", "projects")} },
		keep:   hasExt(".jsonl"),
		forked: namesFork,
		is: func(s shape) bool {
			return s.has(".leafUuid", ".summary") || s.has(".snapshot", ".messageId") || s.has(".sessionId", ".type") &&
				(s.has(".uuid") || s.one(".type", "queue-operation", "custom-title", "ai-title", "last-prompt"))
		},
		foreign: func(p string) string {
			base := strings.TrimSuffix(filepath.Base(p), ".jsonl")
			if folder := filepath.Dir(p); strings.HasPrefix(base, "agent-") && filepath.Base(folder) == "subagents" {
				return filepath.Base(filepath.Dir(folder)) + "/" + base
			}
			return base
		},
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".jsonl"), func(name string, in io.Reader) error { return r.claudeCode(name, in) })
		},
	}
}

type claudeLine struct {
	ParentUUID, SessionID, AgentID, LeafUUID, CustomTitle, AITitle string
	IsMeta, IsSidechain, IsCompactSummary                          bool
	Type, UUID, CWD, Summary, GitBranch                            string
	Timestamp, Origin                                              json.RawMessage
	ForkedFrom                                                     struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`
	LogicalParent string `json:"logicalParentUuid"`
	Attachment    struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
	} `json:"attachment"`
	Message struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   struct {
			Input      int `json:"input_tokens"`
			Output     int `json:"output_tokens"`
			CacheRead  int `json:"cache_read_input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// claudeFile is one file as it is read.
type claudeFile struct {
	session string // its own id: the name of the file, unless that is none of the ids that its lines have
	ids     map[string]bool
	branch  string // of the code, the last one
	summed  int    // how often the conversation was
	// formerly is the id that a renamed file gave in earlier versions.
	formerly string
	agent    bool   // a sub-agent's
	parent   string // of a sub-agent
	forked   string // the session that it is a fork of
	cwd      string
	folders  []string // every cwd
	title    string   // the best there is: a person's, a model's, a summary's
	titles   []string // every one
	rank     int
	started  time.Time
	nodes    []claudeNode
	chain    map[string]string // uuid to parent
	names    map[string]string // call to tool
	summary  map[string]string // uuid of a leaf to a title
}

type claudeNode struct {
	claudeLine
	prompt bool // a person's words, not the answer of a tool
	what   spoken
}

func (r *reading) claudeCode(name string, in io.Reader) error {
	c := claudeFile{session: strings.TrimSuffix(filepath.Base(name), ".jsonl"), chain: map[string]string{},
		names: map[string]string{}, summary: map[string]string{}, ids: map[string]bool{}}
	c.agent = strings.HasPrefix(c.session, "agent-")
	err := r.records(name, in, func(_ int, line []byte) error {
		var l claudeLine
		if err := json.Unmarshal(line, &l); err != nil {
			var kind *json.UnmarshalTypeError
			if !errors.As(err, &kind) || l.Type == "" {
				return badLine{plainJSON(err)}
			}
		}
		c.line(&l)
		return nil
	})
	if err != nil {
		return err
	}
	c.renamed()
	if c.agent && c.parent != "" {
		started, ok := r.started[c.parent]
		if !ok {
			started = c.peekParent(r, name)
		}
		return r.claudeAgent(&c, started)
	}
	r.remember(c.session, c.started)
	return r.claudeSession(&c)
}

// renamed gives a file that a person called otherwise the one id that its lines have.
func (c *claudeFile) renamed() {
	if len(c.ids) == 1 && !c.agent && !c.ids[c.session] {
		for id := range c.ids {
			c.formerly, c.session = c.session, id
		}
	}
}

// line takes up one line.
func (c *claudeFile) line(l *claudeLine) {
	if l.SessionID != "" {
		c.ids[l.SessionID] = true
	}
	if l.UUID != "" {
		c.chain[l.UUID] = cmp.Or(l.ParentUUID, l.LogicalParent)
	}
	if l.CWD != "" && !slices.Contains(c.folders, l.CWD) {
		c.cwd, c.folders = cmp.Or(c.cwd, l.CWD), append(c.folders, l.CWD)
	}
	c.forked = cmp.Or(c.forked, l.ForkedFrom.SessionID)
	c.titled(3, l.CustomTitle)
	c.titled(2, l.AITitle)
	if l.Type == "summary" && l.Summary != "" {
		c.summary[l.LeafUUID] = l.Summary // of this conversation only if the leaf is
	}
	n := claudeNode{claudeLine: *l}
	switch {
	case l.Type == "attachment" && l.Attachment.Type == "queued_command":
		// What a person typed while the model was at work.
		n.what = parseContent(l.Attachment.Prompt)
		n.Message.Role = "user"
	case l.Type == "user" || l.Type == "assistant":
		n.what = parseContent(l.Message.Content)
		if n.Message.Role == "" {
			n.Message.Role = l.Type
		}
	default:
		return
	}
	at := timeOf(l.Timestamp)
	if c.started.IsZero() && (!l.IsSidechain || c.agent) {
		c.started = at
	}
	if c.agent && c.parent == "" {
		c.parent = l.SessionID
	}
	c.branch = cmp.Or(l.GitBranch, c.branch)
	if l.IsCompactSummary {
		c.summed++
	}
	if l.IsMeta || l.IsCompactSummary {
		return
	}
	n.Message.Content, n.Attachment.Prompt = nil, nil
	n.prompt = n.Message.Role == "user" && len(n.what.results) == 0
	if n.Message.Role == "user" {
		n.what.text = claudeWords(n.what.text)
		n.what.byMachine(l.Origin)
	}
	for _, call := range n.what.calls {
		c.names[call.ID] = call.Name
	}
	if len(n.what.text)+len(n.what.calls)+len(n.what.results) > 0 {
		c.nodes = append(c.nodes, n)
	}
}

func (c *claudeFile) titled(rank int, title string) {
	if title != "" && rank >= c.rank {
		c.rank, c.title = rank, title
		c.titles = append(c.titles, title)
	}
}

// claudeWords is what a person typed, without what the program put around it.
func claudeWords(texts []string) []string {
	var out []string
	for _, t := range texts {
		t = strings.TrimSpace(withoutInjected(t))
		switch {
		case t == "", strings.HasPrefix(t, "<local-command-stdout>"), strings.HasPrefix(t, "<local-command-stderr>"):
			continue
		case strings.HasPrefix(t, "<command-name>"), strings.HasPrefix(t, "<command-message>"):
			t = strings.TrimSpace(between(t, "command-name") + " " + between(t, "command-args"))
		}
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// peekParent reads when the conversation began that called this sub-agent.
func (c *claudeFile) peekParent(r *reading, name string) time.Time {
	dir := filepath.Dir(name)
	quiet := &reading{ctx: r.ctx}
	for _, p := range []string{filepath.Join(dir, c.parent+".jsonl"), filepath.Join(filepath.Dir(filepath.Dir(dir)), c.parent+".jsonl")} {
		main := claudeFile{session: c.parent, chain: map[string]string{}, names: map[string]string{}, summary: map[string]string{}, ids: map[string]bool{}}
		err := quiet.open(file{path: p}, nil, func(name string, in io.Reader) error {
			return quiet.lines(name, in, func(_ int, line []byte) error {
				var l claudeLine
				_ = json.Unmarshal(line, &l) // read for real, and complained about, in its turn
				if main.line(&l); !main.started.IsZero() {
					return errStop
				}
				return nil
			})
		})
		if err == nil && !main.started.IsZero() {
			r.remember(c.parent, main.started)
			return main.started
		}
	}
	return time.Time{}
}

func (r *reading) claudeAgent(c *claudeFile, parentStarted time.Time) error {
	s := c.begin(c.parent + "/" + c.session)
	s.ParentOrigin, s.ParentStarted = c.parent, parentStarted
	s.fill(c, c.nodes)
	return r.session(s)
}

// claudeSession hands on a file: its main conversation, what was taken back, and
// sub-agents that older versions kept in the same file.
func (r *reading) claudeSession(c *claudeFile) error {
	groups := map[string][]claudeNode{}
	order := []string{""}
	branch, tops := c.branches(), map[string]string{}
	top := func(at string) (string, bool) {
		_, ok := c.chain[c.chain[at]]
		return at, !ok
	}
	for _, n := range c.nodes {
		key := branch[n.UUID]
		if n.IsSidechain {
			key = "agent-" + cmp.Or(n.AgentID, c.climb(n.UUID, tops, top))
		}
		if groups[key] == nil && key != "" {
			order = append(order, key)
		}
		groups[key] = append(groups[key], n)
	}
	sessions := make([]*Session, len(order))
	for i, key := range order {
		foreign := c.session
		if key != "" {
			foreign += "/" + key
		}
		s := c.begin(foreign)
		s.keepsRefs = true
		if key == "" && c.forked != "" {
			s.leaves(c.forked, r.started[c.forked], true)
		}
		if key != "" {
			s.Title, s.titles, s.Started, s.Compactions = "", nil, time.Time{}, 0
			s.ParentOrigin, s.ParentStarted = c.session, c.started
		}
		s.fill(c, groups[key])
		if sessions[i] = s; key != "" && !strings.HasPrefix(key, "agent-") {
			sessions[0].taken = append(sessions[0].taken, s.Messages...)
		}
	}
	for _, s := range sessions {
		if err := r.session(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *claudeFile) begin(foreign string) *Session {
	s := &Session{Transcript: markdown.Transcript{Agent: "claude-code", Provider: "anthropic", Origin: foreign, Project: c.cwd,
		Title: c.title, Started: c.started, Branch: c.branch, Compactions: c.summed},
		Folders: c.folders, titles: c.titles}
	if c.formerly != "" {
		s.Formerly = c.formerly + strings.TrimPrefix(foreign, c.session)
	}
	if s.Title == "" {
		for leaf, summary := range c.summary {
			if _, ok := c.chain[leaf]; !ok {
				continue
			}
			if s.titles = append(s.titles[:len(s.titles):len(s.titles)], summary); s.Title == "" || summary < s.Title {
				s.Title = summary
			}
		}
	}
	return s
}

// fill makes messages of lines. An answer is written line by line, one a block:
// those of one message follow each other and become one.
func (s *Session) fill(c *claudeFile, nodes []claudeNode) {
	last := "" // the id of the answer that the newest message belongs to
	usage := map[string]markdown.TokenUse{}
	for _, n := range nodes {
		at := timeOf(n.Timestamp)
		for i, res := range n.what.results {
			ref := n.UUID
			if i > 0 {
				ref += "#" + itoa(i+1)
			}
			if res.notice {
				ref += noticeRef
			}
			s.Messages = append(s.Messages, markdown.Message{Role: cmp.Or(res.role, "tool"),
				Name: cmp.Or(res.name, c.names[res.call]), Call: res.call, Time: at, Ref: ref, Content: res.text})
			if last = ""; res.failed {
				s.Errors++
			}
		}
		if len(n.what.text)+len(n.what.calls) == 0 {
			continue
		}
		m := &n.Message
		if m.Role == "assistant" {
			if m.Model != "<synthetic>" {
				s.by(m.Model)
			}
			usage[cmp.Or(m.ID, n.UUID)] = markdown.TokenUse{Input: m.Usage.Input, Output: m.Usage.Output, CacheRead: m.Usage.CacheRead, CacheWrite: m.Usage.CacheWrite}
			if m.ID != "" && m.ID == last {
				s.join(&n.what)
				continue
			}
		}
		last = ""
		if m.Role == "assistant" {
			last = m.ID
		}
		ref := n.UUID
		if slices.ContainsFunc(n.what.results, func(r result) bool { return !r.notice }) {
			ref += "#text"
		}
		s.Messages = append(s.Messages, markdown.Message{Role: m.Role, Time: at, Ref: ref, Content: []byte(n.what.said()), Calls: n.what.calls})
	}
	var sum markdown.TokenUse
	for _, u := range usage {
		sum.Input, sum.Output = sum.Input+u.Input, sum.Output+u.Output
		sum.CacheRead, sum.CacheWrite = sum.CacheRead+u.CacheRead, sum.CacheWrite+u.CacheWrite
	}
	if sum != (markdown.TokenUse{}) {
		s.Tokens = &sum
	}
}

// join adds more of the same answer to the newest message.
func (s *Session) join(what *spoken) {
	m := &s.Messages[len(s.Messages)-1]
	if text := what.said(); text != "" {
		if len(m.Content) > 0 {
			m.Content = append(m.Content, "\n\n"...)
		}
		m.Content = append(m.Content, text...)
	}
	m.Calls = append(m.Calls, what.calls...)
}
