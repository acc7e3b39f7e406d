package watch

import (
	"context"
	"sync"
	"time"

	"stet/vault"
)

// A poller finds by looking what a [tree] is told: the way out where the system
// reports no events, or no more.
type poller struct {
	v     Vault
	h     *hints
	every time.Duration
	end   context.CancelFunc
	ended sync.WaitGroup
}

// lazy bounds the share of the time that looking may take: one part in lazy.
const lazy = 50

func poll(ctx context.Context, v Vault, h *hints, every time.Duration) *poller {
	p := &poller{v: v, h: h, every: every}
	ctx, p.end = context.WithCancel(ctx)
	// Before anything else looks: what changes after that look must differ from
	// this one.
	before, ok := p.look(ctx)
	p.ended.Go(func() { p.run(ctx, before, ok) })
	return p
}

// Close ends the looking.
func (p *poller) Close() error {
	p.end()
	p.ended.Wait()
	return nil
}

func (p *poller) run(ctx context.Context, before []vault.File, known bool) {
	for took := time.Duration(0); ; {
		pause := time.NewTimer(max(p.every, lazy*took))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		began := p.h.now()
		now, ok := p.look(ctx)
		took = p.h.now().Sub(began)
		if !ok {
			continue
		}
		switch changed := differences(before, now); {
		case !known:
			p.h.lost()
		case len(changed) > 0:
			p.h.changed(changed...)
		}
		p.h.atGit()
		before, known = now, true
	}
}

// look lists the files; ok is false where that fails.
func (p *poller) look(ctx context.Context) (files []vault.File, ok bool) {
	found, err := p.v.Survey(ctx, "", true)
	if err != nil && ctx.Err() == nil {
		p.h.warn("look for changes: " + err.Error())
	}
	return found.Files, err == nil
}

// differences lists the paths whose files differ in two lists in path order.
func differences(before, now []vault.File) []vault.Path {
	var out []vault.Path
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].Path < now[0].Path:
			out = append(out, before[0].Path)
			before = before[1:]
		case len(before) == 0 || now[0].Path < before[0].Path:
			out = append(out, now[0].Path)
			now = now[1:]
		default:
			a, b := before[0], now[0]
			if a.Size != b.Size || a.Identity != b.Identity || !a.ModTime.Equal(b.ModTime) {
				out = append(out, b.Path)
			}
			before, now = before[1:], now[1:]
		}
	}
	return out
}
