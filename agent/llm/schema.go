package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"stet/templates"
)

// A Schema is the form that an answer must have.
type Schema struct {
	Name string // letters, digits, dashes and underscores
	JSON json.RawMessage
}

// schemaOf describes T for a model: structs, slices, strings, booleans, numbers,
// and pointers for what may be null. Every field is required and no other is
// allowed, which is the form that all servers accept. Tags: json names a field,
// desc explains it, enum lists its words. It panics for other types.
func schemaOf[T any](name string) *Schema {
	data, err := json.Marshal(describe(reflect.TypeFor[T](), ""))
	if err != nil {
		panic(fmt.Sprintf("llm: schema %s: %v", name, err))
	}
	return &Schema{Name: name, JSON: data}
}

type node struct {
	Type        any        `json:"type"`
	Description string     `json:"description,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Items       *node      `json:"items,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Additional  *bool      `json:"additionalProperties,omitempty"`
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
		n.Type, n.Properties, n.Additional = "object", properties{}, &no
		for i := range t.NumField() {
			f := t.Field(i)
			n.Properties = append(n.Properties, property{fieldName(f), describe(f.Type, f.Tag)})
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

// Ask asks for an answer in the form of T, named name, with one call: whoever counts
// calls can promise how many are made. It fails with [ErrAbsurd] when the answer has none
// of the fields of T, and with [ErrTooLong] when it was cut off at MaxTokens.
func Ask[T any](ctx context.Context, c Client, name string, req Request) (T, Reply, error) {
	req.Answer = schemaOf[T](name)
	var none T
	kept, _ := c.(Answers)
	key := ""
	if kept != nil {
		key = keyOf(c.Model(), req)
		if out, err := decode[T](kept.Answer(key)); err == nil {
			return out, Reply{Stop: StopEnd, Usage: Usage{Status: CostFree}}, nil
		}
	}
	reply, err := c.Generate(ctx, req)
	switch {
	case err != nil:
		return none, reply, err
	case reply.Stop == StopLength:
		return none, reply, fmt.Errorf("%w: the answer was cut off at %s", ErrTooLong,
			templates.Plural(req.maxTokens(), "token"))
	}
	out, err := decode[T](reply.Text)
	if err == nil && kept != nil {
		kept.Keep(ctx, key, reply.Text)
	}
	return out, reply, err
}

// Answers is a [Client] that keeps what was answered, so that [Ask] pays for no question
// twice. Only answers in the form that was asked for are kept.
type Answers interface {
	// Answer is the text that was kept for a key, "" for none.
	Answer(key string) string
	Keep(ctx context.Context, key, text string)
}

// keyOf tells requests apart by everything that a model is told.
func keyOf(m Model, req Request) string {
	data, err := json.Marshal([]any{m.Provider, m.Name, m.Host, req.System, req.Messages, req.Tools, req.Answer, req.MaxTokens})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Plus adds up; the cost of the sum is as certain as that of its worse part.
func (u Usage) Plus(v Usage) Usage {
	order := []CostStatus{"", CostFree, CostActual, CostEstimated, CostAssumed}
	if slices.Index(order, v.Status) < slices.Index(order, u.Status) {
		v.Status = u.Status
	}
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Guessed || v.Guessed, u.USD + v.USD, v.Status}
}
