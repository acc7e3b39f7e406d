package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/guard"
)

// Whose the words of a line are decides whether agents are shown orders that stand there. They are the user's
//
//	who first brought them into the vault
//	who gave them to stet afterwards, although a machine or another person had brought them
//	who let the machine's write pass (Stet-Approved-By)
//	who said them in a turn of a conversation, as the machine's commit says (Stet-Said): whoever has the vault
//	write it has looked at the turn, see [Writer.Said]
//	who kept them in a review, or stored them once more, which local state says (vouched)
//
// if the commit names this clone's person, or stet made it here: who made a vault that was cloned may be anybody.

// vouchedName is the name under which local state keeps which words of machines the person stands by, and
// mostVouched how many: older ones are masked again.
const (
	vouchedName = "vouched"
	mostVouched = 10_000
)

// saidTrailer names in a machine's commit a person's turn and, by their key, the words of it that the commit brings.
const saidTrailer = "Stet-Said"

// wordsKey stands for words as [wordsOf] gives them; "" for none.
func wordsKey(words string) string {
	const digits = 16
	if words == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(words))
	return hex.EncodeToString(sum[:])[:digits]
}

// Said says in a commit which turn of a person's, "session:ID#n", the words of a line are from.
func (w *Writer) Said(turn, line string) { w.Trail(saidTrailer, turn+" "+wordsKey(wordsOf(line))) }

// stoodBy reports whether a machine's commit has words, as [wordsOf] gives them, that a person stands by.
func (c Commit) stoodBy(words string) bool {
	if c.Trailers.Get("Stet-Approved-By") != "" {
		return true
	}
	return slices.ContainsFunc(c.Trailers.All(saidTrailer), func(said string) bool {
		_, key, _ := strings.Cut(said, " ")
		return key != "" && key == wordsKey(words)
	})
}

// given reports a commit by which a person gave stet the words that it brings, and moved or brought back none.
func (c Commit) given() bool {
	return !c.ByMachine() && c.Op == OpRemember && c.Trailers.Get("Stet-Via") == ""
}

// Vouch notes that the person stands by the words of these lines, whoever wrote them.
func (h *History) Vouch(ctx context.Context, lines ...string) error {
	return h.v.State().SetSeen(ctx, vouchedName, func(now []byte) ([]byte, error) {
		keys, known := strings.Fields(string(now)), map[string]bool{}
		for _, key := range keys {
			known[key] = true
		}
		for _, l := range lines {
			if key := wordsKey(wordsOf(l)); key != "" && !known[key] {
				keys, known[key] = append(keys, key), true
			}
		}
		return []byte(strings.Join(keys[max(0, len(keys)-mostVouched):], "\n")), nil
	})
}

// OrdersIn are the lines that a commit brings to files in which something reads like orders.
func (h *History) OrdersIn(c Commit) (out []string, err error) {
	brought, err := h.brought(c)
	for _, ch := range c.Changes {
		if err != nil {
			return nil, err
		}
		var data []byte
		if data, err = h.Ancestry().Read(ch.New); len(guard.Injections(data)) == 0 {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if brought[wordsOf(line)] {
				out = append(out, line)
			}
		}
	}
	return out, err
}

// own tells the commits by which the user wrote words, or stands by them: those of the name and the address that git
// has for the user here, and what stet made here under other ones. One that names nobody is the user's where there
// is no remote.
func (h *History) own() func(c Commit, words string) bool {
	config := h.v.store.Repo().Config()
	author, committer := config.Identity("AUTHOR"), config.Identity("COMMITTER")
	alone := len(config.Remotes()) == 0
	return func(c Commit, words string) bool {
		who, user := gitstore.Signature{Name: c.Author, Email: c.AuthorEmail}, author
		if c.ByMachine() {
			who, user = c.committer, committer
		}
		named := c.here || who == user && who != gitstore.Fallback() || who == gitstore.Fallback() && alone
		return named && !c.cut && (!c.ByMachine() || c.stoodBy(words))
	}
}

// ByUser reports whether the user wrote, or stands by, what makes a text read like orders that stands in p at a
// revision; "" is the disk, where what is not committed is the user's. What stood before the commit that a shallow
// clone ends at is nobody's.
func (h *History) ByUser(ctx context.Context, rev string, p Path, text []byte) (bool, error) {
	said, err := h.Introduced(ctx, rev)
	if err != nil {
		return false, err
	}
	vouched, err := h.v.State().Seen(vouchedName)
	if err != nil {
		return false, err
	}
	var pending map[string]int
	if rev == "" {
		data, _, err := h.v.Worktree.ReadFile(p)
		if err != nil {
			return false, err
		}
		pending = lines(data)
	}
	user := h.own()
	var own strings.Builder
	theirs := false
	for line := range strings.Lines(string(text)) {
		c, known := said(line)
		words := wordsOf(line)
		switch bare := strings.TrimRight(line, " \t\r\n"); {
		case words == "":
			line = "\n" // it is nobody's, and may part paragraphs
		case !known && pending[bare] == 0:
			return false, nil // a text that stands nowhere was written by nobody
		case known && !user(c, words) && !slices.Contains(strings.Fields(string(vouched)), wordsKey(words)):
			theirs = true
			continue
		}
		own.WriteString(line)
	}
	all := len(guard.Injections(text))
	return strings.TrimSpace(own.String()) != "" && (!theirs || all > 0 && len(guard.Injections([]byte(own.String()))) == all), nil
}

// Introduced finds the commit that first brought the words of a line into the vault up to a revision ("" is
// HEAD), wherever they stood: who moves, reverts, restores or copies a text has not written it. Where that is a
// machine's, or another person's, it is the first by which a person, or the user, gave them or stood by them, if
// there is one. Transcripts do not
// count: who keeps what was said there says it. Cost: the changes of all commits, once for each revision.
func (h *History) Introduced(ctx context.Context, rev string) (func(line string) (Commit, bool), error) {
	id, err := h.v.store.Resolve(rev)
	if err != nil {
		return nil, err
	}
	h.v.first.Lock()
	defer h.v.first.Unlock()
	if h.v.first.of == nil || h.v.first.at != id {
		of, commits, user := map[string]int{}, []Commit{}, h.own()
		here, err := h.MadeHere(0)
		if err != nil {
			return nil, err
		}
		for c, err := range h.v.Whole().History().Log(ctx, LogOptions{Rev: rev, Changes: true}) {
			var brought map[string]bool
			if err == nil {
				brought, err = h.brought(c)
			}
			if err != nil {
				return nil, err
			}
			c.here, c.Changes = here(c), nil
			for words := range brought {
				if n, known := of[words]; known {
					later := commits[n]
					if (later.given() || later.ByMachine() && later.stoodBy(words)) &&
						(c.ByMachine() && !c.stoodBy(words) || user(later, words) && !user(c, words)) {
						continue
					}
				}
				of[words] = len(commits)
			}
			commits = append(commits, c)
		}
		h.v.first.at, h.v.first.of, h.v.first.commits = id, of, commits
	}
	of, commits := h.v.first.of, h.v.first.commits
	return func(line string) (Commit, bool) {
		n, known := of[wordsOf(line)]
		if !known {
			return Commit{}, false
		}
		return commits[n], true
	}, nil
}

// introductions are the commits of a history, newest first, and which of them first brought a line.
type introductions struct {
	sync.Mutex
	at      gitstore.ID
	of      map[string]int
	commits []Commit
}

// brought are the words of lines that a commit has and the one before it has not.
func (h *History) brought(c Commit) (map[string]bool, error) {
	was, now := map[string]bool{}, map[string]bool{}
	a := h.v.Whole().History().Ancestry()
	for _, ch := range c.Changes {
		if class := ClassOf(ch.Path); !ch.Path.IsMarkdown() || class == ClassSession || class == ClassConfig ||
			class == ClassReport {
			continue
		}
		for h, into := range map[Hash]map[string]bool{ch.Old: was, ch.New: now} {
			data, err := a.Read(h)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(data)) {
				into[wordsOf(line)] = true
			}
		}
	}
	for words := range now {
		if was[words] || words == "" {
			delete(now, words)
		}
	}
	return now, nil
}

// wordsOf are the words of a line, those in comments too, as agents may read them; without the marks of comments
// and lists, the task box and kind.
func wordsOf(line string) string {
	line = strings.NewReplacer("<!--", " ", "-->", " ").Replace(line)
	words := strings.Join(strings.Fields(strings.TrimLeft(line, " \t-*+>#")), " ")
	if strings.HasPrefix(words, "[") {
		words = markdown.ReadEntry(words).Body()
	}
	return words
}

// Writers tells of ids of memories and addresses of entries the newest commit up to a revision, "" for HEAD, that wrote
// their words, and of "pin ID" the newest that pinned one or took that back; ok is false for what no commit names. An
// edit that was adopted names nothing, nor does a link that the commit of another memory set, so what an agent wrote and a person edited is the agent's still. Machine says of
// a name whether that commit is a machine's for which no person's word is given; it is for asking about thousands.
// Cost: the commits since it was last asked, without their trees; of an older revision all.
func (h *History) Writers(ctx context.Context, rev string) (
	wrote func(name string) (c Commit, ok bool), machine func(name string) bool, err error,
) {
	repo := h.v.store.Repo()
	from, err := h.v.store.Resolve(rev)
	if err != nil || from.IsZero() {
		return func(string) (Commit, bool) { return Commit{}, false }, func(string) bool { return false }, err
	}
	objects, known, upto := repo.Stage(), "", gitstore.ID{}
	if rev == "" {
		upto, known = h.keptWriters(objects, from)
	}
	var fresh strings.Builder
	seen, linked, commits := map[string]bool{}, []string{}, 0
	for gc, err := range repo.History(from, upto) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, nil, h.v.store.Explain(err)
		}
		commits++
		id := gc.ID.String()
		if commitOf(gc).Unasked() {
			id += unasked
		}
		for name, links := range namesIn(gc) {
			switch line := "\n" + name + "\t" + id; {
			case seen[name]:
			case links:
				linked = append(linked, line)
			default:
				seen[name] = true
				fresh.WriteString(line)
			}
		}
	}
	all := "\n" + known
	for _, line := range linked { // it wrote the words as well where no commit before has them
		name, _, _ := strings.Cut(line, "\t")
		if !seen[name[1:]] && !strings.Contains(all, name+"\t") {
			seen[name[1:]] = true
			fresh.WriteString(line)
		}
	}
	if len(seen) > 0 || known == "" {
		for line := range strings.Lines(known) {
			if name, _, _ := strings.Cut(line, "\t"); name != "\n" && !seen[name] {
				fresh.WriteString("\n" + strings.TrimSuffix(line, "\n"))
			}
		}
		all = fresh.String() + "\n"
	}
	if rev == "" && max(commits, len(seen)) > keepPast {
		_ = h.v.State().SetSeen(ctx, writersName, func([]byte) ([]byte, error) { // a cache: without it this is slower
			return []byte(from.String() + all), nil
		})
	}
	return h.writersOf(objects, all), machines(all), nil
}

// unasked ends the line of what a machine wrote without a person's word.
const unasked = "\t-"

// machines tells of names in lines of names and commits whether the line ends so.
func machines(all string) func(name string) bool {
	names := sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for line := range strings.Lines(all) {
			if line, is := strings.CutSuffix(line, unasked+"\n"); is {
				name, _, _ := strings.Cut(line, "\t")
				out[name] = true
			}
		}
		return out
	})
	return func(name string) bool { return names()[name] }
}

// Unasked reports a machine's commit that names no person who asked for it or approved it.
func (c Commit) Unasked() bool {
	return c.ByMachine() && c.Trailers.Get("Stet-Approved-By") == "" && c.Trailers.Get("Stet-Because") == ""
}

// writersOf looks a name up in lines of names and commits. It reads each commit once.
func (h *History) writersOf(objects *gitstore.Objects, all string) func(name string) (Commit, bool) {
	var one sync.Mutex
	read := map[gitstore.ID]Commit{}
	return func(name string) (Commit, bool) {
		one.Lock()
		defer one.Unlock()
		_, line, found := strings.Cut(all, "\n"+name+"\t")
		line, _, _ = strings.Cut(line, "\n")
		id, err := gitstore.ParseID(strings.TrimSuffix(line, unasked))
		if name == "" || !found || err != nil {
			return Commit{}, false
		}
		if c, ok := read[id]; ok {
			return c, true
		}
		gc, err := objects.Commit(id)
		c := commitOf(gc)
		if h.v.o.Reader != "" {
			c.Subject, c.Body = "", ""
		}
		if err == nil {
			read[id] = c
		}
		return c, err == nil
	}
}

// keptWriters is what local state has of [History.Writers], and up to which ancestor of a commit; nothing where the
// branch went back behind it.
func (h *History) keptWriters(objects *gitstore.Objects, from gitstore.ID) (upto gitstore.ID, known string) {
	kept, _ := h.v.State().Seen(writersName) // what cannot be read is found out again
	at, known, _ := strings.Cut(string(kept), "\n")
	if upto, err := gitstore.ParseID(at); err == nil {
		if is, err := objects.IsAncestor(upto, from); is && err == nil {
			return upto, known
		}
	}
	return gitstore.ID{}, ""
}

// writersName is the name under which local state keeps them: the commit up to which, then a line each.
const writersName = "writers-3"
