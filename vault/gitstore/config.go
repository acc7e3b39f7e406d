package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"stet/vault/durable"
)

// A Config is git's configuration: system, user and repository, the last one
// winning. Only what is asked for is interpreted.
type Config struct {
	layers []*format.Config // lowest priority first
	repo   *format.Config
	env    func(string) string
	gitDir string // of the worktree, absolute
}

// loadConfig reads the files git would, with include.path followed, and includeIf by the git
// folder and the branch. A damaged user file is an error, as in git.
// Nothing of the repository is read before its owner is known; also are more folders to look at.
func loadConfig(root *durable.Root, loc Location, env func(string) string, also []string) (*Config, error) {
	c := &Config{env: env, gitDir: loc.GitDir}
	if err := c.loadUsers(); err != nil {
		return nil, err
	}
	own := append([]string{loc.Worktree, filepath.Join(loc.Worktree, ".git"), loc.GitDir, loc.Common}, also...)
	if err := c.checkOwner(loc.Worktree, own...); err != nil {
		return nil, err
	}
	data, _, err := root.ReadFile("config", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if c.repo, err = decodeConfig(data); err != nil {
		return nil, fmt.Errorf("git config %q: %w", root.Abs("config"), err)
	}
	if err := c.add(c.repo, root.Abs("."), 0); err != nil {
		return nil, err
	}
	return c, nil
}

// loadUsers reads the files of the system and the user.
func (c *Config) loadUsers() error {
	files := []string{filepath.Join(c.xdg(), "git", "config"), filepath.Join(c.env("HOME"), ".gitconfig")}
	if p := c.env("GIT_CONFIG_GLOBAL"); p != "" {
		files = []string{p}
	}
	if c.env("GIT_CONFIG_NOSYSTEM") == "" {
		files = append([]string{"/etc/gitconfig"}, files...)
	}
	for _, p := range files {
		if filepath.IsAbs(p) {
			if err := c.load(p, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names are the names that the user may have: those of [Config.Identity], and those that git would have without
// its variables of the environment, which an agent can set for its own commands.
func (c *Config) Names() []string {
	bare := &Config{gitDir: c.gitDir, repo: c.repo, env: func(key string) string {
		if strings.HasPrefix(key, "GIT_") || key == "EMAIL" {
			return ""
		}
		return c.env(key)
	}}
	// What cannot be read names nobody.
	_ = bare.loadUsers()
	_ = bare.add(c.repo, c.gitDir, 0)
	out := make([]string, 0, 4)
	for _, c := range []*Config{c, bare} {
		out = append(out, c.Identity("AUTHOR").Name, c.Identity("COMMITTER").Name)
	}
	return out
}

func (c *Config) xdg() string {
	if p := c.env("XDG_CONFIG_HOME"); p != "" {
		return p
	}
	return filepath.Join(c.env("HOME"), ".config")
}

// includeDepth is git's own bound on nested includes.
const includeDepth = 10

func (c *Config) load(file string, depth int) error {
	read := os.ReadFile
	if depth > 0 {
		read = readPlain
	}
	data, err := read(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	layer, err := decodeConfig(data)
	if err != nil {
		return fmt.Errorf("git config %q: %w", file, err)
	}
	return c.add(layer, filepath.Dir(file), depth)
}

// readPlain reads a file that a repository's configuration names. A pipe or a
// device, which could keep every command waiting for ever, is empty.
func readPlain(file string) ([]byte, error) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return os.ReadFile(file)
}

func (c *Config) add(layer *format.Config, dir string, depth int) error {
	c.layers = append(c.layers, layer)
	if depth >= includeDepth {
		return nil
	}
	var paths []string
	if layer.HasSection("include") {
		paths = layer.Section("include").OptionAll("path")
	}
	for _, sub := range subsections(layer, "includeIf") {
		if c.holds(sub.Name, dir) {
			paths = append(paths, sub.OptionAll("path")...)
		}
	}
	for _, p := range paths {
		if err := c.load(absFrom(dir, c.expand(p)), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// holds reports the conditions of includeIf that stet knows; dir is the folder of the file that has
// it.
func (c *Config) holds(condition, dir string) bool {
	kind, want, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir", "gitdir/i":
		want = c.expand(want)
		if rest, ok := strings.CutPrefix(want, "./"); ok {
			want = dir + "/" + rest
		} else if !filepath.IsAbs(want) {
			want = "**/" + want
		}
		real, err := filepath.EvalSymlinks(c.gitDir)
		return globFolder(want, c.gitDir, kind != "gitdir") || err == nil && globFolder(want, real, kind != "gitdir")
	case "onbranch":
		head, err := readPlain(filepath.Join(c.gitDir, "HEAD"))
		branch, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
		return err == nil && ok && globFolder(want, branch, false)
	}
	return false
}

// globFolder is glob, where a slash at the end stands for all below.
func globFolder(p, s string, fold bool) bool {
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	return glob(filepath.ToSlash(p), filepath.ToSlash(s), fold)
}

func decodeConfig(data []byte) (*format.Config, error) {
	cfg := format.New()
	return cfg, format.NewDecoder(bytes.NewReader(data)).Decode(cfg)
}

// expand replaces "~/" and "~user/" at the beginning of a path by the home folder.
func (c *Config) expand(p string) string {
	name, rest, ok := strings.Cut(p, "/")
	switch {
	case !ok || !strings.HasPrefix(name, "~"):
		return p
	case name == "~":
		return c.env("HOME") + "/" + rest
	}
	other, err := user.Lookup(name[1:])
	if err != nil {
		return p
	}
	return other.HomeDir + "/" + rest
}

// Get is the value of section.key with the highest priority.
func (c *Config) Get(section, key string) string {
	value, _ := c.lookup(section, key)
	return value
}

// Path is Get of a path, with "~/" and "~user/" at its beginning written out.
func (c *Config) Path(section, key string) string { return c.expand(c.Get(section, key)) }

// lookup is Get, and whether any file has the key.
func (c *Config) lookup(section, key string) (string, bool) {
	for _, l := range slices.Backward(c.layers) {
		if l.HasSection(section) && l.Section(section).HasOption(key) {
			return l.Section(section).Option(key), true
		}
	}
	return "", false
}

// Bool is Get read as git reads booleans.
func (c *Config) Bool(section, key string, otherwise bool) bool {
	switch strings.ToLower(c.Get(section, key)) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	return otherwise
}

// A Remote is another repository that this one knows by a name.
type Remote struct {
	Name string
	URLs []string // to fetch from and to push to, as git would use them
}

// Remotes lists the remotes of all configuration files, in the order of their
// names' first mention.
func (c *Config) Remotes() []Remote {
	var out []Remote
	for _, layer := range c.layers {
		for _, sub := range subsections(layer, "remote") {
			i := slices.IndexFunc(out, func(r Remote) bool { return r.Name == sub.Name })
			if i < 0 {
				i = len(out)
				out = append(out, Remote{Name: sub.Name})
			}
			for _, key := range [...]string{"url", "pushurl"} {
				for _, url := range sub.OptionAll(key) {
					// A place that is only pushed to has a short form of its own.
					for _, form := range [...]string{"insteadOf", "pushInsteadOf"} {
						if full := c.instead(form, url); !slices.Contains(out[i].URLs, full) {
							out[i].URLs = append(out[i].URLs, full)
						}
					}
				}
			}
		}
	}
	return out
}

// subsections only reads: Section would make what is not there.
func subsections(layer *format.Config, section string) format.Subsections {
	if !layer.HasSection(section) {
		return nil
	}
	return layer.Section(section).Subsections
}

// instead writes out a URL that begins with a short form that the person chose;
// the longest one counts.
func (c *Config) instead(form, url string) string {
	full, longest := url, ""
	for _, layer := range c.layers {
		for _, sub := range subsections(layer, "url") {
			for _, short := range sub.OptionAll(form) {
				if strings.HasPrefix(url, short) && len(short) > len(longest) {
					full, longest = sub.Name+url[len(short):], short
				}
			}
		}
	}
	return full
}

// checkFormat refuses what the rest of this package would read or write
// wrongly, and says how to go on.
func (c *Config) checkFormat() error {
	if c.repo.HasSection("core") {
		core := c.repo.Section("core")
		if v := core.Option("repositoryformatversion"); v != "" && v != "0" && v != "1" {
			return fmt.Errorf("%w: repository format version %s", ErrUnsupported, v)
		}
		if strings.EqualFold(core.Option("bare"), "true") {
			return fmt.Errorf("%w: it is bare, so it has no files", ErrUnsupported)
		}
	}
	for _, remote := range c.repo.Section("remote").Subsections {
		if strings.EqualFold(remote.Option("promisor"), "true") {
			return fmt.Errorf("%w: it is a partial clone (remote %q is a promisor)", ErrUnsupported, remote.Name)
		}
	}
	if !c.repo.HasSection("extensions") {
		return nil
	}
	for _, opt := range c.repo.Section("extensions").Options {
		if !extensionKnown(strings.ToLower(opt.Key), strings.ToLower(opt.Value)) {
			return fmt.Errorf("%w: extensions.%s = %s", ErrUnsupported, opt.Key, opt.Value)
		}
	}
	return nil
}

// extensionKnown reports the repository extensions that change nothing stet
// relies on.
func extensionKnown(key, value string) bool {
	switch key {
	case "noop", "preciousobjects", "worktreeconfig", "relativeworktrees":
		return true
	case "objectformat":
		return value == "sha1"
	case "refstorage":
		return value == "files"
	}
	return false
}

// A Signature is the name and address of an author or committer.
type Signature struct{ Name, Email string }

// Fallback is the identity of commits where git has none configured: writing
// must neither fail nor prompt for it.
func Fallback() Signature { return Signature{Name: "stet", Email: "stet@localhost.invalid"} }

// Identity is the person's identity for role "AUTHOR" or "COMMITTER" as git
// would take it from the environment and configuration, else [Fallback].
func (c *Config) Identity(role string) Signature {
	first := func(values ...string) string {
		for _, v := range values {
			if v = cleanIdentity(v); v != "" {
				return v
			}
		}
		return ""
	}
	section := strings.ToLower(role)
	s := Signature{
		Name:  first(c.env("GIT_"+role+"_NAME"), c.Get(section, "name"), c.Get("user", "name")),
		Email: first(c.env("GIT_"+role+"_EMAIL"), c.Get(section, "email"), c.Get("user", "email"), c.env("EMAIL")),
	}
	if s.Name == "" && s.Email == "" {
		return Fallback()
	}
	if s.Name == "" {
		s.Name, _, _ = strings.Cut(s.Email, "@")
	}
	if s.Email == "" {
		s.Email = Fallback().Email
	}
	return s
}

// cleanIdentity drops what would break the header line of a commit.
func cleanIdentity(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x20 || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s), " .,:;\"'\\")
}
