// Package scan says what a skill from elsewhere might do that a person should look at before agents follow it:
// orders to a model, words that hide, commands that run what comes from a network or send what is secret, files
// that nobody can read. It is pure: files in, findings out. Secrets are for the guard, which knows what the person
// allowed.
//
// A scan is advice and no proof: what it does not know it does not find, and what it finds may be what the skill
// is about.
package scan

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/templates"
	"stet/vault/guard"
)

// A Verdict is the gravest of the findings.
type Verdict string

// The verdicts, the gravest last.
const (
	Clean  Verdict = "clean"
	Look   Verdict = "look"   // it is often harmless
	Danger Verdict = "danger" // it seldom is
)

// A File is one file of a skill.
type File struct {
	Path string // as seen from the skill's folder
	Data []byte
	// Steers says that programs take orders from a file of this name.
	Steers bool
}

// A Finding is one thing to look at.
type Finding struct {
	File    string  `json:"file"`
	Line    int     `json:"line,omitempty"` // from 1; 0 of the whole file
	Rule    string  `json:"rule"`
	Verdict Verdict `json:"verdict"`
	Excerpt string  `json:"excerpt"` // on one line, without a secret and what a terminal acts on
	vague   bool    // it sounds like an order, as much of a skill does, or is stet's own mark
}

// Files looks at all files of a skill. The findings are in the order of the files and of their lines.
func Files(files []File) (Verdict, []Finding) {
	each := make([][]Finding, len(files))
	var busy sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, f := range files {
		room <- struct{}{}
		busy.Go(func() {
			each[i] = f.scan()
			<-room
		})
	}
	busy.Wait()
	worst, out := Clean, []Finding{}
	for _, some := range each {
		for _, found := range some {
			out = append(out, found)
			if found.Verdict == Danger || worst == Clean {
				worst = found.Verdict
			}
		}
	}
	return worst, out
}

// Fresh are the findings in a file that it did not hold before, but for what merely sounds like an order, of which a
// skill is made and which the guard notes, and stet's own marks.
func Fresh(name string, before, after []byte) []Finding {
	had := map[string]bool{}
	key := func(f Finding) string { return f.Rule + "\x00" + f.Excerpt }
	for _, f := range (File{Path: name, Data: before}).scan() {
		had[key(f)] = true
	}
	return slices.DeleteFunc(File{Path: name, Data: after}.scan(), func(f Finding) bool {
		return f.vague || had[key(f)]
	})
}

// The sizes of a file, in bytes, above which nobody reads it.
const (
	longText  = 256 << 10
	largeFile = 1 << 20
)

func (f File) scan() (out []Finding) {
	add := func(line int, rule string, v Verdict, excerpt string) {
		out = append(out, Finding{f.Path, line, rule, v, oneLine(excerpt), false})
	}
	if f.Steers {
		add(0, "steers", Look, "programs take orders from a file of this name")
	}
	for _, found := range guard.Injections([]byte(f.Path)) {
		if strings.HasPrefix(found.Rule, "invisible_") {
			add(0, "hidden-in-name", gravity(found.Rule), "the name of the file holds characters that nobody sees")
		}
	}
	text := utf8.Valid(f.Data) && bytes.IndexByte(f.Data, 0) < 0
	switch {
	case !text && isProgram(f.Data):
		add(0, "program", Danger, "it is a program, which nobody can read")
	case !text && !isMedium(f.Data):
		add(0, "binary", Look, fmt.Sprintf("%s that are no text", templates.Plural(len(f.Data), "byte")))
	}
	if len(f.Data) > largeFile || text && len(f.Data) > longText {
		add(0, "large", Look, templates.Plural(len(f.Data), "byte"))
	}
	for _, found := range guard.Injections(f.Data) {
		if text || !strings.HasPrefix(found.Rule, "invisible_") {
			add(found.Line, found.Rule, gravity(found.Rule), found.Excerpt)
			out[len(out)-1].vague = out[len(out)-1].Verdict == Look && !strings.Contains(claims, " "+found.Rule+" ")
		}
	}
	if text {
		out = append(append(out, f.front()...), f.commands()...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return out
}

// grave are the guard's rules about orders that no honest skill meets by chance. The others find what skills do by
// trade: call a service with a token, say when they are to be used, show how a model is prompted.
const grave = " prompt_injection sys_prompt_override disregard_rules bypass_restrictions translate_execute " +
	"deception_hide role_hijack remove_filters fake_update c2_node_registration c2_heartbeat c2_task_pull " +
	"html_comment_injection hidden_div send_to_url context_exfil anti_forensic_oneliner anti_forensic_disk "

// claims are those of the guard's rules about orders that honest skills seldom meet, and that speak for the person or
// against their being asked: what a machine writes so into a skill waits for the person.
const claims = " claimed_permission checks_off unseen_by_the_user identity_override role_pretend forced_action " +
	"leak_system_prompt memory_planted hand_over new_task "

// gravity is the verdict on one of the guard's rules about orders. Characters that turn the direction of writing or
// spell a text in tags are there to deceive; others that nobody sees are mostly left over from an editor.
func gravity(rule string) Verdict {
	var r rune
	_, err := fmt.Sscanf(rule, "invisible_unicode_U+%X", &r)
	if err != nil && strings.Contains(grave, " "+rule+" ") || r >= 0xe0000 ||
		unicode.Is(unicode.Bidi_Control, r) && r != 0x200e && r != 0x200f && r != 0x61c {
		return Danger
	}
	return Look
}

// near is within how many lines a script that reads what is secret must send something, and one that connects somewhere
// start a shell.
const near = 10

// commands finds what scripts do, line by line; a line that ends with a backslash goes on with the next.
func (f File) commands() (out []Finding) {
	lines := strings.Split(string(f.Data), "\n")
	var reads, sends, sockets, shells []int
	came := downloads{}
	for i := 0; i < len(lines); i++ {
		at, shown := i, lines[i]
		for ; goesOn(lines[i]) && i+1 < len(lines); i++ {
		}
		if i > at {
			shown = joined(lines[at : i+1])
		}
		line := unquoted().Replace(nextDoor().ReplaceAllString(shown, "//home"))
		grave, lower := false, strings.ToLower(line)
		if v := came.run(at, line, lower); v != "" {
			out = append(out, Finding{f.Path, at + 1, "download-then-run", v, oneLine(shown), false})
		}
		for _, r := range rules() {
			if r.finds(line, lower) {
				grave = r.verdict == Danger
				out = append(out, Finding{f.Path, at + 1, r.name, r.verdict, oneLine(shown), r.name == "stet-mark"})
				break
			}
		}
		if !grave && readsSecret().finds(line, lower) {
			reads = append(reads, at)
		}
		if sendsIt().finds(line, lower) {
			sends = append(sends, at)
		}
		if opensSocket().finds(line, lower) {
			sockets = append(sockets, at)
		}
		if givesShell().finds(line, lower) {
			shells = append(shells, at)
		}
	}
	for _, at := range beside(reads, sends) {
		out = append(out, Finding{f.Path, at + 1, "reads-and-sends", Danger, oneLine(lines[at]), false})
	}
	for _, at := range beside(shells, sockets) {
		out = append(out, Finding{f.Path, at + 1, "reverse-shell", Danger, oneLine(lines[at]), false})
	}
	return out
}

// beside are the lines of some that are near one of others; both are in order.
func beside(some, others []int) (out []int) {
	for _, at := range some {
		if n, _ := slices.BinarySearch(others, at-near); n < len(others) && others[n] <= at+near {
			out = append(out, at)
		}
	}
	return out
}

// unquoted takes out quotes with nothing in them, which cut a word in two for a reader and not for a shell.
var unquoted = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(`''`, "", `""`, "") })

// goesOn reports whether a line ends with a backslash.
func goesOn(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "\r"), `\`) }

// joined are lines as one, without the backslashes at their ends.
func joined(lines []string) string {
	parts := []string{strings.TrimRight(lines[0], "\\\r")}
	for _, line := range lines[1:] {
		parts = append(parts, strings.TrimRight(strings.TrimSpace(line), "\\\r"))
	}
	return strings.Join(parts, " ")
}

// isProgram reports the beginnings of what machines run: ELF, PE, Mach-O, Java, WebAssembly.
func isProgram(data []byte) bool {
	return begins(data, "\x7fELF", "MZ", "\xfe\xed\xfa", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
		"\x00asm")
}

// isMedium reports the beginnings of images, fonts and documents, which no agent runs.
func isMedium(data []byte) bool {
	return begins(data, "\x89PNG\r\n", "\xff\xd8\xff", "GIF8", "RIFF", "%PDF-", "wOFF", "wOF2", "\x00\x01\x00\x00\x00",
		"OTTO", "\x00\x00\x01\x00", "ID3", "OggS")
}

func begins(data []byte, with ...string) bool {
	return slices.ContainsFunc(with, func(s string) bool { return bytes.HasPrefix(data, []byte(s)) })
}

// width is how much of a line is shown, in characters.
const width = 120

// oneLine is a line as a person may see it.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			return ' '
		}
		return r
	}, guard.Seen(guard.Elided(s)))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
