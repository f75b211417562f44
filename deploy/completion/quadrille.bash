# Completion of quadrille for bash. The commands and flags are those that the program's own --help names.
_quadrille() {
    local word=${COMP_WORDS[COMP_CWORD]} command=
    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" $command --help 2>/dev/null |
            sed -nE 's/^ +(-.,)? *(--[a-z-]+).*/\2/p')" -- "$word"))
    elif [[ -z $command ]]; then
        COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null |
            sed -nE '/^Commands/,/^Flags/s/^  ([a-z]+) .*/\1/p')" -- "$word"))
    else
        compopt -o default 2>/dev/null
    fi
}
complete -F _quadrille quadrille
