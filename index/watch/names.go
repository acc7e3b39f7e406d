package watch

import (
	"strings"

	"stet/vault"
)

// temporary reports whether a file is one that an editor, or a program that
// copies or downloads, makes beside the real one and takes away again. Its
// contents are nobody's text. Names are tested, not contents: a Markdown file
// is never temporary but for emacs' lock and JetBrains' copies.
func temporary(p vault.Path) bool {
	name := p.Base()
	for _, prefix := range []string{".#", ".goutputstream-", ".~lock.", ".stet-tmp-", ".fuse_hidden", ".nfs", ".syncthing.", "~syncthing~", ".~"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"~", ".part", ".tmp", ".temp", ".crdownload", ".partial", "___jb_tmp___", "___jb_old___"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	switch {
	case name == "4913": // vim tries with it whether it may write here
		return true
	case strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"): // emacs, unsaved text
		return true
	case len(name) == 9 && strings.HasPrefix(name, "sed"): // sed -i: six letters and digits of any case
		return !strings.Contains(name, ".") && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != ""
	}
	return swap(name)
}

// swap matches vim's swap files: .name.swp, then .swo, .swn and so on.
func swap(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && name[0] == '.' && len(name) == i+4 && strings.HasPrefix(name[i:], ".sw")
}

// concerns reports whether a change at p can matter: to the index, or to what is
// committed.
func concerns(p vault.Path) bool {
	hidden := strings.HasPrefix(p.Base(), ".")
	return vault.ClassOf(p) != vault.ClassNote || p.IsMarkdown() && !hidden
}
