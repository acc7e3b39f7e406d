package main

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"stet/index"
	"stet/vault"
	"stet/vault/doctor"
)

// stetPaths are what stet itself writes; notes of the person's may be dirty.
func stetPaths() []string {
	return []string{"memories", "skills", "sessions", "archive", "MEMORY.md", "USER.md", ".stet"}
}

// checkVault is the check that ends every script: disk == HEAD == git index for
// stet's paths, a clean status, an intact object store, no journal, lock or
// temporary file, and a search index that agrees. The real git is the referee.
func checkVault(root string) error {
	checks := []func(string) error{checkNothingLeft, checkWithStet}
	if hasGit() {
		checks = append(checks, checkSameBytes, checkStatus, checkObjects)
	}
	var errs []error
	for _, check := range checks {
		if err := check(root); err != nil {
			errs = append(errs, fmt.Errorf("vault %s: %w", root, err))
		}
	}
	return errors.Join(errs...)
}

func gitIn(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false", "-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("git %q: %w: %s", args, err, stderr.String())
	}
	return out, nil
}

// checkSameBytes compares the hashes of the files and of git's index, without trusting any recorded
// time or size; that the index is HEAD's tree, [checkStatus] says.
func checkSameBytes(root string) error {
	out, err := gitIn(root, append([]string{"ls-files", "-s", "-z", "--"}, stetPaths()...)...)
	if err != nil {
		return err
	}
	staged := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			staged[path] = strings.Fields(meta)[1]
		}
	}
	disk := map[string]string{}
	for _, top := range stetPaths() {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && d.Type().IsRegular() {
				var data []byte
				data, err = os.ReadFile(p)
				rel, _ := filepath.Rel(root, p)
				blob := fmt.Appendf(nil, "blob %d\x00%s", len(data), data)
				disk[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha1.Sum(blob))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return sameMap("git index", staged, "disk", disk)
}

func sameMap(aName string, a map[string]string, bName string, b map[string]string) error {
	var errs []error
	for p, h := range a {
		if b[p] != h {
			errs = append(errs, fmt.Errorf("%s: %s has %.10s, %s has %.10q", p, aName, h, bName, b[p]))
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			errs = append(errs, fmt.Errorf("%s: in %s, not in %s", p, bName, aName))
		}
	}
	return errors.Join(errs...)
}

func checkStatus(root string) error {
	out, err := gitIn(root, append([]string{"status", "--porcelain", "--"}, stetPaths()...)...)
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("git status is not clean:\n%s", out)
	}
	return err
}

func checkObjects(root string) error {
	// Where there is neither file, fsck would start two processes more that find nothing.
	_, err := gitIn(root, "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false",
		"fsck", "--strict", "--no-dangling", "--no-progress")
	return err
}

// checkNothingLeft finds journals with content, temporary files and lock files.
func checkNothingLeft(root string) error {
	var errs []error
	at := gitDirOf(root)
	err := filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(p, at))
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch inTmp := strings.HasPrefix(rel, "/stet/") && strings.Contains(rel, "/tmp/"); {
		// The locks of local state are flocks and stay.
		case strings.HasSuffix(rel, ".lock") && !strings.HasPrefix(rel, "/stet/"), inTmp,
			strings.HasPrefix(rel, "/stet/") && d.Name() == "journal" && info.Size() > 0:
			errs = append(errs, fmt.Errorf("left over: %s (%d bytes)", rel, info.Size()))
		}
		return nil
	})
	errs = append(errs, err, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".stet-tmp-") {
			errs = append(errs, fmt.Errorf("left over: %s", p))
		}
		return err
	}))
	return errors.Join(errs...)
}

// gitDirOf finds the .git folder at or above root; "gitdir:" files lead to it.
func gitDirOf(root string) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		p := filepath.Join(dir, ".git")
		if info, err := os.Stat(p); err == nil {
			if info.IsDir() {
				return p
			}
			data, _ := os.ReadFile(p)
			return strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:"))
		}
		if dir == filepath.Dir(dir) {
			return root
		}
	}
}

// checkWithStet asks vault and search index for their own opinion.
func checkWithStet(root string) (err error) {
	ctx := context.Background()
	o := vault.Options{Now: time.Now, Env: func(string) string { return "" }, ReadOnly: true}
	v, err := vault.Open(ctx, root, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	x, err := index.Open(v, index.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	report, err := doctor.Examine(ctx, v, doctor.Options{Index: unmended{x}})
	if err != nil {
		return err
	}
	for _, p := range report.Problems {
		switch p.ID {
		case "front-matter", "conflict-marker", "deep-nesting", "secret", "dangling-id", "dead-link", "notebook-size", "pending",
			"git-rules", "kept-edit", "hidden":
			continue // no damage: mistakes of the person, and work that waits
		}
		err = errors.Join(err, fmt.Errorf("%s: %s: %s", p.ID, p.Path, p.Text))
	}
	return err
}

// unmended is an index that is only looked at.
type unmended struct{ *index.Index }

func (unmended) IDs([]vault.File, func(vault.Path, string)) error { return errors.ErrUnsupported }

func (unmended) Mend(context.Context) error { return errors.ErrUnsupported }
