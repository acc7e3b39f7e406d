package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"stet/index"
	"stet/markdown"
	"stet/vault"
)

// found draws queries from the messages of a vault, as a person would paste them, and counts how often a message
// that holds the query comes first, and among the first five. A message holds one that stands in its text or in an
// argument of a call as it is, or, of five words, every one of them. The bounds are those of the issue.
func found(flags *flag.FlagSet, args []string, tmp string) error {
	n := flags.Int("n", 40, "draw `N` queries of each kind")
	seed := flags.Uint64("seed", 1, "draw by this `NUMBER`")
	verbose := flags.Bool("v", false, "print the queries that miss")
	asked := flags.String("questions", "", "ask those of `FILE` instead: {question, said} a line")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return errors.New("found needs the folder of one vault")
	}
	said, err := readSaid(flags.Arg(0))
	if err != nil {
		return err
	}
	home := map[string]string{"HOME": tmp, "XDG_CONFIG_HOME": tmp}
	o := vault.Options{Now: time.Now, Env: func(name string) string { return home[name] }}
	ctx := context.Background()
	if _, err := os.Stat(filepath.Join(flags.Arg(0), filepath.FromSlash(string(vault.Marker)))); err != nil {
		if _, err := vault.Init(ctx, flags.Arg(0), vault.InitOptions{}, o); err != nil {
			return err
		}
	}
	v, err := vault.Open(ctx, flags.Arg(0), o)
	if err != nil {
		return err
	}
	defer v.Close()
	x, err := index.Open(v, index.Options{Now: time.Now})
	if err != nil {
		return err
	}
	defer x.Close()
	began := time.Now()
	if _, err := x.CatchUp(ctx); err != nil {
		return err
	}
	size := 0
	for _, m := range said {
		size += len(m.text)
	}
	indexed := int64(0)
	err = filepath.WalkDir(v.StateDir(), func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".seg") {
			info, _ := d.Info()
			indexed += info.Size()
		}
		return err
	})
	fmt.Printf("%d messages, %.1f MB of text, index %.1f MB (%.2f of the text), brought up to date in %s\n", len(said),
		float64(size)/1e6, float64(indexed)/1e6, float64(indexed)/float64(size), time.Since(began).Round(time.Millisecond))
	if *asked != "" {
		return ask(ctx, x, said, *asked, *verbose)
	}
	var took []time.Duration
	for _, k := range pasted() {
		r := rand.New(rand.NewPCG(*seed, uint64(len(k.name))))
		first, five, asked := 0, 0, 0
		for tries := 0; asked < *n && tries < 400**n; tries++ {
			m := &said[r.IntN(len(said))]
			q, words := k.draw(r, m)
			if q == "" {
				continue
			}
			asked++
			began := time.Now()
			res, err := x.Search(ctx, index.Query{Text: q, Limit: 5, Class: []vault.Class{vault.ClassSession}})
			if err != nil {
				return fmt.Errorf("%q: %w", q, err)
			}
			took = append(took, time.Since(began))
			rank := slices.IndexFunc(res.Hits, func(h index.Hit) bool { return holds(said, h, q, words) })
			if rank == 0 {
				first++
			}
			if rank >= 0 {
				five++
			}
			if *verbose && rank != 0 {
				fmt.Printf("  %s, rank %d: %q stands in %s message %d (%s, %d bytes)\n", k.name, rank+1, q, m.path, m.number, m.role, len(m.text))
			}
		}
		at1, at5 := float64(first)/float64(max(1, asked)), float64(five)/float64(max(1, asked))
		word := ""
		if at1 < k.first || at5 < k.five {
			err, word = errMissed, "  DOES NOT HOLD"
		}
		fmt.Printf("%-22s %3d  hit@1 %.3f (%.2f)  hit@5 %.3f (%.2f)%s\n", k.name, asked, at1, k.first, at5, k.five, word)
	}
	slices.Sort(took)
	fmt.Printf("p50 %s, p95 %s\n", took[len(took)/2].Round(10*time.Microsecond), took[len(took)*95/100].Round(10*time.Microsecond))
	return err
}

// ask counts how often a conversation in which a person or an agent said what a question is about comes first, as
// "stet session search" lists them, and among the first five.
func ask(ctx context.Context, x *index.Index, said []saying, file string, verbose bool) error {
	questions, err := lines[struct{ Question, Said string }](file)
	first, five := 0, 0
	for _, q := range questions {
		right := map[string]bool{}
		for _, s := range said {
			if s.role != "tool" && strings.Contains(strings.Join(strings.Fields(s.text), " "), q.Said) {
				right[s.path] = true
			}
		}
		res, err := x.Search(ctx, index.Query{Text: q.Question, Limit: 200, Class: []vault.Class{vault.ClassSession}})
		if err != nil {
			return fmt.Errorf("%q: %w", q.Question, err)
		}
		var paths []string
		for _, h := range res.Hits {
			if !slices.Contains(paths, string(h.Path)) {
				paths = append(paths, string(h.Path))
			}
		}
		rank := slices.IndexFunc(paths, func(p string) bool { return right[p] })
		if rank == 0 {
			first++
		}
		if rank >= 0 && rank < 5 {
			five++
		}
		if verbose && rank != 0 {
			fmt.Printf("  rank %d, right are %d: %q\n", rank+1, len(right), q.Question)
		}
	}
	fmt.Printf("%d questions, session first %d, among five %d\n", len(questions), first, five)
	if first*10 < len(questions)*9 {
		return errors.Join(err, errMissed)
	}
	return err
}

// A saying is a message, with the arguments of its calls as text.
type saying struct {
	path, role string
	number     int
	text       string
	calls      []string // commands alone
	words      map[string]bool
}

func readSaid(root string) (out []saying, err error) {
	err = filepath.WalkDir(filepath.Join(root, "sessions"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".md") {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		t := markdown.ParseTranscript(data)
		dir := filepath.Join(filepath.Dir(p), markdown.AttachmentDir(filepath.Base(p)))
		if err := t.Attach(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) }); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		for _, m := range t.Messages {
			s := saying{path: filepath.ToSlash(rel), role: m.Role, number: m.Number, text: string(m.Content)}
			for _, c := range m.Calls {
				var given map[string]any
				if json.Unmarshal(c.Arguments, &given) != nil {
					continue
				}
				for _, key := range slices.Sorted(func(yield func(string) bool) {
					for k := range given {
						if !yield(k) {
							return
						}
					}
				}) {
					value := given[key]
					if list, ok := value.([]any); ok && len(list) > 0 {
						value = list[len(list)-1]
					}
					if text, ok := value.(string); ok {
						s.text += "\n" + text
						if key == "command" {
							s.calls = append(s.calls, text)
						}
					}
				}
			}
			out = append(out, s)
		}
		return err
	})
	return out, err
}

func holds(said []saying, h index.Hit, q string, words []string) bool {
	i := slices.IndexFunc(said, func(s saying) bool { return s.path == string(h.Path) && s.number == h.Message })
	if i < 0 {
		return false
	}
	if words == nil {
		return strings.Contains(said[i].text, q)
	}
	have := wordsOf(said[i].text)
	return !slices.ContainsFunc(words, func(w string) bool { return !have[w] })
}

func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[w] = true
	}
	return out
}

// A paste is one kind of query. draw returns "" where a message has none; with words a hit need only have these.
type paste struct {
	name        string
	first, five float64
	draw        func(r *rand.Rand, m *saying) (query string, words []string)
}

func pasted() []paste {
	file := regexp.MustCompile(`[\w./-]*\w\.(?:go|c|h|py|js|rs|md|rst|toml|json|yml|tcl|txt)\b`)
	name := regexp.MustCompile(`\b(?:[a-z]+[A-Z][A-Za-z0-9]{3,}|[a-z]+_[a-z_0-9]{3,}|[A-Z]+_[A-Z_0-9]{3,})\b`)
	failed := regexp.MustCompile(`(?i)\b(?:error|fatal|cannot|no such|failed|invalid|undefined|unable|exception|panic)\b`)
	sentence := regexp.MustCompile(`[A-Z][^.!?\n]{20,200}[.!?]`)
	one := func(r *rand.Rand, list []string) string {
		if len(list) == 0 {
			return ""
		}
		return strings.TrimSpace(list[r.IntN(len(list))])
	}
	lines := func(m *saying, least, most int, keep func(string) bool) (out []string) {
		for line := range strings.SplitSeq(m.text, "\n") {
			if line = strings.TrimSpace(line); len(line) >= least && len(line) <= most && keep(line) {
				out = append(out, line)
			}
		}
		return out
	}
	from := func(role string, f func(r *rand.Rand, m *saying) string) func(*rand.Rand, *saying) (string, []string) {
		return func(r *rand.Rand, m *saying) (string, []string) {
			if m.role != role {
				return "", nil
			}
			return f(r, m), nil
		}
	}
	five := func(r *rand.Rand, m *saying) []string {
		var all []string
		for w := range wordsOf(m.text) {
			letters := strings.IndexFunc(w, func(c rune) bool { return c < 'a' || c > 'z' }) < 0
			if letters && len(w) >= 5 && len(w) <= 14 && !common()[w] {
				all = append(all, w)
			}
		}
		if len(all) < 8 {
			return nil
		}
		slices.Sort(all)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:5]
	}
	return []paste{
		{"command", .9, .97, from("assistant", func(r *rand.Rand, m *saying) string { return one(r, m.calls) })},
		{"error line", .9, .97, from("tool", func(r *rand.Rand, m *saying) string {
			return one(r, lines(m, 20, 200, failed.MatchString))
		})},
		{"file name", .9, .97, func(r *rand.Rand, m *saying) (string, []string) {
			p := one(r, file.FindAllString(m.text, -1))
			if r.IntN(2) == 0 && p != "" {
				p = path.Base(p)
			}
			return p, nil
		}},
		{"identifier", .9, .97, from("tool", func(r *rand.Rand, m *saying) string { return one(r, name.FindAllString(m.text, -1)) })},
		{"assistant sentence", .9, .97, from("assistant", func(r *rand.Rand, m *saying) string { return one(r, sentence.FindAllString(m.text, -1)) })},
		{"user line", .9, .97, from("user", func(r *rand.Rand, m *saying) string {
			return one(r, lines(m, 15, 300, func(string) bool { return true }))
		})},
		{"words in tool output", .9, .97, from("tool", func(r *rand.Rand, m *saying) string {
			if len(m.text) < 4<<10 {
				return ""
			}
			words := strings.Fields(one(r, lines(m, 30, 300, func(s string) bool { return strings.Count(s, " ") > 4 })))
			if len(words) < 5 {
				return ""
			}
			n := 4 + r.IntN(min(5, len(words)-4))
			at := r.IntN(len(words) - n + 1)
			q := strings.Join(words[at:at+n], " ")
			if !strings.Contains(m.text, q) || len(wordsOf(q)) < 3 {
				return "" // spaces as wide as a table's are not pasted as one
			}
			return q
		})},
		{"five words", .7, .9, func(r *rand.Rand, m *saying) (string, []string) {
			words := five(r, m)
			return strings.Join(words, " "), words
		}},
		{"five, two misspelt", .5, .75, func(r *rand.Rand, m *saying) (string, []string) {
			words := five(r, m)
			if words == nil {
				return "", nil
			}
			typed := slices.Clone(words)
			typed[0], typed[1] = misspell(r, typed[0]), misspell(r, typed[1])
			r.Shuffle(len(typed), func(i, j int) { typed[i], typed[j] = typed[j], typed[i] })
			return strings.Join(typed, " "), words
		}},
	}
}

// misspell leaves out, doubles, swaps or replaces a letter behind the first.
func misspell(r *rand.Rand, w string) string {
	b, at := []byte(w), 1+r.IntN(len(w)-2)
	switch r.IntN(4) {
	case 0:
		return string(slices.Delete(b, at, at+1))
	case 1:
		return string(slices.Insert(b, at, b[at]))
	case 2:
		if b[at] != b[at+1] {
			b[at], b[at+1] = b[at+1], b[at]
			return string(b)
		}
	}
	b[at] = 'a' + (b[at]-'a'+byte(1+r.IntN(25)))%26
	return string(b)
}

func common() map[string]bool {
	return wordsOf(`about above after again against because before being below between could doing during further
		having other should their there these those through under until where which while would yours`)
}
