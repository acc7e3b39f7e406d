package ingest

import (
	"fmt"
	"strings"

	"stet/agent/encode"
	"stet/templates"
)

// The notes of one call are compared and filed as long as they are soonText bytes together, and noteText bytes more
// for each of them: a thousand notes of a sentence each, or one that is as long as it likes. The others are stored as
// they are and marked, and [Finish] does the rest: a call takes the time of what it stores, not of what that could
// have to do with each other.
const (
	soonText = 128 << 10
	noteText = 256
)

// soon are the drafts that are compared at once. The others become late: all those behind the first one, for [Finish]
// compares a memory with those stored before it.
func soon(drafts []*draft) []*draft {
	size := 0
	for i, dr := range drafts {
		size += len(textOf(dr.note)) + len(dr.note.Title)
		if i > 0 && size > soonText+noteText*(i+1) {
			for _, dr := range drafts[i:] {
				dr.late = true
			}
			return drafts[:i]
		}
	}
	return drafts
}

// A saying is what of two notes has to be the same where the later one need not be stored.
type saying struct{ text, title, scope string }

func said(dr *draft) saying {
	return saying{strings.TrimSpace(textOf(dr.note)), dr.note.Title, dr.note.Scope}
}

// sameNotes are the notes of a call so far, by what they say: their numbers, from 1.
type sameNotes map[saying]int

func (s sameNotes) add(dr *draft, i int) {
	if key := said(dr); s[key] == 0 {
		s[key] = i + 1
	}
}

// judgeLate looks for the very text of a late note: that of the earlier note with that number, unless it is 0, and of
// stored memories those that the beginning of the text finds.
func (d *gatherer) judgeLate(dr *draft, earlier int) (err error) {
	const begin, few = 512, 4
	n, text := dr.note, textOf(dr.note)
	dr.memory = d.memory(noteID(dr.i), text, n.Title, n.Scope)
	if err := d.shelve(); err != nil {
		return err
	}
	if d.sent(dr); dr.book != nil { // its writer says where it belongs
		return nil
	}
	if earlier > 0 {
		dr.plan.Duplicate = isText(noteID(earlier - 1))
		return nil
	}
	probes := encode.Probes(strings.ToValidUTF8(text[:min(len(text), begin)], ""))
	dr.probes = probes[:min(1, len(probes))]
	if dr.near, err = d.nearby(dr, few); err == nil {
		dr.plan.Duplicate = sameText(dr, dr.near)
	}
	return err
}

// pending says why a note is to be finished later, "" where it is not.
func (dr *draft) pending() string {
	switch {
	case dr.failed != nil:
		return dr.failed.Error()
	case dr.cut:
		return "the notes before it are long"
	}
	return ""
}

// sayCut tells what was left for later; what waits for a person is compared when the person agrees.
func (d *gatherer) sayCut(drafts []*draft) {
	late := 0
	for _, dr := range drafts {
		dr.cut = dr.late || dr.plan.Cut > 0 && len(drafts) > 1 && d.mind == nil
		if dr.cut = dr.cut && dr.plan.Duplicate == nil && dr.book == nil && !d.v.Waits(d.w); dr.cut {
			late++
		}
	}
	if late > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("the notes are long together, so %d of %d will be"+
			" compared later: \"stet encode\" compares and files what is marked \"encoding: pending\"",
			late, len(drafts)))
	} else if len(drafts) == 1 && drafts[0].plan.Cut > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("the note is long: %s with what is stored looked for"+
			" proof alone, and flagged nothing", templates.Plural(drafts[0].plan.Cut, "comparison")))
	}
}
