package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stet/index"
	"stet/vault"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	_ "modernc.org/sqlite" // registers the driver
)

// answers is how many hits each engine is asked for: stet's own default.
const answers = 10

// An engine is one of those compared.
type engine interface {
	name() string
	// build reads every note from its file and indexes it, durable as far as the
	// engine goes.
	build(notes *notes) error
	// ask returns how many hits it shows, -1 for a kind of question it cannot
	// answer.
	ask(q question) (int, error)
	close() error
}

// notes are the files that are indexed: a Source of stet's whose list does not
// change, so that no engine but stet looks at 100,000 files for a question,
// and stet only compares what it would have seen.
type notes struct {
	dir, state string
	files      []vault.File
}

// StateDir implements index.Source.
func (n *notes) StateDir() string { return n.state }

// Files implements index.Source.
func (n *notes) Files(context.Context, vault.WalkOptions) ([]vault.File, error) { return n.files, nil }

// ReadFile implements index.Source.
func (n *notes) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	full := filepath.Join(n.dir, filepath.FromSlash(string(p)))
	data, err := os.ReadFile(full)
	if err != nil {
		return nil, vault.File{}, err
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, vault.File{}, err
	}
	return data, vault.File{Path: p, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// FolderTime implements index.Source.
func (n *notes) FolderTime(p vault.Path) (time.Time, error) {
	info, err := os.Stat(filepath.Join(n.dir, filepath.FromSlash(string(p))))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (n *notes) add(p vault.Path, text string) error {
	full := filepath.Join(n.dir, filepath.FromSlash(string(p)))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		return err
	}
	info, err := os.Stat(full)
	n.files = append(n.files, vault.File{Path: p, Size: info.Size(), ModTime: info.ModTime()})
	return err
}

// stet is the index that this module is about.
type stet struct{ x *index.Index }

func (s *stet) name() string { return "stet" }

func (s *stet) build(n *notes) (err error) {
	if s.x, err = index.Open(n, index.Options{Now: time.Now}); err != nil {
		return err
	}
	_, err = s.x.Rebuild(context.Background())
	return err
}

func (s *stet) ask(q question) (int, error) {
	text := strings.Join(q.words, " ")
	switch q.kind {
	case "phrase":
		text = `"` + text + `"`
	case "prefix":
		text += "*"
	}
	res, err := s.x.Search(context.Background(), index.Query{Text: text, Limit: answers})
	if err != nil {
		return 0, err
	}
	return len(res.Hits), nil
}

func (s *stet) close() error { return s.x.Close() }

// fts5 is SQLite's full-text index, in pure Go.
type fts5 struct {
	db   *sql.DB
	find *sql.Stmt
}

func (f *fts5) name() string { return "FTS5" }

func (f *fts5) build(n *notes) (err error) {
	if f.db, err = sql.Open("sqlite", filepath.Join(n.state, "fts5.db")); err != nil {
		return err
	}
	f.db.SetMaxOpenConns(1)
	for _, s := range []string{
		"PRAGMA journal_mode = WAL", "PRAGMA cache_size = -262144", "PRAGMA mmap_size = 1073741824",
		"CREATE VIRTUAL TABLE notes USING fts5(body, tokenize = 'porter unicode61')",
	} {
		if _, err := f.db.Exec(s); err != nil {
			return err
		}
	}
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after Commit
	in, err := tx.Prepare("INSERT INTO notes (rowid, body) VALUES (?, ?)")
	if err != nil {
		return err
	}
	for i, file := range n.files {
		data, _, err := n.ReadFile(file.Path)
		if err != nil {
			return err
		}
		if _, err := in.Exec(i, string(data)); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	f.find, err = f.db.Prepare("SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?")
	return err
}

func (f *fts5) ask(q question) (int, error) {
	var match string
	switch q.kind {
	case "fuzzy":
		return -1, nil
	case "sentence":
		match = `"` + strings.Join(q.words, `" OR "`) + `"`
	case "phrase":
		match = `"` + strings.Join(q.words, " ") + `"`
	case "prefix":
		match = `"` + q.words[0] + `"*`
	}
	rows, err := f.find.Query(match, answers)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	found := 0
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		found++
	}
	return found, rows.Err()
}

func (f *fts5) close() error { return f.db.Close() }

// bleve is bleve v2 with the least it needs for these questions.
type bleveIndex struct{ x bleve.Index }

func (b *bleveIndex) name() string { return "bleve" }

func (b *bleveIndex) build(n *notes) (err error) {
	if b.x, err = bleve.New(filepath.Join(n.state, "bleve"), bleveMapping()); err != nil {
		return err
	}
	batch := b.x.NewBatch()
	for i, file := range n.files {
		data, _, err := n.ReadFile(file.Path)
		if err != nil {
			return err
		}
		if err := batch.Index(string(file.Path), map[string]any{"body": string(data)}); err != nil {
			return err
		}
		if batch.Size() == 1000 || i == len(n.files)-1 {
			if err := b.x.Batch(batch); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	return nil
}

func bleveMapping() mapping.IndexMapping {
	body := bleve.NewTextFieldMapping()
	body.Analyzer, body.Store, body.DocValues, body.IncludeInAll = en.AnalyzerName, false, false, false
	m := bleve.NewIndexMapping()
	m.DefaultMapping = bleve.NewDocumentStaticMapping()
	m.DefaultMapping.AddFieldMappingsAt("body", body)
	m.DefaultField = "body"
	m.DefaultAnalyzer = en.AnalyzerName
	return m
}

func (b *bleveIndex) ask(q question) (int, error) {
	var about query.Query
	switch q.kind {
	case "sentence":
		about = bleve.NewMatchQuery(strings.Join(q.words, " "))
	case "phrase":
		about = bleve.NewMatchPhraseQuery(strings.Join(q.words, " "))
	case "prefix":
		about = bleve.NewPrefixQuery(q.words[0])
	case "fuzzy":
		// The edits that stet allows, and the first letter as it is.
		f := bleve.NewFuzzyQuery(q.words[0])
		f.Fuzziness, f.Prefix = 1, 1
		if len(q.words[0]) >= 8 {
			f.Fuzziness = 2
		}
		about = f
	}
	res, err := b.x.Search(bleve.NewSearchRequestOptions(about, answers, 0, false))
	if err != nil {
		return 0, err
	}
	return len(res.Hits), nil
}

func (b *bleveIndex) close() error { return b.x.Close() }
