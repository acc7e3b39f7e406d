package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/index"
	"stet/vault"
	"stet/vault/settings"
)

// A message is one record of docs.jsonl.
type message struct {
	Coll, ID, Date, Speaker, Text string
	N                             int
}

// A label is one record of gold.jsonl about two statements that contradict each other.
type label struct {
	ID    string `json:"query_id"`
	Coll  string
	Type  string
	Roles struct {
		First  []string `json:"first_statement"`
		Second []string `json:"second_statement"`
	}
}

// mark says what a flag between two messages has to do with a label: "+" it joins its sides,
// "=" both sides stand in one of the messages, "~" one of the messages is named, "" nothing.
func (l label) mark(x, y string) string {
	a, b := l.Roles.First, l.Roles.Second
	in := slices.Contains[[]string]
	switch {
	case x != y && (in(a, x) && in(b, y) || in(a, y) && in(b, x)):
		return "+"
	case !in(a, x) && !in(a, y) && !in(b, x) && !in(b, y):
		return ""
	case slices.Equal(a, b):
		return "="
	}
	return "~"
}

// contradictions stores what the person said in conversations, one message after the other,
// as "stet remember" does without a model, each history in a vault of its own. It prints
// every flag that the rules raise and every message that they take for stored already, so that
// a person can judge them, and how many of the labelled contradictions are among them.
// Whether a flag with another message ("~") is about what the label says, is for whoever
// reads it.
func contradictions(flags *flag.FlagSet, args []string, tmp string) error {
	quiet := flags.Bool("q", false, "print the numbers alone, no flag")
	flags.Parse(args)
	for i, dir := range flags.Args() {
		messages, err := lines[message](filepath.Join(dir, "docs.jsonl"))
		if err != nil {
			return err
		}
		labels, err := lines[label](filepath.Join(dir, "gold.jsonl"))
		if err != nil {
			return err
		}
		labels = slices.DeleteFunc(labels, func(l label) bool { return l.Type != "contradiction_resolution" })
		all := map[string]*history{}
		for _, m := range messages {
			if m.Speaker != "user" {
				continue
			}
			h := all[m.Coll]
			if h == nil {
				h = &history{quiet: *quiet, ids: map[vault.Path]string{}, texts: map[string]string{}, found: map[string]string{}}
				h.labels = slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return l.Coll != m.Coll })
				all[m.Coll] = h
			}
			h.messages = append(h.messages, m)
		}
		kinds, marks, stored := map[string]int{}, map[string]int{}, 0
		for coll, h := range all {
			if err := h.play(filepath.Join(tmp, fmt.Sprint(i), coll), kinds); err != nil {
				return fmt.Errorf("%s: %w", coll, err)
			}
			for _, mark := range h.found {
				marks[mark]++
			}
			stored += len(h.messages)
		}
		fmt.Printf("%s: %d messages, of which %v\n", filepath.Base(dir), stored, kinds)
		fmt.Printf("  labelled contradictions: %d, of which flagged between the two messages %d, in one message that is flagged with another %d, with another message that may say the same %d\n",
			len(labels), marks["+"], marks["="], marks["~"])
	}
	return nil
}

// A history is the messages of one conversation on their way into a vault.
type history struct {
	messages []message
	labels   []label
	quiet    bool
	ids      map[vault.Path]string
	texts    map[string]string // by id
	found    map[string]string // labels by id, and the mark of their best flag
}

func (h *history) play(root string, kinds map[string]int) (err error) {
	user, problems, err := settings.Read(settings.User, "config.yaml", []byte("guard:\n  secrets: warn\n"))
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("settings: %v %w", problems, err)
	}
	now, ctx := time.Now(), context.Background()
	home := map[string]string{"HOME": root + ".home", "XDG_CONFIG_HOME": root + ".home"}
	o := vault.Options{Now: func() time.Time { return now }, Env: func(name string) string { return home[name] }, Settings: []settings.Layer{user}}
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
	for _, m := range h.messages {
		now = now.Add(time.Second)
		created, err := time.Parse("2006-01-02T15:04:05", m.Date)
		if err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		note := vault.Note{Text: m.Text, Created: created.Add(time.Duration(m.N) * time.Second)} // the data knows the day alone
		res, err := ingest.Remember(ctx, v, x, nil, []vault.Note{note}, vault.Write{Writer: vault.Writer{Actor: vault.ActorUser}})
		if err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		h.texts[m.ID] = m.Text
		for _, stored := range res.Memories {
			if h.ids[stored.Path] == "" {
				h.ids[stored.Path] = m.ID
			}
		}
		for _, d := range res.Plan.Decisions() {
			kinds[string(d.Kind)]++
			h.show(m, d)
		}
	}
	return nil
}

func (h *history) show(m message, d ingest.Decision) {
	other, best := h.ids[d.Path], " "
	for _, l := range h.labels {
		if mark := l.mark(m.ID, other); mark != "" && d.Kind != encode.Duplicate {
			best = mark
			if h.found[l.ID] != "+" {
				h.found[l.ID] = mark
			}
		}
	}
	was, said := d.Was, d.Said
	if d.Kind == encode.Duplicate {
		was, said = h.texts[other], m.Text
	}
	if !h.quiet {
		fmt.Printf("%s %s by %s %.2f\n    %s: %s\n    %s: %s\n", best, d.Kind, d.Rule, d.Confidence, other, was, m.ID, said)
	}
}
