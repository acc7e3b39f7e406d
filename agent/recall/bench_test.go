package recall_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/recall"
	"stet/index"
	"stet/markdown"
	"stet/vault/vaulttest"
)

// BenchmarkSessions asks conversations of 50 messages of 1 KB, whose words are as
// frequent as those of a language: 10,000 messages, with STET_FULL also 100,000
// and 1,000,000 (1 GB). p50-ms is of the search with its look at the disk, in a
// process that has the index open; indexed/s counts conversations.
func BenchmarkSessions(b *testing.B) {
	sizes := []int{200}
	if os.Getenv("STET_FULL") != "" {
		sizes = []int{200, 2_000, 20_000}
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("%d", n*50), func(b *testing.B) { benchSessions(b, n) })
	}
}

func benchSessions(b *testing.B, sessions int) {
	f := vaulttest.New(b)
	r := rand.New(rand.NewPCG(3, 4))
	z := rand.NewZipf(r, 1.1, 2, 50_000)
	said := func(size int) string {
		var s strings.Builder
		for s.Len() < size {
			fmt.Fprintf(&s, "word%d ", z.Uint64())
		}
		return s.String()
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range sessions {
		at := began.Add(time.Duration(i) * time.Hour)
		tr := &markdown.Transcript{ID: id(i), Title: said(40), Agent: "scribe", Started: at}
		for m := range 50 {
			tr.Messages = append(tr.Messages, markdown.Message{Role: []string{"user", "assistant"}[m%2], Time: at.Add(time.Duration(m) * time.Minute), Content: []byte(said(950))})
		}
		name := fmt.Sprintf("%s-talk-%s.md", at.Format(time.DateOnly), id(i)[20:])
		data, _, err := markdown.RenderTranscript(tr, markdown.TranscriptOptions{Name: name})
		if err != nil {
			b.Fatal(err)
		}
		p := filepath.Join(f.Dir, "sessions", at.Format("2006"), at.Format("01"), name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	v := f.Open()
	x, err := index.Open(v, index.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	began = time.Now()
	if _, err := recall.Sessions(b.Context(), v, x, recall.Query{Text: "word40"}); err != nil {
		b.Fatal(err)
	}
	indexed := float64(sessions) / time.Since(began).Seconds()
	var took []time.Duration
	for b.Loop() {
		text := fmt.Sprintf("what did word%d say about word%d and the word%d?", r.IntN(1000), r.IntN(20_000), r.IntN(5_000))
		began := time.Now()
		if _, err := recall.Sessions(b.Context(), v, x, recall.Query{Text: text}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(indexed, "indexed/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1e3, "p95-ms")
}
