// Package lexicon holds the word lists by which rules read texts, one file a list,
// one section a language: stop words, months, words of negation, of change, of kin.
//
// A file is lines of words separated by white space. "_" stands for a space inside a
// word, "[en]" begins the words of a language, "#" a comment. A line "head: words" of a
// list of groups gives the words one meaning.
//
//	var stops = sync.OnceValue(func() map[string]bool { return lexicon.Words("stop") })
//
// Nothing is read before it is asked for; whoever asks keeps the answer.
package lexicon

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed *.txt
var files embed.FS

// Words are the words of a list in the given languages, in all of them when none is
// given, in lower case. A list that does not exist is a mistake of the programmer and
// panics.
func Words(list string, languages ...string) map[string]bool {
	out := map[string]bool{}
	Each(list, languages, func(w string) { out[w] = true })
	return out
}

// Each calls f with the words of a list in the order of the file, with languages as for
// [Words].
func Each(list string, languages []string, f func(word string)) {
	each(list, languages, func(line string) {
		for w := range strings.FieldsSeq(line) {
			f(plain(w))
		}
	})
}

// An Entry is a line of a list of groups.
type Entry struct {
	Head  string
	Words []string
}

// Entries are the lines of a list of groups in the order of the file, with languages as for
// [Words].
func Entries(list string, languages ...string) []Entry {
	var out []Entry
	each(list, languages, func(line string) {
		head, words, ok := strings.Cut(line, ": ")
		if !ok {
			panic("lexicon: " + list + ": no head in " + line)
		}
		e := Entry{Head: plain(head), Words: make([]string, 0, 1+strings.Count(words, " "))}
		for w := range strings.FieldsSeq(words) {
			e.Words = append(e.Words, plain(w))
		}
		out = append(out, e)
	})
	return out
}

// Groups maps each word of a list of groups to the heads of its groups, in the order
// of the file, with languages as for [Words].
func Groups(list string, languages ...string) map[string][]string {
	out := map[string][]string{}
	for _, e := range Entries(list, languages...) {
		for _, w := range e.Words {
			if !slices.Contains(out[w], e.Head) {
				out[w] = append(out[w], e.Head)
			}
		}
	}
	return out
}

// Languages lists the sections of a list in the order of the file.
func Languages(list string) []string {
	var out []string
	for line := range strings.Lines(text(list)) {
		if l, ok := section(line); ok && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// Numbers reads lines "name number", as the trainer writes weights; "#" begins a comment. A line
// that is none is a mistake of whoever wrote it and panics.
func Numbers(text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || name[0] == '#' {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			panic("lexicon: " + err.Error())
		}
		out[name] = n
	}
	return out
}

// each calls f with the lines of the given languages.
func each(list string, languages []string, f func(line string)) {
	in := ""
	for line := range strings.Lines(text(list)) {
		line = strings.TrimSpace(line)
		if l, ok := section(line); ok {
			in = l
			continue
		}
		if line != "" && line[0] != '#' && (len(languages) == 0 || slices.Contains(languages, in)) {
			f(line)
		}
	}
}

func section(line string) (language string, ok bool) {
	line = strings.TrimSpace(line)
	if len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']' {
		return line[1 : len(line)-1], true
	}
	return "", false
}

func plain(w string) string { return strings.ReplaceAll(w, "_", " ") }

func text(list string) string {
	s, ok := texts()[list]
	if !ok {
		panic("lexicon: no list " + list)
	}
	return s
}

// texts are the files by list: to read one from [embed.FS] is to copy it.
var texts = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	entries, err := files.ReadDir(".")
	for _, e := range entries {
		var data []byte
		if data, err = files.ReadFile(e.Name()); err == nil {
			out[strings.TrimSuffix(e.Name(), ".txt")] = string(data)
		}
	}
	if err != nil {
		panic("lexicon: " + err.Error())
	}
	return out
})
