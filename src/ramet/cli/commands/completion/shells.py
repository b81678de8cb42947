"""The shells: the script that each loads, and how a candidate is written for it.

The script runs `ramet` with `_RAMET_COMPLETE` set at every TAB. Titles come from agents: each line is data that the
script reads field by field, and nothing of it is evaluated.
"""

import sys
from collections.abc import Mapping

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from ramet.cli.commands.completion.candidates import list_candidates
from ramet.cli.invocation import Invocation

VARIABLE = "_RAMET_COMPLETE"

_BASH = """\
%(complete_func)s() {
    local kind value title index
    local -a titles=()
    COMPREPLY=()
    while IFS=$'\\t' read -r kind value title; do
        case $kind in
            file) compopt -o default; return ;;
            dir) compopt -o dirnames; return ;;
            plain) COMPREPLY+=("$value"); titles+=("$title") ;;
        esac
    done < <(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" %(complete_var)s=bash_complete "$1" 2>/dev/null)
    # A title helps to choose. A single candidate, and one that a key inserts from a menu, is inserted without it.
    if (( ${#COMPREPLY[@]} > 1 && COMP_TYPE != 37 && COMP_TYPE != 42 )); then
        for index in "${!COMPREPLY[@]}"; do
            [[ ${titles[index]} ]] && COMPREPLY[index]+="  (${titles[index]})"
        done
    fi
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_FISH = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \\
        COMP_CWORD=(commandline -t) %(prog_name)s 2>/dev/null)
    for completion in $response
        set -l parts (string split --max 1 "," -- $completion)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Bash(BashComplete):
    """Shows titles, which click's own script leaves out."""

    source_template = _BASH

    def source(self) -> str:
        return ShellComplete.source(self)  # without asking the installed bash for its version

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type}\t{item.value}\t{item.help or ''}"


class _Fish(FishComplete):
    """Keeps titles with a comma whole, which click's own script cuts."""

    source_template = _FISH


SHELLS: Mapping[str, type[ShellComplete]] = {"bash": _Bash, "zsh": ZshComplete, "fish": _Fish}


def make_script(command: click.Command, shell: str) -> str:
    """The script that a shell loads."""
    return SHELLS[shell](command, {}, "ramet", VARIABLE).source()


def complete(command: click.Command, invocation: Invocation) -> int:
    """Print the candidates for the half-typed line in the environment; the exit status.

    Nothing that is wrong with the line or with Ramet is printed: it would land in the line that a person types.
    """
    shell = SHELLS.get(invocation.environ[VARIABLE].partition("_")[0])
    if shell is None:
        return 1
    invocation.list_candidates = list_candidates
    try:
        text = shell(command, {"obj": invocation}, "ramet", VARIABLE).complete()
    except (Exception, SystemExit):  # noqa: BLE001
        return 1
    sys.stdout.write(f"{text}\n" if text else "")
    return 0
