package encode_test

import (
	"strings"
	"testing"

	"stet/agent/encode"
)

// pair is a stored text and a new one.
type pair struct{ old, now string }

func said(text string) encode.Memory {
	return encode.Memory{ID: "new", Text: text, Authority: encode.Statement}
}

func stored(texts ...string) []encode.Memory {
	var out []encode.Memory
	for i, text := range texts {
		out = append(out, encode.Memory{ID: string(rune('a' + i)), Text: text, Authority: encode.Statement})
	}
	return out
}

// verdict is what the rules say of a pair, "" for nothing.
func verdict(p pair) (encode.Kind, encode.Verdict) {
	plan := encode.Decide(said(p.now), stored(p.old), encode.Corpus{})
	switch {
	case plan.Duplicate != nil:
		return encode.Duplicate, *plan.Duplicate
	case len(plan.Verdicts) > 0:
		return plan.Verdicts[0].Kind, plan.Verdicts[0]
	}
	return "", encode.Verdict{}
}

// Each rule of proof, by what it proves.
func TestProof(t *testing.T) {
	t.Parallel()
	for rule, pairs := range map[string][]pair{
		"explicit-change@2": {
			{"I live in Berlin.", "I moved from Berlin to Munich."},
			{"I live in Prague", "Last month I moved from Prague to Berlin."},
			{"We use npm.", "We switched from npm to pnpm in March."},
			{"We use PostgreSQL.", "We migrated from PostgreSQL to MySQL."},
			{"We use Redis.", "We replaced Redis with RabbitMQ."},
			{"The user uses vim.", "I use Zed instead of vim."},
			{"Mara lives in Bern.", "Mara has moved from Bern to Basel."},
			{"Ich wohne in Celle.", "Ich bin von Celle nach Hamburg umgezogen."},
		},
		"change-of-kind@2": {
			{"We use PostgreSQL.", "We switched to MySQL."},
			{"We use PostgreSQL 15.", "We switched to MySQL 8."},
			{"I live in Berlin.", "I moved to Munich."},
			{"I moved to Berlin.", "I moved to Munich."},
			{"We use Slack.", "We have switched to Mattermost because of the price."},
		},
		"restated-value@2": {
			{"My phone number is 5550134.", "My phone number is 5550177."},
			{"My birthday is 4 May.", "My birthday is 5 May."},
			{"The port of auth-api is 8080.", "The port of auth-api is 9090."},
			{"auth-api's port is 8080.", "auth-api's port is 9090 now."},
			{"I live in Bern.", "I live in Basel now."},
		},
		"explicit-end@2": {
			{"I work at Globex.", "I left Globex."},
			{"I work at Globex.", "I no longer work at Globex."},
			{"I smoke.", "I quit smoking."},
			{"Mara drinks coffee.", "Mara no longer drinks coffee."},
		},
	} {
		for _, p := range pairs {
			if kind, v := verdict(p); kind != encode.Supersede || v.Rule != rule || v.Confidence < encode.Sure || len(v.Gone) != 1 {
				t.Errorf("%q, then %q: %s by %s %.2f, want %s", p.old, p.now, kind, v.Rule, v.Confidence, rule)
			}
		}
	}
}

// Nothing that is still true is removed, whatever resembles it. Whether it is flagged is
// another matter.
func TestNothingTrueIsRemoved(t *testing.T) {
	t.Parallel()
	for _, p := range []pair{
		// A value may be spelled with another sign.
		{"My host is db-01.", "My host is db_01."},
		{"My phone number is 555-0134.", "My phone number is 555.0134."},
		// Pronouns and bare definites are about what was named before them.
		{"Alice is the PM. Her phone number is 123456.", "Bob is the designer. His phone number is 654321."},
		{"alpha is a Go service. The port is 8080. The database is PostgreSQL.", "beta is a Go service. The port is 9090. The database is MySQL."},
		{"Rex is a dog. His age is 7.", "Minka is a cat. Her age is 3."},
		{"Acme is a customer. Their budget is 3000 euros.", "Globex is a customer. Their budget is 9000 euros."},
		{"Dr. Weber is my dentist. The phone number is 030 111.", "Dr. Klein is my GP. The phone number is 030 222."},
		// A word has a meaning in its language.
		{"I live in Prague.", "My son moved from Prague to Berlin."},
		{"My birthday is 4 May.", "My son's birthday is 9 July."},
		{"The IT budget is 3000 euros.", "The budget is 9000 euros."},
		{"Mia's email is mia@example.org.", "My email is me@example.org."},
		// Attributes that resemble each other.
		{"My rent is 900.", "My salary is 3000."}, {"My gate code is 4711.", "My door code is 9920."},
		{"Our CEO is Ada.", "Our CTO is Bo."}, {"My dentist is Dr. Weber.", "My GP is Dr. Klein."},
		{"My hostname is web1.", "My IP address is 10.0.0.1."}, {"Our TTL is 30.", "Our timeout is 60."},
		{"Our start date is 3 May.", "Our due date is 9 June."}, {"My insurance is Allianz.", "My health insurance is AOK."},
		{"My desk is 12.", "My room is 4."}, {"My home phone is 111.", "My mobile phone is 222."},
		{"My native language is German.", "My language is English."}, {"My role is CTO.", "My title is Dr."},
		{"My browser is Firefox.", "My default browser is Chrome."},
		// Kin, plurals, lists.
		{"My son is called Max.", "My son is called Leo too."}, {"My brother is called Max.", "My brother is called Leo."},
		{"My dog is called Rex.", "My dog is called Bello."}, {"My sister lives in Bern.", "My sister moved to Basel."},
		{"We use npm.", "We use pip."}, {"We use pytest.", "We use jest."},
		// Abbreviations do not end a clause.
		{"My address is Lindenstr. 4.", "My postal address is PO Box 12."},
		// Times, places, conditions.
		{"On Monday I ran 5 km.", "On Tuesday I ran 8 km."}, {"The limit for free users is 5.", "The limit for paid users is 50."},
		{"I drink coffee in the morning.", "I drink tea in the evening."}, {"The heating is off in May.", "The heating is on in October."},
		{"Deploy from CI.", "Never deploy from CI on Fridays."}, {"I don't like olives.", "I like olives on pizza."},
		{"We deploy from main, but not on Fridays.", "We switched from main to trunk for the docs."},
		{"We use PostgreSQL for billing.", "We switched to MySQL."}, {"We use PostgreSQL.", "We switched to MySQL for the reports."},
		{"My email address is kat@example.org.", "For newsletters my email address is x@example.net."},
		// Plans, questions, conditions, quotations, opinions, events.
		{"We use PostgreSQL.", "We might switch to MySQL."}, {"We use PostgreSQL.", "Should we have switched to MySQL?"},
		{"I live in Berlin.", "If I moved to Munich, rent would double."}, {"I live in Berlin.", "Ada says: I moved to Munich."},
		{"We use npm.", "The blog post says \"we switched from npm to pnpm\"."}, {"I lived in Berlin.", "I moved to Munich."},
		{"We used Redis in 2019.", "We switched from Redis to NATS."},
	} {
		if kind, v := verdict(p); kind == encode.Supersede || kind == encode.Duplicate {
			t.Errorf("%q, then %q: %s by %s, left %q", p.old, p.now, kind, v.Rule, v.Rest)
		}
	}
}

// What is proven untrue goes, what stands beside it stays byte for byte.
func TestRest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, now, rest, gone string }{
		{"I live in Berlin. Milo is my cat.", "I moved to Munich.", "Milo is my cat.", "I live in Berlin"},
		{"We use npm. CI runs on Jenkins.\n\nAsk  Bo first.\n", "We switched from npm to pnpm.", "CI runs on Jenkins.\n\nAsk  Bo first.", "We use npm"},
		{"- We use npm.\n- We use Jenkins.\n", "We switched from npm to pnpm.", "- We use Jenkins.", "We use npm"},
		{"I live in Berlin, and my brother lives in Bonn.", "I moved from Berlin to Munich.", "My brother lives in Bonn.", "I live in Berlin"},
	} {
		kind, v := verdict(pair{tt.old, tt.now})
		if kind != encode.Supersede || v.Rest != tt.rest || len(v.Gone) != 1 || v.Gone[0] != tt.gone {
			t.Errorf("%q, then %q: %s, left %q, gone %q", tt.old, tt.now, kind, v.Rest, v.Gone)
		}
	}
}

// What is proven but may not be acted on is a conflict for a person.
func TestConflict(t *testing.T) {
	t.Parallel()
	old := stored("We use PostgreSQL.")
	for name, plan := range map[string]encode.Plan{
		"less authority":       encode.Decide(encode.Memory{Text: "We switched to MySQL.", Authority: encode.Inference}, old, encode.Corpus{}),
		"the rest hangs on it": encode.Decide(said("We switched to MySQL."), stored("We use PostgreSQL. It is fast."), encode.Corpus{}),
		"said and denied":      encode.Decide(said("Mara doesn't drink coffee."), stored("Mara drinks coffee."), encode.Corpus{}),
	} {
		if len(plan.Verdicts) != 1 || plan.Verdicts[0].Kind != encode.Conflict || plan.Verdicts[0].Confidence >= encode.Sure {
			t.Errorf("%s: %+v", name, plan)
		}
	}
	two := encode.Decide(said("We switched to MySQL."), stored("We use PostgreSQL.", "We use SQLite."), encode.Corpus{})
	for _, v := range two.Verdicts {
		if v.Kind == encode.Supersede {
			t.Errorf("one of two things of a kind was taken for the one that was replaced: %+v", v)
		}
	}
}

// What is filed elsewhere, wider, narrower or nowhere, is never removed.
func TestScope(t *testing.T) {
	t.Parallel()
	for _, p := range []pair{{"We use PostgreSQL.", "We switched to MySQL."}, {"auth-api's port is 8080.", "auth-api's port is 9090."}} {
		for _, scopes := range []struct {
			old, now string
			gone     bool
		}{
			{"/projects", "/projects", true}, {"", "/", true}, {"/projects", "/projects/beta", false}, {"/projects/beta", "/projects", false},
			{"", "/projects", false}, {"/projects", "", false}, {"/projects/alpha", "/projects/beta", false},
		} {
			old, now := stored(p.old), said(p.now)
			old[0].Scope, now.Scope = scopes.old, scopes.now
			plan := encode.Decide(now, old, encode.Corpus{})
			gone := len(plan.Verdicts) > 0 && plan.Verdicts[0].Kind == encode.Supersede
			if gone != scopes.gone || plan.Duplicate != nil {
				t.Errorf("%q in %q, then %q in %q: %+v", p.old, scopes.old, p.now, scopes.now, plan)
			}
		}
	}
}

// Whose "I" it is decides who moved: a person and "the user" are one, an agent is
// another.
func TestAuthor(t *testing.T) {
	t.Parallel()
	person, agent := said("I moved to Munich."), said("I moved to Munich.")
	agent.Author = "claude"
	old := stored("The user lives in Berlin.")
	if v := encode.Decide(person, old, encode.Corpus{}).Verdicts; len(v) != 1 || v[0].Kind != encode.Supersede {
		t.Errorf("the person moved: %+v", v)
	}
	for _, v := range encode.Decide(agent, old, encode.Corpus{}).Verdicts {
		if v.Kind == encode.Supersede {
			t.Errorf("an agent that moved moved the person: %+v", v)
		}
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	for _, p := range []pair{
		{"The gate code is 4711.", "the gate code is 4711"},
		{"The backup of the shop runs at 3 on Sundays.", "On Sundays the backup of the shop runs at 3."},
		{"Die Testdaten liegen auf dem NAS.", "Auf dem NAS liegen die Testdaten."},
		{"The gate code is 4711. Bo has the key.", "The gate code is 4711."},
		{"I like tea.", "The user likes tea."},
		{"Nell swims on Wednesdays at four.", "On Wednesdays at four Nell swims."},
		{"The stopcock is under the sink behind the bleach.", "the stopcock is behind the bleach, under the sink"},
		{"Ann is my boss.", "My boss is Ann."},
		{"The spare key to the shed hangs under the barrel.", "Under the barrel hangs the shed's spare key."},
		{"The user takes window seats and never checks luggage.", "I never check luggage and take window seats."},
		{"Branches are cut on Thursday, named rel/A. Ingvild tags them.", "On Thursday branches are cut; they are named rel/A and Ingvild tags them."},
		{"Only Bo may approve changes, tickets go to queue NET.", "Tickets go to queue NET and only Bo may approve changes."},
		{"The client only receives booleans.", "The client receives only booleans."},
		{"Chaque dimanche à 4 h, le serveur redémarre.", "Le serveur redémarre chaque dimanche à 4 h."},
		{"Das Testsystem wird jeden Sonntag um 23 Uhr neu aufgesetzt.", "Jeden Sonntag um 23 Uhr wird das Testsystem neu aufgesetzt."},
	} {
		if kind, v := verdict(p); kind != encode.Duplicate || v.Confidence < encode.Sure {
			t.Errorf("%q, then %q: %s by %s", p.old, p.now, kind, v.Rule)
		}
	}
	for _, p := range []pair{
		{"Ann manages Bob.", "Bob manages Ann."}, {"The cat chased the dog.", "The dog chased the cat."},
		{"The gate opens only on weekdays.", "The gate opens on weekdays."}, {"The app crashes when it is offline.", "The app crashes."},
		{"The front gate code is 4711 and the back gate code is 9920.", "The front gate code is 9920 and the back gate code is 4711."},
		{"Does the gate open at 7?", "The gate opens at 7."}, {"Mara lived in Bern.", "Mara lives in Bern."},
		{"Mara will move to Bern.", "Mara moved to Bern."}, {"My brother likes tea.", "Your brother likes tea."},
		{"Bo has a doctor.", "Bo is a doctor."}, {"Ann calls Bo.", "Bo calls Ann."},
		{"The cup is on the table, the pen on the shelf.", "The cup is on the shelf, the pen on the table."},
		{"The front door is red and the back door is green.", "The front door is green. The back door is red."},
		{"I took it because I was ill.", "I was ill because I took it."},
		{"Mara smokes and Bo never drinks.", "Mara never smokes and Bo drinks."},
		{"Ann is ill. She takes pills.", "She takes pills."}, {"The gate which is red opens at 7.", "The gate opens at 7."},
		{"Tea for Ann, milk for Bo.", "Milk for Ann, tea for Bo."}, {"Ann: tea. Bo: milk.", "Ann: milk. Bo: tea."},
		{"The request limit is 10 MB and the response limit is 50 MB.", "The limit of requests is 50 MB and the limit of responses 10 MB."},
		{"The train goes from Rome to Oslo.", "The train goes from Oslo to Rome."}, {"The friend of the enemy waits.", "The enemy of the friend waits."},
		{"Bo is paid by Ann.", "Bo pays Ann."}, {"The nurse called Ann.", "The nurse is called by Ann."},
		{"The server is monitored by the proxy.", "The server monitored the proxy."}, {"Steps: build, test, deploy.", "Steps: deploy, test, build."}, {"Cats are animals.", "Animals are cats."},
		{"Ann told Bo she left.", "Ann told Bo he left."}, {"The lamp was fixed.", "The lamp is fixed."}, {"Only Ann eats fish.", "Ann only eats fish."},
		{"In production the flag is on and the cache is off.", "The cache is off."}, {"# Staging\n\n- The port is 8080.", "The port is 8080."},
		{"Ann drinks coffee in the morning.", "Ann drinks coffee."}, {"Ann drinks coffee.", "Ann drinks coffee in the morning."},
		{"Rule A goes over rule B.", "Rule B goes over rule A."}, {"Montags traf Ann Bo.", "Montags traf Bo Ann."}, {"Ann is older than Bo.", "Bo is older than Ann."},
		{"Two boxes of tea and one of milk are here.", "One box of tea and two of milk are here."}, {"My dog bit your cat.", "Your dog bit my cat."},
		{"Bo likes some of the songs.", "Bo likes all of the songs."}, {"The shop may open at 7.", "The shop opens at 7."}, {"Call Ann on Mondays.", "Ann calls on Mondays."},
		{"Ann works at Acme. That was in 2019.", "Ann works at Acme."}, {"Run ```make all``` first.", "Run ```make none``` first."},
		{"We pin Python 3.1 in CI.", "We pin Python 3.10 in CI."},
		{"The code is 0042.", "The code is 42."},
		{"It costs 1.000 euros.", "It costs 1 euros."},
		{"The account is 12345678901234567890.", "The account is 12345678901234567891."},
		{"The walk takes 5m.", "The walk takes 5000000."},
		{"The rule passes if a == b.", "The rule passes if a != b."},
		{"The rule passes if a > b.", "The rule passes if a < b."},
		{"The limit is > 5k.", "The limit is < 5k."},
		{"Redirect with > log.", "Redirect with >> log."},
		{"Build with make && make test.", "Build with make || make test."},
		{"✅ the deploy", "❌ the deploy"},
		{"Lunch place Roma 👍", "Lunch place Roma 👎"},
		{"His rating is ★★★.", "His rating is ★★★★."},
		{"Run make -j in there.", "Run make -J in there."},
		{"Run it with -v.", "Run it with --v."},
		{"It is in /srv/Data now.", "It is in /srv/data now."},
		{"Say `PATH` there.", "Say `path` there."},
		{"The key is hunter2A.", "The key is hunter2a."},
		{"The gate code is #4711.", "The gate code is *4711."},
	} {
		if kind, v := verdict(p); kind == encode.Duplicate {
			t.Errorf("%q, then %q: the same by %s", p.old, p.now, v.Rule)
		}
	}
	a, b := said("The port is 6379."), stored("The port is 6379.")
	a.Title, b[0].Title = "Port of the Redis server", "Port of the MySQL server"
	if encode.Decide(a, b, encode.Corpus{}).Duplicate != nil {
		t.Error("two titles speak of two servers")
	}
}

// What becomes of changes that people tell in passing: those that nothing proves are
// flagged, and those that need knowledge of the world are not seen.
func TestChanges(t *testing.T) {
	t.Parallel()
	const notSeen = encode.Kind("")
	for _, c := range []struct {
		pair
		want encode.Kind
	}{
		{pair{"The logging library is zap.", "We replaced zap with slog."}, encode.Flag},
		{pair{"The queue runs on Redis.", "The queue runs on RabbitMQ instead of Redis."}, encode.Flag},
		{pair{"Standup is at 9:30.", "Standup moved to 10:00."}, encode.Flag},
		{pair{"Alice owns the billing service.", "Carol owns the billing service now."}, encode.Flag},
		{pair{"I work at Globex.", "I left Globex."}, encode.Supersede},
		{pair{"I smoke.", "I quit smoking."}, encode.Supersede},
		{pair{"My car is a VW Golf.", "I sold the VW Golf."}, encode.Flag},
		{pair{"Backups run nightly.", "Backups now run hourly."}, encode.Flag},
		{pair{"Bug 4711 is open.", "Bug 4711 was fixed."}, encode.Flag},
		{pair{"Der Dienst läuft auf Port 8080.", "Der Dienst läuft jetzt auf Port 9090."}, encode.Flag},
		{pair{"Ich bin Vegetarier.", "Ich bin kein Vegetarier mehr."}, encode.Flag},
		{pair{"J'habite à Lyon.", "J'ai déménagé à Paris."}, encode.Supersede},
		{pair{"Я живу в Москве.", "Я переехал в Казань."}, notSeen},
		{pair{"我住在北京。", "我搬到上海了。"}, notSeen},
		{pair{"Bydlím v Praze.", "Přestěhoval jsem se do Brna."}, notSeen},
		{pair{"The license is MIT.", "The license is Apache-2.0."}, notSeen},
		{pair{"The license is MIT.", "The license is Apache-2.0 now."}, encode.Flag},
		{pair{"The timezone is EST.", "The timezone is CET."}, encode.Flag},
		{pair{"The launch is in May.", "The launch is in June."}, notSeen},
		{pair{"The lift is red.", "The lift is green instead of red."}, encode.Flag},
		{pair{"The lift is red.", "The door is green instead of red."}, notSeen},
		{pair{"Ticket 12 is open.", "Ticket 13 was closed."}, notSeen},
		{pair{"The lift is red.", "The lift is no longer red."}, encode.Flag},
		{pair{"vpn is required", "vpn is no longer required"}, encode.Flag},
		{pair{"Deploys run on Tuesday.", "Deploys run on Thursday."}, encode.Flag},
		{pair{"Deploys run on Tuesday.", "Deploys also run on Thursday."}, notSeen},
		{pair{"The staging database listens on port 5433.", "The staging database listens on port 5434."}, encode.Flag},
		{pair{"We indent with tabs.", "We indent with spaces."}, encode.Flag},
		{pair{"Deploys run on Tuesday.", "Backups run on Thursday."}, notSeen},
		{pair{"Ann met Bob on Tuesday.", "Ann met Eve on Thursday."}, notSeen},
		{pair{"We saw ticket 12.", "We saw ticket 13."}, notSeen},
	} {
		kind, v := verdict(c.pair)
		if kind != c.want {
			t.Errorf("%q, then %q: %q, want %q", c.old, c.now, kind, c.want)
		}
		if kind == encode.Flag && (v.Confidence <= 0 || v.Confidence >= 1 || len(v.Why) == 0 || v.Said == "" || v.Was == "") {
			t.Errorf("%q, then %q: %+v", c.old, c.now, v)
		}
	}
}

// What resembles a contradiction and is none is no conflict.
func TestNoFalseConflict(t *testing.T) {
	t.Parallel()
	for _, p := range []pair{
		{"On Monday I ran 5 km.", "On Tuesday I ran 8 km."}, {"The limit for free users is 5.", "The limit for paid users is 50."},
		{"I drink coffee in the morning.", "I drink tea in the evening."}, {"The heating is off in May.", "The heating is on in October."},
		{"Deploy from CI.", "Never deploy from CI on Fridays."}, {"We use npm.", "We use pip."}, {"We use pytest.", "We use jest."},
		{"I don't like olives.", "I like olives on pizza."},
	} {
		if kind, v := verdict(p); kind != "" && kind != encode.Flag {
			t.Errorf("%q, then %q: %s by %s", p.old, p.now, kind, v.Rule)
		}
	}
}

func TestClauses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"My address is Lindenstr. 4.":                             {"My address is Lindenstr. 4"},
		"See e.g. Dr. Weber on 3. Mai at 10.0.0.1.":               {"See e.g. Dr. Weber on 3. Mai at 10.0.0.1"},
		"Version 1.2.3 is out. Bo has it.":                        {"Version 1.2.3 is out", "Bo has it"},
		"Ann lives in Bern and works at Acme.":                    {"Ann lives in Bern", "works at Acme"},
		"- one is here\n- two is there\n\n```\ncode is code\n```": {"one is here", "two is there"},
		"": nil,
	} {
		var got []string
		for _, s := range encode.Clauses(text) {
			got = append(got, text[s.From:s.To])
		}
		if len(got) != len(want) {
			t.Errorf("%q: %q", text, got)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

// A text of any size is answered at once: of a large one nothing goes, and only the same
// bytes are said already.
func TestLargeText(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("Mara lives in Bern. ", 1<<19)
	if encode.Decide(said(large), stored("Mara lives in Bern.", large), encode.Corpus{}).Duplicate == nil {
		t.Error("a large text is stored twice")
	}
	if plan := encode.Decide(said(large+"x"), stored("Mara lives in Bern.", large), encode.Corpus{}); plan.Duplicate != nil {
		t.Errorf("another large text is a duplicate of %s", plan.Duplicate.Old)
	}
	old := "I live in Berlin. " + strings.Repeat("The lift is slow. ", 300)
	for _, p := range []pair{{old, "I moved from Berlin to Bonn."}, {"I live in Berlin.", "I moved from Berlin to Bonn. " + old[18:]}} {
		if kind, v := verdict(p); kind != "" {
			t.Errorf("of a text of hundreds of clauses: %s by %s", kind, v.Rule)
		}
	}
}
