package merge

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stet/curator/fork"
	"stet/vault"
	"stet/vault/skill"
)

// Floors are the least shares of what a skill says that have to stand in the one that absorbs it, and the largest
// share of what all skills say that a run may take out of the live ones.
type Floors struct{ Lines, Values, Code, Loss float64 }

// A Case is what there is to judge.
type Case struct {
	Job    fork.Job
	Result fork.Result
	Floors Floors
	Lines  int // of all skills that the curator owns, those of the job among them
	// Exists says of a file or folder outside of the skills of the job whether it is there.
	Exists func(vault.Path) bool
	// Used are the skills that were used so lately that they are not pruned.
	Used map[string]bool
	// Closed says why a skill of the job must not be touched any more, or why no new one may have that name or
	// folder; "" is none.
	Closed func(name string, folder vault.Path) string
	// Note, where it is set, says in place of the rules for umbrellas what is wrong with a memory that others became.
	Note func(note fork.Skill, sources []fork.Skill) string
}

// A Verdict is a class, and whether it is done.
type Verdict struct {
	Class
	Applied bool   `json:"applied"`
	Veto    string `json:"veto,omitempty"` // why it is not
}

// A Merge is an umbrella and the skills that go into it.
type Merge struct {
	Umbrella fork.Skill
	Before   fork.Skill // as the job has it; without files it is new
	Absorbed []fork.Skill
	Reasons  []string // of each of Absorbed
}

// A Prune is a skill that is archived without a successor.
type Prune struct {
	fork.Skill
	Reason string
}

// A Claim is something that the model says it did, or did, and that was not done.
type Claim struct {
	Name    string `json:"name"`
	Claimed string `json:"claimed"`
	Done    string `json:"done"`
}

// A Plan is what is to be done of what a model did, and what is told of it. Nothing of it is done yet.
type Plan struct {
	Merges       []Merge // by name of the umbrella
	Prunes       []Prune
	Calls        []fork.Call // with the refusals of the curator's own desk
	Consolidated []Verdict
	Pruned       []Verdict
	Coverage     []Coverage
	Claims       []Claim
}

// judging is a case under way.
type judging struct {
	Case
	before map[string]fork.Skill
	after  map[string]fork.Skill
	lost   int
	one    struct{ lines, lost int } // of the umbrella that is judged: the lines of what goes into it
	plan   Plan
}

// Judge makes the calls of a result again, on a desk of its own, and decides what of that is done.
func Judge(c Case) Plan {
	j := &judging{Case: c, before: map[string]fork.Skill{}, after: map[string]fork.Skill{}}
	desk := fork.NewDesk(c.Job)
	for _, call := range c.Result.Calls {
		if call.Error == "" {
			if _, err := desk.Do(call); err != nil {
				call.Error = err.Error()
			}
		}
		j.plan.Calls = append(j.plan.Calls, call)
	}
	for _, s := range c.Job.Skills {
		j.before[s.Name] = s
	}
	there := map[string]bool{}
	for _, s := range desk.Skills() {
		j.after[s.Name], there[s.Name] = s, true
	}
	declared := map[string]fork.Removal{}
	var removed []string
	for _, r := range desk.Removed() {
		if _, was := j.before[r.Name]; was && !there[r.Name] {
			removed, declared[r.Name] = append(removed, r.Name), r
		}
	}
	slices.Sort(removed)
	block := ParseBlock(c.Result.Final)
	consolidated, pruned := Reconcile(removed, Heuristic(removed, j.plan.Calls, there), block, there, declared)
	for into, all := range umbrellas(consolidated) {
		j.umbrella(into, all)
	}
	for _, p := range pruned {
		j.prune(p)
	}
	j.claims(block, removed)
	return j.plan
}

// umbrellas yields the consolidations by where they went, in the order of those names.
func umbrellas(all []Class) func(func(string, []Class) bool) {
	into := map[string][]Class{}
	for _, c := range all {
		into[c.Into] = append(into[c.Into], c)
	}
	return func(yield func(string, []Class) bool) {
		for _, name := range slices.Sorted(maps.Keys(into)) {
			if !yield(name, into[name]) {
				return
			}
		}
	}
}

// exists is what there is in the vault once the skills of the desk stand there.
func (j *judging) exists(skills map[string]fork.Skill) func(vault.Path) bool {
	return func(p vault.Path) bool {
		for _, s := range skills {
			for file := range s.Files {
				at := s.Folder + "/" + vault.Path(file)
				if at == p || len(at) > len(p) && at[:len(p)] == p && at[len(p)] == '/' {
					return true
				}
			}
		}
		return j.Exists(p)
	}
}

// umbrella judges one umbrella and all that went into it.
func (j *judging) umbrella(name string, all []Class) {
	u, was := j.after[name], j.before[name]
	var sources []fork.Skill
	var names []string
	for _, c := range all {
		sources, names = append(sources, j.before[c.Name]), append(names, c.Name)
	}
	if was.Files != nil {
		sources = append(sources, was)
	}
	in := stand{into: u, whole: know(u, nil)}
	if j.Note == nil {
		in.at, in.common = layoutOf(u, names), commonOf(sources)
	}
	j.one.lines, j.one.lost = 0, 0
	for _, s := range sources {
		j.one.lines += Lines(s)
	}
	lead, why := j.wholly(u, was, sources, in)
	if lead.text != "" && why == "" {
		u = without(u, lead)
	}
	gone := broken(u, sources, j.exists(j.before), j.exists(j.after))
	if why == "" && gone[""] != "" {
		why = "a link in it leads nowhere: " + gone[""]
	}
	if why == "" && was.Files != nil && gone[name] != "" {
		why = "a link of its own leads nowhere any more: " + gone[name]
	}
	m := Merge{Umbrella: u, Before: was}
	for _, c := range all {
		s, v := j.before[c.Name], Verdict{Class: c}
		covered := cover(s, in.of(c.Name))
		if j.Note != nil {
			covered = ofNote(covered, s, u)
		}
		j.plan.Coverage = append(j.plan.Coverage, covered)
		if v.Veto = j.veto(s, in, covered, why, gone[c.Name]); v.Veto == "" {
			v.Applied, j.lost, j.one.lost = true, j.lost+covered.lost, j.one.lost+covered.unsaid
			m.Absorbed, m.Reasons = append(m.Absorbed, s), append(m.Reasons, c.Reason)
		}
		j.plan.Consolidated = append(j.plan.Consolidated, v)
	}
	if was.Files == nil && len(m.Absorbed) == 1 {
		v := &j.plan.Consolidated[slices.IndexFunc(j.plan.Consolidated, func(v Verdict) bool {
			return v.Name == m.Absorbed[0].Name
		})]
		v.Applied, m.Absorbed = false, nil
		v.Veto = "nothing else went into " + name + ", which is new: that only renames it"
	}
	if len(m.Absorbed) == 0 {
		return
	}
	if j.plan.Merges = append(j.plan.Merges, m); lead.text != "" {
		j.plan.Claims = append(j.plan.Claims, Claim{u.Name, "says below its title: " + quoted(lead.text),
			"that line was left out, for no skill in it says so"})
	}
}

// veto is why one skill does not go into an umbrella: why of the umbrella as a whole, or a link that leads nowhere.
func (j *judging) veto(s fork.Skill, in stand, covered Coverage, why, link string) string {
	lost, one := j.lost+covered.lost, j.one.lost+covered.unsaid
	switch {
	case why != "":
		return fmt.Sprintf("%s is not as it has to be: %s", in.into.Name, why)
	case j.Closed(s.Name, s.Folder) != "":
		return j.Closed(s.Name, s.Folder)
	case below(covered, j.Floors) != "":
		return below(covered, j.Floors)
	case j.Note == nil && section(in.into, s, in.at) != "":
		return section(in.into, s, in.at)
	case j.Note == nil && in.disorder(s) != "":
		return "its steps stand in another order: " + first(in.disorder(s))
	case link != "":
		return "a link of it leads nowhere in " + in.into.Name + ": " + link
	case float64(lost) > j.Floors.Loss*float64(j.Lines):
		return fmt.Sprintf("the run would lose %d of %d lines", lost, j.Lines)
	case j.Note == nil && float64(one) > j.Floors.Loss*float64(j.one.lines):
		return fmt.Sprintf("%s would lose %d of the %d lines of what went into it", in.into.Name, one, j.one.lines)
	}
	return ""
}

// without is an umbrella without a line below its title.
func without(u fork.Skill, lead unit) fork.Skill {
	lines := strings.Split(string(u.Files[skill.File].Data), "\n")
	end := lead.line + strings.Count(lead.raw, "\n")
	if end < len(lines) && strings.TrimSpace(lines[end]) == "" {
		end++
	}
	u.Files = maps.Clone(u.Files)
	u.Files[skill.File] = fork.File{Data: []byte(strings.Join(slices.Delete(lines, lead.line-1, end), "\n"))}
	return u
}

// wholly is why nothing may go into an umbrella, and which line below its title it should not have.
func (j *judging) wholly(u, was fork.Skill, sources []fork.Skill, in stand) (lead unit, why string) {
	if why := j.Closed(u.Name, u.Folder); why != "" {
		return lead, why
	}
	if was.Files != nil {
		own := cover(was, in.of(""))
		if why := below(own, j.Floors); why != "" {
			return lead, "of what it said itself " + why
		}
		if j.lost += own.lost; float64(j.lost) > j.Floors.Loss*float64(j.Lines) {
			j.lost -= own.lost
			return lead, "it loses too much of what it said itself"
		}
		j.one.lost = own.unsaid
	}
	if j.Note != nil {
		return lead, j.Note(u, sources)
	}
	return form(u, sources, in.at)
}

// below says what of a coverage is below its floor.
func below(c Coverage, f Floors) string {
	for _, one := range []struct {
		what     string
		is, most float64
	}{{"lines", c.Lines, f.Lines}, {"typed values", c.Values, f.Values}, {"code blocks and files", c.Code, f.Code}} {
		if one.is < one.most {
			missing := ""
			if len(c.Missing) > 0 {
				missing = "; missing is " + first(c.Missing[len(c.Missing)-1])
			}
			return fmt.Sprintf("%.0f %% of its %s stand in %s, and %.0f %% have to%s", 100*one.is, one.what, c.Into,
				100*one.most, missing)
		}
	}
	if c.bound != "" {
		return fmt.Sprintf("a line that forbids or bounds something has to stand in %s, and does not: %s", c.Into,
			first(c.bound))
	}
	return ""
}

func (j *judging) prune(c Class) {
	s := j.before[c.Name]
	v, lost := Verdict{Class: c}, j.lost+Lines(s)
	switch why := j.Closed(s.Name, s.Folder); {
	case why != "":
		v.Veto = why
	case c.Source == NoEvidence, c.Hallucinated:
		v.Veto = "nothing shows where what it said went"
	case j.Used[c.Name]:
		v.Veto = "it is in use"
	case float64(lost) > j.Floors.Loss*float64(j.Lines):
		v.Veto = fmt.Sprintf("the run would lose %d of %d lines", lost, j.Lines)
	default:
		v.Applied, j.lost = true, lost
		j.plan.Prunes = append(j.plan.Prunes, Prune{s, c.Reason})
	}
	j.plan.Pruned = append(j.plan.Pruned, v)
}

// claims lists what the model says, or did, of which nothing is done.
func (j *judging) claims(block Block, removed []string) {
	add := func(name, claimed, done string) { j.plan.Claims = append(j.plan.Claims, Claim{name, claimed, done}) }
	if block.Problem != "" && len(j.plan.Calls) > 0 {
		add("", "an account of what was done", block.Problem)
	}
	into := map[string]string{}
	for _, v := range slices.Concat(j.plan.Consolidated, j.plan.Pruned) {
		into[v.Name] = v.Into
	}
	for _, c := range block.Consolidations {
		switch at, was := into[c.From]; {
		case !slices.Contains(removed, c.From):
			add(c.From, "went into "+c.Into, "it was not removed")
		case was && at == "":
			add(c.From, "went into "+c.Into, "it went into none")
		case at != c.Into:
			add(c.From, "went into "+c.Into, "it went into "+at)
		}
	}
	for _, p := range block.Prunings {
		if at := into[p.Name]; !slices.Contains(removed, p.Name) {
			add(p.Name, "pruned", "it was not removed")
		} else if at != "" {
			add(p.Name, "pruned", "it went into "+at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.after)) {
		s, was := j.after[name], j.before[name]
		used := slices.ContainsFunc(j.plan.Merges, func(m Merge) bool { return m.Umbrella.Name == name })
		if same := maps.EqualFunc(s.Files, was.Files, func(a, b fork.File) bool {
			return a.Exec == b.Exec && bytes.Equal(a.Data, b.Data)
		}); !same && !used {
			did := "changed"
			if was.Files == nil {
				did = "made"
			}
			add(name, "the model "+did+" it", "the curator did not, because nothing went into it")
		}
	}
}
