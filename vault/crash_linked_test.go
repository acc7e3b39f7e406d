package vault_test

import "stet/vault"

// linkedOps are the writes in a linked working tree, whose HEAD, git index and
// state lie apart from the repository's.
func linkedOps() []crashOp {
	return []crashOp{{
		// Of a file that somebody edited by hand.
		name: "linked", sub: "linked", linked: true, needGit: true, byHand: []string{gateHand}, run: updateGate,
		prepare: func(f *crashFixture) {
			f.write("memories/infra/gate.md", gateText)
			f.write("memories/other.md", "other\n")
			f.write("notes.md", "a note\n")
			f.commit()
			f.write("memories/infra/gate.md", gateHand)
		},
	}}
}

// treeIn is the working tree that the vault is in.
func (p *prepared) treeIn(repo string) string {
	if p.op.linked {
		return p.vaultIn(repo)
	}
	return repo
}

// link makes dir a working tree of the repository above it. It names the way
// there from where it stands, so that a copy of the whole leads to the copy.
func (f *crashFixture) link() {
	top := &crashFixture{repo: f.repo, dir: f.repo}
	top.write(".git/info/exclude", "/linked/\n")
	top.git("worktree", "add", "-q", "-b", "side", f.dir)
	f.write(".git", "gitdir: ../.git/worktrees/linked\n")
}

// commit adopts everything.
func (f *crashFixture) commit() {
	v, err := vault.Open(ctxb(), f.dir, crashOptions(nil))
	must(err)
	_, err = v.Adopt(ctxb(), vault.AdoptOptions{All: true, Yes: true})
	must(err)
	must(v.Close())
}
