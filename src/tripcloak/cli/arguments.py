"""Arguments as people type them: several files after one flag, and ~ where no shell has seen it."""

from collections.abc import Collection, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import address_among, given_path, output_path

AGAINST = "--against"
ADDRESS = "tripcloak.address"
"""Where a command notes the address that its release goes to."""


class _PlainHelp:
    """What has a ``--help`` like other switches, after which no value is named."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class PlainGroup(_PlainHelp, TyperGroup):
    """A list of commands."""


class ForgivingCommand(_PlainHelp, TyperCommand):
    """A command whose ``--against`` takes several files at once, and whose paths may begin with ~."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments after reading them."""
        options = [one for one in self.params if one.param_type_name == "option"]
        valued = {name for one in options if not _is_switch(one) for name in one.opts}
        left: list[str] = super().parse_args(ctx, several_against(args, valued))
        typed = [*args, *(one.partition("=")[2] for one in args), *(ctx.default_map or {}).values()]
        for name, value in ctx.params.items():
            if isinstance(value, Path):
                # A path has lost one of two strokes; an address had both.
                text = next((one for one in typed if isinstance(one, str) and Path(one) == value), str(value))
                if name == "out" and ctx.params.get("engine") == "spark" and address_among(text):
                    ctx.meta[ADDRESS] = text.rstrip("/")
                else:
                    ctx.params[name] = output_path(text) if name == "out" else _found(text)
        return left

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a release that goes to an address is written here first."""
        if ADDRESS not in ctx.meta:
            return super().invoke(ctx)
        from tripcloak.engines.cluster_files import written_to

        address, asked = ctx.meta[ADDRESS], ctx.params
        told = StringIO()
        with written_to(address, master=asked["master"], force=asked["force"]) as folder:
            asked["out"] = folder
            # What is said of the release holds once it is there, and there.
            with redirect_stdout(told):
                done = super().invoke(ctx)
        words = told.getvalue().replace(folder.as_uri(), address).replace(str(folder), address)
        print(words, end="", flush=True)
        return done


def several_against(arguments: Sequence[str], valued: Collection[str]) -> list[str]:
    """Return arguments with the flag before every file that follows ``--against``.

    Where no folder stands elsewhere, the last name of all is the folder that is looked at.

    Parameters
    ----------
    valued
        The flags that take a value.

    Examples
    --------
    >>> several_against(["out", "--against", "a.csv", "b.csv", "--k", "5"], {"--against", "--k"})
    ['out', '--against', 'a.csv', '--against', 'b.csv', '--k', '5']
    >>> several_against(["--against", "a.csv", "b.csv", "out"], {"--against"})
    ['--against', 'a.csv', '--against', 'b.csv', 'out']
    """
    if AGAINST not in valued or AGAINST not in arguments:
        return [*arguments]
    rest, files, folders = [*arguments], list[str](), 0
    # Each part is a flag with its value, a file after --against, or a name that stands alone.
    parts: list[list[str]] = []
    while rest:
        first = rest.pop(0)
        if first == "--":
            parts.append([first, *rest])
            folders += len(rest)
            break
        if first == AGAINST:
            while rest and (rest[0] == "-" or not rest[0].startswith("-")):
                files.append(rest[0])
                parts.append([AGAINST, rest.pop(0)])
            if not files:
                parts.append([first])
        elif first in valued and rest:
            parts.append([first, rest.pop(0)])
        else:
            folders += not first.startswith("-")
            parts.append([first])
    if not folders and len(files) > 1:
        last = max(place for place, part in enumerate(parts) if part == [AGAINST, files[-1]])
        parts[last] = parts[last][1:]
    return [text for part in parts for text in part]


def _found(text: str) -> Path:
    """Return where something is that a command reads besides records, or raise where that is elsewhere."""
    if (scheme := address_among(text)) is not None:
        raise InputError(
            f"expected a path of this machine, and found an address with {scheme}://, from which only "
            "records are read; fetch what it leads to (such as by hdfs dfs -get), and give the path"
        )
    return given_path(text)


def _is_switch(one: Any) -> bool:
    return bool(getattr(one, "is_flag", False))
