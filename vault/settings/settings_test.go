package settings

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func read(t *testing.T, source Source, text string) (Layer, []Problem) {
	t.Helper()
	l, problems, err := Read(source, "f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l, problems
}

func TestTheNearestSourceDecides(t *testing.T) {
	t.Parallel()
	user, _ := read(t, User, "watch:\n  commit: true\nlock_wait: 3s\n")
	ofVault, _ := read(t, Vault, "version: 1\nwatch.commit: off\n")
	env, err := FromEnvironment(func(k string) string { return map[string]string{"STET_LOCK_WAIT": "4s"}[k] })
	if err != nil {
		t.Fatal(err)
	}
	flag := Layer{Source: Flag}.With(LockWait, "5s", "--lock-wait")
	for _, c := range []struct {
		layers []Layer
		watch  bool
		wait   time.Duration
		source Source
	}{
		{nil, false, 10 * time.Second, Default},
		{[]Layer{user}, true, 3 * time.Second, User},
		{[]Layer{user, ofVault}, false, 3 * time.Second, User},
		{[]Layer{ofVault, env, user}, false, 4 * time.Second, Environment},
		{[]Layer{user, env, flag, ofVault}, false, 5 * time.Second, Flag},
	} {
		s := Resolve(c.layers...)
		if s.Bool(WatchCommit) != c.watch || s.Duration(LockWait) != c.wait {
			t.Errorf("%d layers: watch %v, wait %v", len(c.layers), s.Bool(WatchCommit), s.Duration(LockWait))
		}
		if e := s.Entry(LockWait.key()); e.Source != c.source {
			t.Errorf("lock_wait comes from %s, want %s", e.Source, c.source)
		}
	}
	if e := Resolve(user).Entry(WatchCommit.key()); e.Origin != "f:2" {
		t.Errorf("origin %q", e.Origin)
	}
}

// A vault's value of a guarding key counts only where it is stricter.
func TestTheStricterWins(t *testing.T) {
	t.Parallel()
	words := Key{Name: "w", Type: oneOf("block", "flag", "off"), Default: "flag", Vault: true, Stricter: true}
	bytes := Key{Name: "b", Type: size(), Default: "10MiB", Vault: true, Stricter: true}
	for _, c := range []struct {
		key         Key
		user, vault string
		want        string
	}{
		{words, "", "off", "flag"}, {words, "", "block", "block"}, {words, "off", "block", "block"},
		{words, "off", "", "off"}, {words, "block", "off", "block"}, {words, "off", "flag", "flag"},
		{bytes, "", "20MiB", "10MiB"}, {bytes, "", "512", "512"}, {bytes, "20MiB", "15MiB", "15MiB"}, {bytes, "1KiB", "1MiB", "1KiB"},
	} {
		var layers []Layer
		if c.vault != "" {
			layers = append(layers, Layer{Source: Vault}.With(c.key.Name, c.vault, ""))
		}
		if c.user != "" {
			layers = append(layers, Layer{Source: User}.With(c.key.Name, c.user, ""))
		}
		if got := Resolve(layers...).Entry(c.key).Value; got != c.want {
			t.Errorf("user %q, vault %q: %q, want %q", c.user, c.vault, got, c.want)
		}
	}
}

func TestAVaultCannotSetWhatIsThePersons(t *testing.T) {
	t.Parallel()
	for _, k := range Keys() {
		text := string(k.Name) + ": " + k.Default + "\n"
		if k.Default == "" {
			text = string(k.Name) + ": /somewhere\n"
		}
		l, problems := read(t, Vault, "version: 1\n"+text)
		_, set := l.values[k.Name]
		if set != k.Vault || (len(problems) == 0) != k.Vault {
			t.Errorf("%s in a vault's file: set %v, problems %v", k.Name, set, problems)
		}
		smuggled := Layer{Source: Vault}.With(k.Name, "evil", "")
		if got := Resolve(smuggled).Entry(k); !k.Vault && got.Source != Default {
			t.Errorf("%s was decided by a vault", k.Name)
		}
	}
}

func TestProblemsAreNamedAndDoNotCount(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]Kind{
		"watch:\n  comit: true\n":                      UnknownKey,
		"lock_wait: 10\n":                              BadValue,
		"lock_wait: -1s\n":                             BadValue,
		"watch:\n  commit: perhaps\n":                  BadValue,
		"watch:\n  commit: [true]\n":                   BadValue,
		"display.color: red\n":                         BadValue,
		"watch.commit: true\nwatch:\n  commit: true\n": Twice,
		"a: &a true\nwatch:\n  commit: *a\n":           UnknownKey,
		"<<: {lock_wait: 1s}\n":                        UnknownKey,
		"version: 1\n":                                 UnknownKey,
	} {
		_, problems := read(t, User, text)
		if len(problems) == 0 || problems[0].Kind != kind {
			t.Errorf("%q: %v, want %s", text, problems, kind)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "watch:\n", "watch: {}\n", "lock_wait:\n", "lock_wait: ~\n"} {
		if l, problems := read(t, User, text); len(problems) != 0 || len(l.values) != 0 {
			t.Errorf("%q: %v", text, problems)
		}
	}
	for _, text := range []string{"- a\n", "just text\n", "a: [\n"} {
		if _, _, err := Read(User, "f", []byte(text)); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := FromEnvironment(func(k string) string { return map[string]string{"STET_LOCK_WAIT": "soon"}[k] })
	if p := (Problem{}); !errors.As(err, &p) || p.Origin != "STET_LOCK_WAIT" {
		t.Errorf("environment: %v", err)
	}
}

func TestSetChangesOneValueAndNoOtherByte(t *testing.T) {
	t.Parallel()
	watch, wait, list := WatchCommit.key(), LockWait.key(), Key{Name: "guard.allow", Type: list()}
	for _, c := range []struct {
		before string
		key    Key
		value  string
		after  string
	}{
		{"", watch, "true", "watch:\n  commit: true\n"},
		{"version: 1\n", watch, "true", "version: 1\nwatch:\n  commit: true\n"},
		{"version: 1", watch, "true", "version: 1\nwatch:\n  commit: true\n"},
		{"version: 1\r\n", watch, "true", "version: 1\r\nwatch:\r\n  commit: true\r\n"},
		{"watch:\n  commit: false # why\nversion: 1\n", watch, "true", "watch:\n  commit: true # why\nversion: 1\n"},
		{"watch:\n    # over it\n    commit: 'no'\n", watch, "true", "watch:\n    # over it\n    commit: true\n"},
		{"watch.commit: \"no\"  # x\n", watch, "true", "watch.commit: true  # x\n"},
		{"watch:\n    later: 1\n# end\n", watch, "true", "watch:\n    later: 1\n    commit: true\n# end\n"},
		{"watch:\n# end\n", watch, "true", "watch:\n  commit: true\n# end\n"},
		{"watch:\n  commit:\n", watch, "true", "watch:\n  commit: true\n"},
		{"watch:\n  commit: # soon\n", watch, "true", "watch:\n  commit: true # soon\n"},
		{"# ü\n\"lock_wait\": 3s\n", wait, "1m0s", "# ü\n\"lock_wait\": 1m0s\n"},
		{"watch: {commit: true, other: 1} # x\n", watch, "false", "watch: {commit: false, other: 1} # x\n"},
		{"{default_vault: 'x', lock_wait: 1s}\n", DefaultVault.key(), "a, b", "{default_vault: \"a, b\", lock_wait: 1s}\n"},
		{"", DefaultVault.key(), "~/a: b", "default_vault: '~/a: b'\n"},
		{"", DefaultVault.key(), "~/notes", "default_vault: ~/notes\n"},
		{"", list, "rule:ab,other:cd", "guard:\n  allow: [rule:ab, other:cd]\n"},
	} {
		got, err := Set([]byte(c.before), c.key, c.value)
		if err != nil || string(got) != c.after {
			t.Errorf("%q, %s = %s: %q, %v; want %q", c.before, c.key.Name, c.value, got, err, c.after)
		}
	}
	for _, text := range []string{"{watch: {other: true}}\n", "watch: {}\n", "watch: {commit: }\n", "{lock_wait: 1s}\n", "watch:\n  commit: !!bool true\n",
		"watch:\n  commit: |\n    true\n", "watch:\n  commit: &a true\n", "watch:\n  commit: [1]\n", "lock_wait: 1s\n...\n"} {
		if got, err := Set([]byte(text), watch, "false"); !errors.Is(err, ErrUneditable) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestAddAppendsAnItemAndKeepsTheOthers(t *testing.T) {
	t.Parallel()
	items := Key{Name: GuardAllow, Type: list()}
	for _, c := range []struct{ before, after string }{
		{"", "guard:\n  allow: [r:b]\n"},
		{"guard:\n  allow:\n", "guard:\n  allow: [r:b]\n"},
		{"guard:\n  allow: []\n", "guard:\n  allow: [r:b]\n"},
		{"guard:\n  allow: [r:a] # why\n", "guard:\n  allow: [r:a, r:b] # why\n"},
		{"guard:\n  allow: [ 'r:a' ]\n", "guard:\n  allow: [ 'r:a', r:b ]\n"},
		{"guard:\n  allow:\n    - r:a # why\n    # more\nlock_wait: 1s\n", "guard:\n  allow:\n    - r:a # why\n    - r:b\n    # more\nlock_wait: 1s\n"},
		{"guard:\n  allow:\n  - \"r:a\"", "guard:\n  allow:\n  - \"r:a\"\n  - r:b\n"},
		{"guard.allow: r:a\r\n", "guard.allow: [r:a, r:b]\r\n"},
		{"guard:\n  allow: [r:b, r:a]\n", "guard:\n  allow: [r:b, r:a]\n"},
	} {
		got, err := Add([]byte(c.before), items, "r:b")
		if err != nil || string(got) != c.after {
			t.Errorf("%q: %q, %v; want %q", c.before, got, err, c.after)
		}
	}
	for _, text := range []string{"guard:\n  allow: &x [r:a, *x]\n", "guard:\n  allow:\n  - |\n    r:a\n", "guard:\n  allow: [[r:a]]\n"} {
		if got, err := Add([]byte(text), items, "r:b"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestUnsetTakesOutTheKeyAndAnEmptySection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, key, after string }{
		{"version: 1\nwatch:\n  # why\n  commit: true\n# end\n", "watch.commit", "version: 1\n  # why\n# end\n"},
		{"watch:\n  commit: true\n  other: 1\n", "watch.commit", "watch:\n  other: 1\n"},
		{"a: 1\nbad_key: x\nb: 2\n", "bad_key", "a: 1\nb: 2\n"},
		{"a: 1\nlist:\n- x\n- y\nb: 2\n", "list", "a: 1\nb: 2\n"},
		{"lock_wait: 3s", "lock_wait", ""},
		{"a: 1\n", "lock_wait", "a: 1\n"},
	} {
		got, err := Unset([]byte(c.before), c.key)
		if err != nil || string(got) != c.after {
			t.Errorf("%q without %s: %q, %v; want %q", c.before, c.key, got, err, c.after)
		}
	}
}

// Whatever stands in a file: setting a key makes it say so and nothing else
// different, and taking it out again brings back what the others said.
func TestSetAndUnsetKeepEverythingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(drawFile(t))
		k := rapid.SampledFrom(Keys()).Draw(t, "key")
		value := rapid.SampledFrom([]string{"true", "false", "10s", "never", "~/x y", "a#b: c", "'", "\"", "ü, [x]", "null", "1"}).Draw(t, "value")
		before := all(t, data)
		next, err := Set(data, k, value)
		if errors.Is(err, ErrUneditable) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		after := all(t, next)
		if after[string(k.Name)] != value {
			t.Fatalf("%q became %q, which says %q, not %q", data, next, after[string(k.Name)], value)
		}
		sameBut(t, before, after, string(k.Name))
		if lines(data) > lines(next) || !containsLines(string(next), comments(string(data))) {
			t.Fatalf("lines were lost: %q became %q", data, next)
		}
		gone, err := Unset(next, string(k.Name))
		if errors.Is(err, ErrUneditable) && strings.Contains(string(data), "{") {
			return
		}
		if err != nil {
			t.Fatalf("unset in %q: %v", next, err)
		}
		sameBut(t, before, all(t, gone), string(k.Name))
	})
}

func drawFile(t *rapid.T) string {
	line := rapid.SampledFrom([]string{"version: 1", "# a note", "", "watch:", "  commit: no", "  commit: \"on\" # yes", "  quiet: 2",
		"display: {color: never}", "display:", "    color: auto", "lock_wait: 3s", "lock_wait: '1m' # x", "default_vault: ~/n", "other: [a, b]",
		"long: |", "    text", "watch.commit: true"})
	for {
		text := strings.Join(rapid.SliceOfN(line, 0, 7).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"))
		if rapid.Bool().Draw(t, "final newline") {
			text += "\n"
		}
		var m map[string]any
		if yaml.Unmarshal([]byte(text), &m) == nil {
			return text
		}
	}
}

func all(t *rapid.T, data []byte) map[string]string {
	leaves, err := flatten(data)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range leaves {
		if !l.empty {
			out[l.name] = l.text
		}
	}
	return out
}

func sameBut(t *rapid.T, a, b map[string]string, name string) {
	for k, v := range a {
		if k != name && b[k] != v {
			t.Fatalf("%s was %q and is %q", k, v, b[k])
		}
	}
	for k := range b {
		if _, had := a[k]; !had && k != name {
			t.Fatalf("%s is new", k)
		}
	}
}

func lines(data []byte) int { return strings.Count(string(data), "\n") }

func comments(text string) (out []string) {
	for line := range strings.Lines(text) {
		if _, comment, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "# "); ok {
			out = append(out, "# "+comment)
		}
	}
	return out
}

func containsLines(text string, want []string) bool {
	for _, w := range want {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func TestSizesAndListsHaveOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"10MiB": "10MiB", "1024": "1KiB", "1536KiB": "1536KiB", "2048 KiB": "2MiB", "7": "7"} {
		got, err := size().parse(in)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "-1", "1GB", "x", "9999999999999MiB"} {
		if got, err := size().parse(in); err == nil {
			t.Errorf("%q is taken for %q", in, got)
		}
	}
	if got, err := list().parse(" a, b ,a,,"); err != nil || got != "a,b" {
		t.Errorf("list: %q, %v", got, err)
	}
}

func TestOnlyFingerprintsAreAllowed(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0123456789abcdef", 4)
	allow := GuardAllow.key()
	good := "github-pat:" + sum + ",sys_prompt_override:" + sum
	if got, err := allow.Parse(good); err != nil || got != good {
		t.Errorf("%q: %q, %v", good, got, err)
	}
	if got, err := allow.Parse(""); err != nil || got != "" {
		t.Errorf("nothing: %q, %v", got, err)
	}
	for _, in := range []string{"github-pat", "github-pat:", ":" + sum, "github-pat:" + sum[1:], "github-pat:" + sum + "0", "github-pat:" + sum + ",x",
		"a b:" + sum, "github-pat:" + strings.ToUpper(sum), sum} {
		if got, err := allow.Parse(in); err == nil {
			t.Errorf("%q is taken for %q", in, got)
		}
	}
}

func FuzzSet(f *testing.F) {
	for _, s := range []string{"", "version: 1\nwatch:\n  commit: true\n", "watch: {commit: no}", "watch:\r\n  commit:\r\n", "a: &x 1\nb: *x\n", "? a\n: b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		next, err := Set(data, WatchCommit.key(), "true")
		if err != nil {
			return
		}
		if l, _, err := Read(User, "f", next); err != nil || l.values[WatchCommit].value != "true" {
			t.Fatalf("%q became %q: %v", data, next, err)
		}
	})
}
