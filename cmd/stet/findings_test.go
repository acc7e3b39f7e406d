package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// findings name, for each finding of the field report on trust (C) and on what surrounds the write path (F), the tests
// that fail where it is back: scripts of the command line, and tests by their names.
func findings() map[string]string {
	return map[string]string{
		"C1 secrets before punctuation, in nested JSON, in names": "guard_secret " +
			"TestATokenEndsAtWhatCannotBelongToIt TestNamesAreLookedAt TestNoCommandBringsAKeyIntoHistory",
		"C2 an agent or the environment switches the guard off": "agents " +
			"guard_orders TestWhatBecomesOfEachOperation",
		"C3 an agent adopts its text as the person's":              "agents who",
		"C4 review believes trailers":                              "who review",
		"C5 a proposal hides what it does, steers, or is planted":  "rejection_evaded proposals who",
		"C6 --again of an agent lifts a rejection":                 "rejection rejection_evaded",
		"C7 a rejection is evaded by how a text is written":        "rejection_evaded",
		"C8 an agent overwrites, hides or forgets a person's text": "agents TestWhatBecomesOfEachOperation",
		"C9 an agent moves a file to where programs take orders":   "agents TestWhatBecomesOfEachOperation",
		"C10 bench --dump overwrites any file":                     "agents_outside",
		"C11 Markdown in quadratic time, signals unheard": "TestHostileMarkdownIsReadInLinearTime " +
			"TestEveryCommandHearsTheEnd",
		"C12 an archive that expands without end": "TestAnArchiveThatExpandsWithoutEnd",
		"C13 private fails open": "private " +
			"private_absent TestNoCommandTellsAnAgentWhatIsPrivate",
		"C14 a cloned vault collects what is meant for another": "which_vault " +
			"TestAVaultOfAnotherUserIsRefusedAsInGit",
		"C15 raw fields reach the terminal": "why " +
			"TestAHostileVaultDoesNotSpeakToTheTerminal",
		"C16 orders that are no textbook; hits without author": "labels " +
			"TestOrdersOfNoTextbook",
		"C17 a model alone archives a person's memories": "remember_model rules",
		"C18 an endless or dripping model": "remember_kept " +
			"TestEndlessAnswersTakeBoundedMemory TestTimeouts",
		"C19 characters neither stripped nor flagged": "unseen_names " +
			"hook_poison TestHiddenCharactersAreUnicodes",
		"C20 forms of secrets that were missed": "guard_secret " +
			"TestEveryRuleFindsItsSamples TestPasswordsInProse",
		"C21 secrets in disguise": "TestATokenInDisguiseIsFound",
		"C22 false positives, and words that a redactor spread": "TestNamesOfThingsAreNoSecrets " +
			"TestARedactorSpreadsNothingButKeys",
		"F1 a ref that cannot be read begins a root history": "doctor_refs doctor_refs_lost",
		"F2 bytes of a file that is open, or was given back": "open_file " +
			"TestNoEditIsLostBesideATightLoopOfUpdates TestAnEditorThatReadWhatStoodForAMomentDestroysNothing",
		"F3 writes into ignored paths, tracked files under a rule": "ignored",
		"F4 undone and reverted imports come back":                 "rejection_chains import_reverted",
		"F5 a copy of a killed vault, with its links broken":       "TestACopyOfAKilledVaultIsWhole",
		"F6 a reader of a busy repository leaks descriptors":       "TestPacksThatAreGoneAreClosed",
		"F7 an interrupted init": "TestInitKilledAtEveryStep " +
			"TestInitFailedStep",
		"F8 chains of git revert, reverts of merges":                "rejection_chains",
		"F9 unfinished merges, committed marks, links for files":    "doctor_merge",
		"F10 bare repositories, hidden files, merges into the past": "doctor_merge",
		"F10 undo over a seal; a clock before 1970":                 "undo TestAClockBefore1970",
	}
}

// Each finding has tests, and they are there.
func TestEachFindingHasATest(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	err := filepath.WalkDir("../..", func(name string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, "_test.go") {
			data, rerr := os.ReadFile(name)
			source.Write(data)
			err = rerr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for finding, names := range findings() {
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(name, "Test") {
				if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(source.String()) {
					t.Errorf("%s: no test %s", finding, name)
				}
			} else if _, err := os.Stat("testdata/script/" + name + ".txtar"); err != nil {
				t.Errorf("%s: %v", finding, err)
			}
		}
	}
}
