package cite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stet/agent/spoken"
	"stet/templates"
	"stet/vault"
	"stet/vault/session"
)

// servedName is the name under which local state lists the turns that served, a line each; trailer names a turn in
// the commit that it served.
const (
	servedName = "because"
	trailer    = "Stet-Because"
)

// A Citation names turns of a person's as "session:ID#n" or "session:ID#n,m", or by words that stand in one
// turn of Session alone.
type Citation struct{ Because, Session string }

// Turns names the turns that ask for a change of a file, as commits name them. Before and after are its
// states without the keys that stet keeps, nil for none. It fails with the reason where one of the turns
// is no person's, or not provably, or of a private conversation, or served another change, and as [Asks]
// does.
func (c Citation) Turns(
	ctx context.Context, v *vault.Vault, from, to vault.Path, before, after []byte,
) ([]string, error) {
	talk, refs, own, err := c.read(ctx, v)
	for i := 0; i < len(refs) && err == nil; i++ {
		if err = unserved(ctx, v, talk, refs[i]); err == nil {
			err = overtaken(ctx, v, talk, refs[i], from, before, after)
		}
	}
	if err != nil {
		return nil, err
	}
	if nameless(from.Dir(), to.Dir()) {
		return nil, fmt.Errorf("no turn names %q as a folder: its words are those of orders", to.Dir())
	}
	was, is := states(from, to, before, after)
	for _, turn := range own { // each alone: words of several make up what nobody said
		if err = Asks(turn, was, is); err == nil {
			break
		}
	}
	for i := 0; i < len(refs) && err == nil; i++ {
		err = revoked(talk, refs[i], was, is)
	}
	return refs, err
}

// states are the two states of a file as far as a citation has to ask for them: all that stands
// there, and where it is; of what goes as a whole, its title and text.
func states(from, to vault.Path, before, after []byte) (was, is string) {
	m := vault.ReadMemory(from, before)
	switch {
	case before == nil:
		return "", string(after)
	case after == nil:
		return m.Title + "\n" + strings.TrimSpace(string(m.Body)), ""
	case from == to:
		return string(before), string(after)
	}
	// With what it says: a name of a folder is about nothing.
	about := strings.TrimSuffix(spoken.Sentences(strings.TrimSpace(string(m.Body)) + "\n" + m.Title + "\n-")[0], ".")
	at := func(p vault.Path) string {
		folders := strings.TrimSuffix(strings.TrimPrefix(string(p), "memories/"), ".md")
		return about + " " + strings.ReplaceAll(folders, "/", " ")
	}
	was = at(from)
	if from.Dir() == "" || strings.HasPrefix(to.Dir()+"/", from.Dir()+"/") {
		was += " elsewhere" // it leaves no folder, and something does go
	}
	return was + "\n" + string(before), at(to) + "\n" + string(after)
}

// form is "session:ID#3", with more turns behind commas.
var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^session:([^#\s]+)#(\d+(?:,\d+)*)$`)
})

// read are the conversation, its turns by their permanent names, and the person's own words in them.
func (c Citation) read(ctx context.Context, v *vault.Vault) (
	talk *session.Conversation, refs, own []string, err error,
) {
	id, words, numbers := c.Session, fold(c.Because), []int(nil)
	if m := form().FindStringSubmatch(c.Because); m != nil {
		id, words = m[1], ""
		for text := range strings.SplitSeq(m[2], ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("message %s: %w", text, vault.ErrNotFound)
			}
			numbers = append(numbers, n)
		}
	} else if id == "" || words == "" {
		return nil, nil, nil,
			errors.New("it names no turn: say session:ID#n, or words of a turn together with the session")
	}
	talk, err = session.Hear(ctx, v, id)
	if err == nil && talk.Private {
		err = errors.New("the conversation is private")
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for i, m := range talk.Messages {
		if words != "" && m.Role == "user" && strings.Contains(fold(string(m.Content)), words) {
			numbers = append(numbers, i+1)
		}
	}
	if words != "" && len(numbers) != 1 {
		return nil, nil, nil, fmt.Errorf("%s of the user's in session %s have these words",
			templates.Plural(len(numbers), "turn"), id)
	}
	for _, n := range numbers {
		ref, turn, err := proven(ctx, talk, n)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", ref, err)
		}
		refs, own = append(refs, ref), append(own, turn)
	}
	return talk, refs, own, nil
}

// proven is the permanent name of a turn, and the person's own words in it.
func proven(ctx context.Context, talk *session.Conversation, n int) (ref, own string, err error) {
	ref = turnRef(talk.ID, n)
	switch {
	case n < 1 || n > len(talk.Messages):
		return ref, "", vault.ErrNotFound
	case talk.Messages[n-1].Role != "user":
		return ref, "", errors.New("it is no turn of the user's")
	}
	// Where speakers have names, which of them is the user nobody knows.
	if name := talk.Messages[n-1].Name; name != "" && !strings.EqualFold(name, "user") {
		return ref, "", fmt.Errorf("it is %q who says it", name)
	}
	return ref, Own(string(talk.Messages[n-1].Content)), talk.Proven(ctx, n)
}

// Said names, by the lines of a text that hold nothing else, the turns in which a person said their sentences,
// among those that source names as "session:ID#n". A turn counts as for [Citation.Turns], and may serve again.
func Said(ctx context.Context, v *vault.Vault, source, text string) (map[string]string, error) {
	id, numbers := vault.SourceTurns(source)
	if id == "" {
		return nil, nil
	}
	talk, err := session.Hear(ctx, v, id)
	if err != nil {
		return nil, err
	}
	return saidIn(ctx, talk, numbers, text)
}

func saidIn(ctx context.Context, talk *session.Conversation, numbers []int, text string) (map[string]string, error) {
	out := map[string]string{}
	for _, n := range numbers {
		ref, own, err := proven(ctx, talk, n)
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil || talk.Private {
			continue
		}
		said := folded(own)
		for line := range strings.Lines(text) {
			if all := folded(line); len(all) > 0 && count(all, said) == len(all) {
				out[line] = ref
			}
		}
	}
	return out, nil
}

// Origin finds the turns, by today's numbers, that ref named at a moment as what a text came from, in the commit c or
// outside of any. Of a ref without turns it is the newest one of the person's until then that has the text's words,
// none without one. Recorded says that they are more than what a writer claims: they served the commit here, or a
// client's hook or the person's own command recorded there what the text says.
func Origin(
	ctx context.Context, v *vault.Vault, c vault.Commit, ref string, at time.Time, text string,
) (turns []int, recorded bool, err error) {
	id, named := vault.SourceTurns(ref)
	talk, err := session.Hear(ctx, v, id)
	if errors.Is(err, session.ErrUnknownSession) || errors.Is(err, vault.ErrRefused) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	turns = heldBy(talk, named, at, text)
	if slices.Contains(Named(c), ref) {
		seen, err := v.State().Seen(servedName)
		return turns, strings.Contains("\n"+string(seen), "\n"+ref+" "), err
	}
	said, err := saidIn(ctx, talk, turns, text)
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && line[0] != '#' && said[line] == "" {
			return turns, false, err
		}
	}
	return turns, len(said) > 0, err
}

// heldBy are the turns of [Origin]. What is sealed within the second of a commit may have been numbered anew before it
// or after it: the numbers count under which a turn has the text's words.
func heldBy(talk *session.Conversation, named []int, at time.Time, text string) []int {
	holds := func(n int) bool {
		m := talk.Messages[n-1]
		return m.Role == "user" && holds(string(m.Content), text)
	}
	if len(named) == 0 {
		for i, m := range slices.Backward(talk.Messages) {
			if m.Time.Before(at.Add(time.Second)) && holds(i+1) {
				return []int{i + 1}
			}
		}
		return nil
	}
	var ways [2][]int
	for _, n := range named {
		for i, now := range numbersOf(talk.Known, n, at) {
			if now > 0 && now <= len(talk.Messages) {
				ways[i] = append(ways[i], now)
			}
		}
	}
	if slices.ContainsFunc(ways[1], holds) && !slices.ContainsFunc(ways[0], holds) {
		return ways[1]
	}
	return ways[0]
}

// holds reports whether the words of each line of a text that is no heading stand together in a turn.
func holds(turn, text string) (some bool) {
	in := func(s string) string {
		var b strings.Builder
		for _, w := range words(s) {
			b.WriteString(" " + w.fold)
		}
		return b.String() + " "
	}
	turn = in(turn)
	for line := range strings.Lines(text) {
		if all := in(line); line[0] != '#' && all != " " {
			if some = true; !strings.Contains(turn, all) {
				return false
			}
		}
	}
	return some
}

// folded are the sentences of a text without what ends them.
func folded(text string) (out []string) {
	for _, s := range spoken.Sentences(text) {
		out = append(out, strings.TrimRight(fold(s), ".! "))
	}
	return out
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// unserved fails where a turn of a conversation served another change: local state or a commit says so. The same words
// within a day are the same turn: a client may tell of one in two conversations.
func unserved(ctx context.Context, v *vault.Vault, talk *session.Conversation, ref string) error {
	_, n := vault.SourceTurns(ref)
	said := talk.Messages[n[0]-1]
	served := func(by string, at time.Time) bool {
		id, numbers := vault.SourceTurns(by)
		return by == ref || id == talk.ID && len(numbers) == 1 &&
			slices.Contains(numbersOf(talk.Known, numbers[0], at), n[0])
	}
	seen, err := v.State().Seen(servedName)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(seen)) {
		f := append(strings.Fields(line), "", "", "", "") // an older stet noted no time and no words
		at, _ := time.Parse(time.RFC3339, f[1])
		when, _ := time.Parse(time.RFC3339, f[3])
		const day = 24 * time.Hour
		same := f[2] == wordsKey(said.Content)
		if served(f[0], at) || same && (when.IsZero() || said.Time.IsZero() || said.Time.Sub(when).Abs() < day) {
			return fmt.Errorf("%s served another change, and a turn serves one", ref)
		}
	}
	for c, err := range v.Whole().History().Log(ctx, vault.LogOptions{}) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(Named(c), func(by string) bool { return served(by, c.When) }) {
			return fmt.Errorf("%s served another change, and a turn serves one", ref)
		}
	}
	return nil
}

// overtaken fails where the user put in by an update, after they said the turn, a line that the change takes away.
// Edits by hand do not count: they are committed later than they are made.
func overtaken(
	ctx context.Context, v *vault.Vault, talk *session.Conversation, ref string, from vault.Path, before, after []byte,
) error {
	_, n := vault.SourceTurns(ref)
	said, stays := talk.Messages[n[0]-1].Time, map[string]bool{}
	for line := range strings.Lines(string(after)) {
		stays[line] = true
	}
	h := v.Whole().History()
	for c, err := range h.Log(ctx, vault.LogOptions{Path: from, Since: said, Op: vault.OpUpdate}) {
		if err != nil {
			return err
		}
		if by := c.Trailers.Get("Stet-Actor"); by != vault.ActorUser || !c.When.After(said) {
			continue
		}
		_, now, err := h.ReadAt(ctx, string(c.Rev), string(from))
		if err != nil {
			continue // it removed the file
		}
		_, was, _ := h.ReadAt(ctx, string(c.Rev)+"^", string(from)) // nothing before it is a new file
		for line := range strings.Lines(string(before)) {
			if !stays[line] && strings.TrimSpace(line) != "" && strings.Contains(string(now), line) &&
				!strings.Contains(string(was), line) {
				return fmt.Errorf("the user wrote this after %s", ref)
			}
		}
	}
	return nil
}

// numbersOf are the numbers that a message may have today which had number n within the second that begins at a
// moment: commits tell no more of when they were made.
func numbersOf(k session.Known, n int, at time.Time) []int {
	if at.IsZero() {
		return []int{n}
	}
	return []int{k.Number(n, at), k.Number(n, at.Add(time.Second-1))}
}

// wordsKey stands for the words of a turn.
func wordsKey(said []byte) string {
	const digits = 16
	sum := sha256.Sum256([]byte(fold(string(said))))
	return hex.EncodeToString(sum[:])[:digits]
}

func turnRef(id string, n int) string { return fmt.Sprintf("session:%s#%d", id, n) }

// Named are the turns that a commit names.
func Named(c vault.Commit) []string { return c.Trailers.All(trailer) }

// Serve notes that the turns which commits name have served: each with the time of the commit, its words and its time.
func Serve(ctx context.Context, v *vault.Vault, made []vault.Commit) error {
	var refs []string
	for _, c := range made {
		for _, ref := range Named(c) {
			line := ref + " " + c.When.UTC().Format(time.RFC3339)
			id, n := vault.SourceTurns(ref)
			talk, err := session.Hear(ctx, v.Whole(), id)
			if err != nil {
				return err
			}
			if len(n) == 1 && n[0] <= len(talk.Messages) {
				said := talk.Messages[n[0]-1]
				line += " " + wordsKey(said.Content) + " " + said.Time.UTC().Format(time.RFC3339)
			}
			refs = append(refs, line)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return v.State().SetSeen(ctx, servedName, func(now []byte) ([]byte, error) {
		return append(now, strings.Join(refs, "\n")+"\n"...), nil
	})
}
