package merge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stet/curator/fork"
	"stet/templates"
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
	into := map[string][]Class{}
	for _, c := range consolidated {
		into[c.Into] = append(into[c.Into], c)
	}
	for _, name := range slices.Sorted(maps.Keys(into)) {
		j.umbrella(name, into[name])
	}
	for _, p := range pruned {
		j.prune(p)
	}
	j.claims(block, removed)
	return j.plan
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

// umbrella judges one umbrella and all that went into it. What is wrong with it as a whole is told of each skill, with
// all that is wrong with the others.
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
	if j.Note == nil {
		u = carried(u, sources)
	}
	in := stand{into: u, whole: know(u, nil)}
	if j.Note == nil {
		in.at, in.common = layoutOf(u, names), commonOf(sources)
	}
	j.one.lines, j.one.lost = 0, 0
	for _, s := range sources {
		j.one.lines += Lines(s)
	}
	extra, faults := j.wholly(u, was, sources, in)
	if len(faults) == 0 && j.Note == nil {
		var why error
		if u, why = licensed(without(u, extra), was, sources); why != nil {
			faults = append(faults, "it cannot have the licences of the skills in it: "+why.Error())
		}
	}
	gone := broken(u, sources, j.exists(j.before), j.exists(j.after))
	if gone[""] != "" {
		faults = append(faults, "a link in it leads nowhere: "+gone[""])
	}
	if was.Files != nil && gone[name] != "" {
		faults = append(faults, "a link of its own leads nowhere any more: "+gone[name])
	}
	m, own := Merge{Umbrella: u, Before: was}, map[string][]string{}
	var covers []Coverage
	for _, c := range all {
		s := j.before[c.Name]
		covered := cover(s, in.of(c.Name))
		if j.Note != nil {
			covered = ofNote(covered, s, u)
		}
		covers, own[c.Name] = append(covers, covered), j.lacks(s, in, covered, gone[c.Name])
	}
	j.plan.Coverage = append(j.plan.Coverage, covers...)
	for i, c := range all {
		v := Verdict{Class: c, Veto: cmp.Or(whole(name, faults, all, own), together(own[c.Name]),
			j.loses(name, covers[i]))}
		if v.Veto == "" {
			v.Applied, j.lost, j.one.lost = true, j.lost+covers[i].lost, j.one.lost+covers[i].unsaid
			m.Absorbed, m.Reasons = append(m.Absorbed, j.before[c.Name]), append(m.Reasons, c.Reason)
		}
		j.plan.Consolidated = append(j.plan.Consolidated, v)
	}
	j.merge(m, extra)
}

// merge notes a merge, unless it only renames a skill.
func (j *judging) merge(m Merge, extra []unit) {
	if name := m.Umbrella.Name; m.Before.Files == nil && len(m.Absorbed) == 1 {
		v := &j.plan.Consolidated[slices.IndexFunc(j.plan.Consolidated, func(v Verdict) bool {
			return v.Name == m.Absorbed[0].Name
		})]
		v.Applied, m.Absorbed = false, nil
		v.Veto = "nothing else went into " + name + ", which is new: that only renames it"
	}
	if len(m.Absorbed) == 0 {
		return
	}
	j.plan.Merges = append(j.plan.Merges, m)
	for _, one := range extra {
		j.plan.Claims = append(j.plan.Claims, Claim{m.Umbrella.Name, "says below its title: " + quoted(one.text),
			"that line was left out, for no skill in it says so"})
	}
}

// maxFaults is how many of what is wrong with an umbrella are told.
const maxFaults = 10

// together are faults as one text.
func together(faults []string) string {
	if n := len(faults) - maxFaults; n > 0 {
		faults = append(slices.Clone(faults[:maxFaults]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(faults, "; ")
}

// whole is what is wrong with an umbrella as one text, and of each skill that goes into it, "" where it is well itself.
func whole(name string, faults []string, all []Class, own map[string][]string) string {
	if len(faults) == 0 {
		return ""
	}
	for _, c := range all {
		for _, fault := range own[c.Name] {
			faults = append(faults, c.Name+": "+fault)
		}
	}
	return name + " is not as it has to be: " + together(faults)
}

// lacks are why one skill does not go into an umbrella; link is one of its own that leads nowhere there.
func (j *judging) lacks(s fork.Skill, in stand, covered Coverage, link string) (faults []string) {
	if why := j.Closed(s.Name, s.Folder); why != "" {
		faults = append(faults, why)
	}
	faults = append(faults, below(covered, j.Floors)...)
	if j.Note == nil {
		if why := section(in.into, s, in.at); why != "" {
			faults = append(faults, why)
		}
		if step := in.disorder(s); step != "" {
			faults = append(faults, "its steps stand in another order: "+first(step))
		}
	}
	if link != "" {
		faults = append(faults, "a link of it leads nowhere in "+in.into.Name+": "+link)
	}
	return faults
}

// loses is why one skill more would be too much of a loss, "" where it is not.
func (j *judging) loses(into string, covered Coverage) string {
	lost, one := j.lost+covered.lost, j.one.lost+covered.unsaid
	switch {
	case float64(lost) > j.Floors.Loss*float64(j.Lines):
		return fmt.Sprintf("the run would lose %d of %s", lost, templates.Plural(j.Lines, "line"))
	case j.Note == nil && float64(one) > j.Floors.Loss*float64(j.one.lines):
		return fmt.Sprintf("%s would lose %d of %s of what went into it", into, one,
			templates.Plural(j.one.lines, "line"))
	}
	return ""
}

// without is an umbrella without some lines of its SKILL.md, which are in order.
func without(u fork.Skill, extra []unit) fork.Skill {
	lines := strings.Split(string(u.Files[skill.File].Data), "\n")
	for _, one := range slices.Backward(extra) {
		end := one.line + strings.Count(one.raw, "\n")
		alone := one.line < 2 || strings.TrimSpace(lines[one.line-2]) == ""
		if end < len(lines) && alone && strings.TrimSpace(lines[end]) == "" {
			end++
		}
		lines = slices.Delete(lines, one.line-1, end)
	}
	u.Files = maps.Clone(u.Files)
	u.Files[skill.File] = fork.File{Data: []byte(strings.Join(lines, "\n"))}
	return u
}

// wholly are why nothing may go into an umbrella, and which lines it should not have.
func (j *judging) wholly(u, was fork.Skill, sources []fork.Skill, in stand) (extra []unit, faults []string) {
	if why := j.Closed(u.Name, u.Folder); why != "" {
		return nil, []string{why}
	}
	if was.Files != nil {
		own := cover(was, in.of(""))
		for _, why := range below(own, j.Floors) {
			faults = append(faults, "of what it said itself "+why)
		}
		if j.lost += own.lost; float64(j.lost) > j.Floors.Loss*float64(j.Lines) {
			j.lost -= own.lost
			faults = append(faults, "it loses too much of what it said itself")
		}
		j.one.lost = own.unsaid
	}
	if j.Note != nil {
		if why := j.Note(u, sources); why != "" {
			faults = append(faults, why)
		}
		return nil, faults
	}
	extra, why := form(u, sources, in.at)
	return extra, append(faults, why...)
}

// below says what of a coverage is below its floors.
func below(c Coverage, f Floors) (faults []string) {
	for i, one := range []struct {
		what     string
		is, most float64
	}{{"lines", c.Lines, f.Lines}, {"typed values", c.Values, f.Values}, {"code blocks and files", c.Code, f.Code}} {
		if one.is < one.most {
			faults = append(faults, fmt.Sprintf("%.0f %% of its %s stand in %s, and %.0f %% have to; missing is %s",
				100*one.is, one.what, c.Into, 100*one.most, c.first[i]))
		}
	}
	if c.bound != "" {
		faults = append(faults, fmt.Sprintf("a line that forbids or bounds something has to stand in %s, and does "+
			"not: %s", c.Into, first(c.bound)))
	}
	return faults
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
		v.Veto = fmt.Sprintf("the run would lose %d of %s", lost, templates.Plural(j.Lines, "line"))
	default:
		v.Applied, j.lost = true, lost
		j.plan.Prunes = append(j.plan.Prunes, Prune{s, c.Reason})
	}
	j.plan.Pruned = append(j.plan.Pruned, v)
}
