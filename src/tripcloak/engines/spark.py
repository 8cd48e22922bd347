"""A Spark cluster: the session that is there, or one for this run, and its errors in plain words."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from zipimport import zipimporter

from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.spelling import spelt

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.broadcast import Broadcast

SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""What spark-submit sets for the program that it starts."""
APART_BYTES = 1 << 28
"""Bytes of pieces of work that are on their way to a cluster at a time."""
TASKS_A_CORE = 8
"""Tasks that many pieces of work are shared out to, for every core."""
_SETTINGS = {
    "spark.app.name": "tripcloak",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@contextmanager
def spark_cluster(master: str | None, folder: Path | None = None) -> Iterator[Cluster]:
    """Give the cluster of the Spark session that there is already, or of one that ends with the block.

    Parameters
    ----------
    master
        Where to run, such as ``local[2]``, ``spark://host:7077`` or ``yarn``; a program that spark-submit has
        started knows it.
    folder
        Where a machine that runs everything by itself keeps what does not fit in memory.
    """
    _require_spark()
    from pyspark import SparkConf, SparkContext

    there: Any = SparkContext._active_spark_context  # type: ignore[attr-defined,unused-ignore]
    if there is not None:
        cluster = Cluster(there)
        try:
            with plain_spark_errors():
                yield cluster
        finally:
            cluster.let_go()
        return
    _require_master(master)
    conf = SparkConf()
    for name, value in _SETTINGS.items():
        conf.setIfMissing(name, value)
    if master is not None:
        conf.setMaster(master)
    if folder is not None and (master or "").startswith("local"):
        # Private rows stay in the run's own folder, also those of a run that is killed.
        conf.setIfMissing("spark.local.dir", str(folder))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    name = ""
    try:
        with plain_spark_errors(), SparkContext(conf=conf) as context:
            context.setLogLevel("OFF")
            name = str(context.applicationId)
            yield Cluster(context)
    finally:
        if name and (master or "").startswith("local-cluster"):
            _remove_leftovers(name)


def _remove_leftovers(application: str) -> None:
    """Remove what executors that Spark started on this machine left in its own folder: what they wrote on."""
    home = Path(_spark_home(), "work")
    shutil.rmtree(home / application, ignore_errors=True)
    with suppress(OSError):
        home.rmdir()


def _spark_home() -> str:
    from pyspark.find_spark_home import _find_spark_home

    return str(_find_spark_home())  # type: ignore[no-untyped-call,unused-ignore]


@dataclass(frozen=True)
class Cluster:
    """Runs functions on the machines of a Spark cluster; each is given its plan, which is sent there once.

    What ``stays`` there is let go with the block that the cluster was given to.
    """

    context: SparkContext
    stays: list[Waiting] = field(default_factory=list)

    def spread(
        self, tasks: Sequence[Any], function: Callable[[Any, Iterator[Any]], Iterator[Any]], plan: Any
    ) -> Waiting:
        """Return what a function makes of every task by itself; nothing runs before it is asked for."""
        spread = self.context.parallelize(tasks, max(1, len(tasks)))
        return Waiting.of(
            self.context, spread.mapPartitions(_OnCluster(function, self.context.broadcast(plan)))
        )

    @property
    def hadoop(self) -> tuple[Any, Any]:
        """Return Hadoop's classes of files, and how the cluster has file systems set up."""
        spark: Any = self.context
        return spark._jvm.org.apache.hadoop.fs, spark._jsc.hadoopConfiguration()

    def let_go(self) -> None:
        """Let go what stays."""
        while self.stays:
            self.stays.pop().let_go()

    def each_apart(self, pieces: Iterable[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield what comes of every piece by itself, in their order, after sending them there some at a time.

        Errors of ours are told back and raised here: Spark would try again in vain.
        """
        for some in _some_at_a_time(pieces):
            parts = min(len(some), TASKS_A_CORE * self.context.defaultParallelism)
            edges = [len(some) * part // parts for part in range(parts + 1)]
            found = self.spread([some[a:b] for a, b in pairwise(edges)], _work_apart, work)
            try:
                for told in found.told():
                    answer = pickle.loads(told)
                    if isinstance(answer, TripcloakError):
                        raise answer
                    yield answer
            finally:
                found.let_go()


def _some_at_a_time(pieces: Iterable[Any]) -> Iterator[list[bytes]]:
    """Yield pieces of work, pickled, as many as may be on their way at a time."""
    held: list[bytes] = []
    for piece in pieces:
        held.append(zlib.compress(pickle.dumps(piece, protocol=5), 1))
        if sum(map(len, held)) >= APART_BYTES:
            yield held
            held = []
    if held:
        yield held


def _work_apart(work: Callable[[Any], Any], tasks: Iterator[list[bytes]]) -> Iterator[bytes]:
    """Yield what comes of every piece of work; runs on the cluster."""
    for piece in (one for task in tasks for one in task):
        try:
            answer = work(pickle.loads(zlib.decompress(piece)))
        except TripcloakError as error:
            answer = error
        yield pickle.dumps(answer, protocol=5)


@dataclass(frozen=True, eq=False)
class OfParts:
    """A plan that is another one for some parts than for others, so that no process holds all of it.

    Attributes
    ----------
    plans : sequence
        The plans, each for one or more parts.
    of_part : sequence of int
        For every part, which plan is its own.
    """

    plans: Sequence[Any]
    of_part: Sequence[int]


@dataclass(frozen=True)
class Waiting:
    """Things that were made on a cluster and wait there, on the disks of its machines.

    Those of a machine that is lost are made again. Where they are let go, so is the room that they take.
    """

    context: SparkContext
    things: RDD[Any]

    @classmethod
    def of(cls, context: SparkContext, things: RDD[Any]) -> Waiting:
        """Return things that wait on disk as soon as they are made."""
        from pyspark import StorageLevel

        return cls(context, things.persist(StorageLevel.DISK_ONLY))

    def joined(self, of: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> Any:
        """Return what all things say of themselves, joined two by two on the way to the driver."""
        return self.things.map(of).treeReduce(join)

    def dealt(
        self,
        deal: Callable[[Any, Iterator[Any]], Iterator[tuple[int, Any]]],
        to: Any,
        parts: int,
        take: Callable[[Any, int, Iterator[tuple[int, Any]]], Iterator[Any]],
        plan: Any,
    ) -> Waiting:
        """Return what is made of every part, after things were dealt out to parts by number.

        Parameters
        ----------
        deal, to
            Makes of things what goes to which part; its plan, or that of each part.
        parts
            How many parts there are.
        take, plan
            Makes of all that went to a part what is wanted of it; its plan.
        """
        taking = self.context.broadcast(plan)
        shuffled = self._worked_on(deal, to).partitionBy(parts, _itself)
        return Waiting.of(self.context, shuffled.mapPartitionsWithIndex(_OnCluster(take, taking)))

    def made(self, function: Callable[[Any, Iterator[Any]], Iterator[Any]], plan: Any) -> Waiting:
        """Return what a function makes of things where they lie, by its plan or that of each part."""
        return Waiting.of(self.context, self._worked_on(function, plan))

    def _worked_on(self, function: Callable[[Any, Iterator[Any]], Iterator[Any]], plan: Any) -> RDD[Any]:
        if not isinstance(plan, OfParts):
            return self.things.mapPartitions(_OnCluster(function, self.context.broadcast(plan)))
        sent = [self.context.broadcast(one) for one in plan.plans]
        return self.things.mapPartitionsWithIndex(_OnParts(function, sent, list(plan.of_part)))

    def beside(self, other: Waiting) -> Waiting:
        """Return the things of both, each where it is; they are let go one by one."""
        return Waiting(self.context, self.things.union(other.things))

    def asked(self, function: Callable[[Any, Iterator[Any]], Iterator[Any]], plan: Any) -> list[Any]:
        """Return what a function says of things where they lie; nothing of the question stays there."""
        sent = self.context.broadcast(plan)
        try:
            return self.things.mapPartitions(_OnCluster(function, sent)).collect()
        finally:
            sent.destroy()

    def told(self, wanted: Callable[[Any], bool] | None = None) -> Iterator[Any]:
        """Yield all things part by part, in the order of parts, never more than two parts at a time.

        Parameters
        ----------
        wanted
            Says which things are told; the others stay where they are.
        """
        # All parts are made first, where there is room: an iterator alone would ask for one by one.
        self.things.foreach(_nothing)
        yield from self.told_again(wanted)

    def told_again(self, wanted: Callable[[Any], bool] | None = None) -> Iterator[Any]:
        """Yield things that have been made already likewise."""
        told = self.things if wanted is None else self.things.filter(wanted)
        yield from told.toLocalIterator(prefetchPartitions=True)

    def let_go(self) -> None:
        """Forget all that waits."""
        self.things.unpersist()


@dataclass(frozen=True)
class _OnCluster:
    """Calls a function with a plan that was sent to every machine once."""

    function: Callable[..., Iterator[Any]]
    plan: Broadcast[Any]

    def __call__(self, *arguments: Any) -> Iterator[Any]:
        _keep_archives()
        _set_modules_aside()
        return self.function(self.plan.value, *arguments)


@dataclass(frozen=True)
class _OnParts:
    """Calls a function with the plan of a part, and lets go of it afterwards."""

    function: Callable[..., Iterator[Any]]
    plans: list[Broadcast[Any]]
    of_part: list[int]

    def __call__(self, part: int, things: Iterable[Any]) -> Iterator[Any]:
        plan = self.plans[self.of_part[part]]
        try:
            yield from _OnCluster(self.function, plan)(things)
        finally:
            # The worker goes on, and would keep all that it was ever sent.
            vars(plan).pop("_value", None)


def _keep_archives() -> None:
    """Let a worker list the archives that it loads modules from once, and not before every task.

    PySpark has all of them listed again whenever a task starts, its own of thousands of files too: a tenth of
    a second, far more than most tasks take beside their work. They do not change while it runs.
    """
    for finder in sys.path_importer_cache.values():
        if isinstance(finder, zipimporter):
            vars(finder)["invalidate_caches"] = _stay


def _stay() -> None:
    pass


class _Aside:
    """How many modules a worker had loaded when they were set aside."""

    modules: ClassVar[int] = 0


def _set_modules_aside() -> None:
    """Keep modules that a worker has loaded out of its search for garbage.

    PySpark has it search after every task, and among hundreds of thousands of objects of modules, none of
    them garbage, that takes longer than most tasks.
    """
    if len(sys.modules) > _Aside.modules:
        _Aside.modules = len(sys.modules)
        gc.freeze()


def _itself(part: int) -> int:
    return part


def _nothing(thing: Any) -> None:
    pass


def task_folder() -> Path | None:
    """Return the folder that Spark removes with the run, on a task's machine; None where there is none."""
    from pyspark import SparkFiles

    try:
        root = Path(SparkFiles.getRootDirectory())
    except (AssertionError, AttributeError):
        return None
    return root if root.is_dir() else None


def _require_spark() -> None:
    """Raise where there is no PySpark, or no Java to run Spark on."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise InputError(
            f"{spelt('engine', 'spark')} needs PySpark; install tripcloak with its extra spark: "
            "pip install 'tripcloak[spark]'"
        ) from None
    if SUBMITTED not in os.environ and not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise InputError(
            f"{spelt('engine', 'spark')} needs Java 17 or newer, and there is no java here; install it, or "
            "say where it is with JAVA_HOME"
        )


def _require_master(master: str | None) -> None:
    if master is None and SUBMITTED not in os.environ:
        raise InputError(
            f"{spelt('engine', 'spark')} needs to know where to run: give {spelt('master', 'local[2]')} for "
            f"this machine, {spelt('master', 'spark://HOST:7077')} or "
            f"{spelt('master', 'yarn')} for a cluster, or start it with spark-submit"
        )


@contextmanager
def plain_spark_errors() -> Iterator[None]:
    """Turn errors of Spark into InputErrors that quote nothing: its words may hold cells of the input."""
    from py4j.protocol import Py4JError

    text = ""
    try:
        yield
    except Py4JError as error:
        text = str(error)
    except Exception as error:
        if not type(error).__module__.startswith("pyspark"):
            raise
        text = str(error)
    if text:
        raise InputError(_plain(text)) from None


@contextmanager
def hadoop_errors(explained: Callable[[str, str], TripcloakError]) -> Iterator[None]:
    """Raise, in place of an error of Hadoop's file systems, what its kind and its words are explained by."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        thrown: Any = error.java_exception
        kind = str(thrown.getClass().getName()).rpartition(".")[2]
        raise explained(kind, str(thrown.getMessage() or kind)) from None


def _plain(text: str) -> str:
    if "No space left" in text:
        return "the disk of a machine of the cluster is full; give Spark more room (spark.local.dir)"
    if "OutOfMemory" in text or "Cannot allocate" in text or "killed by YARN" in text:
        return (
            "a machine of the cluster ran out of memory; give executors more (spark.executor.memory, "
            "spark.executor.memoryOverhead), or fewer cores each"
        )
    if "ModuleNotFoundError" in text or "ImportError" in text:
        return (
            "a machine of the cluster cannot load tripcloak; install the same version everywhere, and let "
            "PYSPARK_PYTHON name its Python"
        )
    if "initializing" in text or "JAVA_GATEWAY" in text or "Connection refused" in text:
        return f"Spark could not be started or reached; check {spelt('master')}, and that Java is 17 or newer"
    return "Spark gave up: a step failed on the cluster again and again; its own logs say on which machine"
