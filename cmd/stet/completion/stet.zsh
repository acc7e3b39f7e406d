#compdef stet
# zsh completion of stet: source <(stet completion zsh), after compinit
_stet() {
	local line begin=${(Q)PREFIX}
	local -a found shown loose
	for line in "${(@f)$(stet completion described -- "${(@)${(@Q)words[2,CURRENT]}#[\"\']}" 2>/dev/null)}"; do
		[[ -n "$line" ]] || continue
		found+=("${line%%$'\t'*}")
		shown+=("${line%%$'\t'*}  ${line#*$'\t'}")
		[[ "$found[-1]" == "$begin"* ]] || loose=(-U)
	done
	if (( $#found )); then
		# Where not all begin as the word does, zsh is to drop none, and to put nothing but the only one in its place.
		(( $#loose && $#found > 1 )) && compstate[insert]= compstate[list]='list force'
		compadd $loose -l -V stet -d shown -a found
	else
		_files
	fi
}
compdef _stet stet
