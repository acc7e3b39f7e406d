package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"stet/agent"
	"stet/vault"
)

// The sizes of replies, in characters. A reply fills a part of a model's window that the next turn
// needs.
const (
	maxSnippet = 400
	maxText    = 8000 // of one text that was asked for by name
	maxNamed   = 10   // candidates, names
)

// A candidate is one thing that a name could mean.
type candidate struct {
	Ref  string `json:"ref"`
	Text string `json:"text,omitempty"`
}

// A refused is the reply to a call that was not carried out.
type refused struct {
	OK         bool        `json:"ok"`
	Error      string      `json:"error"`
	Hint       string      `json:"hint,omitempty"`
	Candidates []candidate `json:"candidates,omitempty"`
	LeftOut    int         `json:"left_out,omitempty"` // candidates
}

// Refusal is the reply to a call that fails with err, in JSON.
func Refusal(err error) string {
	r := refused{Error: cut(err.Error(), 2*maxSnippet)}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		r.Hint = cut(hinter.Hint(), 2*maxSnippet)
	}
	var many *vault.AmbiguousError
	var none *vault.NotFoundError
	switch {
	case errors.As(err, &many):
		for _, m := range many.Candidates {
			r.Candidates = append(r.Candidates, candidate{string(m.Path), cut(m.Name(), maxSnippet/4)})
		}
	case errors.As(err, &none):
		if len(none.Near) == 0 {
			r.Hint = "memory_search and skill, action list, show what is there"
		}
		for _, name := range none.Near {
			r.Candidates = append(r.Candidates, candidate{Ref: cut(name, maxSnippet/4)})
		}
	}
	if n := len(r.Candidates) - maxNamed; n > 0 {
		r.Candidates, r.LeftOut = r.Candidates[:maxNamed], n
	}
	return render(r)
}

// render is a reply as one line of JSON.
func render(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf(`{"ok":false,"error":%q}`, err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Texts is JSON with each string in it as change has it.
func Texts(data string, change func(string) string) string {
	var out strings.Builder
	for {
		before, rest, more := strings.Cut(data, `"`)
		out.WriteString(before)
		if !more {
			return out.String()
		}
		end := 0
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		var text string
		if end >= len(rest) || json.Unmarshal([]byte(`"`+rest[:end+1]), &text) != nil {
			return `{"ok":false,"error":"the reply is no JSON"}` // nothing makes such a one
		}
		out.WriteString(render(change(text)))
		data = rest[end+1:]
	}
}

// cut is s with at most n characters, the last one an ellipsis where it was longer.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// A done is the reply to a call that wrote, or that had nothing to write.
type done struct {
	OK   bool   `json:"ok"`
	Done string `json:"done"`
	// Vault is the folder of the vault that was written to.
	Vault string `json:"vault,omitempty"`
	Path  string `json:"path,omitempty"`
	ID    string `json:"id,omitempty"`
	Rev   string `json:"rev,omitempty"`  // the commit
	Diff  string `json:"diff,omitempty"` // of a revert
	// Notes say what else there is to know, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

func (d *done) note(format string, args ...any) {
	d.Notes = append(d.Notes, cut(fmt.Sprintf(format, args...), maxSnippet))
}

// wrote is the reply to a write, from its result.
func wrote(res *agent.Written, did string) *done {
	d := &done{OK: true, Done: did}
	if n := len(res.Commits); n > 0 {
		d.Rev = res.Commits[n-1].Rev.Short()
	}
	switch {
	case len(res.Proposed) > 0:
		d.Done, d.Path = "proposed", string(res.Proposed[0].About)
		d.note("nothing is changed yet: it waits for the user's yes as proposal %s", res.Proposed[0].ID)
		for _, p := range res.Proposed[1:min(len(res.Proposed), maxNamed)] {
			d.note("%s waits as proposal %s", p.About, p.ID)
		}
		if n := len(res.Proposed) - maxNamed; n > 0 {
			d.note("and %d more wait", n)
		}
		if res.Unasked != "" {
			d.note("because does not count: %s", res.Unasked)
		}
	case res.Unchanged:
		d.Done = "unchanged"
	}
	if len(res.Memories) > 0 && len(res.Proposed) == 0 {
		d.Path, d.ID = string(res.Memories[0].Path), res.Memories[0].ID
	}
	return d
}
