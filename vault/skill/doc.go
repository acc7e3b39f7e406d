// Package skill knows what a skill is: a folder below skills/ with a SKILL.md whose front matter names
// and describes it, as the Agent Skills format says, and what else belongs to it. It reads skills
// whatever is wrong with them, says what is wrong and how to mend it, and counts their use.
//
// Nothing in a skill is ever run.
package skill
