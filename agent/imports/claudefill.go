package imports

import (
	"cmp"

	"stet/markdown"
)

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
			s.Messages = append(s.Messages, markdown.Message{Role: "tool", Name: cmp.Or(res.name, c.names[res.call]), Call: res.call,
				Time: at, Ref: ref, Content: res.text})
			last = ""
		}
		if len(n.what.text)+len(n.what.calls) == 0 {
			continue
		}
		m := &n.Message
		if m.Role == "assistant" {
			if m.Model != "" && m.Model != "<synthetic>" {
				s.Model = m.Model
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
		if len(n.what.results) > 0 {
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
