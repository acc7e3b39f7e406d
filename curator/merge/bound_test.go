package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"stet/curator/fork"
	"stet/vault"
	"stet/vault/skill"
)

// longSkills are three skills of eleven lines, one of them line, in which @ is what the skill is about, and an umbrella
// with a section for each.
func longSkills(line string) (e example, umbrella string) {
	e.skills = map[string]fork.Skill{}
	umbrella = "---\nname: restart\ndescription: Restart the api, the worker or the mailer.\n---\n# Restart\n"
	for _, what := range []string{"api", "worker", "mailer"} {
		name, text := "restart-"+what, ""
		for i, verb := range []string{"Open", "Read", "Note", "Send", "Copy", "Save", "Name", "Sort", "Keep", "Move"} {
			if i == 5 {
				text += strings.ReplaceAll(line, "@", what)
			}
			text += fmt.Sprintf("- %s the %s page of its dashboard.\n", verb, what)
		}
		says := "Restart the " + what + "."
		e.order = append(e.order, name)
		e.skills[name] = fork.Skill{Name: name, Folder: vault.Path("skills/" + name), Files: map[string]fork.File{
			skill.File: {Data: []byte("---\nname: " + name + "\ndescription: " + says + "\n---\n# Restart\n\n" +
				text)}}}
		umbrella += "\n## " + name + "\n\n" + says + "\n\n" + text
	}
	return e, umbrella
}

// A line that forbids or bounds something stays, or the skill does, though more than nine lines of ten are there.
func TestWhatForbidsOrBoundsStays(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"- Never restart the @ without asking Nora first, and never during business hours.\n",
		"- Don't touch the @.\n", "- You mustn’t touch the @ at night.\n", "- The @ only.\n",
		"- Avoid the @ in the morning.\n", "- Ask Nora before you begin with the @.\n",
		"- At most two of the @.\n", "- Fine for the @, unless Nora is away.\n", "- Drain the @ first.\n",
		"- Nicht am @.\n", "- Vorher zu @ fragen.\n", "- Das @ darf allein Nora.\n", "- Jamais le @.\n",
		"- Demander avant le @.\n", "- Nunca el @.\n", "- Siempre con el @.\n", "- Mai di @.\n",
		"- Read it. Not the @. Go on.\n", "- It is fine to open the @ and\n  close the @, but not on Fridays.\n",
		"| never | the @ |\n",
	} {
		e, umbrella := longSkills(line)
		if got := vetoes(t, e.judge(t, map[string]string{skill.File: umbrella})); len(got) > 0 {
			t.Errorf("%s: it stands: %q", line, got)
		}
		api := strings.ReplaceAll(line, "@", "api")
		for what, now := range map[string]string{
			"gone":   strings.Replace(umbrella, api, "", 1),
			"hidden": strings.Replace(umbrella, api, "<!-- Restart the api. "+strings.TrimSpace(api)+" -->\n", 1),
			"code":   strings.Replace(umbrella, api, "\n```\n"+api+"```\n\n", 1),
			"moved":  strings.Replace(umbrella, api, "", 1) + api,
		} {
			v := e.judge(t, map[string]string{skill.File: now}).Consolidated[0]
			if v.Name != "restart-api" || v.Applied {
				t.Errorf("%s: %s: %+v", line, what, v)
			}
			_, said, _ := strings.Cut(v.Veto, "has to stand in restart, and does not: ")
			if what == "gone" && (said == "" || !strings.Contains(strings.ToLower(api), said[:min(len(said), 15)])) &&
				!strings.Contains(v.Veto, "90 % have to") {
				t.Errorf("%s: %s: %s", line, what, v.Veto)
			}
		}
	}
}

// An umbrella loses no more of what goes into it than a run of all skills, headings aside.
func TestAnUmbrellaLosesLittle(t *testing.T) {
	t.Parallel()
	const item, title = "- Drink coffee with the @.\n", "\n### When to use the @\n\n"
	for line, want := range map[string]int{item: 1, title: 3} {
		e, umbrella := longSkills(line)
		e.order = append(e.order, "library")
		e.skills["library"] = fork.Skill{Name: "library", Folder: "skills/library", Files: map[string]fork.File{
			skill.File: {Data: []byte("---\nname: library\ndescription: All else.\n---\n" +
				strings.Repeat("One more line.\n", 1000))}}}
		for _, what := range []string{"api", "worker", "mailer"} {
			umbrella = strings.Replace(umbrella, strings.ReplaceAll(line, "@", what), "", 1)
		}
		applied, says := 0, ""
		for _, v := range e.judgeOf(t, map[string]string{skill.File: umbrella}, e.order[:3]).Consolidated {
			if v.Applied {
				applied++
			} else if says == "" {
				says = v.Veto
			}
		}
		if want == 3 && applied != 3 || want == 1 && (applied > 1 || says == "") {
			t.Errorf("%q: %d, %s", line, applied, says)
		}
	}
}
