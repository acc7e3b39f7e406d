// Package openpgp stands in the place of ProtonMail's: it signs nothing, and finds no signature good.
package openpgp

import (
	"errors"
	"io"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// An Entity is a key, of which there is none.
type Entity struct{ PrivateKey *packet.PrivateKey }

// An EntityList is a ring of keys.
type EntityList []*Entity

var errNone = errors.New("built without OpenPGP")

// ReadArmoredKeyRing always fails.
func ReadArmoredKeyRing(io.Reader) (EntityList, error) { return nil, errNone }

// CheckArmoredDetachedSignature always fails.
func CheckArmoredDetachedSignature(EntityList, io.Reader, io.Reader, *packet.Config) (*Entity, error) {
	return nil, errNone
}

// ArmoredDetachSign always fails.
func ArmoredDetachSign(io.Writer, *Entity, io.Reader, *packet.Config) error { return errNone }
