// Package guard finds what must not enter a vault: secrets, by the rules that
// gitleaks maintains and ours; text that gives orders to the model reading it,
// and characters that hide such text from a person; and names no secret may hide
// in. It is pure: bytes in, findings out. What becomes of a finding is for the
// caller, who asks a [Policy]. The rules are text files below rules.
//
//	for _, f := range guard.Secrets("memories/a.md", data) {
//		fmt.Println(f.Rule, f.Line, f.Excerpt, f.Fingerprint)
//	}
//
// Nothing in a text can allow itself: there are no inline marks. A finding is
// allowed by its fingerprint alone, which the person keeps in a configuration
// of their own. Everything is safe for concurrent use. Scanning is linear in
// the size of the text: an expression runs only on the lines around one of its
// keywords, and is compiled when it first runs.
package guard

//go:generate go test -run TestGenerateRules -update .
