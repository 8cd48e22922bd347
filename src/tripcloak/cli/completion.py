"""tripcloak completion: scripts by which a shell completes commands and options."""

from typing import Annotated

import typer

from tripcloak.ground.errors import InputError

SHELLS = ("bash", "zsh", "fish")


def command(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that lets a shell complete commands and options of tripcloak.

    Put it where the shell looks for such scripts, or source it when a shell starts.

    [bold]Examples[/bold]

      tripcloak completion bash > ~/.local/share/bash-completion/completions/tripcloak

      tripcloak completion fish > ~/.config/fish/completions/tripcloak.fish
    """
    if shell not in SHELLS:
        raise InputError(f"expected one of {', '.join(SHELLS)}; got {shell!r}")
    words = _words()
    print(_fish(words) if shell == "fish" else _bash(words, zsh=shell == "zsh"))


def _words() -> dict[str, list[str]]:
    """Return what may follow each command: the words of commands below it, or its options."""
    from tripcloak.cli.app import COMMANDS, below, parameters_of

    return {
        name: below(name)
        or sorted(flag for one in parameters_of(name) for flag in one.opts if flag.startswith("--"))
        for name in ("", *COMMANDS)
    }


def _bash(words: dict[str, list[str]], *, zsh: bool) -> str:
    """Return the longest command that was typed as a case, and files where none of its words fit."""
    cases = "\n".join(f'    "{name}") words="{" ".join(own)}" ;;' for name, own in words.items())
    first = "autoload -U +X bashcompinit && bashcompinit\n" if zsh else ""
    return f"""{first}_tripcloak() {{
  local name="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) break ;; esac
    case "$name $word" in {_known(words)}) name="${{name:+$name }}$word" ;; *) break ;; esac
  done
  case "$name" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _tripcloak tripcloak"""


def _known(words: dict[str, list[str]]) -> str:
    names = [name for name in words if name]
    return "|".join(f'" {name}"' if " " not in name else f'"{name}"' for name in names)


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["complete -c tripcloak -n __fish_use_subcommand -a '" + " ".join(words[""]) + "'"]
    for name, own in words.items():
        if not name:
            continue
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        for word in own:
            how = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c tripcloak -n '{seen}' {how}")
    return "\n".join(lines)
