package guard

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed rules/gitleaks.txt
var gitleaksText string

//go:embed rules/stet.txt
var stetText string

//go:embed rules/likely.txt
var likelyText string

// A rule is an expression with the conditions under which its match counts.
type rule struct {
	id       string
	keywords []string // lower case; one of them stands in every match
	also     []string // lower case; one of these does as well; none: nothing is asked
	besides  []string // likewise, and one of these
	next     string   // lower case; behind a keyword stands this, after blanks and a quote; "": nothing is asked
	token    int      // characters without a space, at least, that are no word; 0: nothing is asked
	expr     func() *regexp.Regexp
	path     func() *regexp.Regexp // nil: any file
	entropy  float64               // bits a character; a match must have more
	check    check                 // nil: a match counts
	run      int                   // of token characters that a keyword stands in, at least
	weak     bool                  // it does not know the kind of secret
	certain  string                // what makes what it finds certain; see certain
	// behind is set where the expression is about what follows a keyword, and is tried there alone.
	behind bool
	group  int // of the secret; 0 = the first that is not empty
	span   int // line ends within a match; -1: any number
	// operator is set where every match holds an assignment or the like
	// between keyword and secret.
	operator bool
	allow    []allowance
}

// An allowance says which matches of a rule are no secrets.
type allowance struct {
	target  string // what the expressions look at: "" secret, match or line
	regexes []func() *regexp.Regexp
	stop    func() *keywordIndex // a secret with one of these words in it is a sample; nil: with none
	never   bool                 // bound to paths that a vault does not have
}

// ruleSet is what the scanner runs on.
type ruleSet struct {
	rules  []rule
	global []allowance
	index  *keywordIndex
	more   func(text string) []match // what no keyword leads to; nil: nothing
}

// The rules are read once, when something is first scanned.
var (
	secretRules = sync.OnceValue(func() *ruleSet {
		return mustParse(source{gitleaksText, widened}, source{stetText, nil})
	})
	likelyRules = sync.OnceValue(func() *ruleSet {
		set := mustParse(source{likelyText, nil})
		set.more = proven
		return set
	})
)

// A source is a file of rules, and what is done to a line with an expression before that is
// compiled; nil for nothing. Most expressions are never asked for.
type source struct {
	text    string
	replace func() *strings.Replacer
}

func mustParse(sources ...source) *ruleSet {
	set, err := parseRules(sources...)
	if err != nil {
		panic(err) // the files are part of the program and tested
	}
	return set
}

// widened makes gitleaks' expressions, which are for source files, hold in prose,
// Markdown, tables and URLs: a token ends at what cannot belong to it, emphasis
// may stand around it and around its name, and "is" assigns.
var widened = sync.OnceValue(func() *strings.Replacer {
	const gap, value = `[\s'"]{0,3}`, `[\x60'"\s=]{0,5}`
	return strings.NewReplacer("(?:[\\x60'\"\\s;]|\\\\[nr]|$)", `(?:[^0-9A-Za-z+=~-]|$)`,
		gap+operator+value, "[\\s'\"\\x60*_)\\]]{0,4}(?:=|>|:{1,3}=|\\|\\|?|:|=>|\\?=|,|is\\s)[\\x60'\"\\s=*_<(\\[|]{0,6}",
		`expr \b(`, `expr (?:\b|_)(`, ")\\b\n", ")(?:\\b|_)\n")
})

// operator is what stands between a name and its secret in most of gitleaks' rules.
const operator = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

// lazily compiles the expression behind a key.
func (s source) lazily(key, expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		if s.replace != nil {
			line := s.replace().Replace(key + " " + expr + "\n")
			expr = line[len(key)+1 : len(line)-1]
		}
		return regexp.MustCompile(expr)
	})
}

// parseRules reads the form that generate_test.go writes: one "key value" a
// line, "rule ID" begins a rule, or goes on with it, "allow" an allowance of the rule it
// stands in.
func parseRules(sources ...source) (*ruleSet, error) {
	set, known := &ruleSet{}, map[string]int{}
	for _, s := range sources {
		if err := set.parse(s, known); err != nil {
			return nil, err
		}
	}
	set.index = newKeywordIndex(set.rules)
	return set, nil
}

func (set *ruleSet) parse(s source, known map[string]int) error {
	set.rules = slices.Grow(set.rules, strings.Count(s.text, "\nrule ")+1)
	var at *rule // nil: what holds for all
	var allow *allowance
	for line := range strings.Lines(s.text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "" || key == "#" || key == "global":
		case key == "rule":
			i, again := known[value]
			if !again {
				i, set.rules = len(set.rules), append(set.rules, rule{id: value})
				known[value] = i
			}
			at, allow = &set.rules[i], nil
		case key == "allow" && at == nil:
			set.global = append(set.global, allowance{})
			allow = &set.global[len(set.global)-1]
		case key == "allow":
			at.allow = append(at.allow, allowance{})
			allow = &at.allow[len(at.allow)-1]
		case allow != nil:
			if err := allow.set(s, key, value); err != nil {
				return err
			}
		default:
			if err := at.set(s, key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rule) set(s source, key, value string) (err error) {
	switch key {
	case "expr":
		r.expr = s.lazily(key, value)
	case "path":
		r.path = s.lazily(key, value)
	case "keyword":
		if r.keywords = append(r.keywords, value); len(value) == 2 && r.run == 0 {
			r.run = 24 // the rules with so short ones are about longer tokens
		}
	case "entropy":
		r.entropy, err = strconv.ParseFloat(value, 64)
	case "secretgroup":
		r.group, err = strconv.Atoi(value)
	case "span":
		r.span, err = strconv.Atoi(value)
	case "also":
		r.also = append(r.also, value)
	case "besides":
		r.besides = append(r.besides, strings.Fields(value)...)
	case "next":
		r.next = value
	case "token":
		r.token, err = strconv.Atoi(value)
	case "run":
		r.run, err = strconv.Atoi(value)
	case "check":
		if r.check = checks()[value]; r.check == nil {
			err = fmt.Errorf("rule %s: unknown check %q", r.id, value)
		}
	case "behind":
		r.behind = true
	case "operator":
		r.operator = true
	case "weak":
		r.weak = true
	case "certain":
		r.certain = value
	default:
		return fmt.Errorf("rule %s: unknown key %q", r.id, key)
	}
	return err
}

func (a *allowance) set(s source, key, value string) error {
	switch key {
	case "regex":
		a.regexes = append(a.regexes, s.lazily(key, value))
	case "target":
		a.target = value
	case "stop":
		a.stop = sync.OnceValue(func() *keywordIndex {
			return newKeywordIndex([]rule{{keywords: strings.Fields(value)}})
		})
	case "never":
		a.never = true
	default:
		return fmt.Errorf("allowance: unknown key %q", key)
	}
	return nil
}

// covers reports whether an allowance says that a match is no secret.
func (a *allowance) covers(secret, match string, line *context) bool {
	switch {
	case a.never:
		return false
	case a.target == "match":
		return a.met(match) || a.sample(secret)
	case a.target != "line":
		return a.met(secret) || a.sample(secret)
	}
	allows, known := line.allows[a]
	if !known {
		allows = a.met(line.text)
		line.allows[a] = allows
	}
	return allows || a.sample(secret)
}

func (a *allowance) met(text string) bool {
	return slices.ContainsFunc(a.regexes, func(re func() *regexp.Regexp) bool { return re().MatchString(text) })
}

// sample reports whether a secret has one of the words of samples in it.
func (a *allowance) sample(secret string) (found bool) {
	if a.stop != nil {
		a.stop().find(secret, func(int, int, []int) { found = true })
	}
	return found
}
