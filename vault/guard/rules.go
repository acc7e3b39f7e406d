package guard

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed rules/gitleaks.txt
var gitleaksText string

// A rule is an expression with the conditions under which its match counts.
type rule struct {
	id       string
	keywords []string // lower case; one of them stands in every match
	also     []string // lower case; one of these does as well; none: nothing is asked
	expr     func() *regexp.Regexp
	path     func() *regexp.Regexp // nil: any file
	entropy  float64               // bits a character; a match must have more
	group    int                   // of the secret; 0 = the first that is not empty
	span     int                   // line ends within a match; -1: any number
	// operator is set where every match holds an assignment or the like
	// between keyword and secret.
	operator bool
	allow    []allowance
}

// An allowance says which matches of a rule are no secrets.
type allowance struct {
	target  string // what the expressions look at: "" secret, match or line
	regexes []func() *regexp.Regexp
	stop    []string // a secret with one of these words in it is a sample
	never   bool     // bound to paths that a vault does not have
}

// ruleSet is what the scanner runs on.
type ruleSet struct {
	rules  []rule
	global []allowance
	index  keywordIndex
}

// secretRules is read once, when something is first scanned.
var secretRules = sync.OnceValue(func() *ruleSet {
	set, err := parseRules(gitleaksText)
	if err != nil {
		panic(err) // the file is part of the program and tested
	}
	return set
})

func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// parseRules reads the form that generate_test.go writes: one "key value" a
// line, "rule ID" begins a rule, "allow" an allowance of the rule it stands in.
func parseRules(text string) (*ruleSet, error) {
	set := &ruleSet{rules: make([]rule, 0, strings.Count(text, "\nrule "))}
	var at *rule // nil: what holds for all
	var allow *allowance
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "" || key == "#" || key == "global":
		case key == "rule":
			set.rules = append(set.rules, rule{id: value})
			at, allow = &set.rules[len(set.rules)-1], nil
		case key == "allow" && at == nil:
			set.global = append(set.global, allowance{})
			allow = &set.global[len(set.global)-1]
		case key == "allow":
			at.allow = append(at.allow, allowance{})
			allow = &at.allow[len(at.allow)-1]
		case allow != nil:
			if err := allow.set(key, value); err != nil {
				return nil, err
			}
		default:
			if err := at.set(key, value); err != nil {
				return nil, err
			}
		}
	}
	set.index = newKeywordIndex(set.rules)
	return set, nil
}

func (r *rule) set(key, value string) (err error) {
	switch key {
	case "expr":
		r.expr = lazily(value)
	case "path":
		r.path = lazily(value)
	case "keyword":
		r.keywords = append(r.keywords, value)
	case "entropy":
		r.entropy, err = strconv.ParseFloat(value, 64)
	case "secretgroup":
		r.group, err = strconv.Atoi(value)
	case "span":
		r.span, err = strconv.Atoi(value)
	case "operator":
		r.operator = true
	default:
		return fmt.Errorf("rule %s: unknown key %q", r.id, key)
	}
	return err
}

func (a *allowance) set(key, value string) error {
	switch key {
	case "regex":
		a.regexes = append(a.regexes, lazily(value))
	case "target":
		a.target = value
	case "stop":
		a.stop = strings.Fields(value)
	case "never":
		a.never = true
	default:
		return fmt.Errorf("allowance: unknown key %q", key)
	}
	return nil
}

// covers reports whether an allowance says that a match is no secret.
func (a *allowance) covers(secret, match, line string) bool {
	if a.never {
		return false
	}
	target := secret
	switch a.target {
	case "match":
		target = match
	case "line":
		target = line
	}
	for _, re := range a.regexes {
		if re().MatchString(target) {
			return true
		}
	}
	lower := strings.ToLower(secret)
	for _, word := range a.stop {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
