#!/bin/sh
# Do the real Claude Code and Codex see what "stet install" wrote?
#   .ci/mcp/installed.sh DIR   DIR/stet is the binary, DIR/node_modules has both programs
set -eu
dir=$(cd "$1" && pwd -P)
programs=$dir/node_modules/.bin
HOME=$dir/home
export HOME
mkdir "$HOME"
cd "$HOME"
unset CLAUDE_CONFIG_DIR CODEX_HOME XDG_CONFIG_HOME XDG_STATE_HOME STET_AGENT STET_VAULT CLAUDE_CODE_SESSION_ID || true

sees() { # PATTERN COMMAND...: the output of the command has the pattern
	pattern=$1
	shift
	"$@" >"$dir/said" 2>"$dir/errors" || true
	grep -q "$pattern" "$dir/said" || {
		printf '%s: not seen: %s\n' "$*" "$pattern"
		cat "$dir/said" "$dir/errors"
		exit 1
	}
}

# by bytes, where claude is not on PATH, and through "claude mcp add", where it is
without=$PATH
for path in "$without" "$programs:$without"; do
	for client in claude-code codex; do
		PATH=$path "$dir/stet" install "$client" --yes >/dev/null
	done
	sees "stet: $dir/stet mcp - .*Connected" "$programs/claude" mcp list
	sees "^stet .*$dir/stet .*enabled" "$programs/codex" mcp list
	"$dir/stet" install --check
	for client in claude-code codex; do
		PATH=$path "$dir/stet" uninstall "$client" --yes >/dev/null
	done
	if grep -rn 'stet mcp\|stet hook' .claude.json .claude/settings.json .codex/config.toml .codex/hooks.json 2>/dev/null; then
		echo 'something of stet was left behind'
		exit 1
	fi
done
"$dir/stet" install plugin ./plugin --yes >/dev/null
sees 'Validation passed' "$programs/claude" plugin validate ./plugin
echo 'Claude Code and Codex see what stet install wrote'
