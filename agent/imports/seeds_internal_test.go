package imports

// seeds are small files of every source, for fuzzing.
func seeds() [][]byte {
	return [][]byte{
		[]byte(`{"session":"a","speaker":"Anna","id":"1","date":"2026-03-02","text":"one"}` + "\n" + `{"session":"b","text":"two"}` + "\n" + `{"session":"a","text":"three"}`),
		[]byte(`{"stet":"session","session":"x","id":"01jd7q8r5t9v3x6y2z4a7c0e1f","started":1772442000}` + "\n" + `{"session":"x","bytes":"YQBi","calls":[{"bytes":"AA=="}]}`),
		[]byte(`{"type":"user","uuid":"u","timestamp":"2026-03-02T09:00:00Z","cwd":"/a","message":{"role":"user","content":"<command-name>/x</command-name><system-reminder>y</system-reminder>"}}` + "\n" +
			`{"type":"assistant","uuid":"v","parentUuid":"u","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}}` + "\n" +
			`{"type":"user","uuid":"w","parentUuid":"v","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]}}`),
	}
}
