package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/vault/durable"
	"stet/vault/filelock"
)

// A Ledger keeps what models have cost, in one file a day (UTC), each call two
// lines: one before it is made, with the most it can cost, and one when it is
// over. It holds no prompt, no answer and no key. It is safe for concurrent use
// by any number of processes.
type Ledger struct {
	root *durable.Root
	now  func() time.Time
	wait time.Duration

	mu   sync.Mutex
	open map[string]float64 // calls of this ledger that are not over, by id
	over chan struct{}      // closed and replaced when one of them is
}

const (
	ledgerLock = "lock"
	ledgerExt  = ".jsonl"
	ledgerPerm = 0o600
	maxLedger  = 64 << 20 // bytes of a day: 200,000 calls
)

// NewLedger is the ledger in root, which stays the caller's. wait bounds how
// long it waits for another process.
func NewLedger(root *durable.Root, now func() time.Time, wait time.Duration) *Ledger {
	return &Ledger{root: root, now: now, wait: wait, open: map[string]float64{}, over: make(chan struct{})}
}

// An Entry is one call as it is kept.
type Entry struct {
	ID         string     `json:"id"`
	At         time.Time  `json:"at"`
	State      string     `json:"state"` // asked, done, failed
	Task       string     `json:"task,omitempty"`
	Provider   string     `json:"provider,omitempty"`
	Model      string     `json:"model,omitempty"`
	Input      int        `json:"input"`
	Output     int        `json:"output"`
	CacheRead  int        `json:"cache_read,omitempty"`
	CacheWrite int        `json:"cache_write,omitempty"`
	Guessed    bool       `json:"guessed,omitempty"`
	USD        float64    `json:"usd"`
	Status     CostStatus `json:"cost_status"`
	Millis     int64      `json:"ms,omitempty"`
}

// The states. A call that stays Asked belongs to a process that was killed: it
// counts with the most it can have cost.
const (
	Asked  = "asked"
	Done   = "done"
	Failed = "failed"
)

// take puts a usage into the entry.
func (e *Entry) take(u Usage) {
	e.Input, e.Output, e.CacheRead, e.CacheWrite, e.Guessed = u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Guessed
	e.USD, e.Status = u.USD, u.Status
}

// Begin writes down a call that is about to be made, unless with it the day could cost
// more than limit dollars: then it fails with [ErrLimit]. Where only the most that other
// calls of this ledger may cost stands in the way, it waits until one of them is over.
// Calls that cost nothing are always begun.
func (l *Ledger) Begin(ctx context.Context, e Entry, limit float64) (Entry, error) {
	for {
		over, _ := l.reserved()
		begun, err := l.begin(ctx, e, limit)
		var full *limitError
		if !errors.As(err, &full) {
			return begun, err
		}
		now, usd := l.reserved()
		if now == over && (usd == 0 || full.spent-usd+e.USD > limit) {
			return begun, err
		}
		select {
		case <-over:
		case <-ctx.Done():
			return e, context.Cause(ctx)
		}
	}
}

// reserved is the most that the open calls of this ledger may cost, and what is closed
// when one of them is over.
func (l *Ledger) reserved() (over chan struct{}, usd float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, most := range l.open {
		usd += most
	}
	return l.over, usd
}

func (l *Ledger) begin(ctx context.Context, e Entry, limit float64) (Entry, error) {
	lock, err := filelock.Acquire(ctx, l.root, ledgerLock, filelock.Options{Wait: l.wait})
	if err != nil {
		return e, fmt.Errorf("ledger of model calls: %w", err)
	}
	// The kernel drops the lock with the process at the latest.
	defer func() { _ = lock.Release() }()
	now := l.now().UTC()
	e.ID, e.At, e.State = strings.ToLower(ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()).String()), now, Asked
	if e.USD > 0 {
		today, _, err := l.day(dayOf(now))
		if err != nil {
			return e, err
		}
		spent := 0.0
		for _, other := range today {
			spent += other.USD
		}
		if spent+e.USD > limit {
			return e, &limitError{spent, e.USD, limit, e.Status}
		}
	}
	if err := l.write(e); err != nil {
		return e, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[e.ID] = e.USD
	return e, nil
}

type limitError struct {
	spent, next, limit float64
	status             CostStatus
}

func (e *limitError) Error() string {
	return fmt.Sprintf("%v: %s spent today (UTC), this call could cost %s, models.daily_limit_usd is %s", ErrLimit, Dollars(e.spent), Dollars(e.next), Dollars(e.limit))
}

func (e *limitError) Unwrap() error { return ErrLimit }

// Hint names the next step.
func (e *limitError) Hint() string {
	if e.status == CostAssumed {
		return "the price of this model is not known and a high one is assumed: set models.*.price, or raise models.daily_limit_usd"
	}
	return `"stet usage --by task" shows what it went to; models.daily_limit_usd raises it`
}

// Dollars is an amount for people.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return fmt.Sprintf("$%.4f", max(usd, 0.0001))
	}
	return fmt.Sprintf("$%.2f", usd)
}

// End writes down how a call went.
func (l *Ledger) End(ctx context.Context, e Entry) error {
	defer l.ended(e.ID)
	// A call that has happened is written down even when nobody waits any more.
	lock, err := filelock.Acquire(context.WithoutCancel(ctx), l.root, ledgerLock, filelock.Options{Wait: l.wait})
	if err != nil {
		return fmt.Errorf("ledger of model calls: %w", err)
	}
	// The kernel drops the lock with the process at the latest.
	defer func() { _ = lock.Release() }()
	return l.write(e)
}

// ended wakes those that wait for a call to be over.
func (l *Ledger) ended(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
	close(l.over)
	l.over = make(chan struct{})
}

func (l *Ledger) write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := l.root.Append("ledger", dayOf(e.At)+ledgerExt, append(line, '\n'), ledgerPerm, true); err != nil {
		return fmt.Errorf("ledger of model calls: %w", err)
	}
	return nil
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Read lists the calls of the days from first to last, both UTC and included,
// oldest first, and how many lines were unreadable.
func (l *Ledger) Read(first, last time.Time) (calls []Entry, damaged int, err error) {
	names, err := l.root.ReadDir(".")
	if err != nil {
		return nil, 0, fmt.Errorf("ledger of model calls: %w", err)
	}
	for _, n := range names {
		day, ok := strings.CutSuffix(n.Name(), ledgerExt)
		if !ok || day < dayOf(first) || day > dayOf(last) {
			continue
		}
		of, bad, err := l.day(day)
		if err != nil {
			return nil, 0, err
		}
		calls, damaged = append(calls, of...), damaged+bad
	}
	slices.SortStableFunc(calls, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return calls, damaged, nil
}

// day reads one file. Of two lines of one call the later counts. A line that
// cannot be read is skipped: one that a killed process left was not
// acknowledged, and no call followed it.
func (l *Ledger) day(day string) (calls []Entry, damaged int, err error) {
	data, _, err := l.root.ReadFile(day+ledgerExt, maxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("ledger of model calls: %w", err)
	}
	at := map[string]int{}
	for line := range bytes.Lines(data) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil || e.ID == "" || !(e.USD >= 0) || math.IsInf(e.USD, 0) {
			damaged++
			continue
		}
		if i, ok := at[e.ID]; ok {
			calls[i] = e
			continue
		}
		at[e.ID] = len(calls)
		calls = append(calls, e)
	}
	return calls, damaged, nil
}
