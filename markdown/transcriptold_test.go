package markdown_test

import (
	"strings"
	"testing"
	"time"

	"stet/markdown"
)

// A transcript of before has no fences that name their language: what looks like one was said.
func TestAnOldTranscriptIsReadAsBefore(t *testing.T) {
	t.Parallel()
	const head = "---\nid: 01J0000000000000000000000A\n---\n\n"
	for _, said := range []string{
		"Look:\n```json stet-call {}\nx\n```\nthat is all", "```text stet-text\nnever closed",
		"Look:\n```json stet-call {\"name\":\"Bash\"}\nnever closed",
	} {
		src := head + "## 1 · user\n\n" + said + "\n\n## 2 · assistant\n\nYes.\n\n## 3 · user\n\nThanks.\n"
		got := markdown.ParseTranscript([]byte(src))
		if len(got.Messages) != 3 || string(got.Messages[0].Content) != said || len(got.Messages[0].Calls) > 0 {
			t.Errorf("%q: %d messages, %q", said, len(got.Messages), got.Messages[0].Content)
		}
	}
}

// Fences in a long message cost no second look at the rest: a quadratic reader takes a minute for this text.
func TestManyFencesAreReadOnce(t *testing.T) {
	t.Parallel()
	src := "---\nid: 01J0000000000000000000000A\n---\n\n## 1 · user\n\n" + strings.Repeat("```\n", 1<<20) +
		"\n## 2 · user\n\nEnd.\n"
	begun := time.Now()
	if got := markdown.Parse([]byte(src)).Messages(); len(got) != 2 {
		t.Error(len(got))
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Error(took)
	}
}
