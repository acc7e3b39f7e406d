// Package merge judges what a model did to skills: which of them it merged into which, whether what they said stands
// there, and so what of it may be done. It is pure functions: skills and calls in, a plan out.
//
// What became of a skill is told by five rules, of which the first that fits counts ([Reconcile]). Whether it is done
// is another question: what a skill says has to stand in the one that absorbed it, lines by a share, code blocks and
// typed values (numbers, dates, paths, addresses, code) all, files byte for byte; and the skill that results has to
// have a form ([Judge]).
package merge
