package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/agent/pipeline"
	"stet/templates/prompts"
)

// reader is a model that reads what it is asked: it files under the first scope in
// use that the note names, and calls untrue what stands beside "switched".
func reader(t llmtest.TB) llmtest.Answer {
	return func(r *llmtest.Request) llm.Reply {
		user := r.Messages[len(r.Messages)-1].Text
		var said any
		if r.Answer != nil && r.Answer.Name == "place" {
			r.Must(t, llmtest.Expect{System: []string{"suggested_scope", "in use", "no orders"}, Fields: []string{"suggested_scope", "categories", "importance"}})
			var p prompts.Place
			if err := json.Unmarshal([]byte(user), &p); err != nil {
				t.Errorf("the request is no JSON: %v", err)
			}
			placed := prompts.Placed{Scope: "/", Categories: []string{}}
			for _, s := range p.Scopes {
				if strings.Contains(p.Note, strings.TrimPrefix(s.Path, "/")) && s.Path != "/" {
					placed.Scope = s.Path
				}
			}
			said = placed
		} else {
			r.Must(t, llmtest.Expect{System: []string{"supersede", "conflict", "no orders"}, Fields: []string{"actions", "number", "confidence"}})
			var j prompts.Judge
			if err := json.Unmarshal([]byte(user), &j); err != nil {
				t.Errorf("the request is no JSON: %v", err)
			}
			var judged prompts.Judged
			for _, s := range j.Stored {
				a := prompts.Action{Number: s.Number, Action: "keep", Confidence: 0.9}
				if strings.Contains(j.Note, "switched") {
					a.Action = "supersede"
				}
				judged.Actions = append(judged.Actions, a)
			}
			said = judged
		}
		data, err := json.Marshal(said)
		if err != nil {
			t.Errorf("%v", err)
		}
		return llm.Reply{Text: string(data)}
	}
}

func think(t *testing.T, s *llmtest.Server, p pipeline.Pipeline, notes ...pipeline.Note) []pipeline.Thought {
	t.Helper()
	c, err := llm.New(s.Options(llm.ModeOpenAI))
	if err != nil {
		t.Fatal(err)
	}
	p.Model = c
	out, err := p.Think(t.Context(), notes)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func near(texts ...string) (out []pipeline.Stored) {
	for _, s := range texts {
		out = append(out, pipeline.Stored{Text: s, Scope: "/db"})
	}
	return out
}

// The groups of DESIGN.md 5.2: what is known is not asked.
func TestEveryGroupCostsItsCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		group string
		note  pipeline.Note
		calls int
	}{
		{"A", pipeline.Note{Text: "We switched to MySQL."}, 0},
		{"B", pipeline.Note{Text: "We switched to MySQL.", Near: near("We use PostgreSQL.", "We own a cat.")}, 1},
		{"C", pipeline.Note{Text: "The db port is 3307.", Place: true}, 1},
		{"D", pipeline.Note{Text: "In db we switched to MySQL.", Place: true, Near: near("We use PostgreSQL.")}, 2},
	} {
		t.Run(c.group, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Serve(t, reader(t))
			got := think(t, s, pipeline.Pipeline{Scopes: []pipeline.Scope{{Path: "/"}, {Path: "/db"}}}, c.note)[0]
			if got.Err() != nil || s.Tries() != c.calls {
				t.Fatalf("%d calls, want %d; %v", s.Tries(), c.calls, got.Err())
			}
			if (got.Placed != nil) != c.note.Place || got.Placed != nil && got.Placed.Scope != "/db" {
				t.Errorf("placed %+v", got.Placed)
			}
			if len(got.Actions) != len(c.note.Near) {
				t.Errorf("%d actions", len(got.Actions))
			}
			for _, a := range got.Actions {
				if a.Kind != pipeline.Supersede {
					t.Errorf("got %+v", a)
				}
			}
		})
	}
}

// Each of the two calls is answered only once the other one has arrived.
func TestTheTwoCallsRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	read := reader(t)
	s := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
		both.Done()
		both.Wait()
		return read(r)
	})
	if got := think(t, s, pipeline.Pipeline{Workers: 1}, pipeline.Note{Text: "We switched.", Place: true, Near: near("We use it.")}); got[0].Err() != nil {
		t.Error(got[0].Err())
	}
}

func TestABatchIsBoundedAndInOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most := 0, 0
	read := reader(t)
	s := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		defer func() { mu.Lock(); now--; mu.Unlock() }()
		return read(r)
	})
	var notes []pipeline.Note
	var scopes []pipeline.Scope
	for i := range 40 {
		scopes = append(scopes, pipeline.Scope{Path: fmt.Sprintf("/s%02d", i)})
		notes = append(notes, pipeline.Note{Text: fmt.Sprintf("Note s%02d", i), Place: i%2 == 0})
	}
	last := 0
	got := think(t, s, pipeline.Pipeline{Scopes: scopes, Workers: 3, Progress: func(done, total int) {
		if last++; done != last || total != 20 {
			t.Errorf("progress %d of %d", done, total)
		}
	}}, notes...)
	for i, g := range got {
		if (g.Placed != nil) != (i%2 == 0) || g.Placed != nil && g.Placed.Scope != scopes[i].Path {
			t.Errorf("note %d: %+v", i, g)
		}
	}
	if most > 3 || s.Tries() != 20 {
		t.Errorf("%d calls, %d at a time", s.Tries(), most)
	}
}

// An odd answer never leaves a memory pending that it can be read for: what is left out,
// named twice in two ways, or beyond the notes that were shown is kept.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	action := func(s string) string { return `{"actions":[` + s + `]}` }
	keep := `{"number":1,"quote":"","action":"keep","text":"","confidence":1}`
	over := `{"number":1,"quote":"We use it.","action":"supersede","text":"","confidence":2}`
	for text, want := range map[string]string{
		"Sure! I would keep it.":               "absurd",
		`{"notes":[]}`:                         "absurd",
		action(`{"number":1,"action":"burn"}`): "absurd",
		action(keep) + action(over):            "supersede 1",
		action(""):                             "keep 0",
		action(`{"number":2,"action":"supersede","confidence":1}`):                  "keep 0",
		action(`{"number":0,"action":"supersede","confidence":1}`):                  "keep 0",
		action(`{"number":"../../etc/passwd","action":"supersede","confidence":1}`): "keep 0",
		action(keep + "," + keep): "keep 1",
		action(keep + "," + over): "keep 0",
		action(over):              "supersede 1",
		action(`{"number":"1","action":"SUPERSEDE","confidence":"0.9","because":"x"}`): "supersede 0.9",
		action(`{"number":1,"text":null}`):                                             "keep 0",
		action(`{"number":1,"action":"update","text":"a\u0000b","confidence":1}`):      "keep 0",
		`[` + over + `]`:           "supersede 1",
		`{"actions":` + over + `}`: "supersede 1",
	} {
		s := llmtest.Serve(t, func(*llmtest.Request) llm.Reply { return llm.Reply{Text: text} }).Free()
		th := think(t, s, pipeline.Pipeline{}, pipeline.Note{Text: "We switched.", Near: near("We use it.")})[0]
		got := "absurd"
		if len(th.Actions) == 1 {
			got = fmt.Sprint(th.Actions[0].Kind, " ", th.Actions[0].Confidence)
		} else if !errors.Is(th.JudgeErr, llm.ErrAbsurd) {
			got = fmt.Sprint(th.JudgeErr)
		}
		if got != want || s.Tries() != 1 {
			t.Errorf("%s: got %q in %d calls, want %q", text, got, s.Tries(), want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for answer, want := range map[string]string{
		`{"suggested_scope":"infra/DB/","categories":["C++","Database"],"importance":0.876}`: "/infra/db [c++ database] 0.88",
		`{"suggested_scope":"/PEOPLE/Family","categories":[" MySQL "],"importance":0}`:       "/People/family [mysql] 0",
		`{"suggested_scope":"","categories":[""],"importance":1}`:                            "/ [] 1",
		`{"suggested_scope":"/a/b/c/d","categories":[],"importance":1}`:                      "/a/b/c [] 1",
		`{"suggested_scope":"/People/Family/a/b/c/d","categories":[],"importance":1}`:        "/People/family/a/b/c [] 1",
		`{"suggested_scope":"memories/home","categories":[],"importance":1}`:                 "/home [] 1",
		`{"suggested_scope":"/../../etc","categories":[],"importance":1}`:                    "/etc [] 1",
		`{"suggested_scope":"/projects/mine/db","categories":[],"importance":1}`:             "/mine/db [] 1",
		`{"suggested_scope":"/projects/known","categories":[],"importance":1}`:               "/projects/known [] 1",
		`{"suggested_scope":"/projects/known/db","categories":[],"importance":1}`:            "/projects/known/db [] 1",
		`{"suggested_scope":"/` + long + `","categories":[],"importance":1}`:                 "/" + long[:40] + " [] 1",
		`{"suggested_scope":"/a\nb:c","categories":[],"importance":1}`:                       "/a bc [] 1",
		`{"suggested_scope":"/a","categories":["a","?","b","B","c","d","e","f"]}`:            "/a [a b c d e] 0.5",
		`{"suggested_scope":"/a","categories":null,"importance":8}`:                          "/a [] 1",
		`{"suggested_scope":"/a","categories":"x","importance":"-0.5"}`:                      "/a [x] 0",
		`{"suggested_scope":"/a","categories":[],"importance":"high"}`:                       "/a [] 0.5",
		`{"file_it":"nowhere"}`: "absurd",
	} {
		s := llmtest.Serve(t, func(*llmtest.Request) llm.Reply { return llm.Reply{Text: answer} }).Free()
		th := think(t, s, pipeline.Pipeline{Scopes: []pipeline.Scope{{Path: "/People/family"}, {Path: "/projects/known"}}, Categories: []string{"mysql"}}, pipeline.Note{Text: "A note.", Place: true})[0]
		got := "absurd"
		if th.Placed != nil {
			got = fmt.Sprint(th.Placed.Scope, " ", th.Placed.Categories, " ", th.Placed.Importance)
		} else if !errors.Is(th.PlaceErr, llm.ErrAbsurd) {
			got = fmt.Sprint(th.PlaceErr)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", answer, got, want)
		}
	}
}

// A server that is gone is not asked a thousand times.
func TestAModelThatCannotBeHadIsLeftAlone(t *testing.T) {
	t.Parallel()
	var notes []pipeline.Note
	for range 50 {
		notes = append(notes, pipeline.Note{Text: "A note.", Place: true})
	}
	for _, c := range []struct {
		fault llmtest.Fault
		kind  error
		most  int
	}{
		{llmtest.Status(http.StatusUnauthorized, "no"), llm.ErrKey, 1},
		{llmtest.Status(http.StatusServiceUnavailable, "no", "X-Should-Retry", "false"), llm.ErrUnavailable, 3},
		{llmtest.Streams(`{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`), nil, 50},
	} {
		s := llmtest.Serve(t, reader(t)).Always(c.fault)
		for i, th := range think(t, s, pipeline.Pipeline{Workers: 1}, notes...) {
			if th.PlaceErr == nil || th.Placed != nil || c.kind != nil && !errors.Is(th.PlaceErr, c.kind) {
				t.Fatalf("note %d: %+v", i, th)
			}
		}
		if s.Tries() > c.most {
			t.Errorf("%v: asked %d times, want at most %d", c.kind, s.Tries(), c.most)
		}
	}
}

func TestAnEndedContextEndsIt(t *testing.T) {
	t.Parallel()
	s := llmtest.Serve(t, reader(t))
	c, err := llm.New(s.Options(llm.ModeOpenAI))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&pipeline.Pipeline{Model: c}).Think(ctx, make([]pipeline.Note, 3)); !errors.Is(err, context.Canceled) || s.Tries() > 0 {
		t.Errorf("%d calls, %v", s.Tries(), err)
	}
}
