package merge

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

const (
	fewWords    = 5   // of a line that leads somewhere, above which it is no such line
	maxOwn      = 200 // bytes of a heading of the model's own
	longHeading = 4   // words, from which on a heading may be out of a sentence
)

// An origin is what an umbrella may have: what its sources have.
type origin struct {
	was   string              // the umbrella's name, where it stood before
	at    layout              // of the umbrella
	has   map[string]bool     // traces, files with modes, fields of front matter; of the umbrella its anchors
	said  map[string][]string // names of the sources, by sentences
	above map[string][]place  // what sentences stand below, by the name of a source and them
	leads map[string][]string // where links to a source's own files lead now, by its name and what they show
	any   vocabulary          // what every umbrella may say
	title vocabulary          // its name
	names vocabulary          // those of the sources
	uses  map[string]vocabulary
	about map[string][]term // descriptions, by name
	text  bytes.Buffer      // of all files
}

func originOf(u fork.Skill, sources []fork.Skill, at layout) *origin {
	o := &origin{at: at, has: map[string]bool{}, said: map[string][]string{}, leads: map[string][]string{},
		above: map[string][]place{},
		any:   vocabulary{}.add("references scripts assets templates files docs"),
		title: vocabulary{}.add(strings.Join(words(u.Name), " ")), names: vocabulary{}, uses: map[string]vocabulary{},
		about: map[string][]term{}}
	for p := range u.Files {
		o.has[span(p)], o.has[span(path.Base(p))] = true, true
	}
	for _, data := range texts(u) {
		for _, s := range markdown.Parse(data).Sections() {
			o.has["#"+markdown.Slug(s.Heading.Text, 0)] = true
		}
	}
	for _, s := range sources {
		to, _ := rehomed(s, u)
		o.add(s, to)
		if s.Name == u.Name {
			o.was = s.Name
		}
	}
	return o
}

// add adds a source, with the new places of its files.
func (o *origin) add(s fork.Skill, to map[string]string) {
	was, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
	uses := vocabulary{}.add(was.Description).add(strings.Join(words(s.Name), " "))
	all, _ := fields(s.Files[skill.File].Data) // what cannot be read allows nothing
	for key, parts := range all {
		o.has[key+":"] = true
		for _, part := range parts {
			o.has[key+": "+part] = true
			uses.add(part)
		}
	}
	o.names.add(strings.Join(words(s.Name), " "))
	o.uses[s.Name], o.about[s.Name] = uses, terms(was.Description)
	for _, one := range sentences(plain(was.Description)) {
		o.say(one, s.Name)
		o.say(one, "") // that tells when to use it wherever it stands
	}
	for p, f := range s.Files {
		uses.add(strings.Join(words(strings.TrimSuffix(p, path.Ext(p))), " "))
		o.has[blob(f)] = true
		data, butTexts := moved(f.Data, to)
		o.text.Write(append(data, '\n'))
		if vault.Path(p).IsMarkdown() {
			for _, one := range traces(data) {
				o.has[one] = true
			}
			o.addLines(s.Name, f.Data, data, butTexts)
			o.addLinks(s.Name, p, f.Data, to)
		}
		for line := range strings.Lines(markdown.Fold(string(data))) {
			o.has[span(line)] = true
			for w := range strings.FieldsSeq(line) {
				o.has[span(w)], o.has[span(strings.Trim(w, wordMarks))] = true, true
			}
		}
	}
}

// addLinks notes where the links of a file of a source to its own files lead, which stand elsewhere now.
func (o *origin) addLinks(name, file string, data []byte, to map[string]string) {
	now := func(text string) string { all, _ := moved([]byte(text), to); return string(all) }
	for _, l := range markdown.Parse(data).Links() {
		at, ok := to[path.Join(path.Dir(file), l.Target)]
		if key := name + "\x00"; ok && l.Target != "" {
			o.leads[key+l.Text] = append(o.leads[key+l.Text], at)
			o.leads[key+now(l.Text)] = append(o.leads[key+now(l.Text)], at)
		}
	}
}

// strays are links of a file of an umbrella that show what a link of a source shows, and lead elsewhere.
func (o *origin) strays(u fork.Skill, file string) (faults []string) {
	for _, l := range markdown.Parse(u.Files[file].Data).Links() {
		owner, at, to := o.at.owner(file, l.Line), path.Join(path.Dir(file), l.Target), []string{}
		for _, name := range o.sources() {
			if owner == "" || owner == name {
				to = append(to, o.leads[name+"\x00"+l.Text]...)
			}
		}
		if l.Text != "" && len(to) > 0 && (l.Target == "" || !slices.Contains(to, at)) {
			faults = append(faults, fmt.Sprintf("line %d of %s: the link %q leads to %s, and led to what is %s now",
				l.Line, file, l.Text, cmp.Or(l.Target, "#"+l.Fragment), to[0]))
		}
	}
	return faults
}

// forUse finds headings above which it is told when to use a skill.
var forUse = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:when|triggers?|use cases?|wann|verwendung|quand|cuándo|cuando|quando)\b`)
})

// addLines notes what a Markdown file of a source says, with its links as they are and as they become.
func (o *origin) addLines(name string, files ...[]byte) {
	for _, data := range files {
		tells := false
		for u, above := range under(data) {
			for _, one := range u.says() {
				o.say(one, name)
				o.above[name+"\x00"+one] = append(o.above[name+"\x00"+one], above)
			}
			if u.kind == heads {
				tells = forUse().MatchString(u.text) && len(turned(terms(u.text))) == 0
			}
			if u.kind == heads || u.kind == shown && tells {
				o.uses[name].add(u.text)
			}
		}
	}
}

func (o *origin) say(sentence, name string) {
	if !slices.Contains(o.said[sentence], name) {
		o.said[sentence] = append(o.said[sentence], name)
	}
}

// foreign are the words of a text that no name, description or heading of the sources has.
func (o *origin) foreign(text string) []string {
	return foreign(text, append(slices.Collect(maps.Values(o.uses)), o.any, o.title)...)
}

// sources are the names of them.
func (o *origin) sources() []string { return slices.Sorted(maps.Keys(o.about)) }

// saidAt reports whether a sentence may stand in the section of a skill, which says it, or, without an owner, where it
// is for all: two say it, the umbrella did before, or it tells when to use one of them.
func (o *origin) saidAt(sentence, owner string) bool {
	by := o.said[sentence]
	if owner != "" {
		return slices.Contains(by, owner)
	}
	return len(by) > 1 || o.was != "" && slices.Contains(by, o.was) || slices.Contains(by, "")
}

// brokenWord shows one word to a reader and others to a comparison.
var brokenWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\pL[\\[\\]*~<>\\\\^`]+\\pL|&#?\\w+;|\\p{Cf}")
})

// ownLines are what is wrong with what a file of an umbrella says beside what its sources say where they do. It may
// have headings, lines that lead to its own parts, in SKILL.md below the heading of a skill when to use that, and below
// the title a line of no words but its name. extra are such lines that are better left out, and do no harm.
func (o *origin) ownLines(u fork.Skill, file string) (extra []unit, faults []string) {
	headings, below := 0, false // whether a heading stands directly above
	for one, above := range under(u.Files[file].Data) {
		owner := o.at.owner(file, one.line)
		if why := o.misplaced(one, owner, above); why != "" {
			faults = append(faults, fmt.Sprintf("line %d of %s %s", one.line, file, why))
		}
		if one.kind == coded {
			continue // looked at elsewhere
		}
		fresh := slices.DeleteFunc(one.says(), func(s string) bool {
			return o.saidAt(s, owner) || one.kind == heads && len(o.said[s]) > 0
		})
		if len(fresh) > 0 {
			why, harmless := o.own(u, file, one, fresh, below)
			switch {
			case why == "":
			case harmless && file == skill.File, below && headings == 1 && owner == "" && o.lead(file, one):
				extra = append(extra, one)
			default:
				faults = append(faults, why)
			}
		}
		if below = one.kind == heads; below {
			headings++
		}
	}
	return extra, faults
}

// misplaced is what is wrong with where a unit stands: below a heading, or a line that leads to a list, that forbids or
// bounds something and below which it does not stand in its skill, or no longer below one.
func (o *origin) misplaced(one unit, owner string, now place) string {
	if one.kind == heads || one.kind == hidden {
		return ""
	}
	for _, said := range one.says() {
		why, fits := "", false
		for _, name := range o.sources() {
			for _, was := range o.above[name+"\x00"+said] {
				if owner == "" || owner == name {
					one := o.moved(name, was, now)
					why, fits = cmp.Or(one, why), fits || one == ""
				}
			}
		}
		if why != "" && !fits {
			return why + ": " + quoted(strings.TrimPrefix(said, fenced))
		}
	}
	return ""
}

// moved is how another place differs from one of a source.
func (o *origin) moved(name string, was, now place) string {
	for _, head := range now.all {
		theirs := len(o.said[head]) > 0 && whose(head, o.sources()) != name
		if bounds(head) && theirs && !slices.Contains(was.all, head) {
			return fmt.Sprintf("stands below %q, and in %s it does not", quoted(head), name)
		}
	}
	for _, head := range was.all {
		if bounds(head) && !slices.Contains(was.titles, head) && !slices.Contains(now.all, head) {
			return fmt.Sprintf("has to stand below %q, as in %s", quoted(head), name)
		}
	}
	return ""
}

// lead reports whether a line of SKILL.md is a paragraph in words of the sources.
func (o *origin) lead(file string, one unit) bool {
	return file == skill.File && one.kind == shown && !brokenWord().MatchString(one.raw) &&
		len(o.foreign(one.text)) == 0 && strings.TrimSpace(marks().FindString(one.raw)) == "" &&
		!strings.HasPrefix(one.raw, "|")
}

// own is what is wrong with a unit, of which sentences are not said by the sources where they stand, "" for nothing.
func (o *origin) own(u fork.Skill, file string, one unit, fresh []string, below bool) (why string, harmless bool) {
	where := fmt.Sprintf("line %d of %s", one.line, file)
	none := fmt.Sprintf("%s stands in none of the skills in it: %s", where, quoted(fresh[0]))
	owner, main := o.at.owner(file, one.line), file == skill.File
	if brokenWord().MatchString(one.raw) {
		return none + "; there are marks inside of a word", false
	}
	if one.kind == heads {
		return o.ownHeading(one, owner, none), false
	}
	for _, s := range fresh {
		if by := o.said[s]; len(by) > 0 {
			none = fmt.Sprintf("%s is said by %s alone, and belongs into its section, or a file to which only that "+
				"leads: %s", where, by[0], quoted(s))
			break
		}
	}
	whom, in, near := o.entry(u, file, one, owner)
	switch {
	case one.kind == hidden:
	case !main && !near && strings.Contains(one.raw, "]("):
		return fmt.Sprintf("%s; of its own a file beside SKILL.md may only have lines that lead to a section of "+
			"SKILL.md in words of its heading, as See [Setup](%s#setup)", none, up(file)+skill.File), false
	case !main && !near:
	case in != nil:
		words := foreign(one.text, in...)
		if len(words) == 0 {
			return "", false
		}
		if len(words) > fewWords {
			break
		}
		return fmt.Sprintf("%s leads to %s by words that its name, its description and its triggers do not have (%s): "+
			"%s", where, whom, strings.Join(words, ", "), quoted(fresh[0])), near && len(words) == 1 && !turns(words)
	case below && owner != "" && follows(terms(one.text), o.about[owner]),
		(below || strings.HasPrefix(one.raw, "|")) && owner == "" && len(foreign(one.text, o.title)) == 0:
		return "", false
	case below && owner != "" && len(o.foreign(one.text)) == 0:
		return fmt.Sprintf("%s does not say when to use %s in the words of its description, in their order: %s", where,
			owner, quoted(fresh[0])), false
	}
	return none, false
}

// ownHeading is what is wrong with a heading.
func (o *origin) ownHeading(one unit, owner, none string) string {
	if words := o.foreign(one.text); len(words) > 0 && !o.quotes(one.text) || len(one.text) > maxOwn {
		return fmt.Sprintf("%s; no name, description or heading of theirs has %q", none, strings.Join(words, ", "))
	}
	names := func(name string) bool { return name != o.was && whose(one.text, []string{name}) != "" }
	if owner != "" && whose(one.text, o.sources()) != owner && slices.ContainsFunc(o.sources(), names) {
		return none + "; it names another skill"
	}
	return ""
}

// quotes reports whether a text stands in a sentence of a source, with all words in that which turn others.
func (o *origin) quotes(text string) bool {
	all := words(text)
	for said := range o.said {
		if len(all) >= longHeading && strings.Contains(" "+strings.Join(words(said), " ")+" ",
			" "+strings.Join(all, " ")+" ") && slices.Equal(turned(terms(said)), turned(terms(text))) {
			return true
		}
	}
	return false
}

// calls are what is wrong with what an umbrella and its files are called.
func (o *origin) calls(u fork.Skill) (faults []string) {
	fresh := foreign(strings.Join(words(u.Name), " "), append(slices.Collect(maps.Values(o.uses)), o.any)...)
	if o.was == "" && (len(fresh) > 1 || turns(fresh)) {
		faults = append(faults, fmt.Sprintf("its name has %s, and at most one word that is in no name, description or "+
			"heading of the skills in it is allowed", strings.Join(fresh, ", ")))
	}
	for _, p := range slices.Sorted(maps.Keys(u.Files)) {
		bare := strings.Join(words(strings.TrimSuffix(p, path.Ext(p))), " ")
		fresh := slices.DeleteFunc(o.foreign(bare), func(w string) bool { return strings.Trim(w, "0123456789") == "" })
		if p != skill.File && len(fresh) > 0 {
			faults = append(faults, fmt.Sprintf("its file %s is called by words that the skills in it do not have: %s",
				p, strings.Join(fresh, ", ")))
		}
	}
	return faults
}

// anchors are links to parts of a file whose fragments are neither headings of the umbrella nor links of a source.
func (o *origin) anchors(u fork.Skill, file string) (faults []string) {
	for _, l := range markdown.Parse(u.Files[file].Data).Links() {
		known := o.has["#"+markdown.Slug(l.Fragment, 0)] || bytes.Contains(o.text.Bytes(), []byte("#"+l.Fragment))
		if l.Fragment != "" && !known {
			faults = append(faults, fmt.Sprintf("line %d of %s leads to #%s, and the umbrella has no such heading",
				l.Line, file, l.Fragment))
		}
	}
	return faults
}
