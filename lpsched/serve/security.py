"""The guard before every request: who may ask, from where, how often and how much.

Host      the name that the client used must be loopback, an address, or one that the user allowed: a page on another
          site cannot reach the server by letting its own name point here (DNS rebinding)
Origin    a request that a page sent must come from a page of this server
token     where the server has one, requests of the API carry it as `Authorization: Bearer TOKEN`
rate      requests of one client in a minute
size      bytes of a body, by its header and as it comes in

Every answer forbids scripts, styles, frames and requests from or to elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from lpsched.serve.metrics import Metrics
from lpsched.serve.operations import Answer
from lpsched.serve.settings import LOOPBACK, Settings
from lpsched.serve.worker import error_answer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_CLIENTS: Final = 10_000  # whose requests are counted; of more, the first are forgotten
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = tuple(
    (name.encode(), value.encode())
    for name, value in (
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
    )
)
MEGABYTE: Final = 2**20
MINUTE: Final = 60.0
LOG: Final = logging.getLogger("lpsched")
OPEN: Final = ("/healthz", "/docs", "/openapi.json", "/")  # without a token: they say nothing of any workload


class TooLargeError(Exception):
    """A body is larger than the server takes."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: Callable[..., Awaitable[None]], settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._token = None if settings.token is None else _digest(settings.token)
        self._most = int(settings.body_megabytes * MEGABYTE)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # of clients: requests left, and when
        self._names = {*LOOPBACK, settings.host.lower(), *(name.lower() for name in settings.allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, is_started = time.perf_counter(), 500, False

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal status, is_started
            if message["type"] == "http.response.start":
                status, is_started = message["status"], True
                own = {name for name, _ in message.get("headers", ())}
                more = [each for each in HEADERS if each[0] not in own]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            refused = self._refusal(scope, headers)
            if refused is None:
                await self._app(scope, self._counted(receive), answer)
            else:
                await respond(answer, *refused)
        except Exception:
            LOG.exception("an error of the server")
            if is_started:
                raise
            await respond(answer, error_answer(500, "internal", "an error of the server; its log has the details"), {})
        finally:
            route = getattr(scope.get("route"), "path", "unknown")
            self._metrics.count(route, scope["method"], status, time.perf_counter() - began)

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[Answer, dict[str, str]] | None:
        """Return why a request is rejected, and headers of that answer; `None` if it is not."""
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if not self._is_known(host) or sum(name == b"host" for name, _ in scope["headers"]) > 1:
            sentence = "the name in Host is not one of this server; start it with --allow-host NAME"
            return error_answer(403, "forbidden", sentence), {}
        is_own = origin is None or origin.partition("://")[2] == host
        if scope["method"] != "GET":
            is_own = is_own and headers.get(b"sec-fetch-site", "same-origin") in {"same-origin", "none"}
        if not is_own:
            return error_answer(403, "forbidden", "the request comes from a page of another site"), {}
        wait = self._seconds_to_wait((scope.get("client") or ("unknown",))[0])
        if wait > 0:
            sentence = f"more than {self._settings.rate} requests in a minute; wait"
            return error_answer(429, "too-many-requests", sentence), {"retry-after": str(int(wait) + 1)}
        if not self._has_token(scope["path"], headers):
            sentence = "expected the header 'Authorization: Bearer TOKEN' with the token of the server"
            return error_answer(401, "unauthorised", sentence), {"www-authenticate": "Bearer"}
        length = headers.get(b"content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > self._most:
            return too_large(self._settings), {"connection": "close"}
        return None

    def _has_token(self, path: str, headers: dict[bytes, str]) -> bool:
        """Return whether a request carries the token, where one is needed; the time does not depend on what it is."""
        if self._token is None or path in OPEN or path.startswith("/page/"):
            return True
        kind, _, given = headers.get(b"authorization", "").partition(" ")
        return hmac.compare_digest(_digest(given.strip()), self._token) and kind.lower() == "bearer"

    def _is_known(self, host: str) -> bool:
        """Return whether a value of `Host` names this server: a name it knows, or any address."""
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        name = name.lower().rstrip(".")
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return not self._settings.is_loopback

    def _seconds_to_wait(self, client: str) -> float:
        """Count a request of a client; return how long it has to wait, 0 if it need not."""
        most, now = float(self._settings.rate), time.monotonic()
        left, last = self._buckets.pop(client, (most, now))
        left = min(most, left + (now - last) * most / MINUTE)
        self._buckets[client] = max(0.0, left - 1.0), now
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if left >= 1.0 else (1.0 - left) * MINUTE / most

    def _counted(self, receive: Receive) -> Receive:
        """Return the body of a request, unless it has more bytes than allowed."""
        so_far = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal so_far
            message = await receive()
            so_far += len(message.get("body", b""))
            if so_far > self._most:
                raise TooLargeError
            return message

        return counted


def too_large(settings: Settings) -> Answer:
    """Return the error of a body that is too large."""
    sentence = f"the body has more than {settings.body_megabytes:g} MB; send less, or use the command line"
    return error_answer(413, "too-large", sentence)


async def busy(_: Scope, __: Receive, send: Send) -> None:
    """Answer a request while there are too many connections, as an ASGI application."""
    answer = error_answer(503, "queue-full", "there are too many connections; send it again later")
    headers = {name.decode(): value.decode() for name, value in HEADERS}
    await respond(send, answer, headers | {"retry-after": "2", "connection": "close"})


async def respond(send: Send, answer: Answer, headers: dict[str, str]) -> None:
    """Send an answer."""
    said = {"content-type": answer.media, "content-length": str(len(answer.body))} | headers
    raw = [(name.encode(), value.encode("latin-1")) for name, value in said.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": answer.body})


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
