package cells_test

import (
	"testing"
	"time"

	"stet/cmd/stet/cells"
)

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 9, 12, 0, 0, 0, time.Local)
	for want, ago := range map[string]time.Duration{
		"now": 59 * time.Second, "1min": time.Minute, "59min": time.Hour - 1, "2h": 3*time.Hour - 1,
		"23h": 24*time.Hour - 1, "1d": 24 * time.Hour, "30d": 31*24*time.Hour - 1,
		"2026-02": 31 * 24 * time.Hour,
		"2025-03": 365 * 24 * time.Hour, "2026-04": -30 * 24 * time.Hour,
	} {
		if got := cells.Age(now.Add(-ago), now); got != want {
			t.Errorf("%s ago is %q, want %q", ago, got, want)
		}
	}
	if got := cells.Age(time.Time{}, now); got != "" {
		t.Errorf("no time is %q", got)
	}
}

func TestRowsFitInColumns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 9, 12, 0, 0, 0, time.Local)
	lines := cells.Lines([]cells.Row{
		{Name: "4m2x", At: now.Add(-2 * time.Hour), Tail: "/家庭",
			Text: "门禁代码是四七一一，每个季度由物业更换一次，更换之后请立即更新这一条记录。"},
		{Name: "9qk", At: now.AddDate(-1, 0, 0), Text: "one two", Tail: "/a/scope/that/is/longer/than/its/column"},
		{Text: "a note"},
	}, 80, now)
	got := ""
	for _, line := range lines {
		got += line[0] + line[1] + "\n"
	}
	const want = "4m2x  2h       门禁代码是四七一一，每个季度由物业更换…  /家庭\n" +
		"9qk   2025-03  one two                                  /a/scope/that/is/longer…\n" +
		"               a note\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
