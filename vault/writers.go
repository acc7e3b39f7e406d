package vault

import (
	"context"
	"strings"

	"stet/vault/gitstore"
)

// Writers finds, for ids of memories and addresses of entries, the newest commit that wrote
// their words; what no commit names is left out. An edit that was adopted names nothing, so
// what an agent wrote and a person edited is the agent's still. Cost: the commits down to
// the oldest that is found, without their trees.
func (h *History) Writers(ctx context.Context, names []string) (map[string]Commit, error) {
	pending, out := map[string]bool{}, map[string]Commit{}
	for _, name := range names {
		pending[name] = name != ""
	}
	delete(pending, "")
	from, err := h.v.store.Resolve("")
	if err != nil || from.IsZero() {
		return out, err
	}
	for gc, err := range h.v.store.Repo().History(from, gitstore.ID{}) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, h.v.store.Explain(err)
		}
		if len(pending) == 0 {
			break
		}
		if !strings.Contains(gc.Message, "Stet-Memory: ") {
			continue
		}
		c := commitOf(gc)
		if !c.Op.known().words {
			continue
		}
		for _, name := range c.Trailers.All("Stet-Memory") {
			if pending[name] {
				if h.v.o.Reader != "" {
					c.Subject, c.Body = "", ""
				}
				out[name] = c
				delete(pending, name)
			}
		}
	}
	return out, nil
}
