// Package archtest holds the rules that bind the source tree as a whole, as
// tests: who may import whom, which package owns which dependency, what must be
// documented, how long a file or function may be, which calls are forbidden
// where. It has no code of its own. Adding an edge to a table needs a reason.
package archtest
