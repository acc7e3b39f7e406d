package index

// talkWeights are the weights of the ranking of messages. An answer seldom
// repeats the words of the question, but it stands next to them, in a
// conversation about them.
type talkWeights struct {
	head  float64 // who spoke, and on which day
	title float64 // of the conversation, for its first message
	name  float64 // a composite name found whole
	// What a message gets of the scores of its neighbours: of the one before
	// and the one before that, of the one after and the one after that.
	before, before2, after, after2 float64
	session                        float64 // of the score of the conversation as one text
	pairs                          float64 // words side by side as in the query
	dated                          float64 // more for a text that says when, if the query asks
	asking                         float64 // less for a message that only asks
	lent                           float64 // of a neighbour's score at most, for a message without a word of the query
	// side is what one side of a conversation counts: people say what is so,
	// assistants mostly repeat it at length.
	side [4]float64
}

// weighTalk is the ranking for all conversations. The numbers lie in the middle
// of what was best for LoCoMo, LongMemEval and BEAM together when one
// collection at a time was left out; on the collections left out the choice
// lost less than .02 of recall and rank against hindsight. What tools and systems
// count is a guess, since none of these has any.
func weighTalk() talkWeights {
	return talkWeights{
		head: 2, title: 0.5, name: 1,
		before: 0.15, before2: 0.05, after: 0.2, after2: 0.1,
		session: 0.6, pairs: 0.6, dated: 0.2, asking: 0.2, lent: 0.99,
		side: [4]float64{sideUser: 1, sideAssistant: 0.55, sideTool: 0.4, sideSystem: 0.3},
	}
}

// boost are the weights of the fields. What stands in the heading stands there
// once, so that its saturation is 1/(1+k1): the boost makes up for it.
func (w *talkWeights) boost(f int) float64 {
	switch f {
	case fieldTitle:
		return w.title
	case fieldHead:
		return w.head * (1 + bm25K1)
	case fieldIdent:
		return w.name
	}
	return 1
}
