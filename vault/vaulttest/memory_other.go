//go:build !linux

package vaulttest

// InMemory does nothing here.
func InMemory() {}
