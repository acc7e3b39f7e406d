package ingest

import (
	"context"
	"testing"

	"stet/agent/encode"
	"stet/index"
	"stet/vault"
)

// forms is an index of two forms of one word.
type forms struct{}

func (forms) Nearby(context.Context, string, int) ([]vault.Path, error) { return nil, nil }

func (forms) Vocabulary(context.Context, []string, []string, bool) (*index.Vocabulary, error) {
	word := func(text string, memories int) index.Word {
		return index.Word{Text: text, Usage: index.Usage{Memories: memories}}
	}
	return &index.Vocabulary{All: index.Usage{Memories: 100}, Words: [][]index.Word{{word("servers", 40), word("server", 3)}}}, nil
}

// A stem is as common as the commonest of its forms.
func TestTheCommonestFormCounts(t *testing.T) {
	t.Parallel()
	d := newGatherer(t.Context(), nil, forms{}, nil, vault.Write{})
	c, err := d.countWords([]*draft{{note: vault.Note{Text: "servers and a server"}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := c.stems[encode.Stem("server")]; n != 40 {
		t.Errorf("counted in %d memories, want 40", n)
	}
}
