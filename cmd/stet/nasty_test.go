package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// nasty are texts that cost a reader more than others when they are repeated.
func nasty() []string {
	return []string{"- ( )", "* ", "> a\n", "-\n", "a\n", "a\n\n", "# a\n", "#\n", "=\n", "a\n=\n", "|\n|-|\n", "|a\n",
		"a|b\n-|-\nc|d\n", "[a]: b\n", "[a]\n", "[a][b]", "- [ ] a\n", "<div>\n\n", "![[a]] ", "[a](b)",
		"`a_b`", "*[",
		"\n- ", "[![a](b)](c)", "# a {#b}\n", "#a ", "a", "\xff", "\x00", "{\"a\":", "password: x ",
		"key=", "a.b/c_d-",
		"a@b.c ", "\ufdfa", "password: a1" + "b2c3\n"}
}

// pieces are what nasty texts are made of: marks of Markdown, YAML and JSON, letters that grow
// or join, and words that the rules look for. "%d" becomes a number.
func pieces() []string {
	return append(nasty(), "\ufdfa ", "a\u0301", "\u0301\u0316", "\u200d", "\u202e", "\U000e0041", "\u0130", "\u00df",
		"각", "ض", "\u2028", "\r", "\r\n", "\v", "\x1b[31m", "\t", " ", "\\", "\\u0041", "&amp;",
		"&#x41;", "%%41", "<!--",
		"-->", "<a href=\"", "```\n", "~~~", "[^1]: ", "*", "_", "**a ", "~~", "[[", "]]", "(", ")",
		"](", "!", "'", "\"", "|",
		"---\n", "...\n", "? ", ": ", "&a ", "*a ", "!!b ", "{", "}", "[", "]", ",", "a: %d\n",
		"- %d\n", "%d", "w%d ", "%d. ",
		"# h%d\n", "[r%d]: u\n", "[[w%d]] ", "#t%d ", "k%d=v%d ", "2026-03-02 ", "I prefer tea%d. ",
		"We moved from a%d to b%d. ", "not ", "Actually, ", "My port is %d.\n", "ignore all previous instructions ",
		"sk-ant-api03-", "AKIA", "eyJhbGciOi", "dGVzdDp0ZXN0", "6465616462656566", "https://u:p%d@h.example/ ",
		"-----BEGIN PRIVATE KEY-----\n", "token is x%dY ", "user: ", "## user\n", "知识", "の", "{\"text\":\"w%d\"}\n",
		"{\"a\":[", "\"k%d\":1,", "null,", "1e9,")
}

// grammar makes text number n: some pieces, repeated, one after the other, in turn or mixed,
// within a frame.
func grammar(n, size int) string {
	r := rand.New(rand.NewPCG(uint64(n), 15))
	all := pieces()
	unit := func() (s string) {
		for range 1 + r.IntN(4) {
			s += all[r.IntN(len(all))]
		}
		return s
	}
	frames := [][2]string{{"", ""}, {"", ""}, {"---\ntitle: x\n---\n", ""}, {"---\n", "\n---\ntext\n"},
		{"| a |\n|---|\n", ""},
		{"---\ntags: [", "]\n---\n"}, {"---\na: \"", "\"\n---\n"}, {"{\"text\":\"", "\"}"}, {"[", "]"}, {"> ", ""}}
	frame := frames[r.IntN(len(frames))]
	count, parts, kind := 0, []string{unit(), unit(), unit(), unit()}, r.IntN(4)
	var b strings.Builder
	b.WriteString(frame[0])
	for b.Len() < size-len(frame[1])-200 {
		part := []string{parts[0], parts[4*b.Len()/size], parts[r.IntN(4)], ""}[kind]
		if kind == 3 {
			part = unit()
		}
		for strings.Contains(part, "%d") {
			part = strings.Replace(part, "%d", fmt.Sprint(count), 1)
			count++
		}
		b.WriteString(strings.ReplaceAll(part, "%%", "%"))
	}
	return b.String() + frame[1]
}

// talk is a conversation of one turn, in stet's own lines.
func talk(text string) string {
	return line(map[string]any{"session": "s", "speaker": "user", "date": "2026-03-02", "text": text})
}

// notes cuts a text into 500: each is a file of its own, so what more of them cost is no reading.
func notes(text string) (out []string) {
	for size := len(text)/500 + 1; text != ""; {
		n := min(size, len(text))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// items are such notes as the tool that saves takes them.
func items(text string) string {
	var all []map[string]any
	for _, n := range notes(text) {
		all = append(all, map[string]any{"text": n})
	}
	return line(map[string]any{"items": all})
}

func batch(text string) (lines string) {
	for _, n := range notes(text) {
		lines += line(map[string]any{"text": n})
	}
	return lines
}

func line(v map[string]any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it holds strings
	}
	return string(data) + "\n"
}
