#compdef stet
# zsh completion of stet: source <(stet completion zsh), after compinit
_stet() {
	local line
	local -a found shown
	for line in "${(@f)$(stet completion described -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n "$line" ]] || continue
		found+=("${line%%$'\t'*}")
		shown+=("${line%%$'\t'*}  ${line#*$'\t'}")
	done
	if (( $#found )); then
		compadd -l -d shown -a found
	else
		_files
	fi
}
compdef _stet stet
