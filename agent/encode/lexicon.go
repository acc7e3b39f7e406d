package encode

import (
	"strings"
	"sync"
)

// set reads words that are separated by white space; "_" stands for a space.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[strings.ReplaceAll(w, "_", " ")] = true
	}
	return out
}

// stops are the words that say nothing of their own.
var stops = sync.OnceValue(func() map[string]bool {
	return set(`a an the this that these those some any i me my mine you your he him his she her it its we us our they them their user
		is are was were am be been being do does did has have had will would can could shall should may might must
		of in on at to for with from by as into onto about over under up than then so and or but if because while there here
		now currently today already just also very really quite too still again please recently lately actually
		who which what when where how
		der die das ein eine einen einem einer ich mein meine wir unser unsere du sie er es ist sind war bin hat haben und oder aber in im auf mit von zu zum zur für jetzt nun
		le la les un une des du de mon ma mes je nous notre nos il elle est sont a ont et ou mais dans sur avec pour à au aux maintenant désormais
		el los las una mi mis yo nosotros nuestro nuestra es son está están y o pero en con por para ahora
		il lo gli i io mio mia noi nostro nostra è sono e ma con per su adesso ora
		的 了 是 我 们 們 在 は が を に の で と です ます`)
})

func isStop(w string) bool { return stops()[w] }

var negators = sync.OnceValue(func() map[string]bool {
	return set(`not no never none cannot without neither nor n't hardly nothing nobody
		nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais sans nunca sin non mai senza
		不 没 沒 无 無 非 ない`)
})

// negator knows the words that turn a clause into its opposite.
func negator(w string) bool { return negators()[w] || strings.HasSuffix(w, "n't") }

// againsts are verbs and adjectives with a negation of their own.
var againsts = sync.OnceValue(func() map[string]bool {
	return set(`avoid avoids avoided dislike dislikes disliked refuse refuses refused stopped quit lack lacks lacked forbids forbidden failed`)
})

// antonyms maps a stem to those of its opposites.
var antonyms = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for pair := range strings.FieldsSeq(`enable/disable enabled/disabled allow/deny allowed/denied allowed/forbidden allow/forbid permit/forbid always/never love/hate like/dislike likes/hates
		tabs/spaces light/dark true/false open/closed open/shut start/stop before/after more/less with/without public/private
		left/right first/last internal/external required/optional mandatory/optional yes/no on/off up/down synchronous/asynchronous
		manual/automatic manually/automatically accept/reject accepted/rejected approved/rejected include/exclude included/excluded
		vegetarian/carnivore married/single married/divorced alive/dead hot/cold early/late morning/evening safe/dangerous
		vendored/unvendored signed/unsigned encrypted/unencrypted locked/unlocked visible/hidden full/empty
		online/offline remote/onsite success/failure passes/fails passed/failed increase/decrease increases/decreases increased/decreased
		an/aus erlaubt/verboten offen/geschlossen hell/dunkel mag/hasst activé/désactivé ouvert/fermé permis/interdit
		abierto/cerrado activado/desactivado permitido/prohibido aperto/chiuso`) {
		a, b, _ := strings.Cut(pair, "/")
		out[Stem(a)] = append(out[Stem(a)], Stem(b))
		out[Stem(b)] = append(out[Stem(b)], Stem(a))
	}
	return out
})

func opposite(a, b string) bool {
	for _, o := range antonyms()[a] {
		if o == b {
			return true
		}
	}
	return false
}

// verbs are the finite forms by which a clause is recognised. The regular past in
// -ed is known without a list.
var verbs = sync.OnceValue(func() map[string]bool {
	return set(`is are was were am has have had do does did uses use used runs run ran lives live lived works work worked
		prefers prefer likes like liked loves love loved hates hate hated dislikes dislike wants want needs need speaks speak spoke plays play
		deploys deploy listens listen expires expire ends end starts start costs cost owns own knows know keeps keep kept sends send sent
		writes write wrote reads read drives drive drove eats eat ate drinks drink drank drank goes go went comes come came gets get got
		makes make made takes take took gives give gave says say said stores store builds build built belongs belong contains contain
		allows allow requires require supports support serves serve handles handle manages manage leads lead led teaches teach taught
		studies study studied sleeps sleep slept moved moves move switched switches switch changed changes migrated renamed replaced
		stopped became become becomes remains remain stays stay hosts host holds hold meets meet met leaves leave left wears wear
		collects collect plans avoids avoid never writes rides ride rode flies fly flew sits sit stands stand means mean meant charges charge
		pays pay paid reports report points point touches touch talks talk takes take starts wakes wake opens open closes close accepts accept returns return
		will would can could shall should must may might
		= -> →
		ist sind war hat haben benutzt benutzen nutzt nutzen verwendet verwenden wohnt wohne wohnen lebt lebe leben arbeitet arbeite arbeiten läuft laufen heißt heiße mag spricht
		est sont était utilise utilisons utilisent habite habitons vit travaille travaillons préfère s'appelle avons 是 は
		es son está usa usamos usan uso vive vivo vivimos trabaja trabajo trabajamos prefiere prefiero tiene tengo tenemos
		è sono usa usiamo vive vivo lavora lavoro preferisce preferisco ha abbiamo`)
})

func isVerb(w word) bool {
	return verbs()[w.fold] || len(w.fold) > 4 && strings.HasSuffix(w.fold, "ed") && w.stem != w.fold
}

var copulas = sync.OnceValue(func() map[string]bool {
	return set(`is are am = -> → ist sind bin heißt est sont es son está è sono 是 は`)
})

// adverbs stand beside a subject without being part of it.
var adverbs = sync.OnceValue(func() map[string]bool {
	return set(`longer always usually often sometimes never ever mostly normally generally only both all even finally recently nie immer oft toujours siempre sempre mehr plus ya
		yesterday tomorrow tonight officially fully completely`)
})

var conjunctions = sync.OnceValue(func() map[string]bool {
	return set(`and but while whereas und aber sowie et mais y pero e ma`)
})

// pronouns begin a clause of their own.
var pronouns = sync.OnceValue(func() map[string]bool {
	return set(`i he she it we they you the my our his her their its a an this that der die das mein unser ich wir er sie il elle nous je le la mon notre el la mi nuestro ella nosotros`)
})
