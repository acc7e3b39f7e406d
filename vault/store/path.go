package store

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A Path names a file of the vault: slash-separated, relative to the vault's
// root, clean, valid UTF-8, without control characters, never inside .git and
// never above the root. Bytes are kept as they are on disk (no Unicode
// normalisation), since the disk and git compare bytes.
type Path string

// MaxFileSize bounds what stet reads and stores as one Markdown file
// (guard.max_bytes of the design, 10 MiB). Larger files stay on disk untouched.
const MaxFileSize = 10 << 20

// ParsePath checks s and makes it clean. It fails with [ErrBadPath].
func ParsePath(s string) (Path, error) {
	bad := func(why string) (Path, error) {
		return "", fmt.Errorf("path %q: %w: %s", s, ErrBadPath, why)
	}
	switch {
	case s == "":
		return bad("it is empty")
	case !utf8.ValidString(s):
		return bad("it is not valid UTF-8")
	case strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return bad("it holds a control character")
	case strings.HasPrefix(s, "/"):
		return bad("it is absolute")
	case len(s) > 4096:
		return bad("it is longer than 4096 bytes")
	}
	clean := path.Clean(s)
	if clean == "." {
		return bad("it names the vault itself")
	}
	for part := range strings.SplitSeq(clean, "/") {
		switch {
		case part == "..":
			return bad("it leaves the vault")
		case isDotGit(part):
			return bad("it names git's own folder")
		case len(part) > 255:
			return bad("one of its names is longer than 255 bytes")
		}
	}
	return Path(clean), nil
}

// isDotGit matches .git as case-folding and Windows file systems would (git
// itself refuses the same names in trees: core.protectHFS, core.protectNTFS).
func isDotGit(part string) bool {
	folded := strings.ToLower(strings.TrimRight(strings.Map(dropIgnorable, part), " ."))
	return folded == ".git" || folded == "git~1" || strings.HasPrefix(folded, ".git:")
}

// dropIgnorable removes the code points HFS+ ignores in names.
func dropIgnorable(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// Dir is the folder of p, "." for a file at the root.
func (p Path) Dir() string { return path.Dir(string(p)) }

// Base is the last name of p.
func (p Path) Base() string { return path.Base(string(p)) }

// Steers reports whether programs take orders from a file of that name: files and folders with a
// dot in front, instructions for agents, build files. No machine writes them.
func (p Path) Steers() bool {
	for part := range strings.SplitSeq(string(p), "/") {
		if strings.HasPrefix(seen(part), ".") {
			return true
		}
	}
	name := seen(p.Base())
	common := []string{"conventions.md", "warp.md", "crush.md", "soul.md", "heartbeat.md"} // memories may be called so
	return strings.HasSuffix(name, ".mk") || strings.HasSuffix(name, ".instructions.md") ||
		!strings.HasPrefix(string(p), "memories/") && slices.Contains(common, name) || slices.Contains([]string{
		"claude.md", "claude.local.md", "agents.md", "agents.override.md", "agent.md", "gemini.md", "qwen.md",
		"copilot-instructions.md",
		"makefile", "gnumakefile", "bsdmakefile", "justfile", "rakefile", "taskfile.yml", "taskfile.yaml",
		"dockerfile", "jenkinsfile", "vagrantfile", "package.json",
	}, name)
}

// seen is a name as file systems may take it that ignore case, some invisible characters, and
// blanks and dots at the end, and as people read letters of another width.
func seen(name string) string {
	name = cases.Fold().String(norm.NFKC.String(strings.Map(dropIgnorable, name)))
	return strings.TrimRight(name, " .")
}

// Unportable names the part of p that Windows gives to no file, so that git there cannot check it out; "" is none: a
// device, a character that it keeps for itself, a blank or a dot at the end.
func (p Path) Unportable() string {
	for part := range strings.SplitSeq(string(p), "/") {
		name, _, _ := strings.Cut(strings.ToLower(part), ".")
		name = strings.TrimRight(name, " ")
		device := slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$"}, name)
		if n, ok := strings.CutPrefix(strings.Replace(name, "lpt", "com", 1), "com"); ok {
			device = device || len([]rune(n)) == 1 && strings.Contains("0123456789¹²³", n)
		}
		if device || strings.ContainsAny(part, `<>:"|?*\`) || strings.TrimRight(part, " .") != part {
			return part
		}
	}
	return ""
}

// IsMarkdown reports whether p names a Markdown file (.md or .markdown in any
// case).
func (p Path) IsMarkdown() bool {
	ext := strings.ToLower(path.Ext(string(p)))
	return ext == ".md" || ext == ".markdown"
}

// IsCanvas reports whether p names a canvas of Obsidian's, which shows notes on a plane (jsoncanvas.org).
func (p Path) IsCanvas() bool { return strings.HasSuffix(string(p), ".canvas") }

// simpleName reports a name that [ParsePath] has nothing against, whatever
// stands before it: nearly all names are, and a walk meets thousands.
func simpleName(name string) bool {
	if name[0] == '.' || len(name) > 255 {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// Transcript reports whether p is what was said in a conversation, in the archive as well.
func (p Path) Transcript() bool {
	return strings.HasPrefix(string(p), "sessions/") || strings.HasPrefix(string(p), "archive/sessions/")
}
