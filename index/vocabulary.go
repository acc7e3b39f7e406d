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
	src        *store.State
	stems      *document.Stemmer
	known      map[string]Usage // by stem
	scopes     []string
	categories []string
	scope      []int32 // of each record, in scopes; -1 for what is not counted
	tags       []int32 // of all records one after the other, in categories
	tagsEnd    []int32 // of each record, where its tags end; one more at the beginning
	inScope    []int   // room to count
	inCategory []int
	room       []int32
	common     int // words of more memories tell nothing
}

func newWordCounter(s *searching, st *store.State, private bool) *wordCounter {
	recs, hidden := st.Records(), st.Superseded()
	c := &wordCounter{
		searching: s, src: st, stems: document.NewStemmer(s.x.lang), known: map[string]Usage{},
		common: max(commonLeast, len(recs)/commonPart), scope: make([]int32, len(recs)), tagsEnd: make([]int32, len(recs)+1),
	}
	scopes, categories := map[string]int32{}, map[string]int32{}
	folder, at := "", int32(-1)
	for d := range recs {
		r := &recs[d]
		c.scope[d], c.tagsEnd[d+1] = -1, int32(len(c.tags))
		if r.Docs == 0 || !s.visible(r, hidden != nil && hidden[d]) || r.Flags&document.FlagPrivate != 0 && !private {
			continue
		}
		// Records are in path order: most stand in the folder of the one before.
		if dir := string(r.Path[:strings.LastIndexByte(string(r.Path), '/')]); dir != folder {
			folder, at = dir, number(scopes, &c.scopes, vault.ScopeOf(r.Path))
		}
		c.scope[d] = at
		document.EachCategory(r.Meta, func(tag string) {
			if n := number(categories, &c.categories, tag); !slices.Contains(c.tagsOf(int32(d)), n) {
				c.tags = append(c.tags, n)
				c.tagsEnd[d+1]++
			}
		})
	}
	c.inScope, c.inCategory = make([]int, len(c.scopes)), make([]int, len(c.categories))
	return c
}

// number is the place of a name in a list, where it is put at its first mention.
func number(known map[string]int32, list *[]string, name string) int32 {
	n, ok := known[name]
	if !ok {
		n = int32(len(*list))
		known[name] = n
		*list = append(*list, name)
	}
	return n
}

func (c *wordCounter) vocabulary(texts, groups []string) (*Vocabulary, error) {
	v := &Vocabulary{
		All: c.all(), Tagged: c.tagged(), Words: make([][]Word, len(texts)), Groups: make([]Usage, len(groups)),
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

// tagged counts the memories of each scope by category.
func (c *wordCounter) tagged() map[string]map[string]int {
	out := make(map[string]map[string]int, len(c.scopes))
	for _, name := range c.scopes {
		out[name] = map[string]int{}
	}
	for d, at := range c.scope {
		if at < 0 {
			continue
		}
		for _, tag := range c.tagsOf(int32(d)) {
			c.inCategory[tag]++
		}
		if d+1 < len(c.scope) && c.scope[d+1] == at {
			continue // nearly always: a scope is a folder
		}
		for tag, n := range c.inCategory {
			if n > 0 {
				out[c.scopes[at]][c.categories[tag]] += n
			}
		}
		clear(c.inCategory)
	}
	return out
}

func (c *wordCounter) tagsOf(doc int32) []int32 { return c.tags[c.tagsEnd[doc]:c.tagsEnd[doc+1]] }

// words counts the words of one text.
func (c *wordCounter) words(text string) (out []Word, err error) {
	err = c.each(text, func(word, stem string) error {
		u, ok := c.known[stem]
		if !ok {
			if err := c.look(stem); err != nil {
				return err
			}
			for _, doc := range c.room {
				c.add(doc)
			}
			u = c.sum()
			c.known[stem] = u
		}
		out = append(out, Word{word, u})
		return nil
	})
	return out, err
}

// group counts the memories with any word of a text.
func (c *wordCounter) group(text string) (Usage, error) {
	met := make([]bool, len(c.scope))
	err := c.each(text, func(_, stem string) error {
		if err := c.look(stem); err != nil {
			return err
		}
		for _, doc := range c.room {
			if !met[doc] {
				met[doc] = true
				c.add(doc)
			}
		}
		return nil
	})
	return c.sum(), err
}

// look brings the memories with a stem into the room.
func (c *wordCounter) look(stem string) (err error) {
	c.room, err = c.src.Members(document.FieldBody, stem, c.common, c.room)
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

func (c *wordCounter) all() Usage {
	for d := range c.scope {
		c.add(int32(d))
	}
	return c.sum()
}

func (c *wordCounter) add(doc int32) {
	if c.scope[doc] < 0 {
		return
	}
	c.inScope[c.scope[doc]]++
	for _, tag := range c.tagsOf(doc) {
		c.inCategory[tag]++
	}
}

// sum is what was added since it was last called.
func (c *wordCounter) sum() Usage {
	out := Usage{Scopes: map[string]int{}, Categories: map[string]int{}}
	for i, n := range c.inScope {
		if n > 0 {
			out.Memories += n
			out.Scopes[c.scopes[i]] = n
		}
	}
	for i, n := range c.inCategory {
		if n > 0 {
			out.Categories[c.categories[i]] = n
		}
	}
	clear(c.inScope)
	clear(c.inCategory)
	return out
}
