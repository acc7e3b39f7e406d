package agent

import (
	"os"
	"path/filepath"
	"strings"

	"stet/vault"
)

// ref turns what a user typed for a memory into what [vault.Vault.Resolve] expects: a file seen
// from the current folder becomes its path in the vault, anything else (an id, a slug, a title,
// a path from the root) stays as it is.
func (a *App) ref(word string) string {
	from := a.o.At
	if from == "" {
		from = a.o.Dir
	}
	abs := word
	if !filepath.IsAbs(word) {
		abs = filepath.Join(from, word)
	}
	if _, err := os.Lstat(abs); err != nil {
		return word
	}
	if rel, ok := within(a.Root(), abs); ok {
		return filepath.ToSlash(rel)
	}
	return word
}

func (a *App) refs(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, a.ref(w))
	}
	return out
}

// path is [App.ref] for what takes paths only. It fails with [vault.ErrBadPath].
func (a *App) path(word string) (vault.Path, error) {
	return vault.ParsePath(strings.TrimSuffix(filepath.ToSlash(a.ref(word)), "/"))
}

// exists reports whether the vault has a file or folder of that name now.
func (a *App) exists(p vault.Path) bool {
	_, err := os.Lstat(filepath.Join(a.Root(), filepath.FromSlash(string(p))))
	return err == nil
}

// within returns abs relative to root when it lies below it.
func within(root, abs string) (string, bool) {
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// cutAddress takes "USER.md#1a2b3c4d" apart; the form of search hits, "USER.md#e:1a2b3c4d", is the
// same.
func cutAddress(word string) (file, hash string, ok bool) {
	i := strings.LastIndexByte(word, '#')
	if i < 1 {
		return "", "", false
	}
	hash = strings.TrimPrefix(word[i+1:], "e:")
	const digits = 8
	return word[:i], hash, len(hash) == digits && strings.Trim(hash, "0123456789abcdef") == ""
}
