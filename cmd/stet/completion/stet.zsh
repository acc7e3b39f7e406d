#compdef stet
# zsh completion of stet: source <(stet completion zsh), after compinit
_stet() {
	local -a found
	found=("${(@f)$(stet completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "${found[1]}" ]]; then
		compadd -a found
	else
		_files
	fi
}
compdef _stet stet
