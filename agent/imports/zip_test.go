package imports_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"stet/vault/vaulttest"
)

// An export comes as it was downloaded; one cut short is a problem and no end.
func TestExportsInArchives(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"export/conversations-000.json": `[{"id":"a","current_node":"n","mapping":{"n":{"message":{"author":{"role":"user"},"content":{"parts":["One."]}}}}}]`,
		"export/conversations-001.json": `[{"id":"b","current_node":"n","mapping":{"n":{"message":{"author":{"role":"user"},"content":{"parts":["Two."]}}}}}]`,
		"export/user.json":              `{}`,
		"../conversations.json":         `[`,
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f := vaulttest.New(t)
	v := f.Open()
	at := place(t, "export.zip", b.String())
	if r := run(t, v, "chatgpt", at); r.Added != 2 || r.Malformed != 1 {
		t.Errorf("first: %+v", r)
	}
	if r := run(t, v, "chatgpt", at); r.Unchanged != 2 || len(r.Commits) != 0 {
		t.Errorf("second: %+v", r)
	}
	if r := run(t, v, "chatgpt", place(t, "cut.zip", b.String()[:b.Len()/2])); r.Read != 0 || r.Malformed != 1 {
		t.Errorf("cut: %+v", r)
	}
}

// An archive that is small and expands without end is a problem, soon.
func TestAnArchiveThatExpandsWithoutEnd(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	for name, unit := range map[string][2]string{"spaces": {"", " "}, "one string": {`["`, "a"}} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("conversations.json")
		if err != nil {
			t.Fatal(err)
		}
		part := bytes.Repeat([]byte(unit[1]), 1<<20)
		for i := range 96 {
			if i == 0 {
				_, err = w.Write([]byte(unit[0]))
			}
			if _, werr := w.Write(part); err != nil || werr != nil {
				t.Fatal(err, werr)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		r := run(t, v, "chatgpt", place(t, "bomb.zip", b.String()))
		if r.Read != 0 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "64 times") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
