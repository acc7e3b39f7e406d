package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"strings"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// The journal is one line saying which commit is about to be published. It is
// durable before the branch moves and emptied when the working tree and the git
// index have caught up. It names no paths: they are the difference of two
// trees. It is overwritten in place, so its checksum decides whether a line was
// ever whole; a torn one means that the branch did not move.
type journal struct {
	Version int    `json:"v"`
	Head    bool   `json:"head"` // HEAD was detached: it is HEAD itself that moves
	Ref     string `json:"ref"`
	Base    string `json:"base"`
	Next    string `json:"next"`
	CRC     uint32 `json:"crc32c"`
}

// maxJournal bounds what is read: a line is about 200 bytes, and a ref name at
// most 4 KB.
const maxJournal = 8 << 10

func (j journal) sum() uint32 {
	text := fmt.Sprintf("%d\n%t\n%s\n%s\n%s", j.Version, j.Head, j.Ref, j.Base, j.Next)
	return crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
}

func (j journal) encode() ([]byte, error) {
	j.CRC = j.sum()
	line, err := json.Marshal(j)
	return append(line, '\n'), err
}

// decodeJournal reports ok only for a whole line of a known version.
func decodeJournal(data []byte) (j journal, ok bool) {
	if err := json.Unmarshal(data, &j); err != nil || j.Version != 1 || j.CRC != j.sum() {
		return journal{}, false
	}
	if j.Ref != "HEAD" && (!strings.HasPrefix(j.Ref, "refs/") || !fs.ValidPath(j.Ref)) {
		return journal{}, false
	}
	return j, true
}

// transition is a journal with its ids decoded.
type transition struct {
	head       gitstore.Head // with the id before
	next       gitstore.ID
	wasPresent bool // a whole journal was found
}

func (s *Store) journalPath() string { return path.Join(s.state, "journal") }

func (s *Store) writeJournal(head gitstore.Head, next gitstore.ID, batch *durable.Batch) error {
	j := journal{Version: 1, Head: head.Detached, Ref: head.Ref, Base: head.ID.String(), Next: next.String()}
	line, err := j.encode()
	if err != nil {
		return err
	}
	root, file := s.repo.Root(), s.journalPath()
	if root.Exists(file) {
		return batch.Overwrite(root, "journal", file, line, 0o666)
	}
	// The first time the file gets its name whole, and every folder it stands in
	// is synced: a kill in between leaves text in it, and recovery syncs again.
	if err := durable.PutWhole(root, "journal", s.tmp("journal"), file, line, 0o666); err != nil {
		return err
	}
	return s.syncState()
}

// syncState makes the folders of local state durable.
func (s *Store) syncState() error {
	return errors.Join(s.repo.SyncFolders("journal", s.state), s.repo.SyncFolders("journal", "stet"))
}

// clearJournal needs no fsync: finishing the same commit twice changes nothing.
func (s *Store) clearJournal() error {
	return s.repo.Root().Overwrite("journal.clear", s.journalPath(), nil, 0o666, false)
}

func (s *Store) readJournal() (transition, error) {
	data, _, err := s.repo.Root().ReadFile(s.journalPath(), maxJournal)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errTooLarge) {
		return transition{}, nil // none, or nothing that we wrote
	}
	if err != nil {
		return transition{}, err
	}
	j, ok := decodeJournal(data)
	if !ok {
		return transition{}, nil
	}
	// A line that we cannot have written tells nothing, like a torn one.
	base, err := gitstore.ParseID(j.Base)
	if err != nil {
		return transition{}, nil
	}
	next, err := gitstore.ParseID(j.Next)
	if err != nil || next.IsZero() {
		return transition{}, nil
	}
	return transition{head: gitstore.Head{Ref: j.Ref, ID: base, Detached: j.Head}, next: next, wasPresent: true}, nil
}
