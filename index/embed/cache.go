package embed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"strings"
	"sync"

	"stet/vault/durable"
	"stet/vault/filelock"
)

// A Key names contents: the first bytes of their SHA-256.
type Key [16]byte

// A Cache keeps the vectors of one model in one file of a folder. Each line is
//
//	key (hex) · space · CRC-32C of the rest, continued from the key (hex) · space · little-endian float32s (base64)
//
// behind a first line that names format and model. A line that is not whole is
// not there: a crash costs the last lines, a flipped bit one. It is safe for
// concurrent use, by any number of processes.
type Cache struct {
	root *durable.Root
	name string
	head string

	mu      sync.Mutex
	stamp   string // of the file that was read, "" before
	vectors map[Key][]float32
	damaged bool
}

const (
	cacheVersion = "stet vectors 1"
	cacheLock    = "vectors.lock"
	cachePerm    = 0o600
	maxCache     = 4 << 30
)

// NewCache is the cache for a model in root, which stays the caller's.
func NewCache(root *durable.Root, model string) *Cache {
	sum := sha256.Sum256([]byte(model))
	return &Cache{root: root, name: "vectors-" + hex.EncodeToString(sum[:8]), head: fmt.Sprintf("%s %q\n", cacheVersion, model)}
}

// Load reads what others have written since. It fails only where the file is
// there and cannot be read.
func (c *Cache) Load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load()
}

func (c *Cache) load() error {
	info, err := c.root.Lstat(c.name)
	if errors.Is(err, fs.ErrNotExist) {
		c.vectors, c.damaged, c.stamp = map[Key][]float32{}, false, "none"
		return nil
	}
	if err != nil {
		return fmt.Errorf("read cached vectors: %w", err)
	}
	stamp := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if stamp == c.stamp {
		return nil
	}
	data, _, err := c.root.ReadFile(c.name, maxCache)
	if err != nil {
		return fmt.Errorf("read cached vectors: %w", err)
	}
	c.stamp, c.vectors, c.damaged = stamp, map[Key][]float32{}, false
	rest, ok := bytes.CutPrefix(data, []byte(c.head))
	if !ok {
		c.damaged = true
		return nil
	}
	dims := 0
	for line := range bytes.Lines(rest) {
		key, v, ok := decodeLine(line)
		if !ok || dims > 0 && len(v) != dims {
			c.damaged = true
			continue
		}
		dims = len(v)
		c.vectors[key] = v
	}
	return nil
}

// Get is the vector of contents, nil when it is not known.
func (c *Cache) Get(k Key) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vectors[k]
}

// Dims is the length of the vectors, 0 without any.
func (c *Cache) Dims() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dims()
}

func (c *Cache) dims() int {
	for _, v := range c.vectors {
		return len(v)
	}
	return 0
}

// Add keeps vectors in memory and then on disk; where another process is
// writing, in memory alone. The file is made anew when it was damaged. Vectors
// of another length than those that are kept are refused with [ErrAbsurd].
func (c *Cache) Add(ctx context.Context, keys []Key, vectors [][]float32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	if c.vectors == nil {
		c.vectors = map[Key][]float32{}
	}
	if have := c.dims(); have > 0 && have != len(vectors[0]) {
		return fmt.Errorf("the vectors have length %d, and those before %d: %w", len(vectors[0]), have, ErrAbsurd)
	}
	var lines []byte
	for i, k := range keys {
		c.vectors[k] = vectors[i]
		lines = appendLine(lines, k, vectors[i])
	}
	return c.locked(ctx, func() error {
		if c.damaged || !c.root.Exists(c.name) {
			return c.write()
		}
		// An fsync would guard what can be asked for again.
		return c.root.Append("embed.append", c.name, lines, cachePerm, false)
	})
}

// Keep forgets the vectors of all other contents and makes the file anew when
// there were any.
func (c *Cache) Keep(ctx context.Context, live func(Key) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return err
	}
	dead := 0
	for k := range c.vectors {
		if !live(k) {
			delete(c.vectors, k)
			dead++
		}
	}
	if dead == 0 && !c.damaged {
		return nil
	}
	return c.locked(ctx, c.write)
}

func (c *Cache) locked(ctx context.Context, write func() error) error {
	lock, err := filelock.Acquire(ctx, c.root, cacheLock, filelock.Options{})
	if errors.Is(err, filelock.ErrBusy) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep vectors: %w", err)
	}
	err = write()
	c.stamp = "" // others may have written just before: read it all again
	// The kernel drops the lock with the process at the latest.
	_ = lock.Release()
	if err != nil {
		return fmt.Errorf("keep vectors: %w", err)
	}
	return nil
}

// write makes the file of what is in memory. Readers meanwhile see the file
// before or the one after.
func (c *Cache) write() error {
	var b strings.Builder
	b.WriteString(c.head)
	var line []byte
	for k, v := range c.vectors {
		line = appendLine(line[:0], k, v)
		b.Write(line)
	}
	next := c.name + ".next"
	if err := c.root.Remove("embed.clear", next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.root.Create("embed.create", next, []byte(b.String()), cachePerm); err != nil {
		return err
	}
	if err := c.root.Rename("embed.rename", next, c.name); err != nil {
		return err
	}
	c.damaged = false
	return nil
}

func crc(data ...[]byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli) // the standard library keeps it
	sum := uint32(0)
	for _, d := range data {
		sum = crc32.Update(sum, table, d)
	}
	return sum
}

func appendLine(b []byte, k Key, v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	b = hex.AppendEncode(b, k[:])
	b = fmt.Appendf(b, " %08x ", crc(k[:], raw))
	b = base64.RawStdEncoding.AppendEncode(b, raw)
	return append(b, '\n')
}

// decodeLine reads one line, newline included: without it the line was torn.
func decodeLine(line []byte) (k Key, v []float32, ok bool) {
	const keyEnd, sumEnd = 2 * len(k), 2*len(k) + 9
	if len(line) < sumEnd+2 || line[keyEnd] != ' ' || line[sumEnd] != ' ' || line[len(line)-1] != '\n' {
		return k, nil, false
	}
	var sum [4]byte
	if _, err := hex.Decode(k[:], line[:keyEnd]); err != nil {
		return k, nil, false
	}
	if _, err := hex.Decode(sum[:], line[keyEnd+1:sumEnd]); err != nil {
		return k, nil, false
	}
	raw, err := base64.RawStdEncoding.AppendDecode(nil, line[sumEnd+1:len(line)-1])
	if err != nil || len(raw) == 0 || len(raw)%4 != 0 || len(raw) > 4*maxDims || crc(k[:], raw) != binary.BigEndian.Uint32(sum[:]) {
		return k, nil, false
	}
	v = make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return k, v, true
}
