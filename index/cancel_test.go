package index

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"stet/vault"
)

// An endless is a folder that ends the search while it is being read, and counts
// what is read all the same.
type endless struct {
	*folder
	end  context.CancelFunc
	at   int64 // the read that ends it; 0: none
	read atomic.Int64
}

func (e *endless) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	if n := e.read.Add(1); e.at > 0 && n == e.at {
		e.end()
	}
	return e.folder.ReadFile(p)
}

// Ctrl-C must not wait for the rest of the files.
func TestASearchThatIsEndedStopsReading(t *testing.T) {
	t.Parallel()
	const files = 500
	texts := map[string]string{}
	for i := range files {
		texts[fmt.Sprintf("memories/%03d.md", i)] = "Ottoline is the harbour master.\n"
	}
	for _, name := range []string{"making the index", "comparing with it", "without an index"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			src := &endless{folder: newFolder(t, texts), end: end}
			var options []func(*Options)
			switch name {
			case "comparing with it":
				// Just written, every file could have changed unseen.
				if _, err := open(t, src).Search(ctx, Query{Text: "ottoline"}); err != nil {
					t.Fatal(err)
				}
				for p := range texts {
					src.write(t, p, "Ottoline is away.\n")
				}
			case "without an index":
				options = append(options, func(o *Options) { o.ReadOnly = true })
			}
			src.read.Store(0)
			src.at = 20
			_, err := open(t, src, options...).Search(ctx, Query{Text: "ottoline"})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want %v", err, context.Canceled)
			}
			// Eight readers may each have one in hand.
			if n := src.read.Load(); n > src.at+16 {
				t.Errorf("%d of %d files were read, it ended at %d", n, files, src.at)
			}
		})
	}
}
