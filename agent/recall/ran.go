package recall

import (
	"context"
	"strings"
	"time"

	"stet/agent/ran"
	"stet/index"
	"stet/index/document"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
)

// mostRan is how many bytes of transcripts one question about what was run takes apart, unless it asks for all.
const mostRan = 48 << 20

// A Ran is the conversations in which something was run, and what was run there.
type Ran struct {
	Talks    []*ran.Talk // the newest first, as index.Mentions lists them
	Known    map[vault.Path]session.Known
	Older    int    // conversations with the words that were not read
	Degraded string // why files were searched in place of the index
}

// WhatRan reads what was run in the conversations that have the words of q.Text, as far as 48 MiB of transcripts go, or
// all where q.Limit is negative, and only those whose text holds accepts; nil accepts all. Of q it takes Agent, Project
// and Live besides. It fails as index.Mentions does. Cost: to take a transcript apart, about 3 ms a MiB; to ask holds
// for the others.
func WhatRan(
	ctx context.Context, v *vault.Vault, x *index.Index, q Query, holds func([]byte) bool,
) (*Ran, error) {
	found, degraded, err := x.Mentions(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	r := &Ran{Known: map[vault.Path]session.Known{}, Degraded: degraded}
	s := searching{v: v, q: q}
	size := 0
	for _, m := range found {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if size > mostRan && q.Limit >= 0 {
			r.Older++
			continue
		}
		data, err := s.read(m.Path)
		if err != nil {
			continue // gone since it was listed
		} else if holds != nil && !holds(data) {
			continue
		}
		k := session.Read(m.Path, data)
		if q.Agent != "" && !strings.EqualFold(k.Agent, q.Agent) || q.Project != "" && !k.About(q.Project) {
			continue
		}
		size += len(data)
		k.Open = s.live(m.Path)
		r.Known[m.Path] = k
		load := document.Attachments(v, m.Path)
		r.Talks = append(r.Talks, ran.Read(m.Path, markdown.ParseTranscript(data), load))
	}
	return r, nil
}

// committedAfter is how long after a conversation somebody commits what was done in it.
const committedAfter = time.Hour

// MadeIn is which conversation had changed a file last before it was committed, -1 for none that was going on.
func (r *Ran) MadeIn(all []ran.Touch, file string, at time.Time) int {
	best, last := -1, time.Time{}
	for i := range all {
		when := all[i].Before(file, at)
		if ended := r.Known[all[i].Path].Ended; when.After(last) && at.Before(ended.Add(committedAfter)) {
			best, last = i, when
		}
	}
	return best
}
