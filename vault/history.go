package vault

// History reads and reverts the commits of a vault. It is safe for concurrent use.
type History struct{ v *Vault }

// History is the vault's.
func (v *Vault) History() *History { return &History{v} }
