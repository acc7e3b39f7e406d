package match

import (
	"slices"
	"strings"
	"sync"

	"stet/agent/encode"
)

// A concept is an attribute by the words that ask for it and the words that give it a
// value. What asks for it gives it as well: "job" stands in "my job is …".
//
// One line each: asked for by | said by. "_" stands for a space, "*" at the end for
// any ending.
const conceptLines = `
job occupation profession career employment employer role position vocation work workplace company title livelihood | works worked working employed employee joined hired job engineer* developer programmer manager manages scientist* teacher teaches taught professor lecturer doctor surgeon nurse neurosurgeon physician lawyer attorney architect analyst consultant designer director founder founded cofounder ceo cto cfo vp president chef cook baker accountant journalist writer editor author artist freelancer freelance intern contractor researcher technician mechanic pilot attendant driver trader quant banker librarian pharmacist dentist therapist coach curator firefighter officer assistant secretary salesperson marketer leads led career position startup firm
residence live living home city town location address hometown whereabouts house housing country domicile based neighborhood | lives lived living live resides resided moved relocated home house flat apartment address street based settled neighborhood district born residence rents
vehicle car transport transportation automobile driving motorcycle drive | drives drove driven driving car truck suv bike bicycle motorcycle scooter vehicle sedan van tesla toyota honda ford bmw audi mercedes subaru volkswagen hybrid transit
commute commuting | commutes commute bus train transit cycles drives walks subway tram
diet dietary eating food nutrition cuisine meal meals | eats ate eating diet vegan vegetarian pescatarian keto paleo omnivore carnivore gluten* meat halal kosher fasting food foods meals cooks cooking cuisine dairy
drink drinking beverage coffee tea alcohol | drinks drank drink drinking coffee tea espresso latte wine beer alcohol whisky whiskey soda juice sober
education degree academic studies study school schooling university college qualification alma_mater educational graduate | studied studies phd degree bachelor bachelors master masters mba graduated graduate university college school majored diploma doctorate undergraduate enrolled student thesis attended attends
language languages linguistic fluency tongue speaking proficiency | speaks spoke speak fluent fluently language languages bilingual multilingual english french german spanish italian mandarin chinese japanese korean arabic portuguese russian hindi dutch swedish
pet pets animal animals companion dog cat | dog dogs cat cats puppy kitten parrot hamster rabbit pet pets goldfish terrier retriever poodle labrador tabby horse
hobby hobbies pastime interest interests leisure activity recreation passion | hobby hobbies enjoys enjoy loves likes collects plays playing practices pastime spends gardening knitting pottery chess hiking climbing painting photography fishing
sport sports athletic fitness exercise workout training athletics athlete | runs running marathon* triathlon* gym swims swimming cycling cycles yoga lifts climbing tennis football soccer basketball martial judo karate trains training workout exercises boxing crossfit rowing skiing surfing ultramarathon*
music musical instrument instruments band | plays piano guitar violin drums cello flute saxophone music musical sings singer band listens instrument
allergy allergies allergic intolerance | allergic allergy allergies anaphyla* intolerant intolerance epipen
health medical condition illness disease diagnosis ailment medication medicine prescription treatment | diagnosed diabetes asthma cancer hypertension medication prescribed takes condition disease chronic illness migraine* insulin remission treatment therapy surgery
marital relationship marriage spouse partner romantic dating married | married single divorced engaged widowed spouse wife husband partner girlfriend boyfriend fiance fiancee dating wedding separated relationship
family sibling siblings children child kids parent parents relatives | sibling siblings brother* sister* son sons daughter* child children kid kids mother father parents twins cousin uncle aunt niece nephew pregnant baby
phone mobile cellphone smartphone handset | phone iphone android pixel galaxy samsung mobile smartphone
device devices hardware computer laptop workstation machine | laptop macbook computer pc desktop workstation thinkpad tablet ipad device monitor server
os operating_system platform | linux windows macos ubuntu debian fedora android ios
browser | chrome firefox safari brave edge opera browser
editor ide | vim emacs vscode neovim intellij pycharm editor ide jetbrains sublime
database datastore storage | postgresql postgres mysql mongodb sqlite database redis mariadb
programming coding stack framework tech_stack | codes programs python java javascript typescript go rust c++ ruby kotlin swift scala framework react vue angular
finance financial bank banking money investment investments savings budget income salary | bank invests invested stocks bonds crypto savings salary earns income mortgage loan hedge fund budget portfolio account
subscription plan tier membership subscriber | subscribed subscribes subscription plan tier member membership downgraded upgraded premium trial
smoking smoker tobacco | smokes smoked smoker cigarettes vaping quit tobacco nicotine
religion religious faith belief spiritual | christian muslim jewish buddhist hindu atheist agnostic catholic church mosque prays faith religion religious
politics political party affiliation vote voting | democrat republican votes voted party liberal conservative socialist labour green political politically
personality temperament social character disposition | introvert introverted extrovert extroverted shy quiet outgoing sociable reserved gatherings temperament
volunteer volunteering charity | volunteers volunteered volunteer charity nonprofit shelter
travel trip trips vacation holiday visit visits visited travels | traveled travelled travels visited trip vacation holiday flew toured abroad
reading books book literature literary | reads read reading books book novels novel author literature
writing poetry poetic literary | writes wrote writing poetry poems novels blog blogs essays stories
movie movies film films tv show watching entertainment streaming | movie movies film films watches watched netflix series show streaming cinema
sleep sleeping bedtime schedule morning routine | sleeps slept wakes woke bed bedtime nap insomnia routine morning
vision eyesight eyes | glasses lenses vision contacts eyesight
birthday birthdate birth age born | birthday born birth years_old turned aged
email mail e-mail contact | email mail e-mail inbox @
phone_number telephone contact | phone telephone mobile number
password credential credentials secret login passphrase | password passphrase credentials secret token login pin passcode
meeting meetings standup schedule calendar | meeting meetings standup scheduled rescheduled calendar sync
deadline due launch release date | due deadline launches launch releases release ships
ownership possession possessions own owns | owns owned own has bought purchased
citizenship nationality passport visa immigration | citizen citizenship passport visa nationality resident immigrant
weapon license licence permit | license licence licensed permit
team department staff | team department reports staff hired
ip server host address hostname | ip server host hostname address
favorite favourite preference preferred | favorite favourite prefers preferred preference likes loves
origin originally from birthplace | originally from born grew native
`

type concepts struct {
	asks  map[string][]int // stem → concepts
	says  map[string][]int
	heads []string // beginnings of words with any ending
	of    map[string][]int
}

var table = sync.OnceValue(func() concepts {
	c := concepts{asks: map[string][]int{}, says: map[string][]int{}, of: map[string][]int{}}
	n := 0
	for line := range strings.SplitSeq(strings.TrimSpace(conceptLines), "\n") {
		ask, say, _ := strings.Cut(line, "|")
		for w := range strings.FieldsSeq(ask) {
			for part := range strings.SplitSeq(w, "_") {
				c.asks[encode.Stem(part)] = append(c.asks[encode.Stem(part)], n)
			}
			if !strings.Contains(w, "_") {
				c.says[encode.Stem(w)] = append(c.says[encode.Stem(w)], n)
			}
		}
		for w := range strings.FieldsSeq(say) {
			if head, ok := strings.CutSuffix(w, "*"); ok {
				c.heads, c.of[head] = append(c.heads, head), append(c.of[head], n)
				continue
			}
			c.says[encode.Stem(w)] = append(c.says[encode.Stem(w)], n)
		}
		n++
	}
	return c
})

// asked are the attributes that a word of a description can name.
func asked(t token) []int { return table().asks[t.stem] }

// says reports whether a word gives a value to one of the attributes.
func says(t token, attributes []int) bool {
	c := table()
	has := func(of []int) bool {
		return slices.ContainsFunc(of, func(a int) bool { return slices.Contains(attributes, a) })
	}
	if has(c.says[t.stem]) {
		return true
	}
	for _, head := range c.heads {
		if strings.HasPrefix(t.fold, head) && has(c.of[head]) {
			return true
		}
	}
	return false
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// stops say nothing of their own in a description.
var stops = sync.OnceValue(func() map[string]bool {
	return set(`a an the this that these those some any of in on at to for with from by as into onto about over under and or but is are was were be been being
		do does did has have had will would can could should may might must it its there here who which what when where how why whose than then so if
		current currently now new already just also very still anymore status information info details detail data facts fact
		everything anything all every each memories memory notes note entries entry records record things thing stuff known regarding concerning related mention mentions mentioning says saying said without
		der die das ein eine von im in am mit über und oder alles ist le la les un une de du des sur et tout el los las una del sobre y todo il lo gli di su e tutto`)
})

// articles begin no name.
var articles = sync.OnceValue(func() map[string]bool { return set(`the a an my our your his her their this that all any every`) })

// roles say what somebody is to the vault: too common to tell two memories apart.
var roles = sync.OnceValue(func() map[string]bool {
	return set(`customer client account person people patient employee member holder contact guest vendor subscriber owner applicant tenant individual name id identifier number code profile`)
})

// qualifiers only say more closely what is asked for.
var qualifiers = sync.OnceValue(func() map[string]bool {
	return set(`old former previous latest recent earlier habit habits history highest lowest primary main level state style situation background achievement achievements practice practices pattern patterns
		preference preferences activity activities choice choices type kind sort category official personal professional usual regular daily weekly long-term skill skills ability experience attendance participation
		plan plans goal goals size count amount total value default specific general private public original final next first last`)
})

// selves are the person whom the vault is about.
var selves = sync.OnceValue(func() map[string]bool {
	return set(`user users i my me mine myself we our us ich mein meine mir wir unser je mon ma mes moi yo mi mio io 我 私`)
})

// relatives belong to somebody without being that person: what "my sister" does is not
// about me.
var relatives = sync.OnceValue(func() map[string]bool {
	return set(`sister brother sibling mother father mum mom dad parent parents wife husband partner spouse girlfriend boyfriend son daughter child children kid kids
		aunt uncle cousin nephew niece grandmother grandfather grandma grandpa friend neighbour neighbor colleague boss manager flatmate roommate
		schwester bruder mutter vater frau mann sohn tochter freund freundin`)
})

// wholes begin a description of everything there is of something.
var wholes = sync.OnceValue(func() map[string]bool {
	return set(`everything anything all every any alles tout todo tutto`)
})
