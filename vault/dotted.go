package vault

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// dotted reports a name that systems hide.
func dotted(p Path) bool {
	return strings.HasPrefix(string(p[strings.LastIndexByte(string(p), '/')+1:]), ".")
}

// dottedNote is Markdown that nothing shows because its name is dotted. What systems and editors themselves keep
// beside a file is none.
func dottedNote(p Path) bool {
	own := func(mark string) bool { return strings.HasPrefix(p.Base(), mark) }
	return p.IsMarkdown() && dotted(p) && !slices.ContainsFunc([]string{"._", ".#"}, own)
}

// dottedNotes names such files below dir, outside of folders whose names are dotted; what cannot be listed has none.
func dottedNotes(dir string) (found []Problem) {
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(dir, file)
		p := Path(filepath.ToSlash(rel))
		switch {
		case err != nil || rerr != nil:
			return nil
		case d.IsDir() && file != dir && dotted(p):
			return fs.SkipDir
		case d.Type().IsRegular() && dottedNote(p):
			found = append(found, Problem{ID: "hidden", Path: p, Text: dottedText, Hint: dottedHint})
		}
		return nil
	})
	return found
}

const (
	dottedText = "its name begins with a dot, so it counts as hidden and is no note"
	dottedHint = "give it a name without the dot"
)

// refusedDotted is the error for such a file where somebody names it.
func refusedDotted(p Path) error {
	return WithHint(fmt.Errorf("adopt %q: %w: %s", p, ErrRefused, dottedText), "%s", dottedHint)
}
