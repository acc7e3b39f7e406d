package console

import (
	"os"
	"path/filepath"
	"strings"

	"stet/vault"
)

// Ref turns what a person typed for a memory into what vault.Resolve expects: a
// file seen from the folder they stand in becomes its path in the vault, all
// else (an id, a slug, a title, a path from the root) stays as it is.
func (e *Env) Ref(v *vault.Vault, word string) string {
	abs := word
	if !filepath.IsAbs(word) {
		abs = filepath.Join(e.Start(), word)
	}
	if _, err := os.Lstat(abs); err != nil {
		return word
	}
	if rel, ok := within(v.Root(), abs); ok {
		return filepath.ToSlash(rel)
	}
	return word
}

// Refs is [Env.Ref] for many.
func (e *Env) Refs(v *vault.Vault, words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, e.Ref(v, w))
	}
	return out
}

// Path is [Env.Ref] for a command that takes paths only. It fails with
// vault.ErrBadPath.
func (e *Env) Path(v *vault.Vault, word string) (vault.Path, error) {
	return vault.ParsePath(strings.TrimSuffix(filepath.ToSlash(e.Ref(v, word)), "/"))
}

// Exists reports whether the vault has a file or folder of that name now.
func (e *Env) Exists(v *vault.Vault, p vault.Path) bool {
	_, err := os.Lstat(filepath.Join(v.Root(), filepath.FromSlash(string(p))))
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

// CutAddress takes "USER.md#1a2b3c4d" apart; the form of search hits,
// "USER.md#e:1a2b3c4d", is the same.
func CutAddress(word string) (file, hash string, ok bool) {
	i := strings.LastIndexByte(word, '#')
	if i < 1 {
		return "", "", false
	}
	hash = strings.TrimPrefix(word[i+1:], "e:")
	const digits = 8
	return word[:i], hash, len(hash) == digits && strings.Trim(hash, "0123456789abcdef") == ""
}
