"""Which modules are mutated, and which files of tests must notice."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tripcloak"

ROOMS = ("promises", "flows/release", "flows/audit", "trajectories/release", "trajectories/audit", "ledger")
"""Rooms that are mutated whole: what promises, what is published, who judges it, and who remembers it."""
GROUND = ("folders", "manifest", "masking", "moving", "public_files", "rewriting", "rulebook")
"""What both auditors and all builders stand on."""

JUDGES, LEDGER_ROOM = "promises, release, audit, folders", "ledger"
LINES = {JUDGES: 0.95, LEDGER_ROOM: 0.4}
"""Of those that change something, the share that must be caught, part by part.

The ledger's is what was seen of it on a seed that nobody had worked on (13 of 31), not what it should be: it
goes up with its tests.
"""


def part_of(module: str) -> str:
    """Return the part whose line a module is held to."""
    return LEDGER_ROOM if module.startswith("ledger/") else JUDGES


def _files(folder: str, names: str) -> tuple[str, ...]:
    return tuple((Path("tests") / folder / f"test_{name}.py").as_posix() for name in names.split())


def _all_files(folder: str) -> tuple[str, ...]:
    found = (ROOT / "tests" / folder).glob("test_*.py")
    return tuple(sorted(path.relative_to(ROOT).as_posix() for path in found))


def _room(folder: str) -> list[str]:
    return sorted(path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / folder).rglob("*.py"))


PROMISES = _files("promises", "promise edges kanonymity tcloseness kmanonymity averagepeople ldiversity")
FLOW_RELEASE = _all_files("flows/release")
KEPT_ZONES = _files("flows", "zones_kept series")
FLOW_READERS = (
    *_files("flows", "boxes_of_trips"),
    *KEPT_ZONES,
    *_files("analysis", "slot_axis regular"),
    *_files("contract", "noisy"),
)
FLOW_ROAD = _files("flows", "counted publish rewritten round_trip tables_beside")
FLOW_FORGERIES = _files("forgeries", "forged_flows")
FLOW_AUDIT = (
    *_files("flows/audit", "reasons calendar audit_edges audit_limit audit_withheld audit_dominance"),
    *_files("flows/audit", "audit_hidden audit_segments"),
    *_files("flows/audit", "audit_disclosure tampering audit_broken_folders audit_times audit_noise"),
)
FLOW_AUDIT = (
    *FLOW_AUDIT,
    *(file for file in _all_files("flows/audit") if file not in FLOW_AUDIT),
    *FLOW_ROAD,
    *FLOW_FORGERIES,
)
MATRIX_AUDIT = (
    *_files("flows/audit", "matrix_rules_in_memory arithmetic audit_matrix audit_edges audit_limit"),
    *_files("flows/audit", "audit_dominance audit_withheld audit_hidden audit_segments audit_rounding"),
)
TRACK_RELEASE = _all_files("trajectories/release")
TRACK_FORGERIES = _files("forgeries", "forged_trajectories")
TRACK_AUDIT = (
    *_files("trajectories/audit", "edges_in_memory edges_of_folders audit_release containment raw_record"),
    *_files("trajectories/audit", "audit_folder hidden_messages guess stated_trajectories"),
)
TRACK_AUDIT = (
    *TRACK_AUDIT,
    *(file for file in _all_files("trajectories/audit") if file not in TRACK_AUDIT),
    *_files("trajectories", "dropped_fixes rewritten folders_of_methods"),
    *_files("trajectories/methods", "mixzones dummies road_zones"),
    *TRACK_FORGERIES,
)

LEDGER = (*_all_files("ledger"), *_files("cli", "difference ledger"))
"""Whatever is kept in the ledger's room, its tests hold all of it: it is one chain of reasons."""

TESTS: dict[str, tuple[str, ...]] = {
    "ground/folders.py": _files("ground", "folders folders_of_files moving"),
    "ground/manifest.py": (*_files("ground", "manifest"), *TRACK_AUDIT[:2], *FLOW_AUDIT),
    "ground/masking.py": (*_files("ground", "masking rulebook"), *FLOW_AUDIT[:10], *TRACK_AUDIT[:2]),
    "ground/moving.py": _files("ground", "moving folders folders_of_files"),
    "ground/public_files.py": (
        *_files("ground", "public_files"),
        *TRACK_AUDIT[1:2],
        *TRACK_AUDIT[5:7],
        *FLOW_AUDIT,
    ),
    "ground/rewriting.py": (
        *_files("ground", "rewriting"),
        *TRACK_AUDIT[1:2],
        *TRACK_AUDIT[5:],
        *FLOW_ROAD,
        *FLOW_FORGERIES,
    ),
    "ground/rulebook.py": (*_files("ground", "rulebook"), *TRACK_AUDIT[:3], *FLOW_AUDIT[:11]),
    **dict.fromkeys(_room("promises"), (*_all_files("promises"), *FLOW_RELEASE, *MATRIX_AUDIT)),
    "promises/__init__.py": PROMISES,
    "promises/allof.py": (*PROMISES, *FLOW_RELEASE, *FLOW_AUDIT[2:8]),
    "promises/counted.py": (*PROMISES[:2], *_files("records", "identities"), *_files("flows", "counted")),
    "promises/crowds.py": (
        *PROMISES[:2],
        *_files("trajectories/audit", "crowds"),
        *_files("trajectories/methods", "km grid"),
    ),
    "promises/differential_privacy.py": (*PROMISES[:2], *FLOW_RELEASE, *_files("flows/audit", "audit_noise")),
    "promises/disclosure.py": (
        *PROMISES[:2],
        *_files("trajectories/audit", "pieces_and_dummies_in_memory"),
        *_files("trajectories/methods", "dummies"),
    ),
    "promises/mixing.py": (
        *PROMISES[:2],
        *_files("trajectories/audit", "pieces_and_dummies_in_memory"),
        *_files("trajectories/methods", "mixzones"),
    ),
    "promises/dominance.py": (
        *PROMISES[:2],
        *_files("flows/methods", "dominance"),
        *_files("flows/audit", "audit_dominance"),
    ),
    "promises/hidden.py": (*PROMISES[:2], *_files("flows/audit", "audit_hidden")),
    "promises/kanonymity.py": (*PROMISES, *FLOW_RELEASE, *MATRIX_AUDIT),
    "promises/kmanonymity.py": (
        *_files("promises", "promise edges kmanonymity"),
        *_files("flows/methods", "km_apriori"),
        *_files("flows/audit", "audit_itemsets"),
    ),
    "promises/ldiversity.py": (
        *_files("promises", "promise edges ldiversity"),
        *FLOW_AUDIT[2:3],
        *FLOW_AUDIT[8:10],
    ),
    "promises/promise.py": (*PROMISES, *FLOW_RELEASE, *MATRIX_AUDIT, *TRACK_AUDIT[:3]),
    "promises/segments.py": (
        *PROMISES[:2],
        *_files("flows/release", "withheld"),
        *_files("flows/audit", "audit_segments"),
    ),
    "promises/tcloseness.py": (
        *_files("promises", "promise edges tcloseness"),
        *FLOW_AUDIT[2:3],
        *FLOW_AUDIT[8:10],
    ),
    "promises/trajectories.py": (*PROMISES[:2], *TRACK_RELEASE, *TRACK_AUDIT),
    **dict.fromkeys(_room("flows/release"), (*FLOW_RELEASE, *FLOW_READERS, *FLOW_AUDIT)),
    **dict.fromkeys(_room("flows/audit"), FLOW_AUDIT),
    **dict.fromkeys(
        _room("flows/audit/matrix"),
        (
            *MATRIX_AUDIT,
            *_files("flows/audit", "zone_rules_in_memory outline_rules_in_memory files_in_memory"),
            *_files("flows/audit", "audit_boxes audit_unions audit_itemsets audit_worlds"),
        ),
    ),
    "flows/release/keeping.py": (*_files("flows/release", "keeping"), *KEPT_ZONES),
    "flows/release/cumulating.py": (*_files("flows/release", "cumulating"), *_files("flows", "series")),
    "flows/audit/rules/during.py": (*_files("flows/audit", "kept_and_during rules_in_memory"), *KEPT_ZONES),
    "flows/audit/rules/kept.py": (*_files("flows/audit", "kept_and_during rules_alone"), *KEPT_ZONES),
    **dict.fromkeys(
        _room("trajectories/release"),
        (*TRACK_RELEASE, *_files("trajectories/attacks", "owner_guess"), *TRACK_AUDIT),
    ),
    **dict.fromkeys(_room("trajectories/audit"), TRACK_AUDIT),
    **dict.fromkeys(_room("ledger"), LEDGER),
}
TESTS = {module: (*files, *_files("", "constants")) for module, files in TESTS.items()}
"""Below ``src/tripcloak``, every module that is mutated; its own examples are run before the tests."""


def modules() -> list[str]:
    """Return the modules that the map must name."""
    whole = (path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))
    ground = (PACKAGE / "ground" / f"{name}.py" for name in GROUND)
    return sorted(path.relative_to(PACKAGE).as_posix() for path in (*whole, *ground))
