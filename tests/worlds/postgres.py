"""A real PostgreSQL with PostGIS, from the packages of the system, on the loopback address alone."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGES = ("postgresql", "postgresql-15-postgis-3")
SERVANT = "postgres"
"""Whom the server runs as where the tests run as root, whom it refuses."""


@dataclass(frozen=True)
class Server:
    """A server that runs, and the password of its owner, which a file holds that only the owner reads."""

    port: int
    user: str
    password: str
    passwords: Path

    def address(self, rows: str = "", *, user: str | None = None, database: str = "city") -> str:
        """Return the address of rows, without a password."""
        return f"postgresql://{user or self.user}@127.0.0.1:{self.port}/{database}" + (
            f"#{rows}" if rows else ""
        )

    def run(self, sql: str, *, database: str = "city") -> str:
        """Return what psql, which shares nothing with us, prints of a query: rows, and | between cells."""
        done = subprocess.run(
            ["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", self.user, "-d", database, "-XqAt",
             "-v", "ON_ERROR_STOP=1", "-f", "-"],
            check=False, input=sql, text=True, capture_output=True,
            env={**os.environ, "PGPASSFILE": str(self.passwords)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@cache
def why_not() -> str | None:
    """Return why there can be no server here, after trying to install it; None where there can."""
    if _programs() is not None and _has_postgis():
        return None
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return (
            f"PostgreSQL with PostGIS is not installed ({' '.join(PACKAGES)}), and only root may install it"
        )
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", *PACKAGES]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
        if done.returncode:
            return f"PostgreSQL with PostGIS could not be installed: {' '.join(command)} failed"
    return None if _programs() is not None and _has_postgis() else "PostgreSQL was installed but is not found"


@contextmanager
def running() -> Iterator[Server]:
    """Give a new server on a free port, with an empty database ``city`` that has PostGIS."""
    programs = _programs()
    assert programs is not None
    servant = SERVANT if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="tripcloak-postgres-"))
    try:
        server = Server(_free_port(), "owner", secrets.token_urlsafe(12), folder / "passwords")
        server.passwords.write_text(f"*:*:*:owner:{server.password}\n")
        (folder / "given").write_text(server.password)
        server.passwords.chmod(0o600)
        data = folder / "data"
        data.mkdir()
        if os.geteuid() == 0:
            own = pwd.getpwnam(servant)
            folder.chmod(0o755)
            for path in (data, folder / "given"):
                os.chown(path, own.pw_uid, own.pw_gid)
        as_servant = ["runuser", "-u", servant, "--"] if os.geteuid() == 0 else []
        _run([*as_servant, str(programs / "initdb"), "-D", str(data), "-U", "owner", "-A", "scram-sha-256",
              "--pwfile", str(folder / "given"), "--no-sync", "-E", "UTF8", "--locale", "C"])  # fmt: skip
        settings = (
            f"-p {server.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={data} -c fsync=off"
        )
        control = [*as_servant, str(programs / "pg_ctl"), "-D", str(data), "-w"]
        _run([*control, "-l", str(data / "log"), "-o", settings, "start"])
        try:
            server.run("CREATE DATABASE city", database="postgres")
            server.run("CREATE EXTENSION postgis")
            yield server
        finally:
            _run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str]) -> None:
    # A server that is started here must not hold the pipes of this process.
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd="/")
    assert done.returncode == 0, command


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    beside = shutil.which("initdb")
    return found[-1].parent if found else Path(beside).parent if beside else None


def _has_postgis() -> bool:
    return any(Path("/usr/share/postgresql").glob("*/extension/postgis.control"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
