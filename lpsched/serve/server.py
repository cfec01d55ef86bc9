"""Run the server: bind, announce the address, and stop gracefully at Ctrl-C or SIGTERM."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from lpsched.errors import InputIssue, InstanceError, MissingExtraError, OutputError, quote
from lpsched.serve.settings import LEAST_MEMORY, LEAST_TOKEN, Settings
from lpsched.units import counted

BACKLOG: Final = 2048


def serve(settings: Settings, files: list[Path], announce: Callable[[str], object]) -> None:
    """Serve until Ctrl-C or SIGTERM; `announce` is called with the address once requests are taken.

    Raises
    ------
    InstanceError
        If a setting or a file is not valid.
    MissingExtraError
        If FastAPI or uvicorn is not installed.
    OutputError
        If the address or the folder cannot be used.
    """
    check(settings)
    try:
        import uvicorn

        from lpsched.serve.app import create_app
        from lpsched.serve.connections import limited
    except ModuleNotFoundError as error:
        raise MissingExtraError("lpsched serve", "serve") from error
    from lpsched.serve.jobs import Store
    from lpsched.serve.security import busy
    from lpsched.serve.workloads import read_workloads

    app = create_app(settings, read_workloads(files))
    if settings.folder is not None:
        Store(settings.folder).close()  # or an error, before the server begins
    bound = bind(settings)

    class Server(uvicorn.Server):
        """Stops at the first signal and leaves at the second; neither is an error."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit:  # the second signal: no messages about what it cuts off
                logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            jobs = getattr(app.state, "jobs", None)
            if jobs is not None:
                jobs.is_closing.set()
            super().handle_exit(sig, frame)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                announce(url_of(settings, bound.getsockname()[1]))

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would hold what clients ask
        server_header=False,
        date_header=False,
        proxy_headers=False,
        http=limited(settings, busy),
        timeout_graceful_shutdown=max(1, round(settings.grace_seconds)),
        timeout_keep_alive=30,
        backlog=BACKLOG,
        lifespan="on",
        ws="none",
    )
    with contextlib.closing(bound):
        Server(config).run(sockets=[bound])


def check(settings: Settings) -> None:
    """Reject settings that leave the server open to others."""
    issues = []
    if settings.token is not None and len(settings.token) < LEAST_TOKEN:
        got = counted(len(settings.token), "character")
        hint = "make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"
        issues.append(InputIssue(("token",), got, f"at least {LEAST_TOKEN}", hint))
    token = settings.token or ""
    if not (token.isascii() and token.isprintable()) or token != token.strip():
        issues.append(InputIssue(("token",), "other characters", "printable ASCII without blanks", "choose another"))
    issues += [
        InputIssue(("allow_host",), quote(name), "a name without a port", "such as planning.example.org")
        for name in settings.allowed_hosts
        if not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", name)
    ]
    if 0 < settings.memory_megabytes < LEAST_MEMORY:
        got, expected = f"{settings.memory_megabytes} MB", f"at least {LEAST_MEMORY}, or 0 for no limit"
        issues.append(InputIssue(("memory",), got, expected, "give more"))
    if not settings.is_loopback and settings.token is None:
        hint = "add one, or leave out --host to serve this machine only"
        issues.append(InputIssue(("host",), f"{settings.host!r} without a token", "--token with another address", hint))
    if issues:
        raise InstanceError("", tuple(issues))


def bind(settings: Settings) -> socket.socket:
    """Return a socket that is bound to the address."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, number)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        raise OutputError(f"cannot listen on {where}: {error.strerror or error}; choose another --port") from None
    return bound


def url_of(settings: Settings, port: int) -> str:
    """Return the address as a browser takes it."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - shown, not bound
    host = everywhere.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
