package console

import (
	"context"
	"slices"
	"strings"

	"stet/agent"
)

// A Verb is one of the things that a command does, named by its first argument.
type Verb struct {
	Name     string
	Args     string // what stands behind it, "" for nothing
	Min, Max int    // how many arguments; a negative Max is any number
	Flags    string // the names of the flags that go with it, with spaces between them
	Run      func(ctx context.Context, e *Env, in *Input, words []string) error
}

// takes says whether the flag of that name goes with the verb.
func (v Verb) takes(flag string) bool { return slices.Contains(strings.Fields(v.Flags), flag) }

// VerbNames lists the verbs of a command.
func (c *Command) VerbNames() []string {
	var out []string
	for _, v := range c.Verbs {
		out = append(out, v.Name)
	}
	return out
}

// RunVerb runs the verb that the first argument names, the first verb without arguments. It refuses
// a flag that means nothing to the verb: it would be a filter that does not filter.
func RunVerb(ctx context.Context, e *Env, in *Input) error {
	c, v, words := in.Definition, in.Definition.Verbs[0], in.Words
	if len(words) > 0 {
		i := slices.Index(c.VerbNames(), words[0])
		if i < 0 {
			return c.unknownVerb(words[0])
		}
		v, words = c.Verbs[i], words[1:]
	}
	if len(words) < v.Min || v.Max >= 0 && len(words) > v.Max {
		usage := strings.TrimSpace("stet " + c.Name + " " + v.Name + " " + v.Args)
		return agent.Usagef("wrong number of arguments for %s %s", c.Name, v.Name).
			Suggest("usage: %s; quote text that has spaces", usage)
	}
	for _, f := range c.Flags {
		name := f.Names()[0]
		if !in.IsSet(name) || v.takes(name) || name == "as" {
			continue
		}
		var with []string
		for _, other := range c.Verbs {
			if other.takes(name) {
				with = append(with, other.Name)
			}
		}
		return agent.Usagef("%s does not go with %s", dashed(name), v.Name).
			Suggest("it goes with %s", strings.Join(with, ", "))
	}
	return v.Run(ctx, e, in, words)
}

func (c *Command) unknownVerb(word string) error {
	err := agent.Usagef("stet %s has no action %q", c.Name, word)
	if near := agent.Nearest(word, c.VerbNames()); near != "" {
		return err.Suggest("did you mean \"stet %s %s\"?", c.Name, near)
	}
	return err.Suggest("one of %s; \"stet %s --help\" has examples", strings.Join(c.VerbNames(), ", "), c.Name)
}
