package daily_test

import (
	"strings"
	"testing"
	"time"

	"stet/agent/daily"
)

func TestFormatsAreThoseOfMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ day, format, want string }{
		{"2026-11-04T08:05:09Z", "YYYY-MM-DD", "2026-11-04"},
		{"2026-11-04T08:05:09Z", "YY MMMM MMM M D dddd ddd Q HH:mm:ss",
			"26 November Nov 11 4 Wednesday Wed 4 08:05:09"},
		{"2026-01-04T08:05:09Z", "YYYY/MM-MMMM/YYYY-MM-DD", "2026/01-January/2026-01-04"},
		{"2026-01-04T08:05:09Z", "[Day ]D[, MM]. MM月DD日", "Day 4, MM. 01月04日"},
		{"2026-01-04T08:05:09Z", "", ""},
		{"2026-01-04T08:05:09Z", "[]", ""},
		// Weeks from Monday belong to the year of their Thursday, those from Sunday to that of their Saturday.
		{"2026-12-27T08:05:09Z", "GGGG-[W]WW gggg ww", "2026-W52 2027 01"},
		{"2027-01-01T08:05:09Z", "GGGG-[W]WW gggg ww", "2026-W53 2027 01"},
		{"2027-01-03T08:05:09Z", "GGGG-[W]WW gggg ww", "2026-W53 2027 02"},
		{"2024-12-30T08:05:09Z", "GGGG-[W]WW gggg ww", "2025-W01 2025 01"},
		{"2026-02-01T08:05:09Z", "Do", "1st"}, {"2026-02-02T08:05:09Z", "Do", "2nd"},
		{"2026-02-03T08:05:09Z", "Do", "3rd"}, {"2026-02-11T08:05:09Z", "Do", "11th"},
		{"2026-02-12T08:05:09Z", "Do", "12th"}, {"2026-02-13T08:05:09Z", "Do", "13th"},
		{"2026-02-21T08:05:09Z", "Do", "21st"}, {"2026-02-24T08:05:09Z", "Do", "24th"},
	} {
		day, err := time.Parse(time.RFC3339, c.day)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := daily.Format(c.format, day); err != nil || got != c.want {
			t.Errorf("%q on %s: %q, %v, want %q", c.format, c.day, got, err, c.want)
		}
	}
}

func TestWhatAFormatCannotSayIsNamed(t *testing.T) {
	t.Parallel()
	for format, names := range map[string]string{
		"YYYYY": `"YYYYY"`, "YYYY-mmm": `"mmm"`, "DDD": `"DDD"`, "DDDo": `"DDDo"`, "YYYY-MM-DDTHH": `"T"`, "x": `"x"`,
		"day": `"d"`, "YYYY-[W": "a [ without a ]",
	} {
		if got, err := daily.Format(format, time.Now()); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%q: %q, %v", format, got, err)
		}
	}
}

func TestSettingsAndTemplates(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 4, 8, 5, 9, 0, time.UTC)
	for text, want := range map[string]string{
		`{}`: "2026-01-04.md", `{"folder":null,"format":" ","autorun":true}`: "2026-01-04.md",
		`{"folder":"/"}`: "2026-01-04.md", `{"folder":"a/b/","format":"YYYY/DD"}`: "a/b/2026/04.md",
		`{"folder":"../x"}`: "../x/2026-01-04.md", // who opens it refuses that
		`{"folder":"/x"}`:   "x/2026-01-04.md", `{"folder":"/Journal/"}`: "Journal/2026-01-04.md",
	} {
		s, err := daily.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Path(day); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "[]", `{"folder":1}`, `{"folder":"` + strings.Repeat("x", 70_000) + `"}`} {
		if _, err := daily.Read([]byte(text)); err == nil {
			t.Errorf("%.20s is read", text)
		}
	}
	const form = "{{date}} {{ Date:dddd [at] }}{{time}} {{time:HH}} {{TITLE}} " +
		"{{title:x}} {{date:}} {{dates}} {{x}} {date}\r\n"
	const want = "2026-01-04 Sunday at08:05 08 T {{title:x}} {{date:}} {{dates}} {{x}} {date}\r\n"
	if got, err := daily.Fill([]byte(form), "T", day); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := daily.Fill([]byte("{{date}} {{date:R}} {{date:YY}}"), "T", day); err == nil ||
		!strings.Contains(err.Error(), `"R"`) {
		t.Error(err)
	}
}
