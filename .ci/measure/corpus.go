package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/markdown"
	"stet/vault"
)

// corpus makes a vault of conversations of six agents. What tools answer is what real commands print in the work trees
// that are named; what people and agents say are sentences of the commit messages of those repositories. The same seed,
// repositories and tools give the same vault. Each conversation has -messages messages or a few more.
func corpus(flags *flag.FlagSet, args []string, _ string) error {
	out := flags.String("o", "", "make the vault in `FOLDER`, which is not there")
	sessions := flags.Int("sessions", 300, "make `N` conversations")
	most := flags.Int("messages", 110, "of `N` messages each")
	seed := flags.Uint64("seed", 1, "draw by this `NUMBER`")
	flags.Parse(args)
	if *out == "" || flags.NArg() == 0 {
		return errors.New("corpus needs -o FOLDER and the work trees of repositories")
	}
	var trees []*tree
	for _, dir := range flags.Args() {
		t, err := readTree(dir)
		if err != nil {
			return err
		}
		trees = append(trees, t)
	}
	counts := make([]struct{ messages, results, long, bytes int }, *sessions)
	err := each(*sessions, func(i int) error {
		d := &drawing{Rand: rand.New(rand.NewPCG(*seed, uint64(i))), tree: trees[i%len(trees)]}
		t := d.session(i, *most)
		c := &counts[i]
		for _, m := range t.Messages {
			c.messages, c.bytes = c.messages+1, c.bytes+len(m.Content)
			for _, call := range m.Calls {
				c.bytes += len(call.Arguments)
			}
			if m.Role == "tool" {
				c.results++
				if len(m.Content) > 4<<10 {
					c.long++
				}
			}
		}
		return write(*out, t)
	})
	var messages, results, long, size int
	for _, c := range counts {
		messages, results, long, size = messages+c.messages, results+c.results, long+c.long, size+c.bytes
	}
	fmt.Printf("%d sessions, %d messages, %d results of tools of which %d are above 4 KB, %.1f MB of text\n",
		*sessions, messages, results, long, float64(size)/1e6)
	return err
}

func write(root string, t *markdown.Transcript) error {
	p := vault.NameTranscript(t)
	text, attached, err := markdown.RenderTranscript(t, markdown.TranscriptOptions{Name: p.Base(), AttachAbove: 64 << 10})
	if err != nil {
		return err
	}
	file := filepath.Join(root, filepath.FromSlash(string(p)))
	err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644))
	for _, a := range attached {
		dir := filepath.Join(filepath.Dir(file), markdown.AttachmentDir(p.Base()))
		err = errors.Join(err, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, a.Name), a.Data, 0o644))
	}
	return err
}

// A tree is the work tree of a repository, and what can be drawn of it.
type tree struct {
	dir                       string
	files, commits, sentences []string
	large                     []string // files of 8 KB or more
	names                     []string // identifiers
}

func (t *tree) run(command string, most int) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "GIT_PAGER=cat", "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1")
	got, _ := cmd.CombinedOutput() // one that fails says so in words, which is what is wanted
	got = bytes.ToValidUTF8(bytes.ReplaceAll(got, []byte(t.dir), []byte("/home/dev/"+path.Base(t.dir))), nil)
	return bytes.TrimRight(bytes.ToValidUTF8(got[:min(most, len(got))], nil), "\n")
}

func readTree(dir string) (*tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir}
	lines := func(command string) []string { return strings.Split(string(t.run(command, 64<<20)), "\n") }
	t.files, t.commits = lines("git ls-files | grep -E '[.][a-z]{1,4}$'"), lines("git rev-list --no-merges -n 4000 HEAD")
	for _, f := range t.files {
		if info, err := os.Stat(filepath.Join(dir, f)); err == nil && info.Size() > 8<<10 && info.Size() < 1<<20 {
			t.large = append(t.large, f)
		}
	}
	ends := regexp.MustCompile(`[.!?]\s+`)
	plain := regexp.MustCompile(`^[A-Za-z][\x20-\x7e]{24,200}$`)
	for _, body := range strings.Split(string(t.run("git log --no-merges -n 6000 --format=%B%x01", 64<<20)), "\x01") {
		for _, part := range strings.Split(body, "\n\n") {
			part = strings.Join(strings.Fields(part), " ")
			for _, s := range ends.Split(part, -1) {
				if plain.MatchString(s) && !strings.Contains(s, "-by: ") && strings.Count(s, " ") > 3 {
					t.sentences = append(t.sentences, s)
				}
			}
		}
	}
	seen := map[string]bool{}
	name := regexp.MustCompile(`\b(?:[a-z]+[A-Z][A-Za-z0-9]+|[a-z]+_[a-z_0-9]+)\b`)
	for _, n := range name.FindAllString(string(t.run("git ls-files -z '*.go' '*.c' '*.py' '*.js' '*.rs' | xargs -0 cat", 16<<20)), -1) {
		if len(n) > 5 && !seen[n] {
			seen[n], t.names = true, append(t.names, n)
		}
	}
	if len(t.large) < 10 || len(t.commits) < 10 || len(t.sentences) < 10 || len(t.names) < 10 {
		return nil, fmt.Errorf("%s: no repository with a history to draw from", dir)
	}
	return t, nil
}

// A drawing is one conversation under way.
type drawing struct {
	*rand.Rand
	tree *tree
	t    *markdown.Transcript
	at   time.Time
}

func (d *drawing) of(list []string) string { return list[d.IntN(len(list))] }

// prose is some sentences of those who wrote the repository.
func (d *drawing) prose(sentences int) []byte {
	var parts []string
	for range sentences {
		parts = append(parts, d.of(d.tree.sentences)+".")
	}
	return []byte(strings.Join(parts, " "))
}

var agents = [...]struct{ name, tool, arguments string }{
	{"claude-code", "Bash", `{"command":%s,"description":%s}`},
	{"codex", "shell", `{"command":["bash","-lc",%s],"justification":%s}`},
	{"gemini-cli", "run_shell_command", `{"command":%s,"description":%s}`},
	{"hermes", "terminal", `{"command":%s,"why":%s}`},
	{"opencode", "bash", `{"command":%s,"description":%s}`},
	{"pi", "bash", `{"command":%s,"note":%s}`},
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // any text can be written
	return string(b)
}

func (d *drawing) say(m markdown.Message) {
	d.at = d.at.Add(time.Duration(1+d.IntN(90)) * time.Second)
	m.Time = d.at
	d.t.Messages = append(d.t.Messages, m)
}

func (d *drawing) session(n, most int) *markdown.Transcript {
	agent := agents[d.IntN(len(agents))]
	d.at = time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * 20 * time.Hour)
	id := ulid.ULID{}
	_ = id.SetTime(ulid.Timestamp(d.at)) // within what an id can hold
	for i := 6; i < len(id); i++ {
		id[i] = byte(d.Uint32())
	}
	d.t = &markdown.Transcript{ID: strings.ToLower(id.String()), Agent: agent.name, Source: "import", Started: d.at,
		Project: "/home/dev/" + path.Base(d.tree.dir)}
	for len(d.t.Messages) < most {
		asked := d.prose(1 + d.IntN(2))
		if d.t.Title == "" {
			d.t.Title = string(asked[:min(len(asked), 60)])
		}
		d.say(markdown.Message{Role: "user", Content: asked})
		for range 2 + d.IntN(5) {
			command, most := d.command(), 30_000
			if d.IntN(60) == 0 {
				most = 200_000 // what is not cut goes to a file of its own
			}
			name, arguments := agent.tool, fmt.Sprintf(agent.arguments, quoted(command), quoted(string(d.prose(1))))
			result := d.tree.run(command, most)
			if d.IntN(14) == 0 {
				name, arguments, result = d.edit()
			}
			if len(result) == 0 {
				result = []byte("(no output)")
			}
			m := markdown.Message{Role: "assistant", Calls: []markdown.ToolCall{{ID: fmt.Sprintf("call_%d", len(d.t.Messages)), Name: name, Arguments: []byte(arguments)}}}
			if d.IntN(3) > 0 {
				m.Content = d.prose(1 + d.IntN(2))
			}
			d.say(m)
			d.say(markdown.Message{Role: "tool", Name: name, Call: m.Calls[0].ID, Content: result})
		}
		d.say(markdown.Message{Role: "assistant", Content: d.prose(2 + d.IntN(6))})
	}
	return d.t
}

// command is a line for the shell, as agents write them: they look around, read, search, and at times fail.
func (d *drawing) command() string {
	t := d.tree
	file, other, name, commit := d.of(t.files), d.of(t.files), d.of(t.names), d.of(t.commits)[:7+d.IntN(5)]
	if d.IntN(5) > 0 {
		file = d.of(t.large) // where the work is
	}
	dir := path.Dir(file)
	from := 1 + d.IntN(200)
	switch d.IntN(30) {
	case 0:
		return fmt.Sprintf("git log --oneline -n %d -- %s", 20+d.IntN(180), dir)
	case 1:
		return "git show --stat " + commit
	case 2, 3, 4:
		return "git show -U8 " + commit
	case 5, 6, 7:
		return fmt.Sprintf("grep -rn -C%d %q . | head -%d", d.IntN(5), name, 100+d.IntN(400))
	case 8, 9:
		return fmt.Sprintf(`git grep -n "%s" -- "*%s" | head -%d`, name, path.Ext(file), 10+d.IntN(90))
	case 10, 11, 12:
		return fmt.Sprintf("sed -n '%d,%dp' %s", from, from+100+d.IntN(500), file)
	case 13, 14, 15, 16:
		return "cat " + file
	case 17:
		return fmt.Sprintf("cd %s && ls -la && git status --short", dir)
	case 18, 19, 20, 21:
		return fmt.Sprintf("git log -p -n %d -- %s", 3+d.IntN(8), file)
	case 22:
		return fmt.Sprintf("find . -name \"*%s\" -newer %s | sort | head -n %d", path.Ext(file), other, 50+d.IntN(400))
	case 23:
		return fmt.Sprintf("wc -l %s %s && git diff --stat %s~1 %s", file, other, commit, commit)
	case 24, 25, 26:
		return fmt.Sprintf("git diff %s~%d %s | head -n %d", commit, 2+d.IntN(9), commit, 200+d.IntN(800))
	}
	words := strings.FieldsFunc(strings.ToLower(d.of(t.sentences)), func(r rune) bool { return r < 'a' || r > 'z' })
	word := d.of(append(words, name))
	switch d.IntN(6) {
	case 0:
		return fmt.Sprintf("cat %s.%s", file, word)
	case 1:
		return "git checkout " + name
	case 2:
		return fmt.Sprintf("ls %s/%s-%s", dir, word, name)
	case 3:
		return fmt.Sprintf("python3 -c \"import ast; ast.parse(open('%s').read())\"", file)
	case 4:
		return "node --check " + file
	}
	return fmt.Sprintf("git show %s:%s/%s", commit, dir, word)
}

// edit is a change that a commit made, as a tool for editing would have made it.
func (d *drawing) edit() (name, arguments string, result []byte) {
	diff := string(d.tree.run("git show --format= -U1 "+d.of(d.tree.commits), 1<<20))
	file, old, now := "README.md", "", ""
	for _, line := range strings.Split(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "+++ "):
			file = strings.TrimPrefix(line, "+++ b/")
		case old+now != "" && (strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff ")):
			old, now = old[:min(len(old), 8_000)], now[:min(len(now), 8_000)]
			full := "/home/dev/" + path.Base(d.tree.dir) + "/" + file
			return "Edit", fmt.Sprintf(`{"file_path":%s,"old_string":%s,"new_string":%s}`, quoted(full), quoted(old), quoted(now)),
				[]byte("The file " + full + " has been updated.")
		case strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---"):
			old += line[1:] + "\n"
		case strings.HasPrefix(line, "+"):
			now += line[1:] + "\n"
		case strings.HasPrefix(line, " "):
			old, now = old+line[1:]+"\n", now+line[1:]+"\n"
		}
	}
	return "Edit", fmt.Sprintf(`{"file_path":%s,"old_string":"","new_string":""}`, quoted(file)), []byte("Error: old_string and new_string are the same.")
}
