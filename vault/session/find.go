package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/markdown"
	"stet/vault"
)

// A Known is what the front matter of a transcript says, without its messages.
type Known struct {
	ID        string     `json:"id"`
	Path      vault.Path `json:"path,omitempty"`
	Open      bool       `json:"open,omitempty"` // not sealed, or not all of it
	Title     string     `json:"title"`
	Agent     string     `json:"agent,omitempty"`
	Source    string     `json:"source,omitempty"`
	Origin    string     `json:"origin,omitempty"`
	Project   string     `json:"project,omitempty"`
	Parent    string     `json:"parent,omitempty"`
	Model     string     `json:"model,omitempty"`
	Started   time.Time  `json:"started,omitzero"`
	Ended     time.Time  `json:"ended,omitzero"`
	Messages  int        `json:"messages"`
	EndReason string     `json:"-"`
	Private   bool       `json:"-"`

	renumbered []string // see [Known.Number]
}

// Read reads the front matter of a transcript.
func Read(p vault.Path, data []byte) Known {
	d := markdown.Parse(data)
	k := Known{Path: p}
	for key, into := range map[string]*string{"id": &k.ID, "title": &k.Title, "agent": &k.Agent,
		"source": &k.Source, "origin": &k.Origin, "project": &k.Project, "parent": &k.Parent, "model": &k.Model, "end_reason": &k.EndReason} {
		v, _ := d.Meta(key)
		*into = v.Text()
	}
	for key, into := range map[string]*time.Time{"started": &k.Started, "ended": &k.Ended} {
		v, _ := d.Meta(key)
		at, _ := v.Time()
		*into = at.UTC()
	}
	v, _ := d.Meta("messages")
	n, _ := v.Float()
	k.Messages = int(n)
	k.Private = d.Private()
	v, _ = d.Meta("renumbered")
	k.renumbered = v.List()
	if k.Title == "" {
		k.Title = strings.TrimSuffix(p.Base(), ".md")
	}
	return k
}

// transcripts lists the files of sessions.
func transcripts(ctx context.Context, v *vault.Vault) ([]vault.Path, error) {
	files, err := v.Files(ctx, vault.WalkOptions{Under: "sessions"})
	paths := make([]vault.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths, err
}

// Transcripts lists the files whose names say that they may be the transcript of
// a session, of which there is one at most unless a person copied it. Cost: a
// listing of the folders of transcripts.
func Transcripts(ctx context.Context, v *vault.Vault, id string) ([]vault.Path, error) {
	paths, err := transcripts(ctx, v)
	if err != nil {
		return nil, err
	}
	return named(paths, id), nil
}

// named are those of the files whose names end as an id does.
func named(paths []vault.Path, id string) (out []vault.Path) {
	tail := tailOf(id)
	for _, p := range paths {
		if ends(p.Base(), tail) {
			out = append(out, p)
		}
	}
	return out
}

// tailOf is what the name of the transcript of a session ends with, or all of it.
func tailOf(id string) string { return vault.NameTranscript(&markdown.Transcript{ID: id}).Base() }

func ends(base, tail string) bool { return base == tail || strings.HasSuffix(base, "-"+tail) }

// headSize is more than front matter ever is that nobody wrote a book into.
const headSize = 4 << 10

// Head reads what a transcript's front matter says, and of the file no more than
// that takes.
func Head(v *vault.Vault, p vault.Path) (Known, error) {
	head, err := v.ReadHead(p, headSize)
	if err != nil {
		return Known{}, err
	}
	if end := bytes.Index(head, []byte("\n---")); end >= 0 {
		head = head[:end+len("\n---")]
	} else if len(head) == headSize {
		if head, _, err = v.ReadFile(p); err != nil {
			return Known{}, err
		}
	}
	return Read(p, head), nil
}

// Heads is [Head] of many files, in their order. What cannot be read is known by
// its path alone.
func Heads(ctx context.Context, v *vault.Vault, paths []vault.Path) ([]Known, error) {
	out := make([]Known, len(paths))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(paths) && ctx.Err() == nil; i += workers {
				k, err := Head(v, paths[i])
				if err != nil {
					k = Known{Path: paths[i]}
				}
				out[i] = k
			}
		})
	}
	wg.Wait()
	return out, context.Cause(ctx)
}

// renamed lists the transcripts of a session that are called otherwise than by
// its id, as a person may call them. Cost: the beginning of every file is read.
func renamed(ctx context.Context, v *vault.Vault, key string) ([]vault.Path, error) {
	paths, err := transcripts(ctx, v)
	if err != nil {
		return nil, err
	}
	heads, err := Heads(ctx, v, paths)
	var out []vault.Path
	for i, k := range heads {
		if same(k.ID, key) {
			out = append(out, paths[i])
		}
	}
	return out, err
}

// All reads the front matter of every transcript, the newest first. Files
// without an id are none. Cost: the beginning of every file is read.
func All(ctx context.Context, v *vault.Vault) ([]Known, error) {
	paths, err := transcripts(ctx, v)
	if err != nil {
		return nil, err
	}
	out, err := Heads(ctx, v, paths)
	out = slices.DeleteFunc(out, func(k Known) bool { return k.Path == "" || k.ID == "" && k.Messages == 0 })
	slices.SortStableFunc(out, func(a, b Known) int {
		return cmp.Or(cmp.Or(b.Ended, b.Started).Compare(cmp.Or(a.Ended, a.Started)), cmp.Compare(a.Path, b.Path))
	})
	return out, err
}

// Find finds the transcript that ref names: a path, an id or a unique part of
// one, or the id that its agent gave it. It fails with [ErrUnknownSession] or a
// [vault.AmbiguousError].
func Find(ctx context.Context, v *vault.Vault, ref string) (Known, []byte, error) {
	k, data, err := find(ctx, v, ref)
	if err == nil && k.Private && v != v.Whole() {
		return Known{}, nil, private(ref)
	}
	return k, data, err
}

// find looks among all transcripts, and names those that shown gives.
func find(ctx context.Context, shown *vault.Vault, ref string) (Known, []byte, error) {
	v := shown.Whole()
	if p, err := vault.ParsePath(ref); err == nil && vault.ClassOf(p) == vault.ClassSession {
		if data, _, err := v.ReadFile(p); err == nil {
			return Read(p, data), data, nil
		}
	}
	if own(ref) { // its file ends as the id does; only when none does is every transcript read
		ref = strings.ToLower(ref)
		paths, err := Transcripts(ctx, v, ref)
		if err != nil {
			return Known{}, nil, err
		}
		// What another vault calls a conversation of another program differs in its time.
		for _, end := range []string{ref, ref[len(ref)-foreignPart:]} {
			for _, p := range paths {
				if data, _, err := v.ReadFile(p); err == nil {
					if k := Read(p, data); k.ID == ref || k.Origin != "" && same(k.ID, end) {
						return k, data, nil
					}
				}
			}
		}
	}
	all, err := All(ctx, v)
	if err != nil {
		return Known{}, nil, err
	}
	called := func(k Known) bool { return k.Origin != "" && k.Origin == ref }
	hooked := func(k Known) bool { return called(k) && same(k.ID, Key(k.Agent, ref)) && told(v, k.Agent, ref) }
	open, _ := AllOpen(v) // of one that cannot be read nothing is known
	meant := called
	if slices.ContainsFunc(open, func(o *Open) bool { return hooked(o.Known()) }) || slices.ContainsFunc(all, hooked) {
		meant = hooked
	}
	k, err := pick(shown, ref, all, Known.memory, meant)
	if err != nil {
		return Known{}, nil, orUnknown(err, ref)
	}
	data, _, err := v.ReadFile(k.Path)
	return k, data, err
}

// told reports whether hooks told of what an agent calls ref. Of several conversations that their agents call the same
// that one is meant: nobody else takes its name from it.
func told(v *vault.Vault, agent, ref string) bool {
	hooked, err := ByHooks(v, Key(agent, ref))
	return hooked && err == nil
}

// A Standing session is one that there is, and how a turn says that it belongs to it.
type Standing struct {
	Agent, Name string
	// Foreign says that somebody else than the agent recorded it: hooks of a client told of it, or the user
	// imported it.
	Foreign bool
	Private bool
}

// Stands finds the session that an agent calls id, or that has this id of ours; nil is none. It looks at local state
// and, where nothing is open, at names of files.
func Stands(ctx context.Context, v *vault.Vault, agent, id string) (*Standing, error) {
	v = v.Whole()
	keys := []string{Key(agent, id)}
	if own(id) {
		keys = append(keys, keys[0][len(keys[0])-foreignPart:])
	}
	for _, key := range keys {
		if o, err := Opened(v, key); err == nil && len(o.Facts.Messages) > 0 {
			hooked, err := ByHooks(v, key)
			return &Standing{o.Agent, o.Name, hooked, o.Facts.Private}, err
		} else if ignoreMissing(err) != nil {
			return nil, err
		}
	}
	paths, err := Transcripts(ctx, v, keys[0])
	for _, p := range paths {
		data, _, rerr := v.ReadFile(p)
		k := Read(p, data)
		if rerr != nil || !slices.ContainsFunc(keys, func(key string) bool { return same(k.ID, key) }) {
			continue
		}
		out := &Standing{Agent: k.Agent, Name: cmp.Or(k.Origin, k.ID), Private: k.Private}
		if !same(k.ID, Key(out.Agent, out.Name)) {
			out.Name = k.ID
		}
		hooked, err := ByHooks(v, Key(out.Agent, out.Name))
		out.Foreign = hooked || k.Source == "import" || hasHooked(markdown.ParseTranscript(data))
		return out, err
	}
	if hooked, herr := ByHooks(v, keys[len(keys)-1]); hooked || herr != nil {
		return &Standing{Agent: agent, Name: id, Foreign: true}, herr // nothing was said yet
	}
	if was, perr := v.History().PrivateTalk(ctx, keys[0]); was || perr != nil {
		return &Standing{Agent: agent, Name: id, Private: true}, perr // and was removed
	}
	return nil, err
}

// pick is [vault.Pick] for whom v is: of several that an agent's word means it is what may be shown, or as if there
// were none.
func pick[T any](v *vault.Vault, ref string, all []T, as func(T) vault.Memory, also func(T) bool) (one T, err error) {
	one, err = vault.Pick(ref, all, as, also)
	if errors.Is(err, vault.ErrAmbiguous) && v != v.Whole() {
		hidden := func(x T) bool { return as(x).Private }
		one, err = vault.Pick(ref, slices.DeleteFunc(slices.Clone(all), hidden), as, also)
		if errors.Is(err, vault.ErrNotFound) {
			err = private(ref)
		}
	}
	return one, err
}

// memory is k as an ambiguous name shows it.
func (k Known) memory() vault.Memory {
	return vault.Memory{ID: k.ID, Path: k.Path, Title: k.Title, Private: k.Private}
}

// orUnknown is err, or [ErrUnknownSession] where nothing was found.
func orUnknown(err error, ref string) error {
	if errors.Is(err, vault.ErrNotFound) {
		return unknown(ref)
	}
	return err
}

// private is the error for a session that an agent asks for.
func private(ref string) error {
	return &vault.NotFoundError{Ref: ref, Withheld: true, Says: unknown(ref)}
}

func unknown(ref string) error {
	return vault.WithHint(fmt.Errorf("session %q: %w", ref, ErrUnknownSession),
		`"stet session list" shows the sessions`)
}

// parentOf is stet's own id of the session that an agent calls ref; what no session is called stays.
// candidates are files of which one may be its transcript; nil looks for them.
func parentOf(ctx context.Context, v *vault.Vault, agent, ref string, candidates []vault.Path) string {
	if ref == "" || own(ref) {
		return ref
	}
	key := Key(agent, ref)
	if candidates == nil {
		candidates, _ = transcripts(ctx, v) // what cannot be listed is not found
	}
	for _, p := range named(candidates, key) {
		if k, err := Head(v, p); err == nil && same(k.ID, key) {
			return k.ID
		}
	}
	if o, err := Opened(v, key); err == nil && len(o.Facts.Messages) > 0 {
		return o.Facts.ID
	}
	return ref
}

// Rest is what was said in a sealed session since it was sealed, transcript being what stands there. It fails with
// [vault.ErrNotFound] when nothing was. Turns that a killed process has sealed or imported and not dropped are not in
// it.
func Rest(v *vault.Vault, id string, transcript []byte) (*Open, error) {
	id = strings.ToLower(id)
	if own(id) {
		for _, key := range []string{id, id[len(id)-foreignPart:]} {
			o, err := Opened(v, key)
			if errors.Is(err, vault.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			o.forget(settled(v, o))
			if o.uncover(transcript); len(o.Facts.Messages) > 0 && (!o.shown(v).Facts.Private || v == v.Whole()) {
				return o, nil
			}
		}
	}
	return nil, unknown(id)
}

// FindOpen finds the open session that ref names: its key, an id or a unique
// part of one, or the id that its agent gave it. It fails with
// [ErrUnknownSession] or a [vault.AmbiguousError].
func FindOpen(v *vault.Vault, ref string) (*Open, error) {
	all, err := AllOpen(v.Whole())
	for _, o := range all {
		o.shown(v)
	}
	for _, better := range []func(o *Open) bool{
		func(o *Open) bool { return len(o.Facts.Messages) > 0 },
		func(o *Open) bool { return told(v, o.Agent, ref) },
	} {
		called := func(o *Open) bool { return o.Name == ref }
		if slices.ContainsFunc(all, func(o *Open) bool { return called(o) && better(o) }) {
			all = slices.DeleteFunc(all, func(o *Open) bool { return called(o) && !better(o) })
		}
	}
	as := func(o *Open) vault.Memory { return o.Known().memory() }
	o, failed := pick(v, ref, all, as, func(o *Open) bool {
		return o.Key == ref || o.Name == ref || own(ref) && same(strings.ToLower(ref), o.Key)
	})
	if errors.Is(failed, vault.ErrNotFound) && err != nil {
		return nil, err
	}
	if failed == nil && o.Facts.Private && v != v.Whole() {
		return nil, private(ref)
	}
	return o, orUnknown(failed, ref)
}
