// Package encode understands a new memory without a model: whether it is stored
// already, and what it makes untrue. Everything in it is a pure function of the texts it
// is given: no clock, no file, no network, and the order of the stored memories does not
// matter.
//
// Two deciders judge. A rule of proof ([Supersede]) accounts for every word of both
// clauses: the same named subject, the same attribute, no word that could mean another
// time, place or condition. It removes that clause and nothing else. The scorer ([Flag])
// weighs features of a stored clause beside the new memory; its weights are in
// weights.txt, which .ci/train writes. What is proven but may not be acted on, and what
// one text says and the other denies in the same words, is a [Conflict]. A memory never
// supersedes one of higher [Authority].
//
//	plan := encode.Decide(memory, stored, corpus)
//	if d := plan.Duplicate; d != nil { … } // d.Old says it already
//	for _, v := range plan.Verdicts { … }  // v.Kind is Supersede, Conflict or Flag
//
// A text is read in its own language; the word lists are in templates/lexicon, English
// and German the longest. What needs knowledge of the world is not seen: that a new job
// makes an old commute untrue.
package encode
