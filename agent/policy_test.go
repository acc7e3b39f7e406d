package agent

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/vaulttest"
)

// reading names the methods that change nothing but caches, accounts of costs, and what their
// caller hands in.
func reading() map[string][]string {
	return map[string][]string{
		"Environment": {"CheckModels", "Configuration", "Costs", "CuratorModel", "CuratorOptions", "Forms", "Locate",
			"Open", "OpenAt", "Setting", "Installed", "Settings", "Sources", "UserFile", "VaultOptions"},
		"App": {"Agent", "Called", "Close", "Head", "History", "Hooks", "Index", "Learning", "Memories", "Named",
			"Notebook", "Now", "Root", "Session", "Sessions", "Settings", "Settle", "Shorts", "Shown", "Skills",
			"Today", "Vault"},
		"Hooks":    {"Fail"},
		"Learning": {"Reviews"},
		"Memories": {"Conflicts", "Context", "ContextOf", "Export",
			"Links", "List", "Lists", "Orphans", "Remind", "Scopes", "Search", "Show", "Tags"},
		"History": {"Blame", "Diff", "EntryVersions", "IsEntry", "Log", "Preview", "Proposals", "ReviewDiffs",
			"Versions"},
		"Sessions": {"Export", "Files", "Fix", "How", "List", "Meant", "Search", "Show", "Why"},
		"Skills":   {"Lint", "List", "View", "Waiting"},
		"Today":    {"Path"},
		"Vault":    {"Files", "Status"},
		"Notebook": {"Show"},
	}
}

// Every method of the application layer that writes asks the policy before it does anything else:
// where that refuses everything, all of them are refused. A new method fails here until it asks, or
// is known to read.
func TestEveryUseCaseThatWritesAsksThePolicy(t *testing.T) {
	t.Parallel()
	a, err := Open(t.Context(), Options{
		At: vaulttest.New(t).Dir, Dir: t.TempDir(), Door: "test", Now: time.Now,
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.policy = nil
	arguments := map[string]any{ // where the zero value of the options writes nothing
		"Memories.New": NewOptions{Kind: "decision"}, "History.Review": ReviewOptions{AcceptAll: true},
		"Vault.Examine": ExamineOptions{Fix: true},
	}
	known, asked := 0, 0
	for _, handle := range []any{a.Environment, a, a.Memories(), a.History(), a.Sessions(), a.Skills(), a.Vault(),
		a.Learning(), a.Hooks(), a.Today(), a.Notebook(vault.ClassCore)} {
		v := reflect.ValueOf(handle)
		typ := reflect.Indirect(v).Type().Name()
		for i := range v.NumMethod() {
			name := v.Type().Method(i).Name
			if _, inherited := reflect.TypeOf(a.Environment).MethodByName(name); typ == "App" && inherited &&
				!slices.Contains(reading()["App"], name) {
				continue
			}
			if slices.Contains(reading()[typ], name) {
				known++
				continue
			}
			asked++
			if err := callWithZeros(t, v.Method(i), arguments[typ+"."+name]); !errors.Is(err, vault.ErrRefused) ||
				!strings.Contains(err.Error(), "the policy does not name it") {
				t.Errorf("%s.%s does not ask the policy: %v", typ, name, err)
			}
		}
	}
	for _, names := range reading() {
		known -= len(names)
	}
	if known != 0 || asked < 25 {
		t.Errorf("%d methods asked, and %d names of reading ones are gone", asked, -known)
	}
}

// callWithZeros calls a method with a context, zero values, and special in place of the zero value
// of its type.
func callWithZeros(t *testing.T, method reflect.Value, special any) error {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		switch p := method.Type().In(i); {
		case reflect.TypeOf(t.Context()).AssignableTo(p):
			in = append(in, reflect.ValueOf(t.Context()))
		case special != nil && p == reflect.TypeOf(special):
			in = append(in, reflect.ValueOf(special))
		default:
			in = append(in, reflect.Zero(p))
		}
	}
	out := method.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// A second rule of an operation would decide nothing.
func TestNoRuleOfThePolicyIsHidden(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Policy() {
		if seen[r.Operation] {
			t.Errorf("%q has two rules", r.Operation)
		}
		seen[r.Operation] = true
	}
}
