package gitstore

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// putLoose writes an object into a file of its own, under any id.
func putLoose(t *testing.T, dir string, id ID, kind plumbing.ObjectType, data []byte) string {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := fmt.Fprintf(z, "%s %d\x00%s", kind, len(data), data)
	must(t, err, z.Close())
	name := id.String()
	file := filepath.Join(dir, ".git/objects", name[:2], name[2:])
	must(t, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, packed.Bytes(), 0o644))
	return file
}

func TestLooseObjectsAreReadAndNotBelieved(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	big := bytes.Repeat([]byte("more than is read here. "), maxLoose/20)
	for _, data := range [][]byte{nil, []byte("x"), []byte("two\nlines\x00and a NUL"), bytes.Repeat([]byte("abc"), 70_000), big} {
		id := HashBlob(data)
		file := putLoose(t, dir, id, plumbing.BlobObject, data)
		if obj, found := r.packs.loose(id); found != (len(data) <= maxLoose) || found && (obj.kind != plumbing.BlobObject || !bytes.Equal(obj.data, data)) {
			t.Errorf("%d bytes: found %v as %s, %d bytes", len(data), found, obj.kind, len(obj.data))
		}
		if got, err := r.Stage().Blob(id); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: read %d, %v", len(data), len(got), err)
		}
		whole, err := os.ReadFile(file)
		must(t, err)
		if len(data) > maxLoose {
			continue
		}
		for cut := 0; cut < len(whole); cut += 1 + len(whole)/40 {
			must(t, os.WriteFile(file, whole[:cut], 0o644))
			if _, found := r.packs.loose(id); found {
				t.Errorf("%d of %d bytes of the file were taken for all", cut, len(whole))
			}
		}
	}
}

// A file that holds another object than its name says is a torn or foreign
// write: a walk through history neither believes it nor prefers it to a pack.
func TestAWalkDoesNotBelieveALooseObject(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	objects := r.Stage()
	tree, err := objects.EditTree(ID{},
		[]TreeEdit{{Path: "a.md", Mode: 0o100644, ID: objects.PutBlob([]byte("right\n"))}})
	must(t, err)
	who := Signature{"Ada", "ada@example.org"}
	commit := func(o *Objects, text string, tree ID) ID {
		id, err := o.PutCommit(Commit{Tree: tree, Author: who, Committer: who, When: time.Unix(1e9, 0), Committed: time.Unix(1e9, 0), Message: text})
		must(t, err)
		return id
	}
	right := commit(objects, "right", tree)
	flush(t, objects)

	other := r.Stage()
	wrongTree, err := other.EditTree(ID{},
		[]TreeEdit{{Path: "a.md", Mode: 0o100644, ID: other.PutBlob([]byte("wrong\n"))}})
	must(t, err)
	wrong := commit(other, "wrong", wrongTree)
	flush(t, other)
	data, err := r.object(plumbing.CommitObject, wrong)
	must(t, err)

	putLoose(t, dir, right, plumbing.CommitObject, data)
	n, err := r.WalkFile(nil).At(right, "a.md")
	if err != nil || n.Blob != HashBlob([]byte("right\n")) {
		t.Errorf("beside a pack: %v, %v; want what the pack has", n, err)
	}
	gone, err := ParseID(strings.Repeat("5a", 20))
	must(t, err)
	putLoose(t, dir, gone, plumbing.CommitObject, data)
	if n, err := r.WalkFile(nil).At(gone, "a.md"); !errors.Is(err, ErrMissing) {
		t.Errorf("alone: %v, %v; want ErrMissing", n, err)
	}
}
