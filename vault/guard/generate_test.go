package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The release of gitleaks whose rules are embedded (rules/NOTICE).
const gitleaks = "github.com/zricethezav/gitleaks/v8@v8.30.1"

func update() bool { return flag.Lookup("update").Value.String() == "true" }

var _ = flag.Bool("update", false, "download gitleaks' rules and write rules/gitleaks.txt")

// The embedded rules are what gitleaks' file says. With -update they are
// written; without, the test needs the module in the module cache.
func TestGenerateRules(t *testing.T) {
	t.Parallel()
	var at struct{ Dir string }
	env := os.Environ()
	if !update() {
		env = append(env, "GOPROXY=off")
	}
	cmd := exec.Command("go", "mod", "download", "-json", gitleaks)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil || json.Unmarshal(out, &at) != nil || at.Dir == "" {
		t.Skipf("skip: %s is not in the module cache; go generate ./vault/guard downloads it", gitleaks)
	}
	data, err := os.ReadFile(filepath.Join(at.Dir, "config", "gitleaks.toml"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := readTOML(string(data))
	if err != nil {
		t.Fatal(err)
	}
	got, err := compact(tables)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("rules", "gitleaks.txt")
	if update() {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, got) {
		t.Errorf("%s is not what %s says (%v): run go generate ./vault/guard", name, gitleaks, err)
	}
}

// A table is one [header] of the file with its keys; values are strings, lists
// of strings, or the text of a number.
type table struct {
	name string
	keys map[string][]string
}

// readTOML reads the part of TOML that gitleaks' generated file uses, and
// fails for anything else.
func readTOML(text string) ([]table, error) {
	tables := []table{{keys: map[string][]string{}}}
	header := regexp.MustCompile(`^\s*\[+([\w.]+)\]+\s*$`)
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			text = rest
			continue
		}
		if m := header.FindStringSubmatch(line); m != nil {
			tables, text = append(tables, table{m[1], map[string][]string{}}), rest
			continue
		}
		key, after, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("cannot read %q", line)
		}
		values, rest, err := readValue(strings.TrimLeft(after, " "))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		tables[len(tables)-1].keys[strings.TrimSpace(key)] = values
		text = rest
	}
	return tables, nil
}

func readValue(s string) (values []string, rest string, err error) {
	if !strings.HasPrefix(s, "[") {
		v, rest, err := readScalar(s)
		return []string{v}, rest, err
	}
	for s = s[1:]; ; {
		s = strings.TrimLeft(s, " \t\n,")
		if strings.HasPrefix(s, "]") {
			return values, s[1:], nil
		}
		if strings.HasPrefix(s, "#") {
			_, s, _ = strings.Cut(s, "\n")
			continue
		}
		v, rest, err := readScalar(s)
		if err != nil {
			return nil, "", err
		}
		values, s = append(values, v), rest
	}
}

func readScalar(s string) (value, rest string, err error) {
	for _, quote := range []string{"'''", `"`} {
		if after, ok := strings.CutPrefix(s, quote); ok {
			value, rest, ok = strings.Cut(after, quote)
			if !ok || quote == `"` && strings.Contains(value, `\`) {
				return "", "", fmt.Errorf("a string that this reader does not know: %.40q", s)
			}
			return value, rest, nil
		}
	}
	value = regexp.MustCompile(`^[0-9.]+`).FindString(s)
	if value == "" {
		return "", "", fmt.Errorf("a value that this reader does not know: %.40q", s)
	}
	return value, s[len(value):], nil
}

// compact writes the tables in the form that parseRules reads.
func compact(tables []table) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# The rules of gitleaks, MIT licence: see NOTICE. Generated; do not edit.\n")
	for _, t := range tables {
		var err error
		switch t.name {
		case "":
			continue
		case "allowlist":
			b.WriteString("\nglobal\nallow\n")
			err = compactAllow(&b, t.keys)
		case "rules":
			err = compactRule(&b, t.keys)
		case "rules.allowlists":
			b.WriteString("allow\n")
			err = compactAllow(&b, t.keys)
		default:
			err = fmt.Errorf("a table that this generator does not know: %s", t.name)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func compactRule(b *bytes.Buffer, keys map[string][]string) error {
	fmt.Fprintf(b, "\nrule %s\n", keys["id"][0])
	for key, values := range sorted(keys) {
		switch key {
		case "id", "description":
		case "regex":
			re, err := syntax.Parse(values[0], syntax.Perl)
			if err != nil {
				return err
			}
			expr := values[0]
			if re.Op == syntax.OpLiteral {
				expr = "[" + expr[:1] + "]" + expr[1:] // the rule must not match this file
			}
			fmt.Fprintf(b, "expr %s\nspan %d\n", expr, newlines(re))
			if before, _, ok := strings.Cut(values[0], operator); ok && matchesAll(before, keys["keywords"]) {
				b.WriteString("operator\n")
			}
		case "path", "entropy", "secretGroup":
			fmt.Fprintf(b, "%s %s\n", strings.ToLower(key), values[0])
		case "keywords":
			if len(values) == 1 && values[0] == "secret" && strings.Contains(keys["regex"][0], `\bkind:`) {
				values = []string{"kind:"} // stands in every match too, and hardly ever in prose
			}
			for _, v := range values {
				fmt.Fprintf(b, "keyword %s\n", strings.ToLower(v))
			}
		default:
			return fmt.Errorf("a key that this generator does not know: %s", key)
		}
	}
	return nil
}

// matchesAll reports whether each keyword can stand in front of the operator.
func matchesAll(before string, keywords []string) bool {
	re := regexp.MustCompile(before)
	return !slices.ContainsFunc(keywords, func(k string) bool { return !re.MatchString(k) })
}

func compactAllow(b *bytes.Buffer, keys map[string][]string) error {
	for key, values := range sorted(keys) {
		switch key {
		case "description", "paths":
			if key == "paths" && len(keys["condition"]) > 0 {
				// All conditions must hold, and no path of a vault's is one of these.
				b.WriteString("never\n")
			}
		case "condition":
		case "regexTarget":
			fmt.Fprintf(b, "target %s\n", values[0])
		case "regexes":
			for _, v := range values {
				if strings.Contains(v, "\n") {
					return fmt.Errorf("an expression of two lines: %q", v)
				}
				fmt.Fprintf(b, "regex %s\n", strings.ReplaceAll(v, "AIza", "AIz[a]"))
			}
		case "stopwords":
			fmt.Fprintf(b, "stop %s\n", strings.ToLower(strings.Join(values, " ")))
		default:
			return fmt.Errorf("a key that this generator does not know: %s", key)
		}
	}
	return nil
}

func sorted(keys map[string][]string) func(func(string, []string) bool) {
	names := make([]string, 0, len(keys))
	for k := range keys {
		names = append(names, k)
	}
	slices.SortFunc(names, cmp.Compare)
	return func(yield func(string, []string) bool) {
		for _, k := range names {
			if !yield(k, keys[k]) {
				return
			}
		}
	}
}

// newlines is how many line ends one match can hold at most, -1 for any number.
func newlines(re *syntax.Regexp) int {
	sum := func(subs []*syntax.Regexp) int {
		n := 0
		for _, s := range subs {
			k := newlines(s)
			if k < 0 {
				return -1
			}
			n += k
		}
		return n
	}
	most := 0
	switch re.Op {
	case syntax.OpLiteral:
		return strings.Count(string(re.Rune), "\n")
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return 1
			}
		}
	case syntax.OpAnyChar:
		return 1
	case syntax.OpConcat, syntax.OpCapture:
		return sum(re.Sub)
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			k := newlines(s)
			if k < 0 {
				return -1
			}
			most = max(most, k)
		}
	case syntax.OpStar, syntax.OpPlus:
		return unbounded(re.Sub[0])
	case syntax.OpQuest:
		return newlines(re.Sub[0])
	case syntax.OpRepeat:
		switch k := newlines(re.Sub[0]); {
		case k == 0:
		case k < 0 || re.Max < 0:
			return unbounded(re.Sub[0])
		default:
			return k * re.Max
		}
	}
	return most
}

// unbounded is newlines for a repetition without an upper bound. White space
// and "anything but a quote" stand for the gap between two words of one
// statement there, which a few lines hold; other classes are bodies of any
// length, a key in PEM for instance.
func unbounded(re *syntax.Regexp) int {
	const gap = 4
	switch k := newlines(re); {
	case k == 0:
		return 0
	case k == 1 && re.Op == syntax.OpCharClass && (onlySpace(re.Rune) || re.Rune[0] == 0 && !all(re.Rune)):
		return gap
	}
	return -1
}

func onlySpace(ranges []rune) bool { return ranges[len(ranges)-1] <= ' ' }

func all(ranges []rune) bool { return len(ranges) == 2 && ranges[1] == unicode.MaxRune }
