package encode_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"stet/agent/encode"
)

// A call with any number of short notes decides as a call for each does. Of large notes beside large memories only
// the first are compared to the end, so that the call ends; what is proven is decided all the same.
func TestNotesOfOneCallShareTheirWork(t *testing.T) {
	t.Parallel()
	const notes = 20
	same := func(was, is, rest string) (n, all, cut int) {
		var k encode.Reader
		stored := make([]encode.Memory, 16)
		for i := range stored {
			stored[i] = encode.Memory{ID: fmt.Sprint(i), Text: strings.ReplaceAll(was, "N", fmt.Sprint(i)) + rest}
		}
		for i := range notes {
			m := encode.Memory{Text: strings.ReplaceAll(is, "N", fmt.Sprint(i%16)) + rest}
			alone := encode.Decide(m, stored, encode.Corpus{}).Verdicts
			plan := k.Decide(m, stored, encode.Corpus{})
			shared := plan.Verdicts
			cut += plan.Cut
			if len(alone) > 0 {
				all++
			}
			if len(alone) > 0 && reflect.DeepEqual(shared, alone) {
				n++
			}
		}
		return n, all, cut
	}
	page := strings.Repeat(" "+strings.Repeat("lorem ipsum dolor sit amet ", 30)+".", 3)
	denied := [2]string{"The server in hall N sends emails.", "The server in hall N never sends emails."}
	proof := [2]string{"My phone number is 555 013N.", "My phone number is 555 017N."}
	for _, c := range []struct {
		texts [2]string
		rest  string
		part  bool
	}{{denied, "", false}, {proof, "", false}, {denied, page, true}} {
		n, all, cut := same(c.texts[0], c.texts[1], c.rest)
		if n == 0 || (n < all) != c.part || cut > 0 != c.part {
			t.Errorf("%q and %d bytes: %d of %d are decided as alone", c.texts[1], len(c.rest), n, all)
		}
	}
}

// What a call reads of a text it reads once, also where all of them together are large.
func TestNotesOfOneCallAreReadOnce(t *testing.T) {
	var k encode.Reader
	var stored []encode.Memory
	for i := range 200 {
		text := strings.Repeat(fmt.Sprintf("The lamp%d in hall stands near shelf%d. ", i, i), 50)
		stored = append(stored, encode.Memory{ID: fmt.Sprint(i), Text: text})
	}
	pass := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := 0; i < len(stored); i += 10 {
			k.Decide(encode.Memory{Text: "!"}, stored[i:i+10], encode.Corpus{})
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if first, again := pass(), pass(); again > first/4 {
		t.Errorf("%d bytes were allocated to read the texts, %d when they had been read", first, again)
	}
}
