package gitstore

import (
	"bufio"
	"bytes"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// maxLoose bounds what is read here of a file of its own; go-git reads
	// larger ones.
	maxLoose = 4 << 20
	// maxHeader is more than "commit 4194304" and its NUL take.
	maxHeader = 32
)

// loose reads an object from a file of its own. A walk through a history that
// git has not packed yet reads some tens of thousands, and go-git takes several
// times as long for each. found is false when there is none, or none that is
// whole: whoever is asked next says what is wrong with it.
func (s *packSet) loose(id ID) (obj packObject, found bool) {
	name := id.String()
	f, _, err := s.root.OpenRegular("objects/" + name[:2] + "/" + name[2:])
	if err != nil {
		return packObject{}, false
	}
	defer f.Close() // opened for reading: nothing to lose
	if err := s.decompress(f); err != nil {
		return packObject{}, false
	}
	if s.head == nil {
		s.head = bufio.NewReader(s.zip)
	} else {
		s.head.Reset(s.zip)
	}
	kind, size, ok := looseHeader(s.head)
	if !ok {
		return packObject{}, false
	}
	data, err := exactly(s.head, size)
	return packObject{kind, data}, err == nil
}

// looseHeader reads what stands before the contents.
func looseHeader(in *bufio.Reader) (kind plumbing.ObjectType, size int64, ok bool) {
	head, _ := in.Peek(maxHeader) // what is there of it; an object may be shorter
	text, _, found := bytes.Cut(head, []byte{0})
	name, length, _ := bytes.Cut(text, []byte(" "))
	kind, err := plumbing.ParseObjectType(string(name))
	if !found || err != nil {
		return kind, 0, false
	}
	size, err = strconv.ParseInt(string(length), 10, 64)
	if err != nil || size < 0 || size > maxLoose {
		return kind, 0, false
	}
	_, err = in.Discard(len(text) + 1)
	return kind, size, err == nil
}

// exactly reads size bytes and sees to it that no more follow: the checksum
// stands behind the last.
func exactly(in io.Reader, size int64) ([]byte, error) {
	// The size is what a damaged file says: believe it no further than it
	// takes to be right in one allocation.
	buf := bytes.NewBuffer(make([]byte, 0, min(size, 1<<20)+bytes.MinRead))
	if _, err := io.Copy(buf, io.LimitReader(in, size+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) != size {
		return nil, errDamagedPack
	}
	return buf.Bytes(), nil
}
