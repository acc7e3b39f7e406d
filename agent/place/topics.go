package place

import (
	"slices"
	"strings"
	"sync"
)

// A topic is a subject that people keep memories about: words of one of them tell of
// one another although they share no letter. Which scope a topic belongs to is said
// by nobody but the vault: by the memories in it and by its name.
type topic struct {
	name  string
	words string // as they are searched for
	stems []string
}

// topics has one subject a line. The words are those that a dictionary of subjects
// would list; what could as well belong to most others is left out.
var topics = sync.OnceValue(func() []topic {
	const list = `
medicine: medicine medication medical drug pill tablet capsule dose dosage prescription pharmacy pharmacist pharmaceutical antibiotic penicillin aspirin ibuprofen paracetamol insulin thyroid vitamin supplement painkiller ointment syrup inhaler vaccine vaccination injection milligram microgram blood cholesterol diabetes asthma migraine nausea fever infection cough flu stomach
allergy: allergy allergic pollen hay fever rash itch itchy hives swelling swell antihistamine epinephrine adrenaline wasp bee sting nut hazelnut peanut walnut lactose gluten intolerance intolerant anaphylaxis skin eczema
doctor: doctor dentist dental tooth teeth molar filling physician surgeon surgery clinic hospital practice patient checkup diagnosis x-ray scan ultrasound eye glasses lens optician dermatologist specialist referral therapy therapist physio physiotherapist nurse health symptom treatment examination
fitness: fitness training workout gym exercise run running jog marathon race kilometre lap track interval squat deadlift press weights muscle stretch yoga pilates swim swimming cycling bike pulse heart rate pace sport sports climbing hike hiking
cooking: cook cooking recipe dinner lunch supper meal dish pan pot oven fry roast boil simmer stew soup sauce curry pasta rice noodle potato onion garlic tomato pepper carrot spinach mushroom lentil chickpea bean pea beef pork lamb chicken meat fish salmon tofu cheese salad spice cumin salt olive oil vegetarian vegan kitchen
baking: bake baking bread loaf dough sourdough flour yeast starter knead proof crust crumb cake pie pastry biscuit cookie muffin butter sugar egg cream icing tin oven rye wheat pizza
drinks: drink coffee espresso tea beer wine cocktail gin whisky rum vodka vermouth tonic juice lemonade syrup cider ferment brew bottle cup glass alcohol bar
garden: garden gardening plant plants seed seedling sow soil compost bed lawn mow mower hedge tree shrub prune bud blossom flower rose tulip tomato bean lettuce herb slug snail weed watering fertiliser greenhouse frost fleece harvest branch
pets: pet dog cat puppy kitten vet veterinary animal paw tail leash collar worming flea kibble litter fur bark purr rabbit hamster bird cage aquarium feeding
appliances: kitchen dishwasher fridge freezer refrigerator oven stove hob microwave toaster kettle blender grinder washing machine dryer vacuum cleaner espresso descale appliance knife iron filter
repairs: repair fix broken leak drip tap faucet pipe plumber plumbing drain toilet shower valve cartridge roof tile gutter window pane door hinge lock wall paint plaster drill screw hammer nail carpenter electrician socket fuse wiring cellar basement attic damp mould storm
heating: heating heat boiler radiator thermostat pump furnace chimney insulation solar panel energy electricity power kilowatt gas meter temperature degrees warm cold pressure bleed
car: car vehicle engine tyre tire brake oil garage mechanic workshop petrol diesel fuel charging mileage motorway parking licence plate inspection battery clutch
trains: train railway rail station platform carriage coach sleeper bunk intercity timetable connection delay ticket fare seat reservation conductor tram metro bus
flights: flight fly airport airline plane boarding cabin luggage suitcase baggage rucksack backpack pack packing passport visa adapter plug toiletries customs terminal departure arrival
trips: trip travel journey holiday vacation hotel hostel booking itinerary sightseeing temple museum tour guide beach island souvenir restaurant abroad
banking: bank banking account transfer balance deposit withdrawal card atm pin tan iban loan mortgage interest savings saving fund shares stock investment pension standing order money cash overdraft
taxes: tax taxes taxation return deduction deductible refund income allowance revenue adviser accountant assessment vat donation payslip certificate
insurance: insurance insurer policy premium claim damage excess deductible liability coverage household theft stolen accident compensation
subscriptions: subscription subscribe subscriber streaming trial renew renewal cancel cancellation monthly membership newspaper magazine domain hosting cloud
family: family mother father mum mom dad brother sister sibling son daughter child children kid kids baby twins grandma grandpa grandmother grandfather aunt uncle cousin niece nephew wife husband spouse wedding
friends: friend friends mate buddy party barbecue festival wedding birthday invite guest visit lend lent borrow borrowed joke
neighbours: neighbour neighbor next-door landlord tenant flat apartment parcel letter box spare key stairwell
school: school kindergarten nursery teacher pupil class classroom homework lesson grade exam parents evening schoolbag holidays university lecture student
language: language vocabulary grammar verb noun tense subjunctive pronunciation spanish french german italian japanese english hiragana kanji dictionary flashcard listening speaking oral exam translate
music: music instrument violin viola cello piano guitar drum flute string bow bridge scale suite concerto symphony orchestra choir band rehearsal concert practise metronome sheet song chord singing
photography: photo photography photograph camera lens aperture shutter exposure tripod flash portrait landscape raw negative film develop developer darkroom print sensor focus shade light
reading: book books novel author reader reading library chapter volume page paperback fiction crime poem poetry bookshop
chess: chess opening endgame rook knight bishop queen king pawn checkmate gambit sicilian tactics puzzle rating league match tournament
database: database db sql postgres postgresql mysql mariadb sqlite oracle redis mongodb table row column index query transaction migration schema replica replication primary failover vacuum lock pool
network: network wifi wireless lan wan vlan vpn wireguard router switch firewall port dns resolution subnet ip address gateway proxy packet bandwidth cable printer laptop ssid
backup: backup restore snapshot archive retention tape restic borg copy recovery disaster bucket storage volume disk offsite
monitoring: monitoring monitor metric metrics alert alerts alarm pager prometheus grafana dashboard latency uptime threshold log logs trace error budget incident outage oncall scrape
delivery: pipeline build ci release deploy deployment rollout rollback tag branch merge main runner runners linter lint compile artifact jenkins github gitlab container docker kubernetes cache flaky version
security: security secure password passphrase secret encryption encrypt encrypted key certificate token credential signature signed phishing fraud attack vulnerability breach authentication login two-factor
code: code function class module library framework refactor bug debug compiler golang rust python java javascript typescript review repository commit api endpoint
web: website web page html css browser frontend header footer banner cookie screen reader accessibility hugo seo layout
data: dataset warehouse lake ingest ingestion etl kafka event consumer producer parquet avro protobuf schema partition sensor spark analytics
mobile: app mobile phone android ios offline sync tile map gps screenshot
billing: billing invoice payment payments stripe charge charged refund dunning subscription checkout price currency cents webhook ledger
wildlife: bird birds species sighting observation ornithology nest marsh forest insect butterfly
hiring: hiring hire candidate applicant application interview recruiter recruiting resume cv salary offer onboarding panel reference vacancy job position
meetings: meeting agenda minutes committee board slides presentation planning quarterly workshop conference attendee
team: team squad standup sprint retrospective pairing oncall handover vacation colleague office
customers: customer client contract purchase order support ticket complaint sales discount renewal supplier vendor delivery account
expenses: expense expenses receipt reimbursement refunded claim travel hotel taxi mileage company allowance accounting voucher
writing: writing write text sentence sentences paragraph heading spelling punctuation comma semicolon exclamation tone style draft headline grammar british
gifts: gift present birthday christmas anniversary wish wishes flowers surprise card
law: law legal lawyer court contract clause notary gdpr privacy licence regulation compliance authority permit
`
	var out []topic
	for line := range strings.Lines(list) {
		if name, words, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			words = strings.TrimSpace(words)
			t := topic{name: name, words: words}
			t.stems = append(stemsOf(words), stemsOf(name)...)
			slices.Sort(t.stems)
			t.stems = slices.Compact(t.stems)
			out = append(out, t)
		}
	}
	return out
})

// A Topic is a subject that a text touches, and the words that tell of it.
type Topic struct {
	Name  string
	Words string
}

// Topics are the subjects that a text touches.
func Topics(title, body string) []Topic {
	var out []Topic
	for _, s := range touched(stemsOf(title + "\n" + head(body))) {
		out = append(out, Topic{s.name, s.words})
	}
	return out
}

// A subject is a topic that a text touches, and how surely: one word may have another
// meaning, several do not.
type subject struct {
	*topic
	sure float64
}

// oneWord is how surely a text touches a topic of which it has one word.
const oneWord = 0.4

func touched(stems []string) []subject {
	var out []subject
	all := topics()
	for k := range all {
		sum := 0.0
		for i, s := range stems {
			if _, ok := slices.BinarySearch(all[k].stems, s); ok && !slices.Contains(stems[:i], s) {
				sum += weight(s)
			}
		}
		switch {
		case sum >= 2:
			out = append(out, subject{&all[k], 1})
		case sum >= 1:
			out = append(out, subject{&all[k], oneWord})
		}
	}
	return out
}
