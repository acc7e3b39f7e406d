package scan

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A rule is about one line.
type rule struct {
	name    string
	verdict Verdict
	words   []string // lower case; one of them stands in every match, see [holds]
	expr    *regexp.Regexp
	but     *regexp.Regexp // it does not count where this matches as well; nil: it counts
}

// finds reports whether the rule finds something in a line, which is given in lower case as well.
func (r rule) finds(line, lower string) bool {
	return slices.ContainsFunc(r.words, func(w string) bool { return holds(lower, w) }) &&
		r.expr.MatchString(line) && (r.but == nil || !r.but.MatchString(line))
}

// holds reports whether a line has a word: both parts of one with an ampersand in it. One of at most four letters, as
// of most commands, has no letter beside it: "rm" stands in many words, and to look for a command in each line of a
// large skill takes long.
func holds(lower, word string) bool {
	word, other, _ := strings.Cut(word, "&")
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	short := len(word) <= 4 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
	for at := 0; ; at++ {
		i := strings.Index(lower[at:], word)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if !short || (at == 0 || !letter(lower[at-1])) && (end == len(lower) || !letter(lower[end])) {
			return strings.Contains(lower, other)
		}
	}
}

// Parts of the rules: a shell that reads from a pipe; a program that fetches; one that sends; where secrets are kept.
const (
	shell  = `(?:sudo\s+` + flags + `)?(?:env\s+)?(?:/` + inWord + `*/)?(?:ba|z|da|k|fi)?sh\b`
	fetch  = `\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b`
	send   = `\b(?:curl|wget|nc|ncat|netcat|telnet|invoke-webrequest|invoke-restmethod)\b`
	stores = `(?:\.ssh/(?:id_|identity|authorized_keys|\*|$)|\bid_(?:rsa|ed25519|ecdsa)\b|` +
		`(?:~|\$\{?HOME\}?)/\.(?:ssh|aws|gnupg|kube|docker)\b/?(?:\s|$|["')])|` +
		`\.aws/credentials|\.netrc\b|\.gnupg\b|\.kube/config|\.docker/config\.json|\.git-credentials|` +
		`gcloud/(?:credentials|application_default)|/etc/shadow|login\.keychain|` +
		`find-(?:generic|internet)-password|cookies\.sqlite|/["']?login data|wallet\.dat|\.(?:bash|zsh)_history|` +
		`\.claude/\.credentials|\.config/gh/hosts|\.pgpass)`
	// places are words of which one stands in whatever stores finds.
	places = ".ssh id_ .aws .netrc .gnupg .kube .docker .git-cred gcloud /etc/shadow keychain password cookies login " +
		"wallet _history .claude gh/hosts .pgpass"
	// dubious are addresses from which no honest skill has something run.
	dubious = `\bhttps?://(?:[^\s/@]*@)?(?:(?:\d{1,3}\.){3}\d{1,3}|\S*(?:pastebin\.com|transfer\.sh|` +
		`ngrok\S*\.(?:io|app)|bit\.ly|tinyurl\.com|webhook\.site))`
	// subst is a shell, or a language, that is handed what a substitution says, or a command that is one.
	subst = `(?:(?:` + shell + `|\bsource|(?:^|[;&|]\s*)\.)\s+(?:/dev/stdin\s+)?<(?:<<\s*["']?\$)?\(\s*|` +
		`(?:` + shell + `\s+-c|\beval|\b(?:python[\d.]*|perl|ruby|node|php)\s+-[cer])\s+["']?` +
		`(?:\$\(|` + "`" + `)\s*|` +
		`(?:^|[;&|]|\b(?:then|do)\s)\s*["']?\$\(\s*)`
	handed  = subst + `(?:\b(?:timeout|sudo|env|command|nice|time)\s+(?:[-\w.=]+\s+)*)?` + fetch
	resolve = `\b(?:dig|nslookup|host)\s`
	// between are programs that pass on what comes through a pipe, and one that hands it to a shell.
	between = `\|\s*(?:(?:tee|cat|sed|awk|tr|grep|head|tail|jq|cut|gunzip|zcat|gzip|xz|tac)\b[^|]*\|\s*)*` +
		`(?:(?:xargs|parallel)\s[^|]*?)?`
	// reader is a program that runs what a pipe brings it: a shell, or a language that is told nothing else to run.
	reader = `(?:` + shell + `|(?:sudo\s+)?(?:python[\d.]*|perl|ruby|node|php|lua|osascript)\s*-?\s*` +
		`(?:$|["'` + "`" + `);&|]))`
	decode = `(?:base64\s+(?:-d|-D|--decode)\b|\bxxd\s+-r\b|\brev\b|\bopenssl\s+(?:enc|base64)\b)`
	whole  = `(?:\bprintenv\b|\benv\b|\bexport\s+-p|\bset\b)` // all variables
)

// nextDoor finds the hosts of addresses in one's own network.
var nextDoor = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`//(?:127|10|192\.168)(?:\.\d{1,3}){2,3}\b`)
})

// rules are in the order in which they are tried: the first that matches a line speaks for it.
var rules = sync.OnceValue(func() []rule {
	of := func(name string, v Verdict, words, expr, but string) rule {
		r := rule{name, v, strings.Fields(words), regexp.MustCompile("(?i)" + expr), nil}
		if but != "" {
			r.but = regexp.MustCompile("(?i)" + but)
		}
		return r
	}
	return []rule{
		of("decode-to-shell", Danger, "base64 xxd exec eval function( -enc |&sh system (&rev (&openssl `&rev `&openssl",
			subst+`[^)`+"`"+`]*`+decode+`|base64\s+(?:-d|-D|--decode)\b[^|]*\|\s*`+
				reader+`|\bxxd\s+-r\b[^|]*\|\s*`+reader+`|\beval\b.*\bbase64\b|`+
				`\bexec\(\s*(?:base64|codecs|zlib|marshal|bytes\.fromhex)\b|`+
				`\b(?:eval|Function)\(\s*(?:atob|Buffer\.from)\(|\s-enc(?:odedcommand)?\s+[A-Za-z0-9+/=]{24,}|`+
				`(?:(?:\\x[0-9a-f]{2}){4}|(?:\\[0-3]?[0-7]{2}){4}|\brev\b|\btr\s|\bopenssl\s+enc\b|\bgpg\b.*\s-d\b)`+
				`.*\|\s*`+shell+`|\b(?:system|exec|eval)\b.*\b(?:pack\(|fromcharcode)`, ""),
		of("reverse-shell", Danger, "/dev/tcp /dev/udp nc ncat socat socket fsockopen(",
			`/dev/(?:tcp|udp)/|\b(?:nc|ncat)\s+(?:\S+\s+)*-[a-z]*e\s|\bsocat\b.*\bexec:|`+
				`\b(?:perl|ruby|python[\d.]*|php)\s.*(?:io::socket|-rsocket\b|\bsocket\.socket\(|\bfsockopen\(|`+
				`\btcpsocket\b).*(?:\b(?:exec|system|dup2|popen)\b|\bspawn|\bsubprocess\b)`, ""),
		of("copies-secrets", Danger, "rsync scp rclone", `\b(?:rsync|scp|rclone)\s[^|;&]*`+stores+
			`[^|;&]*?[\w.@-]:`, `\s-i\s`),
		of("sends-secrets", Danger, places, stores+`.*\|\s*(?:\S+\s+)*?`+send+`|`+
			fetch+`.*(?:-d|--data\S*|-F|--form|-T|--upload-file)\s*\S*[@<(].*`+stores+`|`+
			send+`.*\$\(\s*(?:cat|base64)\b.*`+stores+`|`+send+`.*<\s*\S*`+stores, ""),
		of("sends-environment", Danger, "env printenv export set", whole+`\s*\|(?:[^|]*\|)*\s*`+send+`|`+
			send+`.*\$\(\s*`+whole+`\s*[)|]|`+send+"[^`]*`"+whole+"`", ""),
		of("opens-login", Danger, "authorized_keys", `>>\s*\S*authorized_keys`, ""),
		of("sends-by-name", Look, "nslookup dig host ping",
			`(?:`+start+`)(?:nslookup|dig|host|ping)\s[^|;&]*(?:\$\(.*\)|`+"`.*`"+`|\$\{?\w+\}?)["']?\.\w`, ""),
		of("runs-from-address", Danger, "curl wget iwr irm invoke-web invoke-rest",
			fetch+`.*`+dubious+`\S*.*\|\s*`+shell+`|`+handed+`.*`+dubious, ""),
		of("pipe-to-shell", Look, "curl wget iwr irm invoke-web invoke-rest iex ://&| urlopen "+
			"requests.get dig nslookup "+
			"host net::http net/http uri.open open-uri lwp:: eval(&fetch(",
			fetch+`[^|]*`+between+shell+`|`+resolve+`[^|]*`+between+shell+`|`+subst+resolve+`|`+
				handed+`|\biex\b.*(?:\biwr\b|\birm\b|downloadstring)|`+fetch+`[^|]*\|\s*iex\b|`+
				fetch+`[^|]*\|\s*(?:sudo\s+)?(?:python3?|perl|ruby|node)\s*-?\s*(?:$|["'`+"`"+`)])|`+
				`https?://[^|]*\|\s*`+shell+`|\burlopen\(.*\bexec\(|\bexec\(.*(?:\burlopen\(|\brequests\.get\()|`+
				`\b(?:eval|exec|system)\b.*\b(?:net::http\b|uri\.open\b|lwp::)|\beval\(.*\bfetch\(|`+
				`\b(?:net/http|open-uri|lwp::\w+)\b.*\s-e\s.*\b(?:eval|exec|system)\b`, ""),
		of("starts-process", Look, "child_process",
			`\bnode\s+(?:-\S+\s+)*(?:-e|-p|--eval|--print)\b.*\bchild_process\b`, ""),
		of("obeys-address", Look, "://&say ://&tell ://&instruct",
			`\b(?:fetch|get|read|open|load|download|retrieve|curl)\b`+
				`[^.]*https?://\S+.*\b(?:do|follow|obey|execute|run|perform|apply)\s+(?:\w+\s+){0,2}`+
				`(?:what(?:ever)?|as|everything|anything|all)\s+(?:it|that|they)\s+(?:says?|tells?|instructs?)|`+
				`\b(?:fetch|load|download|retrieve|curl)\b[^.]*https?://\S+.*\b(?:follow|obey|execute|carry\s+out)\s+`+
				`(?:\w+\s+){0,2}instructions`, ""),
		of("updates-itself", Look, "://&follow ://&obey ://&execute ://&apply",
			`\b(?:replace|update|overwrite|refresh|reload)\b[^.]*https?://\S+.*`+
				`\b(?:follow|obey|execute|apply)\s+(?:it|them)\b`, ""),
		of("lifts-protection", Look, "row firewall defender antivirus selinux gatekeeper branch two-factor 2fa audit "+
			"rls --no-verify /protection --admin",
			`\b(?:disable|turn\s+off|switch\s+off|remove|delete)\b.*\b(?:`+
				`row[-\s]level\s+security|rls|branch\s+protection|`+
				`firewall|antivirus|defender|selinux|gatekeeper|two-factor|2fa|audit\s+logs?)\b|`+
				`\bgit\s+(?:push|commit)\b.*--no-verify\b|\bDELETE\b.*/branches/.*/protection\b|`+
				`\bgh\s+pr\s+merge\b.*--admin\b`,
			`\b(?:never|not|don't|dont|without|avoid)\b`),
		of("speaks-for-person", Look, "stet skill&safe skill&harmless", `\bstet\s[^`+
			`|;&`+"`"+`]*(?:--accept|\baccept\b)|`+
			`\bstet\s+config\s+(?:set|add)\s+(?:guard|agents)\.|`+
			`\b(?:tell|assure|inform|convince)\b.*\b(?:user|person|human)\b.*\bskills?\b.*\b(?:safe|harmless)\b`, ""),
		of("asks-for-secret", Look, "ask request prompt collect obtain get",
			`\b(?:ask|request|prompt|collect|obtain|get)\b[^.]*`+
				`\b(?:user|person|owner|customer|them|their)\b[^.]*\b(?:`+
				`passwords?|passphrase|(?:seed|recovery)\s+(?:phrase|words)|(?:twelve|twenty-four|12|24)\s+words|`+
				`private\s+keys?|(?:credit\s+|debit\s+)?card\s+(?:number|details)|cvv|cvc|`+
				`one-time\s+(?:code|password))\b`,
			`\b(?:never|not|don't|dont|without|avoid)\b`),
		of("sends-elsewhere", Look, "remote pushurl insteadof", `\bgit\s+remote\s+set-url\b.*--push\b|`+
			`\bpushurl\b.*(?:://|@)|\b(?:push)?insteadof\b.*(?:://|@)|\burl\..*\b(?:push)?insteadof\b`,
			`\burl\.["']?(?:ssh://)?git@(?:github|gitlab|bitbucket)\.(?:com|org)[:/]["']?\.insteadof\b`),
		of("trusts-anybody", Look, "reject_unauthorized ssl_no_verify httpsverify sslverify strict-ssl "+
			"ca-certificates update-ca-trust add-trusted-cert addstore trust&anchor _proxy verify=false",
			`\bNODE_TLS_REJECT_UNAUTHORIZED["']?\s*[=:]\s*["']?0|\bGIT_SSL_NO_VERIFY\b\s*=|`+
				`\bPYTHONHTTPSVERIFY\s*=\s*0|`+
				`\bsslverify\b[\s=]+["']?false|\bstrict-ssl\b[\s=]+["']?false|`+
				`\bupdate-ca-(?:certificates|trust)\b|`+
				`\badd-trusted-cert\b|\bcertutil\b.*-addstore\b|\btrust\s+anchor\b|\bverify=false\b|`+
				`\b(?:https?|all)_proxy\s*=\s*["']?(?:https?|socks5h?)://`,
			`://(?:localhost|home|proxy\.example|your-)`),
		of("uploads", Look, "curl wget nc ncat netcat telnet socat git gist",
			`\bcurl\b.*\s(?:-[a-z]*(?-i:T)\b|--upload-file\b|`+
				`(?:-d|--data\S*)[=\s]*["']?(?:\$\(|`+"`"+`))|\bwget\b.*--(?:post|body)-file\b|`+
				`\|\s*(?:nc|ncat|netcat|telnet|socat)\s+\S+\s|`+
				`\bgit\s+push\s+(?:-\S+\s+)*["']?(?:\w+://|[\w.-]+@[\w.-]+:)|`+
				`\bgh\s+gist\s+create\b.*(?:--public\b|\s-p\b|\.env\b|\$\()`, ""),
		of("unpinned-package", Look, "npx bunx uvx dlx pipx deno @latest", `\bnpx\s+(?:-y|--yes)\s|`+
			`\b(?:bunx|uvx)\s+(?:-\S+\s+)*\w|\b(?:pnpm|yarn)\s+dlx\s|\bpipx\s+run\s|`+
			`\bdeno\s+run\s.*https?://|\bgo\s+run\s+\S+@latest\b`, `@v?\d|==\d`),
		of("foreign-package", Look, "index-url trusted-host registry git+ --git "+
			"://&install ://&add pip&:// pip3&:// uv&:// pipx&:// npm&:// pnpm&:// yarn&:// bun&:// gem&:// cargo&://",
			`--(?:extra-)?index-url\b|`+
				`--trusted-host\b|--registry[=\s]|\bset\s+registry\s|`+
				`\b(?:pip3?|uv|pipx|npm|pnpm|yarn|bun|gem|cargo)\s+`+
				`(?:\S+\s+)*(?:install|add|i)\s.*(?:git\+|https?://|--git\b)`,
			`https://(?:download\.pytorch\.org|pypi\.org|registry\.npmjs\.org)/`),
		of("secret-place", Look, places, stores, ""),
		of("stays", Look, ".bashrc zshrc zshenv profile config.fish crontab /etc/cron .git/hooks .husky launch core. "+
			"alias.&! credential.&! systemd systemctl autostart schtasks currentversion",
			`>>?\s*\S*\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b|`+
				`>>?\s*\S*config\.fish\b|\bcrontab\s+-(?:[^l]|$)|/etc/cron|\.git/hooks/|\.husky/|`+
				`core\.hookspath|core\.(?:fsmonitor|sshcommand|gitproxy|askpass)[\s=]+["']?(?:[^\s"'tf]|t[^r]|f[^a])|`+
				`\b(?:alias\.[\w-]+|credential\.(?:\S+\.)?helper)[\s=]+["']?!|`+
				`\blaunchctl\s+(?:load|bootstrap)\b|/launch(?:agents|daemons)/|\bsystemctl\s+(?:-\S+\s+)*enable\b|`+
				`/systemd/(?:user|system)/|/autostart/|\bschtasks\b.*/create|\\currentversion\\run`, ""),
		of("unguarded", Look, "--dangerously bypasspermissions nopasswd /etc/sudoers chmod setenforce docker podman",
			`--dangerously-|\bbypasspermissions\b|\bnopasswd\b|/etc/sudoers|\bsetenforce\s+0|`+
				`\b(?:docker|podman)\s.*(?:(?:-v|--volume)[=\s]*["']?/:|\b(?:source|src)=/,)|`+
				`\bchmod\s+(?:-\S+\s+)*(?:0?777|a\+rwx)\b`, ""),
		of("destroys", Look, "rm rmtree( rmsync( mkfs dd shred -delete git reflog remove-item drop",
			`\brm\s+-[a-z]*r[a-z]*\s+(?:-\S+\s+)*["']?`+
				`(?:~|/|\$\{?HOME\}?)["']?/?(?:\*|\.\*|\.?\[|["']?\s*(?:$|[;&|"'`+"`"+`)]))|`+
				`\brm(?:tree|Sync)?\(.*(?:expanduser\(|path\.home\(|homedir\()|\bmkfs\.|`+
				`\bdd\b.*\bof=/dev/(?:sd|nvme|disk|hd)|`+
				`\bshred\s+-|\bfind\s+["']?(?:~|/|\$\{?HOME\}?)["']?/?\s.*-delete\b|`+
				`\bgit\s+push\s.*(?:--mirror|--force.*--all|--all.*--force)|\breflog\s+expire\b.*=(?:now|all)\b|`+
				`\bremove-item\b.*(?:\$home|\$env:user).*-recurse|\bdrop\s+(?:schema|database)\s.*\bcascade\b|`+
				`\bdrop\s+database\s+(?:if\s+exists\s+)?["'`+"`"+`]?(?:prod|main|live)`, ""),
		of("client-config", Look, "mcp mcpservers claude_desktop .claude/ hooks pretooluse posttooluse sessionstart "+
			"userpromptsubmit autoapprove alwaysallow bash(",
			`\bmcp\.json\b|"mcpservers"|\bmcp_servers\b|`+
				`\bmcp\s+add(?:-json)?\s|`+
				`claude_desktop_config|\.claude/(?:settings|hooks|agents|commands)\b|"hooks"\s*:|`+
				`\b(?:PreToolUse|PostToolUse|SessionStart|UserPromptSubmit)["']?\s*:|\bautoapprove\b|\balwaysallow\b|`+
				`\bBash\(\s*:?\*\s*\)`, ""),
		of("address-with-data", Look, "](http",
			`!\[[^\]]*\]\(https?://[^)\s]*[?&][^)\s]*(?:\{\{|\$\{|%s|\{[a-z_]+\}|<[a-z]`+
				`|=\$?(?-i:[A-Z][A-Z_]{2,})[)&])`, ""),
		of("bare-address", Look, "://", `\b(?:https?|ftp|wss?)://(?:[^\s/@]*@)?(?:\d{1,3}\.){3}\d{1,3}\b`,
			`//(?:[^\s/@]*@)?(?:0\.0\.0\.0|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)`),
		of("runs-when-loaded", Look, "!`", "(?:^|\\s)!`[^`]", ""),
		of("runs-at-install", Look, "install\" prepare\"", `"(?:pre|post)?install"\s*:\s*"|"prepare"\s*:\s*"`, ""),
		of("stet-mark", Look, "stet-", `^\s+["']?stet-(?:managed|pinned|created-by|state)["']?\s*:`, ""),
	}
})

// readsSecret finds in a script that it reads where secrets are kept, has a store of secrets give them out, or takes
// all variables at once.
var readsSecret = sync.OnceValue(func() rule {
	return rule{words: strings.Fields(places + " environ process.env getenv() %env env.to_h kubectl secretsmanager " +
		"ssm vault op pass gh dump"), expr: regexp.MustCompile(
		`(?i)\bkubectl\b.*\bget\s+secrets?\b|\bsecretsmanager\s+get-secret|\bssm\s+get-parameters?\b.*decrypt|` +
			`\bvault\s+(?:kv\s+get|read)\b|\bop\s+(?:read|item\s+get)\b|\bpass\s+show\b|\bgh\s+auth\s+token\b|` +
			`\bsqlite3\b.*` + stores + `|` +
			`(?:\bopen\(|read_text|read_bytes|readfile(?:sync)?\(|get-content|file_get_contents|\bcat\s).*` +
			stores + `|` + stores + `.*(?:read_text|read_bytes)|` +
			`\b(?:dict|str|dumps)\(\s*(?:dict\(\s*)?os\.environ\s*\)|` +
			`\b(?:stringify|entries|keys)\(\s*process\.env\s*[,)]|\bos\.environ\.(?:items|copy|values)\(|` +
			`\bin\s+os\.environ\s*[:\])]|\bgetenv\(\s*\)|\bENV\.to_h\b|\bkeys\s+%ENV\b`)}
})

// sendsIt finds in a script that it sends something.
var sendsIt = sync.OnceValue(func() rule {
	return rule{words: strings.Fields("request urlopen fetch( axios httpx sendall curl wget iwr irm invoke- " +
		"://&send ://&post ://&upload ://&forward ://&submit ://&transmit ://&hand ://&pass ://&give ://&put"),
		expr: regexp.MustCompile(`(?i)\b(?:send|post|upload|forward|submit|transmit|hand|pass|give|put)\b[^.]*?` +
			`\b(?:to|at|into|as)\b.*https?://|` + `\brequests\.(?:post|put|patch)\(|\burlopen\(|\bfetch\(|\baxios\.|` +
			`\bhttps?\.request\(|\bhttpx\.(?:post|put)\(|\.sendall\(|` + fetch +
			`.*(?:\s-d\b|--data|\s-F\b|\s-T\b|--upload)`)}
})

// opensSocket finds in a script that it connects to another machine, givesShell that it hands what it holds to a shell.
var opensSocket, givesShell = sync.OnceValue(func() rule {
	return rule{words: strings.Fields("socket net. tcpclient sockaddr"), expr: regexp.MustCompile(
		`(?i)\bsocket\.socket\(|\bsocket\(|\bnet\.(?:connect|createconnection|socket|dial)\b|` +
			`\btcpclient\b|\bsockaddr_in\b`)}
}), sync.OnceValue(func() rule {
	return rule{words: strings.Fields("dup2 pty.spawn sh\" sh' /bin/sh /bin/bash /bin/zsh /bin/dash " +
		"cmd.exe powershell"),
		expr: regexp.MustCompile(`(?i)\bdup2\(|\bpty\.spawn\(|["'](?:/(?:usr/)?bin/)?(?:ba|z|da)?sh["'].*` +
			`(?:-i\b|\bpipe\b|stdio)|` +
			`\b(?:spawn|exec|call|popen|system)\w*\(.*(?:/bin/(?:ba|z|da)?sh|cmd\.exe|powershell)`)}
})
