package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

type embeddedKey struct{}

// cmdEmbedder starts an endpoint for embeddings and leads the configuration to it:
// embedder fine, or embedder down for one that refuses. Its vectors count the words
// of each text, one number for each group of words that mean the like.
func cmdEmbedder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || args[0] != "fine" && args[0] != "down" {
		ts.Fatalf("usage: embedder fine|down")
	}
	count := ts.Value(embeddedKey{}).(*atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || args[0] == "down" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		}
		var out struct {
			Data []datum `json:"data"`
		}
		for i, text := range in.Input {
			out.Data = append(out.Data, datum{i, groups(text)})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	ts.Defer(s.Close)
	ts.Setenv("STET_SEARCH_EMBEDDER_BASE_URL", s.URL+"/v1")
	ts.Setenv("STET_SEARCH_EMBEDDER_MODEL", "words")
}

func groups(text string) []float64 {
	v := []float64{0, 0, 0, 0.1}
	for i, group := range []string{"postgresql mysql sqlite", "office workplace", "garden door"} {
		for word := range strings.FieldsSeq(group) {
			v[i] += float64(strings.Count(strings.ToLower(text), word))
		}
	}
	return v
}

// cmdEmbedded checks how many requests have arrived since it was last asked:
// embedded NUMBER.
func cmdEmbedded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: embedded NUMBER")
	}
	if got := fmt.Sprint(ts.Value(embeddedKey{}).(*atomic.Int64).Swap(0)); got != args[0] {
		ts.Fatalf("the embedder was asked %s times, want %s", got, args[0])
	}
}
