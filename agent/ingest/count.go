package ingest

import (
	"strings"
	"unicode"

	"stet/agent/encode"
	"stet/agent/place"
	"stet/index"
)

// A counts is how common the words and topics of notes are among the stored memories.
type counts struct {
	*index.Vocabulary
	text  map[int]int           // of a draft, in Words
	group map[string]int        // of a topic, in Groups
	stems map[string]int        // memories with a word of the notes, by its stem
	none  [256]bool             // the first bytes of stems that are counted for none
	about map[int][]place.Topic // of a draft
}

// countWords counts the words of drafts, in one pass.
func (d *gatherer) countWords(drafts []*draft) (*counts, error) {
	c := &counts{text: map[int]int{}, group: map[string]int{}, stems: map[string]int{}, about: map[int][]place.Topic{}}
	var texts, groups []string
	for i, dr := range drafts {
		text := textOf(dr.note)
		c.text[dr.i] = i
		texts = append(texts, dr.note.Title+"\n"+text)
		c.about[dr.i] = place.Topics(dr.note.Title, text)
		for _, t := range c.about[dr.i] {
			if _, known := c.group[t.Name]; !known {
				c.group[t.Name] = len(groups)
				groups = append(groups, t.Words)
			}
		}
	}
	var err error
	if c.Vocabulary, err = d.find.Vocabulary(d.ctx, texts, groups, d.authority() > encode.Inference); err != nil {
		return nil, err
	}
	for _, words := range c.Words {
		for _, w := range words {
			stem := encode.Stem(w.Text) // several forms have one: the commonest counts
			c.stems[stem] = max(c.stems[stem], w.Memories)
		}
	}
	for stem, n := range c.stems {
		if n == 0 && stem != "" {
			c.none[stem[0]] = true
		}
	}
	return c, nil
}

// corpus tells the rules how common words are. A word of very many memories is counted for
// none by the index; it is known from one that no memory has by standing in one of near.
func (c *counts) corpus(near []encode.Memory) encode.Corpus {
	if c == nil {
		return encode.Corpus{}
	}
	common := map[string]bool{}
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, m := range near {
		for word := range strings.FieldsFuncSeq(strings.ToLower(m.Text), between) {
			if !c.none[word[0]] { // a stem begins as its word does
				continue
			}
			stem := encode.Stem(word)
			if n, counted := c.stems[stem]; counted && n == 0 {
				common[stem] = true
			}
		}
	}
	return encode.Corpus{Total: c.All.Memories, Count: func(stem string) int {
		if common[stem] {
			return c.All.Memories
		}
		return c.stems[stem]
	}}
}
