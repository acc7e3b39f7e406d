// Package session keeps conversations: open ones as one fsynced line a turn in
// the vault's local state, sealed ones as transcripts.
//
// A turn that was acknowledged survives a killed process and a power cut, and
// stands in the transcript once, whenever the process that seals it dies. What
// looks like a secret is taken out when a session is sealed; until then it
// stands in local state only, which never travels.
//
//	err := session.Append(ctx, v, session.Turn{Session: "4711", Role: "user", Text: []byte("Which port?")})
//	sealed, err := session.Seal(ctx, v, "4711", session.Options{Wait: true})
package session

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/vault"
)

// ErrUnknownSession reports a name that no session has. It is a [vault.ErrNotFound] too.
var ErrUnknownSession error = unknownSession{}

type unknownSession struct{}

func (unknownSession) Error() string { return "no such session" }

func (unknownSession) Is(target error) bool { return target == vault.ErrNotFound }

// foreignPart is the number of characters of a ULID behind its time: of a
// session with a foreign id they are made of that id alone.
const foreignPart = 16

// Key is the name of an open session in local state. A session id of our own is
// its own key; of any other id, which names a conversation of one agent, the key
// is what [ID] ends with.
func Key(agent, id string) string {
	if own(id) {
		return strings.ToLower(id)
	}
	return ID(agent, id, time.Unix(0, 0))[26-foreignPart:]
}

// ID is the permanent id of a session: an id of our own as it is, else the ULID
// of its first moment and of the first 80 bits of sha256(agent NUL id), so that
// whoever meets the conversation again makes the same one.
func ID(agent, id string, started time.Time) string {
	if own(id) {
		return strings.ToLower(id)
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + id))
	// A time before 1970 has no ULID; such a clock is wrong anyway.
	u := ulid.MustNew(uint64(max(0, started.UnixMilli())), bytes.NewReader(sum[:]))
	return strings.ToLower(u.String())
}

// own reports an id that stet made.
func own(id string) bool {
	_, err := ulid.ParseStrict(id)
	return err == nil
}

// same reports whether a sealed session with that id is the open one of key.
func same(id, key string) bool {
	return id == key || len(id) == 26 && len(key) == foreignPart && strings.HasSuffix(id, key)
}
