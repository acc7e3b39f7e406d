package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/agent"
	"stet/index/watch"
)

// 90 reading and 10 writing calls a second, for a minute, on one server beside a watcher: each is answered, p99
// within a quarter of a second, and memory does not grow. Calls are sent by the clock, however long others take.
// With 10,000 memories two cores answer about 80 calls a second.
func TestHundredCallsASecond(t *testing.T) {
	if os.Getenv("STET_FULL") == "" {
		t.Skip("skip: STET_FULL is not set")
	}
	const memories, took = 1000, time.Minute
	var files []string
	for i := range memories {
		files = append(files, fmt.Sprintf("memories/m%d.md", i), fmt.Sprintf(
			"---\nid: 01m839dkn9gypfcd9phv%06d\n---\n\n# Machine %d\n\nMachine %d stands in hall %d and runs %d.\n",
			i, i, i, i%40, i*7))
	}
	o := options(newVault(t, files...))
	watching, end := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() {
		watched <- agent.NewEnvironment(o.App).Watch(watching, agent.WatchOptions{
			Opened: func(string, time.Duration) {}, Emit: func(watch.Event) error { return nil }})
	}()
	c := begin(t, o).greet("codex")
	c.call("memory_search", `{"query": "machine"}`) // which makes the index

	var mu sync.Mutex
	sent, answers := map[int]time.Time{}, []time.Duration{}
	failed, first := 0, ""
	all := int(took / (10 * time.Millisecond))
	read := make(chan bool)
	go func() {
		defer close(read)
		for range all {
			line, err := c.out.ReadString('\n')
			var answer struct {
				ID     int
				Result struct{ IsError bool }
				Error  any
			}
			bad := err != nil || json.Unmarshal([]byte(line), &answer) != nil || answer.Error != nil ||
				answer.Result.IsError
			mu.Lock()
			if answers = append(answers, time.Since(sent[answer.ID])); bad {
				failed, first = failed+1, first+line[:min(len(line), 300)]
			}
			mu.Unlock()
		}
	}()
	var early, late runtime.MemStats
	tick := time.NewTicker(10 * time.Millisecond)
	for i := range all {
		<-tick.C
		if i == all/3 {
			runtime.GC()
			runtime.ReadMemStats(&early)
		}
		mu.Lock()
		sent[c.id+1+i] = time.Now()
		mu.Unlock()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, c.id+1+i, mixed(i, memories)))
	}
	<-read
	runtime.GC()
	runtime.ReadMemStats(&late)
	c.end()
	end()
	if err := <-watched; err != nil {
		t.Error(err)
	}
	slices.Sort(answers)
	p50, p99 := answers[len(answers)/2], answers[len(answers)*99/100]
	t.Logf("%d memories: %d calls, %d failed, p50 %v, p99 %v, most %v; heap %d, then %d KiB", memories, len(answers),
		failed, p50, p99, answers[len(answers)-1], early.HeapAlloc>>10, late.HeapAlloc>>10)
	if failed > 0 || p99 > 250*time.Millisecond || late.HeapAlloc > 2*early.HeapAlloc {
		t.Error("the bar is: none failed, p99 under 250 ms, memory does not grow", first)
	}
}

// mixed is call i: of ten one writes.
func mixed(i, memories int) string {
	n := i * 37 % memories
	reads := []string{
		`{"name":"memory_search","arguments":{"query":"which machine runs release %d"}}`,
		`{"name":"memory_read","arguments":{"ref":"01m839dkn9gypfcd9phv%06d"}}`,
		`{"name":"memory_search","arguments":{"query":"hall %d"}}`,
		`{"name":"session_search","arguments":{"query":"machine %d"}}`,
		`{"name":"skill","arguments":{"action":"list"}}`,
		`{"name":"memory_read","arguments":{"ref":"USER.md"}}`,
		`{"name":"memory_read","arguments":{"ref":"memories/m%d.md"}}`,
		`{"name":"history","arguments":{"action":"log","limit":5}}`,
		`{"name":"memory_search","arguments":{"query":"machine %d"}}`,
	}
	if i%10 == 9 {
		const save = `{"name":"memory_save","arguments":{"text":"Note %d: crate %d went to shelf %d."}}`
		return fmt.Sprintf(save, i, i*13, i*7)
	}
	call := reads[i%10]
	if !strings.Contains(call, "%") {
		return call
	}
	return fmt.Sprintf(call, n)
}
