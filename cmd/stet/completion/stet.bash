# bash completion of stet: source <(stet completion bash)
_stet() {
	local word
	COMPREPLY=()
	# Not compgen -W: it would expand what stands in the names of files.
	while IFS= read -r word; do
		COMPREPLY+=("$(printf %q "$word")")
	done < <(stet completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _stet stet
