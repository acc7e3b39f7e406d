package durable_test

import (
	"errors"
	"io/fs"
	"testing"

	"stet/vault/durable"
)

func TestMove(t *testing.T) {
	t.Parallel()
	const gone = "-"
	tests := []struct {
		name         string
		temp, target string // before
		call         func(durable.Move) error
		err          error
		newTemp, now string // after
	}{
		{"exchange", "T", "O", durable.Move.Exchange, nil, "O", "T"},
		{"exchange without target", "T", gone, durable.Move.Exchange, fs.ErrNotExist, "T", gone},
		{"exchange without temp", gone, "O", durable.Move.Exchange, fs.ErrNotExist, gone, "O"},
		{"place", "T", gone, durable.Move.Place, nil, gone, "T"},
		{"place on a file", "T", "O", durable.Move.Place, fs.ErrExist, "T", "O"},
		{"take", gone, "O", durable.Move.Take, nil, "O", gone},
		{"take onto a file", "T", "O", durable.Move.Take, fs.ErrExist, "T", "O"},
		{"take nothing", gone, gone, durable.Move.Take, fs.ErrNotExist, gone, gone},
		{"replace", "T", "O", durable.Move.Replace, nil, gone, "T"},
		{"replace nothing", "T", gone, durable.Move.Replace, nil, gone, "T"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t, t.TempDir(), nil), open(t, t.TempDir(), nil)
			must(t, a.MkdirAll("l", "d", 0o755), b.MkdirAll("l", "e", 0o755))
			if tt.temp != gone {
				put(t, tt.temp, a.Abs("."), "d/t")
			}
			if tt.target != gone {
				put(t, tt.target, b.Abs("."), "e/o")
			}
			err := tt.call(durable.Move{Label: "l", Temp: a, TempPath: "d/t", Target: b, Path: "e/o"})
			if errors.Is(err, durable.ErrNoExchange) {
				t.Skip("skip: this file system cannot exchange two names")
			}
			if !errors.Is(err, tt.err) {
				t.Errorf("got %v, want %v", err, tt.err)
			}
			for want, at := range map[*string]struct {
				root *durable.Root
				path string
			}{&tt.newTemp: {a, "d/t"}, &tt.now: {b, "e/o"}} {
				got := gone
				if data, _, err := at.root.ReadFile(at.path, 0); err == nil {
					got = string(data)
				}
				if got != *want {
					t.Errorf("%s holds %q, want %q", at.path, got, *want)
				}
			}
		})
	}
}
