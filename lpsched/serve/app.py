"""The routes: operations of the API, jobs, workloads, metrics, and the files of the live page."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lpsched.model.provenance import version_of_lpsched
from lpsched.serve import jobs as states
from lpsched.serve.documentation import openapi
from lpsched.serve.jobs import Job, Jobs, QueueFullError, cancelled_answer, interrupted_answer
from lpsched.serve.metrics import MEDIA, Metrics
from lpsched.serve.operations import JSON, OPERATIONS, Answer, Operation
from lpsched.serve.security import Guard, TooLargeError, too_large
from lpsched.serve.settings import Settings
from lpsched.serve.worker import error_answer
from lpsched.serve.workloads import Workload, available_examples, example

PAGE: Final = Path(__file__).parent / "page"
NUMBERS: Final = Path(__file__).parents[1] / "report" / "browser" / "numbers.js"  # as report pages write them
EXPORTED: Final = (
    b"\nexport { gapText, number, percent, roundedDown, roundedUp, ROUNDING };\n"  # which makes it a module
)
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
MEDIA_TYPES: Final = {"application/json": "json", "application/yaml": "yaml", "text/yaml": "yaml"}
BODY_SECONDS: Final = 30.0  # for a client to send a body
HEARTBEAT_SECONDS: Final = 15.0  # between two lines of an event stream
MOST_LISTED: Final = 100
CODES: Final = {404: "no-such-thing", 405: "method"}


def create_app(settings: Settings, workloads: list[Workload] | None = None) -> FastAPI:
    """Return the application; its jobs are `app.state.jobs` while it runs."""
    metrics, named = Metrics(), {each.name: each for each in workloads or ()}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.jobs = jobs = Jobs(settings, metrics)
        await jobs.open()
        for workload in named.values():
            _measure(jobs, workload)
        yield
        await jobs.close()

    app = FastAPI(title="lpsched", version=version_of_lpsched(), docs_url=None, redoc_url=None, lifespan=lifespan)
    app.openapi = lambda: openapi(app.version)  # type: ignore[method-assign]  # as FastAPI documents it
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    _add_errors(app, settings)
    _add_operations(app, settings)
    _add_jobs(app)
    _add_workloads(app, named, metrics)
    _add_page(app)
    return app


def _response(answer: Answer, **headers: str) -> Response:
    return Response(answer.body, answer.status, headers, answer.media)


def _json(content: dict[str, Any], status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(content).encode(), status, headers, JSON)


def _add_errors(app: FastAPI, settings: Settings) -> None:
    """Answer every failure with the error object; the guard does so for errors of the server itself."""

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        code = CODES.get(error.status_code, "usage")
        sentence = f"{request.method} {request.url.path[:200]}: {error.detail}; see /docs"
        return _response(error_answer(error.status_code, code, sentence), **dict(error.headers or {}))

    @app.exception_handler(TooLargeError)
    async def large(_: Request, __: TooLargeError) -> Response:
        return _response(too_large(settings), connection="close")

    @app.exception_handler(QueueFullError)
    async def full(_: Request, error: QueueFullError) -> Response:
        return _response(error_answer(503, error.code, str(error)), **{"retry-after": "2"})


# Operations.
def _add_operations(app: FastAPI, settings: Settings) -> None:
    for operation in OPERATIONS.values():
        app.add_api_route(f"/v1/{operation.name}", _posted(operation, settings), methods=["POST"])


def _posted(operation: Operation, settings: Settings) -> Any:  # noqa: ANN401 - a route
    async def post(request: Request) -> Response:
        jobs: Jobs = request.app.state.jobs
        media = MEDIA_TYPES.get(request.headers.get("content-type", "").partition(";")[0].strip().lower())
        if media is None:
            sentence = f"expected the header 'Content-Type: {' or '.join(MEDIA_TYPES)}'"
            return _response(error_answer(415, "media-type", sentence))
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await request.body()
        except TimeoutError:
            sentence = f"the body did not come within {BODY_SECONDS:g} s"
            return _response(error_answer(408, "timeout", sentence), connection="close")
        except ClientDisconnect:
            return Response(status_code=400)
        is_job = operation.is_job or "respond-async" in request.headers.get("prefer", "")
        job = jobs.submit(operation.name, body, media, kept=is_job)
        if not is_job:
            ended = await _waited(jobs, job, request, settings)
            if ended is not None:
                return ended
            jobs.keep(job)
        return _json(job.to_dict(), 202, location=f"/v1/jobs/{job.id}")

    return post


async def _waited(jobs: Jobs, job: Job, request: Request, settings: Settings) -> Response | None:
    """Wait for a job; return nothing if it takes too long. It is cancelled if its last client goes away.

    When the server stops, half of the grace time is left: the other half is for sending the answer.
    """
    job.waiting += 1
    gone = asyncio.ensure_future(_disconnected(request))
    closing = asyncio.ensure_future(jobs.is_closing.wait())
    try:
        async with asyncio.timeout(settings.wait_seconds) as limit:
            ends = [gone, closing]
            while not job.is_over and not gone.done():
                if closing in ends and closing.done():
                    ends.remove(closing)
                    soon = asyncio.get_running_loop().time() + settings.grace_seconds / 2
                    limit.reschedule(min(soon, limit.when() or soon))
                changed = asyncio.ensure_future(job.changed.wait())
                try:
                    await asyncio.wait([changed, *ends], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
    except TimeoutError:
        if job.kept or not jobs.is_closing.is_set():
            return None
        jobs.cancel(job, states.INTERRUPTED)
    finally:
        job.waiting -= 1
        is_gone = gone.done()
        gone.cancel()
        closing.cancel()
        if is_gone and not job.waiting and not job.kept:
            jobs.cancel(job)
    return _ended(jobs, job)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _ended(jobs: Jobs, job: Job) -> Response:
    """Return the answer of a job that has ended."""
    match job.state:
        case states.CANCELLED:
            return _response(cancelled_answer())
        case states.INTERRUPTED:
            return _response(interrupted_answer())
    answer = jobs.answer_of(job)
    if answer is None:
        return _response(error_answer(410, "gone", "the answer of the job is no longer there; send it again"))
    headers = {"x-lpsched-cache": "hit" if job.cached else "miss"}
    if job.operation == "report" and answer.status == HTTPStatus.OK:
        headers["content-disposition"] = 'attachment; filename="report.html"'
    return _response(answer, **headers)


# Jobs.
def _add_jobs(app: FastAPI) -> None:
    def found(request: Request, name: str) -> Job:
        job: Job | None = request.app.state.jobs.kept.get(name)
        if job is None:
            raise HTTPException(404, "there is no such job")
        return job

    async def listed(request: Request) -> Response:
        jobs = list(request.app.state.jobs.kept.values())[-MOST_LISTED:]
        return _json({"format": "lpsched-jobs/1", "jobs": [job.to_dict() for job in reversed(jobs)]})

    async def shown(request: Request, name: str) -> Response:
        job = found(request, name)
        said = job.to_dict()
        if job.state == states.DONE:
            answer = request.app.state.jobs.answer_of(job)
            said["answer"] = None
            with contextlib.suppress(ValueError):  # of a file that another program changed
                said["answer"] = json.loads(answer.body) if answer is not None and answer.media == JSON else None
        return _json(said)

    async def answered(request: Request, name: str) -> Response:
        job = found(request, name)
        if not job.is_over:
            return _response(error_answer(409, "not-done", f"the job is {job.state}; ask again later"))
        return _ended(request.app.state.jobs, job)

    async def events(request: Request, name: str) -> Response:
        job = found(request, name)
        stream = _events(request.app.state.jobs, job)
        return StreamingResponse(stream, media_type="text/event-stream", headers={"cache-control": "no-store"})

    async def cancelled(request: Request, name: str) -> Response:
        job = found(request, name)
        request.app.state.jobs.cancel(job)
        return _json(job.to_dict())

    app.add_api_route("/v1/jobs", listed, methods=["GET"])
    app.add_api_route("/v1/jobs/{name}", shown, methods=["GET"])
    app.add_api_route("/v1/jobs/{name}", cancelled, methods=["DELETE"])
    app.add_api_route("/v1/jobs/{name}/answer", answered, methods=["GET"])
    app.add_api_route("/v1/jobs/{name}/events", events, methods=["GET"])


async def _events(jobs: Jobs, job: Job) -> AsyncIterator[str]:
    """Yield the job at every change, as server-sent events, until it has ended or the server stops."""
    state = None
    while True:
        kind, state = "state" if job.state != state else "progress", job.state
        changed = job.changed.wait
        yield f"event: {kind}\ndata: {json.dumps(job.to_dict())}\n\n"
        if job.is_over or jobs.is_closing.is_set():
            return
        waits = [asyncio.ensure_future(wait()) for wait in (changed, jobs.is_closing.wait)]
        done, _ = await asyncio.wait(waits, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if not done:
            yield ": no change\n\n"


# Workloads and metrics.
def _measure(jobs: Jobs, workload: Workload) -> None:
    """Solve a workload for `/metrics`, in the background."""
    metrics, content = jobs.metrics, workload.bag.content_hash

    async def measure() -> None:
        try:
            job = jobs.submit("solve", workload.request(), "json", kept=False)
            job.waiting += 1  # so that no client can cancel it
            while not job.is_over:
                await job.changed.wait()
            answer = jobs.answer_of(job)
            if job.state == states.DONE and answer is not None:
                metrics.workloads[workload.name] = json.loads(answer.body)
            elif answer is not None and answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:  # there is no answer
                metrics.without[workload.name] = content
                metrics.workloads.pop(workload.name, None)
        except QueueFullError:
            pass  # the next scrape tries again
        finally:
            workload.is_measured = False

    if (
        content not in {metrics.numbers_of(workload.name), metrics.without.get(workload.name)}
        and not workload.is_measured
    ):
        workload.is_measured = True
        workload.measuring = asyncio.ensure_future(measure())


def _add_workloads(app: FastAPI, named: dict[str, Workload], metrics: Metrics) -> None:
    async def listed() -> Response:
        there = [{"name": name, "kind": "bag"} for name in named]
        return _json({"format": "lpsched-workloads/1", "workloads": there, "examples": available_examples()})

    async def shown(name: str) -> Response:
        if name not in named:
            raise HTTPException(404, "there is no such workload")
        await asyncio.to_thread(named[name].update)
        return _json(named[name].to_dict())

    async def shown_example(name: str) -> Response:
        found = example(name)
        if found is None:
            raise HTTPException(404, "there is no such example")
        return _json(found.to_dict())

    async def measured(request: Request) -> Response:
        jobs: Jobs = request.app.state.jobs
        for workload in named.values():
            await asyncio.to_thread(workload.update)
            _measure(jobs, workload)
        gauges = {
            "lpsched_queue_length": ("Requests that wait for a worker.", float(jobs.queued)),
            "lpsched_running": ("Requests under way.", float(jobs.running)),
            "lpsched_workers": ("Worker processes that are alive.", float(jobs.alive)),
            "lpsched_jobs_kept": ("Jobs that can be asked for.", float(len(jobs.kept))),
        }
        current = {
            name: each.is_current and metrics.numbers_of(name) == each.bag.content_hash for name, each in named.items()
        }
        return Response(metrics.text(gauges, current), media_type=MEDIA)

    async def healthy(request: Request) -> Response:
        jobs: Jobs = request.app.state.jobs
        ok = jobs.alive > 0 and not jobs.is_closing.is_set()
        said = {
            "status": "ok" if ok else "stopping" if jobs.is_closing.is_set() else "starting",
            "lpsched": version_of_lpsched(),
            "workers": jobs.alive,
        }
        return _json(said, 200 if ok else 503)

    app.add_api_route("/v1/workloads", listed, methods=["GET"])
    app.add_api_route("/v1/workloads/{name:path}", shown, methods=["GET"])
    app.add_api_route("/v1/examples/{name}", shown_example, methods=["GET"])
    app.add_api_route("/metrics", measured, methods=["GET"])
    app.add_api_route("/healthz", healthy, methods=["GET"])


# The live page: a fixed set of files, read once; no path of a request is ever opened.
def _add_page(app: FastAPI) -> None:
    files = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in PAGE.iterdir() if path.suffix in TYPES}
    files["numbers.js"] = NUMBERS.read_bytes() + EXPORTED, TYPES[".js"]

    def served(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is no such page")
        content, media = files[name]
        return Response(content, media_type=media, headers={"cache-control": "no-cache"})

    async def index() -> Response:
        return served("index.html")

    async def docs() -> Response:
        return served("docs.html")

    async def file(name: str) -> Response:
        return served(name)

    app.add_api_route("/", index, methods=["GET"])
    app.add_api_route("/docs", docs, methods=["GET"])
    app.add_api_route("/page/{name}", file, methods=["GET"])
