package ingest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/vaulttest"
)

// A puppet is a model that says what a test wants, and writes down what it was told.
type puppet struct {
	place string // an answer, "" for a failure
	judge func(prompts.Judge) string

	mu   sync.Mutex
	told []string
}

func (p *puppet) Model() llm.Model { return llm.Model{Name: "puppet"} }

func (p *puppet) Generate(_ context.Context, r llm.Request) (llm.Reply, error) {
	user := r.Messages[0].Text
	p.mu.Lock()
	p.told = append(p.told, r.Task+" "+user)
	p.mu.Unlock()
	text := p.place
	if r.Task == "consolidate" {
		var j prompts.Judge
		if err := json.Unmarshal([]byte(user), &j); err != nil {
			return llm.Reply{}, err
		}
		text = p.judge(j)
	}
	if text == "" {
		return llm.Reply{}, llm.ErrUnavailable
	}
	return llm.Reply{Text: text, Stop: llm.StopEnd}, nil
}

// asked is how often the model was given a task.
func (p *puppet) asked(task string) (n int) {
	for _, told := range p.told {
		if strings.HasPrefix(told, task+" ") {
			n++
		}
	}
	return n
}

// all is one action for every stored note, a removal of the words that text holds or, when
// it is empty, of the note whole.
func all(action, text string, confidence float64) func(prompts.Judge) string {
	return func(j prompts.Judge) string {
		var out prompts.Judged
		for _, s := range j.Stored {
			a := prompts.Action{Number: s.Number, Action: action, Confidence: confidence}
			if action == "supersede" {
				a.Quote = cmp.Or(text, s.Note)
			} else {
				a.Text = text
			}
			out.Actions = append(out.Actions, a)
		}
		data, err := json.Marshal(out)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
}

const placed = `{"suggested_scope":"/infra","categories":["db"],"importance":0.7}`

func consider(t *testing.T, v *vault.Vault, find ingest.Searcher, p *puppet, w vault.Write, notes ...vault.Note) *ingest.Result {
	t.Helper()
	res, err := ingest.Remember(t.Context(), v, find, &ingest.Mind{Model: p}, notes, w)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func half() *float64 { f := 0.5; return &f }

// Between the rules and the model the less destructive one wins.
func TestWhatBecomesOfWhatAModelWants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored, text, action, said string
		confidence                       float64
		actor                            string
		want                             string // kind, or "" for nothing
		body                             string // of the stored memory afterwards, "" for the archive
	}{
		{name: "sure", stored: "I take the tram to the office in Zurich.", text: "The office in Zurich closed in May.", action: "supersede", confidence: 0.9, want: "supersede"},
		{name: "unsure", stored: "I take the tram to the office in Zurich.", text: "The office in Zurich closed in May.", action: "supersede", confidence: 0.6, want: "conflict", body: "I take the tram to the office in Zurich."},
		{name: "a part", stored: "Alpha has two disks. Alpha runs on Debian.", text: "Since May Alpha runs on Ubuntu.", action: "supersede", said: "Alpha runs on Debian.", confidence: 0.9, want: "supersede", body: "Alpha has two disks."},
		{name: "a part that it made up", stored: "I take the tram to the office and eat in the canteen.", text: "From May on the office has no canteen.", action: "supersede", said: "I eat at home", confidence: 0.9, want: "conflict", body: "I take the tram to the office and eat in the canteen."},
		{name: "the rules are sure", stored: "We use PostgreSQL.", text: "We switched from PostgreSQL to MySQL.", action: "keep", confidence: 1, want: "conflict", body: "We use PostgreSQL."},
		{name: "both are sure", stored: "We use PostgreSQL.", text: "We switched from PostgreSQL to MySQL.", action: "supersede", said: "no rest of it", confidence: 0.5, want: "supersede"},
		{name: "the rules are not sure, the model is", stored: "The staging server sends emails.", text: "The staging server never sends emails.", action: "keep", confidence: 0.9, body: "The staging server sends emails."},
		{name: "nobody is sure", stored: "The staging server sends emails.", text: "The staging server never sends emails.", action: "keep", confidence: 0.5, want: "conflict", body: "The staging server sends emails."},
		{name: "a machine silences nothing", stored: "My phone number is 555 0134.", text: "The user's phone number is 555 0177.", action: "keep", confidence: 1, actor: "agent", want: "conflict", body: "My phone number is 555 0134."},
		{name: "a machine against a person", stored: "I take the tram to the office in Zurich.", text: "The office in Zurich closed in May.", action: "supersede", confidence: 1, actor: "agent", want: "conflict", body: "I take the tram to the office in Zurich."},
		{name: "said already, in other words", stored: "The database backup of the shop runs every night.", text: "The database of the shop is backed up every night.", action: "duplicate", confidence: 1, body: "The database backup of the shop runs every night."},
		{name: "not said already", stored: "The database backup of the shop runs at 3.", text: "The database backup of the shop runs on weekends.", action: "duplicate", confidence: 1, body: "The database backup of the shop runs at 3."},
		{name: "two in one", stored: "The server Atlas runs backups at 3.", text: "The server Atlas stores backups in Zurich.", action: "update", said: "The server Atlas runs backups at 3 and stores backups in Zurich.", confidence: 1, want: "update", body: "The server Atlas runs backups at 3. The server Atlas stores backups in Zurich."},
		{name: "two in one, one lost", stored: "The server Atlas runs backups at 3.", text: "The server Atlas stores backups in Zurich.", action: "update", said: "The server Atlas stores backups in Zurich.", confidence: 1, body: "The server Atlas runs backups at 3."},
		{name: "two in one by a machine", stored: "The server Atlas runs backups at 3.", text: "The server Atlas stores backups in Zurich.", action: "update", said: "The server Atlas runs backups at 3 and stores backups in Zurich.", confidence: 1, actor: "agent", body: "The server Atlas runs backups at 3."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const head = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\npinned: true\ncolour: blue\nsource: a letter\ncreated: 2025-03-01T10:00:00Z\n---\n"
			f := vaulttest.New(t, "memories/old.md", head+c.stored+"\n")
			v := f.Open()
			before := f.Git("rev-parse", "HEAD")
			model := &puppet{place: placed, judge: all(c.action, c.said, c.confidence)}
			res := consider(t, v, &lister{v: v}, model, vault.Write{Writer: vault.Writer{Actor: c.actor}}, vault.Note{Text: c.text, Scope: "/", Importance: half()})
			if len(model.told) != 1 {
				t.Errorf("asked %q", model.told)
			}
			got := ""
			for _, d := range res.Plan.Decisions() {
				got += string(d.Kind)
			}
			if got != c.want {
				t.Errorf("decided %+v, want %q", res.Plan.Decisions(), c.want)
			}
			if c.want == "duplicate" != res.Unchanged {
				t.Errorf("unchanged %v", res.Unchanged)
			}
			if len(res.Commits) > 1 && c.want != "duplicate" {
				t.Errorf("%d commits since %s", len(res.Commits), before)
			}
			if c.body == "" {
				if text := f.Read("archive/memories/old.md"); !strings.Contains(text, c.stored) {
					t.Errorf("the archive has %q", text)
				}
				if !slices.Contains(res.Memories[0].Supersedes, "01jd7q8r5t9v3x6y2z4a7c0e1f") && !strings.Contains(f.Read(string(res.Memories[0].Path)), "supersedes: [01jd7q8r5t9v3x6y2z4a7c0e1f]") {
					t.Errorf("nothing says what it takes the place of: %q", f.Read(string(res.Memories[0].Path)))
				}
				return
			}
			text := f.Read("memories/old.md")
			if !strings.HasSuffix(text, "---\n"+c.body+"\n") || !strings.Contains(text, "pinned: true\ncolour: blue\nsource: a letter\ncreated: 2025-03-01T10:00:00Z\n") {
				t.Errorf("got %q", text)
			}
			if written := c.want != "duplicate" && c.want != "update"; written == (len(res.Memories) == 1 && res.Memories[0].Path == "memories/old.md") {
				t.Errorf("written: %+v", res.Memories)
			}
		})
	}
}

func TestAFailedModelLosesNoMemory(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/old.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nWe use PostgreSQL.\n")
	v := f.Open()
	find := &lister{v: v}
	deaf := &puppet{judge: func(prompts.Judge) string { return "" }}
	res := consider(t, v, find, deaf, vault.Write{}, vault.Note{Text: "We switched to MySQL."}, vault.Note{Text: "The lift is slow on Mondays."})
	if len(res.Memories) != 2 || len(res.Plan.Decisions()) != 1 || res.Plan.Decisions()[0].Rule != "change-of-kind@2" || len(res.Commits) != 1 {
		t.Fatalf("got %+v", res)
	}
	for _, m := range res.Memories {
		if text := f.Read(string(m.Path)); !strings.Contains(text, "\nencoding: pending\n") || m.Scope != "/" {
			t.Errorf("got %q in %s", text, m.Scope)
		}
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "2 of 2 notes") || !strings.Contains(res.Warnings[0], llm.ErrUnavailable.Error()) {
		t.Errorf("got %q", res.Warnings)
	}
	// Half a failure keeps the other half.
	res = consider(t, v, find, &puppet{place: placed, judge: func(prompts.Judge) string { return "no JSON" }}, vault.Write{}, vault.Note{Text: "The roof leaks."})
	if text := f.Read(string(res.Memories[0].Path)); res.Memories[0].Scope != "/infra" || !strings.Contains(text, "encoding: pending") || !strings.Contains(text, "classified_by: model/puppet\n") {
		t.Errorf("got %q in %s", text, res.Memories[0].Scope)
	}
}

// What was given is not asked for, and private memories and secrets are told nobody.
func TestWhatAModelIsTold(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + "x7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe"
	f := vaulttest.New(t,
		"memories/home/diary.md", "---\nprivate: true\ncategories: [hidden]\n---\nThe safe in the cellar opens with 4711.\n",
		"memories/infra/db/port.md", "---\ncategories: [database]\n---\nThe port of the database is 3307.\n",
		"memories/Own Folder/a.md", "A file.\n")
	v := f.Open()
	find := &lister{v: v}
	model := &puppet{place: placed, judge: all("keep", "", 1)}
	consider(t, v, find, model, vault.Write{}, vault.Note{Text: "The safe in the cellar is green."})
	slices.Sort(model.told) // "classify", "consolidate"
	if len(model.told) != 2 || !strings.Contains(model.told[0], `"/infra/db"`) || !strings.Contains(model.told[0], `"database"`) ||
		strings.Contains(model.told[0], "Own Folder") {
		t.Fatalf("told %q", model.told)
	}
	for _, not := range []string{"4711", "/home", "hidden"} {
		if strings.Contains(model.told[0]+model.told[1], not) {
			t.Errorf("told of %q", not)
		}
	}
	model.told = nil
	_, err := ingest.Remember(t.Context(), v, find, &ingest.Mind{Model: model}, []vault.Note{{Text: "The key is " + secret}}, vault.Write{})
	if err == nil || len(model.told) > 0 {
		t.Errorf("told %q, %v", model.told, err)
	}
	res := consider(t, v, find, model, vault.Write{}, vault.Note{Text: "The attic is dry.", Scope: "/house", Categories: []string{"roof"}}, vault.Note{Text: "The garden is wet.", Importance: half()})
	if model.asked("classify") != 2 || res.Memories[0].Scope != "/house" || !slices.Equal(res.Memories[0].Categories, []string{"roof"}) || *res.Memories[0].Importance != 0.7 || res.Memories[1].Scope != "/infra" || *res.Memories[1].Importance != 0.5 {
		t.Errorf("told %q, stored %+v", model.told, res.Memories)
	}
}

// What is outdated may share no word with what outdates it. A small vault is shown whole; of a
// larger one what shares words comes first, then the place where the rules would file the note.
func TestAModelSeesWhatSharesNoWord(t *testing.T) {
	t.Parallel()
	const note, old = "The new car runs on electricity; the old Volkswagen went to a dealer.", "We drive a diesel Passat."
	memory := func(i int, scope, text string) []string {
		head := fmt.Sprintf("---\ncreated: 2025-03-01T10:%02d:%02dZ\n---\n", i/60, i%60)
		return []string{fmt.Sprintf("memories/%s/n%03d.md", scope, i), head + text + "\n"}
	}
	for _, c := range []struct {
		name   string
		others int
		want   int // notes shown, at most
	}{{"small", 12, 13}, {"large", 90, 25}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := memory(0, "car", old)
			for i := range 11 {
				files = append(files, memory(1+i, "car", fmt.Sprintf("The car has bay %d.", 100+i))...)
			}
			for i := len(files) / 2; i < c.others+1; i++ {
				files = append(files, memory(i, fmt.Sprintf("topic%d", i%9), fmt.Sprintf("Topic %d is settled.", i))...)
			}
			f := vaulttest.New(t, files...)
			v := f.Open()
			var shown []string
			model := &puppet{place: placed, judge: func(j prompts.Judge) string {
				for _, s := range j.Stored {
					shown = append(shown, s.Note)
				}
				if n := len(j.System() + j.User()); n > 4800 {
					t.Errorf("%d bytes", n)
				}
				return all("keep", "", 1)(j)
			}}
			consider(t, v, indexOf(t, v), model, vault.Write{}, vault.Note{Text: note})
			if !slices.Contains(shown, old) || len(shown) > c.want {
				t.Errorf("shown %q", shown)
			}
		})
	}
}

// What the model files under a project is compared with what the project says.
func TestAProjectIsComparedWithOnceItIsKnown(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/projects/shop/db.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nWe use PostgreSQL.\n")
	v := f.Open()
	find := &lister{v: v}
	model := &puppet{place: `{"suggested_scope":"/projects/shop","categories":[],"importance":0.7}`, judge: all("keep", "", 1)}
	res := consider(t, v, find, model, vault.Write{}, vault.Note{Text: "We use PostgreSQL!"})
	if !res.Unchanged || len(res.Plan.Decisions()) != 1 {
		t.Fatalf("decided %+v", res.Plan.Decisions())
	}
	res = consider(t, v, find, model, vault.Write{}, vault.Note{Text: "We switched from PostgreSQL to MySQL."})
	if len(res.Plan.Decisions()) != 1 || res.Plan.Decisions()[0].Kind != encode.Supersede || res.Memories[0].Scope != "/projects/shop" || len(model.told) != 2 {
		t.Errorf("asked %q, decided %+v", model.told, res.Plan.Decisions())
	}
}

// The first action on a record wins, in the order of the notes, in one commit.
func TestABatchIsOneCommit(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/atlas.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nThe server Atlas runs backups at 3.\n")
	v := f.Open()
	model := &puppet{place: placed, judge: func(j prompts.Judge) string {
		return all("update", "The server Atlas runs backups at 3 and "+strings.TrimSuffix(strings.TrimPrefix(j.Note, "The server Atlas "), ".")+".", 1)(j)
	}}
	res := consider(t, v, &lister{v: v}, model, vault.Write{},
		vault.Note{Text: "The server Atlas stores backups in Zurich.", Categories: []string{"backup"}},
		vault.Note{Text: "The server Atlas encrypts backups."},
		vault.Note{Text: "The server Atlas encrypts backups!"})
	if len(res.Commits) != 1 || len(res.Memories) != 2 || len(model.told) > 4 {
		t.Fatalf("%d commits, %d memories, %d calls", len(res.Commits), len(res.Memories), len(model.told))
	}
	if text := f.Read("memories/atlas.md"); !strings.Contains(text, "at 3. The server Atlas stores backups in Zurich.") || !strings.Contains(text, "categories: [backup]") {
		t.Errorf("got %q", text)
	}
	if body := f.Git("log", "-1", "--format=%b"); !strings.Contains(body, "Said in memories/atlas.md from now on as well") || !strings.Contains(body, "Stet-Rule: model/puppet") || strings.Count(body, "Stet-Memory: ") != 2 {
		t.Errorf("got %q", body)
	}
}

// What moved while the model thought is not touched, and the model not asked again.
func TestWhatChangedWhileTheModelThought(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/old.md", "I take the tram to the office in Zurich.\n")
	f.LeaveDirty()
	v := f.Open()
	edits := 0
	model := &puppet{place: placed, judge: func(j prompts.Judge) string {
		if edits++; edits == 1 {
			f.Write("memories/old.md", "I take the bus to the office in Zurich.\n")
		}
		return all("supersede", "", 1)(j)
	}}
	res := consider(t, v, &lister{v: v}, model, vault.Write{}, vault.Note{Text: "The office in Zurich closed in May.", Scope: "/x", Importance: half()})
	if len(model.told) != 1 || len(res.Plan.Decisions()) != 0 || f.Read("memories/old.md") != "I take the bus to the office in Zurich.\n" {
		t.Fatalf("asked %d times, decided %+v", len(model.told), res.Plan.Decisions())
	}
	if text := f.Read(string(res.Memories[0].Path)); !strings.Contains(text, "encoding: pending") {
		t.Errorf("got %q", text)
	}
}

// filesOf are the files of a vault that are not its own.
func filesOf(t *testing.T, f *vaulttest.Fixture) map[string]string {
	t.Helper()
	out := map[string]string{}
	for p, kind := range vaulttest.Image(t, f.Dir, ".git", ".stet") {
		if strings.HasPrefix(kind, "-") {
			out[p] = f.Read(p)
		}
	}
	return out
}

// Whatever a model says: no memory is lost, no file is touched that it was not shown,
// all of it is one commit, and undo gives back the bytes.
func TestNoModelDoesHarm(t *testing.T) {
	t.Parallel()
	texts := []string{"We use PostgreSQL in the shop.", "Ann lives in Bern and works at Nordlicht.", "The server Atlas runs backups at 3.", "The staging server sends emails to customers.",
		"I take the tram to the office.", "The gate code is 4711.", "The shop opens at 8 and closes at 18."}
	news := append(slices.Clone(texts), "We switched from PostgreSQL to MySQL in the shop.", "Ann moved to Basel.", "The server Atlas stores backups in Zurich.", "The staging server never sends emails to customers.",
		"From May on the office is at home.", "The gate code is 4712.", "The shop opens at 9.", "Bob lives in Bern and works at Nordlicht.")
	var files []string
	for i, s := range texts {
		files = append(files, fmt.Sprintf("memories/m%d.md", i), fmt.Sprintf("---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1%c\nkeep: this\n---\n%s\n", 'a'+rune(i), s))
	}
	f := vaulttest.New(t, append(files, "notes/own.md", "Mine.\n", "memories/private.md", "---\nprivate: true\n---\nThe shop has a debt of 900.\n")...)
	v := f.OpenWith(everyText(f.Options()))
	find := &lister{v: v}
	numbers := regexp.MustCompile(`\d+`)
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom(news).Draw(r, "text")
		actor := rapid.SampledFrom([]string{"", "agent"}).Draw(r, "actor")
		told := map[string]bool{}
		model := &puppet{place: rapid.SampledFrom([]string{placed, "", `{"suggested_scope":"/../../x","categories":["a/b"],"importance":9}`, `{"suggested_scope":"/notes/own.md","categories":["a\nid: x"],"importance":1}`}).Draw(r, "place")}
		// Drawn before: the model is asked in another goroutine.
		raw := rapid.SampledFrom([]string{"", "", "", "", "", "{}", rapid.String().Draw(r, "any answer")}).Draw(r, "raw")
		var wishes []wish
		for range 5 {
			wishes = append(wishes, wish{
				rapid.SampledFrom([]string{"keep", "supersede", "conflict", "duplicate", "update", "correct"}).Draw(r, "action"),
				rapid.SampledFrom([]string{"", "---\nid: x\n---\n", rapid.String().Draw(r, "any text")}).Draw(r, "own"),
				rapid.IntRange(0, 4).Draw(r, "text"), rapid.SampledFrom([]float64{0, 0.8, 0.9, 1}).Draw(r, "confidence"),
			})
		}
		model.judge = granting(wishes, raw, func(note string) { told[note] = true })
		before := filesOf(t, f)
		res, err := ingest.Remember(t.Context(), v, find, &ingest.Mind{Model: model}, []vault.Note{{Text: text}}, vault.Write{Writer: vault.Writer{Actor: actor}})
		if err != nil {
			r.Fatal(err)
		}
		defer func() {
			if len(res.Commits) > 0 {
				if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
					t.Fatal(err)
				}
				lift(t, f, v)
			}
			vaulttest.SameImage(t, before, filesOf(t, f))
		}()
		if len(model.told) > 2 || len(res.Commits) > 1 || (len(res.Commits) == 0) != res.Unchanged {
			r.Fatalf("%d calls, %d commits", len(model.told), len(res.Commits))
		}
		after := filesOf(t, f)
		everything := strings.Join(slices.Collect(maps.Values(after)), "\n")
		mine := map[string]bool{}
		for _, m := range res.Memories {
			mine[string(m.Path)] = true
		}
		for p, data := range before {
			if after[p] == data {
				continue
			}
			old := data
			if _, body, ok := strings.Cut(data, "\n---\n"); ok {
				old = body
			}
			byRule := slices.ContainsFunc(res.Plan.Decisions(), func(d ingest.Decision) bool {
				return string(d.Path) == p && !strings.HasPrefix(d.Rule, "model/")
			})
			if !told[strings.TrimSpace(old)] && !byRule {
				r.Fatalf("%s was touched, which nobody was shown", p)
			}
			for _, n := range append(numbers.FindAllString(old, -1), "keep: this") {
				if !strings.Contains(everything, n) {
					r.Fatalf("%s lost %q", p, n)
				}
			}
		}
		for p := range after {
			if _, had := before[p]; !had && !mine[p] && before[strings.TrimPrefix(p, "archive/")] == "" {
				r.Fatalf("%s came from nowhere", p)
			}
		}
		if !strings.Contains(everything, text) {
			for _, n := range append(numbers.FindAllString(text, -1), strings.Fields(text)[0]) {
				if !strings.Contains(everything, n) {
					r.Fatalf("the note is lost: %+v", res.Plan.Decisions())
				}
			}
		}
		for _, d := range res.Plan.Decisions() {
			if actor == "agent" && d.Kind == encode.Supersede {
				r.Fatalf("a machine overruled a person: %+v", d)
			}
		}
	})
}

// A big batch is one commit, costs at most two calls a note, and what it says twice,
// wherever, is stored once.
func TestABigBatch(t *testing.T) {
	t.Parallel()
	n := 400
	if testing.Short() {
		n = 60
	}
	f := vaulttest.New(t)
	v := f.Open()
	var notes []vault.Note
	for i := range n {
		notes = append(notes, vault.Note{Text: fmt.Sprintf("Crate %d of the barn holds %d apples.", i, 3*i)})
	}
	notes = append(notes, vault.Note{Text: "Is it?"}, vault.Note{Text: "crate 0 of the barn  holds 0 apples!"}, vault.Note{Text: "Is it?"}, vault.Note{Text: "Holds 0 apples, crate 0 of the barn."})
	model := &puppet{place: placed, judge: all("keep", "", 1)}
	res := consider(t, v, &lister{v: v}, model, vault.Write{}, notes...)
	if len(res.Commits) != 1 || len(res.Memories) < n+1 || len(res.Memories) > n+2 || len(model.told) > 2*len(notes) {
		t.Errorf("%d commits, %d memories of %d notes, %d calls", len(res.Commits), len(res.Memories), len(notes), len(model.told))
	}
}
