"""The manifest: what every release says of itself, and the one reader that finds it and makes sense of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tripcloak.ground.documents import TooDeepError, parse_json
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, PUBLIC, file_digest, refuse_half_moved, write_json
from tripcloak.ground.spelling import called, spelt_command

Kind = Literal["flows", "trajectories"]

NAME = "manifest.json"
RECORD = "run.json"
SEAL = "manifest_digest"
FORMAT = 3
"""Counted up when what a manifest says can no longer be read by an older version."""
READ_BY = {1: "0.1", 2: "0.2"}
"""Formats that are no longer read, and the version that reads them."""
DEEPEST = 16
"""Entries within entries that no manifest has."""

_ELSEWHERE = {
    "flows": "`tripcloak audit` and `tripcloak measures` are for those",
    "trajectories": "the commands below `tripcloak trajectories` are for those",
}


def new_manifest(
    kind: Kind, *, version: str, method: str, parameters: Mapping[str, Any], promise: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the entries that every manifest begins with, in their order.

    Parameters
    ----------
    version
        Of tripcloak, which made the release.
    parameters
        The method's own, beyond the promise.
    promise
        What is promised, for machines and in words.

    Examples
    --------
    >>> told = {"version": "0.3.0", "method": "twincut", "parameters": {}, "promise": {"kind": "k-anonymity"}}
    >>> list(new_manifest("flows", **told))
    ['format', 'kind', 'version', 'method', 'parameters', 'promise']
    """
    return {
        "format": f"tripcloak release {FORMAT}",
        "kind": kind,
        "version": version,
        "method": method,
        "parameters": dict(parameters),
        "promise": dict(promise),
    }


def write_manifest(public: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write the manifest beside the public files, with the digest of each, and return it."""
    sealed = {**facts, "files": {path.name: file_digest(path) for path in sorted(public.iterdir())}}
    write_json(public / NAME, sealed)
    return sealed


def write_record(private: Path, public: Path, content: Mapping[str, Any]) -> None:
    """Write the private record of how a release was made, sealed with the digest of its manifest."""
    write_json(private / RECORD, {SEAL: file_digest(public / NAME), **content})


def is_sealed(folder: Path) -> bool:
    """Return whether the manifest is the very one that was written with the private record."""
    return read_run(folder).get(SEAL) == file_digest(folder / PUBLIC / NAME)


def public_part(folder: Path) -> Path:
    """Return the public part of a release: ``folder`` is what holds it, or that part itself."""
    for place in (folder / PUBLIC, folder):
        if (place / NAME).is_file():
            return place
    raise InputError(
        f"{folder} holds no release: {PUBLIC}/{NAME} is missing. Give the folder that a release was written "
        f"to ({called('out')} of {spelt_command('anonymise')})"
    )


def is_release(folder: Path) -> bool:
    """Return whether a path is a release, or its public part, and not somebody's folder of raw files."""
    itself = [folder] if Path(os.path.abspath(folder)).name == PUBLIC else []
    return any((place / NAME).is_file() for place in (folder / PUBLIC, *itself))


def release_folder(folder: Path) -> Path:
    """Return the folder that holds both parts of a release, given that folder or its public part."""
    public = public_part(folder)
    whole = Path(os.path.abspath(folder))
    refuse_half_moved(whole if public != folder else whole.parent)
    if public != folder:
        return folder
    if whole.name != PUBLIC:
        raise InputError(
            f"{folder} holds the public part of a release alone; give the folder that holds {PUBLIC}/ and "
            f"{PRIVATE}/"
        )
    return whole.parent


def read_manifest(folder: Path, kind: Kind | None = None) -> dict[str, Any]:
    """Return the manifest of a release, given its folder or its public part.

    Parameters
    ----------
    kind
        What the release must be of; either will do if not given.

    Raises
    ------
    InputError
        There is no release, its manifest is broken, of another format than this version reads, or of
        another kind than wanted.
    """
    public = public_part(folder)
    facts = _read_json(public / NAME)
    found = _format_of(facts)
    if found is None:
        raise InputError(f"{public / NAME} is not a manifest of tripcloak: it names no format of a release")
    if found in READ_BY:
        raise InputError(
            f"{folder} holds a release of format {found}, which tripcloak {READ_BY[found]} reads and this "
            f"version does not: it reads format {FORMAT}. Use that version, or make the release anew "
            f"({spelt_command('anonymise')})"
        )
    if found != FORMAT:
        raise InputError(
            f"{folder} holds a release of format {found}, and this version of tripcloak reads format "
            f"{FORMAT}; update tripcloak to the version that made it, as with "
            "`pip install -U tripcloak`"
        )
    return _of_kind(folder, facts, kind)


def read_run(folder: Path) -> dict[str, Any]:
    """Return the private record of how a release was made."""
    return _read_json(folder / PRIVATE / RECORD)


def _format_of(facts: Mapping[str, Any]) -> int | None:
    told = facts.get("format")
    if told is None and facts.get("kind") == "trajectories" and "tripcloak" in facts:
        # The first releases of trajectories stated none.
        return 1
    match = re.fullmatch(r"tripcloak release ([1-9]\d{0,3})", told) if isinstance(told, str) else None
    return int(match[1]) if match else None


def _of_kind(folder: Path, facts: dict[str, Any], kind: Kind | None) -> dict[str, Any]:
    told = facts.get("kind")
    if told not in tuple(_ELSEWHERE):
        raise InputError(f"{folder} holds a release of neither flows nor trajectories; it was changed")
    if kind is not None and told != kind:
        raise InputError(f"{folder} holds a release of {told}, not of {kind}; {_ELSEWHERE[told]}")
    return facts


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(path.read_text(encoding="utf-8"), deepest=DEEPEST)
    except (FileNotFoundError, NotADirectoryError):
        where = path.parent.parent
        raise InputError(f"{where} holds no release: {path.parent.name}/{path.name} is missing") from None
    except TooDeepError:
        raise InputError(
            f"{path} cannot be read as JSON: it is nested deeper than anything that tripcloak writes"
        ) from None
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read as JSON") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a manifest")
    return content
