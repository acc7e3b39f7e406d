// Package lineage answers where things come from and brings them back: who wrote
// each line of a file, what changed since the person last looked, and the
// restoring and purging of memories. It knows nothing of git's objects: it stands on
// the public API of package vault and writes through vault.Update only.
package lineage
