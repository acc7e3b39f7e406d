package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A turn is one line of docs.jsonl.
type turn struct {
	Coll    string `json:"coll"`
	Session string `json:"session"`
	ID      string `json:"id"`
	Date    string `json:"date"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
	Caption string `json:"caption"`
}

// at is when the turn was said, zero when that cannot be read.
func (t *turn) at() time.Time {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(form, t.Date); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// A question is one line of queries.jsonl.
type question struct {
	ID   string `json:"query_id"`
	Coll string `json:"coll"`
	Text string `json:"question"`
}

// A gold is one line of gold.jsonl: which turns answer a question.
type gold struct {
	ID           string   `json:"query_id"`
	Type         string   `json:"type"`
	Answerable   bool     `json:"answerable"`
	Turns        []string `json:"gold_ids"`
	Sessions     []string `json:"gold_sessions"`
	UserSessions []string `json:"gold_user_sessions"` // nil where the set makes no difference
	TurnLabels   *bool    `json:"turn_labels"`
}

// counts reports whether the question takes part: one that cannot be answered
// says nothing about what was found.
func (g *gold) counts() bool { return g.Answerable && g.Type != "adversarial" }

// A set is one data set.
type set struct {
	name      string
	turns     []turn
	questions []question
	gold      map[string]gold
}

// readSets reads the set in dir, or those in the folders below it.
func readSets(dir string) ([]*set, error) {
	dirs := []string{dir}
	if _, err := os.Stat(filepath.Join(dir, "docs.jsonl")); errors.Is(err, fs.ErrNotExist) {
		found, err := filepath.Glob(filepath.Join(dir, "*", "docs.jsonl"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s: no docs.jsonl here or in the folders below: %w", dir, fs.ErrNotExist)
		}
		dirs = nil
		for _, f := range found {
			dirs = append(dirs, filepath.Dir(f))
		}
		slices.Sort(dirs)
	}
	var out []*set
	for _, d := range dirs {
		s, err := readSet(d)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func readSet(dir string) (*set, error) {
	s := &set{name: filepath.Base(dir), gold: map[string]gold{}}
	var err error
	if s.turns, err = readLines[turn](filepath.Join(dir, "docs.jsonl")); err != nil {
		return nil, err
	}
	if s.questions, err = readLines[question](filepath.Join(dir, "queries.jsonl")); err != nil {
		return nil, err
	}
	list, err := readLines[gold](filepath.Join(dir, "gold.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		s.gold[g.ID] = g
	}
	return s, nil
}

// maxLine bounds one line of a data set.
const maxLine = 64 << 20

func readLines[T any](name string) (_ []T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", name, n, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}
