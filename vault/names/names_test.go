package names_test

import (
	"slices"
	"testing"

	"stet/vault/names"
)

func TestShortFormsAreTheShortestEndsThatNoOtherHas(t *testing.T) {
	const time = "01jd7q8r5t9v3x6y2z"
	const a, b, c, d = time + "4a7c0001", time + "4a7d0001", time + "4a7c0002", time + "4a7cwifi"
	all := []string{d, "", a, "x", b, "wifi", c, "by hand", a}
	for name, want := range map[string]map[string]string{
		"sure":   {a: "c0001", b: "d0001", c: "0002", d: "cwifi", "by hand": "by hand", "x": "x"},
		"unsure": {a: "4a7c0001", b: "4a7d0001", c: "4a7c0002", d: "4a7cwifi", "by hand": "by hand", "x": "x"},
	} {
		got := names.Short([]string{a, b, c, d, "by hand", "x"}, slices.Values(all), name == "unsure")
		for id, short := range want {
			if got[id] != short {
				t.Errorf("%s: the short form of %s is %q, not %q", name, id, got[id], short)
			}
		}
	}
	if got := names.Short([]string{a}, slices.Values([]string{"1" + a}), false); got[a] != a {
		t.Errorf("an id that is the end of another has the short form %q", got[a])
	}
}
