package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stet/agent"
)

// A secretVault is a vault in which all that is private has the words quarz and onyx in it, and no other file
// has.
type secretVault struct {
	t         *testing.T
	home, dir string
	ids       []string
}

func (s *secretVault) stet(as string, args ...string) (string, int) {
	env := environ(s.home)
	env["STET_AGENT"] = as
	return here(s.t.Context(), env, s.dir, "", args...)
}

// must is a command of the person's, or with "as=NAME" in front of an agent's, that has to succeed.
func (s *secretVault) must(args ...string) {
	as, named := strings.CutPrefix(args[0], "as=")
	if named {
		args = args[1:]
	} else {
		as = ""
	}
	if out, code := s.stet(as, args...); code != 0 {
		s.t.Fatalf("stet %q: %d\n%s", args, code, out)
	}
}

func (s *secretVault) put(name, text string) {
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *secretVault) git(args ...string) {
	who := []string{"-c", "user.name=P", "-c", "user.email=p@example.com"}
	if out, err := gitIn(s.dir, append(who, args...)...); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// id is that of the file, which is secret from now on.
func (s *secretVault) id(name string) string {
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^id: (\w+)$`).FindSubmatch(data)
	if found == nil {
		s.t.Fatalf("%s has no id", name)
	}
	s.ids = append(s.ids, string(found[1]))
	return string(found[1])
}

func newSecretVault(t *testing.T) *secretVault {
	s := &secretVault{t: t, home: t.TempDir()}
	s.dir = filepath.Join(s.home, "v")
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.must("init")
	s.must("remember", "--plain", "Lunch is at noon.")
	s.must("as=bot", "remember", "--plain", "The pot is blue.", "--title", "Pot")
	s.must("remember", "--plain", "Pay onyx quarz is 90001.", "--title", "Quarz pay", "--private", "--scope", "/quarz")
	s.id("memories/quarz/quarz-pay.md")
	// Private once; private by now, under another name, with an id and without.
	s.must("remember", "--plain", "It is onyx quarz fever.", "--title", "Diagnosis", "--private")
	s.must("update", "diagnosis", "--text", "Nothing is wrong.", "--set", "private=false")
	s.must("remember", "--plain", "The debt onyx quarz grows.", "--title", "Debt")
	s.must("move", "debt", "/sums")
	s.must("update", "debt", "--set", "private=true")
	s.id("memories/sums/debt.md")
	s.put("old.md", "A quarz onyx note.\n")
	s.must("adopt")
	s.git("mv", "old.md", "new.md")
	s.git("commit", "-qm", "a quarz onyx move")
	s.put("new.md", "---\nprivate: true\n---\nA quarz onyx note.\n")
	// A flag in a private file on an agent's memory; skill, notebook and sessions.
	pot, err := os.ReadFile(filepath.Join(s.dir, "memories/pot.md"))
	if err != nil {
		t.Fatal(err)
	}
	flagged := regexp.MustCompile(`(?m)^id: (\w+)$`).FindSubmatch(pot)[1]
	s.put("memories/quarz-pot.md", fmt.Sprintf("---\nid: 01m8zzzzzzzzzzzzzzzzzzzzzz\nprivate: true\n"+
		"may_outdate: [%s]\n---\nThe quarz onyx pot is red.\n", flagged))
	s.id("memories/quarz-pot.md")
	s.put("skills/quarz-skill/SKILL.md",
		"---\nname: quarz-skill\ndescription: Quarz onyx.\nprivate: true\n---\nQuarz onyx.\n")
	s.put("skills/quarz-skill/references/help.md", "Quarz onyx help.\n")
	s.put("USER.md", "---\nprivate: true\n---\n- The quarz onyx flat.\n")
	s.must("adopt")
	s.must("observe", "--session", "s1", "--role", "user", "--private", "My quarz onyx talk.")
	s.must("session", "end", "s1")
	sealed, err := filepath.Glob(filepath.Join(s.dir, "sessions/*/*/*.md"))
	if err != nil || len(sealed) != 1 {
		t.Fatal(sealed, err)
	}
	name, err := filepath.Rel(s.dir, sealed[0])
	if err != nil {
		t.Fatal(err)
	}
	s.id(name)
	s.must("observe", "--session", "s2", "--role", "user", "--private", "My other quarz onyx talk.")
	// A proposal about what became private; a hand edit.
	s.must("remember", "--plain", "The rent is high.", "--title", "Rent")
	s.must("as=bot", "update", "rent", "--text", "The rent onyx quarz is 90002.")
	s.must("update", "rent", "--set", "private=true")
	s.id("memories/rent.md")
	s.must("remember", "--plain", "The opal is gone.", "--title", "Opal")
	s.must("forget", "opal")
	s.put(".obsidian/daily-notes.json", `{"format":"[new]"}`) // the note of today is private
	s.put("quarz-edit.md", "---\nprivate: true\n---\nQuarz onyx is edited.\n")
	return s
}

// secretArgs are what commands of the policy are given: each word @ stands for each name of something private.
func secretArgs() map[string][]string {
	return map[string][]string{
		"skill list": {"", "--archived"},
		"skill view": {"@", "@ references/help.md"},
		"skill lint": {"", "@"},
		"search":     {"quarz", "flat pay talk", "pot --explain", "in:sessions quarz", "quarz --as-of 0s"},
		"remind":     {"quarz_onyx_pay --least 0"},
		"context": {
			"",
			"--query quarz",
			"--at HEAD",
			"--at HEAD~3",
			"--at HEAD~12",
			"--at session:s1",
			"--as-of 0s",
		},
		"list":           {"", "--archived", "--as-of 0s", "--scope /quarz", "tag:quarz", "path:quarz"},
		"show":           {"@", "@ --at HEAD~4", "@ --at HEAD~14"},
		"links":          {"", "@", "--back @", "--orphans", "--dead"},
		"scopes":         {"", "/quarx"},
		"tags":           {"", "quarz"},
		"log":            {"-p -n 0", "-p -n 0 @", "--op adopt", "--session s1"},
		"history":        {"@", "@ -p", "USER.md#1a2b3c4d"},
		"blame":          {"@", "@ --rev HEAD~9", "memories/diagnosis.md"},
		"diff":           {"", "HEAD~9", "HEAD~12 HEAD", "HEAD~12 HEAD @"},
		"why":            {"@"},
		"status":         {""},
		"usage":          {""},
		"conflicts":      {"", "--explain"},
		"review":         {"", "--diff", "--proposed", "--since 9d"},
		"profile show":   {""},
		"core show":      {""},
		"session show":   {"@", "s2"},
		"session list":   {""},
		"session search": {"quarz talk", "quarz --matches"},
		"session fix":    {"quarz onyx", "other quarz"},
		"session how":    {"quarz onyx"},
		"session files":  {"quarz.go", "onyx"},
		"session export": {"", "@", "--format jsonl"},
		"export":         {"", "--format jsonl"},
		"config list":    {""},
		"config get":     {"memory.cognitive"},
		"doctor":         {""},
		"bench":          {"--help"},
		"help":           {"agents"},
		"version":        {""},
		"completion": {
			"words show memories/",
			"words show q",
			"words move /",
			"words session show ''",
			"words skill view ''",
		},
		"man":       {""},
		"tool list": {""},
		"tool call": {
			`memory_search {"query":"quarz"}`,
			`memory_read {"ref":"@"}`,
			`session_search {"query":"quarz"}`,
			`skill {"action":"view","name":"@"}`,
			`skill {"action":"list"}`,
			`history {"action":"log","ref":"@"}`,
			`history {"action":"diff","ref":"@","rev":"HEAD~9"}`,
			`memory_forget {"ref":"@"}`,
			`memory_edit {"ref":"@","text":"x"}`,
		},
		"remember":                {"My_quarz_pay_is_high. --dry-run", "Supper_is_at_seven."},
		"new":                     {"Note --dry-run"},
		"new --in":                {". Note --dry-run", ". new --dry-run", "memories/quarz Note --dry-run"},
		"profile add":             {"quarz --dry-run", "quarz"},
		"core add":                {"The_port_is_8080."},
		"observe":                 {"--session s9 --role user Hello"},
		"context --session":       {"--session s9"},
		"remind --session":        {"quarz_onyx --least 0 --session s9"},
		"session end":             {"--all --dry-run"},
		"import":                  {"--dry-run"},
		"mcp":                     {""},
		"hook":                    nil, // it reads JSON: script hook_private
		"curator-fork":            nil, // it reads JSON and opens no vault: TestWorkRefusesAJob
		"nudge":                   {"--session @ --dry-run", "--session s2 --dry-run", "--session s1 --dry-run"},
		"worker status":           {""},
		"worker run":              {""},
		"reindex":                 {""},
		"watch":                   nil,
		"export --output":         nil,
		"session export --output": nil,
		"man --output":            nil,
		"bench --dump":            nil,
		"init":                    nil,
		"update": {
			"@ --append x --dry-run",
			"pot --text The_kettle_is_blue. --dry-run",
			"pot --text A_kettle.",
		},
		"today":                {"", "x --dry-run", "x"},
		"move":                 {"@ /elsewhere --dry-run", "/quarz /open --dry-run"},
		"pin":                  {"@ --dry-run"},
		"unpin":                {"@ --dry-run"},
		"forget":               {"@ --dry-run", "--match quarz --dry-run"},
		"skill edit --text":    {"@ --text x --dry-run"},
		"skill pin":            {"@"},
		"skill unpin":          {"@"},
		"skill archive":        {"@ --dry-run"},
		"skill restore":        {"@ --dry-run"},
		"skill install":        {"skills --dry-run"},
		"skill new":            {"quarz-skill --description x --dry-run"},
		"skill use":            {"@"},
		"skill manage":         {"@"},
		"skill unmanage":       {"@"},
		"curate own":           {"@", "--all"},
		"curate disown":        {"@", "--all"},
		"curate run":           {"", "--include-edited", "--memories"},
		"curate run --dry-run": {"--dry-run"},
		"curate run --if-due":  {"--if-due"},
		"curate pause":         {""},
		"curate resume":        {""},
		"curate status":        {""},
		"curate report":        {"", "--diff"},
		"encode":               {"@ --dry-run", "--dry-run"},
		"conflicts --keep":     {"@ --keep --dry-run"},
		"conflicts --both":     {"@ --both --dry-run"},
		"conflicts --merge":    {"@ --merge --text x --dry-run"},
		"profile replace":      {"quarz x"},
		"profile remove":       {"quarz"},
		"core replace":         {"quarz x"},
		"core remove":          {"quarz"},
		"revert":               {"HEAD --dry-run", "HEAD~3 --dry-run", "HEAD~9 --dry-run", "HEAD~12 --dry-run"},
		"restore":              {"@ --dry-run", "@ --at HEAD~9 --dry-run"},
		"undo":                 {"--dry-run"},
		"redo":                 {"--dry-run"},
		"config set":           {"search.language de"},
		"config add":           {"guard.allow x"},
		"config unset":         {"search.language"},
		"adopt":                {"--dry-run", "@"},
		"review --accept":      {"--accept @"},
		"review --reject":      {"--reject @"},
		"review --accept-all":  {"--accept-all"},
		"review --reject-all":  {"--reject-all"},
		"forget --purge":       {"--purge @ --yes"},
		"edit":                 {"@"},
		"profile edit":         {""},
		"core edit":            {""},
		"skill edit":           {"@"},
		"doctor --fix":         {"--fix --dry-run"},
		"install --check":      {"--check"},
		"install":              {"codex --dry-run"},
		"uninstall":            {"codex --dry-run"},
		"bench --vaults":       nil,
		"context --into":       {"--into CLAUDE.md"},
	}
}

// No command of the policy tells an agent a word, an id, a title or a path of what is private, was, or became so
// under another name. A command that this test does not know fails it.
func TestNoCommandTellsAnAgentWhatIsPrivate(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: the vault is made with the real git")
	}
	s, lines := newSecretVault(t), secretArgs()
	names := []string{"quarz-pay", s.ids[0], "memories/sums/debt.md", "old.md", "memories/debt.md", "USER.md",
		"quarz-skill", "memories/rent.md", ".stet/tombstones", ".stet/proposals"}
	for _, dir := range []string{".stet/tombstones", ".stet/proposals"} {
		files, err := os.ReadDir(filepath.Join(s.dir, dir))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		names = append(names, dir+"/"+files[0].Name())
	}
	if testing.Short() {
		names = append(names[:5:5], names[len(names)-2:]...)
	}
	if out, _ := s.stet("", "search", "quarz"); !strings.Contains(out, "quarz") {
		t.Fatalf("the person finds nothing:\n%s", out)
	}
	for _, row := range agent.Policy() {
		for _, command := range row.Commands {
			all, known := lines[command]
			if !known {
				t.Errorf("%q: this test does not say how it is asked for what is private", command)
			}
			verb, _, _ := strings.Cut(command, " --")
			for _, line := range all {
				with := []string{""}
				if strings.Contains(line, "@") {
					with = names
				}
				for _, name := range with {
					s.ask(strings.Fields(verb), line, name)
				}
			}
		}
	}
}

// ask runs a command as an agent, and fails the test where the answer has more of what is private than the
// question.
func (s *secretVault) ask(verb []string, line, name string) {
	s.t.Helper()
	var args []string
	for _, word := range strings.Fields(strings.ReplaceAll(line, "@", name)) {
		args = append(args, strings.Trim(strings.ReplaceAll(word, "_", " "), "'"))
	}
	if verb[0] == "tool" && len(args) > 0 {
		args = strings.Fields(strings.ReplaceAll(line, "@", name))
	}
	for _, form := range []string{"", "--json"} {
		asked := slices.Concat(verb, args)
		if form != "" {
			asked = append(asked, form)
		}
		out, _ := s.stet("bot", asked...)
		out = strings.ToLower(out)
		for _, secret := range append([]string{"quarz", "onyx", "90001", "90002"}, s.ids...) {
			if strings.Contains(strings.Join(args, " "), secret) {
				continue // an answer may name what was asked for
			}
			if at := strings.Index(out, secret); at >= 0 {
				s.t.Errorf("stet %q tells an agent %q: …%s…", asked, secret, out[max(0, at-200):min(len(out), at+60)])
			}
		}
	}
}
