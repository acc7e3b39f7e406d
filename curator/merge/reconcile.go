package merge

import (
	"cmp"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"stet/curator/fork"
	"stet/markdown"
)

// Evidence is the call that shows where what a skill said went.
type Evidence struct {
	Into string // the skill that was written
	Text string // what of the call shows it, cut to a line
}

// A Class is what became of a skill that was removed.
type Class struct {
	Name   string `json:"name"`
	Into   string `json:"into,omitempty"` // "" where it was pruned
	Source string `json:"source"`         // which rule says so
	Reason string `json:"reason"`         // in the model's words
	// Evidence is the call that shows it, where there is one.
	Evidence string `json:"evidence,omitempty"`
	// Claimed is the umbrella that the model named and that does not exist.
	Claimed      string `json:"model_claimed_into,omitempty"`
	Hallucinated bool   `json:"hallucinated_target,omitempty"`
}

// The sources of classes.
const (
	Declared   = "absorbed_into" // the call that removed it
	ByModel    = "model"         // the block at the end
	ByAudit    = "tool-call audit"
	NoEvidence = "no evidence"
)

// Reconcile says of each removed skill whether it was consolidated, and into which, or pruned. Destinations are the
// skills that there are now. The first rule that fits counts: what the removal itself declared; a consolidation that
// the model's block names, into an umbrella that exists; one into an umbrella that does not exist, which becomes what
// the calls show, else a pruning, and is flagged; a consolidation that only the calls show; a pruning, whether or not
// the block names it.
func Reconcile(removed []string, heuristic map[string]Evidence, model Block, destinations map[string]bool,
	declared map[string]fork.Removal) (consolidated, pruned []Class) {
	for _, name := range removed {
		said, known := declared[name]
		shown, seen := heuristic[name]
		c := Class{Name: name, Reason: said.Reason, Evidence: shown.Text}
		i := slices.IndexFunc(model.Consolidations, func(m Consolidation) bool { return m.From == name })
		j := slices.IndexFunc(model.Prunings, func(m Pruning) bool { return m.Name == name })
		switch {
		case known && (said.Into == "" || destinations[said.Into]):
			c.Into, c.Source = said.Into, Declared
			if i >= 0 && model.Consolidations[i].Into == said.Into {
				c.Reason = cmp.Or(c.Reason, model.Consolidations[i].Reason)
			}
		case i >= 0 && destinations[model.Consolidations[i].Into]:
			m := model.Consolidations[i]
			c.Into, c.Source, c.Reason = m.Into, ByModel, cmp.Or(c.Reason, m.Reason)
		case i >= 0:
			m := model.Consolidations[i]
			c.Into, c.Source, c.Reason = shown.Into, ByAudit, cmp.Or(c.Reason, m.Reason)
			if c.Claimed, c.Hallucinated = m.Into, true; !seen {
				c.Source = NoEvidence
			}
		case seen:
			c.Into, c.Source = shown.Into, ByAudit
		case j >= 0:
			c.Source, c.Reason = ByModel, cmp.Or(c.Reason, model.Prunings[j].Reason)
		default:
			c.Source = NoEvidence
		}
		if known && said.Into != "" && !destinations[said.Into] {
			c.Claimed, c.Hallucinated = said.Into, true
		}
		if c.Into != "" {
			consolidated = append(consolidated, c)
		} else {
			pruned = append(pruned, c)
		}
	}
	return consolidated, pruned
}

// writing is what a call says that writes.
type writing struct {
	Action, Name, Into, File, To, Text, New string
}

// Heuristic is the first call, of those that were done, that shows for a removed skill which of the destinations got
// what it said: by a file that is called so, by a text that names it, or by a file of its own.
func Heuristic(removed []string, calls []fork.Call, destinations map[string]bool) map[string]Evidence {
	out := map[string]Evidence{}
	named := map[string]*regexp.Regexp{}
	for _, name := range removed {
		var spelt []string
		for _, s := range spellings(name) {
			spelt = append(spelt, regexp.QuoteMeta(s))
		}
		named[name] = regexp.MustCompile(`(?:^|[^\pL\pN_-])(?:` + strings.Join(spelt, "|") + `)(?:$|[^\pL\pN_-])`)
	}
	for _, c := range calls {
		var w writing
		if c.Error != "" || json.Unmarshal(c.Arguments, &w) != nil {
			continue
		}
		to := w.Name
		switch w.Action {
		case "copy_file":
			to = w.Into
		case "create", "edit", "patch", "write_file":
		default:
			continue
		}
		for _, name := range removed {
			if _, known := out[name]; known || to == name || !destinations[to] {
				continue
			}
			if text, ok := w.shows(name, named[name]); ok {
				out[name] = Evidence{to, text}
			}
		}
	}
	return out
}

// spellings are the ways in which a name is written.
func spellings(name string) []string {
	name = markdown.Fold(name)
	return []string{name, strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(name, "_", "-")}
}

func (w writing) shows(name string, named *regexp.Regexp) (string, bool) {
	if w.Action == "copy_file" && w.Name == name {
		return "copy_file " + w.File, true
	}
	for _, file := range []string{w.File, w.To} {
		for part := range strings.SplitSeq(markdown.Fold(file), "/") {
			if slices.Contains(spellings(name), strings.TrimSuffix(part, path.Ext(part))) {
				return w.Action + " " + file, true
			}
		}
	}
	for _, text := range []string{w.Text, w.New} {
		for _, s := range markdown.Parse([]byte(text)).Sections() { // a heading says more than a line before it
			if s.Heading.Level > 0 && named.MatchString(markdown.Fold(s.Heading.Text)) {
				line := strings.Repeat("#", s.Heading.Level) + " " + strings.ToValidUTF8(s.Heading.Text, "")
				return w.Action + ": " + around(line, named), true
			}
		}
	}
	for _, text := range []string{w.Text, w.New} {
		for line := range strings.Lines(text) {
			if named.MatchString(markdown.Fold(line)) {
				return w.Action + ": " + around(strings.ToValidUTF8(line, ""), named), true
			}
		}
	}
	return "", false
}

// maxEvidence is how much of a line the evidence has, in bytes.
const maxEvidence = 400

// around is a line as it is written, of a long one the words around a name.
func around(line string, named *regexp.Regexp) string {
	words := strings.Fields(line)
	at := max(slices.IndexFunc(words, func(w string) bool { return named.MatchString(markdown.Fold(w)) }), 0)
	from, to, room := at, at, maxEvidence
	for room > 0 && (from > 0 || to < len(words)) {
		if to < len(words) {
			room, to = room-len(words[to])-1, to+1
		}
		if from > 0 && room > 0 {
			from--
			room -= len(words[from]) + 1
		}
	}
	out := strings.Join(words[from:to], " ")
	if from > 0 {
		out = "… " + out
	}
	if to < len(words) {
		out += " …"
	}
	return out
}
