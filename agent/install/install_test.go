package install_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"stet/agent/install"
)

func mine(name string, value any) bool {
	switch v := value.(type) {
	case string:
		return strings.HasPrefix(v, "mcp__stet__")
	case map[string]any:
		command, _ := v["command"].(string)
		return strings.HasPrefix(command, "/bin/stet")
	}
	return false
}

var places = []install.Selector{
	{Keys: []string{"mcpServers"}, Owns: mine},
	{Keys: []string{"hooks", "*"}, Owns: mine},
	{Keys: []string{"permissions", "allow"}, Owns: mine},
}

func server(at string) install.Entry {
	return install.Entry{Keys: []string{at}, Name: "stet",
		Value: install.Map{{Key: "command", Value: "/bin/stet"}, {Key: "args", Value: []any{"mcp"}}}}
}

func hook(event string) install.Entry {
	return install.Entry{Keys: []string{"hooks", event},
		Value: install.Map{{Key: "command", Value: "/bin/stet hook " + event}, {Key: "timeout", Value: 5}}}
}

func allowed(tool string) install.Entry {
	return install.Entry{Keys: []string{"permissions", "allow"}, Value: "mcp__stet__" + tool}
}

func all() []install.Entry {
	return []install.Entry{server("mcpServers"), hook("Stop"), hook("SessionStart"), allowed("a"), allowed("b")}
}

// added adds entries, and checks that taking them out gives back the bytes.
func added(t interface {
	Helper()
	Fatalf(string, ...any)
}, format install.Format, in []byte, entries []install.Entry, at []install.Selector) []byte {
	t.Helper()
	out, err := install.File{Format: format, Selectors: at}.Add(in, entries)
	if err != nil {
		t.Fatalf("add to %q: %v", in, err)
	}
	back, err := install.File{Format: format, Selectors: at}.Remove(out)
	if err != nil || !bytes.Equal(back, in) || (back == nil) != (in == nil) {
		t.Fatalf("%q\nbecame %q\nand then %q (%v)", in, out, back, err)
	}
	return out
}

func TestJSONIsAddedAndTakenOutByBytes(t *testing.T) {
	t.Parallel()
	const whole = `{
  "mcpServers": {
    "stet": {
      "command": "/bin/stet",
      "args": [
        "mcp"
      ]
    }
  }
}
`
	for in, want := range map[string]string{
		"(none)":   whole,
		"":         strings.TrimSuffix(whole, "\n"),
		"\n":       "\n" + strings.TrimSuffix(whole, "\n"),
		"\ufeff":   "\ufeff" + strings.TrimSuffix(whole, "\n"),
		`{"a":1}`:  `{"a":1, "mcpServers": { "stet": { "command": "/bin/stet", "args": [ "mcp" ] } }}`,
		`{"a":1,}`: `{"a":1, "mcpServers": { "stet": { "command": "/bin/stet", "args": [ "mcp" ] } },}`,
		`{"a":1 //x` + "\n}": `{"a":1, //x` + "\n" + `  "mcpServers": {` + "\n" + `    "stet": {` + "\n" +
			`      "command": "/bin/stet",` + "\n" + `      "args": [` + "\n" + `        "mcp"` +
			"\n      ]\n    }\n  }\n}",
		"{\n\t\"mcpServers\": {}\n}": "{\n\t\"mcpServers\": {\"stet\": {\n\t\t\"command\": \"/bin/stet\",\n" +
			"\t\t\"args\": [\n\t\t\t\"mcp\"\n\t\t]\n\t}}\n}",
		"{\r\n \"mcpServers\": {\r\n  \"x\": {} // y\r\n }\r\n}\r\n": "{" +
			"\r\n \"mcpServers\": {\r\n  \"x\": {}, // y\r\n" +
			"  \"stet\": {\r\n   \"command\": \"/bin/stet\",\r\n   \"args\": [\r\n    \"mcp\"\r\n" +
			"   ]\r\n  }\r\n }\r\n}\r\n",
	} {
		data := []byte(in)
		if in == "(none)" {
			data = nil
		}
		out := added(t, install.JSON, data, []install.Entry{server("mcpServers")}, places)
		if string(out) != want {
			t.Errorf("%q\n got %q\nwant %q", in, out, want)
		}
	}
}

// What is malformed, or something else than it should be, is named with its place.
func TestWrongFilesAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format install.Format
		in     string
		line   int
		column int
	}{
		{install.JSON, "{\n  \"a\": nope\n}", 2, 8},
		{install.JSON, `{"a":1`, 1, 7},
		{install.JSON, `[]`, 1, 1},
		{install.JSON, `"x"`, 1, 1},
		{install.JSON, `{"hooks": null, "mcpServers": 3}`, 1, 31},
		{install.JSON, "{\n \"hooks\": null}", 2, 11},
		{install.JSON, `{"hooks": {"Stop": {}}}`, 1, 20},
		{install.JSON, `{"permissions": {"allow": null}}`, 1, 27},
		{install.TOML, "a = 1\nb = \n", 2, 5},
		{install.TOML, "mcpServers = {}\n", 1, 1},
		{install.YAML, "a: 1\n b: 2\n", 2, 1},
		{install.YAML, "a: [1\n", 1, 1},
		{install.YAML, "- a\n", 1, 1},
		{install.YAML, "hooks: {}\n", 1, 8},
		{install.YAML, "a: 1\nhooks:\n  Stop: x\n", 3, 9},
		{install.YAML, "mcpServers: &x\n  a: {}\nb: *x\nhooks: *x\n", 1, 13},
	} {
		entries := all()
		if c.format == install.TOML {
			entries = entries[:1]
		}
		_, err := install.File{Format: c.format, Selectors: places}.Add([]byte(c.in), entries)
		at, ok := errors.AsType[*install.PositionError](err)
		if !ok || at.Line != c.line || at.Column != c.column {
			t.Errorf("%s %q: %v, want line %d, column %d", c.format, c.in, err, c.line, c.column)
		}
	}
}

// What others say around ours, and later, stays.
func TestOthersStayWhenOursIsTakenOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format   install.Format
		in, want string
	}{
		{install.JSON, "{\n  \"mcpServers\": {\n    \"stet\": {\"command\": \"/bin/stet\"}, // mine\n" +
			"    \"x\": {}\n  }\n}",
			"{\n  \"mcpServers\": { // mine\n    \"x\": {}\n  }\n}"},
		{install.JSON, "{ // a\n  \"permissions\": {\"allow\": [\"mcp__stet__a\", \"Bash\"]}}",
			"{ // a\n  \"permissions\": {\"allow\": [ \"Bash\"]}}"},
		{install.JSON, "{\"hooks\": {\"Stop\": [ // a\n {\"command\": \"/bin/stet\"}, {\"command\": \"x\"}]}}",
			"{\"hooks\": {\"Stop\": [ // a\n  {\"command\": \"x\"}]}}"},
		{install.JSON, `{ "hooks": { "Stop": [ {"command": "/bin/stet"} /* why */ ] } }`,
			`{ "hooks": { "Stop": [ /* why */ ] } }`},
		{install.TOML, "[mcpServers.stet]\ncommand = \"/bin/stet\"\n# own\n" +
			"[mcpServers.stet.tools.x]\na = 1 # b\n\n[z]\n",
			"# own\n\n[z]\n"},
		{install.YAML, "hooks:\n  Stop:\n  - command: /bin/stet\n    timeout: 3\n  # c\n  - command: x\n",
			"hooks:\n  Stop:\n  # c\n  - command: x\n"},
		{install.YAML, "mcpServers:\n  stet:\n    command: /bin/stet\n    text: |\n      a\n\n      b\n" +
			"\n  # c\n  x:\n    a: 1\n",
			"mcpServers:\n\n  # c\n  x:\n    a: 1\n"},
	} {
		out, err := install.File{Format: c.format, Selectors: places}.Remove([]byte(c.in))
		if err != nil || string(out) != c.want {
			t.Errorf("%q\n got %q\nwant %q (%v)", c.in, out, c.want, err)
		}
	}
}

// documents of TestWhatIsAddedIsTakenOut are written with all that a format allows between tokens.
type writer struct {
	t   *rapid.T
	eol string
}

func (w writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "text") }

func (w writer) extra() string {
	return w.pick("", "", " ", "\t", w.eol, w.eol+"   ", " /* c */ ", " // d"+w.eol,
		w.eol+w.eol+"\t// {\"e\","+w.eol+" ")
}

func (w writer) json(depth int) string {
	kinds := []string{"1", "-2.5e3", "true", "null", `"s"`, `"\"}//é"`, `"/bin/other"`}
	if depth > 0 {
		kinds = append(kinds, "{", "{", "[", "[")
	}
	switch k := w.pick(kinds...); k {
	case "{":
		return w.object(depth, w.keys("a", "b", "command", "stet", "x y"))
	case "[":
		return w.list(depth)
	default:
		return k
	}
}

func (w writer) keys(of ...string) map[string]func() string {
	out := map[string]func() string{}
	for _, k := range of {
		out[k] = nil
	}
	return out
}

func (w writer) object(depth int, keys map[string]func() string) string {
	var items []string
	for _, k := range sorted(keys) {
		if !rapid.Bool().Draw(w.t, "there") {
			continue
		}
		value := keys[k]
		if value == nil {
			value = func() string { return w.json(depth - 1) }
		}
		items = append(items, w.extra()+fmt.Sprintf("%q", k)+w.extra()+":"+w.extra()+value()+w.extra())
	}
	return w.join("{", items, "}")
}

func (w writer) list(depth int) string {
	var items []string
	for range rapid.IntRange(0, 3).Draw(w.t, "items") {
		items = append(items, w.extra()+w.json(depth-1)+w.extra())
	}
	return w.join("[", items, "]")
}

func (w writer) join(open string, items []string, shut string) string {
	text := open + strings.Join(items, ",")
	if len(items) == 0 {
		return text + w.extra() + shut
	}
	return text + w.pick("", "", ","+w.extra()) + shut
}

func (w writer) document() string {
	list := func() string { return w.list(2) }
	hooks := func() string {
		return w.object(2, map[string]func() string{"Stop": list, "SessionStart": list, "Other": nil})
	}
	return w.extra() + w.object(3, map[string]func() string{
		"mcpServers":  func() string { return w.object(2, w.keys("a", "github")) },
		"hooks":       hooks,
		"permissions": func() string { return w.object(2, map[string]func() string{"allow": list, "deny": list}) },
		"model":       nil, "z": nil,
	}) + w.extra()
}

func sorted(m map[string]func() string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

func decodeJSON(t *rapid.T, data []byte) (out any) {
	plain, err := hujson.Standardize(bytes.Clone(data))
	if err == nil {
		err = json.Unmarshal(plain, &out)
	}
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return out
}

func TestWhatIsAddedToJSONIsTakenOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := writer{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")}
		in := []byte(w.document())
		out := added(t, install.JSON, in, all(), places)
		// What was there is there, and in the same order.
		was, is := decodeJSON(t, in).(map[string]any), decodeJSON(t, out).(map[string]any)
		for k, v := range was {
			if k != "mcpServers" && k != "hooks" && k != "permissions" && !reflect.DeepEqual(v, is[k]) {
				t.Fatalf("%q\n%q: %s changed", in, out, k)
			}
		}
		for _, place := range [][2]string{{"hooks", "Stop"}, {"hooks", "SessionStart"}, {"permissions", "allow"}} {
			inner := func(m map[string]any) []any {
				m, _ = m[place[0]].(map[string]any)
				list, _ := m[place[1]].([]any)
				return list
			}
			if have, now := inner(was), inner(is); len(have) > 0 && !reflect.DeepEqual(have, now[:len(have)]) {
				t.Fatalf("%q\n%q: %v changed", in, out, place)
			}
		}
	})
}

// cut leaves out the last line end, or not.
func (w writer) cut(text string) string {
	if rapid.Bool().Draw(w.t, "cut") {
		return strings.TrimSuffix(text, w.eol)
	}
	return text
}

func (w writer) toml() string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + w.pick("", " ", " # c") + w.eol) }
	space := func() { b.WriteString(w.pick("", "", w.eol, "# [mcpServers.stet]"+w.eol, "  "+w.eol)) }
	value := func() string {
		return w.pick("1", `"s"`, "'l'", "[1, 2]", `{a = 1}`, "true", "1979-05-27",
			"[\n 1, # x\n]", "\"\"\"\n[x]\n\"\"\"")
	}
	for i := range rapid.IntRange(0, 2).Draw(w.t, "keys") {
		space()
		line(fmt.Sprintf("k%d = %s", i, value()))
	}
	for _, table := range strings.Fields("[mcpServers] [mcpServers.x] [mcpServers.x.env] [[list]] [[list]] [z]") {
		if space(); rapid.Bool().Draw(w.t, table) {
			line(table)
			for i := range rapid.IntRange(0, 2).Draw(w.t, "keys") {
				line(fmt.Sprintf("  k%d = %s", i, value()))
			}
		}
	}
	return w.cut(b.String())
}

func TestWhatIsAddedToTOMLIsTakenOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(writer{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")}.toml())
		out := added(t, install.TOML, in, all()[:1], places)
		var was, is map[string]any
		if err := errors.Join(toml.Unmarshal(in, &was), toml.Unmarshal(out, &is)); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		servers := is["mcpServers"].(map[string]any)
		delete(servers, "stet")
		if was["mcpServers"] == nil {
			delete(is, "mcpServers")
		}
		if !reflect.DeepEqual(was, is) && len(was)+len(is) > 0 {
			t.Fatalf("%q\n%q", in, out)
		}
	})
}

func (w writer) yaml() string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + w.pick("", " ", " # c") + w.eol) }
	space := func() { b.WriteString(w.pick("", "", w.eol, "# hooks:"+w.eol, "   "+w.eol)) }
	value := func(in string) string {
		return w.pick("1", "s", `"q: x"`, "{a: 1}", "[1, 2]", w.eol+in+"  deep: 1",
			w.eol+in+"  - 1"+w.eol+in+"  - b: 2",
			"|"+w.eol+in+"   t: 1"+w.eol+w.eol+in+"   u")
	}
	step := w.pick("  ", "    ")
	if rapid.Bool().Draw(w.t, "head") {
		line("---")
	}
	for _, key := range []string{"model", "mcpServers", "hooks", "z"} {
		if space(); !rapid.Bool().Draw(w.t, key) {
			continue
		}
		switch key {
		case "mcpServers":
			line("mcpServers:")
			for _, name := range []string{"a", "b"} {
				if space(); rapid.Bool().Draw(w.t, name) {
					line(step + name + ": " + value(step))
				}
			}
		case "hooks":
			line("hooks:")
			for _, event := range []string{"Stop", "Other"} {
				space()
				if !rapid.Bool().Draw(w.t, event) {
					continue
				}
				line(step + event + ":")
				in := step + w.pick("", "  ")
				for range rapid.IntRange(0, 2).Draw(w.t, "items") {
					space()
					line(in + "- command: x")
					line(in + "  timeout: 3")
				}
			}
		default:
			line(key + ": " + value(""))
		}
	}
	return w.cut(b.String())
}

func TestWhatIsAddedToYAMLIsTakenOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(writer{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")}.yaml())
		var was, is map[string]any
		if yaml.Unmarshal(in, &was) != nil {
			t.Skip("the generator wrote no YAML")
		}
		f := install.File{Format: install.YAML, Selectors: places}
		if _, err := f.Add(in, all()[:3]); bytes.Contains(in, []byte("   u")) &&
			strings.Contains(fmt.Sprint(err), "line end") {
			return // a text in a block at the end
		}
		out := added(t, install.YAML, in, all()[:3], places)
		if err := yaml.Unmarshal(out, &is); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		for k, v := range was {
			if k != "mcpServers" && k != "hooks" && !reflect.DeepEqual(v, is[k]) {
				t.Fatalf("%q\n%q: %s changed", in, out, k)
			}
		}
	})
}
