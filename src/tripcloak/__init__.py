"""tripcloak makes personal mobility data safe to publish, and proves it.

The front door::

    import tripcloak as tc

    release = tc.anonymise(trips, k=10)       # pandas, GeoPandas, Polars, Arrow, a DuckDB relation, paths
    release                                   # in a notebook: the verdict, the numbers in words, the map
    release.flows, release.zones              # DataFrame, GeoDataFrame; .to_polars(), .to_arrow()
    release.audit(), release.measures(), release.plot(), release.save("out")
    tc.describe(trips); tc.compare(trips, k=[5, 10]).table
    tc.open("out"); tc.audit("out", against="trips.parquet"); tc.check("out/release")
    tc.score("out", against="trips.parquet")  # on the scale of NIST's temporal map challenge
    tc.series(trips, periods="month", out="months"); tc.difference("may", "june").table
    tc.report("out", title="Trips in May")    # one page that tells everything
    tc.export("out", to="gpkg", out="flows.gpkg")  # for QGIS; OMX, kepler.gl, flowmap.gl and others
    tc.trajectories.anonymise(points, k=5)    # the same verbs on trajectories

Keywords and their defaults are those of the command line. What a release shows may be published; what must
stay inside is behind ``release.private``.

The road behind it, left to right, for those who build on the parts::

    TripSource -> read_matrix -> ODMatrix -> TwinCut(...).anonymise -> Release -> publish, audit, measure

- :class:`TripSource` says what to read and how; :func:`read_matrix` reads it within a memory limit.
- :class:`ODMatrix` holds the flows as integers, with one :class:`Hierarchy` of zones per axis.
- :class:`KAnonymity` says when a group of flows is safe: k trips, travellers or population.
- :class:`TwinCut` and the other methods (``METHODS``) turn a matrix into a :class:`Release`.
- :func:`measure` tells what the release is still good for; :func:`audit_matrix` and
  :func:`audit_folder` check it independently.
- :class:`AnonymisationRequest` and :class:`ComparisonPlan` say what a whole run is asked for.

Whole trajectories go the same way::

    TrajectorySource -> read_trajectories -> Trajectories -> KScale(...).anonymise -> TrajectoryRelease

- :func:`anonymise_trajectories` walks it for a :class:`TrajectoryRequest`.
- :func:`k_merge` makes several trajectories one; :func:`attack` tells how unique people are before and after.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tripcloak._version import __version__

if TYPE_CHECKING:
    from tripcloak import synth, trajectories
    from tripcloak.api.checks import audit, check, export, measures, open, report, score
    from tripcloak.api.flows import ReleasedFlows, ReleasedSegments, anonymise, compare, describe
    from tripcloak.api.results import (
        InputSummary,
        MethodComparison,
        ReleaseAudit,
        ReleaseMeasures,
        ReleaseScore,
    )
    from tripcloak.api.several import ReleaseDifference, ReleasedSeries, difference, series
    from tripcloak.api.trajectories import ReleasedTrajectories
    from tripcloak.comparing.compare import ComparisonPlan
    from tripcloak.flows.anonymise import AnonymisationRequest
    from tripcloak.flows.audit import audit_folder, audit_matrix
    from tripcloak.flows.measures import measure
    from tripcloak.flows.methods.glove import Glove, GloveSk
    from tripcloak.flows.methods.km_apriori import KMApriori
    from tripcloak.flows.methods.mondrian import Mondrian
    from tripcloak.flows.methods.noise import InfTDA, Laplace, NoisyCut
    from tripcloak.flows.methods.odkanon import ODkAnon
    from tripcloak.flows.methods.oigh import OIGH
    from tripcloak.flows.methods.productcut import NestedCut, ProductCut
    from tripcloak.flows.methods.registry import METHODS
    from tripcloak.flows.methods.suppression import Suppression
    from tripcloak.flows.methods.twincut import TwinCut
    from tripcloak.flows.model import ODMatrix
    from tripcloak.flows.publish import publish
    from tripcloak.flows.reading.matrix import Zoning, read_matrix
    from tripcloak.flows.release import Release
    from tripcloak.ground.errors import (
        AuditFailedError,
        CutError,
        EmptyInputError,
        HierarchyError,
        ImpossibleRequestError,
        InputError,
        InternalError,
        MissingColumnError,
        MissingExtraError,
        MissingFileError,
        OutputExistsError,
        TooFewError,
        TripcloakError,
        UnreadableFileError,
    )
    from tripcloak.hierarchy import Cut, Hierarchy, parse_tiling
    from tripcloak.promises import (
        AllOf,
        AveragePeople,
        KAnonymity,
        KMAnonymity,
        LDiversity,
        TCloseness,
    )
    from tripcloak.records.source import TripSource
    from tripcloak.synth import Cdr, City, Survey, write_city, write_survey
    from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
    from tripcloak.trajectories.attacks import ATTACKS, attack
    from tripcloak.trajectories.checking import audit_trajectories_against
    from tripcloak.trajectories.measures import measure_trajectories
    from tripcloak.trajectories.methods.glove import TrajectoryGlove
    from tripcloak.trajectories.methods.kmerge import k_merge
    from tripcloak.trajectories.methods.kscale import KScale
    from tripcloak.trajectories.methods.nwa import NWA
    from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
    from tripcloak.trajectories.methods.w4m import W4M
    from tripcloak.trajectories.model import Trajectories
    from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
    from tripcloak.trajectories.release.release import TrajectoryRelease

# Loaded on first use: importing the package, and with it `tripcloak --help`, stays quick.
_HOMES = {
    "anonymise": "api.flows",
    "audit": "api.checks",
    "check": "api.checks",
    "compare": "api.flows",
    "describe": "api.flows",
    "difference": "api.several",
    "export": "api.checks",
    "series": "api.several",
    "ReleaseDifference": "api.several",
    "ReleasedSeries": "api.several",
    "measures": "api.checks",
    "open": "api.checks",
    "report": "api.checks",
    "score": "api.checks",
    "ReleasedFlows": "api.flows",
    "ReleasedSegments": "api.flows",
    "ReleasedTrajectories": "api.trajectories",
    "ReleaseAudit": "api.results",
    "ReleaseMeasures": "api.results",
    "ReleaseScore": "api.results",
    "InputSummary": "api.results",
    "MethodComparison": "api.results",
    "Cdr": "synth",
    "METHODS": "flows.methods",
    "Glove": "flows.methods",
    "GloveSk": "flows.methods",
    "InfTDA": "flows.methods",
    "KMApriori": "flows.methods",
    "Laplace": "flows.methods",
    "Mondrian": "flows.methods",
    "NestedCut": "flows.methods",
    "NoisyCut": "flows.methods",
    "OIGH": "flows.methods",
    "ODkAnon": "flows.methods",
    "ProductCut": "flows.methods",
    "Suppression": "flows.methods",
    "TwinCut": "flows.methods",
    "audit_folder": "flows.audit",
    "audit_matrix": "flows.audit",
    "AllOf": "promises",
    "AveragePeople": "promises",
    "KAnonymity": "promises",
    "KMAnonymity": "promises",
    "LDiversity": "promises",
    "TCloseness": "promises",
    "TripcloakError": "ground.errors",
    "UnreadableFileError": "ground.errors",
    "AuditFailedError": "ground.errors",
    "CutError": "ground.errors",
    "EmptyInputError": "ground.errors",
    "HierarchyError": "ground.errors",
    "ImpossibleRequestError": "ground.errors",
    "InputError": "ground.errors",
    "InternalError": "ground.errors",
    "MissingColumnError": "ground.errors",
    "MissingExtraError": "ground.errors",
    "MissingFileError": "ground.errors",
    "OutputExistsError": "ground.errors",
    "TooFewError": "ground.errors",
    "Cut": "hierarchy",
    "Hierarchy": "hierarchy",
    "parse_tiling": "hierarchy",
    "ODMatrix": "flows.model",
    "measure": "flows.measures",
    "Release": "flows.release",
    "City": "synth",
    "Survey": "synth",
    "write_city": "synth",
    "write_survey": "synth",
    "Trajectories": "trajectories.model",
    "TrajectoryRelease": "trajectories.release.release",
    "ATTACKS": "trajectories.attacks",
    "attack": "trajectories.attacks",
    "measure_trajectories": "trajectories.measures",
    "k_merge": "trajectories.methods.kmerge",
    "TrajectoryGlove": "trajectories.methods.glove",
    "KScale": "trajectories.methods.kscale",
    "NWA": "trajectories.methods.nwa",
    "TRAJECTORY_METHODS": "trajectories.methods.registry",
    "W4M": "trajectories.methods.w4m",
    "TrajectorySource": "trajectories.reading",
    "read_trajectories": "trajectories.reading",
    "TripSource": "records.source",
    "AnonymisationRequest": "flows.anonymise",
    "ComparisonPlan": "comparing.compare",
    "publish": "flows.publish",
    "Zoning": "flows.reading.matrix",
    "read_matrix": "flows.reading.matrix",
    "TrajectoryRequest": "trajectories.anonymise",
    "anonymise_trajectories": "trajectories.anonymise",
    "audit_trajectories_against": "trajectories.checking",
}

__all__ = [
    "ATTACKS",
    "METHODS",
    "NWA",
    "OIGH",
    "TRAJECTORY_METHODS",
    "W4M",
    "AllOf",
    "AnonymisationRequest",
    "AuditFailedError",
    "AveragePeople",
    "Cdr",
    "City",
    "ComparisonPlan",
    "Cut",
    "CutError",
    "EmptyInputError",
    "Glove",
    "GloveSk",
    "Hierarchy",
    "HierarchyError",
    "ImpossibleRequestError",
    "InfTDA",
    "InputError",
    "InputSummary",
    "InternalError",
    "KAnonymity",
    "KMAnonymity",
    "KMApriori",
    "KScale",
    "LDiversity",
    "Laplace",
    "MethodComparison",
    "MissingColumnError",
    "MissingExtraError",
    "MissingFileError",
    "Mondrian",
    "NestedCut",
    "NoisyCut",
    "ODMatrix",
    "ODkAnon",
    "OutputExistsError",
    "ProductCut",
    "Release",
    "ReleaseAudit",
    "ReleaseDifference",
    "ReleaseMeasures",
    "ReleaseScore",
    "ReleasedFlows",
    "ReleasedSegments",
    "ReleasedSeries",
    "ReleasedTrajectories",
    "Suppression",
    "Survey",
    "TCloseness",
    "TooFewError",
    "Trajectories",
    "TrajectoryGlove",
    "TrajectoryRelease",
    "TrajectoryRequest",
    "TrajectorySource",
    "TripSource",
    "TripcloakError",
    "TwinCut",
    "UnreadableFileError",
    "Zoning",
    "__version__",
    "anonymise",
    "anonymise_trajectories",
    "attack",
    "audit",
    "audit_folder",
    "audit_matrix",
    "audit_trajectories_against",
    "check",
    "compare",
    "describe",
    "difference",
    "export",
    "k_merge",
    "measure",
    "measure_trajectories",
    "measures",
    "open",
    "parse_tiling",
    "publish",
    "read_matrix",
    "read_trajectories",
    "report",
    "score",
    "series",
    "synth",
    "trajectories",
    "write_city",
    "write_survey",
]


_ROOMS = ("synth", "trajectories")
"""Rooms with names of their own that are public."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"tripcloak.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'tripcloak' has no attribute {name!r}")
    return getattr(import_module(f"tripcloak.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
