package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stet/agent"
	"stet/cmd/stet/console"
)

// A target is what an operation is about: the memory, the skill and the entry of a notebook that stand for it. With
// "all" the user's own file says agents.edit: all.
type target struct{ name, memory, skill, entry string }

// targets are the columns of [policyCells], in their order.
func targets() []target {
	return []target{
		{"agent", "memories/gate.md", "its", "Robo likes tea."},
		{"edited", "memories/edited.md", "edited", "Robo likes blue tea."},
		{"person", "memories/mine.md", "hers", "Ann likes milk."},
		{"all", "memories/mine.md", "hers", "Ann likes milk."},
		{"private", "memories/secret.md", "hidden", "Ann likes gin."},
		{"forgotten", "archive/memories/gone.md", "gone", "Ann liked ale."},
		{"steering", "CLAUDE.md", "../CLAUDE.md", "CLAUDE.md"},
		{"transcript", "TALK", "TALK", "TALK"},
	}
}

const personal = 2 // the column of a person's text

// A cell is a command line and what becomes of it, a letter a target: w is written, p a proposal, x refused (exit 8), r
// shown or nothing to do, n exit 2 to 4: there is no such thing, as an agent is told of what is private, or none that
// the command is for; - is not tried. One letter stands for a command that is about none of the targets.
type policyCell struct{ line, user, agent string }

// policyCells are the table of docs/CLI.md over actor, operation and target.
func policyCells() []policyCell {
	return []policyCell{
		{`skill list`, "r", "r"},
		{`skill view SKILL`, "rrrrrrnn", "rrrrnrnn"},
		{`skill lint SKILL`, "rrrrennn", "rrrrnnnn"},
		{`search 4711`, "r", "r"},
		{`context`, "r", "r"},
		{`remind gate_code`, "r", "r"},
		{`list`, "r", "r"},
		{`show REF`, "rrrrrrrr", "rrrrnnrr"},
		{`links REF`, "rrrrrrrr", "rrrrnnrr"},
		{`scopes`, "r", "r"},
		{`tags`, "r", "r"},
		{`log REF`, "rrrrrrrr", "rrrrrrrr"},
		{`history REF`, "rrrrrrrr", "rrrrnnrr"},
		{`blame REF`, "rrrrrrrr", "rrrrnnrr"},
		{`diff HEAD~9 HEAD REF`, "rrrrrrrr", "rrrrrrrr"},
		{`why REF`, "rrrrrrrr", "rrrrnnrr"},
		{`status`, "r", "r"},
		{`worker status`, "r", "r"},
		{`usage`, "r", "r"},
		{`conflicts`, "r", "r"},
		{`review`, "r", "r"},
		{`profile show`, "r", "r"},
		{`core show`, "r", "r"},
		{`session show talk`, "r", "r"},
		{`session list`, "r", "r"},
		{`session search hello`, "r", "r"},
		{`session fix hello`, "r", "r"},
		{`session how hello`, "r", "r"},
		{`session files main.go`, "r", "r"},
		{`session export talk`, "r", "r"},
		{`export`, "r", "r"},
		{`config list`, "r", "r"},
		{`config get memory.cognitive`, "r", "r"},
		{`doctor`, "r", "r"},
		{`help agents`, "r", "r"},
		{`version`, "r", "r"},
		{`completion bash`, "r", "r"},
		{`man`, "r", "r"},
		{`install --check`, "r", "r"},
		{`tool list`, "r", "r"},
		{`remember New_words_here. --plain`, "w", "w"},
		{`remember New_words_here. --plain --again`, "w", "p"},
		{`profile add Something_else.`, "w", "w"},
		{`core add Something_else.`, "w", "w"},
		{`observe --session s9 --role user Hello`, "r", "r"},
		{`context --session s9`, "r", "r"},
		{`remind gate --session s9`, "r", "r"},
		{`session end talk`, "r", "r"},
		{`import jsonl ../talks.jsonl`, "w", "w"},
		{`worker run --rules`, "r", "r"},
		{`reindex`, "r", "r"},
		{`export --output out.jsonl`, "r", "x"},
		{`session export talk --output out.md`, "r", "x"},
		{`man --output mans`, "r", "x"},
		{`update REF --text Rewritten.`, "wwwwwwww", "wppwnnxp"},
		{`update REF --append More.`, "wwwwwwww", "wppwnnxp"},
		{`update REF --set valid_until=1999-01-01`, "wwwwwwww", "wppwnnxp"},
		{`move REF /elsewhere`, "wwwwwxwx", "wppwnnxx"},
		{`move REF memories/AGENTS.md`, "wwwwwxwx", "xxxxnnxx"},
		{`move REF .claude/settings.md`, "wwwwwxwx", "xxxxnnxx"},
		{`pin REF`, "wwwwwxwx", "wppwnnxx"},
		{`unpin REF`, "rrrrrxrx", "rrrrnnrx"},
		{`forget REF`, "wwwwwnww", "wppwnnxp"},
		{`skill edit SKILL SKILL.md --text Two.`, "wwwwwnnn", "wppwnnnn"},
		{`skill edit SKILL extra.md --text Two.`, "wwwwwnnn", "wppwnnnn"},
		{`skill pin SKILL`, "wwwwwnnn", "wppwnnnn"},
		{`skill install ../none`, "n", "x"},
		{`skill unpin SKILL`, "rrrrrnnn", "rrrrnnnn"},
		{`skill archive SKILL`, "wwwwwnnn", "wppwnnnn"},
		{`skill restore SKILL`, "nnnnnwnn", "nnnnnpnn"},
		{`skill new SKILL --description Again. --text Two.`, "nnnnnnnn", "nnnnnnnn"},
		{`skill use SKILL`, "rrrrrnnn", "rrrrnnnn"},
		{`skill manage SKILL`, "wwwwwnnn", "xxxxxxxx"},
		{`skill unmanage SKILL`, "wwrrrnnn", "xxxxxxxx"},
		{`curate run --if-due`, "r", "r"},
		{`curate run`, "w", "x"},
		{`curate pause`, "r", "x"},
		{`curate resume`, "r", "x"},
		{`curate status`, "r", "x"},
		{`curate report`, "n", "x"},
		{`curate own SKILL`, "wwwwwnnn", "xxxxxxxx"},
		{`curate disown SKILL`, "wwrrrnnn", "xxxxxxxx"},
		{`profile replace ENTRY Something_else.`, "wwwwnnnn", "wppwnnnn"},
		{`profile remove ENTRY`, "wwwwnnnn", "wppwnnnn"},
		{`revert COMMIT --yes`, "wwwwwwww", "wppwxxxp"},
		{`restore REF`, "nnnnnwnn", "nnnnnxnn"},
		{`restore REF --at COMMIT~1`, "wwwwwrnn", "wppwnnnn"},
		{`undo`, "w", "x"},
		{`redo`, "r", "r"},
		{`config set guard.secrets off`, "w", "x"},
		{`config set agents.edit all --user`, "r", "x"},
		{`config add guard.allow x`, "n", "x"},
		{`config unset search.language`, "r", "x"},
		{`adopt`, "r", "x"},
		{`review --accept-all`, "r", "x"},
		{`review --accept nosuch`, "n", "x"},
		{`review --reject nosuch`, "n", "x"},
		{`curate run --dry-run`, "r", "x"},
		{`review --proposed --accept-all`, "w", "x"},
		{`review --proposed --reject-all`, "w", "x"},
		{`forget --purge REF --yes`, "wwwwwwww", "xxxxxxxx"},
		{`edit REF`, "wwwwwwrr", "xxxxxxxx"},
		{`profile edit`, "r", "x"},
		{`core edit`, "r", "x"},
		{`skill edit SKILL`, "rrrrrnnn", "xxxxxxxx"},
		{`doctor --fix`, "r", "x"},
		{`install codex`, "n", "x"},
		{`uninstall codex`, "r", "x"},
		{`context --into CLAUDE.md`, "r", "x"},
		{`watch`, "-", "x"},
		{`bench ../none`, "n", "n"},
		{`new decision Note`, "w", "w"},
		{`new --in . A_note`, "w", "w"},
		{`today`, "n", "n"},
		{`today Words.`, "w", "w"},
		{`init ../below`, "r", "r"},
	}
}

// elsewhere names the scripts, or the tests of this package, that try as an agent the commands which cells leaves out.
func elsewhere() map[string]string {
	return map[string]string{
		"hook": "hook_because", "mcp": "TestWhatBecomesOfEachTool", "tool call": "tools",
		"bench --dump": "agents_outside", "bench --vaults": "agents_outside",
		"conflicts --keep": "agents", "conflicts --both": "agents", "conflicts --merge": "agents",
		"encode": "doors", "nudge": "nudge", "curator-fork": "TestNoCommandTellsAnAgentWhatIsPrivate",
		"core replace": "agent_words", "core remove": "agent_words",
	}
}

// What stands in elsewhere is there: the test, or a script in which an agent types the command.
func TestWhatIsTriedElsewhereIs(t *testing.T) {
	t.Parallel()
	for command, where := range elsewhere() {
		verb, flag, _ := strings.Cut(command, " --")
		typed := regexp.MustCompile(`(?m)\bstet (.* )?` + verb + ` .*`)
		var tried bool
		if strings.HasPrefix(where, "Test") {
			files, err := filepath.Glob("*_test.go")
			if err != nil {
				t.Fatal(err)
			}
			tried = slices.ContainsFunc(files, func(name string) bool {
				data, _ := os.ReadFile(name)
				return strings.Contains(string(data), "func "+where+"(") && strings.Contains(string(data), command)
			})
		} else if data, err := os.ReadFile("testdata/script/" + where + ".txtar"); err == nil {
			agent := regexp.MustCompile(`--as [a-z]|STET_AGENT=[a-z]|CLAUDECODE=1|hook claude-code`).Match(data)
			tried = agent && slices.ContainsFunc(typed.FindAllString(string(data), -1), func(line string) bool {
				return flag == "" || strings.Contains(line, " --"+flag+" ")
			})
		}
		if !tried {
			t.Errorf("%s does not try %q as an agent", where, command)
		}
	}
}

type cellVault struct {
	dir, talk string
	env       map[string]string
	lastOf    map[string]string // by memory the newest commit that changed it
}

// run runs a command line, in which _ stands for a space within a word, on an input.
func (v *cellVault) run(t *testing.T, dir string, more map[string]string, line, input string) (int, string) {
	env := maps.Clone(v.env)
	maps.Copy(env, more)
	words := strings.Fields(line)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "_", " ")
	}
	out, code := here(t.Context(), env, dir, input, words...)
	return code, out
}

func (v *cellVault) must(t *testing.T, line string) string {
	t.Helper()
	code, out := v.run(t, v.dir, nil, line, "")
	if code != 0 {
		t.Fatalf("%s: exit %d: %s", line, code, out)
	}
	return out
}

// edit changes a file by hand.
func (v *cellVault) edit(t *testing.T, name string, change func(string) string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(v.dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	v.write(t, filepath.Join(v.dir, name), change(string(data)))
	v.must(t, "adopt --all")
}

func newCells(t *testing.T) *cellVault {
	home := t.TempDir()
	v := &cellVault{dir: filepath.Join(home, "v"), lastOf: map[string]string{}, env: map[string]string{"HOME": home,
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"), "EDITOR": "sed -i s/4711/4712/",
		"STET_SESSIONS_TRACK": "true",
		"GIT_AUTHOR_NAME":     "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com",
		"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com"}}
	if err := os.Mkdir(v.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(`init .
		remember One. --plain --title Other
		remember Gate_code_4711. --plain --title Gate --as scribe
		update gate --append Second. --as scribe
		remember Edited_code_4711. --plain --title Edited --as scribe
		remember Mine_code_4711. --plain --title Mine
		update mine --append Second.
		remember Secret_code_4711. --plain --title Secret --private
		update secret --append Second.
		remember Gone_code_4711. --plain --title Gone
		update gone --append Second.
		skill new its --description A_skill. --text One. --as scribe
		skill new edited --description A_skill. --text One. --as scribe
		skill new hers --description A_skill. --text One.
		skill new hidden --description A_skill. --text One.
		skill new gone --description A_skill. --text One.
		profile add Robo_likes_tea. --as scribe
		profile add Robo_likes_green_tea. --as scribe
		profile replace Robo_likes_green_tea. Robo_likes_blue_tea.
		profile add Ann_likes_milk.
		profile add Ann_liked_ale.
		profile remove Ann_liked_ale.
		observe --session talk --role user Hello.
		session end talk`) {
		v.must(t, line)
	}
	add := func(text string) string { return text + "By hand.\n" }
	v.edit(t, "memories/edited.md", add)
	v.edit(t, "CLAUDE.md", add)
	v.edit(t, "skills/edited/SKILL.md", add)
	v.edit(t, "skills/hidden/SKILL.md", func(text string) string {
		return strings.Replace(text, "---\n", "---\nprivate: true\n", 1)
	})
	talk, err := filepath.Glob(filepath.Join(v.dir, "sessions/*/*/*.md"))
	if err != nil || len(talk) != 1 {
		t.Fatal(talk, err)
	}
	v.talk = strings.TrimPrefix(talk[0], v.dir+"/")
	v.must(t, "forget gone")
	v.must(t, "skill archive gone")
	v.must(t, "update other --text Two. --as robo") // a proposal waits
	v.must(t, "review --proposed")
	v.must(t, "review --accept-all")
	for _, on := range targets() {
		out := v.must(t, "log -n 1 --json "+strings.ReplaceAll(on.memory, "TALK", v.talk))
		v.lastOf[on.memory] = regexp.MustCompile(`"rev":"([0-9a-f]{40})"`).FindStringSubmatch(out)[1]
	}
	return v
}

// An actor is who runs a command, and what of the environment and the user's file makes it so.
type actor struct {
	name, env, config, flag string
	want                    func(c policyCell, column int) string
}

// actors are the user; an agent by STET_AGENT; one where the user wants to approve what agents write; one by --as;
// and the user by --as me among an agent's tools, whom nobody can ask without a terminal.
func actors() []actor {
	of := func(letters string, column int) string { return letters[min(column, len(letters)-1):][:1] }
	agent := func(c policyCell, column int) string { return of(c.agent, column) }
	return []actor{
		{"user", "", "", "", func(c policyCell, column int) string { return of(c.user, column) }},
		{"agent", "STET_AGENT=robo", "", "", agent},
		{"approved", "STET_AGENT=robo", "memory.write_approval: stage\nskills.write_approval: stage\n", "",
			func(c policyCell, column int) string {
				return strings.ReplaceAll(of(c.agent, column), "w", "p")
			}},
		{"as", "", "", " --as robo", agent},
		{"me", "CLAUDECODE=1", "", " --as me", func(policyCell, int) string { return "x" }},
	}
}

// Each cell of the table, in a copy of one vault where something may change. Without STET_FULL the user is tried on
// text of their own alone, and "--as" not at all; with -short a third of the cells of each command.
func TestWhatBecomesOfEachOperation(t *testing.T) {
	t.Parallel()
	made, full := newCells(t), os.Getenv("STET_FULL") != ""
	for n, c := range policyCells() {
		columns := targets()
		about := regexp.MustCompile("REF|COMMIT|SKILL|ENTRY").MatchString(c.line)
		for _, who := range actors() {
			takesName := !slices.Contains(strings.Fields("why version completion help"), strings.Fields(c.line)[0])
			for i, target := range columns {
				plain := who.name == "agent" || who.name == "user" && i == personal ||
					who.name == "approved" && i == 0 && about
				switch {
				case !full && !plain, testing.Short() && about && (n+i)%3 != 0, !about && i != personal,
					!about && who.name == "approved", who.flag != "" && !takesName:
					continue
				}
				want := who.want(c, i)
				if want == "-" { // it would not end
					continue
				}
				if got, said := made.become(t, who, target, c.line, want); got != want {
					t.Errorf("%s on %s: stet %s: %s, want %s: %s", who.name, target.name, c.line, got, want, said)
				}
			}
		}
	}
	for _, row := range agent.Policy() {
		for _, command := range row.Commands {
			verb, flag, _ := strings.Cut(command, " --")
			if _, ok := elsewhere()[command]; !ok && !slices.ContainsFunc(policyCells(), func(c policyCell) bool {
				return strings.HasPrefix(c.line+" ", verb+" ") &&
					(flag == "" || strings.Contains(c.line+" ", " --"+flag+" "))
			}) {
				t.Errorf("no cell tries %q", command)
			}
		}
	}
}

// become runs a command and says what became of it, and what it said.
func (v *cellVault) become(t *testing.T, who actor, on target, line, want string) (letter, said string) {
	return v.done(t, who, on, line, "", want)
}

// done is become of a command that reads an input, in which the same words stand for the target as in the line.
func (v *cellVault) done(t *testing.T, who actor, on target, line, input, want string) (letter, said string) {
	home, dir := t.TempDir(), v.dir
	defer os.RemoveAll(home)
	more := map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config")}
	if key, value, ok := strings.Cut(who.env, "="); ok {
		more[key] = value
	}
	config := who.config
	if on.name == "all" {
		config += "agents.edit: all\n"
	}
	v.write(t, filepath.Join(home, ".config/stet/config.yaml"), config)
	v.write(t, filepath.Join(home, "talks.jsonl"),
		`{"session":"t","id":"1","role":"user","date":"2026-01-09T14:02:11Z","text":"Hi."}`+"\n")
	if who.name == "user" || want == "w" || want == "p" || strings.Contains(line, "../") {
		dir = filepath.Join(home, "v")
		if err := os.CopyFS(dir, os.DirFS(v.dir)); err != nil {
			t.Fatal(err)
		}
	}
	place := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "TALK", v.talk), " ", "_") }
	named := strings.NewReplacer("REF", place(on.memory), "COMMIT", v.lastOf[on.memory], "SKILL", place(on.skill),
		"ENTRY", place(on.entry))
	line = named.Replace(line) + who.flag
	before, waits := v.state(t, dir)
	code, said := v.run(t, dir, more, line, named.Replace(input))
	after, now := v.state(t, dir)
	switch {
	case now > waits || strings.HasPrefix(said, "already proposed  "):
		return "p", said
	case before != after:
		return "w", said
	case code == console.ExitRefused:
		return "x", said
	case code >= 2 && code <= 4:
		return "n", said
	case code != 0:
		return "e", said
	}
	return "r", said
}

func (v *cellVault) write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// state is what the branch points at, and how many proposals wait.
func (v *cellVault) state(t *testing.T, dir string) (string, int) {
	t.Helper()
	heads, err := filepath.Glob(filepath.Join(dir, ".git/refs/heads/*"))
	if err != nil || len(heads) != 1 {
		t.Fatal(heads, err)
	}
	head, err := os.ReadFile(heads[0])
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := filepath.Glob(filepath.Join(dir, ".stet/proposals/*"))
	if err != nil {
		t.Fatal(err)
	}
	return string(head), len(waiting)
}

// The tools of the Model Context Protocol have an agent's cells: what a command line may not, no tool does.
func TestWhatBecomesOfEachTool(t *testing.T) {
	t.Parallel()
	made := newCells(t)
	calls := map[string]string{
		"update REF --text Rewritten.": `{"name":"memory_edit","arguments":{"ref":"REF","text":"Rewritten."}}`,
		"forget REF":                   `{"name":"memory_forget","arguments":{"ref":"REF"}}`,
		"revert COMMIT --yes": `{"name":"history","arguments":` +
			`{"action":"revert","rev":"COMMIT","apply":true}}`,
		"skill edit SKILL extra.md --text Two.": `{"name":"skill","arguments":{"action":"write_file","name":"SKILL",` +
			`"file":"references/extra.md","text":"Two."}}`,
		"skill archive SKILL": `{"name":"skill","arguments":{"action":"delete","name":"SKILL","reason":"Old."}}`,
	}
	still := strings.NewReplacer("x", "-", "n", "-", "r", "-")
	tried := 0
	for _, c := range policyCells() {
		call, ok := calls[c.line]
		if !ok {
			continue
		}
		tried++
		for i, on := range targets() {
			line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.TrimSuffix(call, "}") +
				`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},` +
				`"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
			want := still.Replace(c.agent[i : i+1])
			if on.name == "transcript" && strings.Contains(call, "memory_") {
				want = "-" // it is no memory
			}
			got, said := made.done(t, actor{name: "mcp"}, on, "mcp --as robo", line, want)
			if still.Replace(got) != want {
				t.Errorf("%s on %s: %s, want %s: %s", call, on.name, got, want, said)
			}
		}
	}
	if tried != len(calls) {
		t.Errorf("%d of %d calls stand for a cell", tried, len(calls))
	}
}
