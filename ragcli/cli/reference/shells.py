"""Completion scripts for bash, zsh and fish, made from the command tree. Returns text, writes none.

The scripts hold commands, options and fixed words; only sessions, documents and languages ask ragcli at the TAB.
"""

from collections.abc import Callable
from typing import Any

from ragcli.cli.command_tree import CHOICES, FILES, LOOKED_UP, Word, grammars

_HEAD = "# Completion of ragcli for {}. Made from the command tree by: python -m ragcli.cli.reference.generate\n"


def bash(tree: Any) -> str:
    """Return the script for bash (3.2 and later)."""
    root, *commands = grammars(tree)
    kinds, options = [], []
    for grammar in commands:
        for word in grammar.words:
            if word.metavar and word.names and word not in root.words:
                patterns = "|".join(f"{grammar.name}:{name}" for name in word.names)
                kinds.append(f"        {patterns}) kind={_kind(word)} ;;\n")
        names = " ".join(name for word in grammar.words for name in word.names)
        argument = next((_kind(word) for word in grammar.words if not word.names), "none")
        options.append(f"        {grammar.name}) options='{names}' argument={argument} ;;\n")
    shared = "".join(
        f"        {'|'.join(f'*:{name}' for name in word.names)}) kind={_kind(word)} ;;\n"
        for word in root.words
        if word.metavar
    )
    return _HEAD.format("bash") + _BASH.format(
        taking="|".join(name for word in root.words if word.metavar for name in word.names),
        kinds=shared + "".join(kinds),
        options="".join(options),
        root=" ".join(name for word in root.words for name in word.names),
        commands=" ".join(grammar.name for grammar in commands),
        looked_up="|".join(sorted(set(LOOKED_UP.values()))),
        choices="".join(f"        {key}) words='{' '.join(words)}' ;;\n" for key, words in CHOICES.items()),
    )


def zsh(tree: Any) -> str:
    """Return the script for zsh, to be saved as _ragcli in a directory of $fpath."""
    root, *commands = grammars(tree)
    rows = []
    for grammar in commands:
        own = [spec for word in grammar.words if word not in root.words for spec in _zsh_specs(word)]
        body = "".join(f" \\\n                    {spec}" for spec in own)
        rows.append(f"                {grammar.name})\n                _arguments -s $shared{body} ;;\n")
    return (
        "#compdef ragcli\n"
        + _HEAD.format("zsh")
        + _ZSH.format(
            commands="".join(f"        {_quoted(f'{one.name}:{one.summary}')}\n" for one in commands),
            shared="".join(f"        {spec}\n" for word in root.words for spec in _zsh_specs(word)),
            rows="".join(rows),
        )
    )


def fish(tree: Any) -> str:
    """Return the script for fish."""
    root, *commands = grammars(tree)
    taking = " ".join(name for word in root.words if word.metavar for name in word.names)
    lines = [
        f"complete -c ragcli -n '__ragcli_is \"\"' -a {one.name} -d {_quoted(one.summary, fish=True)}"
        for one in commands
    ]
    lines += [_fish_line("", word) for word in root.words]
    for grammar in commands:
        lines += [_fish_line(grammar.name, word) for word in grammar.words if word not in root.words]
    return _HEAD.format("fish") + _FISH.format(taking=taking) + "".join(f"{line}\n" for line in lines if line)


SCRIPTS: dict[str, Callable[[Any], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
FILE_NAMES = {"bash": "ragcli.bash", "zsh": "_ragcli", "fish": "ragcli.fish"}


def _kind(word: Word) -> str:
    if word.metavar in LOOKED_UP:
        return LOOKED_UP[word.metavar]
    if word.metavar in CHOICES:
        return word.metavar
    return "files" if word.metavar in FILES else "none"


def _zsh_specs(word: Word) -> list[str]:
    action = _zsh_action(word)
    if not word.names:
        return [f"'{'*' if word.repeatable else '1'}:{word.metavar.replace(':', '')}:{action}'"]
    help = word.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("'", "'\\''")
    value = f":{word.metavar}:{action}" if word.metavar else ""
    if len(word.names) == 1 or not word.metavar:
        return [f"'{'*' if word.repeatable else ''}{name}[{help}]{value}'" for name in word.names]
    exclusive = "" if word.repeatable else f"({' '.join(word.names)})"
    star = "*" if word.repeatable else ""
    return [f"'{exclusive}{star}{name}[{help}]{value}'" for name in word.names]


def _zsh_action(word: Word) -> str:
    if word.metavar in CHOICES:
        return f"({' '.join(CHOICES[word.metavar])})"
    if word.metavar == "ID|FILE":
        return "{_ragcli_values documents; _files}"
    if word.metavar in LOOKED_UP:
        return f"{{_ragcli_values {LOOKED_UP[word.metavar]}}}"
    if word.metavar == "DIR":
        return "_files -/"
    # A text of the user's own. The usual " " would show a message and keep options from being inserted.
    return "_files" if word.metavar in FILES else "{:}"


def _fish_line(command: str, word: Word) -> str:
    when = f" -n '__ragcli_is {command}'" if command else ""
    values = ""
    if word.metavar in LOOKED_UP:
        values = f" -a '(__ragcli_values {LOOKED_UP[word.metavar]})'"
    elif word.metavar in CHOICES:
        values = f" -a '{' '.join(CHOICES[word.metavar])}'"
    if not word.names:
        files = " -F" if word.metavar in FILES else ""
        return f"complete -c ragcli{when}{files}{values}" if files or values else ""
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in word.names)
    takes = ""
    if word.metavar:
        takes = " -r -F" if word.metavar in FILES else " -x"
    return f"complete -c ragcli{when}{names}{takes}{values} -d {_quoted(word.help, fish=True)}"


def _quoted(text: str, *, fish: bool = False) -> str:
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"


_BASH = """\
_ragcli() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    local command= plain= word kind= options argument words i session=()
    # bash parts --option=value at the equals sign.
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" && $COMP_CWORD -gt 2 ]]; then
        prev=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        case $word in
        --) plain=1 ;;
        {taking})
            [[ ${{COMP_WORDS[i+1]}} == "=" ]] && ((i++))
            [[ $word == -s || $word == --session ]] && ((i + 1 < COMP_CWORD)) && session=(-s "${{COMP_WORDS[i+1]}}")
            ((i++)) ;;
        -*) ;;
        *) [[ -z $command ]] && command=$word ;;
        esac
    done
    case $command:$prev in
{kinds}    esac
    case $command in
{options}        '') options='{root}' argument=commands ;;
        *) options= argument=none ;;
    esac
    if [[ -z $kind && -z $plain && $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return
    fi
    [[ -z $kind ]] && kind=$argument
    case $kind in
        commands) words='{commands}' ;;
        {looked_up}) words=$("${{COMP_WORDS[0]}}" completion --values "$kind" "${{session[@]}}" 2>/dev/null) ;;
{choices}        *) words= ;;
    esac
    # Nothing to offer: readline completes file names.
    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _ragcli ragcli
"""

_ZSH = """\
_ragcli_values() {{
    local -a session found
    local at=${{typed[(I)(-s|--session)]}}
    (( at && at < $#typed )) && session=(-s "${{(Q)typed[at+1]}}")
    found=(${{(f)"$(_call_program values ragcli completion --values $1 $session 2>/dev/null)"}})
    compadd -a found
}}
_ragcli() {{
    local curcontext=$curcontext state line ret=1
    local -A opt_args
    local -a commands shared typed=($words)
    commands=(
{commands}    )
    shared=(
{shared}    )
    _arguments -C -s -A '-*' $shared '1:command:->command' '*::argument:->argument' && ret=0
    case $state in
        command) _describe -t commands command commands && ret=0 ;;
        argument)
            case $line[1] in
{rows}            esac
            ret=0 ;;
    esac
    return ret
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _ragcli "$@"
else
    compdef _ragcli ragcli
fi
"""

_FISH = """\
function __ragcli_command
    set -l words (commandline -opc)
    set -e words[1]
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word {taking}
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end
function __ragcli_is
    set -l command (__ragcli_command)
    test "$command" = "$argv[1]"
end
function __ragcli_values
    set -l words (commandline -opc)
    set -l session
    for at in (seq (count $words))
        if contains -- $words[$at] -s --session
            set -l next (math $at + 1)
            test $next -le (count $words); and set session -s $words[$next]
        end
    end
    ragcli completion --values $argv[1] $session 2>/dev/null
end
complete -c ragcli -f
"""
