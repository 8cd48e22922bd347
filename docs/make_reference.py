"""Writes api.md, the reference of every public name, from signatures and docstrings: ``make docs``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import tripcloak as tc
from tripcloak.ground.options import declared_options
from tripcloak.promises import Promise

PAGE = Path(__file__).parent / "api.md"
HEAD = """\
# Reference

Every public name of `tripcloak` (`import tripcloak as tc`) and `tripcloak.trajectories`, made from the
docstrings by `make docs`. [In Python](python.md) says how they go together.
"""
VERBS = ("anonymise", "describe", "compare", "open", "audit", "measures")
SEVERAL = ("series", "difference", "score")
"""Verbs on releases of flows alone."""
RESULTS = (
    *("ReleasedFlows", "ReleasedSegments", "ReleasedTrajectories"),
    *("ReleaseAudit", "ReleaseMeasures", "ReleaseScore", "InputSummary", "MethodComparison"),
    *("ReleasedSeries", "ReleaseDifference"),
)
METHODS = tuple(
    kind.__name__ for registry in (tc.METHODS, tc.TRAJECTORY_METHODS) for kind in registry.values()
)
LISTED = ("Parameters", "Other Parameters", "Attributes", "Raises", "Returns", "Yields")
SHARED = {
    "Promises": """
What can be asked of every promise: `.safe(groups)` (which groups are), `.published(volume)` (which numbers
may be told), `.sentence()`, `.limits()` (what it does not cover), `.to_manifest()`.
""",
    "Methods": """
Every method is its parameters, and has one verb: `.anonymise(matrix)`, or `.anonymise(trajectories)`. The
front door takes its name, its class or its object as `method`. [Pages on methods](index.md) tell how they
work.
""",
}
ROOMY = 10
"""Parameters up to which a signature is written out above their list."""


def rendered() -> str:
    """Return the page."""
    groups = grouped()
    contents = "".join(f"- [{title}](#{anchor(title)}): {listed(names)}\n" for title, names in groups.items())
    parts = [f"{HEAD}\n{contents}"]
    for title, names in groups.items():
        parts.append(f"## {title}\n{SHARED.get(title, '')}")
        parts += [entry(name, named(name), asked=title not in SHARED) for name in names]
    return "\n".join(parts).rstrip() + "\n"


def grouped() -> dict[str, list[str]]:
    """Return all public names by what they are, each once."""
    verbs = [*VERBS, *SEVERAL, *(f"trajectories.{name}" for name in VERBS)]
    left = [name for name in tc.__all__ if name not in {*VERBS, *SEVERAL, "__version__"}]
    left += [f"trajectories.{name}" for name in tc.trajectories.__all__ if name not in {*VERBS, *tc.__all__}]

    def taken(of: Callable[[str], bool]) -> list[str]:
        found = [name for name in left if of(name)]
        left[:] = [name for name in left if name not in found]
        return found

    errors = taken(lambda name: is_kind(name, Exception))
    promises = taken(lambda name: is_kind(name, Promise))
    methods = taken(lambda name: name in METHODS)
    results = [name for name in RESULTS if name in left]
    taken(lambda name: name in RESULTS)
    return {
        "Verbs": verbs,
        "Results": results,
        "Promises": promises,
        "Methods": methods,
        "Building blocks": sorted(left, key=str.lower),
        "Errors": errors,
    }


def named(name: str) -> Any:
    """Return what a public name stands for."""
    found: Any = tc
    for part in name.split("."):
        found = getattr(found, part)
    return found


def is_kind(name: str, kind: type) -> bool:
    """Return whether a name is that of a class of some kind."""
    return isinstance(named(name), type) and issubclass(named(name), kind)


def entry(name: str, thing: Any, *, asked: bool) -> str:
    """Return what is said about one name, with what can be asked of it or without."""
    if inspect.ismodule(thing):
        return f"### tc.{name} (module)\n\n{said(inspect.getdoc(thing) or '')}"
    if not callable(thing) or not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return f"### tc.{name}\n\n{', '.join(f'`{key}`' for key in thing)}.\n"
    if inspect.isclass(thing) and issubclass(thing, Exception):
        bases = ", ".join(f"`{base.__name__}`" for base in thing.__bases__)
        return f"### tc.{name}\n\n{said(inspect.getdoc(thing) or '')}\nIs a kind of {bases}.\n"
    described = said(words_of(thing), types_of(thing))
    if name.rpartition(".")[2] in ("describe", "compare"):
        described = shortened(
            described, named(name.replace("describe", "anonymise").replace("compare", "anonymise"))
        )
    more = members(thing) if asked and inspect.isclass(thing) else ""
    return f"### tc.{name}\n\n{signature(name, thing)}{described}{more}"


def shortened(described: str, verb: Any) -> str:
    """Return words on a verb in which keywords that mean what they mean for another one are only named."""
    known = set(said(words_of(verb), types_of(verb)).splitlines())
    lines = described.splitlines(keepends=True)
    same = [line for line in lines if line.startswith("- `") and line.rstrip("\n") in known]
    names = [f"`{line[3:].partition(':')[0]}`" for line in same if not line.startswith("- `progress")]
    kept = "".join(line for line in lines if line not in same)
    return kept.replace(
        "\n```pycon", f"\nAs for `anonymise`: {', '.join(['`progress`', *names])}.\n\n```pycon", 1
    )


def words_of(thing: Any) -> str:
    """Return a docstring; options of methods, which are declared on fields, are a section of it."""
    words = inspect.getdoc(thing) or ""
    options = declared_options(thing) if is_dataclass(thing) else ()
    more = [one for one in options if not re.search(rf"^{one.name}\b.*\n    ", words, flags=re.M)]
    if not more:
        return words
    told = "\n".join(f"{one.name}\n    {one.words}" for one in more)
    above, examples, below = words.partition("Examples\n--------\n")
    head = "" if "Parameters\n---" in words else "\nParameters\n----------\n"
    return f"{above.rstrip()}\n{head}{told}\n\n{examples}{below}"


def signature(name: str, thing: Any) -> str:
    """Return a signature as a block of code; nothing where there is nothing to call it with."""
    if inspect.isclass(thing) and thing.__name__ in RESULTS:
        return ""
    told = inspect.signature(thing)
    result = "" if told.return_annotation is told.empty else f" -> {plain(told.return_annotation)}"
    result = "" if inspect.isclass(thing) else result
    parameters = list(written(told))
    if len(parameters) > ROOMY:
        few = [one for one in parameters if "=" not in one]
        return f"```python\n{name}({', '.join([*few, '...'])}){result}\n```\n\n"
    line = f"{name}({', '.join(parameters)}){result}"
    if len(line) > 100:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in parameters) + f"){result}"
    return f"```python\n{line}\n```\n\n"


def written(told: inspect.Signature) -> Iterator[str]:
    """Yield the parameters of a signature, and the signs between them."""
    kinds = [one.kind for one in told.parameters.values()]
    for place, (name, one) in enumerate(told.parameters.items()):
        if (
            one.kind is one.KEYWORD_ONLY
            and one.KEYWORD_ONLY not in kinds[:place]
            and "*" not in str(kinds[:place])
        ):
            yield "*"
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        yield f"{stars}{name}{typed(one)}"
        if one.kind is one.POSITIONAL_ONLY and one.POSITIONAL_ONLY not in kinds[place + 1 :]:
            yield "/"


def typed(one: inspect.Parameter) -> str:
    """Return the type and default of a parameter."""
    kind = "" if one.annotation is one.empty else f": {plain(one.annotation)}"
    if one.default is one.empty:
        return kind
    return f"{kind} = {shown(one.default)}" if kind else f"={shown(one.default)}"


def shown(default: Any) -> str:
    """Return a default, without the address of anything."""
    return default.__name__ if inspect.isroutine(default) else re.sub(r"^<.*>$", "...", repr(default))


def types_of(thing: Any) -> dict[str, str]:
    """Return the type and default of every parameter, by name."""
    try:
        return {name: typed(one) for name, one in inspect.signature(thing).parameters.items()}
    except ValueError:
        return {}


def plain(annotation: Any) -> str:
    """Return a type as its author wrote it."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def members(kind: type) -> str:
    """Return what can be asked of objects of a class, one line each."""
    lines = []
    for name, member in inspect.getmembers(kind):
        raw = inspect.getattr_static(kind, name)
        if name.startswith("_") or not (isinstance(raw, property) or callable(member)):
            continue
        words = (inspect.getdoc(member) or "").partition("\n\n")[0].replace("\n", " ")
        if words and getattr(member, "__module__", "tripcloak").startswith("tripcloak"):
            call = "" if isinstance(raw, property) else brief_call(member)
            lines.append(f"- `.{name}{call}`: {text(words)}\n")
    return "\n" + "".join(lines) if lines else ""


def brief_call(member: Any) -> str:
    """Return how a method is called, in names and defaults."""
    told = inspect.signature(member)
    names = [
        f"{name}={shown(one.default)}" if one.default is not one.empty else name
        for name, one in told.parameters.items()
        if name not in {"self", "cls"}
    ]
    return f"({', '.join(names)})"


def said(words: str, types: dict[str, str] | None = None) -> str:
    """Return a docstring as Markdown: parameters as lists, examples as code."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", words, flags=re.M)
    out = [f"{text(parts[0].strip())}\n"]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title == "Examples":
            out.append(f"```pycon\n{body.strip()}\n```\n")
        elif title in LISTED:
            heading = {"Other Parameters": "Further keywords"}.get(title, title)
            out.append(f"**{heading}**\n\n{''.join(items(body, types or {}))}")
        else:
            out.append(f"**{title}**\n\n{text(body.strip())}\n")
    return "\n".join(out)


def items(body: str, types: dict[str, str]) -> Iterator[str]:
    """Yield the entries of a numpydoc section as entries of a list."""
    for name, words in re.findall(
        r"^(\S.*)\n((?:[ \t]+.*\n?|\n(?=[ \t]))*)", body.strip() + "\n", flags=re.M
    ):
        if name == "**keywords":
            continue
        label = ", ".join(f"`{one}{types.get(one, '')}`" for one in name.split(", "))
        meaning = " ".join(words.split())
        yield f"- {label}" + (f": {text(meaning)}\n" if meaning else "\n")


def text(words: str) -> str:
    """Return words of a docstring as Markdown."""
    words = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", words)
    return words.replace("``", "`")


def listed(names: Iterable[str]) -> str:
    """Return names in a line, with links."""
    rooms = {name: " (module)" if inspect.ismodule(named(name)) else "" for name in names}
    return ", ".join(f"[{name}](#{anchor(f'tc.{name}{room}')})" for name, room in rooms.items())


def anchor(title: str) -> str:
    """Return the part of an address that leads to a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")
