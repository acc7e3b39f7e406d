package skillpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"stet/vault"
)

// mostExpanded is how much may come out of an archive, what nobody wants included.
const mostExpanded = 1 << 30

// list lists what is at a place, and the folder that stands for it above.
func list(ctx context.Context, place string) ([]entry, string, error) {
	info, err := os.Stat(place)
	switch {
	case err != nil:
		return nil, "", vault.WithHint(err, "name a folder or an archive that is there")
	case info.IsDir():
		there, err := filepath.EvalSymlinks(place) // a walk follows no link, not even its root
		if err != nil {
			return nil, "", err
		}
		entries, err := listFolder(ctx, there)
		return entries, filepath.Base(place), err
	case !info.Mode().IsRegular():
		return nil, "", fmt.Errorf("%w: it is neither a folder nor a file", vault.ErrNotRegular)
	case filepath.Base(place) == mainFile:
		err := fmt.Errorf("%w: a skill is a whole folder", vault.ErrInvalid)
		return nil, "", vault.WithHint(err, "name %s where nothing but the skill is in it", filepath.Dir(place))
	}
	f, err := os.Open(place)
	if err != nil {
		return nil, "", err
	}
	defer f.Close() // opened for reading only
	entries, err := listArchive(ctx, f, info.Size())
	if err != nil {
		return nil, "", err
	}
	for _, e := range entries {
		if e.name == mainFile {
			return entries, nameOf(place), nil
		}
	}
	return entries, "", nil
}

// read reads an entry: from disk, or what an archive had.
func (e entry) read() ([]byte, error) {
	if e.place == "" {
		return e.data, nil
	}
	f, err := os.Open(e.place)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only
	return limited(f, vault.MaxFileSize)
}

// listFolder lists a folder, without git's own. It follows no link.
func listFolder(ctx context.Context, dir string) (out []entry, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && d.Name() == ".git" && p != dir:
			return fs.SkipDir
		case d.IsDir() || d.Name() == ".git":
			return nil
		case len(out) == mostEntries:
			return tooMany()
		}
		e := entry{name: filepath.ToSlash(rel), file: d.Type().IsRegular(), place: p}
		if info, err := d.Info(); err == nil {
			e.size, e.executable = info.Size(), info.Mode()&0o100 != 0
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

func tooMany() error {
	return vault.WithHint(fmt.Errorf("%w: it holds more than %d files", vault.ErrTooLarge, mostEntries),
		"name the folder of the skills alone")
}

// listArchive lists and reads an archive, whichever kind its first bytes say.
func listArchive(ctx context.Context, f *os.File, size int64) ([]entry, error) {
	in := bufio.NewReader(f)
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte("PK")) {
		out, err := listZip(ctx, f, size)
		return out, distrusted(err)
	}
	var from io.Reader = in
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", vault.ErrInvalid, err)
		}
		from = z
	}
	left := &io.LimitedReader{R: from, N: mostExpanded}
	out, err := listTar(ctx, left)
	if left.N == 0 {
		err = fmt.Errorf("%w: it expands to more than %d MiB", vault.ErrTooLarge, mostExpanded>>20)
	}
	return out, distrusted(err)
}

// distrusted is the error of an archive with what to do about it.
func distrusted(err error) error {
	if err == nil {
		return nil
	}
	return vault.WithHint(err, "nothing of it was installed; unpack it, look at it, and install the folder")
}

func listTar(ctx context.Context, in io.Reader) (out []entry, err error) {
	room := int64(mostBytes)
	for tr := tar.NewReader(in); ; {
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%w: not an archive of the kinds tar, tar.gz and zip: %w", vault.ErrInvalid, err)
		case context.Cause(ctx) != nil:
			return nil, context.Cause(ctx)
		case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case len(out) == mostEntries:
			return nil, tooMany()
		}
		e := entry{file: h.Typeflag == tar.TypeReg, executable: h.Mode&0o100 != 0, size: h.Size}
		if e.name, err = inside(h.Name); err != nil {
			return nil, err
		}
		if e.file && h.Size <= vault.MaxFileSize {
			if room -= h.Size; room < 0 {
				return nil, fmt.Errorf("%w: it has more than %d MiB of files", vault.ErrTooLarge, mostBytes>>20)
			}
			if e.data, err = limited(tr, vault.MaxFileSize); err != nil {
				return nil, fmt.Errorf("%q: %w: %w", h.Name, vault.ErrInvalid, err)
			}
		}
		out = append(out, e)
	}
}

func listZip(ctx context.Context, f io.ReaderAt, size int64) (out []entry, err error) {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // which paths are, is looked at below
		return nil, fmt.Errorf("%w: %w", vault.ErrInvalid, err)
	}
	if len(z.File) > mostEntries {
		return nil, tooMany()
	}
	room := int64(mostBytes)
	for _, m := range z.File {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if m.Mode().IsDir() {
			continue
		}
		e := entry{file: m.Mode().IsRegular(), executable: m.Mode()&0o100 != 0,
			size: int64(min(m.UncompressedSize64, 1<<62))}
		if e.name, err = inside(strings.ReplaceAll(m.Name, `\`, "/")); err != nil {
			return nil, err
		}
		if e.file && e.size <= vault.MaxFileSize {
			if e.data, err = member(m); err != nil {
				return nil, fmt.Errorf("%q: %w: %w", m.Name, vault.ErrInvalid, err)
			}
			e.size = int64(len(e.data))
			if room -= e.size; room < 0 {
				return nil, fmt.Errorf("%w: it has more than %d MiB of files", vault.ErrTooLarge, mostBytes>>20)
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// member reads one file of a zip archive, whatever its header says of the size.
func member(m *zip.File) ([]byte, error) {
	in, err := m.Open()
	if err != nil {
		return nil, err
	}
	data, err := limited(in, vault.MaxFileSize)
	return data, errors.Join(err, in.Close())
}

// inside is a name of an archive, clean. An archive with a name that leads out of it is not to be trusted at all.
func inside(name string) (string, error) {
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsRune(name, 0) ||
		!filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", fmt.Errorf("%q: %w: the archive wants to write outside of its folder", name, vault.ErrBadPath)
	}
	return clean, nil
}
