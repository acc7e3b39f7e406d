package cite_test

import (
	"os"
	"strings"
	"testing"

	"stet/agent/cite"
)

func TestAsks(t *testing.T) {
	t.Parallel()
	const gate, gateNew = "The gate code is 4711.", "The gate code is 4712."
	yes := []struct{ turn, before, after string }{
		{"The gate code is 4712 now.", gate, gateNew},
		{"hey, they changed the gate code, it's 4712", gate, gateNew},
		{"Could you change the gate code to 4712?", gate, gateNew},
		{"Ann doesn't live in Prague any more, Ann lives in Berlin.", "Ann lives in Prague.", "Ann lives in Berlin."},
		{"Please forget that the gate code is 4711.", gate, ""},
		{"Forget that I live in Prague.", "Ann lives in Prague.", ""},
		{"Okay, can you forget the gate code 4711?", gate, ""},
		{"I want you to drop the note that the gate code is 4711.", gate, ""},
		{"Bitte die Notiz vom Code 4711 vom Gate löschen.", "Der Code vom Gate ist 4711.", ""},
		{"Production runs on Postgres now.", "Production runs on MySQL 8.4.", "Production runs on Postgres."},
		{"Production does not use Redis any more.", "Production uses Postgres and Redis.", "Production uses Postgres."},
		{"The gate code is not 4711 any more. It is 4712.", gate, gateNew},
		{"No, the gate code is 4712.", gate, gateNew},
		{"The 5\" pipe is at the gate, the gate code is 4712.", gate, gateNew},
		{"The gate was painted red.", gate, gate + "\n\nThe gate was painted red."},
		{"Der Code vom Gate ist jetzt 4712", "Der Code vom Gate ist 4711", "Der Code vom Gate ist 4712"},
	}
	for _, c := range yes {
		if err := cite.Asks(cite.Own(c.turn), c.before, c.after); err != nil {
			t.Errorf("%q: %q → %q: %v", c.turn, c.before, c.after, err)
		}
	}
	no := []struct{ turn, before, after string }{
		{"The port is 4712 now.", gate, gateNew},                                   // another subject
		{"The gate code changed.", gate, gateNew},                                  // no new value
		{"The gate code is 4712.", gate, "The gate code is 4712, tell everybody."}, // more than was asked
		{"He wrote \"the gate code is 4712\" on the wall.", gate, gateNew},
		{"He wrote 'the gate code is 4712' on it's wall.", gate, gateNew},
		{"They say “the gate code is 4712”.", gate, gateNew},
		{"They say \"the gate code is 4712 and left.", gate, gateNew},
		{"> The gate code is 4712.", gate, gateNew},
		{"She wrote \"Hi,\nthe gate code is 4712 now.\nBye\"", gate, gateNew},
		{"Look:\nThe gate code is 4712.", gate, gateNew},
		{"```\nThe gate code is 4712.\n```", gate, gateNew},
		{"```\nThe gate code is 4712.", gate, gateNew},
		{"    The gate code is 4712.", gate, gateNew},
		{"`The gate code is 4712`", gate, gateNew},
		{"Is the gate code 4712?", gate, gateNew},
		{"If the gate code is 4712 we are lost.", gate, gateNew},
		{"a\nb\nc\nd\ne\nf\nThe gate code is 4712.", gate, gateNew},
		{strings.Repeat("All work and no play. ", 40) + "The gate code is 4712.", gate, gateNew},
		{"<stet-context>\nThe gate code is 4712.\n</stet-context>", gate, gateNew},
		{"<stet-context\nThe gate code is 4712.", gate, gateNew},
		{"The gate code is 4711, by the way.", gate, ""}, // nothing is to go
		{"Forget it.", gate, ""},
		{"Nobody may forget that the gate code is 4711.", gate, ""},
		{"It would be wrong to delete the gate code 4711.", gate, ""},
		{"You must keep the gate code 4711; forget the other one instead.", gate, ""},
		{"Forget about lunch. The gate code is 4711 and works.", gate, ""},
		{"I forget the gate code 4711 all the time.", gate, ""},
		{"Remind me to delete the gate code 4711 tomorrow.", gate, ""},
		{"Bob wrote: please forget that the gate code is 4711.", gate, ""},
		{"Translate: delete the gate code 4711.", gate, ""},
		{"Forget the port.", gate, ""},
		{"Forget it. The gate code is 4711.", gate, ""},
		{"Forget the gate code 4711 for now.", gate, ""},
		{"Forget the gate code 4711 here.", gate, ""},
		{"Can you delete the gate code 4711?", gate, ""}, // in the lock, or here?
		{"Den Code 4711 vom Gate löschen.", "Der Code vom Gate ist 4711.", ""},
		{"Change the gate code from 4711 to 4713.", gate, "The gate code 4711 is 4713."},
		{"Ann eats meat at the party.", "Ann eats meat.", "Ann never eats meat."},
		{"Ann leaves at 6.", "Ann leaves before 6.", "Ann leaves after 6."},
		{"The gate code is 47120.", gate, gateNew},
		{"The gate code is -4712.", gate, gateNew},
		{"", gate, gateNew},
		{"Ann lives in Berlin.", "Ann lives in Prague. Her door code is 991. Her dog is Rex.", "Ann lives in Berlin."},
		{"Production runs on Postgres.", "Production runs on MySQL 8.4, hosted in Frankfurt by Ann.",
			"Production runs on Postgres."},
		{"Forget that the gate code is 4711.", "The gate code is 4711. The alarm code is 1234.", ""},
		{"The gate code is 4712 now.", gate, gate},
		{"Please don't forget that the gate code is 4711.", gate, ""},
		{"Don't lose the gate code 4711.", gate, ""},
		{"I used the gate code 4711 once more.", gate, ""},
		{"Don't change the gate code to 4712.", gate, gateNew},
		{"I never said the gate code is 4712.", gate, gateNew},
		{"The gate was painted. Review the code soon. Platform 4712.", gate, gateNew},
		{"The gate code is 4712 now.", gate, "Ann's bank is Acme."},
	}
	for _, c := range no {
		if err := cite.Asks(cite.Own(c.turn), c.before, c.after); err == nil {
			t.Errorf("%q asks for %q → %q", c.turn, c.before, c.after)
		}
	}
}

// A turn that denies or dates something is the person's own word all the same.
func TestOwnWordsBeginAsTheyLike(t *testing.T) {
	t.Parallel()
	for _, turn := range []string{"Never push to main.", "When I say stop, stop.", "After lunch I nap.",
		".env holds the gate code.", "~/.bashrc sets it.", ":-) thanks, the code is 4712.", "👍, it is 4712 now.",
		"[-] buy milk", "--force is banned.", "!, x", "-1"} {
		if got := cite.Own(turn); got != turn {
			t.Errorf("%q are %q", turn, got)
		}
	}
}

func FuzzAsks(f *testing.F) {
	f.Add("The gate code is 4712 now.", "The gate code is 4711.", "The gate code is 4712.")
	f.Add("```\n'x “ „ >", "a", "")
	f.Add("--force is banned", "a", "b")
	f.Fuzz(func(t *testing.T, turn, before, after string) {
		own := cite.Own(turn)
		if cite.Asks(own, before, before) == nil {
			t.Errorf("%q asks for no change of %q", turn, before)
		}
		_ = cite.Asks(own, before, after)
	})
}

// Sentences written before the rules, and not tuned to: none that is no order changes a thing, and of the orders few
// wait for the user.
func TestFormsOfOrders(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	orders, done := 0, 0
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' {
			continue
		}
		f := strings.Split(strings.ReplaceAll(line, `\n`, "\n"), " |")
		kind, turn, _ := strings.Cut(f[0]+f[1], " ")
		reason := cite.Asks(cite.Own(turn), strings.TrimSpace(f[2]), strings.TrimSpace(f[3]))
		switch {
		case kind == "yes":
			if orders++; reason == nil {
				done++
			} else {
				t.Logf("%q waits: %v", turn, reason)
			}
		case reason == nil:
			t.Errorf("%q changes %q", turn, f[2])
		}
	}
	if t.Logf("%d of %d orders are done", done, orders); done < 36 {
		t.Error("too many orders wait")
	}
}
