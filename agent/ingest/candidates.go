package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/agent/encode"
	"stet/index/document"
	"stet/vault"
)

// near is how many memories each probe brings. The research took 8 by words; what
// shares no word comes by the names of an attribute, of which there can be more.
const near = 16

// nearModel is how many it brings where a model judges: one word that many memories have may
// be all that a note shares with what it changes, and other scopes are left out only later.
const nearModel = 48

// candidates are the stored memories that a note could have to do with: those of
// its scope, of the scopes above and below it; without a scope, those of all but
// single projects. Another machine must not learn of private ones.
func (d *gatherer) candidates(dr *draft) ([]encode.Memory, error) {
	if d.mind != nil {
		return d.nearby(dr, nearModel)
	}
	return d.nearby(dr, near)
}

// nearby are up to limit memories for each probe of a note.
func (d *gatherer) nearby(dr *draft, limit int) ([]encode.Memory, error) {
	var out []encode.Memory
	seen := map[vault.Path]bool{}
	for _, probe := range dr.probes {
		found, err := d.find.Nearby(d.ctx, probe, limit)
		if err != nil {
			if cause := context.Cause(d.ctx); cause != nil {
				return nil, cause
			}
			d.warnings = append(d.warnings, fmt.Sprintf("not compared with what is stored: %v", err))
			return nil, nil
		}
		dr.more = dr.more || len(found) == limit
		for _, p := range found {
			if seen[p] || !concerns(dr.note.Scope, vault.ScopeOf(p)) {
				continue
			}
			seen[p] = true
			m, ok, err := d.read(p)
			if err != nil {
				return nil, err
			}
			if ok && dr.follows(m) {
				key := string(m.Path)
				d.stored[key] = m
				out = append(out, storedMemory(m))
			}
		}
	}
	return out, nil
}

// thin is with how few words to search for a text may be missed by a search.
const thin = 3

// thinBytes bounds such a text: what is longer has words.
const thinBytes = 1 << 10

// verbatim finds the very text of a note where the rules see nothing in it, for it
// has no word that they know. One with hardly a word to search for is looked for
// among all memories.
func (d *gatherer) verbatim(dr *draft) (*encode.Verdict, error) {
	text := strings.TrimSpace(dr.memory.Text)
	if same := sameText(dr, slices.Concat(dr.near, dr.shelved, dr.earlier)); same != nil {
		return same, nil
	}
	words := 0
	for _, probe := range dr.probes {
		words = max(words, searchable(probe, text))
	}
	if words >= thin || text == "" || words > 0 && len(dr.near) > 0 && !dr.more {
		return nil, nil
	}
	if err := d.listTexts(); err != nil {
		return nil, err
	}
	for _, p := range d.texts[text] {
		if !concerns(dr.note.Scope, vault.ScopeOf(p)) {
			continue
		}
		m, ok, err := d.read(p)
		if err != nil {
			return nil, err
		}
		if ok && strings.TrimSpace(string(m.Body)) == text && (dr.memory.Title == "" || dr.memory.Title == m.Title) {
			d.stored[string(m.Path)] = m
			return isText(string(m.Path)), nil
		}
	}
	return nil, nil
}

// sameText is the first of some memories that has the very text of a note, nil for none.
func sameText(dr *draft, list []encode.Memory) *encode.Verdict {
	text := strings.TrimSpace(dr.memory.Text)
	for _, o := range list {
		if strings.TrimSpace(o.Text) == text && (dr.memory.Title == "" || dr.memory.Title == o.Title) {
			return isText(o.ID)
		}
	}
	return nil
}

func isText(id string) *encode.Verdict {
	return &encode.Verdict{Kind: encode.Duplicate, Old: id, Rule: encode.SameText, Confidence: 1}
}

// searchable counts the words of a probe that a search surely finds a text by: longer ones that
// the index cuts out of the text as well, which folds some letters otherwise than the rules do.
func searchable(probe, text string) (n int) {
	terms := map[string]bool{}
	document.Tokenize([]byte(text[:min(len(text), probed)]), func(t document.Token) { terms[t.Term] = true })
	document.Tokenize([]byte(probe), func(t document.Token) {
		if !t.Gram && utf8.RuneCountInString(t.Term) >= thin && terms[t.Term] {
			n++
		}
	})
	return n
}

// listTexts reads all memories, once.
func (d *gatherer) listTexts() error {
	if d.texts != nil {
		return nil
	}
	all, err := d.v.List(d.ctx, vault.Filter{})
	if err != nil {
		return err
	}
	d.texts = map[string][]vault.Path{}
	for _, m := range all {
		if text := strings.TrimSpace(string(m.Body)); len(text) <= thinBytes {
			d.texts[text] = append(d.texts[text], m.Path)
		}
	}
	return nil
}

// read reads a memory as it stands on disk now.
func (d *gatherer) read(p vault.Path) (vault.Memory, bool, error) {
	data, _, err := d.v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vault.ErrNotFound) || errors.Is(err, vault.ErrTooLarge) ||
		errors.Is(err, vault.ErrNotRegular) || errors.Is(err, vault.ErrRefused) {
		return vault.Memory{}, false, nil // gone meanwhile, or nothing to compare
	}
	if err != nil {
		return vault.Memory{}, false, err
	}
	m := vault.ReadMemory(p, data)
	mine := !m.Private || d.authority() > encode.Inference
	return m, m.Problem == "" && m.SupersededBy == "" && mine, nil
}

// follows reports whether a draft came after a stored memory. One that is stored
// itself is compared with those before it alone: those after it were, or will be,
// compared with it.
func (dr *draft) follows(m vault.Memory) bool {
	return dr.self == nil || dr.reworded && m.Path != dr.self.Path || !dr.reworded && order(m, *dr.self) < 0
}

// order is the order in which memories were stored, as far as they tell.
func order(a, b vault.Memory) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path))
}

// projects holds the scopes of single projects: what one of them uses says nothing
// about another.
const projects = "/projects"

func concerns(scope, other string) bool {
	if scope == "" {
		return !vault.Scope(other).In(projects)
	}
	scope = vault.Scope(scope).Slug()
	return vault.Scope(other).In(scope) || vault.Scope(scope).In(other)
}
