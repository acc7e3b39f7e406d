# fish completion of stet: stet completion fish | source
function __stet_words
	set -l words (commandline -opc) (commandline -ct)
	stet completion described -- $words[2..-1] 2>/dev/null
end
complete -c stet -f -a '(__stet_words)'
