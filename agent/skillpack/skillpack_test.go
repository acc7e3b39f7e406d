package skillpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/agent/skillpack"
	"stet/vault"
)

const main = "---\nname: x\ndescription: y\n---\n"

// put writes files below a folder; a name that ends on "*" is executable.
func put(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, "*") {
			name, mode = strings.TrimSuffix(name, "*"), 0o755
		}
		full := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), mode))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tarOf is an archive of these headers, with their names as bytes.
func tarOf(t *testing.T, packed bool, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		data := []byte(main)
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(data))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	if packed {
		var z bytes.Buffer
		g := gzip.NewWriter(&z)
		if _, err := g.Write(data); err != nil || g.Close() != nil {
			t.Fatal(err)
		}
		data = z.Bytes()
	}
	return filepath.Join(put(t, t.TempDir(), map[string]string{"my-pack.tar.gz": string(data)}), "my-pack.tar.gz")
}

func zipOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o755)
		m, err := w.CreateHeader(h)
		if err == nil {
			_, err = m.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(put(t, t.TempDir(), map[string]string{"one.zip": b.String()}), "one.zip")
}

// said is the skills of a place, a line each: folder, files, why not.
func said(t *testing.T, place, under string) string {
	t.Helper()
	p, err := skillpack.Read(t.Context(), place, under)
	if err != nil {
		return "error: " + err.Error()
	}
	var out strings.Builder
	for _, s := range p.Skills {
		fmt.Fprintf(&out, "%s", s.Folder)
		for _, f := range s.Files {
			mark := ""
			if f.Executable {
				mark = "*"
			}
			fmt.Fprintf(&out, " %s%s", f.Path, mark)
		}
		if s.Problem != nil {
			fmt.Fprintf(&out, " !%v", s.Problem)
		}
		out.WriteString("\n")
	}
	return fmt.Sprintf("%sleft %d\n", out.String(), p.Left)
}

func TestFoldersAndArchivesOfEveryKind(t *testing.T) {
	t.Parallel()
	many := map[string]string{"r/README.md": "x", "r/s/web/a/SKILL.md": main, "r/s/web/a/scripts/run*": "y",
		"r/s/b/SKILL.md": "\ufeff" + strings.ReplaceAll(main, "\n", "\r\n"), "r/s/b/references/SKILL.md": main,
		"r/.git/config": "z"}
	dir := put(t, t.TempDir(), many)
	const want = "skills/b SKILL.md references/SKILL.md\nskills/web/a SKILL.md scripts/run*\nleft 1\n"
	if got := said(t, dir, ""); got != want {
		t.Errorf("folder: %s", got)
	}
	if got := said(t, filepath.Join(dir, "r/s/web/a"), "c/d"); got != "skills/c/d/a SKILL.md scripts/run*\nleft 0\n" {
		t.Errorf("one: %s", got)
	}
	got := said(t, filepath.Join(dir, "r/s/web/a/SKILL.md"), "")
	if !strings.Contains(got, "a skill is a whole folder") {
		t.Errorf("its file: %s", got)
	}
	link := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(filepath.Join(dir, "r/s/web/a"), link); err != nil {
		t.Logf("links cannot be made here: %v", err)
	} else if got := said(t, link, ""); got != "skills/linked SKILL.md scripts/run*\nleft 0\n" {
		t.Errorf("a link to it: %s", got)
	}
	if got := said(t, zipOf(t, map[string]string{"SKILL.md": main, "x.sh": "y"}), ""); got !=
		"skills/one SKILL.md* x.sh*\nleft 0\n" {
		t.Errorf("zip: %s", got)
	}
	got = said(t, zipOf(t, map[string]string{`p\a\SKILL.md`: main, `p\b\SKILL.md`: main}), "")
	if !strings.HasPrefix(got, "skills/a SKILL.md*\nskills/b ") {
		t.Errorf("zip of another system: %s", got)
	}
	for _, packed := range []bool{false, true} {
		at := tarOf(t, packed, tar.Header{Name: "./SKILL.md", Typeflag: tar.TypeReg, Mode: 0o644})
		if got := said(t, at, ""); got != "skills/my-pack SKILL.md\nleft 0\n" {
			t.Errorf("tar, packed %v: %s", packed, got)
		}
	}
}

// What cannot come in whole is named and the others come in; an archive that leads out of itself is nobody's friend.
func TestHostileFoldersAndArchives(t *testing.T) {
	t.Parallel()
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }
	for name, c := range map[string]struct {
		headers []tar.Header
		want    string
	}{
		"up":       {[]tar.Header{file("a/SKILL.md"), file("../x")}, "write outside"},
		"up later": {[]tar.Header{file("a/SKILL.md"), file("a/../../x")}, "write outside"},
		"absolute": {[]tar.Header{file("a/SKILL.md"), file("/etc/x")}, "write outside"},
		"link": {[]tar.Header{file("a/SKILL.md"), file("b/SKILL.md"),
			{Name: "a/l", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}}, "skills/a !skills/a: \"l\": "},
		"hard link": {[]tar.Header{file("a/SKILL.md"), {Name: "a/l", Linkname: "a/SKILL.md", Typeflag: tar.TypeLink}},
			"link"},
		"device": {[]tar.Header{file("a/SKILL.md"), {Name: "a/d", Typeflag: tar.TypeBlock}}, "no file at all"},
		"linked main": {[]tar.Header{{Name: "a/SKILL.md", Linkname: "x", Typeflag: tar.TypeSymlink}},
			"skills/a !"},
		"twice":        {[]tar.Header{file("a/SKILL.md"), file("a/x"), file("a/x")}, "another file has that name"},
		"case":         {[]tar.Header{file("a/SKILL.md"), file("a/X"), file("a/x")}, "the case of letters"},
		"case of two":  {[]tar.Header{file("a/SKILL.md"), file("A/SKILL.md")}, "the case of letters"},
		"no skill":     {[]tar.Header{file("a/README.md")}, "no folder in it has a SKILL.md"},
		"nothing":      {nil, "no folder in it"},
		"git's folder": {[]tar.Header{file("a/SKILL.md"), file("a/.git/config")}, "skills/a !"},
	} {
		if got := said(t, tarOf(t, true, c.headers...), ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
		if name == "link" {
			if got := said(t, tarOf(t, true, c.headers...), ""); !strings.Contains(got, "\nskills/b SKILL.md\n") {
				t.Errorf("the others: %s", got)
			}
		}
	}
	dir := put(t, t.TempDir(), map[string]string{"good/SKILL.md": main, "many/SKILL.md": main,
		"large/SKILL.md": main})
	for i := range 2_001 {
		put(t, dir, map[string]string{fmt.Sprintf("many/f%d", i): ""})
	}
	large := filepath.Join(dir, "large", "x")
	err := errors.Join(os.WriteFile(large, nil, 0o644), os.Truncate(large, 50<<20))
	if err != nil {
		t.Fatal(err)
	}
	got := said(t, dir, "")
	for _, want := range []string{"skills/good SKILL.md\n", "skills/large !skills/large: \"x\": ",
		"2002 files, at most 2000"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	for name, data := range map[string]string{"zip": "PK\x03\x04 cut", "gzip": "\x1f\x8b\x08 cut", "text": main} {
		at := filepath.Join(put(t, t.TempDir(), map[string]string{"f": data}), "f")
		if _, err := skillpack.Read(t.Context(), at, ""); !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A small archive that expands without end ends soon.
func TestAnArchiveThatExpandsWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{
		"zip": zipOf(t, map[string]string{"a/SKILL.md": main, "a/x": strings.Repeat("\x00", 11<<20)}),
		"many": zipOf(t, func() map[string]string {
			all := map[string]string{"a/SKILL.md": main}
			for i := range 14 {
				all[fmt.Sprintf("a/%d", i)] = strings.Repeat("\x00", 10<<20)
			}
			return all
		}()),
	} {
		p, err := skillpack.Read(t.Context(), place, "")
		if err == nil {
			err = p.Skills[0].Problem
		}
		if !errors.Is(err, vault.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
