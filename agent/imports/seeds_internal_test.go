package imports

import (
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"
)

// seeds are small files of every source, for fuzzing.
func seeds() (all [][]byte) {
	formats, _ := filepath.Glob("testdata/formats/*.txtar") // a pattern that cannot be bad
	for _, name := range formats {
		if a, err := txtar.ParseFile(name); err == nil {
			all = append(all, a.Files[0].Data, a.Files[max(0, len(a.Files)-2)].Data)
		}
	}
	return append(all, [][]byte{
		[]byte(`{"session":"a","speaker":"Anna","id":"1","date":"2026-03-02","text":"one"}` + "\n" + `{"session":"b","text":"two"}` + "\n" + `{"session":"a","text":"three"}`),
		[]byte(`{"stet":"session","session":"x","id":"01jd7q8r5t9v3x6y2z4a7c0e1f","started":1772442000}` + "\n" + `{"session":"x","bytes":"YQBi","calls":[{"bytes":"AA=="}]}`),
		[]byte(`{"type":"user","uuid":"u","timestamp":"2026-03-02T09:00:00Z","cwd":"/a","message":{"role":"user","content":"<command-name>/x</command-name><system-reminder>y</system-reminder>"}}` + "\n" +
			`{"type":"assistant","uuid":"v","parentUuid":"u","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}}` + "\n" +
			`{"type":"user","uuid":"w","parentUuid":"v","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]}}`),
		[]byte(`{"timestamp":"2026-04-01T09:00:00Z","type":"session_meta","payload":{"id":"c","cwd":"/a"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}` + "\n" +
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"k","output":"{\"output\":\"y\"}"}}`),
		[]byte(`[{"id":"g","title":null,"current_node":"b","mapping":{"a":{"parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x",{}]}}},"b":{"parent":"a","message":null},"c":{"parent":"a","message":{"author":{"role":"tool","name":"n"},"weight":1,"content":{"text":"z"}}}}}]`),
		[]byte(`[{"uuid":"u","chat_messages":[{"uuid":"m","sender":"human","text":"x","attachments":[{"file_name":"f","extracted_content":"y"}]},{"uuid":"n","parent_message_uuid":"m","content":[{"type":"text","text":"z"}]}]}]`),
		[]byte(`{"id":"h","parent_session_id":"h","started_at":1770026400.25,"messages":[{"id":1,"role":"assistant","tool_calls":"[{\"id\":\"k\",\"function\":{\"name\":\"f\"}}]"}]}`),
		[]byte(`{"messages":[{"role":"user","content":"x"}]}` + "\n" + `{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]}`),
	}...)
}
