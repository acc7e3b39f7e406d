package imports

import (
	"bytes"
	"cmp"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"stet/markdown"
	"stet/vault"
)

// A program that forks a conversation copies what was said into the file of the new one. What stands in the transcript
// of the one it left is left out: the fork begins with its own first message, and "parent" says where it came from.
// Without that transcript, and where it is in the archive, the fork is stored whole.

// identity tells a message of a fork from others: by its id where the copy keeps that, else by its words.
func (s *Session) identity(m *markdown.Message) uint64 {
	h := fnv.New64a()
	parts := [][]byte{[]byte(m.Role), []byte(m.Call), m.Content}
	for _, c := range m.Calls {
		parts = append(parts, []byte(c.ID), []byte(c.Name), c.Arguments)
	}
	if s.keepsRefs {
		parts = [][]byte{[]byte(m.Ref)}
	}
	for _, p := range parts {
		_, _ = h.Write(append(p[:len(p):len(p)], 0)) // it never fails
	}
	return h.Sum64()
}

func (s *Session) identities() []uint64 {
	out := make([]uint64, len(s.Messages))
	for i := range s.Messages {
		out[i] = s.identity(&s.Messages[i])
	}
	return out
}

// cutCopied leaves out what a fork repeats. Where it has a transcript it begins with the message that stands first
// there, whatever became of the one it left.
func (w *writer) cutCopied(s *Session) error {
	if !s.fork || s.Parent == "" {
		return nil
	}
	if of := w.whole[hashPart(s.Parent)]; of != "" { // the part before is all copied
		s.Parent = of
	}
	p, err := w.known.find(w.ctx, s.ID)
	if err != nil {
		return err
	}
	cut := 0
	if p != "" {
		have, _, err := w.v.ReadFile(p)
		if err != nil {
			return err
		}
		cut = s.beginsAt(markdown.Parse(have).Messages())
	} else if cut, err = w.copied(s); err != nil {
		return err
	}
	if cut <= 0 {
		return nil
	}
	if cut == len(s.Messages) {
		w.whole[hashPart(s.ID)] = s.left()
	}
	if s.Messages, s.Tokens = s.Messages[cut:], nil; p == "" && len(s.Messages) > 0 {
		s.Started = cmp.Or(s.Messages[0].Time, s.Started)
		s.ID = SessionID(s.Agent, s.Origin, s.Started)
		if len(s.titles) == 0 {
			s.Title = oneLine(firstWords(s.Messages))
		}
	}
	return nil
}

// left is the conversation that a fork left, and of one that is several the same part of it.
func (s *Session) left() string { return cmp.Or(s.copyOf, s.Parent) }

// beginsAt is the number of messages that stand before the first of a transcript; 0 where none of its is known.
func (s *Session) beginsAt(spans []markdown.MessageSpan) int {
	for _, at := range spans {
		i := slices.IndexFunc(s.Messages, func(m markdown.Message) bool { return m.Ref != "" && m.Ref == at.Ref })
		if i >= 0 {
			return i - (at.Number - 1)
		}
	}
	return 0
}

// copied counts the first messages of s that the one it left has too, as its transcript or this run has it.
func (w *writer) copied(s *Session) (n int, err error) {
	had := w.said[hashPart(s.left())]
	if had == nil {
		if had, err = w.stands(s.left(), s.keepsRefs); had == nil {
			return 0, err
		}
	}
	all := map[uint64]bool{}
	for _, id := range had {
		all[id] = true
	}
	said := Session{Transcript: s.Transcript, keepsRefs: s.keepsRefs} // as a transcript has it
	if !s.keepsRefs {
		said.Messages = w.censor.said(s)
	}
	for i, id := range said.identities() {
		if s.keepsRefs && !all[id] || !s.keepsRefs && (i >= len(had) || had[i] != id) {
			return i, nil
		}
	}
	return len(s.Messages), nil
}

// stands are the identities of what a transcript holds, with the files beside it; nil where there is none, or it was
// forgotten.
func (w *writer) stands(id string, keepsRefs bool) ([]uint64, error) {
	p, err := w.known.find(w.ctx, id)
	if err != nil || p == "" || w.known.gone(id, p) {
		return nil, err
	}
	data, _, err := w.v.ReadFile(p)
	if err != nil {
		return nil, err
	}
	has := Session{Transcript: *markdown.ParseTranscript(data), keepsRefs: keepsRefs}
	if keepsRefs {
		return has.identities(), nil
	}
	err = has.Attach(func(name string) ([]byte, error) {
		text, _, err := w.v.ReadFile(vault.Path(p.Dir() + "/" + markdown.AttachmentDir(p.Base()) + "/" + name))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // somebody removed it
		}
		return text, err
	})
	return has.identities(), err
}

// forksLast puts the files of forks behind all others, the oldest first: what they left is read before them.
func (s Source) forksLast(files []file, unread func(file) bool) []file {
	if s.forked == nil {
		return files
	}
	var first, last []file
	for _, f := range files {
		if !unread(f) && s.forked(f.path) {
			last = append(last, f)
		} else {
			first = append(first, f)
		}
	}
	slices.SortStableFunc(last, func(a, b file) int { return a.time.Compare(b.time) })
	return append(first, last...)
}

// namesFork reports a file that says near its beginning that it was forked from another.
func namesFork(path string) bool {
	in, err := os.Open(path)
	if err != nil {
		return false
	}
	head, _ := io.ReadAll(io.LimitReader(in, 64<<10)) // who reads it for real says what is wrong
	return in.Close() == nil && bytes.Contains(head, []byte(`"forkedFrom"`))
}

// leaves takes down that s came out of another conversation of its program and begins with a copy of it.
func (s *Session) leaves(origin string, started time.Time, keepsRefs bool) {
	s.ParentOrigin, s.ParentStarted, s.fork, s.keepsRefs = origin, started, true, keepsRefs
}
