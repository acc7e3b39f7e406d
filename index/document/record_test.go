package document

import (
	"testing"
	"time"

	"stet/vault"
)

func TestARecordKnowsHowMuchAMemoryMattersAndWhenItHolds(t *testing.T) {
	t.Parallel()
	m := DecodeMeta(encodeMeta(vault.ReadMemory("memories/a.md", []byte(
		"---\nimportance: 0.725\nvalid_from: 2026-01-02\nvalid_until: 2026-01-09\nkind: Decision\n---\nx\n"))))
	if m.Importance == nil || *m.Importance != 0.725 || m.Kind != "decision" {
		t.Errorf("%+v", m)
	}
	days := map[string]bool{"2026-01-01": false, "2026-01-02": true, "2026-01-09": true, "2026-01-10": false}
	for day, holds := range days {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil || m.Valid(at) != holds || m.Valid(at.Add(time.Hour)) != holds {
			t.Errorf("%s: holds %v (%v)", day, !holds, err)
		}
	}
	epoch := DecodeMeta(encodeMeta(vault.Memory{ValidUntil: time.Unix(0, 0)}))
	if epoch.Importance != nil || epoch.Valid(time.Now()) || !DecodeMeta(encodeMeta(vault.Memory{})).Valid(time.Now()) {
		t.Errorf("%+v", epoch)
	}
}
