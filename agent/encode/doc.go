// Package encode understands a new memory without a model: whether it is there
// already, what it makes untrue, and where it belongs. Everything in it is a pure
// function of the texts it is given: no clock, no file, no network, and the order of
// the stored memories does not matter.
//
// It promises to be careful rather than clever. Two texts whose values, negations or
// names differ are never called the same, and one is the other in other words only
// where voice, an adjectival clause or a table of synonyms accounts for every word
// (paraphrase.go). What [Decide] calls [Supersede] is said
// by a change cue ("switched from A to B") or by an attribute that has one value at
// a time ("my phone number is …"); what merely looks like a contradiction is a
// [Conflict], for a person to settle: so is what somebody has never done and yet did
// (never.go). A memory never supersedes one of higher
// [Authority].
//
//	plan := encode.Decide(memory, stored)
//	if d := plan.Duplicate; d != nil { … } // d.Old says it already
//	for _, v := range plan.Verdicts { … }  // v.Kind is Supersede or Conflict
//
// It knows English best; the words of change, negation and possession of German,
// French, Spanish, Italian, Chinese and Japanese are in its tables. It cannot see
// what needs knowledge of the world: that a new job makes an old commute untrue.
package encode
