package encode_test

import (
	"testing"

	"stet/agent/encode"
)

func TestKeyed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"We switched to MySQL", "We use PostgreSQL", true},
		{"Ann moved to Basel.", "Ann lives in Bern and works at Nordlicht.", true},
		{"My phone number is 555 0177.", "My phone number is 555 0134.", true},
		{"Her phone number is 555 0177.", "The cellar key hangs by the door.", false},
		{"The lift is slow on Mondays.", "We use PostgreSQL", false},
		{"", "We use PostgreSQL", false},
	} {
		if got := encode.Keyed(c.a, c.b) || encode.SameKind(c.a, c.b); got != c.want {
			t.Errorf("Keyed(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

// What a model calls the same is believed only where the words bear it out.
func TestSaysSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stored, text string
		want         bool
	}{
		{"The backup of the database runs every night at 3.", "Every night at 3 the database backup runs.", true},
		{"The backup of the database runs every night at 3.", "Every night at 4 the database backup runs.", false},
		{"Alice likes strong black tea with cold milk.", "Bob likes strong black tea with cold milk.", false},
		{"Alice likes tea with milk.", "Alice likes tea with lemon.", false},
		{"The staging server sends emails to customers.", "The staging server never sends emails to customers.", false},
		{"The database backup of the shop runs at 3.", "The database backup of the shop runs on weekends.", false},
		{"Alice manages Bob.", "Bob manages Alice.", false},
		{"The gate opens on weekdays.", "The gate opens only on weekdays.", false},
		{"Does the gate open at 7?", "The gate opens at 7.", false},
		{"Run ```make all``` first.", "Run ```make none``` first.", false},
		{"The gate opens at 7.", "", false},
	} {
		if got := encode.SaysSame(c.stored, c.text); got != c.want {
			t.Errorf("SaysSame(%q, %q) = %v", c.stored, c.text, got)
		}
	}
}
