package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"stet/vault/settings"
)

// formatVersion is the version of the vault format that this package writes
// (docs/FORMAT.md). 1 is the first.
const formatVersion = 1

// Settings is the configuration as it was at Open: the layers of
// [Options].Settings with the vault's own file between them.
func (v *Vault) Settings() settings.Settings { return v.settings }

// ConfigProblems are the keys of the vault's file that do not count. They are
// no errors: the vault may be shared with a newer stet.
func (v *Vault) ConfigProblems() []settings.Problem { return v.configProblems }

func (v *Vault) loadConfig() error {
	data, _, err := v.store.Tree().ReadFile(string(Marker), 1<<20)
	if unfinished := v.store.Unfinished()[Marker]; unfinished != nil {
		data, err = unfinished, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return WithHint(fmt.Errorf("%q: %w", v.Root(), ErrNotVault), `"stet init" makes this folder a vault`)
	}
	if err != nil {
		return err
	}
	return v.useConfig(data)
}

// useConfig reads the version first, so that a later format with keys of its
// own is refused for the right reason.
func (v *Vault) useConfig(data []byte) error {
	version, err := settings.Version(data)
	switch {
	case err != nil:
		// Not %w: a file of the person's own that is unreadable is another error.
		return WithHint(fmt.Errorf("%s: %w: %v", Marker, ErrDamaged, err),
			`mend it by hand or restore it with "git checkout HEAD -- %s"`, Marker)
	case version > formatVersion:
		return WithHint(fmt.Errorf("%s: %w: version %d, this stet knows %d", Marker, ErrNewerFormat, version, formatVersion),
			"use a newer stet; nothing was read or written")
	case version < 1:
		return WithHint(fmt.Errorf("%s: %w: no version", Marker, ErrDamaged), `add the line "version: 1"`)
	}
	own, problems, err := settings.Read(settings.Vault, string(Marker), data)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	v.settings = settings.Resolve(append([]settings.Layer{own}, v.o.Settings...)...)
	v.configProblems = problems
	return nil
}

// Configure sets a key in the vault's file, or with a nil value takes it out,
// in a commit of its own. Only the bytes of that key change. It fails with
// [ErrInvalid] for a key that a vault may not set and for a wrong value, with
// [ErrRefused] for a file that only a person can edit.
func (v *Vault) Configure(ctx context.Context, key string, value *string, w Write) (*Result, error) {
	subject := "unset " + key
	k, known := settings.Find(key)
	if value != nil {
		if !known || !k.Vault {
			return nil, fmt.Errorf("configure %q: %w: it is no key of a vault", key, ErrInvalid)
		}
		canonical, err := k.Parse(*value)
		if err != nil {
			return nil, fmt.Errorf("configure %s: %w: %w", key, ErrInvalid, err)
		}
		value, subject = &canonical, key+" = "+canonical
	}
	if key == settings.VersionKey {
		return nil, fmt.Errorf("configure %q: %w: it is the vault's format, not a setting", key, ErrInvalid)
	}
	return v.Transact(ctx, w.Why(OpConfig, subject), w.DryRun, func(tx *Tx) error {
		data, was, err := tx.Read(Marker)
		if err != nil {
			return err
		}
		var next []byte
		if value == nil {
			next, err = settings.Unset(data, key)
		} else {
			next, err = settings.Set(data, k, *value)
		}
		if err != nil {
			return WithHint(fmt.Errorf("%s: %w: %w", Marker, ErrRefused, err), "edit the file by hand")
		}
		return tx.Put(Marker, was, next)
	})
}
