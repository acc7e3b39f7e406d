package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// A Schema is the form that an answer must have.
type Schema struct {
	Name string // letters, digits, dashes and underscores
	JSON json.RawMessage
}

// SchemaOf describes T for a model: structs, slices, strings, booleans, numbers,
// and pointers for what may be null. Every field is required and no other is
// allowed, which is the form that all servers accept. Tags: json names a field,
// desc explains it, enum lists its words. It panics for other types.
func SchemaOf[T any](name string) *Schema {
	data, err := json.Marshal(describe(reflect.TypeFor[T](), ""))
	if err != nil {
		panic(fmt.Sprintf("llm: schema %s: %v", name, err))
	}
	return &Schema{Name: name, JSON: data}
}

type node struct {
	Type        any             `json:"type"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Items       *node           `json:"items,omitempty"`
	Properties  map[string]node `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Additional  *bool           `json:"additionalProperties,omitempty"`
}

func describe(t reflect.Type, tag reflect.StructTag) node {
	n := node{Description: tag.Get("desc")}
	switch t.Kind() {
	case reflect.Pointer:
		n = describe(t.Elem(), tag)
		n.Type = []string{n.Type.(string), "null"}
	case reflect.String:
		n.Type = "string"
		if words := tag.Get("enum"); words != "" {
			n.Enum = strings.Split(words, ",")
		}
	case reflect.Bool:
		n.Type = "boolean"
	case reflect.Int, reflect.Int64:
		n.Type = "integer"
	case reflect.Float64:
		n.Type = "number"
	case reflect.Slice:
		items := describe(t.Elem(), "")
		n.Type, n.Items = "array", &items
	case reflect.Struct:
		no := false
		n.Type, n.Properties, n.Additional = "object", map[string]node{}, &no
		for i := range t.NumField() {
			f := t.Field(i)
			n.Properties[fieldName(f)] = describe(f.Type, f.Tag)
			n.Required = append(n.Required, fieldName(f))
		}
	default:
		panic("llm: no schema for " + t.String())
	}
	return n
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return or(name, f.Name)
}

// Decode reads what a model wrote as exactly one T of [SchemaOf]: no field
// missing, none unknown, none twice, none in other letters, nothing behind it.
// A Markdown fence around it is forgiven. Errors wrap [ErrAbsurd] and say what
// is wrong in words that the model can act on.
func Decode[T any](text string) (T, error) {
	var out T
	data := []byte(unfenced(text))
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := check(dec, describe(reflect.TypeFor[T](), ""), "the answer", 0); err != nil {
		return out, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return out, fmt.Errorf("%w: something stands behind the JSON", ErrAbsurd)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		var zero T
		return zero, fmt.Errorf("%w: %w", ErrAbsurd, err)
	}
	return out, nil
}

func unfenced(text string) string {
	text = strings.TrimSpace(withoutThinking(text))
	head, rest, ok := strings.Cut(text, "\n")
	if ok && (head == "```" || head == "```json") {
		if body, ok := strings.CutSuffix(rest, "```"); ok {
			return strings.TrimSpace(body)
		}
	}
	return text
}

const maxDepth = 64 // of an answer; ours have four levels

// check reads one value from dec and compares it with its description. Reading
// by tokens is what shows a field that stands there twice.
func check(dec *json.Decoder, want node, where string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: %s is nested too deep", ErrAbsurd, where)
	}
	tok, err := dec.Token()
	if err != nil {
		return fmt.Errorf("%w: %s is no whole JSON", ErrAbsurd, where)
	}
	kind, null := want.Type, false
	if both, ok := kind.([]string); ok {
		kind, null = both[0], true
	}
	is := false
	switch v := tok.(type) {
	case nil:
		is = null
	case bool:
		is = kind == "boolean"
	case json.Number:
		_, whole := v.Int64()
		is = kind == "number" || kind == "integer" && whole == nil
	case string:
		is = kind == "string"
		if is && len(want.Enum) > 0 && !slices.Contains(want.Enum, v) {
			return fmt.Errorf("%w: %s is %q, and must be one of %s", ErrAbsurd, where, short(v), strings.Join(want.Enum, ", "))
		}
	case json.Delim:
		switch {
		case v == '{' && kind == "object":
			return checkObject(dec, want, where, depth)
		case v == '[' && kind == "array":
			return checkArray(dec, want, where, depth)
		}
	}
	if !is {
		return fmt.Errorf("%w: %s must be of type %s", ErrAbsurd, where, kind)
	}
	return nil
}

func checkObject(dec *json.Decoder, want node, where string, depth int) error {
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return fmt.Errorf("%w: %s is no whole JSON", ErrAbsurd, where)
		}
		name, _ := tok.(string)
		field, known := want.Properties[name]
		switch {
		case !known:
			return fmt.Errorf("%w: %s has no field %q", ErrAbsurd, where, short(name))
		case seen[name]:
			return fmt.Errorf("%w: %s has the field %q twice", ErrAbsurd, where, name)
		}
		seen[name] = true
		if err := check(dec, field, where+"."+name, depth+1); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%w: %s is no whole JSON", ErrAbsurd, where)
	}
	for _, name := range want.Required {
		if !seen[name] {
			return fmt.Errorf("%w: %s lacks the field %q", ErrAbsurd, where, name)
		}
	}
	return nil
}

func checkArray(dec *json.Decoder, want node, where string, depth int) error {
	for i := 0; dec.More(); i++ {
		if err := check(dec, *want.Items, fmt.Sprintf("%s[%d]", where, i), depth+1); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%w: %s is no whole JSON", ErrAbsurd, where)
	}
	return nil
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// Ask asks for an answer in the form of T, named name. An answer in another
// form is sent back once with what is wrong with it; the second such answer is
// an [ErrAbsurd], one that did not fit into MaxTokens an [ErrTooLong]. The
// reply's usage is that of both calls.
func Ask[T any](ctx context.Context, c Client, name string, req Request) (T, Reply, error) {
	req.Answer = SchemaOf[T](name)
	var used Usage
	for again := false; ; again = true {
		reply, err := c.Generate(ctx, req)
		reply.Usage = used.plus(reply.Usage)
		used = reply.Usage
		var none T
		if err != nil {
			return none, reply, err
		}
		if reply.Stop == StopLength {
			return none, reply, fmt.Errorf("%w: the answer was cut off at %d tokens", ErrTooLong, req.maxTokens())
		}
		out, err := Decode[T](reply.Text)
		if err == nil || again {
			return out, reply, err
		}
		req.Messages = append(slices.Clone(req.Messages),
			Message{Role: Assistant, Text: reply.Text},
			Message{Role: User, Text: "That is not in the form that was asked for: " + strings.TrimPrefix(err.Error(), ErrAbsurd.Error()+": ") + ". Answer again, with the JSON alone."})
	}
}

// AskOnce is [Ask] with exactly one call: an answer in another form is an
// [ErrAbsurd] at once. It is for whoever promised how many calls are made.
func AskOnce[T any](ctx context.Context, c Client, name string, req Request) (T, Reply, error) {
	req.Answer = SchemaOf[T](name)
	var none T
	reply, err := c.Generate(ctx, req)
	switch {
	case err != nil:
		return none, reply, err
	case reply.Stop == StopLength:
		return none, reply, fmt.Errorf("%w: the answer was cut off at %d tokens", ErrTooLong, req.maxTokens())
	}
	out, err := Decode[T](reply.Text)
	return out, reply, err
}

// plus adds up; the cost of the sum is as certain as that of its worse part.
func (u Usage) plus(v Usage) Usage {
	order := []CostStatus{"", CostFree, CostActual, CostEstimated, CostAssumed}
	if slices.Index(order, v.Status) < slices.Index(order, u.Status) {
		v.Status = u.Status
	}
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Guessed || v.Guessed, u.USD + v.USD, v.Status}
}
