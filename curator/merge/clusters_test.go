package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"stet/curator/fork"
	"stet/curator/merge"
	"stet/vault"
)

func made(name, about, body string) fork.Skill {
	text := "---\nname: " + name + "\ndescription: " + about + "\n---\n\n" + body + "\n"
	return fork.Skill{Name: name, Folder: vault.Path("skills/" + name),
		Files: map[string]fork.File{"SKILL.md": {Data: []byte(text)}}}
}

func TestWhatMayBeOne(t *testing.T) {
	t.Parallel()
	const kiln = "Glaze the pot, load the kiln, fire it slowly to cone six and let the kiln cool before opening."
	const tax = "Collect invoices, sort receipts by month and fill the quarterly declaration for the office."
	all := []fork.Skill{made("apple-mail", "Send mail.", "Open the outbox."), made("apple-notes", "Write.", "Type."),
		made("apples", "Bake.", "Peel fruit."), made("ceramics", "Fire pots in a kiln.", kiln),
		made("glazing", "Fire glazed pots in a kiln.", kiln+" Wear a mask."),
		made("rates", "Pay.", "See [north](../north/SKILL.md) only."),
		made("north", "Compass.", "Back to [south](../south/SKILL.md)."),
		made("south", "Pole.", "On to [north](../north/SKILL.md)."), made("taxes", "Declare income.", tax),
		made("zoo-keeping", "Feed lions.", "Meat at noon.")}
	const want = "[apple-mail apple-notes] their names begin with apple\n[ceramics glazing] they say alike\n" +
		"[north south] they link to the same places\n"
	var got strings.Builder
	for _, c := range merge.Clusters(all) {
		fmt.Fprintln(&got, c.Names, c.Why)
	}
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
	if got := merge.Clusters(nil); len(got) > 0 {
		t.Errorf("of nothing: %v", got)
	}
	var many []fork.Skill
	for i := range 50 {
		many = append(many, made(fmt.Sprintf("git-%02d", i), "A.", "B."))
	}
	n := map[string]bool{}
	for _, c := range merge.Clusters(many) {
		for _, name := range c.Names {
			if n[name] || len(c.Names) > 8 {
				t.Errorf("%v", c)
			}
			n[name] = true
		}
	}
	if len(n) < 48 {
		t.Errorf("%d of 50 are in a cluster", len(n))
	}
}
