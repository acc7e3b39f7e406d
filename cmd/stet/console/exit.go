package console

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"stet/agent"
	"stet/agent/llm"
	"stet/index"
	"stet/vault"
	"stet/vault/settings"
)

// ErrProblems reports that a check found something; the answer lists it.
var ErrProblems = errors.New("problems found")

// The exit codes. They are promised: a number never changes its meaning.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitConflict    = 3
	ExitNotFound    = 4
	ExitBusy        = 5
	ExitDamaged     = 6
	ExitModel       = 7
	ExitRefused     = 8
	ExitInterrupted = 130
)

// A verdict is one row of the exit code table.
type verdict struct {
	Exit    int
	Meaning string
	Causes  []cause
}

// A cause is one sentinel error, its name in JSON, and what to do about it when
// the error itself does not say.
type cause struct {
	Name string
	Err  error
	Hint string
}

// table returns the exit codes in order. Every sentinel of vault, its settings,
// index and models stands in it once.
func table() []verdict {
	return []verdict{
		{ExitDone, "done; also nothing to do, no hits", []cause{
			{"declined", agent.ErrDeclined, ""},
			{"nothing-to-undo", vault.ErrNothingToUndo, `"stet log" shows what was done`},
		}},
		{ExitFailed, "failed; the message says what and why", []cause{
			{"read-only", vault.ErrReadOnly, "make the folder writable for this user; reading works as it is"},
			{"permission", fs.ErrPermission, "make the file or folder accessible for this user"},
			{"disk-full", syscall.ENOSPC, `free some space; "stet log -n 1" shows whether anything was committed`},
		}},
		{ExitUsage, "usage: the command line or a value in it cannot be right", []cause{
			{"usage", agent.ErrUsage, ""},
			{"invalid", vault.ErrInvalid, ""},
			{"model-setup", llm.ErrSetup, "\"stet config\" shows what is set for models"},
			{"unreadable-config", settings.ErrUnreadable, "fix the file in an editor"},
		}},
		{ExitConflict, "conflict: you must decide; nothing was written", []cause{
			{"conflict", vault.ErrConflict, "look at the file, then try again"},
			{"in-progress", vault.ErrInProgress, "finish or abort it with git, then try again"},
			{"mass-deletion", vault.ErrMassDeletion, ""},
		}},
		{ExitNotFound, "not found: a memory, file, revision or vault", []cause{
			{"not-a-vault", vault.ErrNotVault, `"stet init" makes a vault here; -C DIR names another folder`},
			{"ambiguous", vault.ErrAmbiguous, ""},
			{"no-revision", vault.ErrNoRevision, `"stet log" shows the revisions`},
			{"not-found", vault.ErrNotFound, ""},
			{"not-found", fs.ErrNotExist, ""},
		}},
		{ExitBusy, "busy: another writer kept the lock; try again", []cause{
			{"busy", vault.ErrBusy, "try again, or wait longer with --lock-wait 60s"},
			{"busy", index.ErrBusy, "try again, or wait longer with --lock-wait 60s"},
		}},
		{ExitDamaged, "damaged: run \"stet doctor\"", []cause{
			{"damaged", vault.ErrDamaged, `"stet doctor" says what is wrong, "stet doctor --fix" repairs what it can`},
			{"index-damaged", index.ErrDamaged,
				`"stet reindex" rebuilds the search index; your notes are not affected`},
			{"problems", ErrProblems, ""},
		}},
		{ExitModel, "a model was required and is not available", modelCauses()},
		{ExitRefused, "refused: a rule forbids it (path, size, format, secret)", []cause{
			{"bad-path", vault.ErrBadPath, "name a path inside the vault, relative to its root"},
			{"too-large", vault.ErrTooLarge, "keep large files beside the vault and link to them"},
			{"not-regular", vault.ErrNotRegular, ""},
			{"newer-format", vault.ErrNewerFormat, "install a newer stet; nothing was touched"},
			{"unsupported-repository", vault.ErrUnsupportedRepository,
				"plain git still works on it; a fresh clone may help"},
			{"ignored", vault.ErrIgnored, ""},
			{"uneditable", settings.ErrUneditable, "edit the file by hand"},
			{"rejected", vault.ErrRejected, ""},
			{"secret", vault.ErrSecret, ""},
			{"injection", vault.ErrInjection, ""},
			{"refused", vault.ErrRefused, ""},
		}},
		{ExitInterrupted, "interrupted; the vault is in its old or its new state", []cause{
			{"interrupted", context.Canceled, ""},
		}},
	}
}

// modelCauses are the ways for a model to be unavailable.
func modelCauses() []cause {
	return []cause{
		{"no-model", llm.ErrNoModel, ""},
		{"model-limit", llm.ErrLimit, ""},
		{"model-key", llm.ErrKey, ""},
		{"model-rejected", llm.ErrRejected, "check models.*.model and models.*.base_url"},
		{"model-too-long", llm.ErrTooLong, "ask for less at once, or use a model with a larger window"},
		{"model-refused", llm.ErrRefused, ""},
		{"model-absurd", llm.ErrAbsurd, "try again; a model that does this often is too small for the task"},
		{"model-unavailable", llm.ErrUnavailable, "try again later"},
	}
}

// Judge finds the row and the cause of an error. An error without a cause of
// its own is ExitFailed, "failed".
func Judge(err error) (exit int, why cause) {
	for _, v := range table() {
		for _, c := range v.Causes {
			if errors.Is(err, c.Err) {
				return v.Exit, c
			}
		}
	}
	return ExitFailed, cause{Name: "failed"}
}
