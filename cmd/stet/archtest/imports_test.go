package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// An edge says what a package may import of ours, and why that much.
type edge struct {
	pkg     string
	imports []string
	reason  string
}

// edges is the whole import graph of the module. The direction is cmd/stet →
// curator → agent → index → vault → markdown; templates is a leaf.
func edges() []edge {
	return []edge{
		{"markdown", nil, "pure functions from bytes to documents: no I/O, nothing of ours"},
		{"templates", nil, "embedded text, and how numbers are told in it"},
		{"vault/durable", nil, "the only file-system writer stands below everything"},
		{"vault/filelock", []string{"vault/durable"}, "the lock file is written through the one writer"},
		{"vault/gitindex", nil, "bytes of git's index in, bytes out"},
		{"vault/guard", nil, "bytes in, findings out: it knows no vault"},
		{"vault/scan", []string{"markdown", "vault/guard"}, "files in, findings out: it knows no vault"},
		{"vault/gitstore", []string{"vault/durable", "vault/filelock", "vault/gitindex"},
			"git plumbing over the one writer and git's own index"},
		{"vault/settings", nil, "configuration keys: text in, values out"},
		{"vault/tombstone", []string{"markdown"}, "a format and a rule of likeness"},
		{"vault/proposal", []string{"markdown", "vault/tombstone"}, "a format: bytes in, bytes out"},
		{"vault/names", []string{"markdown"}, "texts in, names out: it knows no vault"},
		{"vault/store", []string{"vault/durable", "vault/filelock", "vault/gitindex", "vault/gitstore"},
			"transactions over files and git: bytes and paths, no memories"},
		{"vault",
			[]string{"markdown", "templates", "vault/proposal", "vault/tombstone", "vault/durable", "vault/filelock",
				"vault/gitstore", "vault/guard", "vault/names", "vault/scan", "vault/settings", "vault/store"},
			"memories and their history; the only public way to write a vault"},
		{"vault/coderepo", []string{"vault/gitstore"}, "reads repositories of code, and no vault"},
		{"vault/lineage", []string{"vault", "vault/proposal", "vault/tombstone", "markdown"},
			"reads and writes through the vault's public API"},
		{"vault/notebook", []string{"markdown", "vault", "vault/settings", "vault/tombstone"},
			"what a notebook holds and what must leave it, over the one writer"},
		{"vault/skill", []string{"markdown", "vault", "vault/scan"},
			"what a skill holds and what is wrong with it, over the one writer"},
		{"vault/doctor", []string{"vault", "vault/guard", "vault/links", "vault/notebook", "vault/proposal",
			"markdown"},
			"checks over the vault's public API and how sure the guard is; the search index comes in as an interface"},
		{"index/embed", []string{"vault/durable", "vault/filelock"},
			"texts in, vectors out, and a cache of them: it knows no vault"},
		{"index/past", []string{"vault"}, "the files of a commit, read through the vault's public API"},
		{"index/segfile", nil, "documents in, the bytes of a segment out"},
		{"index/document", []string{"markdown", "templates/lexicon", "vault", "vault/names"},
			"bytes of files in, terms and records out"},
		{"index/store", []string{"index/document", "index/segfile", "vault", "vault/durable", "vault/filelock"},
			"one index on disk: it knows documents and no query"},
		{"index/period", nil, "texts in, times out"},
		{"index/query", []string{"index/document", "index/period", "markdown", "vault"},
			"parsing and ranking: it knows documents and no store"},
		{"index", []string{"index/document", "index/embed", "index/query", "index/store", "vault", "vault/durable",
			"vault/names"},
			"derived from the vault; knows no model and no command"},
		{"templates/lexicon", nil, "embedded word lists and their reader"},
		{"agent/encode", []string{"templates/lexicon"},
			"texts in, verdicts out: pure functions, no vault, no model, no clock"},
		{"agent/place", []string{"agent/encode", "templates/lexicon"},
			"texts and counts in, places out: pure functions, no vault, no index, no clock"},
		{"agent/spoken", []string{"markdown", "templates/lexicon"},
			"turns in, what their authors say out: pure functions"},
		{"agent/route", []string{"agent/spoken", "markdown", "templates/lexicon"},
			"sentences in, kinds out: pure functions"},
		{"agent/llm", []string{"vault/durable", "vault/filelock", "vault/settings"},
			"requests to models and a ledger of them: it knows no vault"},
		{"templates/prompts", nil, "embedded text and nothing else"},
		{"agent/learn", []string{"agent/llm", "markdown", "templates/prompts", "vault", "vault/guard", "vault/session"},
			"turns in, calls of tools out: the tools are injected, so that it can touch nothing by itself"},
		{"agent/pipeline", []string{"agent/encode", "agent/llm", "templates/lexicon", "templates/prompts"},
			"texts in, thoughts of a model out: it knows no vault and so can touch nothing"},
		{"agent/ingest",
			[]string{"agent/encode", "agent/llm", "agent/pipeline", "agent/place", "agent/route", "agent/spoken",
				"index", "index/document",
				"vault", "vault/links",
				"vault/guard", "vault/notebook", "markdown"},
			"the one door that stores: searches, lets rules and model judge, writes through the vault"},
		{"agent/approval",
			[]string{"agent/ingest", "markdown", "vault", "vault/notebook", "vault/proposal", "vault/settings",
				"vault/skill", "vault/tombstone"},
			"what a person does with proposals, through the vault's public API and the door that stores"},
		{"agent/remind", []string{"index/document", "templates/lexicon"},
			"a prompt and memories in, probabilities out: pure functions, no vault, no search, no clock"},
		{"agent/snapshot", []string{"agent/llm", "index", "markdown", "vault", "vault/guard", "vault/notebook",
			"vault/settings", "vault/skill"},
			"what a conversation begins with: chosen from the index, read through the vault, never written"},
		{"agent/daily", nil, "bytes of settings and templates in, texts out: it knows no vault"},
		{"agent",
			[]string{"agent/approval", "agent/cite", "agent/clients", "agent/daily", "agent/encode", "agent/hook",
				"agent/imports", "agent/ingest", "agent/install", "agent/learn", "agent/llm", "agent/match",
				"agent/ran", "agent/recall", "agent/remind", "agent/route", "agent/skillpack",
				"agent/snapshot", "agent/trigger", "index", "index/document", "index/embed", "index/past",
				"index/watch",
				"markdown", "templates", "templates/prompts", "vault", "vault/coderepo",
				"vault/doctor", "vault/durable", "vault/filelock", "vault/guard", "vault/lineage", "vault/links",
				"vault/names", "vault/notebook", "vault/scan", "vault/session", "vault/settings", "vault/skill",
				"vault/tombstone"},
			"the use cases: what front ends call, and nothing below it may import"},
		{"curator/fork", []string{"agent/llm", "markdown", "templates/prompts", "vault", "vault/skill"},
			"a job in, calls of one tool out, and what they do to files in memory: it knows no vault to open"},
		{"curator/merge", []string{"curator/fork", "markdown", "templates/lexicon", "vault", "vault/scan",
			"vault/skill"},
			"skills and calls in, a plan out: pure functions"},
		{"curator", []string{"agent", "agent/encode", "agent/pipeline", "curator/fork", "curator/merge", "markdown",
			"templates", "vault", "vault/lineage", "vault/links", "vault/notebook", "vault/settings", "vault/skill",
			"vault/tombstone"},
			"decides what becomes of skills, and has it done and reported through the layers below"},
		{"agent/skillpack", []string{"vault"}, "folders and archives in, files of skills out: it writes none"},
		{"agent/tools", []string{"agent", "agent/encode", "agent/llm", "agent/recall", "index", "vault"},
			"a front end for models: arguments in, one call of a use case, a reply out"},
		{"agent/mcp", []string{"agent", "agent/snapshot", "agent/tools", "vault"},
			"a front end for clients of a protocol: requests in, tools and resources, replies out"},
		{"agent/clients", nil, "an embedded table and its reader"},
		{"agent/install", []string{"agent/clients", "templates"},
			"bytes of other programs' files in, bytes out: it reads and writes none itself"},
		{"agent/hook", []string{"agent/clients", "markdown"},
			"JSON of clients in, events out; texts in, JSON for clients out: no vault"},
		{"agent/cite", []string{"agent/encode", "agent/spoken", "templates/lexicon", "vault", "vault/session"},
			"turns of conversations in, a verdict on a change out; it writes which turns were used"},
		{"agent/match", []string{"agent/encode", "markdown", "templates/lexicon", "vault"},
			"a description in, the memories it means out; writes through the vault"},
		{"index/watch", []string{"vault", "index"}, "hints to the index and to adopt, through their public API"},
		{"vault/session", []string{"markdown", "vault", "vault/guard", "vault/settings"},
			"open and sealed conversations, over the one writer"},
		{"agent/trigger", []string{"markdown", "vault/session"}, "messages and marks in, what is due out: pure"},
		{"agent/recall", []string{"agent/llm", "agent/ran", "index", "index/document", "markdown",
			"templates/prompts", "vault", "vault/session"},
			"what was said, found again: over the index and the transcripts"},
		{"agent/ran", []string{"index/document", "markdown", "vault"},
			"transcripts in, what was run in them out: pure functions"},
		{"cmd/stet/session", []string{"agent", "agent/ran", "agent/recall", "cmd/stet/cells", "cmd/stet/choice",
			"cmd/stet/console", "cmd/stet/forked", "curator", "markdown", "vault/session"},
			"commands: flags, one call, print"},
		{"cmd/stet/console", []string{"agent", "agent/clients", "agent/learn", "agent/llm", "agent/tools", "index",
			"cmd/stet/cells", "index/period", "vault", "vault/durable", "vault/guard", "vault/settings"},
			"what all commands share"},
		{"cmd/stet/cells", nil, "texts in, columns out: it knows no terminal"},
		{"agent/imports",
			[]string{"agent/encode", "agent/ingest", "markdown", "vault", "vault/guard", "vault/session",
				"vault/settings"},
			"what other programs keep, turned into transcripts and memories through the vault's public API"},
		{"vault/links", []string{"vault", "markdown"},
			"built on the vault's public API: what links mean, and moves that keep them"},
		{"cmd/stet/memory", []string{"agent", "agent/encode", "agent/ingest", "agent/snapshot", "cmd/stet/choice",
			"cmd/stet/cells", "cmd/stet/console", "index", "markdown", "vault", "vault/links"},
			"commands: flags, one call, print"},
		{"cmd/stet/choice", []string{"agent", "cmd/stet/cells", "cmd/stet/console", "vault", "vault/scan"},
			"questions that several commands ask"},
		{"cmd/stet/history", []string{"agent", "cmd/stet/choice", "cmd/stet/cells", "cmd/stet/console", "vault"},
			"commands: flags, one call, print"},
		{"cmd/stet/upkeep", []string{"agent", "agent/imports", "agent/llm", "cmd/stet/console",
			"cmd/stet/forked", "curator",
			"index/watch", "vault", "vault/doctor", "vault/settings"}, "commands: flags, one call, print"},
		{"cmd/stet/door", []string{"agent", "agent/clients", "agent/hook", "agent/mcp", "agent/tools",
			"cmd/stet/console", "vault", "vault/session", "vault/settings"},
			"commands: flags, one call, print"},
		{"cmd/stet/forked", []string{"agent", "cmd/stet/console", "curator/fork"},
			"a process of this program: JSON in, bounds around it, JSON out"},
		{"cmd/stet/bench", []string{"agent", "cmd/stet/console", "index", "markdown", "vault", "vault/durable"},
			"measuring: makes vaults of transcripts and asks them"},
		{"cmd/stet",
			[]string{"agent", "cmd/stet/bench", "cmd/stet/cells", "cmd/stet/forked", "cmd/stet/console",
				"cmd/stet/door",
				"cmd/stet/history", "cmd/stet/memory", "cmd/stet/session", "cmd/stet/upkeep",
				"markdown", "templates", "vault", "vault/durable", "vault/names", "vault/settings"},
			"dispatch, manual pages, and the names that completion offers"},
		{"cmd/stet/archtest", nil, "looks at source text only"},
	}
}

func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	m := load(t)
	allowed := map[string]edge{}
	for _, e := range edges() {
		allowed[e.pkg] = e
	}
	for _, s := range m.sources {
		for _, imp := range s.file.Imports {
			to, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), "stet/")
			if !ours || s.test || to == "templates" {
				continue // a leaf that anyone may read
			}
			if testOnly(to) {
				t.Errorf("%s imports %s, which is for tests alone", s.name, to)
				continue
			}
			if e, known := allowed[s.pkg]; !known || !slices.Contains(e.imports, to) {
				t.Errorf("%s imports %s: not in the table (%s)", s.name, to, e.reason)
			}
		}
	}
	for _, e := range edges() {
		if !slices.ContainsFunc(m.sources, func(s source) bool { return s.pkg == e.pkg }) {
			t.Errorf("the table has %s, the tree has not", e.pkg)
		}
	}
}

// An owner is the one package that may speak a dependency.
type owner struct{ prefix, pkg, reason string }

func owners() []owner {
	return []owner{
		{"github.com/go-git/", "vault/gitstore", "swapping the git library is a one-folder job"},
		{"github.com/yuin/goldmark", "markdown", "one reading of Markdown"},
		{"github.com/blugelabs/", "index", "the search library may panic and is fenced in one place"},
		{"github.com/RoaringBitmap/", "index", "postings belong to the search index"},
		{"github.com/fsnotify/", "index", "events are hints to the search index"},
		{"github.com/sashabaranov/", "agent/llm", "one place knows the wire formats of models"},
		{"github.com/modelcontextprotocol/", "agent/mcp", "one place knows the protocol"},
		{"github.com/tailscale/hujson", "agent/install", "one place edits files of other programs"},
		{"github.com/pelletier/go-toml", "agent/install", "one place edits files of other programs"},
		{"github.com/mozillazg/go-unidecode", "agent/match", "one place reads names across scripts"},
		{"github.com/urfave/cli", "cmd/stet", "flags belong to the command line"},
		{"golang.org/x/term", "cmd/stet", "only the command line knows of terminals"},
		{"os/exec", "cmd/stet", "editor and pager; nothing below starts a process"},
	}
}

func TestEveryDependencyHasOneOwner(t *testing.T) {
	t.Parallel()
	m := load(t)
	used := map[string]bool{}
	for _, s := range m.sources {
		if s.test {
			continue
		}
		for _, imp := range s.file.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			for _, o := range owners() {
				if !strings.HasPrefix(name, o.prefix) {
					continue
				}
				used[o.prefix] = true
				if !below(s.pkg, o.pkg) {
					t.Errorf("%s imports %s, which belongs to %s: %s", s.name, name, o.pkg, o.reason)
				}
			}
		}
	}
}

// Every module that our code imports has its reason in docs/ARCHITECTURE.md.
func TestDirectRequirementsHaveAReason(t *testing.T) {
	t.Parallel()
	m := load(t)
	mod, err := os.ReadFile(filepath.Join(m.root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^\s*(replace|exclude)\b`).Match(mod) {
		t.Error("go.mod must not replace or exclude: others could not build the module as we do")
	}
	doc, err := os.ReadFile(filepath.Join(m.root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, require := range direct(m, string(mod)) {
		row := regexp.MustCompile(`(?m)^\|\s*` + "`?" + regexp.QuoteMeta(require) + "`?" + `\s*\|\s*\S+`)
		if !row.Match(doc) {
			t.Errorf("docs/ARCHITECTURE.md has no table row with a reason for %s", require)
		}
	}
}

// direct lists the required modules that a Go file of ours imports.
func direct(m *module, mod string) []string {
	var required []string
	for _, match := range regexp.MustCompile(`(?m)^\s+(\S+\.\S+) v\S+`).FindAllStringSubmatch(mod, -1) {
		required = append(required, match[1])
	}
	sort.Sort(sort.Reverse(sort.StringSlice(required))) // longest path of a family first
	found := map[string]bool{}
	for _, s := range m.sources {
		for _, imp := range s.file.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			for _, r := range required {
				if below(name, r) {
					found[r] = true
					break
				}
			}
		}
	}
	var out []string
	for r := range found {
		out = append(out, r)
	}
	sort.Strings(out)
	return out
}
