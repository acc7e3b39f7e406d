package vault

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/markdown"
)

// A field is a key of the front matter that means something to stet.
type field struct {
	key  string
	own  bool                          // says who a memory is or how it came about: never set by name
	read func(*Memory, markdown.Value) // nil: nothing of a [Memory]
	// want says what values the key takes, and takes says whether it takes one; nil
	// takes any.
	want  string
	takes func(markdown.Value) bool
	merge markdown.KeyMerge // when two sides changed it
}

// fields lists the keys in the order of docs/FORMAT.md. A value that a key cannot
// hold is read as none.
var fields = sync.OnceValue(func() []field {
	return []field{
		{key: "id", own: true, read: func(m *Memory, v markdown.Value) { m.ID = strings.ToLower(textOf(v)) }},
		{key: "kind", read: func(m *Memory, v markdown.Value) { m.Kind = textOf(v) }},
		{key: "categories", merge: markdown.Union, read: addCategories},
		{key: "tags", merge: markdown.Union, read: addCategories},
		{key: "importance", want: "a number between 0 and 1", takes: isShare, read: func(m *Memory, v markdown.Value) {
			if f, _ := v.Float(); isShare(v) {
				m.Importance = &f
			}
		}},
		{key: "pinned", want: "true or false", takes: isBool, read: func(m *Memory, v markdown.Value) {
			m.Pinned, _ = v.Bool()
		}},
		{key: "private", want: "true or false", takes: isBool}, // see [markdown.Document.Private]
		{key: "created", own: true, read: func(m *Memory, v markdown.Value) { m.Created = timeOf(v) }},
		{key: "date", read: func(m *Memory, v markdown.Value) { m.Date = timeOf(v) }},
		{key: "updated", own: true, merge: markdown.Later, read: func(m *Memory, v markdown.Value) {
			m.Updated = timeOf(v)
		}},
		{key: "valid_from", read: func(m *Memory, v markdown.Value) { m.ValidFrom = timeOf(v) }},
		{key: "valid_until", read: func(m *Memory, v markdown.Value) { m.ValidUntil = timeOf(v) }},
		{key: "expires", read: func(m *Memory, v markdown.Value) { m.Expires = timeOf(v) }},
		{key: "source", read: func(m *Memory, v markdown.Value) { m.Source = textOf(v) }},
		{key: "supersedes", own: true, merge: markdown.Union, read: func(m *Memory, v markdown.Value) {
			m.Supersedes = v.List()
		}},
		{key: "superseded_by", own: true, read: func(m *Memory, v markdown.Value) { m.SupersededBy = textOf(v) }},
		{key: "conflicts_with", own: true, read: func(m *Memory, v markdown.Value) { m.Conflicts = v.List() }},
		{key: "may_outdate", own: true, read: func(m *Memory, v markdown.Value) { m.MayOutdate = v.List() }},
		{key: "encoding", own: true, read: func(m *Memory, v markdown.Value) { m.Encoding = textOf(v) }},
		{key: "classified_by", own: true},
		{key: "category", merge: markdown.Union}, {key: "tag", merge: markdown.Union}, // as other programs write them
		{key: "aliases", merge: markdown.Union, read: addAliases},
		{key: "alias", merge: markdown.Union, read: addAliases},
	}
})

// fieldOf is the field of a key, or one that takes anything.
func fieldOf(key string) field {
	for _, f := range fields() {
		if f.key == key {
			return f
		}
	}
	return field{key: key}
}

// merge is [markdown.Merge] by the rules of the front-matter fields.
func merge(base, ours, theirs []byte) ([]byte, []markdown.Conflict) {
	return markdown.Merge(base, ours, theirs, func(key string) markdown.KeyMerge { return fieldOf(key).merge })
}

// editable refuses a key that stet keeps.
func (f field) editable() error {
	if !f.own {
		return nil
	}
	err := fmt.Errorf("front matter key %q: %w: stet keeps it", f.key, ErrRefused)
	return WithHint(err, `"stet edit" lets you change anything by hand`)
}

// check refuses a value that the key cannot hold.
func (f field) check(v markdown.Value) error {
	if f.takes == nil || f.takes(v) {
		return nil
	}
	return fmt.Errorf("%w: %s %q is not %s", ErrInvalid, f.key, v.Text(), f.want)
}

func addCategories(m *Memory, v markdown.Value) { m.Categories = append(m.Categories, v.List()...) }

func addAliases(m *Memory, v markdown.Value) { m.Aliases = append(m.Aliases, v.List()...) }

func textOf(v markdown.Value) string { return strings.TrimSpace(v.Text()) }

func timeOf(v markdown.Value) time.Time {
	t, _ := v.Time() // zero when it is none
	return t
}

func isBool(v markdown.Value) bool {
	_, ok := v.Bool()
	return ok
}

func isShare(v markdown.Value) bool {
	f, ok := v.Float()
	return ok && f >= 0 && f <= 1
}

func metaList(d *markdown.Document, key string) []string {
	v, _ := d.Meta(key)
	return v.List()
}

func metaBool(d *markdown.Document, key string) bool {
	v, _ := d.Meta(key)
	b, _ := v.Bool() // false when it is none
	return b
}

// Tag edits the list of categories of a file: its "tags" where it has these, and of a note that has neither list,
// since other programs read them there; else its "categories". What goes, goes from both.
func (p Patch) Tag(at Path, doc *markdown.Document) error {
	if len(p.AddCategories) == 0 && len(p.RemoveCategories) == 0 {
		return nil
	}
	_, tags := doc.Meta("tags")
	_, categories := doc.Meta("categories")
	to := "categories"
	if tags || !categories && ClassOf(at) == ClassNote {
		to = "tags"
	}
	var errs []error
	for _, key := range []string{"categories", "tags"} {
		have := metaList(doc, key)
		gone := func(s string) bool { return slices.Contains(p.RemoveCategories, s) }
		place, want := slices.IndexFunc(have, gone), slices.DeleteFunc(slices.Clone(have), gone)
		if key == to {
			if place < 0 {
				place = len(want)
			}
			want = cleanList(slices.Insert(want, place, p.AddCategories...)) // what takes a place stands there
		}
		switch {
		case slices.Equal(have, want):
		case len(want) == 0:
			errs = append(errs, doc.RemoveMeta(key))
		default:
			errs = append(errs, doc.SetMeta(key, markdown.Strings(want)))
		}
	}
	return errors.Join(errs...)
}

// Add appends what the patch appends, and changes nothing else. It fails with [ErrInvalid] for what is no text.
func (p Patch) Add(doc *markdown.Document) error {
	if p.Append == nil {
		return nil
	}
	if err := checkText(*p.Append); err != nil {
		return err
	}
	body := strings.TrimRight(string(doc.Body()), "\r\n")
	eol := "\n"
	if strings.Contains(string(doc.Body()), "\r\n") {
		eol = "\r\n"
	}
	text, next := strings.TrimRight(*p.Append, "\r\n"), lastItem(body)
	if words := strings.TrimLeft(text, "#"); words != text && strings.HasPrefix(words, " ") {
		next = "" // a heading ends the list
	}
	if p.Item && next != "" && !item().MatchString(text) {
		indent := strings.Repeat(" ", strings.Index(next, " ")+1)
		text = next + strings.ReplaceAll(text, "\n", "\n"+indent)
		if strings.HasSuffix("\n"+body, "\n"+next) { // an item that is yet to be filled in
			body = strings.TrimSuffix(body, next)
		}
	}
	gap := eol + eol
	switch {
	case body == "", strings.HasSuffix(body, "\n"):
		gap = ""
	case next != "" && item().MatchString(text):
		gap = eol
	}
	doc.SetBody([]byte(body + gap + text + eol))
	return nil
}

// item is how a line begins that is an item of a list.
var item = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ {0,3}([-*+]|[0-9]{1,9}[.)])[ \t]+(\[[ xX]\][ \t]+)?`)
})

// lastItem is how the next item begins of the list in which a body ends, "" where it ends in something else; of lists
// in a list, of the outermost. A task is open; a number is that of the last item, which Markdown counts on.
func lastItem(body string) (next string) {
	fenced := false
	lines := strings.Split(body, "\n")
	for _, line := range lines {
		fenced = fenced != (markdown.FenceOf(line) != "")
	}
	for _, line := range slices.Backward(lines) {
		at := item().FindStringSubmatch(line)
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		switch {
		case fenced || strings.TrimSpace(line) == "" || markdown.FenceOf(line) != "" || isRule(line):
			return next
		case at != nil && at[2] != "":
			next = at[1] + " [ ] "
		case at != nil:
			next = at[1] + " "
		}
		if !indented {
			return next
		}
	}
	return next
}

// isRule reports a line that parts what stands above from what stands below: "* * *".
func isRule(line string) bool {
	marks := strings.NewReplacer(" ", "", "\t", "", "\r", "").Replace(line)
	return len(marks) > 2 && strings.Trim(marks, marks[:1]) == "" && strings.Contains("-*_", marks[:1])
}
