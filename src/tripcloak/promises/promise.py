"""Promise: what a release is held to, and what a promise asks of the input and of groups of flows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self, get_args

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.counted import known_of, number_of

if TYPE_CHECKING:
    from tripcloak.promises.rounding import Rounding
    from tripcloak.promises.tcloseness import TCloseness

Unit = Literal["trips", "travellers", "population"]
Volume = Literal["trips", "population"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Covered = Literal["tiles", "places"]


class Input(Protocol):
    """What a promise asks of the input: which units it tells, what its people stand for, what zones cover."""

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return the units that can be counted."""

    @property
    def id_is(self) -> str:
        """Return what an id stands for: a person, a vehicle and so on, or that nobody knows."""

    @property
    def represented(self) -> Any:
        """Return how many people carry a weight, and what they stand for together; None where nobody does."""

    @property
    def axes(self) -> Sequence[Any]:
        """Return the axes of a flow: origin, destination and, if any, time."""

    def covers(self, what: Covered) -> tuple[Ints, Ints]:
        """Return how many different tiles or places every zone of origins and destinations covers."""

    def require_parts(self, volume: Volume) -> None:
        """Raise where it does not tell what each traveller has of every flow's trips or population."""


class Largest(NamedTuple):
    """What the two travellers with most of a group have of it; 0 where there are fewer."""

    first: Any
    second: Any


class FlowGroups(Protocol):
    """What a promise asks of groups of flows."""

    @property
    def matrix(self) -> Input:
        """Return the input."""

    @property
    def origin(self) -> Ints:
        """Return each group's origin zone."""

    @property
    def destination(self) -> Ints:
        """Return each group's destination zone."""

    @property
    def time(self) -> Ints | None:
        """Return each group's zone of time, where there is one."""

    def __len__(self) -> int: ...

    def support(self, unit: Unit, cap: int | None = None) -> Ints:
        """Return what stands behind every group, counted up to a cap."""

    def sharing(self, known: Sequence[int]) -> tuple[FlowGroups, Ints]:
        """Return groups of all that shares the zones of some axes, and which one each group falls into."""

    def of_segment(self, part: Any) -> FlowGroups:
        """Return the same groups with nobody in them but a segment."""

    def largest(self, volume: Volume) -> Largest:
        """Return what the two travellers with most of every group's trips or population have of it."""


class Passages(NamedTuple):
    """What a README says of a promise, with its line breaks: in short, what it covers, what it does not."""

    short: str
    covers: str
    limits: tuple[str, ...]


class Promise(ABC):
    """What a release is held to. Whoever wants to know what was promised asks it here.

    What most promises on flows decide of groups is monotone: a group that contains a safe group is safe.
    Searches rely on it. What is decided of a group and is not monotone stands in ``by_product``, and what
    is judged of the whole release in ``by_release``.
    """

    kind: ClassVar[str]
    """Its name, in manifests and comparisons."""
    brief: ClassVar[str] = ""
    """Its name where there is little room."""
    meaning: ClassVar[str] = ""
    """What protects people, in words for whoever compares methods."""
    joins: ClassVar[bool] = False
    """Whether it may stand beside others, all of which must hold."""
    lacks: ClassVar[str] = ""
    """Why it cannot stand alone, where it does not count people."""
    held: ClassVar[str] = "safe"
    """What may be said in a word of a release that keeps it."""
    noisy: ClassVar[bool] = False
    """Whether released numbers are noisy: none is exact, and no limit on what is withheld is kept to."""
    moves_samples: ClassVar[bool] = False
    """Whether a released sample may lie elsewhere than the one it stands for, be made up or left out."""
    contains: ClassVar[bool] = False
    """Whether k released trajectories hold all samples of each person."""
    made_up: ClassVar[bool] = False
    """Whether released trajectories are nobody's: drawn from noisy numbers, none of a person."""
    of_every_group: ClassVar[bool] = True
    """Whether every released group by itself holds what is promised."""
    needs_products: ClassVar[bool] = False
    """Whether only methods that look at every product of zones by itself can keep it."""
    tells_withheld: ClassVar[bool] = True
    """Whether more may be told of the withheld volume than that it is within the limit."""
    silence: ClassVar[str] = ""
    """Why nothing at all is told of the withheld volume, where that is so."""

    _kinds: ClassVar[dict[str, type[Promise]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            Promise._kinds[cls.kind] = cls

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the smallest support a safe group has, per unit; the first unit is the main one."""
        return {}

    @property
    def floors(self) -> dict[Covered, int]:
        """Return how many different tiles or places a released zone covers at least, where that is asked."""
        return {}

    @property
    def k(self) -> float | None:
        """Return the threshold on the main unit; None where no number of people is promised."""
        return next(iter(self.thresholds.values()), None)

    @property
    def id_is(self) -> str | None:
        """Return what the ids that it counts stand for; None where it counts none, or that is open."""
        return None

    def counted(self) -> dict[str, str]:
        """Return what is counted under each unit's name, in words that hold without the input.

        >>> from tripcloak.promises import KAnonymity
        >>> KAnonymity(k=10, unit="travellers", id_is="device").counted()
        {'travellers': "devices, not people: several of them may be one person's"}
        """
        return {unit: known_of(unit, self.id_is) for unit in self.thresholds}

    @property
    def counts_people(self) -> bool:
        """Return whether it asks for people, or for trips in their place."""
        return False

    @property
    def averages(self) -> bool:
        """Return whether a threshold of it is worked out from a mean of the input."""
        return False

    @property
    def plain(self) -> bool:
        """Return whether it asks for numbers of people and for nothing else."""
        return False

    @abstractmethod
    def safe(self, groups: Any) -> Bools:
        """Return, for every group, whether it may be released."""

    def resolve(self, matrix: Input) -> Promise:
        """Return the same promise with every open choice settled for this matrix."""
        return self

    @property
    def by_group(self) -> Promise:
        """Return the part that is decided group by group, which searches work with."""
        return self

    @property
    def by_release(self) -> tuple[TCloseness, ...]:
        """Return the parts that can be judged of a finished release alone."""
        return ()

    @property
    def monotone(self) -> Promise:
        """Return the part for which a group that contains a safe group is safe."""
        return self

    @property
    def by_product(self) -> tuple[Promise, ...]:
        """Return the parts that are decided of every group by itself, whatever it contains."""
        return ()

    @property
    def openly(self) -> Promise:
        """Return the same without what depends on a secret."""
        return self

    @property
    def parts_of(self) -> tuple[Volume, ...]:
        """Return the volumes of which it asks what each traveller has; mostly none."""
        return ()

    @property
    def rounding(self) -> Rounding | None:
        """Return how numbers are rounded; None where they are not."""
        return None

    @property
    def private_facts(self) -> dict[str, Any]:
        """Return what the private record holds of it, and no manifest: a secret; mostly nothing."""
        return {name: value for part in self.by_product for name, value in part.private_facts.items()}

    @property
    def of_people(self) -> Promise:
        """Return the part that asks for people; places are the same for everybody."""
        return self

    @property
    def of_everybody(self) -> Promise:
        """Return what must hold for all people together, segments aside."""
        return self

    @property
    def segments(self) -> tuple[Any, ...]:
        """Return the segments of which each is promised to be safe in every group; mostly none."""
        return ()

    @property
    def segmented_by(self) -> tuple[str, ...]:
        """Return what parts people into these segments."""
        return ()

    def tells(self, safe: Sequence[Bools], trips: Sequence[Ints]) -> list[Bools]:
        """Return, for every segment, the groups that its number is told of.

        Parameters
        ----------
        safe
            For every segment, in which groups it is safe by itself.
        trips
            For every segment, how many trips it makes in every group.
        """
        return [one | True for one in safe]

    def of_items(self, items: int) -> tuple[Promise, int]:
        """Return what must hold of flows that share items, and how many of all items they share."""
        return self, items

    def published(self, volume: Volume) -> tuple[Unit, ...]:
        """Return the numbers that may be published per flow: those that are kept at or above k.

        Trips are at least as many as their travellers, so they go with either. A number that no
        threshold covers could be small, and is not published.

        Parameters
        ----------
        volume
            What is summed for utility.
        """
        protected = set(self.thresholds)
        trips: tuple[Unit, ...] = ("trips",) if protected & {"trips", "travellers"} else ()
        others: tuple[Unit, ...] = ("travellers", "population")
        return (*trips, *(unit for unit in others if unit in protected))

    def published_by_segment(self, volume: Volume) -> tuple[Unit, ...]:
        """Return the numbers that may be published per flow and segment."""
        return self.published(volume)

    def told_rows(self, rows: Mapping[str, int], people: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return the numbers of dropped rows that may be told, by reason: those with enough people behind.

        Of others nothing is said, so that none, few and many of one person look alike.

        Parameters
        ----------
        people
            Different people behind the rows of each reason; None where nobody is told apart.
        """
        heads = [k for unit, k in self.thresholds.items() if unit != "population"]
        least = max(heads, default=self.k)
        if least is None:
            return {}
        behind = rows if people is None else people
        return {
            reason: number for reason, number in rows.items() if min(number, behind.get(reason, 0)) >= least
        }

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON, from which it can be read back."""
        told = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **told}

    def stated(self) -> dict[str, Any]:
        """Return the manifest's entry: for machines, and in words."""
        return {**self.to_manifest(), "sentence": self.sentence()}

    @classmethod
    def from_manifest(cls, entry: Any) -> Self:
        """Return the promise that an entry of a manifest states.

        Examples
        --------
        >>> from tripcloak.promises import KAnonymity
        >>> Promise.from_manifest(KAnonymity(k=10, unit="trips").stated())
        KAnonymity(k=10, unit='trips')
        >>> Promise.from_manifest({"kind": "trust me"})
        Traceback (most recent call last):
        tripcloak.InputError: the manifest states a promise that cannot be read
        """
        try:
            told = {name: value for name, value in entry.items() if name not in ("kind", "sentence")}
            found = Promise._kinds[entry["kind"]]
            if issubclass(found, cls):
                return found._read(told)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError):
            # Their words may quote what somebody wrote into the manifest.
            pass
        raise InputError("the manifest states a promise that cannot be read")

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        return cls(**told)

    @staticmethod
    def of_kind(kind: str) -> type[Promise]:
        """Return the class of promises of a kind.

        >>> Promise.of_kind("differential privacy").noisy
        True
        """
        return Promise._kinds[kind]

    @property
    def family(self) -> str:
        """Return the kind of promise that protects people here: the main one of several."""
        return self.kind

    @abstractmethod
    def sentence(self) -> str:
        """Return what is promised, in words."""

    def limits(self) -> tuple[str, ...]:
        """Return what it does not cover, in sentences."""
        return tuple(" ".join(text.removeprefix("- ").split()) for text in self.in_full().limits)

    def in_full(self) -> Passages:
        """Return what a README says of it."""
        least = self._least(" and ")
        return Passages(
            f"""\
**Every released flow holds at least {least}.** Places were made coarser until that was true, and
a share of the trips was withheld, within the stated limit, so that the others can stay finer.
""",
            f"""\
A reader who knows where somebody lives and works cannot find a flow here that holds fewer than
{least}. """,
            (
                """\
The promise is about this release alone: it does not cover comparing it with another
release of the same people, and it does not hide that something is true of everybody in a group.
""",
            ),
        )

    def further(self) -> tuple[str, ...]:
        """Return what is promised beyond the thresholds, each in words."""
        covered = (
            f"every released zone covers at least {least:,} {what} that occur"
            for what, least in self.floors.items()
        )
        rounding = () if self.rounding is None else (self.rounding,)
        return (*covered, *(part.sentence() for part in (*self.by_release, *self.by_product, *rounding)))

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        return "Every flow holds at least", self._least()

    def in_brief(self) -> str:
        """Return what it says first of all, in a few words.

        >>> from tripcloak.promises import KAnonymity
        >>> KAnonymity(k=10, unit="travellers").in_brief()
        'every flow holds at least 10 travellers'
        """
        heading, words = self.headline()
        return f"{heading[:1].lower()}{heading[1:]} {words}"

    def judgement(self, smallest: str) -> str:
        """Return what is said of a release that passed its audit, given its smallest support in words."""
        return f"safe; smallest flow {smallest}"

    def note(self) -> str | None:
        """Return what whoever compares releases should know of it, where there is something."""
        return None

    @property
    def budget(self) -> float | None:
        """Return the epsilon that a release spends; None where none is spent."""
        return None

    def noise_facts(self) -> dict[str, Any]:
        """Return what JSON tells of the noise; nothing where there is none."""
        return {}

    def _least(self, between: str = ", ") -> str:
        return between.join(number_of(unit, k, self.id_is) for unit, k in self._whole_thresholds.items())

    @property
    def _whole_thresholds(self) -> dict[Unit, float]:
        return {unit: whole_number(k) for unit, k in self.thresholds.items()}


class OfProducts(Promise):
    """A rule that is decided of every group by itself, and is not monotone: nothing follows from parts."""

    joins: ClassVar[bool] = True

    @property
    def monotone(self) -> Promise:
        """Raise: nothing of it is."""
        raise InputError(self.lacks)

    @property
    def by_product(self) -> tuple[Promise, ...]:
        """Return the rule itself."""
        return (self,)

    @property
    def private_facts(self) -> dict[str, Any]:
        """Return nothing."""
        return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class PromiseOnPromise(Promise):
    """Another promise, held to in a way of its own; what is not said anew is what the other one says."""

    promise: Promise

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the smallest supports that the promise asks for."""
        return self.promise.thresholds

    @property
    def floors(self) -> dict[Covered, int]:
        """Return how much a released zone covers at least."""
        return self.promise.floors

    @property
    def id_is(self) -> str | None:
        """Return what the ids stand for that the promise counts."""
        return self.promise.id_is

    @property
    def counts_people(self) -> bool:
        """Return whether the promise does."""
        return self.promise.counts_people

    @property
    def averages(self) -> bool:
        """Return whether the promise does."""
        return self.promise.averages

    @property
    def by_group(self) -> Self:
        """Return the same of what is decided group by group."""
        return replace(self, promise=self.promise.by_group)

    @property
    def by_release(self) -> tuple[TCloseness, ...]:
        """Return what is judged of a finished release."""
        return self.promise.by_release

    @property
    def monotone(self) -> Self:
        """Return the same of what is monotone."""
        return replace(self, promise=self.promise.monotone)

    @property
    def by_product(self) -> tuple[Promise, ...]:
        """Return what is decided of every group by itself."""
        return self.promise.by_product

    @property
    def parts_of(self) -> tuple[Volume, ...]:
        """Return the volumes of which it asks what each traveller has."""
        return self.promise.parts_of


def before_more(words: str) -> str:
    """Return words after which a sentence goes on, with a comma where they hold one themselves.

    >>> before_more("at least 5 people"), before_more("at least 5 trips, which may be one person's")
    ('at least 5 people', "at least 5 trips, which may be one person's,")
    """
    return f"{words}," if ", " in words else words


def whole_number(number: float) -> float:
    """Return a number as an int where it is whole: manifests and pages write 10, never 10.0.

    >>> whole_number(10.0), whole_number(2.5)
    (10, 2.5)
    """
    return int(number) if float(number).is_integer() else float(number)
