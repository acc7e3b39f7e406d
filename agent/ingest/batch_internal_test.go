package ingest

import (
	"fmt"
	"testing"
	"time"

	"stet/agent/encode"
)

// A megabyte of short notes that share their words is looked through in a time that grows with it.
func TestManyNotesOfOneBatchAreNotComparedEachWithEach(t *testing.T) {
	t.Parallel()
	const notes = 20_000
	var b batch
	began := time.Now()
	for i := range notes {
		text := fmt.Sprintf("port of service %d", i)
		probes := []string{text}
		for _, m := range b.near(text, probes) {
			if m.Text == text {
				t.Fatalf("note %d is near itself", i)
			}
		}
		b.add(encode.Memory{Text: text}, probes)
	}
	// Each with each takes minutes.
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d notes took %v", notes, took)
	}
	again := b.near("port of service 77", []string{"port of service 77"})
	if len(again) > 2*near || len(again) == 0 || again[len(again)-1].Text != "port of service 77" {
		t.Errorf("near the 78th: %d notes, the last %v", len(again), again[len(again)-1])
	}
}
