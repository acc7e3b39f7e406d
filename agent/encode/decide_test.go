package encode_test

import (
	"testing"

	"stet/agent/encode"
)

// pair is a stored text and a new one.
type pair struct{ old, now string }

// verdict is what the rules say of a pair, "" for nothing.
func verdict(p pair) (encode.Kind, encode.Verdict) {
	plan := encode.Decide(encode.Memory{ID: "new", Text: p.now, Authority: encode.Statement}, []encode.Memory{{ID: "old", Text: p.old, Authority: encode.Statement}}, encode.Corpus{})
	switch {
	case plan.Duplicate != nil:
		return encode.Duplicate, *plan.Duplicate
	case len(plan.Verdicts) > 0:
		return plan.Verdicts[0].Kind, plan.Verdicts[0]
	}
	return "", encode.Verdict{}
}

func check(t *testing.T, want encode.Kind, pairs []pair) {
	t.Helper()
	for _, p := range pairs {
		got, v := verdict(p)
		if got != want {
			t.Errorf("%q, then %q: got %q by %s %.2f, want %q", p.old, p.now, got, v.Rule, v.Confidence, want)
			continue
		}
		if sure := v.Confidence >= encode.Sure; (got == encode.Supersede || got == encode.Duplicate) && !sure || got == encode.Conflict && sure {
			t.Errorf("%q, then %q: %s with a confidence of %.2f", p.old, p.now, got, v.Confidence)
		}
	}
}

func TestWhatChangedSupersedes(t *testing.T) {
	t.Parallel()
	check(t, encode.Supersede, []pair{
		{"We use PostgreSQL.", "We switched to MySQL."},
		{"We use PostgreSQL", "We switched to MySQL"},
		{"We use PostgreSQL 15 as our database.", "We migrated from PostgreSQL to MySQL in March."},
		{"Production uses PostgreSQL.", "Production runs on MySQL 8.4 since 9 January; PostgreSQL is gone."},
		{"Our database is PostgreSQL.", "Our database is MySQL."},
		{"The project uses npm.", "We moved from npm to pnpm."},
		{"We use Jenkins for CI.", "We replaced Jenkins with GitHub Actions."},
		{"I use vim.", "I switched to Helix."},
		{"I live in Bern.", "I moved to Lisbon."},
		{"I live in Bern.", "I moved from Bern to Lisbon last week."},
		{"Mara lives in Turin.", "Mara lives in Genoa."},
		{"Mara lives in Turin.", "Mara moved to Genoa."},
		{"Mara works at Nordlicht.", "Mara now works at Halyard Labs."},
		{"My phone number is 555 0134.", "My phone number is 555 0177."},
		{"The user's timezone is Europe/Zurich.", "My timezone is America/Toronto."},
		{"Jonas's email is jonas@reed.example.", "Jonas's email is jonas@heron.example."},
		{"The standup is on Tuesday.", "The standup moved to Thursday."},
		{"The standup is on Tuesdays at 9.", "We moved the standup from Tuesday to Thursday."},
		{"The deadline for the report is March 3.", "The deadline for the report is March 17."},
		{"The deadline is 3 March.", "The deadline was pushed to 17 March."},
		{"The staging port is 8080.", "The staging port is 8443."},
		{"The rent is 1450 euros.", "The rent is now 1520 euros."},
		{"My dentist is Dr. Albers.", "My dentist is Dr. Quint."},
		{"Our default branch is master.", "We renamed the default branch from master to main."},
		{"I am vegetarian.", "I am vegan now."},
		{"We deploy to Heroku.", "We deploy to Fly.io instead of Heroku."},
		{"We use Redis.", "We no longer use Redis."},
		{"Lena drives a Volvo.", "Lena no longer drives a Volvo."},
		{"The choir meets in the library.", "The choir moved from the library to the town hall."},
		{"The budget for the offsite is 4k.", "The budget for the offsite is 6,500."},
		{"Ruth's manager is Ivo.", "Ruth's manager is now Petra."},
		{"I use Slack for team chat.", "I replaced Slack with Zulip."},
		{"The gate code is 4711.", "The gate code is 4712."},
		{"We use pytest.", "Correction: we use unittest."},
		{"Our team chat is Slack.", "Our team chat is Mattermost."},
		{"The release date is 2026-03-01.", "The release date is 2026-04-15."},
		{"The bakery opens at 7.", "The bakery now opens at 8."},
	})
}

func TestWhatChangedSupersedesInOtherLanguages(t *testing.T) {
	t.Parallel()
	check(t, encode.Supersede, []pair{
		{"Wir benutzen PostgreSQL.", "Wir sind von PostgreSQL auf MySQL umgestiegen."},
		{"Wir benutzen Redis.", "Wir benutzen Redis nicht mehr."},
		{"Meine Telefonnummer ist 555 0134.", "Meine Telefonnummer ist jetzt 555 0177."},
		{"Ich wohne in Bern.", "Ich wohne jetzt in Basel."},
		{"Unsere Datenbank ist PostgreSQL.", "Unsere Datenbank ist MySQL."},
		{"Nous utilisons PostgreSQL.", "Nous sommes passés de PostgreSQL à MySQL."},
		{"Notre base de données est PostgreSQL.", "Notre base de données est MySQL."},
		{"Usamos PostgreSQL.", "Cambiamos de PostgreSQL a MySQL."},
		{"Vivo en Sevilla.", "Ahora vivo en Cádiz."},
		{"Usiamo PostgreSQL.", "Siamo passati da PostgreSQL a MySQL."},
		{"我们的数据库是 PostgreSQL。", "我们的数据库从 PostgreSQL 换成了 MySQL。"},
	})
}

func TestWhatCanBothBeTrueIsLeftAlone(t *testing.T) {
	t.Parallel()
	check(t, "", []pair{
		{"I love tea.", "I love coffee."},
		{"My son's name is Tom.", "My son's name is Ben."},
		{"My son is called Tom.", "My daughter is called Ann."},
		{"I lived in Bern from 2010 to 2015.", "I live in Zurich."},
		{"My address until March is Elm Road 3.", "My address is Oak Lane 9."},
		{"We use PostgreSQL for billing.", "We use MySQL for analytics."},
		{"We use PostgreSQL.", "We use Redis."},
		{"We use Go.", "We use Python."},
		{"Mara lives in Turin.", "Jonas lives in Genoa."},
		{"The staging port is 8080.", "The production port is 8443."},
		{"The deadline for the report is March 3.", "The deadline for the talk is March 17."},
		{"We use PostgreSQL.", "Should we switch to MySQL?"},
		{"We use PostgreSQL.", "We might switch to MySQL."},
		{"We use PostgreSQL.", "We plan to migrate to MySQL."},
		{"We use PostgreSQL.", "If we switched to MySQL, backups would be faster."},
		{"We use PostgreSQL.", "The other company switched to MySQL."},
		{"Ticket 12 is closed.", "Ticket 13 is closed."},
		{"On 3 March we met Bob.", "On 5 March we met Bob."},
		{"The car is red.", "The car is fast."},
		{"Ann speaks French.", "Ann speaks Dutch."},
		{"I am allergic to nuts.", "I am allergic to shellfish."},
		{"The office is in Bern.", "The office is by Lindqvist Architects."},
		{"Ann manages Bob.", "Bob manages Ann."},
		{"Our database is PostgreSQL.", "Our database is PostgreSQL 16."},
		{"We never deploy on Fridays.", "We never deploy on Fridays in December."},
		{"I love Bern.", "I moved from Bern to Lisbon."},
		{"Not only Mara uses the lab.", "Mara uses the lab."},
		{"The backup runs at night.", "The tests run in parallel."},
		{"I do not like olives.", "I like almonds."},
		{"Paul has a cat.", "Paul has a dog."},
		{"Eva plays the cello.", "Eva does not play the piano."},
		{"We want to use MySQL.", "We use PostgreSQL."},
		{"I'm trying to apply the conditional probability formula.", "I'm not sure how to apply the conditional probability formula."},
		{"The password policy requires 12 characters.", "The username policy requires 3 characters."},
		{"I worked at Nordlicht.", "I work at Halyard Labs."},
		{"Wir benutzen PostgreSQL.", "Vielleicht wechseln wir zu MySQL."},
		{"Ich mag Tee.", "Ich mag Kaffee."},
		{"J'aime le thé.", "J'aime le café."},
		{"Me gusta el té.", "Me gusta el café."},
	})
}

func TestWhatLooksContradictoryIsForAPerson(t *testing.T) {
	t.Parallel()
	check(t, encode.Conflict, []pair{
		{"The staging server sends emails to customers.", "The staging server never sends emails."},
		{"The staging server never sends emails.", "The staging server sends emails to customers."},
		{"We use PostgreSQL.", "We use MySQL."},
		{"Dark mode is enabled.", "Dark mode is disabled."},
		{"Ann loves cilantro.", "Ann hates cilantro."},
		{"Registration is open.", "Registration is closed."},
		{"Alice smokes.", "Alice does not smoke."},
		{"Guests are allowed in the lab.", "Guests are not allowed in the lab."},
		{"The office has 12 desks.", "The office has 14 desks."},
		{"The archive is in Bern.", "The archive is in Basel."},
		{"I have never used Flask-Login in this project.", "I have used Flask-Login in this project."},
		{"Production uses PostgreSQL.", "We switched from PostgreSQL to MySQL."},
		{"Wir deployen freitags nie auf den Server.", "Wir deployen freitags auf den Server."},
		{"The invoices are sent manually.", "The invoices are sent automatically."},
	})
}

func TestWhatIsSaidAlreadyIsADuplicate(t *testing.T) {
	t.Parallel()
	check(t, encode.Duplicate, []pair{
		{"We use PostgreSQL.", "We use PostgreSQL."},
		{"We use PostgreSQL.", "we  use postgresql"},
		{"- The gate code is 4711.", "The gate code is 4711!"},
		{"The budget is 4k.", "The budget is 4,000."},
		{"On Mondays the office is closed.", "The office is closed on Mondays."},
		{"The cat sleeps in the kitchen.", "The cat is sleeping in the kitchen."},
		{"The deadline is March 3.", "The deadline is 3 March."},
		{"Ann lives in Bern. She works at Nordlicht.", "Ann lives in Bern."},
		{"Die Tür ist offen.", "die Tür ist offen"},
		{"我们使用 PostgreSQL。", "我们使用 PostgreSQL"},
	})
}

func TestAlmostTheSameIsNoDuplicate(t *testing.T) {
	t.Parallel()
	for _, p := range []pair{
		{"The gate code is 4711.", "The gate code is 4712."},
		{"It is 5 degrees outside.", "It is -5 degrees outside."},
		{"The tests pass on Linux.", "The tests do not pass on Linux."},
		{"Send it before lunch.", "Send it after lunch."},
		{"Ann manages Bob.", "Bob manages Ann."},
		{"We fly from Bern to Rome.", "We fly from Rome to Bern."},
		{"Is the gate open?", "The gate is open."},
		{"His car is red.", "Her car is red."},
		{"The job may run twice.", "The job must run twice."},
		{"Mail alice@acme.example.", "Mail alice.smith@acme.example."},
		{"TKT-100 is open.", "TKT-1000 is open."},
		{"A man plays guitar.", "A woman plays guitar."},
		{"The job was slow.", "The job is slow."},
		{"Run it:\n```\nmake a\n```\n", "Run it:\n```\nmake b\n```\n"},
	} {
		if got, v := verdict(p); got == encode.Duplicate {
			t.Errorf("%q, then %q: a duplicate by %s", p.old, p.now, v.Rule)
		}
	}
}

func TestOnlyTheClauseThatChangedGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, now, rest string }{
		{"Ann lives in Bern and works at Nordlicht.", "Ann lives in Basel.", "Ann works at Nordlicht."},
		{"Ann lives in Bern and works at Nordlicht.", "Ann works at Halyard Labs.", "Ann lives in Bern."},
		{"We use PostgreSQL. The office is in Bern.", "We switched to MySQL.", "The office is in Bern."},
		{"We use PostgreSQL. It is fast. The office is in Bern.", "We switched to MySQL.", "The office is in Bern."},
		{"We use PostgreSQL and we deploy to Hetzner.", "We switched to MySQL.", "We deploy to Hetzner."},
		{"- We use PostgreSQL.\n- The office is in Bern.\n", "We switched to MySQL.", "- The office is in Bern."},
		{"We use PostgreSQL.", "We switched to MySQL.", ""},
		{"My email is a@b.example; my phone number is 555 0134.", "My phone number is 555 0177.", "My email is a@b.example."},
	} {
		got, v := verdict(pair{c.old, c.now})
		if got != encode.Supersede || v.Rest != c.rest {
			t.Errorf("%q, then %q: got %q and %q is left, want %q", c.old, c.now, got, v.Rest, c.rest)
		}
	}
}

func TestLowerAuthorityNeverSupersedes(t *testing.T) {
	t.Parallel()
	old := encode.Memory{ID: "old", Text: "We use PostgreSQL.", Authority: encode.Statement}
	plan := encode.Decide(encode.Memory{Text: "We switched to MySQL.", Authority: encode.Inference}, []encode.Memory{old}, encode.Corpus{})
	if len(plan.Verdicts) != 1 || plan.Verdicts[0].Kind != encode.Conflict || plan.Verdicts[0].Confidence >= encode.Sure {
		t.Errorf("got %+v, want one conflict", plan.Verdicts)
	}
}
