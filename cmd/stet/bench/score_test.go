package bench

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestScoresAreThoseOfHand(t *testing.T) {
	t.Parallel()
	// Targets at ranks 2 and 4 of five, a third one is not found.
	m := score([]string{"x", "a", "y", "b", "z"}, []string{"a", "b", "c", "a"}, levelTurn)
	best := 1 + 1/math.Log2(3) + 1/math.Log2(4)
	want := mark{Recall5: 2. / 3, Recall10: 2. / 3, Recall50: 2. / 3, Any5: 1, MRR: .5,
		NDCG5: (1/math.Log2(3) + 1/math.Log2(5)) / best, NDCG10: (1/math.Log2(3) + 1/math.Log2(5)) / best}
	if m != want {
		t.Errorf("scored %+v, want %+v", m, want)
	}
	// LongMemEval does not discount the second rank.
	m = score([]string{"x", "a"}, []string{"a"}, levelUser)
	if !near(m.NDCG5, 1) || m.All5 != 1 || m.MRR != .5 {
		t.Errorf("scored %+v", m)
	}
	if m = score(nil, []string{"a"}, levelTurn); m != (mark{}) {
		t.Errorf("nothing found scored %+v", m)
	}
}

func TestWhichQuestionsCount(t *testing.T) {
	t.Parallel()
	no := false
	for _, tc := range []struct {
		g     gold
		level string
		want  int
	}{
		{gold{Turns: []string{"a", "b"}}, levelTurn, 2},
		{gold{Sessions: []string{"a"}}, levelSession, 1},
		{gold{Sessions: []string{"a"}}, levelUser, 0},
		{gold{Sessions: []string{"a"}, UserSessions: []string{}}, levelUser, 0},
		{gold{Sessions: []string{"a"}, UserSessions: []string{}, TurnLabels: &no}, levelUser, 1},
	} {
		if got := len(tc.g.targets(tc.level)); got != tc.want {
			t.Errorf("%+v at level %s has %d targets, want %d", tc.g, tc.level, got, tc.want)
		}
	}
	if (&gold{Answerable: true, Type: "adversarial"}).counts() || (&gold{Type: "x"}).counts() ||
		!(&gold{Answerable: true}).counts() {
		t.Error("questions without an answer must not count, others must")
	}
}

func TestASessionRanksWhereItsFirstTurnDoes(t *testing.T) {
	t.Parallel()
	got := sessionsOf([]string{"2", "1", "3", "unknown"}, map[string]string{"1": "a", "2": "b", "3": "b"})
	if len(got) != 2 || got[0] != "b" || got[1] != "a" {
		t.Errorf("sessions %v", got)
	}
}
