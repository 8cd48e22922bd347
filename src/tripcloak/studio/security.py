"""Who may ask the studio for something: holders of the token, from its own page, under its own name."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the studio's own page may do: talk to where it came from, and to nobody else."""

SHOWN_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-downloads"
)
"""What a map of a release may do, beside the stricter policy of its own: run its script, ask for nothing."""

SAFE = {"GET", "HEAD", "OPTIONS"}
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(32)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server there.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Lets through who holds the token, under the studio's own name, and from its own page.

    Parameters
    ----------
    application
        What is guarded.
    token
        The secret in the first address; browsers then hold a cookie, programs send it as a bearer token.
    host, port
        Where the server listens.
    """

    def __init__(self, application: Application, *, token: str, host: str, port: int) -> None:
        self._application = application
        self._token = token
        self._host, self._port = host, port
        # Cookies do not tell ports apart: two studios on one machine need two names.
        self.cookie = f"tripcloak_studio_{port}"
        self._session = hashlib.sha256(f"session {token}".encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._application(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not self.names_us(headers.get("host", "")):
            await refuse(send, 421, "This studio does not answer to that name; use the address it printed.")
        elif not self._is_from_us(scope["method"], headers):
            await refuse(send, 403, "Requests from other pages are not answered.")
        elif scope["path"] == "/" and (
            given := parse_qs(scope["query_string"].decode("latin-1")).get("token")
        ):
            await self._welcome(given[0], send)
        elif not self._may_enter(headers):
            await refuse(send, 401, "Open the address with the token that tripcloak studio printed.")
        else:
            await self._application(scope, receive, with_headers(send))

    def names_us(self, host: str) -> bool:
        """Return whether a Host header names this server; a name of somebody else's may lead here as well."""
        name, port = split_host(host)
        if port != self._port:
            return False
        if is_loopback(self._host):
            return name in LOOPBACK or name == self._host
        try:
            # Whoever names us by number was not led here by a name of somebody else's.
            ipaddress.ip_address(name)
        except ValueError:
            return name in {"localhost", self._host, socket.gethostname(), socket.getfqdn()}
        return True

    def _is_from_us(self, method: str, headers: dict[str, str]) -> bool:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if method in SAFE:
            return origin in (None, f"http://{headers.get('host')}")
        return origin in (None, f"http://{headers.get('host')}") and site in (None, "same-origin", "none")

    def _may_enter(self, headers: dict[str, str]) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and same(given.strip(), self._token):
            return True
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            held = None
        return held is not None and same(held.value, self._session)

    async def _welcome(self, given: str, send: Send) -> None:
        """Change the token of the first address for a cookie, and leave it in no history."""
        if not same(given, self._token):
            await refuse(
                send, 401, "That is not the token of this studio; it prints a new one at each start."
            )
            return
        cookie = f"{self.cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *COMMON_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def same(given: str, held: str) -> bool:
    """Return whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), held.encode())


def split_host(host: str) -> tuple[str, int]:
    """Return name and port of a Host header.

    >>> split_host("127.0.0.1:8123"), split_host("[::1]:80"), split_host("studio"), split_host("a:b")
    (('127.0.0.1', 8123), ('::1', 80), ('studio', 80), ('', 0))
    """
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "80"
    return (name.strip("[]").lower(), int(port)) if port.isascii() and port.isdigit() else ("", 0)


COMMON_HEADERS = [
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


def with_headers(send: Send) -> Send:
    """Return a way to answer that says what browsers may do with the answer."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            policy = (b"content-security-policy", PAGE_POLICY.encode())
            headers += [one for one in (policy, *COMMON_HEADERS) if one[0] not in names]
            message = {**message, "headers": headers}
        await send(message)

    return told


async def refuse(send: Send, status: int, words: str) -> None:
    """Answer that it may not be, and why, in words."""
    body = words.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"content-security-policy", b"default-src 'none'"),
        *COMMON_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
