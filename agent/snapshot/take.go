package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/agent/llm"
	"stet/index"
	"stet/templates"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/settings"
)

// ErrBudget reports a budget that has no room even for the frame of a snapshot.
var ErrBudget = errors.New("the budget is too small")

const (
	// maxText bounds the characters of one memory: a long one would be all that is shown.
	maxText = 1200
	// misses is how many memories in a row may be too long for what is left before it is full.
	misses = 8
	// skillShare is the part of the budget that the catalogue gets before memories do.
	skillShare = 5
	// agentShare is the part that memories get which agents pinned.
	agentShare = 5
	// attempts is how often it begins anew because somebody committed meanwhile.
	attempts = 3
)

// Take makes a snapshot of v. x searches the files of o.Past, or those on disk; without it the snapshot is the
// notebooks alone. It fails with
// [ErrBudget], and as the vault and the index do.
func Take(ctx context.Context, v *vault.Vault, x *index.Index, o Options) (*Snapshot, error) {
	for n := 1; ; n++ {
		t := &taking{v: v, x: x, o: o, out: &Snapshot{
			Budget: o.Budget, Query: o.Query, Notebooks: []Notebook{}, Items: []Item{}, Skills: []Skill{}}}
		if err := t.take(ctx); err != nil {
			return nil, err
		}
		head, err := v.Head()
		if err != nil {
			return nil, err
		}
		if o.Past != nil || head == t.out.Commit || n == attempts {
			return t.out, nil
		}
	}
}

// A taking is one snapshot under way.
type taking struct {
	v       *vault.Vault
	x       *index.Index
	o       Options
	out     *Snapshot
	at      time.Time
	pinned  []*index.Standing // the person's first
	agents  int               // how many of them, at the end, are agents'
	wrote   func(name string) (vault.Commit, bool)
	machine func(name string) bool // see [vault.History.Writers]
	ranked  []*index.Standing
	skills  []Skill
	files   []vault.File // Markdown below skills/
	used    int          // tokens of what is taken up, without the foot
	most    int          // characters of one memory; 0 is maxText
	past    sync.Mutex   // one reads of a commit at a time
}

func (t *taking) take(ctx context.Context) error {
	if err := t.look(ctx); err != nil {
		return err
	}
	if err := t.readNotebooks(ctx); err != nil {
		return err
	}
	left := &t.out.LeftOut
	for i := range t.out.Notebooks {
		left.Entries += len(t.out.Notebooks[i].pieces)
	}
	if err := t.readSkills(ctx); err != nil {
		return err
	}
	left.Pinned, left.Memories, left.Skills = len(t.pinned), len(t.ranked), len(t.skills)
	if t.used = llm.Tokens(t.head()); !t.fits(0) {
		return fmt.Errorf("%w: %s, and %d is the least", ErrBudget,
			templates.Plural(t.o.Budget, "token"), t.used+llm.Tokens(t.foot()))
	}
	t.fillNotebooks()
	own := len(t.pinned) - t.agents
	if err := t.fillItems(ctx, titlePinned, t.pinned[:own], &left.Pinned, t.o.Budget); err != nil {
		return err
	}
	if err := t.fillItems(ctx, titlePinned, t.pinned[own:], &left.Pinned, t.o.Budget/agentShare); err != nil {
		return err
	}
	t.fillSkills(t.o.Budget / skillShare)
	if err := t.fillItems(ctx, titleMemories, t.ranked, &left.Memories, t.o.Budget); err != nil {
		return err
	}
	t.fillSkills(t.o.Budget)
	t.out.Text = t.render()
	t.out.Tokens = llm.Tokens(t.out.Text)
	sum := sha256.Sum256([]byte(t.out.Text))
	t.out.SHA256 = hex.EncodeToString(sum[:])
	return nil
}

// look finds out which commit it is about, and which memories hold then.
func (t *taking) look(ctx context.Context) (err error) {
	if past := t.o.Past; past != nil {
		t.out.Commit, t.at = past.Commit.Rev, past.Commit.When
	} else if t.out.Commit, t.at, err = t.v.History().Tip(); err != nil {
		return err
	}
	t.at = cmp.Or(t.at, t.o.Now).UTC()
	rev := ""
	if t.o.Past != nil {
		rev = string(t.out.Commit)
	}
	if t.wrote, t.machine, err = t.v.History().Writers(ctx, rev); err != nil {
		return err
	}
	if t.out.Date = t.at.Format(time.DateOnly); t.x == nil {
		return nil
	}
	all, err := t.x.Standing(ctx, func() ([]vault.File, error) { return t.list(ctx) }, t.o.Query, t.at)
	t.choose(all)
	if look := t.o.Look; err == nil && t.o.Past == nil {
		var changed []vault.Change
		if t.files, err = look.Shown(ctx, t.files); err == nil {
			changed, err = look.Changed(ctx)
		}
		t.dirty(changed)
	}
	return err
}

// list lists the files, with what is private. One walk tells what is there and what is not committed.
func (t *taking) list(ctx context.Context) (files []vault.File, err error) {
	if past := t.o.Past; past != nil {
		files, err = past.List(ctx, vault.WalkOptions{Archive: true})
	} else {
		if t.o.Look == nil || t.o.Look.Head() != t.out.Commit {
			t.o.Look, err = t.v.Look(ctx)
		}
		if err == nil {
			files = t.o.Look.Files()
		}
	}
	for _, f := range files {
		if vault.ClassOf(f.Path) == vault.ClassSkill {
			t.files = append(t.files, f)
		}
	}
	return files, err
}

// dirty notes the uncommitted files that the snapshot can depend on. What notes say moves a ranking.
func (t *taking) dirty(changed []vault.Change) {
	for _, c := range changed {
		for _, p := range []vault.Path{c.From, c.Path} {
			switch vault.ClassOf(p) {
			case vault.ClassSession, vault.ClassReport, vault.ClassConfig:
				continue
			case vault.ClassNote:
				if t.o.Query == "" {
					continue
				}
			}
			if p != "" && p.IsMarkdown() {
				t.out.Dirty = append(t.out.Dirty, p)
			}
		}
	}
	slices.Sort(t.out.Dirty)
}

// choose puts the memories in order.
func (t *taking) choose(all []index.Standing) {
	for i := range all {
		switch m := &all[i]; {
		case m.Pinned:
			t.pinned = append(t.pinned, m)
		case t.o.Query == "" || m.Place > 0:
			t.ranked = append(t.ranked, m)
		}
	}
	// A memory that does not say when counts as new: persons who write files seldom date them.
	date := func(m *index.Standing) time.Time {
		if m.Updated.IsZero() || m.Updated.After(t.at) {
			return t.at
		}
		return m.Updated
	}
	// What agents wrote is no more important than what does not say, and stands behind that of the person's.
	last := map[*index.Standing]int{}
	for i := range all {
		if t.machine(all[i].ID) {
			last[&all[i]] = 1
		}
	}
	worth := func(m *index.Standing, last int) float64 {
		if last > 0 {
			return min(importance(m), middle)
		}
		return importance(m)
	}
	best := func(a, b *index.Standing) int {
		lastA, lastB := last[a], last[b]
		return cmp.Or(cmp.Compare(worth(b, lastB), worth(a, lastA)), lastA-lastB,
			cmp.Compare(importance(b), importance(a)), date(b).Compare(date(a)), cmp.Compare(a.Path, b.Path))
	}
	slices.SortFunc(t.pinned, best)
	own, agents := []*index.Standing{}, []*index.Standing{}
	for _, m := range t.pinned {
		if c, pinned := t.wrote("pin " + m.ID); pinned && c.ByMachine() || !pinned && t.by(m.ID, "") != "" {
			agents = append(agents, m)
		} else {
			own = append(own, m)
		}
	}
	t.pinned, t.agents = append(own, agents...), len(agents)
	if t.o.Query != "" {
		best = func(a, b *index.Standing) int { return cmp.Compare(a.Place, b.Place) }
	}
	slices.SortFunc(t.ranked, best)
	if t.o.Query == "" {
		t.ranked = mixed(t.ranked, func(m *index.Standing) bool { return last[m] > 0 })
	}
}

// mixed are memories in their order, but no two of agents' one after the other while one of the user's is left: many of
// theirs crowd out none that the user calls less important.
func mixed(all []*index.Standing, machine func(*index.Standing) bool) (out []*index.Standing) {
	var held []*index.Standing // of agents, behind one of theirs
	put := func(m *index.Standing) {
		if machine(m) && len(out) > 0 && machine(out[len(out)-1]) {
			held = append(held, m)
			return
		}
		out = append(out, m)
		if !machine(m) && len(held) > 0 {
			out, held = append(out, held[0]), held[1:]
		}
	}
	for _, m := range all {
		put(m)
	}
	return append(out, held...)
}

// by names the agent that wrote a memory, or the entry that it was, without the user's yes, or what it was imported
// from; "" for the user.
func (t *taking) by(id, source string) string {
	for _, name := range []string{id, source} {
		c, ok := t.wrote(name)
		if ok && c.Unasked() {
			return "by agent " + word(c.Author)
		}
		if via := c.Trailers.Get("Stet-Via"); ok && via != "" { // it could confirm in the user's name
			return "by agent " + word(via)
		}
	}
	if from, ok := strings.CutPrefix(source, "import:"); ok {
		from, _, _ = strings.Cut(from, ":")
		return "imported from " + word(from)
	}
	return ""
}

// middle is the importance of a memory that does not say.
const middle = 0.5

func importance(m *index.Standing) float64 {
	if m.Importance == nil {
		return middle
	}
	return *m.Importance
}

// read reads a file as it is shown; nil data is none.
func (t *taking) read(ctx context.Context, p vault.Path) (data []byte, err error) {
	if past := t.o.Past; past != nil {
		t.past.Lock()
		defer t.past.Unlock()
		data, _, err := past.Files.Read(p)
		if errors.Is(err, vault.ErrRefused) {
			return nil, nil
		}
		return data, err
	}
	data, _, err = t.v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vault.ErrNotFound) || errors.Is(err, vault.ErrRefused) {
		return nil, nil
	}
	return data, err
}

// orders are the rules that say a text of a file reads like orders to a model. It is masked unless
// the user wrote its lines or stands by them.
func (t *taking) orders(
	ctx context.Context, p vault.Path, text string, lines []byte,
) (rules []string, masked bool, err error) {
	if rules = t.rulesOf(text); len(rules) == 0 {
		return nil, false, nil
	}
	rev := ""
	if t.o.Past != nil {
		rev = string(t.out.Commit)
	}
	own, err := t.v.History().ByUser(ctx, rev, p, lines)
	return rules, !own, err
}

// rulesOf are the rules that say a text reads like orders, each once, without what the user found harmless.
func (t *taking) rulesOf(text string) (rules []string) {
	allow := guard.Policy{Allow: t.v.Settings().List(settings.GuardAllow)}
	found := guard.Injections([]byte(text))
	if clean := Clean(text); clean != text {
		found = append(found, guard.Injections([]byte(clean))...)
	}
	for _, f := range found {
		if !slices.Contains(rules, f.Rule) && !allow.Allowed(f) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// nameOf is what stands for a file: its path, unless that reads like orders.
func (t *taking) nameOf(p vault.Path, id string) string {
	switch rules := t.rulesOf(spelled(string(p))); {
	case len(rules) == 0:
		return string(p)
	case id != "":
		return "memory " + id
	default:
		return maskOf(rules)
	}
}

// ordersOfUser follows what the user wrote and a model could take for orders of somebody else.
const ordersOfUser = " (reads like orders; the user wrote it or stands by it)"

// maskOf stands in place of such a text that is not the user's.
func maskOf(rules []string) string {
	return fmt.Sprintf("[masked: reads like orders to a model (%s)]", strings.Join(rules, ", "))
}
