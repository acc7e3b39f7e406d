package skill

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"stet/markdown"
	"stet/vault"
)

// A front is the front matter of a SKILL.md as far as it can be read.
type front struct {
	lines  []string    // of the file, without line ends
	end    int         // the line of the closing fence, from 1; 0: there is no front matter
	root   *yaml.Node  // a mapping with the lines of the file, nil where it cannot be read
	texts  [][2]string // keys and texts of the top, read line by line where there is no root
	faults []Finding
	reason error // why it cannot be read as it stands
	doc    *markdown.Document
}

// Parse reads a SKILL.md that stands in a folder, and says what is wrong with it, the first line
// first. Values with a colon and a blank in them, which YAML takes for keys, are read as they are
// meant.
func Parse(folder vault.Path, data []byte) (Skill, []Finding) {
	s, f := parse(folder, data)
	f.readTree()
	return s, lint(s, f)
}

// parse is Parse without what is wrong.
func parse(folder vault.Path, data []byte) (Skill, *front) {
	f, was := readFront(data), vault.ReadMemory(folder+"/"+File, data)
	s := Skill{Folder: folder, Name: f.text("name"), Description: f.text("description"),
		License: f.text("license"), Compatibility: f.text("compatibility"), AllowedTools: f.text("allowed-tools"),
		Hash: was.Hash, Private: was.Private}
	if v, ok := f.doc.Meta("metadata"); ok {
		s.Metadata = v.Texts()
	}
	s.Pin = markdown.SkillPin(f.doc)
	if s.Name == "" {
		s.Name = path.Base(string(folder))
	}
	if f.reason != nil {
		s.Problem = f.reason.Error()
	}
	return s, f
}

func readFront(data []byte) *front {
	f := &front{doc: markdown.Parse(data)}
	for line := range strings.Lines(string(data)) {
		f.lines = append(f.lines, strings.TrimRight(line, "\r\n"))
	}
	if !f.doc.HasFrontMatter() {
		f.fault(1, 1, noFrontMatter, "there is no front matter: the first line has to be ---",
			"---\nname: …\ndescription: …\n---")
		if len(f.lines) > 0 && strings.TrimLeft(f.lines[0], "\ufeff") == "---" {
			f.faults[0].Text = "the front matter that begins here never ends"
			f.faults[0].Fix = "--- on a line below the last key"
		}
		return f
	}
	if f.end = f.doc.BodyLine() - 1; len(f.doc.Body()) == 0 && !bytes.HasSuffix(data, []byte("\n")) {
		f.end++ // the closing line is the last one, and no other begins
	}
	if f.reason = f.doc.FrontMatterError(); f.reason != nil {
		f.doc = markdown.Parse([]byte(strings.Join(f.mended(), "\n")))
	}
	if err := f.doc.FrontMatterError(); err != nil {
		f.readLines()
		line, reason := 1, err.Error()
		if at, ok := err.(*markdown.FrontMatterError); ok {
			line, reason = at.Line, at.Reason
		}
		f.fault(line, 1, badYAML, "the front matter cannot be read: "+reason,
			"a line for each key, as key: value, and quotes around text with signs in it")
	}
	return f
}

// readTree reads what markdown could read, for the places of its keys and values.
func (f *front) readTree() {
	if f.end == 0 || f.doc.FrontMatterError() != nil {
		return
	}
	text := bytes.Join(markdown.Lines(f.doc.Bytes())[1:f.end-1], nil)
	var doc yaml.Node
	if err := yaml.Unmarshal(append([]byte("\n"), text...), &doc); err == nil && len(doc.Content) > 0 &&
		doc.Content[0].Kind == yaml.MappingNode {
		f.root = doc.Content[0]
	}
}

// pair is key i of the top with its value.
func pair(n *yaml.Node, i int) (key, value *yaml.Node) {
	key, value = n.Content[2*i], n.Content[2*i+1]
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	return key, value
}

// mostText is how many characters of a text are read, beyond what is allowed: whoever counts them says how many.
const mostText = 4 * MaxDescription

// text is the text of a key of the top, cut where it is longer than anybody reads; "" for none and for what is no text.
func (f *front) text(key string) string {
	text := f.value(key)
	if len(text) > mostText {
		if all := []rune(text[:min(len(text), utf8.UTFMax*(mostText+1))]); len(all) > mostText {
			text = string(all[:mostText]) + "…"
		}
	}
	return text
}

func (f *front) value(key string) string {
	if v, ok := f.doc.Meta(key); ok && !v.IsList() {
		return strings.TrimSpace(v.Text())
	}
	for _, t := range f.texts {
		if strings.EqualFold(t[0], key) {
			return t[1]
		}
	}
	return ""
}

// A keyLine is a line of front matter that gives a key a value on the same line.
var keyLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([ \t]*(?:- +)?)([A-Za-z_][\w.-]*):[ \t]+(\S.*)$`)
})

// readLines takes keys and texts from lines that nobody can read as YAML.
func (f *front) readLines() {
	for _, line := range f.lines[1 : f.end-1] {
		if m := keyLine().FindStringSubmatch(line); m != nil && m[1] == "" {
			f.texts = append(f.texts, [2]string{m[2], strings.Trim(strings.TrimSpace(m[3]), `"'`)})
		}
	}
}

// mended is the file with quotes around the plain values that hold a colon with a blank behind it, or
// end with one: inside a value YAML takes that for another key. Each is noted as a fault. Line numbers
// stay what they are.
func (f *front) mended() []string {
	out := append([]string(nil), f.lines...)
	for i := 1; i < f.end-1; i++ {
		m := keyLine().FindStringSubmatchIndex(out[i])
		if m == nil {
			continue
		}
		line, indent := out[i], m[3]
		value := strings.TrimRight(line[m[6]:], " \t")
		last := i
		for last+1 < f.end-1 && deeper(out[last+1], indent) {
			last++
		}
		switch {
		case strings.ContainsAny(value[:1], "|>"):
			i = last // the text of a block
			continue
		case strings.ContainsAny(value[:1], "\"'[{&*!%@`#"):
			continue
		}
		at, column := i, colonIn(value)
		if column >= 0 {
			column += m[6]
		}
		whole := value
		for n := i + 1; n <= last; n++ {
			if column < 0 {
				if column = colonIn(out[n]); column >= 0 {
					at = n
				}
			}
			whole = strings.TrimSpace(whole + " " + strings.TrimSpace(out[n]))
		}
		if column < 0 {
			continue
		}
		fix := line[:m[6]] + quoted(whole)
		f.fault(at+1, utf8.RuneCountInString(out[at][:column])+1, colonSpace,
			fmt.Sprintf("the value of %q is not in quotes, and \": \" in it begins a key for YAML", line[m[4]:m[5]]),
			fix)
		out[i] = fix
		for n := i + 1; n <= last; n++ {
			out[n] = ""
		}
		i = last
	}
	return out
}

// deeper reports a line that goes on with the value of a key that stands at that indent.
func deeper(line string, indent int) bool {
	text := strings.TrimLeft(line, " \t")
	return text == "" || len(line)-len(text) > indent
}

// colonIn is where a colon stands in a text that YAML would take for the end of a key, -1 for nowhere.
func colonIn(text string) int {
	at := strings.Index(text, ": ")
	if at < 0 {
		at = strings.Index(text, ":\t")
	}
	if end := strings.TrimRight(text, " \t"); at < 0 && strings.HasSuffix(end, ":") {
		at = len(end) - 1
	}
	return at
}

// quoted is text as a value that YAML reads as nothing else.
func quoted(text string) string {
	if strings.ContainsAny(text, `"\`) {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return `"` + text + `"`
}
