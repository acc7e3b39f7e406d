package settings

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Name names a key: "watch.commit".
type Name string

// The keys.
const (
	AgentsDetect   Name = "agents.detect"
	AgentsEdit     Name = "agents.edit"
	ContextBudget  Name = "context.budget_tokens"
	Curator        Name = "curator.enabled"
	CuratorEvery   Name = "curator.interval_hours"
	CuratorIdle    Name = "curator.min_idle_hours"
	CuratorStale   Name = "curator.stale_after_days"
	CuratorArchive Name = "curator.archive_after_days"
	CuratorMerge   Name = "curator.consolidate_hours"
	CuratorNotes   Name = "curator.memories"
	CuratorTokens  Name = "curator.max_tokens"
	CuratorMinutes Name = "curator.max_minutes"
	CuratorUSD     Name = "curator.max_usd"
	CuratorFloor   Name = "curator.coverage_floor"
	CuratorLoss    Name = "curator.net_loss"
	DefaultVault   Name = "default_vault"
	HooksExclude   Name = "hooks.exclude"
	HooksNudge     Name = "hooks.nudge"
	HooksWorker    Name = "hooks.worker"
	LockWait       Name = "lock_wait"
	DisplayColor   Name = "display.color"
	GuardAllow     Name = "guard.allow"
	GuardInjection Name = "guard.injection"
	GuardMaxBytes  Name = "guard.max_bytes"
	GuardSecrets   Name = "guard.secrets"
	Background     Name = "memory.background"
	Cognitive      Name = "memory.cognitive"
	SimilarFrom    Name = "memory.consolidation_threshold"
	WriteApproval  Name = "memory.write_approval"
	SkillApproval  Name = "skills.write_approval"
	NudgeInterval  Name = "memory.nudge_interval"
	NudgeMode      Name = "memory.nudge_mode"
	NudgeRounds    Name = "memory.nudge_max_rounds"
	SkillInterval  Name = "skills.creation_nudge_interval"
	CoreLimit      Name = "memory.memory_char_limit"
	ProfileLimit   Name = "memory.user_char_limit"
	EmbedderURL    Name = "search.embedder.base_url"
	EmbedderModel  Name = "search.embedder.model"
	EmbedderKeyEnv Name = "search.embedder.key_env"
	SearchLanguage Name = "search.language"
	SessionIdle    Name = "session.idle_minutes"
	SessionsAttach Name = "sessions.attach_above"
	SessionsTrack  Name = "sessions.track"
	WatchCommit    Name = "watch.commit"
	WatchDebounce  Name = "watch.debounce_ms"
	WatchPoll      Name = "watch.poll_seconds"
	WatchQuiet     Name = "watch.quiet_seconds"
)

// A Key is everything there is to know about one key.
type Key struct {
	Name    Name
	Type    Type
	Unit    string // "" where the value needs none
	Default string // canonical; "" is none
	Meaning string // a phrase in Markdown
	// Vault says that a vault's own file may set the key. All others belong to
	// the person: a vault that was cloned must not decide them.
	Vault bool
	// Stricter says that the value of a vault, and that of the environment, counts only
	// where it is stricter than the person's or the default.
	Stricter bool
	// Agents is what the environment of a command that an agent runs may do to the key.
	Agents Agents
	env    string
}

// Keys lists every key in the order in which they are shown.
func Keys() []Key { return slices.Clone(allKeys()) }

var allKeys = sync.OnceValue(func() []Key {
	return slices.Concat(generalKeys(), learningKeys(), curatorKeys(), modelKeys(), searchKeys())
})

func generalKeys() []Key {
	return []Key{
		{Name: AgentsDetect, Type: boolean(), Default: "true", Stricter: true,
			Meaning: "whether a command that a known client runs as a tool counts as the agent's own"},
		{Name: AgentsEdit, Type: oneOf("own", "all"), Default: "own", Stricter: true,
			Meaning: "what agents may change without asking: `own` is text that agents wrote and no person edited " +
				"since, and a change of any other text waits for `stet review --proposed`; `all` is every text"},
		{Name: ContextBudget, Type: number(1), Unit: "tokens", Default: "2500", Vault: true,
			Meaning: "what `stet context` may take of a model's window"},
		{Name: DefaultVault, Type: text(), env: "STET_VAULT",
			Meaning: "the vault used where neither `-C` nor the current folder leads to one; `~/` is the home folder"},
		{Name: DisplayColor, Type: oneOf("auto", "always", "never"), Default: "auto",
			Meaning: "colour in answers; `auto` is on a terminal only, and `NO_COLOR` or `TERM=dumb` turn it off"},
		{Name: GuardAllow, Type: fingerprints(), Stricter: true,
			Meaning: "fingerprints (`rule:sha256`) of findings that you know to be harmless"},
		{Name: GuardInjection, Type: oneOf("block", "flag", "off"), Default: "flag", Vault: true, Stricter: true,
			Meaning: "what becomes of text that reads like orders to a model: `block` refuses it to agents, `flag` says so in the reply and the commit; what you write yourself is never refused for it"},
		{Name: GuardMaxBytes, Type: size(), Unit: "bytes, or as 500KiB, 10MiB", Default: "10MiB", Vault: true, Stricter: true,
			Meaning: "the largest file that is written or committed; more than 10MiB changes nothing"},
		{Name: GuardSecrets, Type: oneOf("block", "warn", "off"), Default: "block", Vault: true, Stricter: true,
			Meaning: "what becomes of passwords, keys and tokens: `block` keeps them out of every commit, `warn` says so in the reply and the commit"},
		{Name: HooksExclude, Type: folders(),
			Meaning: "folders of projects for which `stet hook` does nothing: no brief, no recall, no record; whole " +
				"paths, in which `~/` is the home folder"},
		{Name: HooksNudge, Type: oneOf("context", "block", "off"), Default: "context",
			Meaning: "how `stet hook` asks an agent to save what is worth keeping when nothing was saved for " +
				"memory.nudge_interval turns: `context` tells the model beside the conversation where the client " +
				"can do that, `block` holds the end of its turn up, `off` never asks"},
		{Name: HooksWorker, Type: boolean(), Default: "true", Agents: Lowers,
			Meaning: "whether `stet hook` starts a process that imports conversations, seals them and lets rules " +
				"look for what is worth keeping; a model it asks only with memory.background"},
		{Name: LockWait, Type: duration(), Unit: "a time, as 500ms, 10s or 2m", Default: "10s",
			Meaning: "how long a command waits for another writer before it exits 5"},
		{Name: Cognitive, Type: boolean(), Default: "true", Vault: true,
			Meaning: "whether what is remembered is compared with what is there (said already, no longer true, in conflict) and shown to the model for small tasks, where one is configured; `false` stores it as it is"},
		{Name: SimilarFrom, Type: share(), Unit: "a cosine", Default: "0.85", Vault: true,
			Meaning: "how alike two memories must be in meaning for the model to be asked what the new one does to the other, where embeddings are configured; what changes or gives a value to the same thing counts as alike regardless"},
		{Name: WriteApproval, Type: oneOf("stage", "off"), Default: "off", Vault: true, Stricter: true,
			Meaning: "`stage` keeps what agents write back until you accept it with `stet review --proposed`; `off` lets them write"},
		{Name: SkillApproval, Type: oneOf("stage", "off"), Default: "off", Vault: true, Stricter: true,
			Meaning: "the same for what agents do to skills"},
		{Name: CoreLimit, Type: number(1), Unit: "characters", Default: "2200", Vault: true, Agents: Lowers,
			Meaning: "what the entries of MEMORY.md may hold together; what stet writes beyond moves the least valuable to `memories/`"},
		{Name: ProfileLimit, Type: number(1), Unit: "characters", Default: "1375", Vault: true, Agents: Lowers,
			Meaning: "the same for USER.md"},
	}
}

// learningKeys are the person's alone: what they ask of models costs, and sends out what was said.
func learningKeys() []Key {
	return []Key{
		{Name: NudgeInterval, Type: number(0), Unit: "turns of the user", Default: "10", Agents: Nothing,
			Meaning: "after how many turns without a memory written a conversation is reviewed for what is worth " +
				"keeping; `0` is never"},
		{Name: NudgeMode, Type: oneOf("light", "full"), Default: "light", Agents: Nothing,
			Meaning: "how: `light` asks the model once, with the beginnings of the turns; `full` lets it look up " +
				"and change memories in several rounds"},
		{Name: NudgeRounds, Type: number(1), Unit: "requests", Default: "8", Agents: Lowers,
			Meaning: "the most that one review in `full` mode makes"},
		{Name: SkillInterval, Type: number(0), Unit: "steps", Default: "10", Agents: Nothing,
			Meaning: "after how many steps with tools without a skill written a conversation is reviewed for a " +
				"method worth keeping; `0` is never"},
		{Name: Background, Type: boolean(), Default: "false", Agents: Lowers,
			Meaning: "whether `stet observe` starts a process of its own for a review that is due; else it waits " +
				"for `stet watch` or `stet worker run`"},
	}
}

func searchKeys() []Key {
	return []Key{
		{Name: EmbedderURL, Type: text(), Agents: Nothing,
			Meaning: "an endpoint for embeddings that speaks OpenAI's protocol, as `http://localhost:11434/v1` for Ollama; with it and a model, search ranks files by meaning as well, a model is shown what resembles a new memory in meaning, and the endpoint is sent queries, new memories and the text of files, never of those that are `private: true`; without it nothing is sent"},
		{Name: EmbedderModel, Type: text(), Agents: Nothing,
			Meaning: "the model that the endpoint is asked for, as `nomic-embed-text`"},
		{Name: EmbedderKeyEnv, Type: text(), Agents: Nothing,
			Meaning: "the environment variable that holds the endpoint's key; without it none is sent"},
		{Name: SearchLanguage, Default: "english", Vault: true,
			Type:    oneOf("english", "danish", "dutch", "finnish", "french", "german", "italian", "norwegian", "portuguese", "russian", "spanish", "swedish", "none"),
			Meaning: "what the vault is mostly written in: search takes the forms of one word for one; `none` takes every word as it stands"},
		{Name: SessionIdle, Type: number(1), Unit: "minutes", Default: "30", Vault: true, Agents: Raises,
			Meaning: "after how long without a turn an open session counts as ended; the next command that writes seals it"},
		{Name: SessionsAttach, Type: size(), Unit: "bytes, or as 16KiB, 1MiB", Default: "64KiB", Vault: true,
			Meaning: "a turn longer than this stands in a file of its own beside the transcript"},
		{Name: SessionsTrack, Type: permission(), Default: "true", Vault: true, Stricter: true,
			Meaning: "sealed transcripts are committed; `false` keeps them out of git, in `sessions/` all the same and found by search"},
		{Name: WatchCommit, Type: boolean(), Default: "false", Vault: true, Agents: Lowers,
			Meaning: "edits made by hand in notes outside stet's own folders are adopted as well, and `stet watch` commits; `stet init` sets it in a repository that it makes"},
		{Name: WatchDebounce, Type: number(1), Unit: "milliseconds", Default: "150", Vault: true,
			Meaning: "how long `stet watch` waits after a change before it indexes the file"},
		{Name: WatchPoll, Type: number(1), Unit: "seconds", Default: "2", Vault: true,
			Meaning: "how often `stet watch` looks for changes where the system cannot report them"},
		{Name: WatchQuiet, Type: number(1), Unit: "seconds", Default: "2", Vault: true,
			Meaning: "how long a file must have been left alone before `stet watch` commits it"},
	}
}

// Find returns the key of that name.
func Find(name string) (Key, bool) {
	keys := allKeys()
	i := slices.IndexFunc(keys, func(k Key) bool { return string(k.Name) == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// Names lists the names of all keys.
func Names() []string {
	var out []string
	for _, k := range Keys() {
		out = append(out, string(k.Name))
	}
	return out
}

// key is the key of a constant of this package.
func (n Name) key() Key {
	k, ok := Find(string(n))
	if !ok {
		panic("settings: no key " + strconv.Quote(string(n)))
	}
	return k
}

// Env is the environment variable that sets the key.
func (k Key) Env() string {
	if k.env != "" {
		return k.env
	}
	return "STET_" + strings.ToUpper(strings.ReplaceAll(string(k.Name), ".", "_"))
}

// SetIn names the files that may set the key.
func (k Key) SetIn() string {
	if k.Vault {
		return "vault, user"
	}
	return "user"
}

// Parse checks a value and returns its canonical form.
func (k Key) Parse(text string) (string, error) {
	value, err := k.Type.parse(strings.TrimSpace(text))
	if err != nil {
		return "", fmt.Errorf("%q is no %s", text, k.Type)
	}
	return value, nil
}

// A Type is a set of values.
type Type struct {
	name  string
	parse func(string) (string, error)
	// stricter orders canonical values; nil for types that have no order.
	stricter func(a, b string) bool
	list     bool
}

func (t Type) String() string { return t.name }

// IsList reports a type whose values are several items, in canonical form
// joined by commas.
func (t Type) IsList() bool { return t.list }

func boolean() Type {
	return Type{name: "boolean (true or false)", parse: func(s string) (string, error) {
		switch strings.ToLower(s) {
		case "true", "yes", "on":
			return "true", nil
		case "false", "no", "off":
			return "false", nil
		}
		return "", strconv.ErrSyntax
	}, stricter: func(a, b string) bool { return a == "true" && b != "true" }}
}

func duration() Type {
	return Type{name: "duration", parse: func(s string) (string, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return "", strconv.ErrSyntax
		}
		return d.String(), nil
	}}
}

func oneOf(words ...string) Type {
	return Type{name: "word (" + strings.Join(words, ", ") + ")", parse: func(s string) (string, error) {
		if !slices.Contains(words, strings.ToLower(s)) {
			return "", strconv.ErrSyntax
		}
		return strings.ToLower(s), nil
	}, stricter: func(a, b string) bool { return slices.Index(words, a) < slices.Index(words, b) }}
}

// number is a whole number of at least that much.
func number(least int) Type {
	return Type{name: fmt.Sprintf("whole number of at least %d", least), parse: func(s string) (string, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return "", strconv.ErrSyntax
		}
		return strconv.Itoa(n), nil
	}}
}

// list is items without commas in them.
func list() Type {
	return Type{name: "list", list: true, parse: func(s string) (string, error) {
		var items []string
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" && !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
		return text().parse(strings.Join(items, ","))
	}}
}

// fingerprints is a list of what the guard prints of its findings: the name of a
// rule and a SHA-256. Any other text would look as if it allowed something.
// fingerprints is a list of which a part is stricter.
func fingerprints() Type {
	t := listOf("list of fingerprints (RULE:SHA256, as a refusal names it)", isFingerprint)
	t.stricter = func(a, b string) bool {
		have := strings.Split(b, ",")
		more := func(s string) bool { return s != "" && !slices.Contains(have, s) }
		return a != b && !slices.ContainsFunc(strings.Split(a, ","), more)
	}
	return t
}

// folders is a list of whole paths: nobody could say which folder another one begins in.
func folders() Type {
	return listOf("list of folders (whole paths, as ~/secret)", func(s string) bool {
		return filepath.IsAbs(s) || strings.HasPrefix(s, "~/")
	})
}

// listOf is a list whose items are all so.
func listOf(name string, so func(item string) bool) Type {
	items := list()
	return Type{name: name, list: true, parse: func(s string) (string, error) {
		s, err := items.parse(s)
		for item := range strings.SplitSeq(s, ",") {
			if err == nil && s != "" && !so(item) {
				return "", strconv.ErrSyntax
			}
		}
		return s, err
	}}
}

func isFingerprint(s string) bool {
	rule, sum, _ := strings.Cut(s, ":")
	return rule != "" && strings.Trim(rule, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" &&
		len(sum) == sha256.Size*2 && strings.Trim(sum, "0123456789abcdef") == ""
}

// size is a number of bytes, plain or in KiB or MiB; less is stricter.
func size() Type {
	return Type{name: "size", parse: func(s string) (string, error) {
		n, err := bytesOf(s)
		if err != nil || n <= 0 {
			return "", strconv.ErrSyntax
		}
		for _, u := range units() {
			if n%u.bytes == 0 {
				return strconv.FormatInt(n/u.bytes, 10) + u.name, nil
			}
		}
		return "", strconv.ErrSyntax
	}, stricter: func(a, b string) bool {
		x, _ := bytesOf(a) // both are canonical
		y, _ := bytesOf(b)
		return x < y
	}}
}

type unit struct {
	name  string
	bytes int64
}

func units() []unit { return []unit{{"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}} }

func bytesOf(s string) (int64, error) {
	for _, u := range units() {
		if digits, ok := strings.CutSuffix(s, u.name); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
			if err == nil && n > 1<<40/u.bytes {
				err = strconv.ErrRange
			}
			return n * u.bytes, err
		}
	}
	return 0, strconv.ErrSyntax
}

func text() Type {
	return Type{name: "text", parse: func(s string) (string, error) {
		if strings.ContainsAny(s, "\n\r\x00") {
			return "", strconv.ErrSyntax
		}
		return s, nil
	}}
}
