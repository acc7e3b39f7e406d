package query

import (
	"slices"
	"sync"

	"stet/index/document"
	"stet/markdown"
	"stet/vault"
)

// TranscriptCache reads transcripts and keeps them. It is safe for concurrent use.
type TranscriptCache struct {
	src  document.FileReader
	mu   sync.Mutex
	have map[vault.Path]*Transcript
}

// A Transcript is one file as it is now; nil data is a file that cannot be
// read.
type Transcript struct {
	once     sync.Once
	Data     []byte
	Info     vault.File
	same     bool // by size and time it is what was indexed: messages stand where they stood
	parsed   *markdown.Document
	mu       sync.Mutex
	spans    map[int]*markdown.MessageSpan // by number, of those asked for
	messages func() []markdown.MessageSpan // all
	attached func(name string) []byte
	Memory   func() vault.Memory // reads the front matter
}

// NewTranscriptCache returns an empty cache of the files of src.
func NewTranscriptCache(src document.FileReader) *TranscriptCache {
	return &TranscriptCache{src: src, have: map[vault.Path]*Transcript{}}
}

// Transcript reads the transcript of a record once and keeps it.
func (t *TranscriptCache) Transcript(rec *document.Record) *Transcript {
	t.mu.Lock()
	s := t.have[rec.Path]
	if s == nil {
		s = &Transcript{}
		t.have[rec.Path] = s
	}
	t.mu.Unlock()
	s.once.Do(func() { s.load(t.src, rec) })
	return s
}

// passing is a transcript that is looked at once: it is not kept, so that a
// look into all of them takes the memory of a few.
func (t *TranscriptCache) passing(rec *document.Record) *Transcript {
	t.mu.Lock()
	s := t.have[rec.Path]
	t.mu.Unlock()
	if s != nil {
		return t.Transcript(rec)
	}
	s = &Transcript{}
	s.load(t.src, rec)
	return s
}

func (s *Transcript) load(src document.FileReader, rec *document.Record) {
	s.Memory = func() vault.Memory { return vault.Memory{} }
	data, info, err := src.ReadFile(rec.Path)
	if err != nil {
		return
	}
	s.Data, s.Info, s.attached = data, info, document.Attachments(src, rec.Path)
	s.same = rec.Flags&document.FlagRacy == 0 && rec.SameFile(info)
	s.parsed, s.spans = markdown.Parse(data), map[int]*markdown.MessageSpan{}
	s.messages = sync.OnceValue(func() []markdown.MessageSpan { return document.MessagesOf(s.parsed) })
	s.Memory = sync.OnceValue(func() vault.Memory { return document.Conversation(rec.Path, s.parsed) })
}

// Is reports whether the file is still what rec was made of.
func (s *Transcript) Is(rec *document.Record) bool {
	return s.same || s.Data != nil && document.HashOf(s.Data) == rec.Hash
}

// Message is where a message of the record stands now; nil when it has no longer one of that number. Cost: of that
// message, where the file is what was indexed, else of all of them, once.
func (s *Transcript) Message(m *document.Message) *markdown.MessageSpan {
	if s.Data == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	span, known := s.spans[m.Number]
	if known {
		return span
	}
	if s.same {
		if one := (markdown.MessageSpan{Start: m.Start, End: m.End}); one.Reread(s.parsed) && one.Number == m.Number {
			span = &one
		}
	}
	if span == nil {
		list := s.messages()
		if i, ok := slices.BinarySearchFunc(list, m.Number, func(m markdown.MessageSpan, n int) int { return m.Number - n }); ok {
			span = &list[i]
		}
	}
	s.spans[m.Number] = span
	return span
}
