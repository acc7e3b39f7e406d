// Command contradictions stores what the person said in conversations, one message
// after the other, through the door that compares it with what is stored, without a
// model, and prints every flag that the rules raise and every message that they take for said
// already, so that a person can read and judge them, and how many of the labelled contradictions are among them. From the
// repository:
//
//	go run .ci/contradictions/main.go data/retrieval/beam100k data/retrieval/beam500k
//
// A folder holds docs.jsonl and gold.jsonl, as "stet bench --help" says. Each history
// is a vault of its own in a temporary folder. It also counts how often the older of
// two labelled statements (contradiction or change) is among the first ten candidates
// of the newer one. What a label names lies in one message now and then: stored as
// one memory it has nothing to be found beside, and is counted apart. Whether a flag
// is right, and whether one with another message ("~") is about what the label says,
// is for whoever reads it.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/index"
	"stet/vault"
	"stet/vault/settings"
)

func main() {
	quiet := flag.Bool("q", false, "print the numbers alone, no flag")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: contradictions [-q] FOLDER...")
		os.Exit(1)
	}
	for _, dir := range flag.Args() {
		if err := measure(dir, *quiet); err != nil {
			fmt.Fprintln(os.Stderr, "contradictions:", err)
			os.Exit(1)
		}
	}
}

// A message is one record of docs.jsonl.
type message struct {
	Coll    string `json:"coll"`
	ID      string `json:"id"`
	N       int    `json:"n"`
	Date    string `json:"date"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

// A label is one record of gold.jsonl about two statements.
type label struct {
	ID    string `json:"query_id"`
	Coll  string `json:"coll"`
	Type  string `json:"type"`
	Roles struct {
		First    []string `json:"first_statement"`
		Second   []string `json:"second_statement"`
		Original []string `json:"original_info"`
		Updated  []string `json:"updated_info"`
	} `json:"roles"`
}

func (l label) sides() (a, b []string) {
	return slices.Concat(l.Roles.First, l.Roles.Original), slices.Concat(l.Roles.Second, l.Roles.Updated)
}

// joins reports whether a label names two messages as its two sides.
func (l label) joins(x, y string) bool {
	a, b := l.sides()
	return x != y && (slices.Contains(a, x) && slices.Contains(b, y) || slices.Contains(a, y) && slices.Contains(b, x))
}

func (l label) names(x string) bool {
	a, b := l.sides()
	return slices.Contains(a, x) || slices.Contains(b, x)
}

// whole reports whether both sides stand in one message.
func (l label) whole() bool {
	a, b := l.sides()
	return slices.Equal(a, b)
}

const (
	contradiction = "contradiction_resolution"
	update        = "knowledge_update"
)

func lines[T any](file string) (out []T, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, len(data)+1)
	for n := 1; s.Scan(); n++ {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		out = append(out, v)
	}
	return out, s.Err()
}

// A tally is what is counted over the histories of a set.
type tally struct {
	messages, flags, same    int
	all, found, own, touched map[string]bool // labelled contradictions, by id
	near, pairs, whole       int
}

func measure(dir string, quiet bool) error {
	messages, err := lines[message](filepath.Join(dir, "docs.jsonl"))
	if err != nil {
		return err
	}
	gold, err := lines[label](filepath.Join(dir, "gold.jsonl"))
	if err != nil {
		return err
	}
	gold = slices.DeleteFunc(gold, func(l label) bool { return l.Type != contradiction && l.Type != update })
	t := &tally{all: map[string]bool{}, found: map[string]bool{}, own: map[string]bool{}, touched: map[string]bool{}}
	byColl := map[string][]message{}
	var colls []string
	for _, m := range messages {
		if m.Speaker != "user" {
			continue
		}
		if byColl[m.Coll] == nil {
			colls = append(colls, m.Coll)
		}
		byColl[m.Coll] = append(byColl[m.Coll], m)
	}
	for _, coll := range colls {
		h := &history{messages: byColl[coll], quiet: quiet, t: t, ids: map[vault.Path]string{}, texts: map[string]string{}}
		h.labels = slices.DeleteFunc(slices.Clone(gold), func(l label) bool { return l.Coll != coll })
		if err := h.play(); err != nil {
			return fmt.Errorf("%s: %w", coll, err)
		}
	}
	t.print(filepath.Base(dir))
	return nil
}

func (t *tally) print(name string) {
	fmt.Printf("%s: %d messages, %d flags, %d said already\n", name, t.messages, t.flags, t.same)
	fmt.Printf("  labelled contradictions: %d, of which flagged between the two messages %d, in one message that is flagged with another %d, with another message that may say the same %d\n",
		len(t.all), len(t.found), len(t.own), len(t.touched))
	fmt.Printf("  older statement among the first ten: %d of %d (%d with both in one message left out)\n", t.near, t.pairs+t.whole, t.whole)
}

// A history is the messages of one conversation on their way into a vault.
type history struct {
	messages []message
	labels   []label
	quiet    bool
	t        *tally
	ids      map[vault.Path]string
	texts    map[string]string // by id
	now      time.Time
}

func (h *history) play() (err error) {
	tmp, err := os.MkdirTemp("", "stet-contradictions-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	user, problems, err := settings.Read(settings.User, "config.yaml", []byte("guard:\n  secrets: warn\n"))
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("settings: %v %w", problems, err)
	}
	home := map[string]string{"HOME": tmp, "XDG_CONFIG_HOME": tmp}
	o := vault.Options{Now: func() time.Time { return h.now }, Env: func(name string) string { return home[name] }, Settings: []settings.Layer{user}}
	ctx, root := context.Background(), filepath.Join(tmp, "vault")
	h.now = time.Now()
	if _, err := vault.Init(ctx, root, vault.InitOptions{}, o); err != nil {
		return err
	}
	v, err := vault.Open(ctx, root, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	x, err := index.Open(v, index.Options{Now: o.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	for _, l := range h.labels {
		if l.whole() {
			h.t.whole++
		}
		if l.Type == contradiction {
			h.t.all[l.ID] = true
		}
	}
	for _, m := range h.messages {
		h.now = h.now.Add(time.Second)
		if err := h.store(ctx, v, x, m); err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
	}
	return nil
}

// store is what "stet remember" does with one message.
func (h *history) store(ctx context.Context, v *vault.Vault, x *index.Index, m message) error {
	if err := h.look(ctx, x, m); err != nil {
		return err
	}
	created, err := time.Parse("2006-01-02T15:04:05", m.Date)
	if err != nil {
		return err
	}
	created = created.Add(time.Duration(m.N) * time.Second) // the data knows the day alone
	res, err := ingest.Remember(ctx, v, x, nil, []vault.Note{{Text: m.Text, Created: created}}, vault.Write{Writer: vault.Writer{Actor: vault.ActorUser}})
	if err != nil {
		return err
	}
	h.t.messages++
	h.texts[m.ID] = m.Text
	for _, stored := range res.Memories {
		if h.ids[stored.Path] == "" {
			h.ids[stored.Path] = m.ID
		}
	}
	for _, d := range res.Plan.Decisions() {
		if d.Kind == encode.Duplicate {
			h.t.same++
			if !h.quiet {
				fmt.Printf("  said already by %s\n    %s: %q\n    %s: %q\n", d.Rule, h.ids[d.Path], h.texts[h.ids[d.Path]], m.ID, m.Text)
			}
			continue
		}
		h.flag(m, d)
	}
	return nil
}

// look counts whether the older statements of labels are among the candidates.
func (h *history) look(ctx context.Context, x *index.Index, m message) error {
	probes := encode.Probes(m.Text)
	for _, l := range h.labels {
		older := h.olderOf(l, m)
		if len(older) == 0 || len(probes) == 0 {
			continue
		}
		h.t.pairs++
		paths, err := first(ctx, x, probes)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(paths, func(p vault.Path) bool { return slices.Contains(older, h.ids[p]) }) {
			h.t.near++
		} else if !h.quiet {
			fmt.Printf("not near: %s %s: %s\n", l.ID, m.ID, strings.Join(older, " "))
		}
	}
	return nil
}

// first are the first ten candidates: of each probe the best, then of each the second.
func first(ctx context.Context, x *index.Index, probes []string) (out []vault.Path, err error) {
	found := make([][]vault.Path, len(probes))
	for i, probe := range probes {
		if found[i], err = x.Nearby(ctx, probe, 10); err != nil {
			return nil, err
		}
	}
	for rank := range 10 {
		for _, paths := range found {
			if rank < len(paths) && !slices.Contains(out, paths[rank]) && len(out) < 10 {
				out = append(out, paths[rank])
			}
		}
	}
	return out, nil
}

// olderOf is the other side of a label when m is the first message of the later one.
func (h *history) olderOf(l label, m message) []string {
	a, b := l.sides()
	if l.whole() {
		return nil
	}
	if slices.Min(a) > slices.Min(b) {
		a, b = b, a
	}
	if m.ID != slices.Min(b) {
		return nil
	}
	return a
}

func (h *history) flag(m message, d ingest.Decision) {
	other := h.ids[d.Path]
	mark := " "
	for _, l := range h.labels {
		switch {
		case l.Type != contradiction || !l.names(m.ID) && !l.names(other):
			continue
		case l.joins(m.ID, other):
			h.t.found[l.ID], mark = true, "+"
		case l.whole():
			h.t.own[l.ID], mark = true, "="
		default:
			h.t.touched[l.ID], mark = true, "~"
		}
		if h.t.found[l.ID] {
			delete(h.t.touched, l.ID)
		}
	}
	h.t.flags++
	if !h.quiet {
		fmt.Printf("%s %s by %s %.2f\n    %s: %s\n    %s: %s\n", mark, d.Kind, d.Rule, d.Confidence, other, d.Was, m.ID, d.Said)
	}
}
