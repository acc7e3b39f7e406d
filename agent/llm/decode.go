package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// decode reads what a model wrote as a T of [schemaOf]. It is lenient about the form:
// text, fences and thoughts around the JSON, fields that were not asked for, numbers as
// text, capitals, null, a single element instead of a list, and a list instead of the
// object that holds it. What is missing, null or of another type is zero. Errors wrap
// [ErrAbsurd]: there is no JSON with any of the fields, a field stands there twice, or
// a word is not one of those offered.
func decode[T any](text string) (T, error) {
	var out T
	want := describe(reflect.TypeFor[T](), "")
	found, err := any(nil), fmt.Errorf("%w: there is no JSON in it", ErrAbsurd)
	for _, tag := range []string{"</think>", "</thinking>"} {
		if at := strings.LastIndex(text, tag); at >= 0 && strings.ContainsAny(text[at:], "{[") {
			text = text[at:]
		}
	}
	for _, v := range jsonIn(text) {
		fitted, e := fit(v, want, "the answer")
		if e == nil || found == nil {
			found, err = fitted, e // the last one that fits: models think first
		}
	}
	if err != nil {
		return out, err
	}
	data, err := json.Marshal(found)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		var zero T
		return zero, fmt.Errorf("%w: %w", ErrAbsurd, err)
	}
	return out, nil
}

const (
	maxDepth  = 64 // of an answer; ours have four levels
	maxStarts = 64 // places in a text where JSON may begin
)

var errTwice = errors.New("a field stands there twice")

// jsonIn lists the objects and lists that stand in a text, in their order.
func jsonIn(text string) []any {
	var out []any
	for range maxStarts {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		text = text[at:]
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		v, err := value(dec, 0)
		switch {
		case err == nil:
			out, text = append(out, v), text[dec.InputOffset():]
		case errors.Is(err, errTwice):
			return append(out, err)
		default:
			text = text[1:]
		}
	}
	return out
}

// value reads one value by its tokens, which shows a field that stands there twice.
func value(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested too deep", ErrAbsurd)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := value(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	case json.Delim('{'):
		fields := map[string]any{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := value(dec, depth+1)
			if err != nil {
				return nil, err
			}
			key := foldName(name.(string))
			if _, had := fields[key]; had {
				return nil, errTwice
			}
			fields[key] = v
		}
		_, err = dec.Token()
		return fields, err
	}
	return tok, nil
}

// foldName makes "Suggested Scope" and "suggested_scope" one name.
func foldName(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// fit brings a value into the form of its description.
func fit(v any, want node, where string) (any, error) {
	if err, ok := v.(error); ok {
		return nil, fmt.Errorf("%w: %w", ErrAbsurd, err)
	}
	kind, null := want.Type, false
	if both, ok := kind.([]string); ok {
		kind, null = both[0], true
	}
	if v == nil && null {
		return nil, nil
	}
	switch kind {
	case "object":
		return fitObject(v, want, where)
	case "array":
		list, ok := v.([]any)
		if !ok && v != nil {
			list = []any{v}
		}
		out := make([]any, len(list))
		for i := range list {
			var err error
			if out[i], err = fit(list[i], *want.Items, fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return nil, err
			}
		}
		return out, nil
	case "string":
		return fitString(v, want, where)
	case "boolean":
		yes, _ := v.(bool)
		return yes || strings.EqualFold(fmt.Sprint(v), "true"), nil
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(v)), 64)
	switch {
	case err != nil && null:
		return nil, nil
	case err != nil:
		return 0, nil
	case kind == "integer":
		return int(max(min(n, 1<<30), -1<<30)), nil
	}
	return n, nil
}

func fitString(v any, want node, where string) (any, error) {
	s := ""
	switch v := v.(type) {
	case string:
		s = v
	case json.Number, bool:
		s = fmt.Sprint(v)
	}
	if len(want.Enum) == 0 || s == "" {
		return s, nil
	}
	i := slices.IndexFunc(want.Enum, func(word string) bool { return foldName(word) == foldName(s) })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s is %q, and must be one of %s", ErrAbsurd, where, short(s), strings.Join(want.Enum, ", "))
	}
	return want.Enum[i], nil
}

func fitObject(v any, want node, where string) (any, error) {
	fields, ok := v.(map[string]any)
	if list, is := v.([]any); is {
		// The list alone instead of the object around it.
		if name := want.Properties.list(); name != "" {
			fields, ok = map[string]any{foldName(name): list}, true
		}
	}
	out, known := map[string]any{}, 0
	for _, p := range want.Properties {
		f, has := fields[foldName(p.name)]
		if has {
			known++
		}
		fitted, err := fit(f, p.node, where+"."+p.name)
		if err != nil {
			return nil, err
		}
		out[p.name] = fitted
	}
	if !ok || known == 0 {
		return nil, fmt.Errorf("%w: %s has none of the fields that were asked for", ErrAbsurd, where)
	}
	return out, nil
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// properties are the fields of an object in the order in which they are to be written:
// what a model writes first, it can go by in what follows.
type properties []property

type property struct {
	name string
	node node
}

// list is the name of the one list of objects, "" when there are several or none.
func (p properties) list() (name string) {
	for _, f := range p {
		if f.node.Items != nil && f.node.Items.Properties != nil {
			if name != "" {
				return ""
			}
			name = f.name
		}
	}
	return name
}

// MarshalJSON keeps the order.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, f := range p {
		b.WriteByte("{,"[min(i, 1)])
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(f.node)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(data)
	}
	if len(p) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
