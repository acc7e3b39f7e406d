package index

import (
	"slices"
	"testing"
	"time"

	"stet/markdown"
	"stet/vault"
)

// What is pasted, and words that others write otherwise, find what holds them, and the answer says of no file that it
// has words which it has not.
func TestWordsAreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	x := open(t, newFolder(t, map[string]string{
		"memories/net.md":    "The Wi-Fi password is on the fridge.\n",
		"memories/home.md":   "The wifi is slow upstairs.\n",
		"memories/backup.md": "# Backup\n\nBackups run at night.\n",
		"sessions/a.md":      talkFile(t, day, "", turn{"tool · bash", "ld: cannot find -lzstd: No such file"}),
		"sessions/b.md":      talkFile(t, day, "", turn{"user", "The Wi-Fi is down, and the upstairs wifi."}),
	}))
	for _, tc := range []struct {
		query, tier     string
		paths, sessions []string
	}{
		{"wifi", "strict", []string{"memories/home.md", "memories/net.md"}, []string{"b#1"}},
		{"Wi-Fi", "strict", []string{"memories/home.md", "memories/net.md"}, []string{"b#1"}},
		{"-lzstd", "", nil, []string{"a#1"}},
		{"zstd", "", nil, []string{"a#1"}},
		{"backups.example.com", "relaxed", []string{"memories/backup.md"}, nil},
		{"https://backups.example.com/x?y=1&z=2", "relaxed", []string{"memories/backup.md"}, nil},
	} {
		res := ask(t, x, Query{Text: tc.query})
		got := hitPaths(res)
		slices.Sort(got)
		said := briefly(res.Sessions)
		if !slices.Equal(got, tc.paths) || res.Tier != tc.tier || !slices.Equal(said, tc.sessions) {
			t.Errorf("%q found %v (%s) and %v, want %+v", tc.query, got, res.Tier, said, tc)
		}
		for _, h := range slices.Concat(res.Hits, res.Sessions) {
			if len(h.Highlights) == 0 {
				t.Errorf("%q highlights nothing in %q", tc.query, h.Snippet)
			}
		}
	}
}

// What a tool calls its arguments stands in every call of it: who pastes such a name finds first what was said of it.
func TestTheNamesOfArgumentsAreFoundBehindWhatIsSaid(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	given := `{"file_path":"a.go","old_string":"x","new_string":"y"}`
	edit := []markdown.ToolCall{{ID: "c1", Name: "Edit", Arguments: []byte(given)}}
	in := &markdown.Transcript{ID: "01jd7q8r5t9v3x6y2z4a7c0001", Started: day, Messages: []markdown.Message{
		{Role: "assistant", Time: day, Calls: edit},
		{Role: "tool", Name: "Edit", Time: day.Add(time.Minute),
			Content: []byte("Error: old_string and new_string are the same.")},
		{Role: "assistant", Time: day.Add(time.Hour), Calls: edit},
	}}
	text, _, err := markdown.RenderTranscript(in, markdown.TranscriptOptions{Name: "a.md"})
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, newFolder(t, map[string]string{"sessions/a.md": string(text)}))
	for query, want := range map[string]string{"old_string": "a#2", "a.go": "a#3"} {
		got := briefly(ask(t, x, Query{Text: query, Class: []vault.Class{vault.ClassSession}}).Hits)
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q found %v, want %s first", query, got, want)
		}
	}
}
