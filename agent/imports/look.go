package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/vault"
	"stet/vault/session"
)

// A Survey says what a source has that the vault has not, as far as that can be
// told without reading it.
type Survey struct {
	Files int
	Bytes int64
	// Conversations: new ones, at least one in each file that was never read;
	// those of files that have changed since; those of files that have not.
	New, Grown, Unchanged int
	// Unread counts those that are in the vault by the name of their file, which was never read here, and whose file ends
	// later than their transcript: they may have grown.
	Unread int
}

// Look surveys a source of conversations. Cost: a listing of the source and of the
// vault's transcripts; of a file that was never read and stands in the vault by its name, the end is.
func Look(ctx context.Context, v *vault.Vault, s Source, places []string) (Survey, error) {
	var out Survey
	files, err := s.files(places)
	if err != nil {
		return out, err
	}
	d, err := openDone(v, s)
	if err != nil {
		return out, err
	}
	k, err := newKnown(ctx, v)
	if err != nil {
		return out, err
	}
	for _, f := range files {
		out.Files, out.Bytes = out.Files+1, out.Bytes+f.size
		was, now := d.files[nameOf(f)], d.of(f)
		switch {
		case was == nil:
			count, err := s.neverRead(k, f)
			if err != nil {
				return out, err
			}
			of := map[int]*int{lost: &out.New, there: &out.Unchanged, unknown: &out.Unread}
			*of[count]++
		case now == nil:
			out.Grown += max(1, len(was.Talks))
		default:
			for _, t := range now.Talks {
				at, err := k.whereabouts(t)
				if err != nil {
					return out, err
				}
				if at == lost {
					out.New++
				} else {
					out.Unchanged++
				}
			}
		}
	}
	return out, nil
}

// unknown is the place of a conversation that may have grown.
const unknown = -1

// neverRead says where the conversation of a file is that was not read in this clone, as its name tells.
func (s Source) neverRead(k *known, f file) (int, error) {
	p := vault.Path("")
	if s.foreign != nil {
		p = k.named6(hashPart(SessionID(s.Name, s.foreign(f.path), time.Time{})))
	}
	if p == "" {
		return lost, nil
	}
	head, err := session.Head(k.v, p)
	if errors.Is(err, fs.ErrNotExist) {
		return lost, nil
	}
	if last := lastTime(f.path); err != nil || last.IsZero() || last.After(head.Ended) {
		return unknown, err
	}
	return there, nil
}

// tailBytes is how much of the end of a file is looked at.
const tailBytes = 64 << 10

var timestamps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:timestamp|ts|lastUpdated)"\s*:\s*("[^"]+"|\d+)`)
})

// lastTime is the latest time that the end of a file names; zero where it names none.
func lastTime(path string) (last time.Time) {
	in, err := os.Open(path)
	if err != nil {
		return last
	}
	defer func() { _ = in.Close() }() // it was only read
	if info, err := in.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = in.Seek(-tailBytes, io.SeekEnd) // else what is read is the beginning, and says little
	}
	data, _ := io.ReadAll(io.LimitReader(in, tailBytes))
	for _, at := range timestamps().FindAllSubmatch(data, -1) {
		if t := timeOf(json.RawMessage(at[1])); t.After(last) {
			last = t
		}
	}
	return last
}

// chosenName is where local state keeps the sources that the person chose, a name each.
const chosenName = "imports-chosen"

// Chosen are the sources that the person chose last to bring in.
func Chosen(v *vault.Vault) ([]string, error) {
	data, err := v.State().Seen(chosenName)
	return strings.Fields(string(data)), err
}

// Choose remembers the sources that the person chose; none forgets them.
func Choose(ctx context.Context, v *vault.Vault, names []string) error {
	return v.State().SetSeen(ctx, chosenName, func([]byte) ([]byte, error) {
		if len(names) == 0 {
			return nil, nil
		}
		return []byte(strings.Join(slices.Compact(slices.SortedFunc(slices.Values(names), cmp.Compare[string])), "\n")), nil
	})
}
