// Package curator keeps the skills of a vault in order by rule: one that nobody has used for a while is marked
// stale, one that stays unused goes to the archive, and one that is used again is active.
//
// It owns the skills that agents made and those that a person gave over, and touches nothing else. It deletes
// nothing: every change is a commit that "git revert" takes back, what was taken back it does not do again, and each
// run leaves a report of what was done and how to undo it. What is to be done is decided by [Transitions], which knows
// no vault.
package curator
