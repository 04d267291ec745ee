package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
)

func completionCommand() command {
	return command{name: "completion", takes: anyWords, args: "bash|zsh|fish", usage: "the script that completes command lines of ringtrain in a shell", examples: []string{"ringtrain completion bash >~/.local/share/bash-completion/completions/ringtrain"}, run: runCompletion}
}

// completeCommand is called by the scripts of completionCommand. It prints the
// candidates for the last of its words, which may be empty.
func completeCommand() command {
	return command{name: "complete", takes: anyWords, run: runComplete, stop: func(string) bool { return true }}
}

// completionScripts has the script of each shell. A script passes the words up to the
// cursor to `ringtrain complete`. If that prints nothing, the script completes names of
// files.
var completionScripts = map[string]string{
	"bash": `# bash completion of ringtrain: source <(ringtrain completion bash)
_ringtrain() {
	local IFS=$'\n' line candidates=()
	local current=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	while read -r line; do candidates+=("${line%%$'\t'*}"); done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
	COMPREPLY=("${candidates[@]}")
	[[ ${#candidates[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current"))
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -o filenames -F _ringtrain ringtrain
`,
	"zsh": `#compdef ringtrain
# zsh completion of ringtrain: source <(ringtrain completion zsh), or _ringtrain in a folder of fpath
_ringtrain() {
	local line name about candidates=()
	for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] || continue
		name=${line%%$'\t'*} about=${line#*$'\t'}
		candidates+=("${name//:/\\:}:$about")
	done
	if (( ${#candidates} )); then _describe ringtrain candidates; else _files; fi
}
if [ "$funcstack[1]" = _ringtrain ]; then _ringtrain "$@"; else compdef _ringtrain ringtrain; fi
`,
	"fish": `# fish completion of ringtrain: ringtrain completion fish | source
function __ringtrain_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l candidates ($words[1] complete -- $words[2..-1] 2>/dev/null)
	if test (count $candidates) -gt 0
		printf '%s\n' $candidates
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c ringtrain -f -a '(__ringtrain_complete)'
`,
}

func runCompletion(a *app, c *cli.Context) error {
	script, ok := completionScripts[c.Args().First()]
	if !ok || c.NArg() != 1 {
		return exitcode.With(exitcode.Usage, fmt.Errorf("completion %s: want completion bash, zsh or fish", strings.Join(c.Args().Slice(), " ")))
	}
	fmt.Fprint(a.out, script)
	return nil
}

func runComplete(a *app, c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range candidatesFor(words) {
		fmt.Fprintf(a.dataOut(), "%s\t%s\n", candidate.text, candidate.about)
	}
	return nil
}
