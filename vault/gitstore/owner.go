package gitstore

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// An OwnerError reports a repository that another user could have planted: what it configures
// would be obeyed. Git refuses it as well.
type OwnerError struct {
	Worktree string
	Path     string // the folder or file that belongs to somebody else
	Owner    string // a name, or a number where it has none
}

func (e *OwnerError) Error() string { return fmt.Sprintf("%q belongs to %s", e.Path, e.Owner) }

// checkOwner fails with an [OwnerError] where one of paths belongs to another user, unless
// safe.directory of the user's own configuration names the working tree. What is missing
// belongs to nobody. On Windows nothing is checked.
func (c *Config) checkOwner(worktree string, paths ...string) error {
	for _, p := range paths {
		info, err := os.Lstat(p)
		if err != nil {
			continue
		}
		uid, known := ownerOf(info)
		if !known || uid == os.Geteuid() {
			continue
		}
		if by, err := strconv.Atoi(c.env("SUDO_UID")); err == nil && os.Geteuid() == 0 && uid == by {
			continue // root on behalf of a user
		}
		if c.safe(worktree) {
			return nil
		}
		name := strconv.Itoa(uid)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		return &OwnerError{worktree, p, name}
	}
	return nil
}

// safe reports whether safe.directory names a folder, as git reads it: "*" is any, "DIR/*" all
// below, and an empty value forgets those before.
func (c *Config) safe(dir string) (safe bool) {
	var values []string
	for _, l := range c.layers {
		if l.HasSection("safe") {
			values = append(values, l.Section("safe").OptionAll("directory")...)
		}
	}
	count, _ := strconv.Atoi(c.env("GIT_CONFIG_COUNT")) // none: git -c and its like set it
	for i := range min(count, 1<<10) {
		if n := strconv.Itoa(i); strings.EqualFold(c.env("GIT_CONFIG_KEY_"+n), "safe.directory") {
			values = append(values, c.env("GIT_CONFIG_VALUE_"+n))
		}
	}
	for _, value := range values {
		value = c.expand(value)
		above, all := strings.CutSuffix(value, "/*")
		if real, err := filepath.EvalSymlinks(above); err == nil {
			above = real
		}
		switch {
		case value == "":
			safe = false
		case value == "*", !all && above == dir, all && strings.HasPrefix(dir, above+"/"):
			safe = true
		}
	}
	return safe
}
