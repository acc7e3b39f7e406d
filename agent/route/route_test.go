package route_test

import (
	"strings"
	"testing"
	"time"

	"stet/agent/route"
)

// kept are sentences that are written: kind, then text. They and skipped are our own, and none of those that the
// rule is measured on.
const kept = `
instruction: I hate when you start every reply with 'Got it'
instruction: Please never use emojis when you answer me
instruction: From now on, answer in British English
instruction: Don't apologise again
instruction: Stop asking me if I want more
instruction: Whenever I say "ship it", run the tests first
instruction: You should always ask me before you delete anything
instruction: it annoys me when you repeat my question
instruction: Ich hasse es, wenn du dich wiederholst
instruction: Bitte antworte ab jetzt auf Deutsch
instruction: Désormais réponds en français
instruction: De ahora en adelante respóndeme en español
preference: I prefer tabs over spaces
preference: btw my favourite colour is teal
preference: I don't eat pork
preference: I'm a morning person
preference: I like it when you show the command first
preference: Ich mag kein Koriander
preference: Prefiero respuestas cortas
fact: my wife's birthday is March 15th
fact: My dog's name is Biscuit
fact: I'm allergic to penicillin
fact: I live in Prague.
fact: My daughter is allergic to eggs
fact: I have two kids, Mia and Jonas
fact: Meine Frau heißt Ines
fact: J'habite à Lyon
fact: Mi hija se llama Lucía
routine: I go running every Tuesday and Thursday
routine: Every Sunday I call my mother
routine: Ich gehe jeden Dienstag zum Chor
`

const skipped = `
Do you hate it when users are vague?
How do I say "my wife's birthday is March 15th" in Greek
I hate to break it to you but the build is red
I hate this error message
I love you
never gonna give you up, never gonna let you down
Every breath you take, every move you make, I'll be watching you
Suppose I hate tomatoes, what would you cook
If I were a rich man I'd never work on Fridays
Imagine I'm a vegan pirate and give me a menu
My wife wants you to stop using emojis
My boss says I should always write shorter mails
My teacher told me to never start a sentence with and
"I never eat meat" is what she told the waiter
I used to live in Rome
As a kid I had a dog called Rex
For the rest of this chat answer only in haiku
Just for today, answer in French
You are a pirate, always answer with arr
Please don't use the passive voice here
I prefer the second option
When I click the button, show a modal
Stop the server and start it again
Call me a taxi
From now on the office closes at five
On Mondays the cron job runs at five
Production runs on MySQL 8.4
My kids are driving me crazy today
I'm allergic to nonsense haha
my password is not written here
ich hasse dieses Programm
je préfère la deuxième version
odio este error
from now on address me only as Your Majesty lol
The port is 8080. I live in Prague.
x := "I live in Prague"; print({x})
`

// proposed are told of without a textbook's cue: worth asking about, and never written unasked.
const proposed = `
routine: We change the bed linen every second Sunday
routine: wednesday evenings are when I call my gran
preference: cant stand aniseed in anything
preference: podcasts do nothing for me
instruction: no exclamation marks with me, please
instruction: you can skip the summary at the end
fact: I have a glass eye
fact: our greenhouse is heated
fact: lol I live in Prague
fact: I moved from Berlin to Vienna last month.
fact: We moved to Graz yesterday
`

func TestWhatIsOnlyLikelyIsAskedAbout(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(proposed)) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if r, ok := route.Of(text); !ok || r.Kind != kind || r.Confidence < route.Likely || r.Confidence >= route.Sure {
			t.Errorf("%q is %+v, want %s between %v and %v", text, r, kind, route.Likely, route.Sure)
		}
	}
	const quoted = "'please stop calling me dear', how do I say that kindly"
	if r, ok := route.Of(quoted); ok {
		t.Errorf("%q is %+v, want nothing of a quotation", quoted, r)
	}
}

func TestASentenceIsWhatItSays(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(kept)) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r, ok := route.Of(text)
		if !ok || r.Kind != kind || r.Confidence < route.Sure || !strings.HasPrefix(r.Rule, "route-") {
			t.Errorf("%q is %+v, want %s", text, r, kind)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(skipped)) {
		if r, ok := route.Of(strings.TrimSpace(line)); ok && r.Confidence >= route.Likely {
			t.Errorf("%q is %+v, want nothing", line, r)
		}
	}
}

func TestATurnGivesItsAuthorsSentencesVerbatim(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ turn, want string }{
		{"I'm planning dinner. By the way,  I'm allergic to nuts! Any ideas?", "By the way,  I'm allergic to nuts!"},
		{"Dr. Meyer is away.\nI live in Prague", "I live in Prague"},
		{"I get up at 6 a.m. and run. I'm a vegan.", "I'm a vegan."},
		{"> I live in Rome\nno idea who wrote that", ""},
		{"> Did you see this? I am allergic to nuts.", ""},
		{"I do n't drink coffee. I live in Prague.", "I live in Prague."},
		{"see https://example.org/mail for this:\nI live in Rome", ""},
		{"- what they wrote:\nI live in Rome", ""},
		{"what is wrong here:\nI live in Rome", ""},
		{"```\nI live in Rome\n```\nI live in Prague", "I live in Prague"},
		{"~~~\nI live in Rome\n```\nI live in Oslo\n~~~\nI live in Prague", "I live in Prague"},
		{"it prints\n\n    I live in Rome", ""},
		{"She wrote \"Hi,\nI live in Rome\nBye\" I live in Prague", ""},
		{"He has a 5\" pipe. I live in Prague.", "I live in Prague."},
		{"Please proofread this. I live in Prague.", ""},
		{"<stet-context date=\"x\">\n- I live in Rome\n</stet-context>\nI live in Prague", "I live in Prague"},
		{strings.Repeat("log line\n", 600) + "I live in Prague", ""},
		{"- I live in Rome\n- I live in Oslo\n- I live in Bern\n- I live in Graz\n", ""},
		{"\xff I live in Rome", ""},
		{"", ""},
	} {
		var got []string
		for _, r := range route.Turn(tc.turn) {
			got = append(got, r.Sentence)
		}
		if s := strings.Join(got, "|"); s != tc.want {
			t.Errorf("%q gives %q, want %q", tc.turn, s, tc.want)
		}
	}
}

func FuzzTurn(f *testing.F) {
	f.Add("btw I'm colourblind. \"x\" 'y'")
	f.Add(kept + skipped)
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range route.Turn(text) {
			stands := strings.Contains(text, r.Sentence) || strings.Contains(text, "<stet-context")
			if !stands || r.Kind == "" || r.Confidence <= 0 || r.Confidence > 1 {
				t.Errorf("%q gives %+v", text, r)
			}
		}
	})
}

const requests = `
Remember that the gate code is 4711. = The gate code is 4711.
Please remember this: production is on MySQL 8.4. = production is on MySQL 8.4.
Remember: the staging server reboots every night. = The staging server reboots every night.
Remember that Anna leads the payments team. = Anna leads the payments team.
Don't forget that the release branch is called stable. = The release branch is called stable.
I want you to remember that the name is spelled Mayr. = The name is spelled Mayr.
Make a note: the printer is on the third floor. = The printer is on the third floor.
By the way, remember that builds need Go 1.23. = builds need Go 1.23.
For future reference, the database is called acme_test. = The database is called acme_test.
Remember that the wiki is at https://wiki.acme.example/home = The wiki is at https://wiki.acme.example/home
Remember that the checks are run by ~make lint~. = The checks are run by ~make lint~.
Please remember that the demo is tomorrow. = The demo is tomorrow.
Remember this: use tabs in Go files. = use tabs in Go files.
`

const plainRequests = `
Remember that the office alarm is armed at 20:00.
Remember that the coffee machine needs descaling each March.
Please remember that the gate code is 4711.
Remember: our staging database is called heron.
Please note that the printer is on the third floor.
Keep in mind that the API allows 100 requests a minute.
Remember that we deploy on Tuesdays.
Remember that the signing key rotates every quarter.
Remember that the bins are collected on Thursday mornings.
Remember that the boiler was serviced in May 2026.
remember that the car insurance number is 4477
Remember that Max is allergic to peanuts.
Note that the backup server is in Frankfurt.
Don't forget that the garage door sticks in winter.
Remember that our landlord is Mr Novak.
`

const ofTheMoment = `
Remember that I told you to fix the tests first.
Remember that you promised to keep it short.
Remember that this is just a prototype.
Remember that we are on the staging branch right now.
Remember that it has to compile on Windows.
Please remember that the next step is the migration.
Remember that today is Ana's birthday.
Remember that tomorrow the office is closed.
Remember that the file above is generated.
Remember that those tests are flaky.
Remember that he said the port is 9090.
Remember that the function you just wrote is slow.
Keep in mind that we only have ten minutes.
Note that the last commit broke the build.
Remember that your answer was too long.
Remember that I am still waiting for the summary.
Please note that the deadline is in two hours.
Remember that the second option is the better one.
Remember that she wants the red one.
Remember that the current branch is main.
Here is the mail. Remember that the office is closed in August. Regards, Tom
Remember that the error only happens here.
Remember that the root password might be on the wiki.
Remember that, as discussed, the plan changed.
`

const noRequests = `
Do you remember that the gate code is 4711?
Remember when we moved production to MySQL?
Remember when we moved production to MySQL.
Remember that time we were in Rome.
Remember that friend who is a doctor.
Don't remember that the gate code is 4711.
Please don't remember this: production is on MySQL.
You do not need to remember that the server reboots.
"Remember that the gate code is 4711." is what the note says.
He said "remember that the office is closed".
> Remember that the gate code is 4711.
// Remember that the gate code is 4711.
# Remember that the gate code is 4711.
I remember that the tests were green.
The cache must remember that the key was deleted.
Remember the Milk is what the team uses.
Remember that the root password is ` + "hunter" + "2.\n"

// TestWhatSomebodyAsksToRememberIsTold: also what is not about the speaker, and never without being asked about.
func TestWhatSomebodyAsksToRememberIsTold(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(requests), "~", "`")) {
		text, bare, _ := strings.Cut(strings.TrimSpace(line), " = ")
		got := route.Turn("Hello.\n" + text)
		likely := !strings.Contains(text, "tomorrow") && !strings.Contains(text, "use tabs") // no fact that lasts
		if len(got) != 1 || !got[0].Asked || got[0].Rule != route.Asked || got[0].Confidence >= route.Sure ||
			likely != (got[0].Confidence >= route.Likely) || got[0].Sentence != text || route.Bare(text) != bare {
			t.Errorf("%q is %+v, %q", text, got, route.Bare(text))
		}
	}
	for line := range strings.Lines(strings.TrimSpace(noRequests)) {
		line = strings.TrimSpace(line)
		for _, r := range route.Turn(line) {
			if r.Asked || r.Confidence >= route.Likely {
				t.Errorf("%q is %+v, want nothing", line, r)
			}
		}
		if got := route.Unasked(line); !strings.Contains(line, "password") && got != line {
			t.Errorf("%q is cut to %q", line, got)
		}
	}
	if got := route.Turn("Please remember this:\nthe gate code is 4711"); len(got) != 1 || !got[0].Asked {
		t.Errorf("what stands behind a request gives %+v", got)
	}
}

// TestARequestThatIsTheWholeTurnIsDirect: unless it points at the talk that it stands in.
func TestARequestThatIsTheWholeTurnIsDirect(t *testing.T) {
	t.Parallel()
	direct := func(text string) bool {
		got := route.Turn(text)
		return len(got) == 1 && got[0].Direct
	}
	for line := range strings.Lines(strings.TrimSpace(plainRequests)) {
		if text := strings.TrimSpace(line); !direct(text) {
			t.Errorf("%q waits: %+v", text, route.Turn(text))
		} else if direct("Here is the mail.\n" + text) {
			t.Errorf("%q is direct among other things", text)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(ofTheMoment)) {
		if text := strings.TrimSpace(line); direct(text) {
			t.Errorf("%q is direct", text)
		}
	}
}

// TestUnaskedLeavesTheUsersWords: of what the user notes only the request goes.
func TestUnaskedLeavesTheUsersWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Please remember: I moved from Vienna to Graz.": "I moved from Vienna to Graz.",
		"remember that the port is 8080":                "the port is 8080",
		"Remember my sister's birthday is on 4 May.":    "my sister's birthday is on 4 May.",
		"Note that the port is 8080":                    "Note that the port is 8080",
		"By the way, remember that the port is 8080":    "By the way, remember that the port is 8080",
		"Remember that the port\nis 8080":               "Remember that the port\nis 8080",
		"Remember my dog when I am away":                "Remember my dog when I am away",
		"Remember this:":                                "Remember this:",
	} {
		if got := route.Unasked(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

// TestBare: only what asks to keep a sentence, or leads to it, is cut off.
func TestBare(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		"Remember that our cluster is called heron.":     "Our cluster is called heron.",
		"please don't forget that, I'm allergic to nuts": "I'm allergic to nuts",
		"Please keep in mind that we deploy on Fridays":  "We deploy on Fridays",
		"Remember that trip to Rome":                     "Remember that trip to Rome",
		"Remember my birthday":                           "Remember my birthday",
		"I remember that our cluster is called heron.":   "I remember that our cluster is called heron.",
		"By the way, I live in Prague.":                  "I live in Prague.",
		"Also: we deploy on Fridays":                     "We deploy on Fridays",
		"Note that xargs is not installed":               "xargs is not installed",
		"Also nice to have":                              "Also nice to have",
		"Remember that":                                  "Remember that",
		"":                                               "",
	} {
		if got := route.Bare(sentence); got != want {
			t.Errorf("%q gives %q, want %q", sentence, got, want)
		}
	}
}

// The beginning of a text is looked at a few times, and not the whole of it.
func TestBareOfAHugeText(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a\n=\n", "remember that ", "By the way, ", "remember that\u00a0a "} {
		began := time.Now()
		route.Bare(strings.Repeat(unit, 1<<22/len(unit)))
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
	}
}
