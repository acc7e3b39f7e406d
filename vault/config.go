package vault

import (
	"errors"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

// FormatVersion is the version of the vault format that this package writes
// (docs/FORMAT.md). 1 is the first.
const FormatVersion = 1

// Config is what .stet/config.yaml may say: conventions of the vault. Commands,
// endpoints and keys are never read from it.
type Config struct {
	// Version is the vault format, [FormatVersion] at most.
	Version int `yaml:"version"`
	// Watch holds the conventions for edits made by hand.
	Watch WatchConfig `yaml:"watch"`
}

// WatchConfig says what happens to edits made by hand.
type WatchConfig struct {
	// Commit lets notes outside stet's own folders be adopted as well. Init
	// sets it in a repository that it makes, and nowhere else.
	Commit bool `yaml:"commit"`
}

// Config is the vault's configuration as it was at Open.
func (v *Vault) Config() Config { return v.config }

func (v *Vault) loadConfig() error {
	data, _, err := v.tree.ReadFile(string(Marker), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return withHint(fmt.Errorf("%q: %w", v.dir, ErrNotVault), `"stet init" makes this folder a vault`)
	}
	if err != nil {
		return err
	}
	v.config, err = parseConfig(data)
	return err
}

// parseConfig reads the version first, so that a later format with keys of its
// own is refused for the right reason.
func parseConfig(data []byte) (Config, error) {
	var head struct {
		Version int `yaml:"version"`
	}
	if err := yaml.Unmarshal(data, &head); err != nil {
		return Config{}, withHint(fmt.Errorf("%s: %w: %w", Marker, ErrDamaged, err),
			`mend it by hand or restore it with "git checkout HEAD -- %s"`, Marker)
	}
	if head.Version > FormatVersion {
		return Config{}, withHint(fmt.Errorf("%s: %w: version %d, this stet knows %d", Marker, ErrNewerFormat, head.Version, FormatVersion),
			"use a newer stet; nothing was read or written")
	}
	var c Config
	if err := yaml.Unmarshal(data, &c); err != nil {
		return Config{}, fmt.Errorf("%s: %w: %w", Marker, ErrDamaged, err)
	}
	if c.Version < 1 {
		return Config{}, withHint(fmt.Errorf("%s: %w: no version", Marker, ErrDamaged), `add the line "version: 1"`)
	}
	return c, nil
}
