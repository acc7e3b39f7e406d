package guard

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Injections lists what in data reads like orders to a model, in the order of
// lines, and the characters that hide text from a person. The text is looked
// at as a model takes it: compatibility forms of letters and characters that
// nobody sees do not get words past the rules. Letters of one script that look
// like another's are not resolved.
func Injections(data []byte) []Finding {
	found := injections(string(data))
	if text, ok := utf16Text(data); ok {
		found = join(found, injections(text))
	}
	return found
}

func injections(text string) []Finding {
	found := hidden(text)
	plain := plainText(text)
	set := orderRules()
	w := windows{rules: set.rules, text: plain, of: map[int][]window{}}
	set.index.find(plain, w.add)
	for i := range set.rules {
		for _, in := range w.of[i] {
			found = append(found, set.rules[i].orders(plain, in)...)
		}
	}
	sortFindings(found)
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(f Finding) bool {
		again := seen[f.Fingerprint]
		seen[f.Fingerprint] = true
		return again
	})
}

// NameInjections is Injections for a path, where characters that nobody sees
// make one file pass for another.
func NameInjections(name string) []Finding {
	found := Injections([]byte(name))
	for i := range found {
		found[i].Line, found[i].Column = 0, 0
	}
	return found
}

func (r *rule) orders(text string, in window) []Finding {
	part := text[in.start:in.end]
	if !r.alsoIn(part) {
		return nil
	}
	var found []Finding
	for _, at := range r.expr().FindAllStringIndex(part, -1) {
		words := strings.Join(strings.Fields(strings.ToLower(part[at[0]:at[1]])), " ")
		f := Finding{Rule: r.id, Excerpt: oneLine(part[at[0]:at[1]], 2*excerptWidth), Fingerprint: fingerprint(r.id, words)}
		f.Line, f.Column = place(text, in.start+at[0])
		found = append(found, f)
	}
	return found
}

// alsoIn is a cheap look for a word that every match must have besides its
// keyword; without it the expression would run on every line that says "show".
func (r *rule) alsoIn(part string) bool {
	if len(r.also) == 0 {
		return true
	}
	low := strings.ToLower(part)
	return slices.ContainsFunc(r.also, func(word string) bool { return strings.Contains(low, word) })
}

// order is one row of the table below.
type order struct {
	id       string
	keywords string // with which a match begins, or near its beginning
	also     string // one of these stands in every match as well; "" for any
	expr     string // ~ is a gap, §n at most n words between
}

// gap is what may stand between two words of an order: white space, with the
// marks of emphasis, quotes, lists and clauses, but no end of a sentence.
const gap = `[,;:*_"'\x60()-]{0,3}\s+(?:[,;:*_"'\x60()>-]{1,3}\s*)?`

// orderLines is how many line ends a match can hold: words wrapped by an
// editor, not sections.
const orderLines = 3

var orderRules = sync.OnceValue(func() *ruleSet {
	set := &ruleSet{}
	for _, o := range orders() {
		expr := strings.ReplaceAll(o.expr, "~", gap)
		for n := range 9 {
			expr = strings.ReplaceAll(expr, fmt.Sprintf("§%d", n), fmt.Sprintf(`(?:\S{1,40}\s+){0,%d}?[*_"'\x60(]{0,3}`, n))
		}
		set.rules = append(set.rules, rule{id: o.id, keywords: strings.Split(o.keywords, "|"), also: words(o.also), expr: lazily("(?i)" + expr), span: orderLines})
	}
	set.index = newKeywordIndex(set.rules)
	return set
})

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "|")
}

// orders is the table. Its names are those of Hermes' list, so that the two
// can be compared; the expressions are ours and ask for more context where a
// note about one's own servers would read the same. Fillers are bounded, so
// padding between the words gets nobody past them and no text takes long.
func orders() []order {
	return append(append(overrides(), networks()...), leaks()...)
}

// overrides want to be obeyed instead of the person.
func overrides() []order {
	return []order{
		{"prompt_injection", "ignore|forget|skip", "instruction|prompt|direction|order",
			`\b(?:ignore|forget|skip)~§8(?:previous|prior|earlier|above|preceding|former|all|any|your)~§8(?:instruction|prompt|direction|order)s?\b`},
		{"sys_prompt_override", "system|overrid|overwrit|replac", "system",
			`\bsystem~(?:prompt|message|instructions?)~§3(?:override|overridden|replaced|superseded|is~now)\b|\b(?:override|overwrite|replace)~§4system~(?:prompt|message|instructions?)\b`},
		{"disregard_rules", "disregard|discard|follow|obey", "instruction|rule|guideline|polic|directive",
			`\b(?:disregard|discard|do~not~(?:follow|obey)|stop~(?:following|obeying))~§8(?:your|all|any|every|the|previous|these|those)~§8(?:instructions?|rules?|guidelines?|polic(?:y|ies)|directives?)\b`},
		{"bypass_restrictions", "bypass|circumvent|evade|act as", "restriction|safeguard|guardrail|safety|filter|moderation|limit|rule",
			`\b(?:bypass|circumvent|evade)~§8(?:restrictions?|safeguards?|guardrails?|safety|(?:content|output|input)~filters?|moderation|limitations?)\b|\bact~as~(?:if|though)~you~§3(?:have|had)~no~(?:restrictions|limits|rules|filters)\b`},
		{"translate_execute", "translate", "execut|run|eval",
			`\btranslate~§8(?:into|to)~§5and~(?:then~)?(?:execute|run|eval(?:uate)?)\b`},
		{"deception_hide", "do not|don't|don’t|never|without", "user|human|owner|operator",
			`\b(?:do~not|don['’]t|never|without)~§3(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting)~§5(?:user|human|owner|operator)s?\b`},
		{"role_hijack", "you are|you're|you’re", "now|no longer",
			`\byou(?:~are|['’]re)~(?:now|no~longer)~(?:an?~§4(?:assistant|agent|ai|model|bot|expert|hacker|character|persona|system|terminal|god)\b|dan\b|unrestricted\b|jailbroken\b|free~(?:of|from)\b|bound~by\b|in~\S{1,40}~mode\b)`},
		{"role_pretend", "pretend", "",
			`\bpretend~(?:that~)?(?:you~(?:are|have|can)|you['’]re)\b|(?:^|[.!?:;,"]\s*|\band~|\bplease~)pretend~to~be\b`},
		{"remove_filters", "respond|answer|reply|act|speak|operate|write", "without",
			`\b(?:respond|answer|reply|act|speak|operate|write)~§4without~§3(?:restrictions?|filter(?:s|ing)?|limitations?|censorship|guardrails?|moderation|safety)\b`},
		{"fake_update", "you have been|you were|you are being|you've been", "",
			`\byou(?:~have~been|['’]ve~been|~were|~are~being)~§2(?:updated|upgraded|patched|reprogrammed|reconfigured)~§3(?:to|so|and|with)\b`},
		{"identity_override", "yourself|your name|your new name", "",
			`\b(?:name|rename)~yourself\b|\bidentify~yourself~as\b|\byour~(?:new~)?name~is~now\b`},
		{"forced_action", "you must|you have to|you are required|you are forced", "immediately|at once|before|without|right now",
			`\byou~(?:must|have~to|are~(?:required|forced)~to)~§3(?:register|connect|report|execute|run|obey|comply|download|send|upload|install)\b[^.\n]{0,120}\b(?:immediately|at~once|right~now|before~(?:anything|responding|replying|answering|you~(?:answer|reply|respond))|without~(?:asking|question))|\byou~(?:must|have~to)~(?:immediately|at~once)~(?:register|connect|report|execute|run|obey|comply|download|send|upload|install)\b`},
	}
}

// networks want the reader to take part in somebody's network, or to leave no
// trace of it.
func networks() []order {
	return []order{
		{"c2_node_registration", "register", "",
			`\bregister~(?:yourself|itself|this~(?:machine|host|agent|session|device)|as~(?:an?~)?(?:node|agent|bot|implant|worker))~§6(?:with|at|to|on|in)~§4(?:network|server|controller|c2|swarm|hub|mesh|https?:)`},
		{"c2_heartbeat", "heartbeat|beacon|check-in|checkin|check in", "",
			`\b(?:send|post|emit|issue|transmit)~§4(?:heartbeat|beacon|check-?\s?in)s?~§5(?:to|at)~§4(?:c2\b|command\b|controller|operator|hub\b|network\b|swarm|https?://)`},
		{"c2_task_pull", "pull|fetch|poll|retriev|request", "from|for",
			`\b(?:pull|fetch|poll|retrieve|request)~§4(?:tasks?|commands?|instructions|orders|jobs)~§3(?:from|at)~§4(?:c2\b|command~server|controller|operator|hub\b|swarm|https?://)|\bpoll~§6(?:for)~§3(?:tasks|commands|instructions|orders)\b`},
		{"c2_network_connect", "connect|join|report|phone home", "botnet|c2|c&c|control|swarm|network",
			`\b(?:connect|join|report|phone~home)~§3(?:to~)?§4(?:botnet|c2\b|c&c\b|command[- ]and[- ]control|(?:agent|swarm|node)~network|network~as~(?:an?~)?(?:node|agent|bot))`},
		{"anti_forensic_oneliner", "one-liner|one liner|oneliner|history|histfile", "",
			`\b(?:only|always)~§3(?:use|run|execute)~§4one-?\s?liners?\b|\bhistory~-c\b|\bunset~HISTFILE\b|\bHISTFILE=/dev/null|\brm~(?:-\S+~)?\S*\.(?:bash|zsh)_history`},
		{"anti_forensic_disk", "disk|trace|artifact|artefact", "",
			`\b(?:never|do~not|don['’]t|without)~§2(?:write|writing|save|saving|touch|touching|store|storing)~§6disk\b|\bleav(?:e|ing)~no~(?:traces?|artifacts?|artefacts?|evidence)\b`},
		{"env_var_unset_agent", "unset", "claude|codex|cursor|hermes|openclaw|gemini|agent|aider|copilot|stet",
			`\bunset~(?:-v~)?§3\$?(?:CLAUDE|CODEX|CURSOR|HERMES|OPENCLAW|GEMINI|AI_?AGENT|AGENT|AIDER|COPILOT|STET)[A-Z_]*\b`},
		{"known_c2_framework", "cobalt|ratel|meterpreter|metasploit|brainworm|poshc2|sliver|mythic|havoc|covenant", "",
			`\bcobalt\s?strike\b|\bbrute\s?ratel\b|\bmeterpreter\b|\bmetasploit\b|\bbrainworm\b|\bposhc2\b|\b(?:sliver|mythic|havoc|covenant)~(?:c2|beacon|implant|framework|teamserver|agent)s?\b`},
		{"c2_explicit", "server|channel|beacon|infrastructure|node|framework|endpoint|operator", "c2|c&c",
			`(?:\bc2|\bc&c)~(?:server|channel|beacon|infrastructure|node|framework|endpoint|operator)s?\b`},
		{"c2_explicit_long", "command", "control",
			`\bcommand[\s-]+(?:and|&)[\s-]+control~(?:server|channel|beacon|infrastructure|node|framework|endpoint|operator)s?\b`},
	}
}

// leaks want something out, or a way in.
func leaks() []order {
	return []order{
		{"html_comment_injection", "<!--", "ignore|override|system|secret|hidden",
			`<!--(?:[^-]|-[^-]){0,600}?[\s"'(\[:.,!](?:ignore|override|system|secret|hidden)\b`},
		{"hidden_div", "style", "display|visibility|font-size|opacity",
			`<[a-z]+\s[^>]{0,300}?style\s*=\s*["'][^"']{0,200}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\s*[;"'])`},
		{"exfil_curl", "curl", "$", `\bcurl\b[^\n]{0,300}?\$\{?\w*(?:key|token|secret|password|passwd|credential|api)`},
		{"exfil_wget", "wget", "$", `\bwget\b[^\n]{0,300}?\$\{?\w*(?:key|token|secret|password|passwd|credential|api)`},
		{"read_secrets", "cat ", ".env|credential|.netrc|.pgpass|.npmrc|.pypirc",
			`\bcat~(?:-\w+~){0,2}["']?[^\s|;&]*(?:\.env\b|credentials\b|\.netrc|\.pgpass|\.npmrc|\.pypirc)`},
		{"leak_system_prompt", "output|print|reveal|show|repeat|display|leak|disclose|tell me", "prompt|instruction",
			`\b(?:output|print|reveal|show|repeat|display|leak|disclose|tell~me)~§4(?:(?:system|hidden|initial|developer)~prompt|(?:system|hidden|initial|developer)~instructions?)\b`},
		{"send_to_url", "send|post|upload|transmit|forward|submit|exfiltrate", "http",
			`\b(?:send|post|upload|transmit|forward|submit|exfiltrate)~§8(?:to|at)~§2<?https?://`},
		{"context_exfil", "include|output|print|send|share|append|paste|dump|reveal", "conversation|chat|transcript|context|memor",
			`\b(?:include|output|print|send|share|append|paste|dump|reveal)~§4(?:entire|full|whole|complete|all(?:~of)?)~§3(?:conversation|chat(?:~history)?|transcript|context~window|(?:your|the)~(?:context|memory|memories)|context|memories)\b`},
		{"ssh_backdoor", "authorized_keys", "",
			`(?:>>?|\btee\b|\bcp\b|\becho\b|\badd\b|\bappend\b|\bwrite\b|\binsert\b|\bput\b|\bcopy\b)[^\n]{0,300}?authorized_keys`},
		{"ssh_access", ".ssh", "",
			`\b(?:cat|read|cp|copy|scp|rsync|send|open|upload|tar|zip|base64|print|show|list|ls)\b[^\n]{0,80}?(?:\x7e|\$HOME|\$\{HOME\}|/root|/home/[\w.-]+)/\.ssh\b`},
		{"hermes_env", ".env", "hermes|openclaw|claude|codex|gemini|stet",
			`(?:\x7e|\$HOME|\$\{HOME\})/\.(?:config/)?(?:hermes|openclaw|claude|codex|gemini|stet)/\.env\b`},
		{"agent_config_mod", "agents.md|claude.md|gemini.md|.cursorrules|.clinerules|.windsurfrules|copilot-instructions", "",
			`\b(?:edit|modify|change|update|append|write|add|overwrite|insert|echo|put)\b[^\n]{0,120}?(?:\bAGENTS\.md|\bCLAUDE\.md|\bGEMINI\.md|\.cursorrules|\.clinerules|\.windsurfrules|copilot-instructions\.md)`},
		{"hermes_config_mod", ".hermes/|.claude/settings|.codex/config|stet/config", "",
			`\b(?:edit|modify|change|update|append|write|add|overwrite|insert|echo|put|set)\b[^\n]{0,120}?(?:\.hermes/(?:config\.ya?ml|SOUL\.md)|\.claude/settings(?:\.local)?\.json|\.codex/config\.toml|\bstet/config\.yaml)`},
		{"hardcoded_secret", "key|token|secret|password|passwd", `"|'`,
			`(?:key|token|secret|password|passwd)\w{0,20}["']?\s*(?:=|:|:=|=>)\s*(?:"[\w./+=-]{20,}"|'[\w./+=-]{20,}')`},
	}
}
