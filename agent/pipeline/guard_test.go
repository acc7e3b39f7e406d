package pipeline_test

import (
	"testing"

	"stet/agent/pipeline"
)

func ruling(n pipeline.Note, s pipeline.Stored, a pipeline.Action) pipeline.Ruling {
	n.Near = []pipeline.Stored{s}
	return pipeline.Weigh(n, []pipeline.Action{a})[0]
}

// A removal takes the clauses that the model quoted and nothing else, and leaves nothing
// that says something else.
func TestWhatASupersedeMayTake(t *testing.T) {
	t.Parallel()
	const whole = "" // nothing remains
	for _, c := range []struct{ stored, note, quote, rest, refused string }{
		{stored: "Ann lives in Bern and works at Nordlicht.", note: "Ann moved to Basel.", quote: "Ann lives in Bern", rest: "Ann works at Nordlicht."},
		{stored: "Ann lives in Bern. Ann works at Nordlicht.", note: "Ann moved to Basel.", quote: "ann lives  in bern.", rest: "Ann works at Nordlicht."},
		{stored: "Access tokens expire after 60 minutes.", note: "Access tokens now expire after 15 minutes.", quote: "Access tokens expire after 60 minutes.", rest: whole},
		{stored: "CI runs on Jenkins.", note: "We moved CI from Jenkins to GitHub Actions last week.", quote: "CI runs on Jenkins", rest: whole},
		{stored: "We sign JWTs with HS256.", note: "JWTs are signed with RS256; HS256 was retired after the audit.", quote: "We sign JWTs with HS256.", rest: whole},
		{stored: "Load balancers terminate TLS 1.2.", note: "Unsere Load Balancer terminieren jetzt TLS 1.3.", quote: "Load balancers terminate TLS 1.2", rest: whole},
		{stored: "The port is 8080.", note: "The port is 9090.", quote: "The port is 8080.", rest: whole},
		{stored: "We use PostgreSQL 15 for the main database.", note: "Production runs on MySQL 8.4 since January.", quote: "We use PostgreSQL 15 for the main database.", rest: whole},
		{stored: "We use PostgreSQL.", note: "We switched to MySQL.", quote: "", rest: whole},
		// Not to be cut, or not by these words.
		{stored: "We deploy from main, but not on Fridays.", note: "We now deploy from trunk.", quote: "We deploy from main", refused: "yes"},
		{stored: "We deploy from main, but not on Fridays.", note: "We now deploy on Fridays as well.", quote: "but not on Fridays", refused: "yes"},
		{stored: "We deploy from main, but not on Fridays.", note: "We now deploy on Fridays as well.", quote: "from main, but not", refused: "yes"},
		{stored: "Alice is the PM. Her phone number is 123456.", note: "Alice left in May.", quote: "Alice is the PM.", refused: "yes"},
		{stored: "Deploy only from CI. Ask Ann first.", note: "Ann left the team in May.", quote: "from CI. Ask", refused: "yes"},
		{stored: "The shop sells bread and closes at 18.", note: "The shop now closes at 17.", quote: "18", rest: "The shop sells bread."},
		{stored: "We use npm 9 and yarn 3 in the shop.", note: "The shop dropped yarn.", quote: "yarn 3", refused: "yes"},
		{stored: "The gate code is 4711.", note: "The gate code is now 9920.", quote: "The gate code is now 9920.", refused: "yes"},
		{stored: "The gate code is 4711. The lift is slow.", note: "The gate code is now 9920.", quote: "", refused: "yes"},
		{stored: "My wife's birthday is March 15.", note: "We moved CI to GitHub Actions last week.", quote: "My wife's birthday is March 15.", refused: "yes"},
		{stored: "Tom is vegetarian.", note: "Tom lives in Bern.", quote: "Tom is vegetarian.", refused: "yes"},
		{stored: "My hostname is web1.", note: "My IP address is 10.0.0.1.", quote: "My hostname is web1.", refused: "yes"},
		{stored: "Alice's desk is 12.", note: "Bob's desk is now 14.", quote: "Alice's desk is 12.", refused: "yes"},
		{stored: "I live in Prague.", note: "My son moved from Prague to Berlin.", quote: "I live in Prague.", refused: "yes"},
		{stored: "Production runs on PostgreSQL.", note: "Staging runs on MySQL now.", quote: "Production runs on PostgreSQL.", refused: "yes"},
		{stored: "The database of alpha listens on port 5432.", note: "The database of beta moved to port 5433.", quote: "The database of alpha listens on port 5432.", refused: "yes"},
		{stored: "Bug 4711 is open.", note: "Bug 4712 was fixed.", quote: "Bug 4711 is open.", refused: "yes"},
		{stored: "We do not support GraphQL.", note: "We plan to switch the API to GraphQL in Q3.", quote: "We do not support GraphQL.", refused: "yes"},
		{stored: "I use Neovim as my main editor.", note: "I tried Zed for a week but went back to Neovim.", quote: "I use Neovim as my main editor.", refused: "yes"},
		{stored: "The rate limit is 100 requests.", note: "The rate limit for partner keys is 1000 requests.", quote: "The rate limit is 100 requests.", refused: "yes"},
		{stored: "Maria leads the platform team.", note: "Maria is on leave until March; Jonas leads the platform team meanwhile.", quote: "Maria leads the platform team.", refused: "yes"},
	} {
		r := ruling(pipeline.Note{Text: c.note}, pipeline.Stored{Text: c.stored}, pipeline.Action{Kind: pipeline.Supersede, Quote: c.quote, Confidence: 1})
		switch {
		case c.refused != "":
			if r.Kind != pipeline.Conflict || r.Refused == "" || len(r.Gone) > 0 || r.Text != "" {
				t.Errorf("%q takes %q out of %q: %+v", c.note, c.quote, c.stored, r)
			}
		case r.Kind != pipeline.Supersede || r.Text != c.rest || len(r.Gone) == 0:
			t.Errorf("%q, %q out of %q: got %+v, want the rest %q", c.note, c.quote, c.stored, r, c.rest)
		}
		r = ruling(pipeline.Note{Text: c.note}, pipeline.Stored{Text: c.stored}, pipeline.Action{Kind: pipeline.Supersede, Quote: c.quote, Confidence: 0.8})
		if r.Kind != pipeline.Conflict || r.Refused == "" {
			t.Errorf("%q supersedes %q though it is not sure", c.note, c.stored)
		}
	}
}

// Titles say what a text is about.
func TestTitlesTellApart(t *testing.T) {
	t.Parallel()
	a := pipeline.Action{Kind: pipeline.Supersede, Quote: "The port is 3306.", Confidence: 1}
	mysql := pipeline.Stored{Text: "The port is 3306.", Title: "Port of the MySQL server"}
	if r := ruling(pipeline.Note{Text: "The port is 6379.", Title: "Port of the Redis server"}, mysql, a); r.Kind != pipeline.Conflict {
		t.Errorf("another server's port: %+v", r)
	}
	if r := ruling(pipeline.Note{Text: "The Redis port is now 6379."}, mysql, a); r.Kind != pipeline.Conflict {
		t.Errorf("another server's port: %+v", r)
	}
	if r := ruling(pipeline.Note{Text: "The port is 3307.", Title: "Port of the MySQL server"}, mysql, a); r.Kind != pipeline.Supersede {
		t.Errorf("the same server's port: %+v", r)
	}
	a = pipeline.Action{Kind: pipeline.Duplicate, Confidence: 1}
	if r := ruling(pipeline.Note{Text: "The port is 3306.", Title: "Port of the MariaDB server"}, mysql, a); r.Kind != pipeline.Keep {
		t.Errorf("another server's port: %+v", r)
	}
}

// A memory that says both says the two as they were written, whatever the model makes of them.
func TestWhatAnUpdateMaySay(t *testing.T) {
	t.Parallel()
	const refused = ""
	for _, c := range []struct{ stored, note, text, want string }{
		{"The server Atlas runs backups at 3.", "The server Atlas stores backups in Zurich.", "The server Atlas runs backups at 3 and stores backups in Zurich.",
			"The server Atlas runs backups at 3. The server Atlas stores backups in Zurich."},
		{"The front gate code is 4711.", "The back gate code is 9920.", "", "The front gate code is 4711. The back gate code is 9920."},
		{"The front gate code is 4711", "The back gate code is 9920.", "The front gate code is 9920 and the back gate code is 4711.",
			"The front gate code is 4711. The back gate code is 9920."},
		{"Start Postgres before Redis.", "Start Redis on host web1.", "Start Postgres after Redis. Start Redis on host web1.",
			"Start Postgres before Redis. Start Redis on host web1."},
		{"Backups go from Atlas to Hermes.", "Atlas has two disks.", "Backups go from Hermes to Atlas. Atlas has two disks.",
			"Backups go from Atlas to Hermes. Atlas has two disks."},
		{"Ann lent his car to Tom.", "Tom lives in Bern.", "Ann lent her car to Tom. Tom lives in Bern.", "Ann lent his car to Tom. Tom lives in Bern."},
		{"Ann lives in Bern.", "Ann lives in Bern and likes tea.", "Ann lives in Bern and likes tea.", "Ann lives in Bern and likes tea."},
		{"The staging server sends no mails.", "The production server sends mails.", "The staging server sends mails and the production server sends no mails.",
			"The staging server sends no mails. The production server sends mails."},
		{"Is the office in Bern open?", "The office in Bern has a lift.", "The office in Bern is open. The office in Bern has a lift.", refused},
		{"The office in Bern is open.", "Has the office in Bern a lift?", "The office in Bern is open. The office in Bern has a lift.", refused},
		{"We deploy on Fridays.", "We deploy on Fridays except in May.", "", refused},
		{"We deploy on Fridays.", "But not on Fridays in May.", "", refused},
		{"Bob has a dog and a sister, Ann.", "She has a dog in Bern.", "", refused},
		{"The gate code is 4711.", "The gate code is now 9920.", "", refused},
		{"The lift is slow.", "Ann lives in Bern.", "", refused},
		{"The front gate code is 4711.", "The back gate code is 9920.", "The front and side gate codes are 4711 and 9920.", refused},
		{"The server Atlas runs backups at 3.", "The server Atlas stores backups in Zurich.", "The server Atlas stores backups in Zurich.", refused},
		{"The server Atlas runs backups at 3.", "The server Atlas stores backups in Zurich.", "The server Atlas never runs backups at 3 and stores backups in Zurich.", refused},
		{"The server Atlas runs backups at 3.", "The server Atlas stores backups in Zurich.", "The server Atlas runs backups at 3, stores backups in Zurich and costs $40.", refused},
		{"The server Atlas runs\nbackups at 3.", "The server Atlas stores backups in Zurich.", "", refused},
	} {
		r := ruling(pipeline.Note{Text: c.note}, pipeline.Stored{Text: c.stored}, pipeline.Action{Kind: pipeline.Update, Text: c.text, Confidence: 1})
		if r.Text != c.want || (r.Kind == pipeline.Update) != (c.want != refused) || (r.Refused == "") != (c.want != refused) {
			t.Errorf("%q and %q as %q: %+v", c.stored, c.note, c.text, r)
		}
		if r = ruling(pipeline.Note{Text: c.note}, pipeline.Stored{Text: c.stored}, pipeline.Action{Kind: pipeline.Update, Text: c.text, Confidence: 0.1}); r.Kind != pipeline.Keep {
			t.Errorf("%q is written though the model is not sure: %+v", c.text, r)
		}
	}
	of := pipeline.Stored{Text: "The port is 3306.", Title: "Port of the MySQL server"}
	for _, n := range []pipeline.Note{{Text: "The host of the port is web1."}, {Text: "The port of the MySQL server is open.", Title: "Port of the Redis server"}} {
		if r := ruling(n, of, pipeline.Action{Kind: pipeline.Update, Confidence: 1}); r.Kind != pipeline.Keep {
			t.Errorf("%+v is put below another title: %+v", n, r)
		}
	}
	by := pipeline.Stored{Text: "I run the tests in Bern.", Author: "user"}
	if r := ruling(pipeline.Note{Text: "I run on a server in Bern.", Author: "agent"}, by, pipeline.Action{Kind: pipeline.Update, Confidence: 1}); r.Kind != pipeline.Keep {
		t.Errorf("an agent's \"I\" is put beside a person's: %+v", r)
	}
}

// A slip is mended in place where the note says no more than that.
func TestWhatACorrectionMayMend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stored, note, quote, text, want string }{
		{"Tom was born on 4 May in Bern.", "Correction: Tom was born on 5 May.", "4 May", "5 May", "Tom was born on 5 May in Bern."},
		{"The invoice number is 4811.", "I made a typo: the invoice number is 4711.", "4811", "4711", ""},
		{"The invoice number is 4811.", "Typo: the invoice number is 4711.", "4811", "4711", "The invoice number is 4711."},
		{"My wife Anna's birthday is March 15.", "Actually Anna was born on March 16, not 15.", "March 15", "March 16",
			"My wife Anna's birthday is March 16."},
		{"Bob's birthday is March 15.", "Actually Anna was born on March 16, not 15.", "March 15", "March 16", ""},
		{"Anna's exam is on March 15.", "Actually Anna was born on March 16, not 15.", "March 15", "March 16", ""},
		{"Tom was born on 4 May.", "Correction: Tom was born on 5 May.", "4 May", "6 May", ""},
		{"Tom was born on 4 May.", "Correction: Ann was born on 5 May.", "4 May", "5 May", ""},
		{"Tom was born on 4 May.", "Correction: Tom was born on 5 May and likes tea.", "4 May", "5 May", ""},
		{"Tom was not born on 4 May.", "Correction: Tom was born on 4 May.", "was not born", "was born", ""},
	} {
		r := ruling(pipeline.Note{Text: c.note}, pipeline.Stored{Text: c.stored}, pipeline.Action{Kind: pipeline.Correct, Quote: c.quote, Text: c.text, Confidence: 1})
		if got := map[bool]string{true: r.Text}[r.Kind == pipeline.Update]; got != c.want {
			t.Errorf("%q mends %q: %+v, want %q", c.note, c.stored, r, c.want)
		}
	}
}
