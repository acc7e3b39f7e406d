package learn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/agent/llm"
	"stet/templates"
	"stet/vault"
)

const (
	toolSave  = "memory_save"
	toolEdit  = "memory_edit"
	toolSkill = "skill"
	// evidence is the argument by which the model names turns; the toolbox gets source in its place, and
	// because where a text changes.
	evidence   = "evidence"
	sourceArg  = "source"
	becauseArg = "because"
)

func writing() []string { return []string{"create", "edit", "patch", "write_file"} }

// offered are the tools of the parts that are due, as the model sees them.
func (r *review) offered() (out []llm.Tool) {
	var names []string
	if r.job.Memory {
		names = append(names, toolSave)
		if r.job.Mode == ModeFull {
			names = append(names, "memory_search", "memory_read", toolEdit)
		}
	}
	if r.job.Skill {
		names = append(names, toolSkill)
	}
	for _, t := range r.box.Tools() {
		if slices.Contains(names, t.Name) {
			t.Schema = narrowed(t)
			out = append(out, t)
		}
	}
	return out
}

// narrowed is the schema of a tool as a review may use it: a lesson names its turns and no source of
// its own, and a skill is not taken away.
func narrowed(t llm.Tool) json.RawMessage {
	var schema map[string]any
	if json.Unmarshal(t.Schema, &schema) != nil {
		return t.Schema
	}
	properties, _ := schema["properties"].(map[string]any)
	switch t.Name {
	case toolSave, toolEdit:
		cites(properties)
	case toolSkill:
		action, _ := properties["action"].(map[string]any)
		words, _ := action["enum"].([]any)
		if words != nil {
			action["enum"] = slices.DeleteFunc(words, func(w any) bool { s, _ := w.(string); return !mayDo(s) })
		}
	}
	out, err := json.Marshal(schema)
	if err != nil {
		return t.Schema
	}
	return out
}

// cites puts evidence in the place of what it becomes, in the lessons of a batch as well.
func cites(properties map[string]any) {
	if properties == nil {
		return
	}
	for _, p := range properties {
		list, _ := p.(map[string]any)
		item, _ := list["items"].(map[string]any)
		inner, _ := item["properties"].(map[string]any)
		cites(inner)
	}
	delete(properties, sourceArg)
	delete(properties, becauseArg)
	properties[evidence] = map[string]any{"type": "array", "items": map[string]any{"type": "string"},
		"description": "labels of the turns that say it"}
}

func mayDo(action string) bool {
	return action == "list" || action == "view" || slices.Contains(writing(), action)
}

// A reply is what is read of the answer of a tool.
type reply struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Done  string `json:"done,omitempty"`
}

// call carries out one call of the model's and returns the answer to it.
func (r *review) call(ctx context.Context, c llm.Call, before int) (llm.Message, error) {
	args, why := r.checked(c, before)
	answer := reply{Error: why}
	var text []byte
	if why == "" {
		data, err := json.Marshal(args)
		if err != nil {
			return llm.Message{}, err
		}
		said, err := r.box.Call(ctx, c.Name, data)
		if err != nil {
			return llm.Message{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		if text = []byte(said); json.Unmarshal(text, &answer) != nil {
			return llm.Message{}, fmt.Errorf("%s: the tool answers no JSON, but %.80q", c.Name, said)
		}
	} else if data, err := json.Marshal(answer); err == nil {
		text = data
	}
	if answer.OK {
		r.note(c.Name, args, answer.Done)
	} else {
		r.out.Refused = append(r.out.Refused, c.Name+": "+answer.Error)
	}
	return llm.Message{Role: llm.ToolResult, CallID: c.ID, Text: string(text), Failed: !answer.OK}, nil
}

// note puts what a call did into the outcome.
func (r *review) note(name string, args map[string]any, done string) {
	to := &r.out.Saved
	switch done {
	case "already stored", "unchanged":
		return
	case "proposed":
		to = &r.out.Proposed
	}
	switch name {
	case toolSave, toolEdit:
		for _, l := range lessons(args) {
			text, ok := l["text"].(string)
			if !ok {
				text, _ = l["new"].(string)
			}
			*to = append(*to, text)
		}
	case toolSkill:
		if action, _ := args["action"].(string); slices.Contains(writing(), action) {
			r.out.Skill, _ = args["name"].(string)
		}
	}
}

// checked are the arguments of a call as the toolbox gets them, or why it is refused.
func (r *review) checked(c llm.Call, before int) (args map[string]any, why string) {
	in := json.NewDecoder(bytes.NewReader([]byte(c.Arguments)))
	in.UseNumber()
	switch {
	case !slices.ContainsFunc(r.tools, func(t llm.Tool) bool { return t.Name == c.Name }):
		var names []string
		for _, t := range r.tools {
			names = append(names, t.Name)
		}
		return nil, "a review has no such tool, but " + strings.Join(names, ", ")
	case before >= maxCalls:
		return nil, fmt.Sprintf("more than %d calls in one answer", maxCalls)
	case in.Decode(&args) != nil || args == nil || in.More():
		return nil, "the arguments are not one JSON object"
	}
	switch c.Name {
	case toolSave:
		for _, l := range lessons(args) {
			if why := r.rest(l, args); why != "" {
				return nil, why
			}
		}
		delete(args, evidence)
	case toolEdit:
		return args, r.asked(args)
	case toolSkill:
		return args, r.skill(args)
	}
	return args, ""
}

// asked puts the newest turn of the user's among the evidence where the toolbox looks for whoever asked for a
// change of a person's text, and says why the change is refused: an entry that every session is told rests on a
// turn of the user's, also where it is changed.
func (r *review) asked(args map[string]any) string {
	given, cites := args[evidence]
	delete(args, evidence)
	delete(args, becauseArg)
	kind, _ := args["kind"].(string)
	ref, _ := args["ref"].(string)
	to, _, _ := strings.Cut(ref, "#")
	if c := vault.ClassOf(vault.Path(to)); c != vault.ClassProfile && c != vault.ClassCore {
		to = ""
	}
	if !cites {
		return rests(strings.ToLower(strings.TrimSpace(kind)), to, nil)
	}
	cited, why := r.cited(given)
	if why == "" {
		why = rests(strings.ToLower(strings.TrimSpace(kind)), to, cited)
	}
	asks := slices.DeleteFunc(cited, func(s source) bool { return !s.user })
	if len(asks) > 0 {
		s := slices.MaxFunc(asks, func(a, b source) int {
			return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.number, b.number))
		})
		args[becauseArg] = sourceOf([]source{s}, s.session, false)
	}
	return why
}

// skill says why a call of the tool for skills is refused: a review takes nothing away, and writes one.
func (r *review) skill(args map[string]any) string {
	action, _ := args["action"].(string)
	name, _ := args["name"].(string)
	switch {
	case !mayDo(action):
		return fmt.Sprintf("a review does not %q skills, but list, view, %s", action, strings.Join(writing(), ", "))
	case slices.Contains(writing(), action) && r.out.Skill != "" && r.out.Skill != name:
		return fmt.Sprintf("a review writes one skill, and this one has written %s", r.out.Skill)
	}
	return ""
}

// lessons are the objects of a call that hold one lesson each: those of a batch, and the arguments where they
// have a text or there is no batch.
func lessons(args map[string]any) (out []map[string]any) {
	for _, v := range args {
		list, _ := v.([]any)
		for _, item := range list {
			if one, ok := item.(map[string]any); ok {
				out = append(out, one)
			}
		}
	}
	if _, one := args["text"]; one || out == nil {
		out = append(out, args)
	}
	return out
}

// rest puts the source of a lesson in the place of its evidence, that of the whole call where it has
// none of its own, and says why the lesson is refused.
func (r *review) rest(lesson, call map[string]any) string {
	given, ok := lesson[evidence]
	if !ok {
		given = call[evidence]
	}
	delete(lesson, evidence)
	cited, why := r.cited(given)
	if why != "" {
		return why
	}
	kind, _ := lesson["kind"].(string)
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "" {
		lesson["kind"] = kind
	}
	to, _ := lesson["to"].(string)
	if why := rests(kind, to, cited); why != "" {
		return why
	}
	lesson[sourceArg] = sourceOf(cited, r.job.Session, given == nil)
	return ""
}

// cited are the turns that evidence names; all that are shown where it names none.
func (r *review) cited(given any) (out []source, why string) {
	if given == nil {
		for _, label := range r.shown {
			out = append(out, r.sources[label])
		}
		return out, ""
	}
	list, ok := given.([]any)
	if !ok || len(list) == 0 {
		return nil, evidence + " must be a list of labels of turns"
	}
	for _, v := range list {
		label := strings.TrimSpace(fmt.Sprint(v)) // "12" or 12
		s, known := r.sources[label]
		if known = known && (s.session != r.job.Session || slices.Contains(r.shown, label)); !known {
			return nil, fmt.Sprintf("%s %q is no turn of this review", evidence, label)
		}
		out = append(out, s)
	}
	return out, ""
}

// daysOfRoutine is on how many days a thing must have been said to be a routine.
const daysOfRoutine = 3

// rests says why turns do not carry a lesson of that kind, or for that file: what a user is like and wants,
// and what every session is told, the user says and no tool.
func rests(kind, to string, cited []source) string {
	if !slices.Contains([]string{"instruction", "preference", "routine"}, kind) && !strings.HasSuffix(to, ".md") {
		return ""
	}
	var days []string
	said := false
	for _, s := range cited {
		said = said || s.user
		if day := s.time.UTC().Format(time.DateOnly); s.user && !s.time.IsZero() && !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	switch {
	case !said:
		return "what the user wants and what every session is told rests on a turn of the user's, and none is its " +
			evidence
	case kind == "routine" && len(days) < daysOfRoutine:
		return fmt.Sprintf("a routine rests on turns of the user's of %s, and its %s has %d",
			templates.Plural(daysOfRoutine, "day"),
			evidence, len(days))
	}
	return ""
}

// sourceOf writes turns as a memory names them, those of the session where there are any: "session:ID#7",
// "session:ID#7,12-14"; as one range where the model named none.
func sourceOf(cited []source, session string, ranged bool) string {
	if !slices.ContainsFunc(cited, func(s source) bool { return s.session == session }) && len(cited) > 0 {
		session = cited[0].session
	}
	var numbers []int
	for _, s := range cited {
		if s.session == session {
			numbers = append(numbers, s.number)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var spans []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && (ranged || numbers[j+1] == numbers[j]+1) {
			j++
		}
		span := strconv.Itoa(numbers[i])
		if j > i {
			span += "-" + strconv.Itoa(numbers[j])
		}
		spans, i = append(spans, span), j+1
	}
	return "session:" + session + "#" + strings.Join(spans, ",")
}
