// Package place says without a model where a new memory belongs: its scope, its
// categories, how much it matters. It learns from the vault alone: a scope that no
// memory stands in or below, and a category that no memory has, never come out of it.
// Everything in it is a pure function of what it is given: no clock, no file, no
// network, and the order of neighbours does not matter.
//
// It promises to be careful: a memory in the wrong folder is further away than one in
// no folder. Where the words fit several scopes the nearest scope above them is the
// answer, the top where there is none, and nothing at all in a vault that is too small
// to learn from.
//
//	known := place.Learn(all, tagged)
//	p := known.Place(place.Note{Text: text, Words: words, Near: near})
//	// p.Scope.Value is "/infra/db", p.Scope.Rule "scope-words@1"
//
// How much a memory matters is read from its words (duties, bans, dates to keep,
// health, security; against small talk) and from what resembles it. It knows English
// best, and the plainest of these words in German, French, Spanish and Italian.
package place
