package vault

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"stet/markdown"
	"stet/templates"
	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/store"
)

// likely lists what is new in a file and may be meant to be kept from others.
func (j *judge) likely(p Path, f store.Content) ([]guard.Finding, error) {
	if j.policy.Secrets == guard.Off {
		return nil, nil
	}
	was := j.judged[judgedKeyOf(p, f.ID)]
	if !was.whole {
		was.likely = likelyIn(f.Data, p)
	}
	return j.fresh(slices.Clone(was.likely), &j.maybe, likelyIn, false)
}

func likelyIn(data []byte, p Path) []guard.Finding {
	found := guard.Likely(string(p), data)
	if p.Transcript() {
		found = append(found, guard.Doubtful(string(p), data)...)
	}
	return found
}

// unquoted drops what the newest commits, as far as they are a run's, brought or took away: there it was judged, and
// the report of the run quotes it.
func (j *judge) unquoted(found []guard.Finding, run string) ([]guard.Finding, error) {
	if len(found) == 0 || run == "" {
		return found, nil
	}
	known := map[string]bool{}
	for c, err := range j.log() {
		if err != nil {
			return nil, err
		}
		if c.Trailers.Get("Stet-Run") != run {
			break
		}
		for _, ch := range c.Changes {
			for _, hash := range []Hash{ch.Old, ch.New} {
				data, err := j.objects.Content(string(hash))
				if err != nil {
					return nil, err
				}
				for _, f := range append(ordersIn(data, ch.Path), likelyIn(data, ch.Path)...) {
					known[f.Fingerprint] = true
				}
			}
		}
	}
	return slices.DeleteFunc(found, func(f guard.Finding) bool { return known[f.Fingerprint] }), nil
}

func secretProblem(p Path, found []guard.Finding) Problem {
	var what []string
	for _, f := range found {
		what = append(what, describeFinding(f))
	}
	return Problem{ID: "secret", Path: p, Text: strings.Join(what, "; ") + ", left uncommitted", Hint: guardHint("take it out of the file", found)}
}

func tooLarge(p Path, size, most int64) error {
	return WithHint(fmt.Errorf("%q: %w (%d bytes, at most %d)", p, ErrTooLarge, size, most),
		"split it or keep it outside the vault; guard.max_bytes in your configuration is the limit")
}

// mostOfAgent bounds, in bytes, what an agent makes of one memory: whatever shows or reviews memories pays for it.
const mostOfAgent = 1 << 20

// fits fails with [ErrTooLarge] for a file above guard.max_bytes, and for a memory above [mostOfAgent] that an agent
// writes unasked and did not find as large.
func (j *judge) fits(p Path, f store.Content, why *Why) error {
	size := len(f.Data)
	if int64(size) > j.policy.MaxBytes {
		return tooLarge(p, int64(size), j.policy.MaxBytes)
	}
	if size <= mostOfAgent || ClassOf(p) != ClassMemory || why.AgentName == "" || why.Approver != "" {
		return nil
	}
	for from, at := range j.touched {
		if at.InHead.ID.IsZero() {
			continue
		}
		before, err := j.inHead(from)
		if err != nil || len(before) > mostOfAgent {
			return err
		}
	}
	return WithHint(fmt.Errorf("%q: %w (%s; a memory of an agent's has at most %d)", p, ErrTooLarge,
		templates.Plural(size, "byte"),
		mostOfAgent), "say what matters of it, and keep the rest outside the vault")
}

// refusal names the line of a file that is there, and of a new one that of its text: nobody sees more of it.
func (j *judge) refusal(p Path, data []byte, found []guard.Finding, kind error) error {
	if at := j.touched[p]; at.Disk.Exists || !at.InHead.ID.IsZero() {
		return &GuardError{Path: p, Findings: found, kind: kind}
	}
	found = slices.Clone(found)
	front := markdown.Parse(data).BodyLine() - 1
	for i := range found {
		if found[i].Line > front {
			found[i].Line -= front
		}
	}
	return &GuardError{Path: Path(p.Dir()), New: true, Findings: found, kind: kind}
}

// flag warns of findings and returns their rules.
func (t *Tx) flag(where string, found []guard.Finding) (rules []string) {
	for _, f := range found {
		t.warnings = append(t.warnings, fmt.Sprintf("%s: flagged %s", where, describeFinding(f)))
		rules = append(rules, f.Rule)
	}
	return rules
}

// Secrets lists what looks like a secret in a file's contents, without what the
// person allowed; nothing where the configuration turns the guard off.
func (v *Vault) Secrets(p Path, data []byte) []guard.Finding {
	policy := v.policy()
	if policy.Secrets == guard.Off {
		return nil
	}
	found := secretsIn(data, p)
	if len(found) == 0 {
		v.remember(p, gitstore.HashBlob(data), judged{})
	}
	return slices.DeleteFunc(found, policy.Allowed)
}

// unheard are the orders in a file that HEAD may not hold: where it has the same bytes in one of the files touched,
// as it has of all that moves, there are none.
func (j *judge) unheard(p Path, f store.Content) []guard.Finding {
	if j.stands == nil {
		j.stands = map[gitstore.ID]bool{}
		for _, at := range j.touched {
			j.stands[at.InHead.ID] = true
		}
	}
	if was := j.judged[judgedKeyOf(p, f.ID)]; was.whole || j.stands[f.ID] {
		return was.orders
	}
	return guard.Injections(f.Data)
}

// refusedIn lists the secrets in a text for which it is refused: in a transcript, which says what was said, what is
// certain; what only may be one is flagged there.
func refusedIn(data []byte, p Path) []guard.Finding {
	if p.Transcript() {
		return guard.Certain(string(p), data)
	}
	return guard.Secrets(string(p), data)
}

// judged is what the guard finds in a text, names aside; likely and orders are known where whole says so.
type judged struct {
	secrets, likely, orders []guard.Finding
	whole                   bool
}

// A judgedKey is a text and what its rules depend on: Markdown has those of every kind of file, and of a transcript
// less is refused.
type judgedKey struct {
	name  string
	class Class
	id    gitstore.ID
}

func judgedKeyOf(p Path, id gitstore.ID) judgedKey {
	key := judgedKey{id: id}
	if !p.IsMarkdown() {
		key.name = p.Base()
	}
	if p.Transcript() {
		key.class = ClassSession
	}
	return key
}

func (v *Vault) remember(p Path, id gitstore.ID, was judged) {
	if v.judged == nil {
		v.judged = map[judgedKey]judged{}
	}
	v.judged[judgedKeyOf(p, id)] = was
}

// judgeAhead takes down what the guard will say of texts that wait for their commit, on all processors.
func (v *Vault) judgeAhead(ctx context.Context, paths []Path, contents [][]byte) error {
	ids, found := make([]gitstore.ID, len(paths)), make([]judged, len(paths))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(paths) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				p, data := paths[i], contents[i]
				ids[i] = gitstore.HashBlob(data)
				was, known := v.judged[judgedKeyOf(p, ids[i])] // nobody writes it now
				if !known && v.policy().Secrets != guard.Off {
					was.secrets = refusedIn(data, p)
				}
				was.likely, was.orders, was.whole = likelyIn(data, p), guard.Injections(data), true
				found[i] = was
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for i, p := range paths {
		v.remember(p, ids[i], found[i])
	}
	return nil
}

// inHead is what HEAD holds at p, nil for nothing.
func (j *judge) inHead(p Path) ([]byte, error) {
	if at := j.touched[p]; at != nil && !at.InHead.ID.IsZero() {
		return j.objects.Blob(at.InHead.ID)
	}
	return nil, nil
}
