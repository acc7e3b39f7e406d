package place

import (
	"strings"
	"sync"
	"unicode"
)

// common are stems of words that texts of every subject have: that a scope has one of
// them says little about it, however rare the word still is in a small vault.
var common = sync.OnceValue(func() map[string]bool {
	const list = `
a able about above across act actual add after afternoon again against age ago agree ahead air all allow almost alone along already also although always am among amount an and annual another answer any anybody anyone anything anyway apart appear are area around arrive as ask at autumn available away
back bad base be because become bed before begin behind believe below best better between beyond big bit black blue both bottom bring bring broken brought build built but buy by
call came can care carry case catch cause centre certain chance change cheap check choose clean clear close cold collect come common complete consider contain continue copy corner correct cost could count couple course cover create cross cut
daily dark date day deal decide deep detail did die differ difficult direct do does done double down draw drive drop due during
each early easy eight either eleven else empty end enough even evening ever every everybody everyone everything exact example except expect explain extra
fact fail fall far fast feel few fifteen fifth fifty fill final find fine finish first fit five fix follow for forget form forty forward four fourth free frequent fresh friend from front full further future
gave general get give given go goes gold gone good got great green group grow guess
had half hand handle hang happen happy hard has have he hear heard heavy held help her here high him his hit hold hole home hot hour house how however hundred hurt
idea if important in inside instead into is issue it item its
job join just
keep kept kind knew know known
lack lady large last late lately later latest lay lead learn least leave left length less let level lie life lift light like likely limit line list little live local long look lose lost lot loud low
made main make man manage many mark matter may maybe me mean measure meet mention middle might mind minute miss mix moment money month more morning most move much must my
name narrow near nearly necessary need never new next nice night nine no nobody noise none noon nor normal north not note nothing notice now number
object occur of off offer often ok old on once one only open or order other otherwise ought our out outside over own
page paid pair paper part pass past pay people per perhaps person pick piece place plain plan play please point poor position possible prefer prepare present press pretty previous price probable problem process produce promise proper public pull purpose put
question quick quiet quite
raise ran range rather reach read ready real reason receive recent recommend red regular remain remember remove repeat replace report request require rest result return right ring room round rule run
safe said same save saw say second see seem seen sell send sense sent separate serious service set seven several shall she short should show shut side sign simple since single sit six size sleep slow small smell so soft some somebody someone something sometimes soon sorry sort sound south special spend split spring stand standard start state stay step still stop story straight street strong such sudden suggest suit summer sure surprise switch system
table take taken talk tall task tell ten term test than thank that the their them then there these they thick thin thing think third thirty this those though thought thousand three through throw tie tight time tired to today together told tomorrow tonight too took top total touch toward town try turn twelve twenty twice two type
under understand unless until up upon upper us use used useful usual
value various very via view visit
wait wake walk wall want warm was wash watch water way we wear week weekend weekly well went were west what when where whether which while white who whole whose why wide will window winter wish with within without woman wonder word work world worse worth would write wrong wrote
year yellow yes yesterday yet you young your
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december
euro euros dollar pound percent degrees kilo kilos metres litres grams hours minutes seconds o'clock`
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[stem(w)] = true
	}
	return out
})

const (
	// numberWeight and commonWeight are how much such a word tells beside others.
	numberWeight = 0.2
	commonWeight = 0.05
)

// weight is how much a word, or its stem, tells of the subject of its text.
func weight(w string) float64 {
	switch {
	case strings.ContainsFunc(w, unicode.IsDigit) && !strings.ContainsFunc(w, unicode.IsLetter):
		return numberWeight
	case common()[stem(w)]:
		return commonWeight
	}
	return 1
}
