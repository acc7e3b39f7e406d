package index

import (
	"fmt"
	"strings"
	"sync"

	porterstemmer "github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// A language says which words are forms of one word, and which say nothing.
type language struct {
	name  string
	stem  func(word string) string // of a folded word of three letters or more
	stops map[string]bool
}

// isStop reports a word that every text has.
func (l *language) isStop(word string) bool { return l.stops[word] }

// version is what the language adds to the name of the index folder: what is
// stemmed otherwise cannot be searched otherwise.
func (l *language) version() string {
	if l.name == English {
		return ""
	}
	return "-" + l.name
}

// The languages that are always there: English is the default, None takes
// every word as it stands.
const (
	English = "english"
	None    = "none"
)

// Languages lists the names that Options.Language may have.
func Languages() []string {
	return []string{English, "danish", "dutch", "finnish", "french", "german", "italian", "norwegian", "portuguese", "russian", "spanish", "swedish", None}
}

// englishLanguage is the default, made once: every query needs it.
var englishLanguage = sync.OnceValue(func() *language {
	return &language{name: English, stem: stemEnglish, stops: stopWords()}
})

// languageOf finds a language; "" is English.
func languageOf(name string) (*language, error) {
	none := func(w string) string { return w }
	switch name {
	case "", English:
		return englishLanguage(), nil
	case None:
		return &language{name: name, stem: none}, nil
	}
	stem, ok := map[string]func(*snowballstem.Env) bool{
		"danish": danish.Stem, "dutch": dutch.Stem, "finnish": finnish.Stem, "french": french.Stem, "german": german.Stem,
		"italian": italian.Stem, "norwegian": norwegian.Stem, "portuguese": portuguese.Stem, "russian": russian.Stem,
		"spanish": spanish.Stem, "swedish": swedish.Stem,
	}[name]
	if !ok {
		return nil, fmt.Errorf("search language %q is not known: one of %s", name, strings.Join(Languages(), ", "))
	}
	stops := map[string]bool{}
	for w := range strings.FieldsSeq(foreignStops(name)) {
		stops[fold(w)] = true
	}
	return &language{name: name, stops: stops, stem: func(w string) string {
		env := snowballstem.NewEnv(w)
		stem(env)
		return env.Current()
	}}, nil
}

// stemEnglish is Porter's stem. Words with anything but ASCII letters stand
// for themselves: digits are names, and other alphabets are not English.
func stemEnglish(w string) string {
	if !isPlainASCII(w) {
		return w
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(w)))
}

// foreignStops are the commonest words of a language that carry no meaning of
// their own, question words among them.
func foreignStops(name string) string {
	switch name {
	case "danish", "norwegian":
		return `og i jeg det at en den til er som på de med han af av for ikke der var mig seg men et har om vi min havde hadde ham hun
nu nå over da fra du ud ut sin dem os oss op opp man hans hvor eller hvad hva skal selv her alle vil blev ble kunne ind inn når være noget`
	case "dutch":
		return `de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat mijn men dit zo door
over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal me zij nu geen omdat iets worden toch al waren wie waar wanneer`
	case "finnish":
		return `olla on ei ja se että joka hän minä sinä me te he tämä tuo nämä nuo mikä kuka missä milloin kun jos niin kuin mutta tai sekä
oli ovat olen olet olemme olette ollut en et emme ette eivät myös vain jo nyt sitten mitä miten minun sinun hänen`
	case "french":
		return `au aux avec ce ces dans de des du elle en et eux il je la le les leur lui ma mais me même mes moi mon ne nos notre nous on ou par pas pour
qu que qui sa se ses son sur ta te tes toi ton tu un une vos votre vous c d j l à m n s t y est été être sont avait avoir a ai as ont quand quel quelle quels quelles où comment quoi`
	case "german":
		return `aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dich die dies dir doch dort du durch ein eine einem
einen einer eines er es euch euer für hatte hatten hat habe haben ich ihm ihn ihnen ihr ihre im in ist ja jede kann kein keine man mein meine mich mir mit muss nach nicht noch nun nur ob
oder ohne sehr sein seine sich sie sind so soll über um und uns unser unter vom von vor war waren was weil welche welcher welches wem wen wenn wer werden wie wieder wir wird wo woher wohin zu zum zur zwischen wann warum`
	case "italian":
		return `ad al allo ai agli alla alle con col da dal dalla dei del della delle di e è ed era essere fra gli ha hanno ho i il in io l la le lei lo loro lui ma mi
mia mio ne nei nel nella noi non o per perché più quale quali quando quanto quello questo che chi ci come cosa dove se sei si sia sono su sua sul suo ti tra tu tuo un una uno vi voi`
	case "portuguese":
		return `a à ao aos as até com como da das de dela dele do dos e é ela elas ele eles em entre era eu foi isso isto já lhe mais mas me meu minha muito na
nas não nem no nos nós o os ou para pela pelo por qual quais quando quanto que quem se sem ser seu são sua também te tem ter teu tu tua um uma você onde porque`
	case "russian":
		return `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему теперь когда даже ну ли если
уже или ни быть был него до вас опять уж вам ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без кто какой какая какие этот эта это`
	case "spanish":
		return `a al algo como con cual cuales cuando cuanto de del desde donde el él ella ellas ellos en entre era es esa ese eso esta está estaba este esto fue ha
hay la las le les lo los más me mi mis mucho muy nada ni no nos o os para pero por porque que qué quien quién se ser si sin sobre su sus también te tengo tiene tu un una uno y ya yo dónde cuándo cómo`
	case "swedish":
		return `och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig du henne då sin nu har inte hans honom skulle
hennes där min man ej vid kunde något från ut när efter upp vi dem vara vad över än dig kan sina här ha mot alla under någon eller allt mycket sedan ju denna själv detta åt utan varit hur ingen vem`
	}
	return ""
}
