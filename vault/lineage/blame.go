package lineage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// A Line is one line of a file and where it comes from.
type Line struct {
	Number int            // from 1
	Text   string         // with its line break, if it has one
	Rev    vault.Revision // "" = not committed
	Path   vault.Path     // the file's name in that commit, "" where a machine wrote the words elsewhere
	Was    int            // its number there, from 1
}

// A Blame is a file line by line, with the commits that its lines name.
type Blame struct {
	Path    vault.Path
	Lines   []Line
	Commits map[vault.Revision]vault.Commit
}

// BlameFile finds for each line of a file the commit that brought it, through
// renames and merges, as git blame does. rev "" is the file on disk; its lines
// that are not committed have no commit. It fails with vault.ErrNotFound.
func BlameFile(ctx context.Context, v *vault.Vault, rev string, p vault.Path) (Blame, error) {
	b := blamer{a: v.Whole().History().Ancestry(), points: map[place]*suspect{}}
	head, err := b.a.At(rev, p)
	if err != nil {
		return Blame{}, err
	}
	committed, err := b.a.Read(head.Hash)
	if err != nil {
		return Blame{}, err
	}
	text := committed
	if rev != "" {
		var past *vault.Snapshot
		if past, err = v.History().View(ctx, rev); err == nil {
			_, _, err = past.Read(p)
		}
	} else {
		text, _, err = v.ReadFile(p)
		switch missing := errors.Is(err, fs.ErrNotExist); {
		case missing && head.Hash != "":
			return Blame{}, vault.WithHint(fmt.Errorf("blame %q: it is gone from the disk: %w", p, vault.ErrNotFound), "--rev HEAD blames what was committed")
		case missing:
			return Blame{}, &vault.NotFoundError{Ref: string(p)}
		}
	}
	if err == nil && rev != "" && head.Hash == "" {
		err = &vault.NotFoundError{Ref: string(p)}
	}
	if err != nil {
		return Blame{}, fmt.Errorf("blame %q: %w", p, err)
	}
	out := Blame{Path: p, Commits: map[vault.Revision]vault.Commit{}}
	var claims []claim
	from := markdown.Unchanged(committed, text)
	for i, line := range markdown.Lines(text) {
		out.Lines = append(out.Lines, Line{Number: i + 1, Text: string(line), Path: p, Was: i + 1})
		if from[i] >= 0 {
			claims = append(claims, claim{i, from[i]})
		}
	}
	b.lines = out.Lines
	b.suspect(head, claims)
	if err := b.run(ctx); err != nil {
		return Blame{}, err
	}
	if err := b.firstSaid(ctx, v, rev); err != nil {
		return Blame{}, err
	}
	for _, l := range out.Lines {
		if _, known := out.Commits[l.Rev]; l.Rev == "" || known {
			continue
		}
		if out.Commits[l.Rev], err = v.History().Ancestry().Commit(l.Rev); err != nil {
			return Blame{}, err
		}
	}
	return out, nil
}

// firstSaid names, of a sentence that a person brought back, moved or copied, the machine that wrote it.
func (b *blamer) firstSaid(ctx context.Context, v *vault.Vault, rev string) error {
	const sentence = 4 // words: shorter lines many write
	var said func(string) (vault.Commit, bool)
	for i, l := range b.lines {
		if l.Rev == "" || len(strings.Fields(l.Text)) < sentence {
			continue
		}
		by, err := b.a.Commit(l.Rev)
		if err == nil && said == nil && !by.ByMachine() {
			said, err = v.History().Introduced(ctx, rev)
		}
		if err != nil {
			return err
		}
		if by.ByMachine() {
			continue
		}
		if first, known := said(l.Text); known && first.ByMachine() {
			b.lines[i].Rev, b.lines[i].Path, b.lines[i].Was = first.Rev, "", 0 // it stood anywhere
		}
	}
	return nil
}

// A claim is a line of the file that stands at a line of an older version.
type claim struct{ line, at int }

type place struct {
	rev  vault.Revision
	path vault.Path
}

// A suspect is a version of the file with the lines it may have brought.
type suspect struct {
	vault.Point
	claims []claim
	queued bool
}

type blamer struct {
	a      *vault.Ancestry
	lines  []Line
	points map[place]*suspect
	queue  []*suspect
}

// suspect hands claims to a version. A version that was looked at already, which
// takes a clock that went backwards, is looked at again.
func (b *blamer) suspect(p vault.Point, claims []claim) {
	if len(claims) == 0 {
		return
	}
	at := place{p.Rev, p.Path}
	s, ok := b.points[at]
	if !ok {
		s = &suspect{Point: p}
		b.points[at] = s
	}
	s.claims = append(s.claims, claims...)
	if !s.queued {
		s.queued = true
		b.queue = append(b.queue, s)
	}
}

func (b *blamer) run(ctx context.Context) error {
	for len(b.queue) > 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		s := slices.MaxFunc(b.queue, func(x, y *suspect) int { return x.When().Compare(y.When()) })
		b.queue = slices.DeleteFunc(b.queue, func(x *suspect) bool { return x == s })
		claims := s.claims
		s.claims, s.queued = nil, false
		parents, changed, err := b.a.Before(s.Point)
		if err != nil {
			return err
		}
		if !changed && len(parents) > 0 {
			b.suspect(parents[0], claims)
			continue
		}
		if claims, err = b.pass(s.Point, parents, claims); err != nil {
			return err
		}
		for _, c := range claims {
			l := &b.lines[c.line]
			l.Rev, l.Path, l.Was = s.Rev, s.Path, c.at+1
		}
	}
	return nil
}

// pass gives the claims on lines that a parent has to that parent and returns
// the rest.
func (b *blamer) pass(p vault.Point, parents []vault.Point, claims []claim) ([]claim, error) {
	if len(parents) == 0 {
		return claims, nil
	}
	text, err := b.a.Read(p.Hash)
	if err != nil {
		return nil, err
	}
	for _, parent := range parents {
		if parent.Hash == "" || len(claims) == 0 {
			continue
		}
		older, err := b.a.Read(parent.Hash)
		if err != nil {
			return nil, err
		}
		was := markdown.Unchanged(older, text)
		var theirs, rest []claim
		for _, c := range claims {
			if i := was[c.at]; i >= 0 {
				theirs = append(theirs, claim{c.line, i})
			} else {
				rest = append(rest, c)
			}
		}
		b.suspect(parent, theirs)
		claims = rest
	}
	return claims, nil
}
