package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/cmd/stet/console"
)

func testEnv(t *testing.T) *console.Env {
	home := t.TempDir()
	return console.New(console.Host{
		Stdio: console.Stdio{In: strings.NewReader(""), Out: t.Output(), Err: t.Output()},
		Getenv: func(key string) string {
			if key == "HOME" {
				return home
			}
			return ""
		},
		Dir: home, Now: time.Now, PID: os.Getpid(),
	})
}

// measured runs a data set and returns its rows by level.
func measured(t *testing.T, dir string) (*setReport, map[string]rowReport) {
	t.Helper()
	s, err := readSet(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, ranked, err := s.measure(t.Context(), testEnv(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]rowReport{}
	for _, row := range s.rows(ranked, false) {
		rows[row.Level] = row
	}
	if r.Empty > 0 || r.Degraded > 0 {
		t.Errorf("%s: %d questions answered with nothing, %d without the index", s.name, r.Empty, r.Degraded)
	}
	return r, rows
}

type floor struct {
	what       string
	got, least float64
}

func hold(t *testing.T, floors ...floor) {
	t.Helper()
	for _, f := range floors {
		if f.got < f.least {
			t.Errorf("%s is %.4f, the floor is %.4f", f.what, f.got, f.least)
		}
	}
}

// Search answers conversations of our own making at least this well. Words
// alone, without what stands around a message, reach .83 and .69.
func TestSearchHoldsItsFloors(t *testing.T) {
	t.Parallel()
	_, rows := measured(t, filepath.Join("testdata", "own"))
	turn, session := rows[levelTurn], rows[levelSession]
	if turn.N != 36 {
		t.Fatalf("%d questions, want 36", turn.N)
	}
	hold(t, floor{"turns recall@5", turn.Recall5, .95}, floor{"turns recall@10", turn.Recall10, .98},
		floor{"turns mrr", turn.MRR, .74},
		floor{"sessions recall@5", session.Recall5, .98}, floor{"sessions mrr", session.MRR, .92})
}

// The data that others made is not part of the repository: STET_DATA names it.
func TestSearchHoldsItsFloorsOnRealData(t *testing.T) {
	t.Parallel()
	data := os.Getenv("STET_DATA")
	if data == "" || testing.Short() {
		t.Skip("STET_DATA does not name the data, or -short")
	}
	data = filepath.Join(data, "retrieval")
	_, locomo := measured(t, filepath.Join(data, "locomo"))
	_, small := measured(t, filepath.Join(data, "beam100k"))
	_, large := measured(t, filepath.Join(data, "beam500k"))
	_, long := measured(t, filepath.Join(data, "longmemeval"))
	hold(t, floor{"LoCoMo turns recall@10", locomo[levelTurn].Recall10, .66},
		floor{"LoCoMo turns mrr", locomo[levelTurn].MRR, .49},
		floor{"LoCoMo sessions recall@5", locomo[levelSession].Recall5, .81},
		floor{"LoCoMo sessions mrr", locomo[levelSession].MRR, .77},
		floor{"BEAM 100K turns recall@10", small[levelTurn].Recall10, .54},
		floor{"BEAM 100K turns mrr", small[levelTurn].MRR, .53},
		floor{"BEAM 500K turns recall@10", large[levelTurn].Recall10, .47},
		floor{"BEAM 500K turns mrr", large[levelTurn].MRR, .42},
		floor{"LongMemEval any@5", long[levelUser].Any5, .93}, floor{"LongMemEval all@10", long[levelUser].All10, .86})
}
