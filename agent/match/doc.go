// Package match finds the memories that a description means: "everything about my old
// address", "Frank the engineer", "card 4111-1111-1111-1111". It is made for changing
// and forgetting, so it is strict where a search is generous: a name or an identifier
// in the description must stand in the memory, whole; of the other words the memory must
// say most, in any inflection or as the attribute they name ("city of residence" means
// "lives in Bern"). Nothing is matched by resemblance: Smith is not Smithson.
//
// An identifier is compared without its separators and its case, so 4111-1111 is also
// found as 41111111; a name is compared across scripts by how it is read.
//
//	q := match.Parse(`everything about my old address`)
//	found := q.Find(texts)       // what it means, best first
//	q.Replace(text, "Lives in Rome.") // of two facts only the one that is meant goes
//
// [Parse] and what it returns are pure functions of texts: no clock, no file, no model.
// [Live], [Update] and [Forget] do it with a vault.
package match
