package index

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"stet/index/document"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// A Usage says of how many memories something is true, and where those stand: by
// scope, and by category, which is in lower case.
type Usage struct {
	Memories   int
	Scopes     map[string]int
	Categories map[string]int
}

// A Vocabulary is what the stored memories say about words and places.
type Vocabulary struct {
	All Usage
	// Tagged counts the memories of a scope that have a category.
	Tagged map[string]map[string]int
	Words  [][]Word // for each text
	Groups []Usage  // for each group of words, the memories with any of them
}

// A Word is a word of a text, folded, and where memories have it in any form.
type Word struct {
	Text string
	Usage
}

// What a tenth of the memories have tells nothing of where one of them stands; of
// a few everything may.
const (
	commonPart  = 10
	commonLeast = 64
)

// usageWords bounds the words of a text that are counted: what it is about shows at
// its beginning.
const usageWords = 100

// Vocabulary counts the memories that [Index.Nearby] could list, for each of texts
// those that share a word with it, each word once, and for each of groups those that
// have any word of it. Words that every text has are left out, and those of very many
// memories count for none. It looks at no file and answers from the index as it was
// last written: ask Nearby first. Private memories count only where private is set.
// Cost: the number of memories, once for all texts.
func (x *Index) Vocabulary(ctx context.Context, texts, groups []string, private bool) (v *Vocabulary, err error) {
	st, err := x.notes.Written()
	if err == nil {
		if v, err = x.countWords(ctx, st, texts, groups, private); err != nil && ctx.Err() == nil {
			x.notes.Distrust(err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("count words: %w", err)
	}
	return v, nil
}

func (x *Index) countWords(
	ctx context.Context, st *store.State, texts, groups []string, private bool,
) (v *Vocabulary, err error) {
	defer store.Guarded("count words", &err)()
	defer runtime.KeepAlive(st)
	s := newSearching(ctx, x, Query{Class: []vault.Class{vault.ClassMemory}}, x.o.Now())
	return newWordCounter(s, st, private).vocabulary(texts, groups)
}

// A wordCounter counts memories by scope and category.
type wordCounter struct {
	*searching
	src    *store.State
	stems  *document.Stemmer
	known  map[string]Usage // by stem
	places []place          // of each record
	common int              // words of more memories tell nothing
}

// A place is where a memory stands; the zero place is that of what is not counted.
type place struct {
	scope string
	tags  []string // each once
}

func newWordCounter(s *searching, st *store.State, private bool) *wordCounter {
	recs, hidden := st.Records(), st.Superseded()
	c := &wordCounter{
		searching: s, src: st, stems: document.NewStemmer(s.x.lang), known: map[string]Usage{},
		common: max(commonLeast, len(recs)/commonPart), places: make([]place, len(recs)),
	}
	folder, scope := "", "" // of the record before: they are in path order
	for d := range recs {
		r, p := &recs[d], &c.places[d]
		if r.Docs == 0 || !s.visible(r, hidden != nil && hidden[d]) || r.Flags&document.FlagPrivate != 0 && !private {
			continue
		}
		if dir := r.Path.Dir(); dir != folder {
			folder, scope = dir, vault.ScopeOf(r.Path)
		}
		p.scope = scope
		if p.tags = document.Categories(r.Meta); len(p.tags) > 1 {
			slices.Sort(p.tags)
			p.tags = slices.Compact(p.tags)
		}
	}
	return c
}

func newUsage() Usage { return Usage{Scopes: map[string]int{}, Categories: map[string]int{}} }

func (u *Usage) add(p place) {
	if p.scope == "" {
		return
	}
	u.Memories++
	u.Scopes[p.scope]++
	for _, tag := range p.tags {
		u.Categories[tag]++
	}
}

func (c *wordCounter) vocabulary(texts, groups []string) (*Vocabulary, error) {
	v := &Vocabulary{
		All: newUsage(), Tagged: map[string]map[string]int{}, Words: make([][]Word, len(texts)), Groups: make([]Usage, len(groups)),
	}
	for rest := c.places; len(rest) > 0; {
		scope := rest[0].scope
		n := slices.IndexFunc(rest, func(p place) bool { return p.scope != scope })
		if n < 0 {
			n = len(rest)
		}
		v.scope(scope, rest[:n])
		rest = rest[n:]
	}
	var err error
	for i, text := range texts {
		if v.Words[i], err = c.words(text); err != nil {
			return nil, err
		}
	}
	for i, group := range groups {
		if v.Groups[i], err = c.group(group); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// scope counts memories of one scope.
func (v *Vocabulary) scope(scope string, places []place) {
	if scope == "" {
		return
	}
	in := v.Tagged[scope]
	if in == nil {
		in = map[string]int{}
		v.Tagged[scope] = in
	}
	v.All.Memories += len(places)
	v.All.Scopes[scope] += len(places)
	for _, p := range places {
		for _, tag := range p.tags {
			v.All.Categories[tag]++
			in[tag]++
		}
	}
}

// words counts the words of one text.
func (c *wordCounter) words(text string) (out []Word, err error) {
	err = c.each(text, func(word, stem string) error {
		u, ok := c.known[stem]
		if !ok {
			u = newUsage()
			if err := c.having(stem, func(doc int32) { u.add(c.places[doc]) }); err != nil {
				return err
			}
			c.known[stem] = u
		}
		out = append(out, Word{word, u})
		return nil
	})
	return out, err
}

// group counts the memories with any word of a text.
func (c *wordCounter) group(text string) (Usage, error) {
	u, met := newUsage(), make([]bool, len(c.places))
	err := c.each(text, func(_, stem string) error {
		return c.having(stem, func(doc int32) {
			if !met[doc] {
				met[doc] = true
				u.add(c.places[doc])
			}
		})
	})
	return u, err
}

// having calls f for the memories with a stem, for none where they are very many.
func (c *wordCounter) having(stem string, f func(doc int32)) error {
	list, err := c.src.Term(document.FieldBody, stem, nil)
	if len(list) <= c.common {
		for _, p := range list {
			f(p.Doc)
		}
	}
	return err
}

// each calls f for the words of a text that not every text has, and their stems,
// each stem once.
func (c *wordCounter) each(text string, f func(word, stem string) error) (err error) {
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	seen := map[string]bool{}
	document.Tokenize([]byte(query.Clip(text)), func(t document.Token) {
		stem := c.stems.Stem(t.Term)
		if err != nil || seen[stem] || c.x.lang.IsStop(t.Term) || len(seen) == usageWords {
			return
		}
		seen[stem] = true
		err = f(t.Term, stem)
	})
	return err
}

// Language is what the vault is mostly written in.
func (x *Index) Language() *document.Language { return x.lang }

// Having counts, for each of stems (as [document.Stemmer] makes them, or whole names as [document.Identifiers]
// does), the files that have it, and all files, as the index was last written; with [Options].Public without
// private ones, whose words the counts would tell. It looks at no file. It fails where there is no index.
func (x *Index) Having(ctx context.Context, stems []string) (having map[string]int, files int, err error) {
	st, err := x.notes.Written()
	if err == nil {
		having, files, err = countFiles(ctx, st, stems, x.o)
		if err != nil && ctx.Err() == nil {
			x.notes.Distrust(err)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("count words: %w", err)
	}
	return having, files, nil
}

func countFiles(
	ctx context.Context, st *store.State, stems []string, o Options,
) (out map[string]int, files int, err error) {
	defer store.Guarded("count words", &err)()
	defer runtime.KeepAlive(st)
	recs := st.Records()
	private := secret{hides: o.Hides}
	if o.Public {
		private.learn(recs)
	}
	withheld := make([]bool, len(recs))
	for i := range recs {
		archived := vault.ClassOf(recs[i].Path) == vault.ClassArchive
		if withheld[i] = o.Public && (archived || private.has(&recs[i])); !withheld[i] {
			files += int(recs[i].Docs)
		}
	}
	out = make(map[string]int, len(stems))
	var room []document.Posting
	for _, stem := range stems {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		field := document.FieldBody
		if strings.IndexFunc(stem, func(r rune) bool { return !document.IsWordRune(r) }) >= 0 {
			field = document.FieldIdent
		}
		if room, err = st.Term(field, stem, room); err != nil {
			return nil, 0, err
		}
		for _, p := range room {
			if !withheld[p.Doc] {
				out[stem]++
			}
		}
	}
	return out, files, nil
}
