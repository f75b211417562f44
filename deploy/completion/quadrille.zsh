#compdef quadrille
# Completion of quadrille for zsh. The commands and flags are those that the program's own --help names.
local -a commands flags
if [[ $words[CURRENT] == -* ]]; then
    local command=
    ((CURRENT > 2)) && command=$words[2]
    flags=(${(f)"$($words[1] $command --help 2>/dev/null | sed -nE 's/^ +(-.,)? *(--[a-z-]+).*/\2/p')"})
    _describe flag flags
elif ((CURRENT == 2)); then
    commands=(${(f)"$($words[1] --help 2>/dev/null | sed -nE '/^Commands/,/^Flags/s/^  ([a-z]+) +(.*)/\1:\2/p')"})
    _describe command commands
else
    _files
fi
