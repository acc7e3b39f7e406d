package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A UserConfig is what a person's own configuration file says. It lies at
// $XDG_CONFIG_HOME/stet/config.yaml, ~/.config when that is not set.
type UserConfig struct {
	// DefaultVault is used where neither -C, nor the current folder, nor
	// STET_VAULT names a vault. "~/" is the home folder.
	DefaultVault string `yaml:"default_vault"`

	path string
}

// userConfig reads the person's configuration; a missing file is an empty one.
// A key that stet does not know is an error, because a misspelt setting that is
// silently ignored does the opposite of what was wished.
func (e *Env) userConfig() (UserConfig, error) {
	dir := e.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := e.Getenv("HOME")
		if home == "" {
			return UserConfig{}, nil
		}
		dir = filepath.Join(home, ".config")
	}
	c := UserConfig{path: filepath.Join(dir, "stet", "config.yaml")}
	data, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	return c, decodeConfig(data, &c)
}

func decodeConfig(data []byte, c *UserConfig) error {
	var keys map[string]any
	if err := yaml.Unmarshal(data, &keys); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	known := configKeys()
	for key := range keys {
		if !known[key] {
			err := Usagef("%s: unknown key %q", c.path, key)
			if near := Nearest(key, keysOf(known)); near != "" {
				return err.Suggest("did you mean %q?", near)
			}
			return err.Suggest("known keys: %s", strings.Join(keysOf(known), ", "))
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

func configKeys() map[string]bool {
	known := map[string]bool{}
	t := reflect.TypeFor[UserConfig]()
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" {
			known[tag] = true
		}
	}
	return known
}

func keysOf(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}
