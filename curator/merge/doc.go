// Package merge judges what a model did to skills: which of them it merged into which, whether what they said stands
// there, and so what of it may be done. It is pure functions: skills and calls in, a plan out.
//
// What became of a skill is told by five rules, of which the first that fits counts ([Reconcile]). Whether it is done
// is another question ([Judge]), and has two sides.
//
// Nothing is lost. A text is read as units (headings, paragraphs, items, rows, blocks of code) and these as sentences,
// however their lines are broken. What a skill says has to stand in its own section of the umbrella (layout), or,
// where others say it too, anywhere: sentences by a share, code blocks, files, typed values (numbers, dates, paths,
// addresses, code) and sentences that forbid or bound something all (cover), steps in their order (disorder), and what
// is forbidden below the same heading (misplaced).
//
// Nothing is added. A sentence, a block of code, an address or a file that none of the skills has is not allowed
// (origin), but for what has to be new: names, the description, headings, and lines that lead to a section or a file.
// Those have a vocabulary: of all skills, or of the one that a line leads to. In it a word that turns others (not,
// before) goes with the word that follows it, and a word that was denied stays denied (foreign).
package merge
