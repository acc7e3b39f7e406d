package vault_test

import "stet/vault"

// depositTalks writes two transcripts into the repository and commits them later.
func depositTalks(v *vault.Vault) error {
	paths := []vault.Path{"sessions/2026/03/2026-03-01-gate-000001.md", "sessions/2026/03/2026-03-01-gate-000002.md"}
	hashes, err := v.State().WriteBlobs(ctxb(), paths,
		[][]byte{[]byte("# Gate\n\nThe locksmith came.\n"), []byte("# Gate\n\nThe locksmith left.\n")})
	if err != nil {
		return err
	}
	_, err = v.Transact(ctxb(), vault.Why{Op: vault.OpImport, Subject: "2 talks"}, false, func(tx *vault.Tx) error {
		for i, p := range paths {
			if err := tx.PutStored(p, "", hashes[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
