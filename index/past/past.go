// Package past is the vault as one commit has it, as files that a search can read.
//
//	x, err := index.Open(past.New(snapshot, commit.When), options)
package past

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/vault"
)

// A Source is the files of one commit. It is a source that index.Open takes.
type Source struct {
	mu   sync.Mutex // a snapshot is for one at a time
	snap *vault.Snapshot
	when time.Time
}

// New makes a source of a commit. Nothing is kept of it: each search reads every file.
// When is the commit's time, which its files get.
func New(snap *vault.Snapshot, when time.Time) *Source { return &Source{snap: snap, when: when} }

// Files lists what the commit has of what [vault.Vault.Files] would list.
func (p *Source) Files(ctx context.Context, o vault.WalkOptions) ([]vault.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []vault.File
	for path, err := range p.snap.Files() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		class := vault.ClassOf(path)
		hidden := strings.HasPrefix(path.Base(), ".") || strings.Contains("/"+string(path), "/.")
		if !path.IsMarkdown() || hidden || class == vault.ClassConfig || vault.IsReport(path) != o.Reports || class == vault.ClassArchive && !o.Archive {
			continue
		}
		out = append(out, vault.File{Path: path, ModTime: p.when})
	}
	slices.SortFunc(out, func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// ReadFile reads a file of the commit.
func (p *Source) ReadFile(path vault.Path) ([]byte, vault.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, hash, err := p.snap.Read(path)
	if err != nil {
		return nil, vault.File{}, err
	}
	if hash == "" {
		return nil, vault.File{}, fmt.Errorf("read %q: %w", path, fs.ErrNotExist)
	}
	return data, vault.File{Path: path, Size: int64(len(data)), ModTime: p.when}, nil
}

// FolderTime says that nothing ever changes.
func (p *Source) FolderTime(vault.Path) (time.Time, error) { return p.when, nil }

// StateDir is no folder: the past has no index.
func (p *Source) StateDir() string { return "" }
