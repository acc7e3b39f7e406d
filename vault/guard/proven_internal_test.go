package guard

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// No line that is passed over holds what the expressions for cards and accounts look for.
func TestMayProvePassesOverNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	forms, met := provenForms(), 0
	parts := []string{"4111", "1111", "-", " ", "3782", "822463", "10005", "DE89", "3704", "0044", "0532", "013000",
		"x", "A", "AB", "12", "7", "411111111111111", "é"}
	for range 200_000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		line := b.String()
		numbers, account := mayProve(line)
		card, iban := forms.card.MatchString(line), forms.iban.MatchString(line)
		if card && !numbers || iban && !account {
			t.Fatalf("%q: card %v, account %v", line, card, iban)
		}
		if card || iban {
			met++
		}
	}
	if met < 10_000 {
		t.Errorf("%d lines hold any", met)
	}
}
