package place

import (
	"strings"
	"sync"
)

// A cue is a way of speaking that says how much something matters.
type cue struct {
	weight  float64 // as the logarithm of odds
	phrases []string
}

// cueList has the cues in the notation of phraseList.
var cueList = sync.OnceValue(func() []cue {
	var out []cue
	add := func(weight float64, list string) {
		out = append(out, cue{weight, phraseList(list)})
	}
	// Bans and duties.
	add(1.2, `never, must not, mustn't, not allowed, forbidden, forbid*, prohibited, under no circumstances, at no time, do not ever,
		niemals, nie, darf nicht, verboten, ne jamais, jamais, interdit*, nunca, jamás, prohibid*, vietat*`)
	add(0.9, `must, have to, has to, mandatory, required, obligatory, without fail, muss, müssen, pflicht, doit, doivent,
		obligatoire, debe, deben, obligatorio, deve, devono, obbligatorio`)
	add(0.4, `always, immer, toujours, siempre, sempre`)
	add(0.5, `^always, ^never, ^do not, ^don't, always want, always ask, always use, always run, always check`)
	add(0.8, `important, crucial, critical, vital, essential, warning, attention, danger*, emergency, urgent*, beware, careful, caution,
		wichtig*, achtung, gefahr, gefährlich, notfall, dringend, urgence, attenzione, peligro*, importante*, pericolo`)
	// Health, safety, secrets of procedure.
	add(1.6, `allerg*, anaphyla*, epipen, intoleran*, unverträglich*`)
	add(1.0, `dose, dosage, tablet*, pill, pills, medicine, medication, prescription*, insulin, milligram*, microgram*, mg, µg, blood group, blood type,
		vaccin*, poison*, toxic, unconscious, medikament*, tablette*, rezept*, médicament*, medicament*, pastilla*`)
	add(0.8, `password*, passphrase*, passcode, pin, tan, encrypt*, secret, private key, spare key, recovery key, two factor, phish*, fraud*, scam*, passwort*, geheim*`)
	add(0.7, `fire, gas leak, fuse, main valve, power off, bleach, burst*, explod*, overdos*, injur*, accident*`)
	// Dates to keep.
	add(0.7, `deadline*, is due, are due, due on, due by, due in, expire*, runs out, run out, no later than, at the latest, until the end of, by the end of, frist*, fällig*, spätestens,
		date limite, au plus tard, fecha límite, a más tardar, scadenza`)
	add(0.4, `cancel*, notice, renew*, registration, register by, appointment*, days ahead, weeks ahead, week ahead, in advance, within, by monday, by tuesday,
		by wednesday, by thursday, by friday, by saturday, by sunday, kündig*, résili*`)
	// Standing rules and ways of doing things.
	add(0.4, `from now on, no longer, instead of, policy, rule, rules, at most, at least, maximum, minimum, limit*, up to, decided, agreed, we use, we switched, switched to,
		otherwise, or else, unless, ab sofort, höchstens, mindestens, désormais, a partir de ahora`)
	add(0.4, `birthday*, anniversary, wedding day, geburtstag*, anniversaire*, cumpleaños`)
	add(0.2, `only, nur, seulement, solo, sólo, prefer*, want, wants, wants to, does not want, don't want, avoid, should, before you, ask, ensure, make sure, remember to, bitte, sollte*`)
	// What does harm.
	add(0.3, `damage*, hurt*, pain, painful, leak*, crack*, broke, broken, fail, fails, failed, failure*, stolen, wrong, complain*, outage*, crash*,
		corrupt*, incident*, loses, kaputt, cassé, roto`)
	// Small talk, moods, what just happened.
	add(-0.9, `funny, lol, haha, joke*, hilarious, lovely, nice, cute, cool, boring, story, whatever, weather, mood, gossip, lustig, drôle, gracios*`)
	add(-0.5, `i like, we like, likes, liked, loves, loved, enjoy*, favourite, favorite, hates, hate, maybe, perhaps, probably, i think, i guess, seems, sounds, smells, tastes,
		vielleicht, peut être, quizás, forse`)
	add(-0.4, `today, yesterday, last night, this morning, last week, once more, again, forgot, saw, met, went, came, told, looked, gave, got, bought, pulled, laughed, had a, was a,
		heute, gestern, ayer, ieri`)
	add(-0.3, `colour, color, usually, sometimes, often, mostly, most of, half, a bit, a little, kind of`)
	return out
})

// kinds are kinds and categories whose names say how much something matters.
var kinds = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	add := func(weight float64, names string) {
		for n := range strings.FieldsSeq(names) {
			out[n] = weight
		}
	}
	add(1.0, `safety allergy allergies emergency correction constraint`)
	add(0.7, `rule rules security deadline deadlines instruction legal policy health dose medication`)
	add(0.4, `decision decisions procedure limit contract document oncall incident`)
	add(0.4, `birthday identity`)
	add(-0.3, `event quote opinion hobby season`)
	add(-0.7, `joke chat smalltalk trivia fun`)
	return out
})

// subjects are those that people lose more by forgetting, and those of their leisure.
var subjects = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	add := func(weight float64, names string) {
		for n := range strings.FieldsSeq(names) {
			out[n] = weight
		}
	}
	add(0.6, `medicine allergy doctor law security insurance taxes banking backup database delivery billing customers`)
	add(-0.4, `chess photography music reading drinks cooking baking friends wildlife pets garden fitness gifts`)
	return out
})

// dated reports a text that names a day: with its month, or by an ordinal.
func (t *text) dated() bool {
	for i, w := range t.folds {
		day := w != "" && w[0] >= '0' && w[0] <= '9'
		if day && (strings.HasSuffix(w, "th") || strings.HasSuffix(w, "st") || strings.HasSuffix(w, "nd") || strings.HasSuffix(w, "rd")) {
			return true
		}
		if day && (i+1 < len(t.folds) && months()[t.folds[i+1]] || i > 0 && months()[t.folds[i-1]]) {
			return true
		}
	}
	return false
}

var months = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
		januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre`) {
		out[w] = true
	}
	return out
})

// happened reports a text in the simple past: it tells what happened once.
func (t *text) happened() bool {
	for i, w := range t.folds {
		before := ""
		if i > 0 {
			before = t.folds[i-1]
		}
		if pasts()[w] || len(w) > 4 && strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") && !carriers()[before] && i > 0 {
			return true
		}
	}
	return false
}

// pasts are irregular forms of the simple past that are no other form.
var pasts = sync.OnceValue(func() map[string]bool {
	return set(`ate became began bit blew bought broke brought came caught chose did drank drew drove fell felt flew forgot fought found gave got grew had heard held hid
		knew laid led left lent lost made meant met paid ran rang rode rose said sang sat saw sent shook shot slept sold spent spoke stole stood swam taught threw told took thought
		understood was were went woke won wore wrote`)
})

// carriers are words behind which a form in -ed is no simple past.
var carriers = sync.OnceValue(func() map[string]bool {
	return set(`a an the is are was were am be been being has have had having get gets getting got must not never also already always only still and or of for with in on at by to
		my your his her its our their this that these those no any some each every very too so more most well`)
})

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}
