package imports

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/vault"
)

// A Host is what finding sources needs to know of this machine.
type Host struct {
	Getenv func(string) string
	Home   string
}

// under is a folder below the one that a variable names, else below that of the home
// folder; "" without either.
func (h Host) under(variable, fallback string, parts ...string) string {
	dir := h.Getenv(variable)
	if dir == "" && h.Home != "" {
		dir = filepath.Join(h.Home, fallback)
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// A Source is one program's way of keeping conversations or memories.
type Source struct {
	Name  string // as a person types it
	Title string // what it is, for a list
	// Memories is set where it holds memories and not conversations.
	Memories bool

	places func(Host) []string    // where it stands by itself; nil: it has to be named
	keep   func(path string) bool // which files of a folder belong to it
	read   func(*reading, file) error
	forked func(path string) bool  // whether a file may be a fork of a later one; nil: none is
	is     func(record shape) bool // whether it wrote a file that has such a record; nil: names alone tell
	// foreign is the id that the conversation of a file has by its name alone, ""
	// for none; nil where names say nothing.
	foreign func(path string) string
}

// Sources lists what can be imported, in the order of a list for people.
func Sources() []Source {
	return []Source{claudeCode(), codex(), gemini(), qwen(), copilot(), pi(), openClawSessions(), cline(), rooCode(),
		kiloCode(), hermesSessions(), chatGPT(), claudeAI(), stetLines(), openAI(), shareGPT(),
		claudeMemory(), hermesMemory(), openClaw(), basicMemory(), mcpMemory()}
}

// Find returns the source of that name.
func Find(name string) (Source, bool) {
	for _, s := range Sources() {
		if s.Name == name {
			return s, true
		}
	}
	return Source{}, false
}

// Find lists the places of this machine where the source stands by itself.
func (s Source) Find(h Host) []string {
	if s.places == nil {
		return nil
	}
	var out []string
	for _, p := range s.places(h) {
		if _, err := os.Stat(p); p != "" && err == nil && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Named reports whether the source has no place of its own: a person has to name
// the file.
func (s Source) Named() bool { return s.places == nil }

// A file is one regular file of a source.
type file struct {
	path string
	root string // the place it was found in
	size int64

	time     time.Time // of its last change
	identity uint64    // see vault.Identity
}

// Count says how many files of a source stand in places, and their bytes.
func (s Source) Count(places []string) (files int, bytes int64, err error) {
	list, err := s.files(places)
	for _, f := range list {
		bytes += f.size
	}
	return len(list), bytes, err
}

// files lists the regular files of a source in path order. Pipes, sockets and
// devices would block a reader for ever and are passed over; so are links, which
// could lead round in a circle.
func (s Source) files(places []string) ([]file, error) {
	var out []file
	for _, place := range places {
		info, err := os.Stat(place)
		if err != nil {
			return nil, vault.WithHint(fmt.Errorf("import: %w", err), "name a file or folder that is there")
		}
		if !info.IsDir() {
			if !info.Mode().IsRegular() {
				return nil, vault.WithHint(fmt.Errorf("import %s: %q: %w", s.Name, place, vault.ErrNotRegular), "save it as a file first")
			}
			f := file{path: place, root: filepath.Dir(place)}
			f.stat(info)
			out = append(out, f)
			continue
		}
		err = filepath.WalkDir(place, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				if p == place {
					return err
				}
				return nil // a folder that cannot be read hides nothing else
			}
			if !d.Type().IsRegular() || s.keep != nil && !s.keep(p) {
				return nil
			}
			info, err := d.Info()
			if err == nil {
				f := file{path: p, root: place}
				f.stat(info)
				out = append(out, f)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", s.Name, err)
		}
	}
	slices.SortStableFunc(out, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return slices.CompactFunc(out, func(a, b file) bool { return a.path == b.path }), nil
}

// eachRecord reads files, or the members of zip archives that keep accepts, as JSON arrays or
// JSON lines.
func eachRecord(keep func(string) bool, fn func(r *reading, name string, n int, record []byte) error) func(*reading, file) error {
	return func(r *reading, f file) error {
		return r.open(f, keep, func(name string, in io.Reader) error {
			return r.records(name, in, func(n int, record []byte) error { return fn(r, name, n, record) })
		})
	}
}

// isExport reports the files of conversations in an export: of ChatGPT's and Claude.ai's.
func isExport(p string) bool {
	base := strings.ToLower(path.Base(strings.ReplaceAll(p, `\`, "/")))
	return strings.HasPrefix(base, "conversations") && strings.HasSuffix(base, ".json")
}

func hasExt(exts ...string) func(string) bool {
	return func(p string) bool { return slices.Contains(exts, strings.ToLower(filepath.Ext(p))) }
}

// open reads a file, or the members of a zip archive that keep accepts, as one
// stream each.
func (r *reading) open(f file, keep func(name string) bool, fn func(name string, in io.Reader) error) error {
	if strings.EqualFold(filepath.Ext(f.path), ".zip") {
		return r.unzip(f, keep, fn)
	}
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		r.broken = true
		r.problem(f.path, 0, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	err = fn(f.path, &counted{in: in, r: r})
	return errors.Join(err, in.Close())
}

func (r *reading) unzip(f file, keep func(name string) bool, fn func(name string, in io.Reader) error) error {
	z, err := zip.OpenReader(f.path)
	if err != nil {
		r.broken = true
		r.problem(f.path, 0, "not a zip archive: "+err.Error())
		return nil
	}
	members, left := slices.Clone(z.File), mostInflated*f.size+maxLine/2
	slices.SortFunc(members, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	for _, m := range members {
		if !m.Mode().IsRegular() || !keep(m.Name) {
			continue
		}
		in, merr := m.Open()
		if merr != nil {
			r.broken = true
			r.problem(f.path, 0, m.Name+": "+merr.Error())
			continue
		}
		// A damaged member ends itself and not the import.
		if err = errors.Join(fn(f.path+"/"+m.Name, &inflated{in, r.ctx, &left}), in.Close()); err != nil {
			break
		}
	}
	r.progress.Bytes += f.size
	return errors.Join(err, z.Close())
}

// mostInflated is how many times its size an archive may expand to. Conversations
// do to 20 times; an archive of spaces would to 1,000 times.
const mostInflated = 64

// inflated reads a member of an archive, up to what is left for all of them, and
// ends when the person does.
type inflated struct {
	in   io.Reader
	ctx  context.Context
	left *int64
}

func (i *inflated) Read(p []byte) (int, error) {
	if err := context.Cause(i.ctx); err != nil {
		return 0, err
	}
	if *i.left <= 0 {
		return 0, fmt.Errorf("it expands to more than %d times its size: unpack it and import the folder", mostInflated)
	}
	n, err := i.in.Read(p[:min(int64(len(p)), *i.left)])
	*i.left -= int64(n)
	return n, err
}

// counted counts what was read, for progress, and ends when the person does.
type counted struct {
	in io.Reader
	r  *reading
}

func (c *counted) Read(p []byte) (int, error) {
	if err := context.Cause(c.r.ctx); err != nil {
		return 0, err
	}
	n, err := c.in.Read(p)
	c.r.progress.Bytes += int64(n)
	return n, err
}
