// Package packet holds the types of OpenPGP that signatures of go-git name.
package packet

// A Config says nothing.
type Config struct{}

// A PrivateKey is one that nobody has.
type PrivateKey struct{ Encrypted bool }
