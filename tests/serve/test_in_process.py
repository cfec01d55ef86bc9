"""The application in this process, with workers of its own: what every route answers, and what a worker does."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager

import httpx
import pytest

import lpsched
from lpsched.serve.app import PAGE, create_app
from lpsched.serve.documentation import example, openapi
from lpsched.serve.operations import OPERATIONS
from lpsched.serve.settings import Settings
from lpsched.serve.worker import _Token, respond
from lpsched.serve.workloads import available_examples, read_workloads
from tests.serve.servers import ROOT, document, slow

TINY = ROOT / "instances" / "tiny.yaml"
HEAD = {"media": "json", "pairs": 1000, "seconds": 60.0, "id": "one"}


def answered(operation, content, **head):
    """Return the status and content of what a worker answers, and the messages before that."""
    messages: list[dict[str, object]] = []
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    answer = respond(HEAD | {"operation": operation} | head, body, _Token(), lambda said, _=b"": messages.append(said))
    return answer.status, answer.body.decode() if operation == "report" else json.loads(answer.body), messages


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in {"report", "facility", "simulate"}])
def test_a_worker_answers_the_example_of_every_operation(name):
    status, content, messages = answered(name, example(OPERATIONS[name]))
    assert (status, content["format"][:8]) == (200, "lpsched-")
    assert len([said for said in messages if "key" in said]) == 1


@pytest.mark.parametrize("name", ["report", "facility", "simulate"])
@pytest.mark.slow
def test_a_worker_answers_the_examples_that_take_longer(name):
    assert answered(name, example(OPERATIONS[name]))[0] == 200


def test_a_worker_plans_over_a_horizon_and_proves_the_plan():
    bag = document("bag") | {"prices": {"electricity_per_kwh": 0.1}}
    asked = {"bag": bag, "objective": "cost", "horizon": "3h", "effort": "fast", "marginals": "lp"}
    files = {name: answered(name, asked)[1] for name in ("schedule", "certify")}
    status, verdict, _ = answered("verify", {"instance": bag, "files": files, "horizon": "3h"})
    assert status == 200
    assert [(each["kind"], each["accepted"]) for each in verdict["files"]] == [("plan", True), ("certificate", True)]
    assert answered("solve", asked)[1]["format"] == "lpsched-horizon/1"


@pytest.mark.parametrize(
    ("operation", "more", "where"),
    [
        ("solve", {"start": "2024-01-01"}, "start"),
        ("solve", {"horizon": "1h", "objective": "energy"}, "objective"),
        ("solve", {"horizon": "1h", "price": 3}, "price"),
        ("solve", {"deadline": "soon"}, "deadline"),
        ("solve", {"efort": "fast"}, "efort"),
        ("price", {"points": -1}, "points"),
        ("whatif", {"set": {"nothing": 1}}, "set.nothing"),
        ("verify", {}, "files"),
        ("verify", {"files": 3}, "files"),
        ("validate", {"schedulers": ["file.py:function"]}, "heuristic"),
        ("validate", {"drop_below": 1}, "drop_below"),
    ],
)
def test_a_worker_names_the_option_that_is_wrong(operation, more, where):
    status, content, _ = answered(operation, {OPERATIONS[operation].options.KEY: document("bag")} | more)
    assert (status, content["error"]["code"]) == (422, "bad-input")
    assert [fault["where"] for fault in content["error"]["faults"]] == [where]


def test_a_worker_rejects_more_pairs_than_it_may_take_and_what_is_no_document():
    assert answered("show", document("bag"), pairs=5)[1]["error"]["faults"][0]["found"] == "6 pairs"
    for body in (b"", b"[]", b"{", b'{"instance": 3}', b"\xff"):
        assert answered("show", body)[0] == 422
    assert answered("show", b"format: lpsched-bag/1\nname: x\n", media="yaml")[0] == 422
    assert answered("solve", {"bag": document("bag"), "deadline": "1ms"})[1]["error"]["code"] == "infeasible"


def test_a_worker_that_is_stopped_before_it_begins_ends_at_once():
    token = _Token()
    token.stop("one")
    answer = respond(HEAD | {"operation": "solve"}, json.dumps(slow()).encode(), token, lambda *_: None)
    assert answer.is_cut or answer.status != 200


@asynccontextmanager
async def application(*files, **settings):
    """Run the application, and yield it and a client."""
    app = create_app(Settings(workers=1, rate=10**6, **settings), read_workloads(list(files)))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            yield app, client


async def ended(client, name):
    for _ in range(600):
        job = (await client.get(f"/v1/jobs/{name}")).json()
        if job["state"] not in {"queued", "running"}:
            return job
        await asyncio.sleep(0.05)
    raise AssertionError("it does not end")


def test_every_route_of_the_application(tmp_path):
    async def visit():
        async with application(TINY, folder=tmp_path / "jobs", wait_seconds=20.0) as (app, client):
            for path in ("/", "/docs", *(f"/page/{each.name}" for each in PAGE.iterdir())):
                answer = await client.get(path)
                assert (answer.status_code, "script-src 'self'" in answer.headers["content-security-policy"]) == (
                    200,
                    True,
                )
            assert (await client.get("/openapi.json")).json() == json.loads(json.dumps(openapi(app.version)))
            for path, status in (("/page/../app.py", 404), ("/v1/jobs/none", 404), ("/v1/solve", 405), ("/none", 404)):
                assert (await client.get(path)).status_code == status
            listed = (await client.get("/v1/workloads")).json()
            assert listed["examples"] == available_examples()
            for each in listed["examples"]:
                shown = (await client.get(f"/v1/examples/{each['name']}")).json()
                assert lpsched.Bag.model_validate(shown["document"]).tasks > 0
            tiny = (await client.get("/v1/workloads/tiny")).json()
            assert (tiny["yaml"], tiny["kind"]) == (TINY.read_text(), "bag")

            asked = {"bag": tiny["document"], "effort": "fast", "marginals": "lp"}
            first, again = [await client.post("/v1/solve", json=asked) for _ in range(2)]
            assert [each.headers["x-lpsched-cache"] for each in (first, again)] == ["miss", "hit"]
            assert first.content == again.content
            assert (
                await client.post("/v1/solve", content=b"x", headers={"content-type": "text/plain"})
            ).status_code == 415

            posted = await client.post("/v1/show", json=asked["bag"], headers={"prefer": "respond-async"})
            job = await ended(client, posted.json()["id"])
            assert (posted.status_code, job["state"], job["answer"]["tasks"]) == (202, "done", 12)
            assert (await client.get(f"/v1/jobs/{job['id']}/answer")).json() == job["answer"]
            events = (await client.get(f"/v1/jobs/{job['id']}/events")).text
            assert events.startswith("event: state\ndata: ")
            wrong = await client.post("/v1/show", json={"instance": 3}, headers={"prefer": "respond-async"})
            assert (await ended(client, wrong.json()["id"]))["error"]["code"] == "bad-input"
            long = (await client.post("/v1/solve", json=slow(), headers={"prefer": "respond-async"})).json()["id"]
            waits = (await client.post("/v1/solve", json=slow(1), headers={"prefer": "respond-async"})).json()["id"]
            for name in (waits, long):
                assert (await client.delete(f"/v1/jobs/{name}")).json()["state"] == "cancelled"
            assert (await client.get(f"/v1/jobs/{long}/answer")).status_code == 409
            assert len((await client.get("/v1/jobs")).json()["jobs"]) == 4

            for _ in range(600):
                text = (await client.get("/metrics")).text
                if 'lpsched_workload_current{workload="tiny"} 1' in text:
                    break
                await asyncio.sleep(0.05)
            assert "lpsched_workload_bound" in text
            assert (await client.get("/healthz")).json()["status"] in {"ok", "starting"}
            return job

    done = asyncio.run(visit())

    async def come_back():
        (tmp_path / "jobs" / "broken.job.json").write_text("{")
        async with application(folder=tmp_path / "jobs") as (_, client):
            assert (await client.get(f"/v1/jobs/{done['id']}/answer")).json() == done["answer"]
            late = await client.post("/v1/solve", json=slow(2), headers={"prefer": "respond-async"})
            return late.json()["id"]

    name = asyncio.run(come_back())
    assert json.loads((tmp_path / "jobs" / f"{name}.job.json").read_text())["state"] == "interrupted"


def test_a_request_that_takes_long_becomes_a_job_and_a_full_queue_is_an_error():
    async def visit():
        async with application(wait_seconds=0.2, queue=1, grace_seconds=0.1) as (app, client):
            for _ in range(600):
                if (await client.get("/healthz")).status_code == 200:  # the worker has begun
                    break
                await asyncio.sleep(0.05)
            first = await client.post("/v1/solve", json=slow(3))
            assert (first.status_code, first.headers["location"]) == (202, f"/v1/jobs/{first.json()['id']}")
            await client.post("/v1/solve", json=slow(4), headers={"prefer": "respond-async"})
            full = await client.post("/v1/solve", json=slow(5))
            assert (full.status_code, full.json()["error"]["code"]) == (503, "queue-full")
            (worker,) = app.state.jobs.workers
            os.kill(worker.pid, 9)
            assert (await ended(client, first.json()["id"]))["error"]["code"] == "worker-died"

    asyncio.run(visit())
