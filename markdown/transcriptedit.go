package markdown

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func viewEdit(args []byte, fields []argument) (CallView, bool) {
	old, now := oldAndNew(fields)
	if old == nil || len(old.text)+len(now.text) > maxDiff {
		return CallView{}, false
	}
	v := CallView{Lang: "diff", Text: diffOf(old.text, now.text), Given: given(fields, old, now)}
	v.note = callNote{Form: formDiff}
	v.note.cut(args, old, now)
	return v, true
}

// oldAndNew are the texts before and after an edit, nil and nil where these are no arguments of one.
func oldAndNew(fields []argument) (old, now *argument) {
	old = field(fields, "old_string", "old_str", "oldString", "oldText", "old_text")
	now = field(fields, "new_string", "new_str", "newString", "newText", "new_text")
	if old == nil || now == nil || old.listed || now.listed {
		return nil, nil
	}
	return old, now
}

// viewEdits shows several edits of a file as one diff, with a line of [hunkMark] between them.
func viewEdits(args []byte, fields []argument) (CallView, bool) {
	at := slices.IndexFunc(fields, func(a argument) bool { return a.key == "edits" && a.raw[0] == '[' })
	start := 0
	if at >= 0 {
		start = bytes.Index(args, fields[at].raw)
	}
	if at < 0 || start < 0 || string(fields[at].raw) == "[]" {
		return CallView{}, false
	}
	var hunks []string
	var texts []*argument
	size := 0
	d := json.NewDecoder(bytes.NewReader(fields[at].raw))
	_, _ = d.Token() // the bracket
	for d.More() {
		var one json.RawMessage
		if d.Decode(&one) != nil {
			return CallView{}, false
		}
		from := start + int(d.InputOffset()) - len(one)
		old, now := oldAndNew(stringFields(one))
		if old == nil {
			return CallView{}, false
		}
		if size += len(old.text) + len(now.text); size > maxDiff || len(hunks) == maxEdits {
			return CallView{}, false
		}
		old.start, old.end, now.start, now.end = old.start+from, old.end+from, now.start+from, now.end+from
		hunks, texts = append(hunks, diffOf(old.text, now.text)), append(texts, old, now)
	}
	v := CallView{Lang: "diff", Text: strings.Join(hunks, hunkMark), Given: given(fields, &fields[at])}
	v.note = callNote{Form: formDiff}
	v.note.cut(args, texts...)
	return v, true
}

// maxEdits is how many edits are shown as one diff.
const maxEdits = 200

// hunkMark stands between edits. A line of a diff begins with none of its characters.
const hunkMark = "\n@@\n"

// diffOf shows an edit, every line of both texts behind its mark.
func diffOf(old, now string) string {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	as, bs := make([][]byte, len(a)), make([][]byte, len(b))
	for i, l := range a {
		as[i] = []byte(l)
	}
	for i, l := range b {
		bs[i] = []byte(l)
	}
	var out []string
	put := func(mark string, lines []string) {
		for _, l := range lines {
			out = append(out, mark+l)
		}
	}
	if old == "" {
		a, as = nil, nil
	}
	if now == "" {
		b, bs = nil, nil
	}
	at := 0
	for _, h := range diffLines(as, bs) {
		put(" ", a[at:h.a0])
		put("-", a[h.a0:h.a1])
		put("+", b[h.b0:h.b1])
		at = h.a1
	}
	put(" ", a[at:])
	return strings.Join(out, "\n")
}

// undiff is the text before and after what diffOf shows.
func undiff(diff string) (old, now string, ok bool) {
	var a, b []string
	for line := range strings.SplitSeq(diff, "\n") {
		if diff == "" {
			break
		}
		if line == "" || !strings.Contains(" +-", line[:1]) {
			return "", "", false
		}
		if line[0] != '+' {
			a = append(a, line[1:])
		}
		if line[0] != '-' {
			b = append(b, line[1:])
		}
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n"), true
}

// Changes are how many lines an edit brings and takes away, as "+3 -1"; "" for any other call.
func (v *CallView) Changes() string {
	if v.note.Form != formDiff {
		return ""
	}
	count := map[byte]int{}
	for line := range strings.SplitSeq(v.Text, "\n") {
		if line != "" {
			count[line[0]]++
		}
	}
	return fmt.Sprintf("+%d -%d", count['+'], count['-'])
}
