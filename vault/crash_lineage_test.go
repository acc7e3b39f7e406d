package vault_test

import (
	"context"
	"stet/vault"
	"stet/vault/lineage"
)

// lineageOps are the writes of package lineage, and the one that reads a plain
// "git revert": each stages tombstones beside what it is about.
func lineageOps() []crashOp {
	const gate, gateID = "memories/infra/gate.md", "01jd7q8r5t9v3x6y2z4a7c0e1f"
	basic := func(f *crashFixture) {
		f.write(gate, gateText)
		f.write("memories/other.md", "other\n")
		f.write("notes.md", "a note\n")
		f.commit()
	}
	restore := func(ref, at string) func(*vault.Vault) error {
		return func(v *vault.Vault) error {
			_, err := lineage.Restore(ctxb(), v, ref, at, vault.Write{})
			return err
		}
	}
	return []crashOp{
		{
			name: "restore", run: restore("archive/"+gate, ""),
			prepare: func(f *crashFixture) {
				basic(f)
				f.do(func(v *vault.Vault) error {
					_, err := v.Forget(ctxb(), []string{gate}, vault.Write{})
					return err
				})
			},
		},
		{
			name: "restore-version", run: restore(gate, "HEAD~1"), byHand: []string{gateHand},
			prepare: func(f *crashFixture) {
				basic(f)
				f.do(updateGate)
				f.write(gate, gateHand)
			},
		},
		{
			name: "purge",
			prepare: func(f *crashFixture) {
				basic(f)
				f.do(updateGate)
				f.do(func(v *vault.Vault) error {
					_, err := v.History().Undo(ctxb(), 1, vault.Write{})
					return err
				})
				f.write("archive/"+gate, gateText)
				f.commit()
			},
			run: func(v *vault.Vault) error {
				_, _, err := purge(ctxb(), v, []string{gateID}, vault.Write{})
				return err
			},
		},
		{
			name: "read-git-revert", needGit: true,
			prepare: func(f *crashFixture) {
				basic(f)
				f.do(updateGate)
				f.git("revert", "--no-edit", "HEAD")
			},
			run: func(v *vault.Vault) error {
				_, err := v.Remember(ctxb(), []vault.Note{{Text: "Production runs on MySQL 8.4."}}, vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "Robo"}})
				return err
			},
		},
	}
}

// purge carries a purge out as soon as it is planned.
func purge(ctx context.Context, v *vault.Vault, refs []string, w vault.Write) (*vault.Result, lineage.Erasure, error) {
	p, err := lineage.PlanPurge(ctx, v, refs)
	if err != nil {
		return nil, lineage.Erasure{}, err
	}
	res, err := p.Run(ctx, v, w)
	return res, p.Erasure, err
}
