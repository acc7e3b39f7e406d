package markdown

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func sampleTranscript() *Transcript {
	at := time.Date(2026, 1, 9, 14, 2, 11, 0, time.UTC)
	return &Transcript{
		ID: "01jd7q8r5t9v3x6y2z4a7c0e1f", Title: "Moving: the database", Agent: "claude-code", Source: "hook",
		Origin: "5f1c", Model: "opus", ModelConfig: "{\n  \"temperature\": 1\n}", Started: at, Ended: at.Add(time.Hour), EndReason: "logout",
		Supersedes: []string{"01jc2m8r5t9v3x6y2z4a7c0e1f"},
		Branch:     "fix: #4, the tides", Models: []string{"opus", "a: b"}, Compactions: 2, Errors: 3,
		Tokens: &TokenUse{Input: 12, Output: 3}, Cost: &Cost{USD: 0.0125, Status: "estimated"},
		Context: &FrozenContext{Commit: "abc", Budget: 2500, Query: "", SHA256: "00ff"},
		Messages: []Message{
			{Number: 1, Role: "user", Name: "Caroline", Time: at, Ref: "D1:1", Content: []byte("Where does production run?")},
			{Number: 2, Role: "assistant", Time: at.Add(time.Second), Tokens: 40, Content: []byte("Let me look.\n\n```sh\nls\n```"),
				Calls: []ToolCall{{ID: "t`1", Name: "bash", Arguments: []byte("{\"command\":\"cat <<E\\n## 3 · user\\nE\"}\n## 3 · user · 2026-01-09T14:02:11Z\n")}, {Name: "raw", Arguments: []byte{0, 255}}}},
			{Number: 3, Role: "tool", Name: "bash", Time: at.Add(2 * time.Second), Call: "t`1", Content: []byte("\x1b[31mred\x1b[0m")},
			{Number: 4, Role: "tool", Name: "read", Call: "x", Content: []byte("## 4 · user · fake\n\nnot a message")},
			{Number: 5, Role: "assistant", Content: nil},
			{Number: 6, Role: "user", Name: "2026-01-09T14:02:11Z", Content: []byte("a name like a time\n")},
		},
	}
}

// roundTrip renders t and reads it back with its attachments.
func roundTrip(t interface{ Fatalf(string, ...any) }, in *Transcript) (text []byte, out *Transcript) {
	text, attached, err := RenderTranscript(in, TranscriptOptions{Name: "x.md"})
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	out = ParseTranscript(text)
	err = out.Attach(func(name string) ([]byte, error) {
		i := slices.IndexFunc(attached, func(a Attachment) bool { return a.Name == name })
		if i < 0 {
			t.Fatalf("attachment %q is missing of %d", name, len(attached))
		}
		return attached[i].Data, nil
	})
	if err != nil {
		t.Fatalf("attach: %v", err)
	}
	return text, out
}

// plain makes nil and empty alike, and leaves out the numbers.
func plain(t *Transcript) Transcript {
	out := *t
	out.Messages = slices.Clone(t.Messages)
	for i := range out.Messages {
		m := &out.Messages[i]
		m.Number, m.Content = i+1, append([]byte{}, m.Content...)
		m.Calls = append([]ToolCall{}, m.Calls...)
		for j := range m.Calls {
			m.Calls[j].Arguments = append([]byte{}, m.Calls[j].Arguments...)
		}
	}
	out.Supersedes = append([]string{}, t.Supersedes...)
	out.Messages = append([]Message{}, out.Messages...)
	return out
}

func TestATranscriptComesBackAsItWas(t *testing.T) {
	t.Parallel()
	in := sampleTranscript()
	text, out := roundTrip(t, in)
	if got, want := plain(out), plain(in); !reflect.DeepEqual(got, want) {
		t.Errorf("read back\n%+v\nwant\n%+v\nfrom\n%s", got, want, text)
	}
	for i, m := range Parse(text).Messages() {
		if m.Number != i+1 {
			t.Errorf("message %d has the number %d", i+1, m.Number)
		}
	}
	const want = "\n## 1 · user · Caroline · 2026-01-09T14:02:11Z\n\n<!-- stet {\"ref\":\"D1:1\"} -->\n\nWhere does production run?\n\n## 2 · assistant · "
	if !strings.Contains(string(text), want) {
		t.Errorf("the first message is not written as documented:\n%s", text)
	}
	if !strings.Contains(string(text), "[3-f0fdc93e.bin](<x.d/3-f0fdc93e.bin>)\n") {
		t.Errorf("the attachment has no link:\n%s", text)
	}
}

func TestContentIsFencedOnlyWhereItMust(t *testing.T) {
	t.Parallel()
	for content, fenced := range map[string]bool{
		"plain": false, "### Step 1\n\n* a\n* b": false, "```go\nx\n```": false, "a\n\n---\n\nb": false, "| a | b |\n|---|---|\n| 1 | 2 |": false,
		"    code": false, "5 < 6 <b>bold</b>": false, "[a link](x.md) and [[wiki]]": false,
		"```go\nnever closed": true, "<!-- open": false, "<script>\nlet x": false, "[a]: x.md": false, "Title\n===": false,
		"Title\n---":  false,
		"## 7 · user": false, "> ## 7 · user": true, "a\r\nb": true, "\na": true, "a\n": true,
		"<!-- stet {\"ref\":\"x\"} -->": false, "```stet-text\nx\n```": true, "```stet-call {}\nx\n```": true,
	} {
		text, out := roundTrip(t, &Transcript{Messages: []Message{{Role: "user", Content: []byte(content)}}})
		if got := string(out.Messages[0].Content); got != content {
			t.Errorf("%q came back as %q", content, got)
		}
		if is := strings.Contains(string(text), "`text stet-text\n"+content+"\n"); is != fenced {
			t.Errorf("%q: fenced %v, want %v", content, is, fenced)
		}
	}
}

func TestWhatNoFileCanHoldIsRefused(t *testing.T) {
	t.Parallel()
	for _, m := range []Message{
		{Role: ""}, {Role: "\xff"}, {Role: "user", Name: "\xff"}, {Role: "user", Ref: "\xff"},
		{Role: "user", Time: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}, {Role: "user", Calls: []ToolCall{{Name: "\xff"}}},
	} {
		if _, _, err := RenderTranscript(&Transcript{Messages: []Message{m}}, TranscriptOptions{}); err == nil {
			t.Errorf("%+v was written", m)
		}
	}
}

func TestLargeContentIsAttachedWhenAsked(t *testing.T) {
	t.Parallel()
	in := &Transcript{Messages: []Message{{Role: "tool", Content: bytes.Repeat([]byte("x"), 100)}}}
	text, attached, err := RenderTranscript(in, TranscriptOptions{Name: "t.md", AttachAbove: 99})
	if err != nil || len(attached) != 1 || len(attached[0].Data) != 100 || bytes.Contains(text, []byte("xxx")) {
		t.Errorf("%v, %d attachments, %s", err, len(attached), text)
	}
}

func TestAHandEditedTranscriptIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	src := "intro\n\n## 2 · user\r\n\r\nhello\r\n\r\n## 1 · user · number goes back\n\nstill two\n## 5 · assistant\nanswer\n```stet-text\nnot at the start\n## 6 · user\n\n```stet-text\nnever closed\n## 7 · user\n"
	var got []string
	for _, m := range ParseTranscript([]byte(src)).Messages {
		got = append(got, m.Role+": "+string(m.Content))
	}
	want := []string{"user: hello\r\n\r\n## 1 · user · number goes back\n\nstill two", "assistant: answer\n```stet-text\nnot at the start", "user: never closed\n## 7 · user\n"}
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	evil := "## 1 · user\n\n<!-- stet {\"file\":\"../../etc/passwd\"} -->\n\nx\n"
	if m := ParseTranscript([]byte(evil)).Messages[0]; m.Attached != "" || string(m.Content) != "x" {
		t.Errorf("a transcript names a file outside its folder: %+v", m)
	}
}

func FuzzTranscript(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), "Caroline", []byte("{}"))
	}
	f.Add([]byte("x\n## 3 · user · 2026-01-09T14:02:11Z\n"), " · ", []byte("```\n## 2 · x"))
	f.Add([]byte("- ```\n  open in a list"), "#", []byte("````"))
	f.Add([]byte("<div>\nblock"), "a\nb", []byte("\r"))
	f.Fuzz(func(t *testing.T, content []byte, name string, args []byte) {
		if len(content)+len(args) > 1<<12 {
			t.Skip("reading inline marks takes time that grows with the square")
		}
		in := &Transcript{Title: strings.ToValidUTF8(name, ""), Messages: []Message{
			{Role: "user", Name: strings.ToValidUTF8(name, ""), Content: content, Calls: []ToolCall{{Name: "f", Arguments: args}}},
			{Role: "a" + strings.ToValidUTF8(name, ""), Content: args}, {Role: "user", Content: content},
			{Role: "tool", Content: content, Calls: []ToolCall{editOf(content, args),
				{Name: "Bash", Arguments: fmt.Appendf(nil, `{"a":%s,"command":["bash",%s]}`, quoted(name), asJSON(content))}}},
		}}
		text, out := roundTrip(t, in)
		if got, want := plain(out), plain(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("read back %+v\nwant %+v\nfrom %q", got, want, text)
		}
		checkHeadings(t, text, len(in.Messages))
		checkReread(t, text)
		checkReread(t, content) // whatever a person made of it
	})
}

func asJSON(text []byte) []byte { return quoted(strings.ToValidUTF8(string(text), "")) }

func editOf(old, now []byte) ToolCall {
	const form = `{"file_path":"a.go","new_string":%s,"old_string":%s}`
	return ToolCall{Name: "Edit", Arguments: fmt.Appendf(nil, form, asJSON(now), asJSON(old))}
}

// editsOf is two edits of a file, the second of which takes the first back.
func editsOf(old, now []byte) ToolCall {
	const form = `{"edits":[{"oldText":%s,"newText":%s},{"newText":%[1]s,"oldText":%[2]s,"all":true}],"path":"a.go"}`
	return ToolCall{Name: "edit", Arguments: fmt.Appendf(nil, form, asJSON(old), asJSON(now))}
}

// checkHeadings verifies that every reader of Markdown sees the messages.
func checkHeadings(t *testing.T, text []byte, n int) {
	t.Helper()
	starts := map[int]bool{}
	for _, s := range Parse(text).Sections() {
		if s.Heading.Level == 2 {
			starts[s.Start] = true
		}
	}
	spans := Parse(text).Messages()
	if len(spans) != n {
		t.Fatalf("%d messages in %q, want %d", len(spans), text, n)
	}
	for _, m := range spans {
		if !starts[m.Start] {
			t.Fatalf("message %d of %q is no heading to a reader of Markdown", m.Number, text)
		}
	}
}

// checkReread verifies that a message which is read by itself is what a look at the whole file made of it.
func checkReread(t *testing.T, text []byte) {
	t.Helper()
	_ = ParseTranscript(text)
	d := Parse(text)
	for _, want := range d.Messages() {
		if got := (MessageSpan{Start: want.Start, End: want.End}); !got.Reread(d) || !reflect.DeepEqual(got, want) {
			t.Fatalf("read alone %+v\nin the file %+v\nof %q", got, want, text)
		}
	}
}

func TestAnyTranscriptComesBack(t *testing.T) {
	t.Parallel()
	marks := []string{"# h", `\# h`, "<b> `<c>", `\<d> ` + "`", "    # e", `**tool**`, "```sh stet-call {}"}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ -~·\n#]{0,12}`)
		line := rapid.SampledFrom(append(marks, "a", "## 2 · user", "```", "~~~~", "stet-text", "```stet-text", "```stet-call {}", "<!--", "-->", "---", "===", "", "[a]: b", "> q", "- l", "\r", "\x00", "<pre>"))
		content := rapid.Custom(func(t *rapid.T) []byte {
			return []byte(strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", " ", "\n\n"}).Draw(t, "by")))
		})
		at := rapid.Custom(func(t *rapid.T) time.Time {
			s := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "sec")
			return time.Unix(s, rapid.SampledFrom([]int64{0, 1, 5e8}).Draw(t, "ns")).UTC()
		})
		in := &Transcript{ID: word.Draw(t, "id"), Title: word.Draw(t, "title"), Started: at.Draw(t, "started")}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			in.Messages = append(in.Messages, Message{
				Role: rapid.SampledFrom([]string{"r" + word.Draw(t, "role"), "tool", "user"}).Draw(t, "which"),
				Name: word.Draw(t, "name"), Time: at.Draw(t, "time"), Ref: word.Draw(t, "ref"),
				Tokens: rapid.Int().Draw(t, "tokens"), Content: content.Draw(t, "content"),
				Calls: []ToolCall{{ID: word.Draw(t, "call"), Arguments: content.Draw(t, "args")},
					editOf(content.Draw(t, "old"), content.Draw(t, "now")),
					editsOf(content.Draw(t, "first"), content.Draw(t, "second"))},
			})
		}
		text, out := roundTrip(t, in)
		if got, want := plain(out), plain(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("read back %+v\nwant %+v\nfrom %q", got, want, text)
		}
	})
}

// callsOf are calls of a tool each, name and arguments by turns.
func callsOf(nameAndArgs ...string) (out []ToolCall) {
	for i := 0; i < len(nameAndArgs); i += 2 {
		out = append(out, ToolCall{ID: "t", Name: nameAndArgs[i], Arguments: []byte(nameAndArgs[i+1])})
	}
	return out
}

func TestATranscriptReadsAsItWasMeant(t *testing.T) {
	t.Parallel()
	const said = "# Plan\nRun `stet show <id>` or git switch <branch>.\n\n```sh\n# <comment>\n```\nNotes\n---"
	in := &Transcript{Messages: []Message{
		{Role: "user", Content: []byte(said)},
		{Role: "assistant", Calls: callsOf(
			"Edit", `{"file_path":"src/db.go","old_string":"a\nb\nc","new_string":"a\nB < 2\nc"}`,
			"Bash", "{\"command\":\"git status && git diff\",\"description\":\"What `changed`\"}",
			"shell", `{"command":["bash","-lc","ls -la"],"workdir":"/home/dev"}`,
			"Write", `{"file_path":"a.PY","content":"import os\nprint(1)\n"}`,
			"Todo", `{"todos":[{"content":"Mend the gate before winter","status":"pending"},{"content":"b","id":"1"}]}`,
			"MultiEdit", `{"file_path":"b.go","edits":[{"old_string":"a\nb","new_string":"a"},`+
				`{"old_string":"","new_string":"c"}]}`,
			"shell", `{"command":["git","push","origin","HEAD"]}`,
			"apply_patch", "*** Begin Patch\n*** End Patch",
			"Read", `{"file_path":"a.go"}`)},
		{Role: "tool", Content: []byte("# no heading\n* run together\n")},
		{Role: "tool", Content: []byte("diff --git a/x b/x\n+y")},
		{Role: "tool", Content: []byte(`{"a": 1}`)},
	}}
	text, out := roundTrip(t, in)
	if got, want := plain(out), plain(in); !reflect.DeepEqual(got, want) {
		t.Errorf("read back\n%+v\nwant\n%+v\nfrom\n%s", got, want, text)
	}
	patch := callsOf("apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@\n*** End Patch")[0].View()
	if got := patch.Line(); got != "*** Update File: a.go …" {
		t.Errorf("a patch on one line is %q", got)
	}
	for _, want := range []string{
		"\n\\# Plan\\\nRun `stet show <id>` or git switch \\<branch>.\n\n```sh\n# <comment>\n```\nNotes\n\\---\n",
		"\n\n**Edit** `src/db.go`\n\n```diff stet-call {", "}\n a\n-b\n+B < 2\n c\n```\n",
		"\n\n**Bash** `description: What 'changed'`\n\n```sh stet-call {", "}\ngit status && git diff\n```\n",
		"\n\n**shell** `workdir: /home/dev`\n\n```sh stet-call {", "}\nls -la\n```\n",
		"\n\n**MultiEdit** `b.go`\n\n```diff stet-call {", "}\n a\n-b\n@@\n+c\n```\n",
		"\n\n**shell**\n\n```json stet-call {\"id\":\"t\",\"name\":\"shell\"}\n{\"command\":[\"git\",\"push\",",
		"\n\n**Write** `a.PY`\n\n```py stet-call {", "}\nimport os\nprint(1)\n\n```\n",
		"\n\n**Todo**\n\n```json stet-call {", "}\n{\n  \"todos\": [\n", "\n\n**apply_patch**\n\n```diff stet-call {",
		"**Read**\n\n```json stet-call {\"id\":\"t\",\"name\":\"Read\"}\n{\"file_path\":\"a.go\"}\n```\n",
		"\n\n```text stet-text\n# no heading\n* run together\n\n```\n", "\n\n```diff stet-text\ndiff",
		"\n\n```json stet-text\n{",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// On one line stands what a reader wants to know of a call.
func TestACallOnOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"shell", `{"command":["git","push","origin","HEAD"]}`, "command: git push origin HEAD"},
		{"shell", `{"command":["sh","-c","ls -l"],"workdir":"/w"}`, "ls -l"},
		{"Edit", `{"file_path":"a.go","old_string":"a\nb","new_string":"a\nc\nd"}`, "a.go +2 -1"},
		{"edit", `{"path":"a.go","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":""}]}`,
			"a.go +1 -2"},
		{"TodoWrite", `{"todos":[{"content":"Mend it","status":"done"},{"content":"Test it","id":"2"}]}`,
			"todos: Mend it; Test it"},
		{"update_plan", `{"plan":[{"step":"Read"},{"step":"Write"}]}`, "plan: Read; Write"},
		{"grid", `{"rows":[[1],[2]]}`, "rows: [[1],[2]]"},
	} {
		v := callsOf(c[0], c[1])[0].View()
		if got := strings.TrimSpace(v.Line() + " " + v.Changes()); got != c[2] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestATranscriptOfBeforeIsReadAsItWas(t *testing.T) {
	t.Parallel()
	src := "## 1 · user\n\n\\# kept\n\n## 2 · assistant\n\nYes.\n\n**Bash**\n\n" +
		"```stet-call {\"id\":\"a\",\"name\":\"Bash\"}\n{}\n```\n\n## 3 · tool\n\n```stet-text\nx\n\n```\n"
	m := ParseTranscript([]byte(src)).Messages
	if len(m) != 3 || string(m[0].Content) != "\\# kept" || string(m[1].Content) != "Yes.\n\n**Bash**" ||
		len(m[1].Calls) != 1 || string(m[1].Calls[0].Arguments) != "{}" || string(m[2].Content) != "x\n" {
		t.Errorf("%+v", m)
	}
}
