package encode

import (
	"strings"
	"sync"
)

// synonyms maps words of everyday speech to the one of the same meaning that stands
// for all of them. Only words that can stand for each other in any sentence are
// here: not a kind for the thing ("walk" for "stroll"), not a word with a second
// sense of its own ("lift", "store").
var synonyms = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for row := range strings.Lines(`
		kid child
		kids children
		woman lady
		women ladies
		sofa couch
		phone telephone
		phones telephones
		movie film
		movies films
		car automobile
		cars automobiles
		bike bicycle
		bikes bicycles
		photo photograph
		photos photographs
		fridge refrigerator
		apartment flat
		doctor physician
		doctors physicians
		attorney lawyer
		garbage trash rubbish
		holiday vacation
		holidays vacations
		someone somebody
		everyone everybody
		anyone anybody
		big large
		bigger larger
		biggest largest
		quick fast rapid
		quickly rapidly
		careful cautious
		carefully cautiously
		silent noiseless
		glad happy
		gladly happily
		ill sick
		whole entire
		enough sufficient
		begin start commence
		begins starts commences
		beginning starting commencing
		began started commenced
		finish complete
		finishes completes
		finishing completing
		finished completed
		buy purchase
		buys purchases
		buying purchasing
		bought purchased
		jump leap
		jumps leaps
		jumping leaping
		jumped leapt leaped
		speak talk
		speaks talks
		speaking talking
		scare frighten
		scares frightens
		scaring frightening
		scared frightened
		repair fix
		repairs fixes
		repairing fixing
		repaired fixed
		permit allow
		permits allows
		permitting allowing
		permitted allowed
		select choose
		selects chooses
		selecting choosing
		selected chosen
		attempt try
		attempts tries
		attempting trying
		attempted tried
		answer reply
		answers replies
		answering replying
		answered replied
		obtain get
		obtains gets
		obtaining getting
		help assist
		helps assists
		helping assisting
		helped assisted
		often frequently
		rarely seldom
		almost nearly
		maybe perhaps
		immediately instantly
		outdoors outside
		indoors inside
		path trail
		paths trails
		stone rock
		stones rocks
		gray grey
		colour color
		colours colors
		favourite favorite
		centre center
		metre meter
		metres meters
		neighbour neighbor
		neighbours neighbors
		behaviour behavior
		organise organize
		organises organizes
		licence license
		programme program
		theatre theater
		okay ok
	`) {
		words := strings.Fields(row)
		for _, w := range words[min(1, len(words)):] {
			out[w] = words[0]
		}
	}
	return out
})

var colours = sync.OnceValue(func() map[string]bool {
	return set(`red green blue yellow orange purple pink brown black white grey gray golden silver violet turquoise beige`)
})

var beings = sync.OnceValue(func() map[string]bool { return set(`is are was were am be been being`) })

var modals = sync.OnceValue(func() map[string]bool {
	return set(`will would can could shall should may might must`)
})

// particles belong to the verb in front of them.
var particles = sync.OnceValue(func() map[string]bool { return set(`up down out off away back over`) })

// An inflection maps the irregular forms of verbs to their infinitives.
type inflection struct{ past, done map[string]string }

// irregular knows the verbs whose past is not formed with -ed. Forms that are other
// words as well ("saw", "found", "felt", "left" as a side) are left out.
var irregular = sync.OnceValue(func() inflection {
	in := inflection{map[string]string{}, map[string]string{}}
	for row := range strings.Lines(`
		become became become
		begin began begun
		bite bit bitten
		blow blew blown
		break broke broken
		bring brought brought
		build built built
		buy bought bought
		catch caught caught
		choose chose chosen
		come came come
		cut - cut
		dig dug dug
		do did done
		draw drew drawn
		drink drank drunk
		drive drove driven
		eat ate eaten
		feed fed fed
		fight fought fought
		fly flew flown
		forget forgot forgotten
		forgive forgave forgiven
		freeze froze frozen
		give gave given
		go went gone
		grow grew grown
		hang hung hung
		hear heard heard
		hide hid hidden
		hit - hit
		hold held held
		hurt - hurt
		keep kept kept
		know knew known
		lead led led
		lend lent lent
		lose lost lost
		make made made
		meet met met
		pay paid paid
		put - put
		read - read
		ride rode ridden
		ring rang rung
		run ran run
		say said said
		sell sold sold
		send sent sent
		set - set
		sew sewed sewn
		shake shook shaken
		shoot shot shot
		show showed shown
		shut - shut
		sing sang sung
		sleep slept slept
		speak spoke spoken
		spend spent spent
		steal stole stolen
		sweep swept swept
		swim swam swum
		take took taken
		teach taught taught
		tear tore torn
		tell told told
		think thought thought
		throw threw thrown
		understand understood understood
		wear wore worn
		win won won
		write wrote written
	`) {
		if f := strings.Fields(row); len(f) == 3 {
			if f[1] != "-" {
				in.past[f[1]] = f[0]
			}
			in.done[f[2]] = f[0]
		}
	}
	return in
})
