package main

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stet/vault/vaulttest"
)

// What the documents print is what the commands say: every block marked console runs in a clean home, those of
// one document in one shell, as on a terminal. "go test ./cmd/stet -run Documents -update" writes the answers
// anew where more than a time, an id or a commit differs, and draws the first block of the README.
func TestDocumentsPrintWhatTheCommandsSay(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	update := flag.Lookup("update").Value.String() == "true"
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\n```console\n")) {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			now := answered(t, string(text), update)
			made := map[string]string{file: now}
			if filepath.Base(file) == "README.md" {
				first := consoleBlock.FindStringSubmatch(now)
				made[filepath.Join(root, "docs", "terminal.svg")] = picture(commands(first[1]))
			}
			for name, want := range made {
				if update {
					if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				if got, err := os.ReadFile(name); err != nil || string(got) != want {
					t.Errorf("%s is not what the commands print now (%v)", filepath.Base(name), err)
				}
			}
		})
	}
}

// consoleBlock is a block with command lines, and what they print.
var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// answered is a document with what its command lines print now. An answer that differs only in what chance and the
// clock decide stays; any other fails the test, unless the document is to be updated.
func answered(t *testing.T, text string, update bool) string {
	home := t.TempDir()
	const mark = "\x01"
	var script strings.Builder
	for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
		for _, c := range commands(block[1]) {
			fmt.Fprintf(&script, "%s\nprintf '%s'\n", strings.ReplaceAll(c.line, "\n> ", "\n"), mark)
		}
	}
	lines := filepath.Join(t.TempDir(), "lines.sh")
	if err := os.WriteFile(lines, []byte(script.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("sh", lines)
	shell.Dir = home
	shell.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "TERM=dumb", "PAGER=cat",
		"GIT_PAGER=cat", "LC_ALL=C.UTF-8",
		"TZ=UTC", "STET_TEST_TERMINAL=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("the last command: %v\n%s", err, out)
	}
	answers := strings.Split(strings.ReplaceAll(string(out), home, "/home/ann"), mark)
	return consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
		var b strings.Builder
		for _, c := range commands(consoleBlock.FindStringSubmatch(block)[1]) {
			if len(answers) == 0 {
				t.Fatalf("the shell ended before $ %s", c.line)
			}
			answer := answers[0]
			answers = answers[1:]
			if answer != "" && !strings.HasSuffix(answer, "\n") {
				answer += "\n"
			}
			if settled(answer) == settled(c.answer) {
				answer = c.answer
			} else if !update {
				t.Errorf("$ %s\nprints\n%sthe document says\n%s", c.line, answer, c.answer)
			}
			fmt.Fprintf(&b, "$ %s\n%s", c.line, answer)
		}
		return "```console\n" + b.String() + "```"
	})
}

// chance is what differs from run to run: ids, commits, dates, ages, how long something took, and how
// many lines a change has, since the line with its time is among them.
var chance = regexp.MustCompile(`(?m:^(?:[0-9a-z]{4,26}  )?|  )(?:now|\d{1,2}min) +|` +
	`\b01[0-9a-z]{24}\b|\b[0-9a-f]{7,40}\b|` +
	`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z| [+]0000)?)?\b|\b\d+m?s\b|[+]\d+ -\d+\b`)

func settled(answer string) string { return chance.ReplaceAllString(answer, "?") }

// A command is a line behind "$ ", with those behind "> ", and what it printed.
type command struct{ line, answer string }

func commands(block string) (out []command) {
	for line := range strings.Lines(block) {
		switch last := len(out) - 1; {
		case strings.HasPrefix(line, "$ "):
			out = append(out, command{line: strings.TrimSpace(line[2:])})
		case strings.HasPrefix(line, "> ") && out[last].answer == "":
			out[last].line += "\n" + strings.TrimRight(line, "\n")
		default:
			out[last].answer += line
		}
	}
	return out
}

// picture draws command lines and their answers as SVG: text in rows of 80 columns, each in the colour of its kind.
func picture(run []command) string {
	const width, row, margin = 80, 19, 16
	colours := []struct{ begins, colour string }{
		{"$ ", "#e6edf3"}, {"stet: ", "#8b949e"}, {"+++", "#8b949e"}, {"---", "#8b949e"}, {"+", "#3fb950"},
		{"-", "#f85149"}, {"", "#b1bac4"},
	}
	var rows strings.Builder
	n := 0
	for _, c := range run {
		for line := range strings.Lines("$ " + c.line + "\n" + c.answer) {
			line = strings.TrimRight(line, "\n")
			colour := ""
			for _, k := range colours {
				if strings.HasPrefix(line, k.begins) {
					colour = k.colour
					break
				}
			}
			for chars := []rune(line); ; {
				most := min(width, len(chars))
				n++
				fmt.Fprintf(&rows, `<text xml:space="preserve" x="%d" y="%d" fill="%s">%s</text>`+"\n",
					margin, margin/2+n*row, colour, html.EscapeString(string(chars[:most])))
				if chars = chars[most:]; len(chars) == 0 {
					break
				}
			}
		}
	}
	w, h := width*843/100+2*margin, n*row+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"
font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
%s</svg>
`, w, h, rows.String())
}
