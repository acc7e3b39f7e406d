package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxExpansion bounds how many nodes the aliases of one front matter may stand
// for. Hand-written front matter uses a handful; nine levels of nine aliases
// each already stand for 10^9, and every walk over them would take as long.
const maxExpansion = 10_000

// maxFrontMatter bounds the bytes of a front matter that is read: the YAML reader takes up to 400
// bytes of memory and four microseconds for one.
const maxFrontMatter = 384 << 10

// frontMatter is the block between the fences, read.
type frontMatter struct {
	text    []byte // the YAML between the fences
	offset  int    // of text in the file
	line    int    // of text in the file, from 1
	keys    []*yaml.Node
	values  []*yaml.Node
	flow    bool // the whole front matter is one {…}
	starts  []int
	entries []entry // nil until an edit needs them
	err     *FrontMatterError
}

// meta reads the front matter once.
func (d *Document) meta() *frontMatter {
	if d.front == nil {
		d.front = readFrontMatter(d.src, d.split)
	}
	return d.front
}

func readFrontMatter(src []byte, s split) *frontMatter {
	f := &frontMatter{text: src[s.yamlStart:s.yamlEnd], offset: s.yamlStart}
	f.line = 1 + bytes.Count(src[:s.yamlStart], []byte("\n"))
	if !s.has {
		return f
	}
	if f.err = f.read(); f.err != nil {
		f.keys, f.values = nil, nil
	}
	return f
}

func (f *frontMatter) fail(line int, format string, args ...any) *FrontMatterError {
	return &FrontMatterError{Line: f.line + line, Reason: fmt.Sprintf(format, args...)}
}

// read fills keys and values. Lines inside it count from 0.
func (f *frontMatter) read() *FrontMatterError {
	if len(f.text) > maxFrontMatter {
		return f.fail(0, "%d bytes, at most %d are read", len(f.text), maxFrontMatter)
	}
	if i := invalidUTF8(f.text); i >= 0 {
		return f.fail(bytes.Count(f.text[:i], []byte("\n")), "not UTF-8")
	}
	if n := f.markerLine(); n >= 0 {
		return f.fail(n, "a second YAML document begins here")
	}
	if root := plainFrontMatter(f.text); root != nil {
		return f.take(root)
	}
	root, err := f.decode()
	if err != nil {
		return err
	}
	if root == nil {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return f.fail(root.Line-1, "not a list of keys and values, but %s", kindName(root))
	}
	if err := f.checkAliases(root); err != nil {
		return err
	}
	return f.take(root)
}

// take fills keys and values from a mapping without endless aliases.
func (f *frontMatter) take(root *yaml.Node) *FrontMatterError {
	if err := f.checkDuplicates(root); err != nil {
		return err
	}
	f.flow = root.Style&yaml.FlowStyle != 0
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		if key.Kind != yaml.ScalarNode {
			return f.fail(key.Line-1, "a key is %s, not text", kindName(key))
		}
		f.keys = append(f.keys, key)
		f.values = append(f.values, root.Content[i+1])
	}
	return nil
}

// markerLine returns the first line that YAML reads as the border of a second
// document ("--- x"), or -1: the reader below would silently stop there.
func (f *frontMatter) markerLine() int {
	rest := f.text
	for n := 0; len(rest) > 0; n++ {
		var line []byte
		line, rest = cutLine(rest)
		if len(line) > 3 && (line[0] == '-' || line[0] == '.') {
			if m := string(line[:3]); (m == "---" || m == "...") && (line[3] == ' ' || line[3] == '\t') {
				return n
			}
		}
	}
	return -1
}

// decode returns the root node with the line numbers of f.text, nil if there is
// nothing but blanks and comments.
func (f *frontMatter) decode() (root *yaml.Node, fail *FrontMatterError) {
	defer func() {
		// The YAML reader panics on some damaged input; to a caller that is
		// front matter that cannot be read, like any other.
		if r := recover(); r != nil {
			root, fail = nil, f.fail(0, "the YAML reader gave up: %v", r)
		}
	}()
	// The reader reports an error at the start of the enclosing block unless
	// that is its first line; without leading blanks and comments it is.
	skip, skipped := 0, 0
	for rest := f.text; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		if t := bytes.TrimLeft(line, " \t\r\n"); len(t) > 0 && t[0] != '#' {
			break
		}
		skip += len(line)
		skipped++
	}
	var doc yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(f.text[skip:])).Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		line, reason := yamlError(err)
		return nil, f.fail(skipped+line, "%s", reason)
	case doc.Kind != yaml.DocumentNode || len(doc.Content) == 0:
		return nil, nil
	}
	root = doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, nil
	}
	shiftLines(root, skipped)
	return root, nil
}

func shiftLines(n *yaml.Node, by int) {
	if by == 0 {
		return
	}
	n.Line += by
	for _, c := range n.Content {
		shiftLines(c, by)
	}
}

// yamlError takes the line, from 0, and the reason out of an error of the YAML
// reader. Its scanner counts from 1 and its parser from 0.
func yamlError(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(reason, "line ")
	if !ok {
		return 0, reason
	}
	number, text, ok := strings.Cut(rest, ": ")
	n, convErr := strconv.Atoi(number)
	if !ok || convErr != nil || n < 1 {
		return 0, reason
	}
	for _, p := range []string{
		"did not find expected key", "did not find expected '-' indicator",
		"did not find expected ',' or", "did not find expected node content",
		"did not find expected <document start>", "found undefined tag handle",
	} {
		if strings.HasPrefix(text, p) {
			return n, text
		}
	}
	return n - 1, text
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return "an alias"
	default:
		return "plain text"
	}
}

// checkAliases refuses an alias that contains itself and aliases that stand for
// more than maxExpansion nodes together.
func (f *frontMatter) checkAliases(root *yaml.Node) *FrontMatterError {
	size := map[*yaml.Node]int{}
	open := map[*yaml.Node]bool{}
	total := 0
	var fail *FrontMatterError
	var measure func(n *yaml.Node) int
	measure = func(n *yaml.Node) int {
		if s, done := size[n]; done || fail != nil {
			return s
		}
		if open[n] {
			fail = f.fail(n.Line-1, "anchor %q contains itself", n.Anchor)
			return 0
		}
		open[n] = true
		sum := 1
		for _, c := range n.Content {
			sum = min(sum+measure(c), 2*maxExpansion)
		}
		if n.Kind == yaml.AliasNode {
			sum = measure(n.Alias)
			if total = min(total+sum, 2*maxExpansion); total > maxExpansion && fail == nil {
				fail = f.fail(n.Line-1, "alias %q stands for too much (more than %d values in all)", n.Value, maxExpansion)
			}
		}
		open[n] = false
		size[n] = sum
		return sum
	}
	measure(root)
	return fail
}

// checkDuplicates refuses a key given twice in one mapping: readers disagree on
// which one counts, so an edit of either would be a guess.
func (f *frontMatter) checkDuplicates(n *yaml.Node) *FrontMatterError {
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]int, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode {
				continue
			}
			if first, dup := seen[key.Value]; dup {
				return f.fail(key.Line-1, "key %q again (first on line %d)", key.Value, f.line+first-1)
			}
			seen[key.Value] = key.Line
		}
	}
	for _, c := range n.Content {
		if err := f.checkDuplicates(c); err != nil {
			return err
		}
	}
	return nil
}

// FrontMatterError says why the front matter cannot be read, as a
// *FrontMatterError, or returns nil.
func (d *Document) FrontMatterError() error {
	if err := d.meta().err; err != nil {
		return err
	}
	return nil
}

// Keys returns the top-level keys in the order of the file.
func (d *Document) Keys() []string {
	f := d.meta()
	keys := make([]string, len(f.keys))
	for i, k := range f.keys {
		keys[i] = k.Value
	}
	return keys
}

// Meta returns the value of a top-level key, compared exactly. A key that is
// present without a value is an empty Value and true.
func (d *Document) Meta(key string) (Value, bool) {
	f := d.meta()
	if i := f.find(key); i >= 0 {
		return valueOf(f.values[i]), true
	}
	return Value{}, false
}

func (f *frontMatter) find(key string) int {
	for i, k := range f.keys {
		if k.Value == key {
			return i
		}
	}
	return -1
}
