package curator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/agent/encode"
	"stet/agent/pipeline"
	"stet/curator/fork"
	"stet/curator/merge"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/skill"
)

// maxNote is how long a memory may become, in characters: a snapshot shows no more of one.
const maxNote = 1200

// A joining judges what a model made of memories. It takes none of the model's words: only which of the texts stay, and
// in which order. What becomes of them is what would become of new memories beside stored ones.
type joining struct {
	*gathering
	now   map[vault.Path]vault.Hash // of the memories that may be one, as they are since
	texts map[string]string         // of what memories became, by the model's names
}

// judging is the case to judge. Nothing is pruned: what no other memory says stays.
func (j *joining) judging(job fork.Job, result fork.Result) merge.Case {
	used := map[string]bool{}
	for _, s := range job.Skills {
		used[s.Name] = true
	}
	return merge.Case{Job: job, Result: result, Used: used, Note: j.join,
		Closed: func(name string, _ vault.Path) string { return j.closed(name) },
		Exists: func(vault.Path) bool { return true }, // a link leads where it led, from the same folder
		Floors: merge.Floors{Lines: j.floor(), Values: 1, Code: 1}}
}

func (j *joining) closed(name string) string {
	if m, ours := j.notes[name]; ours && j.now[m.Path] != m.Hash {
		return "it is no longer what it was, or no longer the curator's"
	}
	return ""
}

// join is why memories do not become the one that a model wrote. Where they do it notes the text.
func (j *joining) join(note fork.Skill, sources []fork.Skill) string {
	if _, stands := j.notes[note.Name]; stands || len(note.Files) != 1 {
		return "memories become a new one, which is a text and nothing else"
	}
	var all []gathered
	for _, s := range sources {
		if why := j.closed(s.Name); why != "" {
			return s.Name + ": " + why
		}
		n := j.notes[s.Name]
		if all = append(all, n); n.author != all[0].author || place(n.Memory) != place(all[0].Memory) {
			return fmt.Sprintf("%s and %s are of two scopes, kinds, times or agents", all[0].name, n.name)
		}
	}
	if why := disagreeing(all); why != "" {
		return why
	}
	stay, left, why := sorted(string(markdown.Parse(note.Files[skill.File].Data).Body()), all)
	if why != "" {
		return why
	}
	text := strings.TrimSpace(string(stay[0].Body))
	for _, n := range stay[1:] {
		r := n.weigh(text, stay[0], pipeline.Update)
		if r.Kind != pipeline.Update {
			return fmt.Sprintf("%s is not put behind the others: %s", n.name, cmp.Or(r.Refused, "it is no statement"))
		}
		text = r.Text
	}
	for _, n := range left {
		if r := n.weigh(text, stay[0], pipeline.Duplicate); r.Kind != pipeline.Duplicate {
			return fmt.Sprintf("%s is left out, and %s", n.name, r.Refused)
		}
	}
	if n := utf8.RuneCountInString(text); n > maxNote {
		return fmt.Sprintf("it would have %s, and %d are too many", templates.Plural(n, "character"), maxNote)
	}
	j.texts[note.Name] = text
	return ""
}

// disagreeing says which two memories may not both be true, as what decides about new ones sees it, whichever is newer.
func disagreeing(all []gathered) string {
	as := func(n gathered) encode.Memory {
		return encode.Memory{ID: string(n.Path), Text: string(n.Body), Title: n.Title, Scope: n.Scope, Author: n.author}
	}
	var reader encode.Reader
	for _, a := range all {
		for _, b := range all {
			if a.name == b.name {
				continue
			}
			for _, v := range reader.Decide(as(a), []encode.Memory{as(b)}, encode.Corpus{}).Verdicts {
				return fmt.Sprintf("%s and %s may not both be true: %q, %q", a.name, b.name, v.Said, v.Was)
			}
		}
	}
	return ""
}

// weigh is what may be done with a memory beside a text, which others of the same place say, and of which first was.
func (n gathered) weigh(text string, first gathered, kind pipeline.Kind) pipeline.Ruling {
	return pipeline.Weigh(pipeline.Note{Text: strings.TrimSpace(string(n.Body)), Title: n.Title, Kind: n.Kind,
		Scope: n.Scope, Author: n.author, When: n.Created, Near: []pipeline.Stored{{Text: text, Title: first.Title,
			Scope: first.Scope, Author: first.author, When: first.Created}}},
		[]pipeline.Action{{Kind: kind, Confidence: 1}})[0]
}

// sorted tells the memories whose texts stand whole in what a model wrote, in its order, from the others. why says what
// else stands there.
func sorted(wrote string, all []gathered) (stay, others []gathered, why string) {
	rest, at := " "+flat(wrote)+" ", map[string]int{}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b gathered) int { return len(b.Body) - len(a.Body) })
	for _, n := range all { // one may stand in another: the longest first
		text := " " + flat(string(n.Body)) + " "
		i := strings.Index(rest, text)
		if i < 0 {
			others = append(others, n)
			continue
		}
		at[n.name], stay = i, append(stay, n)
		rest = rest[:i] + " " + strings.Repeat("\x00", len(text)-2) + " " + rest[i+len(text):]
	}
	if rest = strings.Join(strings.Fields(strings.ReplaceAll(rest, "\x00", "")), " "); strings.ContainsFunc(rest,
		func(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) }) {
		return nil, nil, "it has words that stand whole in none of them: " + rest
	}
	if len(stay) == 0 {
		return nil, nil, "it says nothing"
	}
	slices.SortFunc(stay, func(a, b gathered) int { return at[a.name] - at[b.name] })
	return stay, others, ""
}

// flat is a text on one line, without the marks of its items.
func flat(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"- ", "* ", "+ "} {
			line = strings.TrimPrefix(line, mark)
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}
