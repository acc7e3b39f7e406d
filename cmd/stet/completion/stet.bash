# bash completion of stet: source <(stet completion bash)
_stet() {
	local word says line i quote=${COMP_WORDS[COMP_CWORD]:0:1}
	local -a typed words described
	COMPREPLY=()
	# What was typed, without the shell's quotes and backslashes. Nothing of it is evaluated.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		case $word in
		\"*) word=${word#\"} word=${word%\"} ;;
		\'*) word=${word#\'} word=${word%\'} ;;
		*) word=${word//\\/} ;;
		esac
		typed+=("$word")
	done
	# Not compgen -W: it would expand what stands in the names of files.
	while IFS=$'\t' read -r word says; do
		case $quote in
		\") word=${word//\\/\\\\} word=${word//\"/\\\"} word=${word//\$/\\\$} word=${word//\`/\\\`} ;;
		\') [[ $word == *\'* ]] && continue ;;
		*) word=$(printf %q "$word") ;;
		esac
		words+=("$word")
		described+=("$says")
	done < <(stet completion described -- "${typed[@]}" 2>/dev/null)
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
