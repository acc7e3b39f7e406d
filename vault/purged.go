package vault

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"stet/vault/tombstone"
)

// What was purged must not be guessed from what is committed, so its tombstone holds ids alone. That
// no agent writes the text anew is kept beside the vault: a key of its own, and what the key makes
// of each text.

// purgedMark is the mark in local state: the key, then one text a line, in hex.
const purgedMark = "purged"

// NotePurged remembers texts that were purged, in a form that says nothing without this machine.
func (s *State) NotePurged(ctx context.Context, texts []string) error {
	return s.SetSeen(ctx, purgedMark, func(now []byte) ([]byte, error) {
		if len(now) == 0 {
			key := make([]byte, sha256.Size)
			if _, err := rand.Read(key); err != nil {
				return nil, err
			}
			now = []byte(hex.EncodeToString(key) + "\n")
		}
		for _, text := range texts {
			if sum := sumOf(now, text); sum != nil && !bytes.Contains(now, sum) {
				now = append(append(now, sum...), '\n')
			}
		}
		return now, nil
	})
}

// purged reports whether a text, or a line of it, is one that was purged here.
func (s *State) purged(text string) (bool, error) {
	known, err := s.Seen(purgedMark)
	if err != nil || len(known) == 0 {
		return false, err
	}
	return slices.ContainsFunc(append(strings.Split(text, "\n"), text), func(part string) bool {
		sum := sumOf(known, part)
		return sum != nil && bytes.Contains(known, sum)
	}), nil
}

// sumOf is what the key in front of known makes of a text, nil of one that says nothing.
func sumOf(known []byte, text string) []byte {
	key, _, _ := bytes.Cut(known, []byte("\n"))
	said := tombstone.Hash(text)
	if said == "" {
		return nil
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(said))
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// checkPurged refuses a machine what was purged.
func (r *rejections) checkPurged(p Path, text string) error {
	again, err := r.t.v.State().purged(text)
	if err == nil && again {
		err = &RejectedError{Path: p, Match: "text", Stone: tombstone.Stone{Action: tombstone.Purge}}
	}
	return err
}
