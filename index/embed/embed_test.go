package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stet/index/embed"
)

// serve is an endpoint that answers with answer, given the texts it was asked
// about, and counts requests.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, texts []string)) (base string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var req struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.Model != "m" {
			t.Errorf("request for model %q: %v", req.Model, err)
		}
		answer(w, r, req.Input)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

func client(t *testing.T, base, key string) *embed.Client {
	t.Helper()
	c, err := embed.NewClient(embed.Options{BaseURL: base, Model: "m", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestClientAsksAndPutsAnswersInOrder(t *testing.T) {
	t.Parallel()
	base, asked := serve(t, func(w http.ResponseWriter, r *http.Request, texts []string) {
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer k3y" {
			t.Errorf("asked %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		var parts []string
		for i := len(texts) - 1; i >= 0; i-- { // any order is allowed
			parts = append(parts, fmt.Sprintf(`{"index":%d,"embedding":[%d,0]}`, i, len(texts[i])))
		}
		_, _ = io.WriteString(w, `{"data":[`+strings.Join(parts, ",")+`]}`)
	})
	got, err := client(t, base, "k3y").Embed(t.Context(), []string{"a", "bbb"})
	if err != nil || len(got) != 2 || got[0][0] != 1 || got[1][0] != 3 || asked.Load() != 1 {
		t.Errorf("got %v, %v after %d requests", got, err, asked.Load())
	}
}

func TestClientTriesAgainWhenToldTo(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	base, asked := serve(t, func(w http.ResponseWriter, _ *http.Request, _ []string) {
		if n.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1]}]}`)
	})
	if _, err := client(t, base, "").Embed(t.Context(), []string{"a"}); err != nil || asked.Load() != 2 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestClientFailsInWordsWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   func(w http.ResponseWriter, r *http.Request, texts []string)
		want     error
		requests int32
	}{
		"refused": {func(w http.ResponseWriter, r *http.Request, _ []string) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusUnauthorized)
		}, embed.ErrEndpoint, 1},
		"redirect": {func(w http.ResponseWriter, r *http.Request, _ []string) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, embed.ErrEndpoint, 1},
		"broken": {func(w http.ResponseWriter, r *http.Request, _ []string) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusInternalServerError)
		}, embed.ErrEndpoint, 3},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request, _ []string) { _, _ = io.WriteString(w, "<html>") }, embed.ErrAbsurd, 1},
		"NaN": {func(w http.ResponseWriter, _ *http.Request, _ []string) {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[NaN]}]}`)
		}, embed.ErrAbsurd, 1},
		"too few": {func(w http.ResponseWriter, _ *http.Request, _ []string) { _, _ = io.WriteString(w, `{"data":[]}`) }, embed.ErrAbsurd, 1},
		"index": {func(w http.ResponseWriter, _ *http.Request, _ []string) {
			_, _ = io.WriteString(w, `{"data":[{"index":7,"embedding":[1]}]}`)
		}, embed.ErrAbsurd, 1},
		"zero": {func(w http.ResponseWriter, _ *http.Request, _ []string) {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[0,0]}]}`)
		}, embed.ErrAbsurd, 1},
		"huge": {func(w http.ResponseWriter, _ *http.Request, _ []string) {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1e99]}]}`)
		}, embed.ErrAbsurd, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, asked := serve(t, c.answer)
			_, err := embed.Vectors(t.Context(), client(t, base, "s3cret"), []string{"private thoughts"})
			if !errors.Is(err, c.want) || asked.Load() != c.requests {
				t.Fatalf("%v after %d requests, want %v after %d", err, asked.Load(), c.want, c.requests)
			}
			if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "thoughts") {
				t.Errorf("the error gives away what was sent: %v", err)
			}
		})
	}
}

func TestClientGivesUpInTime(t *testing.T) {
	t.Parallel()
	base, _ := serve(t, func(_ http.ResponseWriter, r *http.Request, _ []string) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client(t, base, "").Embed(ctx, []string{"a"}); !errors.Is(err, embed.ErrEndpoint) || !strings.Contains(err.Error(), "in time") {
		t.Errorf("got %v", err)
	}
}

func TestClientRefusesAnAddressItCannotUse(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "localhost:11434", "ftp://x/v1", "http://me:pw@x/v1", "http://"} {
		if _, err := embed.NewClient(embed.Options{BaseURL: base, Model: "m"}); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := embed.NewClient(embed.Options{BaseURL: "http://x/v1"}); err == nil {
		t.Error("no model was no error")
	}
}

type fixed [][]float32

func (f fixed) Embed(context.Context, []string) ([][]float32, error) { return f, nil }
func (fixed) Model() string                                          { return "m" }

func TestVectorsAreWholeAndOfLengthOne(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, bad := range []fixed{{{1, 2}}, {{1, 2}, {1}}, {{1}, {}}, {{1}, {nan}}, {{1}, {inf}}, {{1}, {0}}, {{1}, nil}} {
		if _, err := embed.Vectors(t.Context(), bad, []string{"a", "b"}); !errors.Is(err, embed.ErrAbsurd) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	got, err := embed.Vectors(t.Context(), fixed{{3, 4}, {0, 2}}, []string{"a", "b"})
	if err != nil || got[0][0] != 0.6 || got[0][1] != 0.8 || math.Abs(embed.Dot(got[0], got[1])-0.8) > 1e-6 {
		t.Errorf("got %v, %v", got, err)
	}
}

// Worked out by hand from the formula of the paper: documents 7, 5, 9 by one
// ranking and 9, 7, 3 by another.
//
//	7: 1/61 + 1/62 = 0.032522…   9: 1/63 + 1/61 = 0.032266…
//	5: 1/62        = 0.016129…   3: 1/63        = 0.015873…
func TestFuseAsByHand(t *testing.T) {
	t.Parallel()
	got := embed.Fuse([]int32{7, 5, 9}, []int32{9, 7, 3})
	want := []struct {
		doc   int32
		score float64
		a, b  int
	}{{7, 0.03252247, 1, 2}, {9, 0.03226646, 3, 1}, {5, 0.01612903, 2, 0}, {3, 0.01587302, 0, 3}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, w := range want {
		g := got[i]
		if g.Doc != w.doc || math.Abs(g.Score-w.score) > 1e-8 || g.Ranks[0] != w.a || g.Ranks[1] != w.b {
			t.Errorf("place %d: got %+v, want %+v", i, g, w)
		}
	}
	// Equal scores keep the order of the first ranking.
	if got := embed.Fuse([]int32{4}, []int32{2}); got[0].Doc != 4 || got[1].Doc != 2 {
		t.Errorf("got %v", got)
	}
}
