"""Jobs: requests that wait for a worker, run, and end; what they answered, in memory and on disk.

Every request is a job while it runs. One that a client waits for is forgotten once it is answered, but for the cache.
One that was sent as a job, or took longer than a client waits, is kept: its record and its answer are files in the
folder that the user named, each written whole or not at all, the answer first. A server that is started again finds
them; jobs that were under way when it ended are then `interrupted`.

With two or more workers, those that were sent as jobs leave one free for requests that clients wait for.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import secrets
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from lpsched.errors import LpschedError, OutputError
from lpsched.io.content import write_files
from lpsched.model.provenance import version_of_lpsched
from lpsched.serve.operations import OPERATIONS, Answer
from lpsched.serve.worker import INTERNAL, error_answer
from lpsched.serve.workers import Worker

if TYPE_CHECKING:
    from lpsched.serve.metrics import Metrics
    from lpsched.serve.settings import Settings

FORMAT: Final = "lpsched-job/1"
QUEUED, RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED = (
    "queued",
    "running",
    "done",
    "failed",
    "cancelled",
    "interrupted",
)
ENDED: Final = (DONE, FAILED, CANCELLED, INTERRUPTED)
RECORD: Final = ".job.json"
ANSWER: Final = ".answer"
MEGABYTE: Final = 2**20
LOG: Final = logging.getLogger("lpsched")


class QueueFullError(LpschedError):
    """More requests wait than the server allows."""

    code = "queue-full"


def now() -> str:
    """Return the time in UTC as ISO 8601 writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True, eq=False)
class Job:
    """One request and what became of it."""

    id: str
    operation: str
    digest: str  # of the bytes of the request
    body: bytes = b""
    media: str = "json"
    state: str = QUEUED
    kept: bool = False  # whether it can be asked for by its number
    created: str = field(default_factory=now)
    started: str | None = None
    ended: str | None = None
    progress: dict[str, Any] | None = None
    key: str | None = None  # what the answer depends on, by content
    answer: Answer | None = None  # or the error
    cached: bool = False
    waiting: int = 0  # clients
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    worker: Worker | None = None
    stops: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED

    def to_dict(self) -> dict[str, Any]:
        """Return the job as it appears in JSON, without the answer; the keys are stable."""
        error = json.loads(self.answer.body)["error"] if self.state == FAILED and self.answer is not None else None
        return {
            "format": FORMAT,
            "lpsched": version_of_lpsched(),
            "id": self.id,
            "operation": self.operation,
            "state": self.state,
            "progress": self.progress,
            "created": self.created,
            "started": self.started,
            "ended": self.ended,
            "error": error,
        }

    def notify(self) -> None:
        """Wake up those who wait for a change."""
        event, self.changed = self.changed, asyncio.Event()
        event.set()


class Jobs:
    """The queue, the workers, the cache and the jobs that are kept."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings, self.metrics = settings, metrics
        self.kept: OrderedDict[str, Job] = OrderedDict()  # by number, the oldest first
        self.is_closing = asyncio.Event()
        self.workers: list[Worker | None] = [None] * settings.workers
        self._quick: deque[Job] = deque()
        self._long: deque[Job] = deque()
        self._active: dict[str, Job] = {}  # by number: under way, or waiting for a worker
        self._shared: dict[str, Job] = {}  # of these by digest: those that only clients wait for, who may be several
        self._wake = asyncio.Condition()
        self._loops: list[asyncio.Task[None]] = []
        self._watches: set[asyncio.Task[None]] = set()  # each ends with a worker
        self._cache: OrderedDict[str, Answer] = OrderedDict()  # by key
        self._keys: OrderedDict[str, str] = OrderedDict()  # of digests
        self._cache_bytes = 0
        self._store = Store(settings.folder) if settings.folder is not None else None

    @property
    def queued(self) -> int:
        """How many requests wait for a worker."""
        return len(self._quick) + len(self._long)

    @property
    def running(self) -> int:
        """How many requests are under way."""
        return sum(job.state == RUNNING for job in self._active.values())

    @property
    def _kept_running(self) -> int:
        """How many jobs that no client waits for are under way."""
        return sum(job.state == RUNNING and job.kept for job in self._active.values())

    @property
    def alive(self) -> int:
        """How many workers can take requests."""
        return sum(worker is not None and worker.is_alive for worker in self.workers)

    async def open(self) -> None:
        """Read the jobs of the folder, and start the workers."""
        if self._store is not None:
            for job in self._store.read():
                self.kept[job.id] = job
                if job.key is not None:
                    self._keys[job.digest] = job.key
        self._loops = [asyncio.create_task(self._work(place)) for place in range(self.settings.workers)]

    async def close(self) -> None:
        """Let running jobs end for some seconds, record the rest as interrupted, and end the workers."""
        self.is_closing.set()
        for queue in (self._quick, self._long):
            while queue:
                self._end(queue.popleft(), INTERRUPTED, None)
        running = [job for job in self._active.values() if job.state == RUNNING]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.settings.grace_seconds):
                while any(not job.is_over for job in running):
                    await asyncio.wait(
                        [asyncio.ensure_future(job.changed.wait()) for job in running if not job.is_over]
                    )
        for job in running:
            if not job.is_over:
                self._end(job, INTERRUPTED, None)
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in self.workers if worker is not None))
        if self._store is not None:
            self._store.close()

    # Requests.
    def submit(self, operation: str, body: bytes, media: str, *, kept: bool) -> Job:
        """Return a job for a request: one that is under way, one that is answered by the cache, or a new one."""
        digest = hashlib.sha256(f"{version_of_lpsched()} {operation} {media}\n".encode() + body).hexdigest()
        job = None if kept else self._shared.get(digest)  # a job belongs to the client that may cancel it
        if job is None and (answer := self._cached(digest)) is not None:
            job = Job(secrets.token_urlsafe(12), operation, digest, state=DONE, ended=now(), answer=answer, cached=True)
            job.key = self._keys.get(digest)
        if job is not None:
            self.metrics.cache["hit" if job.cached else "miss"] += 1
        else:
            self._require_place(len(body))
            job = Job(secrets.token_urlsafe(12), operation, digest, body, media)
            self._active[job.id] = job
            if not kept:
                self._shared[digest] = job
            (self._long if kept else self._quick).append(job)
            self._notify()
        if kept:
            self.keep(job)
        return job

    def _require_place(self, size: int) -> None:
        """Raise an error if no more requests may wait, or not one of this size."""
        waiting = [len(job.body) for job in (*self._quick, *self._long)]
        if self.is_closing.is_set():
            raise QueueFullError("the server is stopping; send it again later")
        if len(waiting) >= self.settings.queue or sum(waiting) + size > self.settings.queue_megabytes * MEGABYTE:
            raise QueueFullError(f"{len(waiting)} requests wait; send it again later")

    def keep(self, job: Job) -> None:
        """Keep a job, so that it can be asked for; the oldest that has ended is forgotten where there are too many."""
        if job.kept:
            return
        job.kept = True
        self._unshare(job)
        self.kept[job.id] = job
        self._record(job)
        self._trim()

    def _unshare(self, job: Job) -> None:
        if self._shared.get(job.digest) is job:
            del self._shared[job.digest]

    def _trim(self) -> None:
        """Forget the oldest jobs that have ended while there are too many, or their answers take too much memory."""
        ended = [job for job in self.kept.values() if job.is_over]
        held = sum(len(job.answer.body) for job in ended if job.answer is not None)
        surplus = len(self.kept) - self.settings.kept_jobs
        for job in ended:
            if surplus <= 0 and held <= self.settings.kept_megabytes * MEGABYTE:
                return
            surplus, held = surplus - 1, held - (0 if job.answer is None else len(job.answer.body))
            self.forget(job)

    def forget(self, job: Job) -> None:
        """Remove a job that has ended."""
        self.kept.pop(job.id, None)
        if self._store is not None:
            self._store.remove(job)

    def answer_of(self, job: Job) -> Answer | None:
        """Return the answer of a job that is done, from memory or disk."""
        if job.answer is None and job.state == DONE and self._store is not None:
            return self._store.answer(job)
        return job.answer

    def cancel(self, job: Job, state: str = CANCELLED) -> None:
        """Cancel a job: at once if it waits, else as soon as its worker stops, or is stopped."""
        if job.is_over:
            return
        if job.state == QUEUED:
            for queue in (self._quick, self._long):
                with contextlib.suppress(ValueError):
                    queue.remove(job)
        worker = job.worker
        self._end(job, state, None)
        if worker is not None:
            job.stops = asyncio.create_task(self._stop(worker, job))

    async def _stop(self, worker: Worker, job: Job) -> None:
        await worker.stop(job.id)
        if job.worker is worker:  # it is still at it
            worker.kill()

    # Workers.
    def _notify(self) -> None:
        async def wake() -> None:
            async with self._wake:
                self._wake.notify_all()

        job = asyncio.ensure_future(wake())
        job.add_done_callback(lambda _: None)

    async def _next(self, worker: Worker) -> Job | None:
        """Return the next job for a worker; jobs that no client waits for leave one of several workers free."""
        async with self._wake:
            while worker.is_alive:
                if self._quick:
                    return self._quick.popleft()
                if self._long and self._kept_running < max(1, self.settings.workers - 1):
                    job = self._long.popleft()
                    job.state = RUNNING  # before the next worker counts
                    return job
                await self._wake.wait()
        return None

    async def _started(self, place: int) -> Worker:
        """Return the worker of a place, a new one if there is none that is alive."""
        while True:
            worker = self.workers[place]
            if worker is not None and worker.is_alive:
                return worker
            try:
                self.workers[place] = made = await Worker.start(self.settings.memory_megabytes)
            except (OSError, RuntimeError, TimeoutError) as error:
                LOG.error("%s; trying again", error)  # noqa: TRY400 - the traceback says no more
                await asyncio.sleep(1.0)
                continue
            self.metrics.worker_starts += 1
            watch = asyncio.create_task(made.ended())
            self._watches.add(watch)
            watch.add_done_callback(self._watches.discard)
            watch.add_done_callback(lambda _: self._notify())

    async def _work(self, place: int) -> None:
        """Take jobs, one after the other, with a worker that is replaced when it ends."""
        while True:
            worker = await self._started(place)
            job = await self._next(worker)
            if job is None:  # it ended while it had nothing to do
                continue
            try:
                await self._run(worker, job)
            except Exception:  # a bug of ours must not cost a worker
                LOG.exception("job %s failed", job.id)
                await worker.close()
                if not job.is_over:
                    self._end(job, FAILED, error_answer(500, "internal", INTERNAL))

    async def _run(self, worker: Worker, job: Job) -> None:
        job.state, job.started, job.worker = RUNNING, now(), worker
        self._record(job)
        job.notify()

        def listen(said: dict[str, Any]) -> None:
            if "progress" in said:
                job.progress = said["progress"]
                job.notify()
            elif "key" in said:
                job.key = said["key"]
                if not job.is_over and (known := self._known(said["key"])) is not None:
                    job.cached = True  # the same content in other words
                    self._end(job, DONE, known)
                    job.stops = asyncio.create_task(self._stop(worker, job))

        try:
            answer = await worker.run(
                job.id,
                job.operation,
                job.body,
                media=job.media,
                seconds=self.settings.seconds,
                pairs=self.settings.pairs,
                listen=listen,
            )
        finally:
            job.worker = None
            self._notify()  # one more of those that wait may begin
        if not job.is_over:
            self._end(job, DONE if answer.status == HTTPStatus.OK else FAILED, answer)

    def _end(self, job: Job, state: str, answer: Answer | None) -> None:
        job.state, job.ended, job.answer, job.body = state, now(), answer, b""
        self._active.pop(job.id, None)
        self._unshare(job)
        if answer is not None and answer.is_cut:
            job.key = None  # the clock decided: another run may find more
        if state == DONE and job.key is not None:
            self._keys[job.digest] = job.key
            while len(self._keys) > 10 * self.settings.kept_jobs:
                self._keys.popitem(last=False)
        if state == DONE and answer is not None and not job.cached:
            self._remember(job, answer)
        self.metrics.jobs[state] += 1
        self.metrics.cache["hit" if job.cached else "miss"] += 1
        self._record(job)
        if job.kept:
            self._trim()
        job.notify()

    def _record(self, job: Job) -> None:
        """Write a job that is kept; a disk that is full costs the record, not the server."""
        if not job.kept or self._store is None:
            return
        try:
            self._store.write(job)
        except OutputError as error:
            LOG.error("%s", error)  # noqa: TRY400 - the traceback says no more

    # The cache.
    def _cached(self, digest: str) -> Answer | None:
        key = self._keys.get(digest)
        return None if key is None else self._known(key)

    def _known(self, key: str) -> Answer | None:
        """Return the answer of the same content and options, from memory or from a job that is kept."""
        if (answer := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            return answer
        return next(
            (self.answer_of(job) for job in reversed(self.kept.values()) if job.key == key and job.state == DONE), None
        )

    def _remember(self, job: Job, answer: Answer) -> None:
        most = int(self.settings.cache_megabytes * MEGABYTE)
        if job.key is None or len(answer.body) > most // 4:
            return
        if (before := self._cache.pop(job.key, None)) is not None:  # two wrote the same request in other words
            self._cache_bytes -= len(before.body)
        self._cache[job.key] = answer
        self._cache_bytes += len(answer.body)
        while self._cache_bytes > most:
            _, oldest = self._cache.popitem(last=False)
            self._cache_bytes -= len(oldest.body)


class Store:
    """The files of jobs in a folder: a record for each, and the answer of each that is done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock: IO[bytes] | None = (folder / "lock").open("ab")
        except OSError as error:
            raise OutputError(f"cannot use {folder}: {error.strerror or error}; name another folder") from None
        if not _locked(self._lock):
            self._lock.close()
            raise OutputError(f"{folder} is used by another lpsched serve; name another folder")

    def close(self) -> None:
        """Let others use the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def write(self, job: Job) -> None:
        """Write the record of a job, after its answer."""
        if job.state in {DONE, FAILED} and job.answer is not None:
            write_files({self._path(job.id, ANSWER): job.answer.body})
        answer = None if job.answer is None else {"status": job.answer.status, "media": job.answer.media}
        record = job.to_dict() | {"key": job.key, "digest": job.digest, "answer": answer}
        write_files({self._path(job.id, RECORD): (json.dumps(record, indent=1) + "\n").encode()})
        if job.is_over:
            job.answer = job.answer if job.state == FAILED else None  # it is read from disk

    def read(self) -> Iterator[Job]:
        """Yield the jobs of the folder, the oldest first; those that were under way are interrupted."""
        found = []
        for path in self.folder.glob(f"*{RECORD}"):
            try:
                job = self._read(path)
                if not job.is_over:
                    job.state, job.ended = INTERRUPTED, now()
                    self.write(job)
            except (OSError, ValueError, KeyError, TypeError, RecursionError, OutputError) as error:
                LOG.warning("%s is not read: %s", path, error)
                continue
            found.append(job)
        yield from sorted(found, key=lambda job: job.created)

    def _read(self, path: Path) -> Job:
        record, name = json.loads(path.read_bytes()), path.name.removesuffix(RECORD)
        if record["id"] != name or record["operation"] not in OPERATIONS or record["format"] != FORMAT:
            raise ValueError("it is of something else")
        texts = {key: record[key] for key in ("digest", "state", "created", "started", "ended", "key")}
        if not all(isinstance(text, str | None) for text in texts.values()) or None in list(texts.values())[:3]:
            raise ValueError("it has values of another type")
        job = Job(name, record["operation"], record["digest"], state=record["state"], kept=True)
        job.created, job.started, job.ended = record["created"], record["started"], record["ended"]
        job.key, job.progress = record["key"], record["progress"]
        if job.state == FAILED:
            said = record["answer"]
            job.answer = Answer(said["status"], said["media"], self._path(name, ANSWER).read_bytes())
            job.to_dict()  # or an error
        return job

    def answer(self, job: Job) -> Answer | None:
        """Return the answer of a job that is done; `None` if its file is gone."""
        try:
            record = json.loads(self._path(job.id, RECORD).read_bytes())["answer"]
            return Answer(record["status"], record["media"], self._path(job.id, ANSWER).read_bytes())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self, job: Job) -> None:
        """Remove the files of a job."""
        for ending in (RECORD, ANSWER):
            with contextlib.suppress(OSError):
                self._path(job.id, ending).unlink()

    def _path(self, name: str, ending: str) -> Path:
        return self.folder / f"{name}{ending}"


def _locked(file: IO[bytes]) -> bool:
    """Lock a file for this process; return whether it is free. Where the system has no such lock, it is."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # some network file systems have no locks
        LOG.warning("%s cannot be locked: %s; let only one server use it", file.name, error.strerror)
    return True


def cancelled_answer() -> Answer:
    """Return the error of a job that was cancelled."""
    return error_answer(409, "cancelled", "the job was cancelled")


def interrupted_answer() -> Answer:
    """Return the error of a job that the end of the server interrupted."""
    return error_answer(409, "interrupted", "the server ended before the job did; send it again")
