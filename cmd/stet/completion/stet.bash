# bash completion of stet: source <(stet completion bash)
_stet() {
	local word says line i
	local -a words described
	COMPREPLY=()
	# Not compgen -W: it would expand what stands in the names of files.
	while IFS=$'\t' read -r word says; do
		words+=("$(printf %q "$word")")
		described+=("$says")
	done < <(stet completion described -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=("${words[@]}")
	# Where bash lists them (?, ! and @), each stands with what it is; what it puts on the line is what all begin with.
	if [[ ${#words[@]} -gt 1 && ${COMP_TYPE:-9} =~ ^(33|63|64)$ ]]; then
		for i in "${!words[@]}"; do
			if [[ -n ${described[i]} ]]; then
				printf -v line '%-30s (%s)' "${words[i]}" "${described[i]}"
				COMPREPLY[i]=$line
			fi
		done
	fi
}
complete -o default -F _stet stet
