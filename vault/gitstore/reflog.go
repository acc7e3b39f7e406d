package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// A logLine is one line of a reflog. Git writes a line with the ref, and takes the log
// away with it: a log that knows more than its ref tells of a loss.
type logLine struct {
	old, new  ID
	who, text string // the committer's name
}

// LogMark begins the text of each reflog line that stet writes.
const LogMark = "stet: "

// Made are the commits at which updates of HEAD by stet ended, each with what HEAD was before, as its reflog says:
// all, or with newest those among at least so many of its last lines. Expired lines are unknown.
func Made(r *Repo, newest int) (map[ID]ID, error) {
	const longest = 1 << 10 // of usual lines
	lines, _, err := r.reflog("HEAD", int64(newest)*longest)
	out := map[ID]ID{}
	for _, line := range lines {
		if strings.HasPrefix(line.text, LogMark) {
			out[line.new] = line.old
		}
	}
	return out, err
}

// Typed are the commits, by hex id, that git made in this clone, as the reflog of HEAD says: by "git commit", or a
// merge of its own. What it copied or fetched is not among them. Expired lines are unknown.
func Typed(r *Repo) (map[string]bool, error) {
	lines, _, err := r.reflog("HEAD", 0)
	out := map[string]bool{}
	for _, line := range lines {
		kind, what, _ := strings.Cut(line.text, ": ")
		first, _, _ := strings.Cut(kind, " ")
		if first == "commit" || (first == "merge" || first == "pull") && strings.HasPrefix(what, "Merge made by the ") {
			out[line.new.String()] = true
		}
	}
	return out, err
}

// Movers are the names under which HEAD moved in this clone, as the ends of its reflog say: of each up to few commits
// to which it moved, the oldest first, and whether it made the clone.
func Movers(r *Repo, few int) (tips map[string][]ID, cloned map[string]bool) {
	const end = 64 << 10 // bytes
	tips, cloned = map[string][]ID{}, map[string]bool{}
	first, _, _ := r.logged("HEAD", func(size int64) (int64, int64) { return 0, min(size, end) })
	last, _, _ := r.logged("HEAD", func(size int64) (int64, int64) { return max(0, size-end), size })
	for _, line := range append(first, last...) { // what cannot be read names nobody
		cloned[line.who] = cloned[line.who] || strings.HasPrefix(line.text, "clone: ")
		if len(tips[line.who]) < few {
			tips[line.who] = append(tips[line.who], line.new)
		}
	}
	return tips, cloned
}

// noID is how git writes the zero id.
const noID = "0000000000000000000000000000000000000000"

// reflog reads a ref's reflog, or what its last tail bytes hold of it with a tail; exists
// tells one without lines from none. What is torn is left out.
func (r *Repo) reflog(name string, tail int64) (lines []logLine, exists bool, err error) {
	return r.logged(name, func(size int64) (int64, int64) {
		if tail > 0 {
			return max(0, size-tail), size
		}
		return 0, size
	})
}

// logged reads the lines of a ref's reflog between two bytes, which part gives for its size.
func (r *Repo) logged(name string, part func(size int64) (from, to int64)) (lines []logLine, exists bool, err error) {
	f, info, err := r.root.OpenRegular(r.logPath(name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close() // opened for reading: nothing to lose
	from, to := part(info.Size())
	data := make([]byte, to-from)
	n, err := f.ReadAt(data, from)
	if n < len(data) {
		return nil, true, err
	}
	for line := range strings.Lines(string(data)) {
		at, text, _ := strings.Cut(strings.TrimRight(line, "\n\x00"), "\t")
		fields := strings.Fields(at)
		if len(fields) < 2 || len(fields[0]) != refDigits || len(fields[1]) != refDigits {
			continue
		}
		old, oerr := ParseID(fields[0])
		id, nerr := ParseID(fields[1])
		if oerr == nil && nerr == nil {
			who, _, _ := strings.Cut(strings.Join(fields[2:], " "), "<")
			lines = append(lines, logLine{old, id, strings.TrimSpace(who), text})
		}
	}
	return lines, true, nil
}

// lastLogged is the commit at the end of a ref's reflog, zero without one.
func (r *Repo) lastLogged(name string) (ID, error) {
	const tail = 64 << 10 // a line is an identity and a subject
	lines, _, err := r.reflog(name, tail)
	if err != nil || len(lines) == 0 {
		return ID{}, err
	}
	return lines[len(lines)-1].new, nil
}

// checkUnborn refuses to take a branch for one without commits when its reflog is left, or
// when the reflog of HEAD says that it had some.
func (r *Repo) checkUnborn(name string) error {
	last, err := r.lastLogged(name)
	switch {
	case err != nil:
		return r.badRef(name, err)
	case !last.IsZero():
		return r.badRef(name, fmt.Errorf("it is gone, but its reflog ends at commit %s", last))
	}
	_, exists, err := r.reflog(name, 0)
	if err != nil {
		return r.badRef(name, err)
	}
	// "git checkout --orphan NAME -l" makes an empty log only where logs are off.
	empty := exists && r.config.Bool("core", "logallrefupdates", true)
	last, err = r.leftBehind(name, empty)
	if err != nil || last.IsZero() && !empty {
		return err
	}
	if last.IsZero() {
		bad := r.badRef(name, errors.New("it is gone, but its empty reflog is left"))
		bad.hint = fmt.Sprintf("\"git fsck --lost-found\" lists its newest commit: write that into %s; "+
			"if it had none, remove %s", bad.File, bad.Log)
		return bad
	}
	bad := r.badRef(name, fmt.Errorf("it is gone, but the reflog of HEAD ends at its commit %s", last))
	bad.hint = fmt.Sprintf("write %s into %s; to begin a branch without a past: git commit --allow-empty",
		last, bad.File)
	return bad
}

// leftBehind is the commit at which HEAD's reflog ends when that was on the branch name,
// which is gone, and zero when it was on another one: "git checkout --orphan" and "git
// switch --orphan" write no line, "git update-ref -d" a zero one.
func (r *Repo) leftBehind(name string, empty bool) (ID, error) {
	lines, _, err := r.reflog("HEAD", 0)
	if err != nil || len(lines) == 0 {
		return ID{}, err
	}
	last := lines[len(lines)-1].new
	if last.IsZero() || !r.has(last) {
		return ID{}, nil
	}
	moved := ""
	for _, line := range lines {
		if _, to, ok := strings.Cut(line.text, " to "); ok && strings.HasPrefix(line.text, "checkout: moving from ") {
			moved = to
		}
	}
	if empty || moved == strings.TrimPrefix(name, branches+"/") {
		return last, nil
	}
	if held, err := r.onBranch(last); err != nil || held || moved != "" {
		return ID{}, err
	}
	return last, nil
}

// onBranch reports whether a branch holds a commit.
func (r *Repo) onBranch(id ID) (bool, error) {
	names, err := r.branches()
	for _, name := range names {
		at, rerr := r.ReadRef(name)
		if rerr != nil || at.IsZero() {
			continue
		}
		if held, herr := r.Stage().IsAncestor(id, at); herr == nil && held {
			return true, nil
		}
	}
	return false, err
}

// checkPacked refuses a branch that has no file of its own when packed-refs holds what the
// branch was before: git packs a branch as it is, so its reflog ends there, or at an
// older commit where something wrote no line.
func (r *Repo) checkPacked(h Head) error {
	last, err := r.lastLogged(h.Ref)
	if err != nil || last.IsZero() || last == h.ID {
		return nil
	}
	if held, err := r.Stage().IsAncestor(last, h.ID); err != nil || held {
		return nil
	}
	lines, _, err := r.reflog(h.Ref, 0)
	for _, line := range lines {
		if line.old == h.ID || line.new == h.ID {
			err := fmt.Errorf("its file is gone, and packed-refs has the older commit %s; its reflog ends at commit %s",
				h.ID, last)
			return r.badRef(h.Ref, err)
		}
	}
	return err
}

// lostInLog is a commit that a branch went back from with no line of its reflog that says
// so, and that no branch holds; zero when there is none.
func (r *Repo) lostInLog(name string) (ID, error) {
	lines, _, err := r.reflog(name, 0)
	for i := range lines[min(1, len(lines)):] {
		lost, old := lines[i].new, lines[i+1].old
		if old == lost || old.IsZero() || lost.IsZero() {
			continue
		}
		if back, berr := r.Stage().IsAncestor(old, lost); berr != nil || !back {
			continue
		}
		if held, herr := r.onBranch(lost); herr != nil || !held {
			return lost, herr
		}
	}
	return ID{}, err
}

// logPath is the reflog of a ref relative to the repository's root.
func (r *Repo) logPath(name string) string {
	if name == "HEAD" {
		return r.Own("logs/HEAD")
	}
	return path.Join("logs", name)
}
