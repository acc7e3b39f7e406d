package index

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"stet/vault"
)

// A large segment is verified once after the system started, and again when
// somebody wrote it: computing the checksum of 250 MB takes longer than most
// searches. What a crash tears is torn before the system starts again, and the
// change time of a file, which no program can set, tells of every write. The file
// verified holds what was found whole:
//
//	<boot id>
//	<inode and change time, hex> <size> <CRC-32C, hex>
//
// Where the system has no boot id or no change time everything is verified always.
const verifiedName = "verified"

// settled is how much older than the file verified a change has to be: of two
// changes within one tick of the file system's clock the second leaves no trace.
const settled = time.Second

// verified is what the file verified says that holds now.
type verified struct {
	boot  string
	at    time.Time // when it was written
	lines map[string]bool
	news  []string // of segments in use, in order
	grown bool     // some of which were not in it
}

// bootID names the time since the system started; "" where nobody says.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

func (s *store) verifiedPath() string { return path.Join(s.version, verifiedName) }

// loadVerified reads the file; what cannot be read says nothing.
func (s *store) loadVerified() *verified {
	v := &verified{boot: bootID(), lines: map[string]bool{}}
	if v.boot == "" {
		return v
	}
	data, info, err := s.root.ReadFile(s.verifiedPath(), 1<<20)
	if err != nil {
		return v
	}
	lines := strings.Split(string(data), "\n")
	if lines[0] == v.boot {
		v.at = info.ModTime()
		for _, line := range lines[1:] {
			v.lines[line] = true
		}
	}
	return v
}

// has reports whether a file, so far as the system tells, still holds the bytes
// that were verified.
func (v *verified) has(fi fs.FileInfo, info segmentInfo) bool {
	id := vault.Identity(fi)
	if v.boot == "" || id == 0 {
		return false
	}
	line := strconv.FormatUint(id, 16) + fmt.Sprintf(" %d %08x", info.bytes, info.crc)
	v.news = append(v.news, line)
	if v.lines[line] && v.at.Sub(fi.ModTime()) > settled {
		return true
	}
	v.grown = true
	return false
}

// saveVerified writes the file when there is something new in it. Failing costs
// the next reader the time that this one took.
func (s *store) saveVerified(v *verified) {
	if v.grown && !s.fixed {
		s.replace("index.verified", s.verifiedPath(), []byte(v.boot+"\n"+strings.Join(v.news, "\n")+"\n"))
	}
}
