package place

import (
	"slices"
	"strings"
	"sync"
)

// A way is a way of speaking that a category is named after: what is a rule or a date
// to keep shows in the form of a sentence, whatever it is about.
type way struct {
	names   []string // stems of the categories
	phrases []string // each between spaces, an open end stands for any ending
}

// ways has one way a line: the names of categories, and the phrases in which "*"
// stands for any ending.
var ways = sync.OnceValue(func() []way {
	const list = `
deadline, due date, todo, reminder: deadline*, is due, are due, due on, due by, due in, expire*, runs out, run out, no later than, at the latest, by the end of, until, days ahead, weeks ahead, week ahead, day ahead, before the end, by monday, by tuesday, by wednesday, by thursday, by friday, by saturday, by sunday, months' notice, weeks' notice, within a week, within a month, frist*, fällig*, spätestens
rule, policy, constraint, convention, guideline: must, must not, never, ^always, always want, not allowed, forbidden, prohibited, has to, have to, do not, mandatory, required, muss, darf nicht, immer, nie, niemals, toujours, jamais, siempre, nunca, sempre
preference, taste, opinion, like, liking: prefer*, i like, we like, likes, liked, i love, we love, loves, loved, want, wants, rather, favourite, favorite, hate, hates, dislike*, enjoy*, cannot stand, lieber, mag, préfère, prefiere
decision, choice, adr: decided, decision, we use, we chose, chose, agreed, from now on, switched, dropped, instead of, no longer, moved to, entschieden
procedure, process, howto, how-to, workflow, runbook, instruction: first, then, after, before, by hand, step, steps, how to, ask, make sure, put, call, when the, if the, otherwise
schedule, routine, calendar, time, recurring, habit, ritual: every, daily, weekly, monthly, each, monday*, tuesday*, wednesday*, thursday*, friday*, saturday*, sunday*, o'clock, morning, mornings, evening, evenings, noon, in spring, in autumn, jeden, chaque, cada
cost, price, money, budget, finance, fee: euro*, dollar*, pound, pounds, cost, costs, price*, fee, fees, cheap*, expensive, premium, percent, refund*, fare, usd, eur, kostet
limit, quota, threshold: at most, at least, maximum, minimum, limit*, up to, more than, no more, less than, höchstens, mindestens
birthday, anniversary: birthday*, anniversary, born, geburtstag*
contact, person, people, address: mr, mrs, ms, dr, frau, herr, phone, telephone, mail, email, address, reach*, call, contact
safety, danger, emergency: danger*, emergency, poison*, toxic, burst*, fire, fuse, swell*, react*, must not eat, careful, warning
security, secret, privacy: password*, passphrase*, encrypt*, key, keys, tan, pin, phish*, fraud*, vpn, firewall, sign*, private, secret*
quantity, amount, measure: gram*, litre*, liter*, kilo*, spoon*, cup, cups, minutes, degrees, parts, millilitre*, eggs
performance, speed: slow*, fast*, faster, seconds, latency, lag*, behind, speed, throughput
booking, reservation: book, booked, booking*, reserv*, seat, seats, ticket*
incident, outage, bug, problem, error: broke, broken, outage, failed, failure, crash*, bug, wrong, error*
event, trip, history: yesterday, last week, last year, today, happened, went, visited, attended
document, paper, file: form, papers, passport, certificate, receipt*, invoice, card, folder, notice, licence, document*
maintenance, care, service: clean*, descale*, replace*, refill*, service, sharpen*, oil*, filter*, maintain*, drip*, leak*
`
	var out []way
	for line := range strings.Lines(list) {
		names, phrases, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		var w way
		for name := range strings.SplitSeq(names, ", ") {
			w.names = append(w.names, strings.Join(stemsOf(name), " "))
		}
		w.phrases = phraseList(phrases)
		out = append(out, w)
	}
	return out
})

// phraseList reads phrases that are separated by commas. "*" stands for any ending,
// "^" for the beginning of the text.
func phraseList(list string) []string {
	var out []string
	for p := range strings.SplitSeq(list, ",") {
		p = " " + strings.Join(strings.Fields(p), " ") + " "
		out = append(out, strings.TrimSuffix(p, "* "))
	}
	return out
}

// wayOf is the way of speaking that a category is named after, nil for none.
func wayOf(name []string) []string {
	joined := strings.Join(name, " ")
	for _, w := range ways() {
		if slices.Contains(w.names, joined) {
			return w.phrases
		}
	}
	return nil
}

// says reports whether the text has one of some phrases.
func (t *text) says(phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		if begin, ok := strings.CutPrefix(p, " ^"); ok {
			return strings.HasPrefix(t.line, " "+begin)
		}
		return strings.Contains(t.line, p)
	})
}
