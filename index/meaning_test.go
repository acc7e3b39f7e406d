package index

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stet/index/embed"
)

// An endpoint answers with vectors made of the words of each text: one number
// for each group of words that mean the same.
type endpoint struct {
	mu    sync.Mutex
	texts []string // that were sent
	spoil func(w http.ResponseWriter, r *http.Request) bool
	// refuse are texts that it does not take.
	refuse func(text string) bool
	base   string
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{}
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	e.base = s.URL + "/v1"
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.texts = append(e.texts, req.Input...)
	spoil := e.spoil
	e.mu.Unlock()
	if spoil != nil && spoil(w, r) {
		return
	}
	if e.refuse != nil && slices.ContainsFunc(req.Input, e.refuse) {
		http.Error(w, "too long", http.StatusBadRequest)
		return
	}
	type datum struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var out struct {
		Data []datum `json:"data"`
	}
	for i, text := range req.Input {
		out.Data = append(out.Data, datum{i, wordVector(text)})
	}
	_ = json.NewEncoder(w).Encode(out)
}

func wordVector(text string) []float64 {
	v := []float64{0, 0, 0, 0}
	for i, group := range []string{"car automobile vehicle", "bread bakery loaf", "ship harbour boat"} {
		for word := range strings.FieldsSeq(group) {
			v[i] += float64(strings.Count(strings.ToLower(text), word))
		}
	}
	if v[0]+v[1]+v[2] == 0 {
		v[3] = 1
	}
	return v
}

func (e *endpoint) sent() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.texts)
}

func (e *endpoint) spoilWith(spoil func(w http.ResponseWriter, r *http.Request) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spoil = spoil
}

func (e *endpoint) with(t *testing.T) func(*Options) {
	t.Helper()
	c, err := embed.NewClient(embed.Options{BaseURL: e.base, Model: "words"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return func(o *Options) { o.Embedder, o.EmbedWait = c, time.Minute }
}

func meaningVault() map[string]string {
	return map[string]string{
		"memories/garage.md":       "The automobile stands in the garage.\n",
		"memories/shopping.md":     "A fresh loaf every Friday.\n",
		"memories/car-papers.md":   "The papers of the car lie in the drawer.\n",
		"memories/secret.md":       "---\nprivate: true\n---\nThe hidden vehicle is red.\n",
		"memories/unreadable.md":   "---\nprivate: true\n bad: [\n---\nThe unreadable vehicle is blue.\n",
		"archive/memories/gone.md": "The archived vehicle was sold.\n",
		"sessions/2026/a.md":       "# A\n\nThe vehicle of the session.\n",
	}
}

func TestMeaningFindsWhatWordsDoNot(t *testing.T) {
	t.Parallel()
	src, e := newFolder(t, meaningVault()), newEndpoint(t)
	x := open(t, src, e.with(t))
	res := ask(t, x, Query{Text: "car", Explain: true})
	// Words find one file, meaning that one (cosine 1) and the other: 1/61+1/61 or
	// 1/62, and 1/62 or 1/61. Equal cosines stand in path order, car-papers first.
	if got := hitPaths(res); !slices.Equal(got, []string{"memories/car-papers.md", "memories/garage.md"}) {
		t.Fatalf("hits %v, warnings %v", got, res.Warnings)
	}
	h := res.Hits
	if h[0].Tier != "strict" || h[1].Tier != "semantic" || res.Tier != "semantic" || res.Total != 2 || len(res.Warnings) != 0 {
		t.Errorf("tiers %s, %s, %s, total %d, warnings %v", h[0].Tier, h[1].Tier, res.Tier, res.Total, res.Warnings)
	}
	if fmt.Sprintf("%.6f %.6f", h[0].Score, h[1].Score) != "0.032787 0.016129" {
		t.Errorf("scores %.6f %.6f", h[0].Score, h[1].Score)
	}
	if !strings.Contains(h[1].Explain, "place 0 by words, 2 by meaning") || h[1].Snippet == "" {
		t.Errorf("explained as %q, shown as %q", h[1].Explain, h[1].Snippet)
	}
	for _, text := range e.sent() {
		for _, word := range []string{"hidden", "unreadable", "archived", "session"} {
			if strings.Contains(text, word) {
				t.Errorf("sent %q", text)
			}
		}
	}

	// Filters, exclusions and requirements hold for both rankings.
	for query, want := range map[string][]string{
		`car -"garage"`:       {"memories/car-papers.md"},
		"+papers vehicle":     {"memories/car-papers.md"},
		"vehicle kind:fact":   {},
		"vehicle is:archived": {"archive/memories/gone.md"},
	} {
		if got := hitPaths(ask(t, x, Query{Text: query})); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}

	// A second process asks for the query alone; a changed file for itself.
	before := len(e.sent())
	y := open(t, src, e.with(t))
	ask(t, y, Query{Text: "car"})
	if got := e.sent()[before:]; !slices.Equal(got, []string{"car"}) {
		t.Errorf("sent %q, though the vectors are cached", got)
	}
	src.write(t, "memories/garage.md", "The boat stands in the garage.\n")
	if got := hitPaths(ask(t, y, Query{Text: "ship"})); !slices.Equal(got, []string{"memories/garage.md"}) {
		t.Errorf("after the edit: %v", got)
	}
}

// An endpoint that fails, whatever way, changes nothing but one warning.
func TestAnEndpointThatFailsChangesNoAnswer(t *testing.T) {
	t.Parallel()
	plain := open(t, newFolder(t, meaningVault()))
	want := ask(t, plain, Query{Text: "car papers"})
	for name, spoil := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"down": func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusBadGateway); return true },
		"slow": func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
		"cut":  func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"text": func(w http.ResponseWriter, _ *http.Request) bool { _, _ = io.WriteString(w, "oops"); return true },
		"NaN": func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[NaN]}]}`)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t)
			e.spoilWith(spoil)
			x := open(t, newFolder(t, meaningVault()), e.with(t), func(o *Options) { o.EmbedWait = 300 * time.Millisecond })
			res := ask(t, x, Query{Text: "car papers"})
			if !slices.EqualFunc(res.Hits, want.Hits, func(a, b Hit) bool {
				return a.Path == b.Path && a.Score == b.Score && a.Tier == b.Tier && a.Snippet == b.Snippet
			}) || res.Total != want.Total || res.Tier != want.Tier {
				t.Errorf("hits %v, want %v", hitPaths(res), hitPaths(want))
			}
			if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "ranked by words alone") {
				t.Errorf("warnings %q", res.Warnings)
			}
			if name == "slow" {
				return // reindex waits for it longer than a test may
			}
			stats, err := x.Rebuild(t.Context())
			if err != nil || stats.Embedded != 0 || len(stats.Warnings) != 1 {
				t.Errorf("rebuild: %+v, %v", stats, err)
			}
		})
	}
}

// A text that the endpoint does not take costs that text alone, and one that is too
// long for the model is told by its beginning.
func TestATextThatIsRefusedKeepsNoOther(t *testing.T) {
	t.Parallel()
	files := meaningVault()
	files["memories/strange.md"] = "A strange bakery.\n"
	files["memories/long.md"] = "The boat. " + strings.Repeat("Then it rained. ", 200) + "\n"
	e := newEndpoint(t)
	e.refuse = func(text string) bool { return strings.Contains(text, "strange") || len(text) > meaningFew }
	x := open(t, newFolder(t, files), e.with(t))
	if stats, err := x.Rebuild(t.Context()); err != nil || stats.Embedded != 4 || len(stats.Warnings) != 0 {
		t.Fatalf("rebuild: %+v, %v", stats, err)
	}
	if res := ask(t, x, Query{Text: "ship"}); len(res.Warnings) != 0 || len(res.Hits) == 0 || res.Hits[0].Path != "memories/long.md" {
		t.Errorf("hits %v, warnings %q", hitPaths(res), res.Warnings)
	}
	before := len(e.sent())
	if res := ask(t, x, Query{Text: "vehicle"}); len(res.Warnings) != 0 || len(e.sent()) != before+1 {
		t.Errorf("asked again: %q, warnings %q", e.sent()[before:], res.Warnings)
	}
	if res := ask(t, x, Query{Text: "strange"}); !slices.Equal(hitPaths(res)[:1], []string{"memories/strange.md"}) {
		t.Errorf("by its words: %v", hitPaths(res))
	}
}

// An endpoint whose vectors change their length is not believed until a
// rebuild has made all of them anew.
func TestVectorsOfAnotherLength(t *testing.T) {
	t.Parallel()
	src, e := newFolder(t, meaningVault()), newEndpoint(t)
	x := open(t, src, e.with(t))
	if stats, err := x.Rebuild(t.Context()); err != nil || stats.Embedded != 3 || len(stats.Warnings) != 0 {
		t.Fatalf("rebuild: %+v, %v", stats, err)
	}
	e.spoilWith(func(w http.ResponseWriter, r *http.Request) bool {
		n := 1
		if texts := e.sent(); texts[len(texts)-1] != "car" && texts[len(texts)-1] != "stet" {
			n = 3
		}
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(`{"index":%d,"embedding":[1,2]}`, i))
		}
		_, _ = io.WriteString(w, `{"data":[`+strings.Join(parts, ",")+`]}`)
		return true
	})
	res := ask(t, x, Query{Text: "car"})
	if !slices.Equal(hitPaths(res), []string{"memories/car-papers.md"}) || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "stet reindex") {
		t.Errorf("hits %v, warnings %q", hitPaths(res), res.Warnings)
	}
	if stats, err := x.Rebuild(t.Context()); err != nil || stats.Embedded != 3 || len(stats.Warnings) != 0 {
		t.Fatalf("rebuild: %+v, %v", stats, err)
	}
	if res := ask(t, x, Query{Text: "car"}); len(res.Warnings) != 0 || len(res.Hits) != 3 {
		t.Errorf("hits %v, warnings %q", hitPaths(res), res.Warnings)
	}
}

// What is about to be written, and what has no vector yet, go out in one request;
// private memories never do, and the archive is not worth it.
func TestAlikeAsksOnce(t *testing.T) {
	t.Parallel()
	src, e := newFolder(t, meaningVault()), newEndpoint(t)
	x := open(t, src, e.with(t))
	ask(t, open(t, src), Query{Text: "car"}) // there is an index, without vectors
	var requests atomic.Int32
	e.spoilWith(func(http.ResponseWriter, *http.Request) bool { requests.Add(1); return false })
	got, err := x.Alike(t.Context(), []string{"A vehicle.", "A loaf."}, 3)
	if err != nil || requests.Load() != 1 || len(got) != 2 {
		t.Fatalf("%d requests, %v, %v", requests.Load(), got, err)
	}
	if len(got[0]) != 2 || got[0][0].Path != "memories/car-papers.md" && got[0][0].Path != "memories/garage.md" || got[0][0].Cosine < 0.99 {
		t.Errorf("like a vehicle: %v", got[0])
	}
	for _, l := range got[1] {
		if l.Cosine > 0.99 && !strings.Contains(string(l.Path), "shopping") {
			t.Errorf("like a loaf: %v", l)
		}
	}
	for _, text := range e.sent() {
		for _, word := range []string{"hidden", "unreadable", "archived", "session"} {
			if strings.Contains(text, word) {
				t.Errorf("sent %q", text)
			}
		}
	}
	before := len(e.sent())
	if got, err = x.Alike(t.Context(), []string{"A boat."}, 1); err != nil || len(got) != 1 || len(got[0]) > 1 || len(e.sent())-before > 1 {
		t.Errorf("%v, %v; sent %q", got, err, e.sent()[before:])
	}
	e.spoilWith(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "no", http.StatusBadRequest)
		return true
	})
	if _, err := x.Alike(t.Context(), []string{"A car."}, 1); err == nil {
		t.Error("an endpoint that fails is not told of")
	}
	if got, err := open(t, src).Alike(t.Context(), []string{"A car."}, 1); got != nil || err != nil {
		t.Errorf("without an embedder: %v, %v", got, err)
	}
}
