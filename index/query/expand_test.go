package query

import "testing"

func TestIsSimilar(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		word, term string
		want       bool
	}{
		{"databse", "database", true}, {"dtaabase", "database", true}, {"dtabse", "database", false}, {"datbaes", "database", false},
		{"migratoin", "migration", true}, {"migartoin", "migration", true}, {"word", "ward", true}, {"word", "wade", false},
		{"ostgres", "postgres", false}, {"naive", "native", true}, {"word", "wo", false}, {"über", "uber", false},
	} {
		if got := isSimilar(tc.word, tc.term); got != tc.want {
			t.Errorf("isSimilar(%q, %q) = %v", tc.word, tc.term, got)
		}
	}
}
