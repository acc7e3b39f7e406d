# bash completion of stet: source <(stet completion bash)
_stet() {
	local word says line i quote=${COMP_WORDS[COMP_CWORD]:0:1} all=1 fold=u
	local -a typed names words described
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
		line=$word
		case $quote in
		\") word=${word//\\/\\\\} word=${word//\"/\\\"} word=${word//\$/\\\$} word=${word//\`/\\\`} ;;
		\') [[ $word == *\'* ]] && continue ;;
		*) printf -v word %q "$word" ;;
		esac
		names+=("$line")
		words+=("$word")
		described+=("$says")
	done < <(stet completion described -- "${typed[@]}" 2>/dev/null)
	COMPREPLY=("${words[@]}")
	[[ ${#words[@]} -gt 1 ]] || return
	# Where bash lists them (?, ! and @), each stands with what it is; what it puts on the line is what all begin with.
	if [[ ${COMP_TYPE:-9} =~ ^(33|63|64)$ ]]; then
		for i in "${!words[@]}"; do
			if [[ -n ${described[i]} ]]; then
				printf -v line '%-30s (%s)' "${words[i]}" "${described[i]}"
				COMPREPLY[i]=$line
			fi
		done
	fi
	# Where not all begin as the word does, bash would put what they have in common in its place. With an empty one
	# among them that is nothing, and what was typed stays.
	word=${typed[COMP_CWORD - 1]}
	for line in "${names[@]}"; do
		[[ ${line:0:${#word}} == "${names[0]:0:${#word}}" ]] || all=
	done
	shopt -q nocasematch && fold=s
	shopt -s nocasematch
	[[ ${names[0]} == "$word"* ]] || all=
	shopt -$fold nocasematch
	[[ -n $all || ${COMP_TYPE:-9} =~ ^(63|37)$ ]] || COMPREPLY+=("")
}
complete -o nosort -o default -F _stet stet 2>/dev/null || complete -o default -F _stet stet
