package merge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
	"stet/vault/scan"
	"stet/vault/skill"
)

const (
	maxMain  = 500 // lines of a SKILL.md
	triggers = 0.9 // of the words of a description
	twice    = 5   // from how many words on a line must not stand twice
)

// form is what is wrong with an umbrella as such: sources are the skills that its text may come from, itself as it was
// before among them. lead is a line below its title that is better left out.
func form(u fork.Skill, sources []fork.Skill, at layout) (lead unit, why string) {
	main := u.Files[skill.File].Data
	if n := bytes.Count(main, []byte("\n")); n >= maxMain {
		return lead, fmt.Sprintf("its SKILL.md has %d lines, and %d are too many: move long parts to references/", n,
			maxMain)
	}
	now, _ := skill.Parse(u.Folder, main)
	from := originOf(u, sources, at)
	most := map[string]int{} // how often a line stands in one source; of a table: in all, for each needs its head
	for _, s := range sources {
		for l, n := range counted(s.Files[skill.File].Data) {
			if strings.HasPrefix(l, "|") {
				n += most[l]
			}
			most[l] = max(most[l], n)
		}
	}
	if why := cmp.Or(from.calls(u), from.lacksHead(main)); why != "" {
		return lead, why
	}
	about := strings.Join(strings.Fields(now.Description), " ")
	if n := utf8.RuneCountInString(about); n > skill.MaxDescription {
		return lead, fmt.Sprintf("its description has %d characters, at most %d are allowed", n, skill.MaxDescription)
	}
	if why := from.alarms(skill.File, []byte(about)); why != "" {
		return lead, why
	}
	if word := cmp.Or(brokenWord().FindString(about), from.foreign(about)); word != "" {
		return lead, fmt.Sprintf("its description says %q, which the names, descriptions and headings of the skills "+
			"in it do not say", word)
	}
	if lead, why = from.lacks(u); why != "" {
		return lead, why
	}
	stands := counted(main)
	for _, l := range slices.Sorted(maps.Keys(stands)) {
		if n := stands[l]; n > max(most[l], 1) {
			return lead, fmt.Sprintf("a line stands in it %d times, and should once: %s", n, quoted(l))
		}
	}
	return lead, ""
}

// An origin is what an umbrella may have: what its sources have.
type origin struct {
	name      string          // the words of the umbrella's
	was       string          // its name, where it stood before
	at        layout          // of the umbrella
	slugs     map[string]bool // of its headings
	heads     map[string]bool // keys of front matter, and parts of their values
	blobs     map[string]bool // files with their modes
	code      map[string]bool // blocks
	pieces    map[string]bool // code between backticks, lines and words, folded
	addresses map[string]bool
	said      map[string][]string // names of the sources, by sentences, plain
	words     map[string]bool     // stems of what names, descriptions and headings have, and pairs of them
	called    map[string]bool     // of names alone
	about     map[string]about    // descriptions, by name
	opens     map[string][]string // and by their sentences, as stems that are not free
	text      bytes.Buffer        // of all files
}

func originOf(u fork.Skill, sources []fork.Skill, at layout) *origin {
	o := &origin{name: strings.Join(words(u.Name), " "), at: at, slugs: map[string]bool{}, heads: map[string]bool{},
		blobs: map[string]bool{}, code: map[string]bool{}, pieces: map[string]bool{}, addresses: map[string]bool{},
		said: map[string][]string{}, words: map[string]bool{}, called: map[string]bool{}, about: map[string]about{},
		opens: map[string][]string{}}
	o.know("references scripts assets templates files docs")
	for p, f := range u.Files {
		o.pieces[markdown.Fold(p)], o.pieces[markdown.Fold(path.Base(p))] = true, true
		if vault.Path(p).IsMarkdown() {
			for _, s := range markdown.Parse(f.Data).Sections() {
				o.slugs[markdown.Slug(s.Heading.Text, 0)] = true
			}
		}
	}
	for _, s := range sources {
		o.add(s, Rehomed(s, u))
		if s.Name == u.Name {
			o.was = s.Name
		}
	}
	return o
}

// add adds a source, with the new places of its files.
func (o *origin) add(s fork.Skill, to map[string]string) {
	all, _ := heads(s.Files[skill.File].Data) // what cannot be read allows nothing
	for key, parts := range all {
		o.heads[key] = true
		for _, part := range parts {
			o.heads[key+"\x00"+part] = true
			o.know(part)
		}
	}
	was, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
	o.know(s.Name)
	o.know(was.Description)
	for _, w := range stems(s.Name) {
		o.called[w] = true
	}
	for _, one := range sentences(plain(was.Description)) {
		o.say(one, s.Name)
		key := strings.Join(core(one), " ")
		o.opens[key] = append(o.opens[key], s.Name)
	}
	o.about[s.Name] = core(was.Description)
	for p, f := range s.Files {
		o.know(strings.ReplaceAll(strings.TrimSuffix(p, path.Ext(p)), "/", " "))
		o.blobs[fmt.Sprint(f.Exec, string(f.Data))] = true
		data := moved(f.Data, to)
		o.text.Write(append(data, '\n'))
		if vault.Path(p).IsMarkdown() {
			blocks, spans := codeOf(data)
			for _, c := range blocks {
				o.code[c] = true
			}
			for _, c := range spans {
				o.pieces[c] = true
			}
			for _, at := range addresses(data) {
				o.addresses[at] = true
			}
			o.addLines(s.Name, f.Data, data)
		}
		for line := range strings.Lines(markdown.Fold(string(data))) {
			words := strings.Fields(line)
			o.pieces[strings.Join(words, " ")] = true
			for _, w := range words {
				o.pieces[w], o.pieces[strings.Trim(w, wordMarks)] = true, true
			}
		}
	}
}

// lacksHead is what of the front matter of an umbrella none of its sources has, but for name, description and what
// stet notes.
func (o *origin) lacksHead(main []byte) string {
	all, err := heads(main)
	if err != nil {
		return "its front matter cannot be read: " + first(err.Error())
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !o.heads[key] && key != "metadata" && key != allowedTools {
			return fmt.Sprintf("its front matter has %s, and that of no skill in it does", key)
		}
		for _, part := range all[key] {
			switch {
			case o.heads[key+"\x00"+part]:
			case key == allowedTools:
				return fmt.Sprintf("it allows the tool %s, which no skill in it did", part)
			default:
				return fmt.Sprintf("its front matter has %s: %s, and that of no skill in it does", key, first(part))
			}
		}
	}
	return ""
}

const allowedTools = "allowed-tools"

// heads are the parts of what front matter says, by key, but for name, description and what stet notes.
func heads(main []byte) (map[string][]string, error) {
	dec := yaml.NewDecoder(bytes.NewReader(main[:len(main)-len(markdown.Parse(main).Body())]))
	var doc yaml.Node
	var all map[string]any
	var more any
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if err := doc.Decode(&all); err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err == nil && more != nil || err != nil && err != io.EOF {
		return nil, errors.New("it is more than one document")
	}
	out := map[string][]string{}
	for key, value := range all {
		if key != "name" && key != "description" {
			out[key] = parts(key, value)
		}
	}
	if said := remarks(&doc); len(said) > 0 {
		out["#"] = said
	}
	return out, nil
}

// remarks are the comments of YAML.
func remarks(n *yaml.Node) (out []string) {
	for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		if text != "" {
			out = append(out, text)
		}
	}
	for _, below := range n.Content {
		out = append(out, remarks(below)...)
	}
	return out
}

// parts are the tools, items or pairs of a value of front matter, else the value.
func parts(key string, value any) (out []string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			out = append(out, parts(key, one)...)
		}
		return out
	case map[string]any:
		for k, one := range v {
			if key == "metadata" && strings.HasPrefix(k, "stet-") {
				continue
			}
			for _, element := range elements(one) {
				out = append(out, k+": "+written(element))
			}
		}
		slices.Sort(out)
		return out
	case string:
		if key == allowedTools {
			return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		}
	}
	return []string{written(value)}
}

// elements are those of a list of words, which an umbrella may join, or else the value itself.
func elements(value any) []any {
	list, ok := value.([]any)
	if !ok || slices.ContainsFunc(list, func(one any) bool { _, word := one.(string); return !word }) {
		return []any{value}
	}
	return list
}

// written is a value of front matter as JSON.
func written(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // a map with keys that are no strings
		return fmt.Sprintf("%#v", value)
	}
	return string(data)
}

// lacks is what of the files of an umbrella none of its sources has, and which line below its title is left out.
func (o *origin) lacks(u fork.Skill) (lead unit, why string) {
	for _, p := range slices.Sorted(maps.Keys(u.Files)) {
		f := u.Files[p]
		if o.blobs[fmt.Sprint(f.Exec, string(f.Data))] {
			continue
		}
		if !vault.Path(p).IsMarkdown() {
			return lead, fmt.Sprintf("its file %s is of none of the skills in it", p)
		}
		blocks, spans := codeOf(f.Data)
		for _, c := range blocks {
			if !o.code[c] {
				return lead, fmt.Sprintf("%s has code that none of the skills in it has: %s", p, first(c))
			}
		}
		for _, c := range spans {
			if !o.pieces[c] {
				return lead, fmt.Sprintf("%s has code that none of the skills in it has: %s", p, c)
			}
		}
		for _, at := range addresses(f.Data) {
			if !o.addresses[at] {
				return lead, fmt.Sprintf("%s leads to %s, and none of the skills in it does", p, at)
			}
		}
		if _, why := markdown.Parse(f.Data).Unread(); why != "" {
			return lead, fmt.Sprintf("%s cannot be read to its end: %s", p, why)
		}
		if why := cmp.Or(o.alarms(p, f.Data), o.anchors(u, p)); why != "" {
			return lead, why
		}
		found, why := o.ownLine(u, p)
		if why != "" {
			return lead, why
		}
		if found.text != "" {
			lead = found
		}
	}
	return lead, ""
}

// alarms is what a scan finds in a text of a file and in none of the sources.
func (o *origin) alarms(file string, data []byte) string {
	if found := scan.Fresh(file, o.text.Bytes(), data); len(found) > 0 {
		return fmt.Sprintf("%s has what a person should look at and none of the skills in it has (%s): %s", file,
			found[0].Rule, found[0].Excerpt)
	}
	return ""
}

// codeOf is the code of a Markdown text: blocks, those in quotations and lists as well, and folded what stands between
// backticks.
func codeOf(data []byte) (blocks, spans []string) {
	var b body
	b.read(data)
	more, spans := markdown.Code(data)
	for _, c := range more {
		lines := strings.Split(c, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t\r")
		}
		b.code = append(b.code, block(lines))
	}
	for i, c := range spans {
		spans[i] = strings.Join(strings.Fields(markdown.Fold(c)), " ")
	}
	return slices.DeleteFunc(b.code, func(c string) bool { return c == "" }), spans
}

var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:[a-z][a-z0-9+.-]*://|\\b(?:https?|ftp|file|data|javascript|mailto):|//|\\bwww\\.)" +
		"[^\\s<>()\"'`\\]]+")
})

// addresses are those of a text, folded and whole.
func addresses(data []byte) []string {
	all := address().FindAllString(markdown.Fold(string(data)), -1)
	for i, at := range all {
		all[i] = strings.TrimRight(at, ".,;:!?*_|")
	}
	return all
}

// maxShown is how much of a text a verdict names, in bytes.
const maxShown = 200

// first is the first line of a text, or the beginning of it.
func first(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + " …"
	}
	return text
}

// emptied are links of a plain line, whose targets were taken out.
var emptied = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\[\]]*)\]\(\)`) })

// quoted is a plain line as a person reads it.
func quoted(line string) string { return emptied().ReplaceAllString(first(line), "$1") }

// counted is how often lines stand in a text that are long enough to count.
func counted(data []byte) map[string]int {
	var b body
	b.read(data)
	out := map[string]int{}
	for _, l := range b.said {
		if strings.Count(l, " ") >= twice-1 {
			out[l]++
		}
	}
	return out
}
