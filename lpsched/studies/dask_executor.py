"""The executor on a Dask cluster; errors and logs of Dask become few messages of ours."""

from __future__ import annotations

import contextlib
import logging
import pickle
import socket
import ssl
import threading
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from lpsched.errors import (
    InputIssue,
    InstanceError,
    LpschedError,
    MissingExtraError,
    WorkersError,
    quote,
    raise_signal_in,
)
from lpsched.model.provenance import version_of_lpsched
from lpsched.pool import LOOK_SECONDS
from lpsched.studies.executors import Packages, Task, installed, lost_run, require_same

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.studies.study import StudyRun


try:
    import distributed
except ImportError as error:  # an optional package, checked on use
    raise_signal_in(error)
    distributed = None  # type: ignore[assignment]


CONNECTING_SECONDS: Final = 5.0
NEEDED: Final = "the address that 'dask scheduler' prints, such as tcp://10.0.0.1:8786"
FRAMES_BYTES: Final = 8
MOST_FRAMES: Final = 1000  # of a greeting, which has two or three
WEB_SOCKET: Final = (
    "GET / HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: bHBzY2hlZC1scHNjaGVkIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
SCHEMES: Final = ("tcp", "tls", "ws", "wss", "ucx")
GO_ON: Final = "runs that were written stay: go on with --resume"
BROKEN: Final = "the connection broke"
LOGGERS: Final = ("distributed", "distributed.client", "distributed.core", "distributed.comm")


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler; its library logs nothing."""
    with _silence():
        try:
            _require_answer(address)
            with warnings.catch_warnings(action="ignore"):  # versions are looked at by `require_same`
                client = _client_of(address)
        except Exception as error:  # what answers may be anything, and Dask raises as much
            raise WorkersError(
                f"no Dask scheduler answers at {address!r} ({error}); start one with 'dask scheduler' and "
                "give the address that it prints, such as tcp://10.0.0.1:8786"
            ) from error
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close()


def require_address(address: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address; raise an error at once if it is none."""
    with contextlib.suppress(ValueError):  # no port, or brackets that do not close
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        if parts.scheme in SCHEMES and parts.hostname and parts.port and not (parts.path or parts.query):
            return parts.scheme, parts.hostname, parts.port
    issue = InputIssue(("dask",), quote(address), NEEDED, "start a scheduler, and give its address")
    raise InstanceError("", (issue,))


def _client_of(address: str) -> Any:  # noqa: ANN401 - of Dask
    """Return a client of Dask; wait no longer than for the first answer, where Dask would not end."""
    made: SimpleQueue[Any] = SimpleQueue()
    # One that was never connected is not closed when it is deleted: that takes ten seconds, and a traceback.
    client_class = type("Client", (distributed.Client,), {"__del__": lambda _: None})

    def make() -> None:
        try:
            made.put(client_class(address, timeout=CONNECTING_SECONDS, set_as_default=False))
        except BaseException as error:  # noqa: BLE001 - it is raised by the thread that waits
            made.put(error)

    threading.Thread(target=make, daemon=True).start()
    try:
        found = made.get(timeout=CONNECTING_SECONDS)
    except Empty:
        raise OSError("it stops answering") from None
    if isinstance(found, BaseException):
        raise found
    return found


def _require_answer(address: str) -> None:
    """Raise an error if nothing answers there as a scheduler does; Dask's client would wait longer.

    A scheduler speaks first over TCP: eight bytes say of how many frames its greeting is. By TLS and web sockets it
    answers a greeting of ours.
    """
    scheme, host, port = require_address(address)
    until = time.monotonic() + CONNECTING_SECONDS
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection((host, port), CONNECTING_SECONDS))
        if scheme in {"tls", "wss"}:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # Dask's client checks who it is
            with contextlib.suppress(ssl.SSLError):  # it may want a certificate of ours: it has answered
                connection = stack.enter_context(context.wrap_socket(connection, server_hostname=host))
        elif scheme == "ws":
            connection.sendall(WEB_SOCKET.format(host=host, port=port).encode())
        if scheme == "tcp":
            greeting = b""
            while len(greeting) < FRAMES_BYTES:
                connection.settimeout(max(0.01, until - time.monotonic()))
                if not (more := connection.recv(FRAMES_BYTES - len(greeting))):
                    raise OSError("it closes the connection")
                greeting += more
            if not 0 < int.from_bytes(greeting, "little") <= MOST_FRAMES:
                raise OSError(f"it greets with {quote(greeting.decode('latin-1'))}")
        elif scheme == "ws" and not connection.recv(1):
            raise OSError("it closes the connection")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Silence Dask's log; lpsched reports what matters."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def reporting_loss(address: str) -> Iterator[None]:
    """Raise errors of Dask as one that says that the scheduler is lost."""
    try:
        yield
    except LpschedError:
        raise
    except (OSError, distributed.CancelledError, TimeoutError, RuntimeError) as error:
        why = BROKEN if isinstance(error, distributed.CancelledError) else " ".join(str(error).split())
        raise WorkersError(f"the scheduler at {address} was lost ({why}); {GO_ON}") from error


# Runs on a cluster: a scheduler of Dask's `distributed`, and the workers that it has.
#
# The scheduler is handed some tasks ahead of those under way and keeps them until a worker is free. When a
# worker dies it begins what that one had under way elsewhere; a task that outlives no worker (its setting
# `allowed-failures`) becomes a failed run. An instance is sent once, as a piece of work of its own, so that
# the scheduler can make it again when its workers are gone; runs of it say that they need it.
#
# A worker must have what we have: the same lpsched, Python and numerical packages, or a run might come out
# otherwise there. It checks before each run and rejects it.
AHEAD: Final = 1000  # tasks that the scheduler holds: enough for some hundred workers
QUIET_SECONDS: Final = 5.0  # without a finished run, before the workers are checked


@dataclass(frozen=True, slots=True)
class DaskExecutor:
    """The workers of a Dask scheduler."""

    address: str  # where the scheduler listens, as it says when it starts: tcp://HOST:PORT

    def __post_init__(self) -> None:
        """Raise an error if Dask is not installed, or the address is none."""
        if distributed is None:
            raise MissingExtraError("running on a cluster", "cluster")
        require_address(self.address)

    def work_off(
        self, make: Callable[[Task], StudyRun], tasks: Sequence[Task], *, cancel: CancelToken
    ) -> Generator[StudyRun]:
        """Yield every run as it ends; when the token has expired, wait only for those that workers have."""
        if not tasks:
            return
        with connected(self.address) as client:
            desk = _Desk(client, make, cancel, Counter(id(task.instance) for task in tasks), installed())
            waiting = iter(tasks)
            while True:
                with reporting_loss(self.address):
                    desk.wind_up() if cancel.expired() else desk.hand_in(waiting)
                    runs = desk.answers()
                yield from runs
                if not runs and not desk.held:
                    return


@dataclass(slots=True)
class _Desk:
    """What has been handed to the scheduler."""

    client: Any
    make: Callable[[Task], StudyRun]
    cancel: CancelToken
    uses: Counter[int]  # tasks still to hand in, for each instance
    needed: Packages
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:8])  # others may run the same study here
    held: dict[str, tuple[Task, Any]] = field(default_factory=dict)
    instances: dict[int, Any] = field(default_factory=dict)
    ended: SimpleQueue[str] = field(default_factory=SimpleQueue)
    quiet_since: float = field(default_factory=time.monotonic)
    is_winding_up: bool = False
    is_reported: bool = False  # that there are no workers

    def hand_in(self, waiting: Iterator[Task]) -> None:
        """Keep the scheduler supplied.

        Many at once, or it would hand the first ones out to workers that are busy: they would be among the
        suspects when such a worker dies.
        """
        batch = list(islice(waiting, AHEAD - len(self.held)))
        if not batch:
            return
        keys = [f"lpsched-run-{self.token}-{task.key}" for task in batch]
        instances = [self._instance(task) for task in batch]
        bare = [replace(task, instance=None) for task in batch]
        with warnings.catch_warnings(action="ignore"):  # much is sent, but once
            futures = self.client.map(_do, bare, instances, key=keys, pure=False, make=self.make, needed=self.needed)
        for key, task, future in zip(keys, batch, futures, strict=True):
            self.held[key] = task, future
            future.add_done_callback(lambda done: self.ended.put(done.key))

    def _instance(self, task: Task) -> Any:  # noqa: ANN401 - Dask's promise of an instance
        """Return the future of a task's instance; it is released after its last task."""
        if task.instance is None:
            return None
        number = id(task.instance)
        if number not in self.instances:
            key = f"lpsched-instance-{self.token}-{number}"
            content = pickle.dumps(task.instance)
            with warnings.catch_warnings(action="ignore"):  # likewise
                self.instances[number] = self.client.submit(pickle.loads, content, key=key, pure=False)
        self.uses[number] -= 1
        return self.instances[number] if self.uses[number] else self.instances.pop(number)

    def wind_up(self) -> None:
        """Keep only the tasks that workers have."""
        if self.is_winding_up:
            return
        self.is_winding_up = True
        begun = {key for keys in self.client.processing().values() for key in keys}
        idle = {key for key, (_, future) in self.held.items() if key not in begun and not future.done()}
        self.client.cancel([self.held.pop(key)[1] for key in idle])

    def answers(self) -> list[StudyRun]:
        """Return the runs that have ended; wait a little for the first."""
        ended = [self.held.pop(key) for key in self._ended_keys() if key in self.held]
        runs: list[StudyRun] = list(self.client.gather([future for _, future in ended], errors="skip"))
        made = {run.key for run in runs}
        for task, future in ((task, future) for task, future in ended if task.key not in made):
            if future.status == "cancelled":
                raise OSError(BROKEN)
            runs.append(_given_up(task, future.exception()))
        return runs

    def _ended_keys(self) -> list[str]:
        if not self.held:
            return []
        keys = []
        with contextlib.suppress(Empty):
            keys.append(self.ended.get(timeout=LOOK_SECONDS))
            while True:
                keys.append(self.ended.get_nowait())
        if keys:
            self.quiet_since = time.monotonic()
        elif time.monotonic() - self.quiet_since > QUIET_SECONDS:
            self._look_around()
        return keys

    def _look_around(self) -> None:
        """Return why nothing finishes if there are no workers; log it once."""
        self.quiet_since = time.monotonic()
        if not self.client.nthreads():
            self.cancel.report("waiting for workers: the scheduler has none")
            if not self.is_reported:
                logging.getLogger("lpsched").warning("the scheduler has no workers yet; waiting for them")
            self.is_reported = True


def _given_up(task: Task, error: Exception) -> StudyRun:
    """Return the failed run of a task that outlived no worker."""
    if isinstance(error, WorkersError):
        raise error
    if isinstance(error, distributed.KilledWorker):
        died = error.allowed_failures + 1
        return lost_run(task, f"the worker that made this run died, {died} times; memory may be short")
    why = " ".join(str(error).split())
    raise WorkersError(
        f"a run cannot be begun there ({type(error).__name__}: {why}); the scheduler and every worker need "
        f"lpsched {version_of_lpsched()} and the packages that it has here; {GO_ON}"
    ) from error


_ONE_BY_ONE = threading.Lock()  # a worker may have many threads, but warnings and the like are the process's


def _do(task: Task, instance: Any, *, make: Callable[[Task], StudyRun], needed: Packages) -> StudyRun:  # noqa: ANN401
    """Make a run at a worker."""
    require_same(needed, str(distributed.get_worker().address))
    with _ONE_BY_ONE:
        try:
            return make(replace(task, instance=instance))
        except Exception as error:  # noqa: BLE001 - it is recorded in the run
            return lost_run(task, f"{type(error).__name__}: {error}")
