"""Every limit of the server: what is beyond it is rejected with the documented error, and the server goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time

import httpx
import pytest

from lpsched.serve.app import create_app
from lpsched.serve.requests import MOST_FILES
from lpsched.serve.settings import Settings
from tests.serve.servers import document, is_running, slow, slow_bag, until, with_settings

LITTLE = {"server.LEAST_MEMORY": 1}  # with less than the command takes, memory ends sooner

KILOBYTES = 60  # of a body, for the server of this module


@pytest.fixture(scope="module")
def small():
    """A server with one worker and small limits on bodies, pairs, the queue, jobs and connections."""
    limits = {"body_megabytes": KILOBYTES / 1024, "pairs": 300, "queue": 2, "kept_jobs": 3, "connections": 12}
    constants = {"app.BODY_SECONDS": 0.5, "workers.STOP_SECONDS": 0.5}
    with with_settings(constants=constants, head_seconds=0.5, **limits) as running:
        yield running


@pytest.fixture(scope="module")
def brief():
    """A server with one worker and a time limit of a second."""
    with with_settings(seconds=1.0, constants={"workers.LATE_SECONDS": 1.0}) as running:
        yield running


def code_of(answer):
    """Return status and code of an error, with no traceback in it."""
    assert "Traceback" not in answer.text
    return answer.status_code, answer.json()["error"]["code"]


def whole(connection):
    """Return what comes until the server closes the connection."""
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


def goes_on(server):
    """Check that the next request is answered, by a new worker if need be."""
    bag = document("bag") | {"name": f"after-{time.monotonic_ns()}"}  # no answer of the cache
    assert server.post("show", {"instance": bag}).status_code == 200


# Sizes.
def test_a_body_with_a_content_length_beyond_the_limit_is_rejected_before_it_is_sent(small):
    head = f"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {KILOBYTES * 1024 + 1}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", small.port), timeout=8) as connection:
        connection.sendall(head.encode())
        answer = whole(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"too-large" in answer
    goes_on(small)


def test_a_body_in_chunks_beyond_the_limit_is_rejected(small):
    def chunks():
        with contextlib.suppress(GeneratorExit):
            for _ in range(KILOBYTES + 20):
                yield b" " * 1024

    answer = small.client.post("/v1/show", content=chunks(), headers={"content-type": "application/json"})
    assert code_of(answer) == (413, "too-large")
    goes_on(small)


def test_a_body_of_the_limit_is_read(small):
    body = json.dumps(document("bag")).encode()
    whole = body + b" " * (KILOBYTES * 1024 - len(body))
    assert small.post("show", whole).status_code == 200
    assert code_of(small.post("show", whole + b" ")) == (413, "too-large")


def test_a_body_that_comes_in_slowly_is_given_up(small):
    head = "POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    with socket.create_connection(("127.0.0.1", small.port), timeout=8) as connection:
        connection.sendall(head.encode())
        answer = whole(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"timeout"' in answer
    goes_on(small)


def test_a_body_that_drips_on_after_the_answer_holds_no_connection(small):
    head = "POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n{"
    with socket.create_connection(("127.0.0.1", small.port), timeout=8) as connection:
        connection.sendall(head.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 415 ")
        dripped = 0
        with contextlib.suppress(ConnectionError):
            while dripped < 80:
                dripped += connection.send(b" ")
                time.sleep(0.05)
    assert dripped < 80


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_a_head_that_does_not_come_is_given_up(small, sent):
    with socket.create_connection(("127.0.0.1", small.port), timeout=8) as connection:
        connection.sendall(sent)
        assert connection.recv(65536) == b""  # closed, within the time out of the socket


@pytest.mark.parametrize("begin", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\n"])
def test_a_head_without_end_is_cut_off(small, begin):
    line = b"a" * 1000 if not begin.endswith(b"1\r\n") else b"X-Many: a\r\n" * 90
    sent = 0
    with socket.create_connection(("127.0.0.1", small.port), timeout=8) as connection:
        connection.sendall(begin)
        with contextlib.suppress(ConnectionError):
            while sent < 8 * 2**20:
                sent += connection.send(line)
    assert sent < 8 * 2**20
    goes_on(small)


def test_more_pairs_than_allowed_are_rejected(small):
    bag = document("bag")
    wide = 301 // 3 + 1
    bag["task_types"] = [{"name": f"t{i}", "count": 1} for i in range(wide)]
    bag["machine_types"] = [{"name": f"m{j}", "count": 1} for j in range(3)]
    bag["seconds"] = [[1.0] * 3 for _ in range(wide)]
    bag = {key: bag[key] for key in ("format", "name", "task_types", "machine_types", "seconds")}
    answer = small.post("solve", bag)
    assert code_of(answer) == (422, "bad-input")
    assert answer.json()["error"]["faults"][0]["found"] == f"{3 * wide} pairs"
    assert small.post("solve", bag | {"task_types": bag["task_types"][:100], "seconds": bag["seconds"][:100]}).status_code == 200  # fmt: skip


@pytest.mark.parametrize("operation", ["validate", "verify"])
def test_the_number_of_schedules_is_limited(small, operation):
    key = "schedules" if operation == "validate" else "files"
    many: dict[str, dict[str, int]] = {str(number): {} for number in range(MOST_FILES + 1)}
    for form in (many, list(many.values())):
        answer = small.post(operation, {"instance": document("bag"), key: form})
        assert code_of(answer) == (422, "bad-input")
        assert answer.json()["error"]["faults"][0]["needed"].endswith(f"at most {MOST_FILES}")


@pytest.mark.parametrize("media", ["application/json", "application/yaml"])
@pytest.mark.parametrize("opening", ['{"bag":', "[", '{"bag": {"seconds": [', '{"instance": {"a": '])
def test_nesting_without_end_is_an_error_of_the_request(small, media, opening):
    for times in (200, 700):
        answer = small.post("solve", (opening * times).encode(), content_type=media)
        assert code_of(answer) == (422, "bad-input")
        closing = "".join({"{": "}", "[": "]"}[each] for each in reversed(opening) if each in "{[")
        answer = small.post("solve", (opening * times + "1" + closing * times).encode(), content_type=media)
        assert code_of(answer) == (422, "bad-input")
    goes_on(small)


# Time and memory.
@pytest.mark.slow
def test_a_search_ends_at_the_time_limit_of_the_server_with_the_best_so_far(brief):
    answer = brief.post("solve", slow())
    assert answer.status_code == 200
    assert answer.json()["status"] == "limit"
    assert brief.post("solve", slow()).headers["x-lpsched-cache"] == "miss"  # another run may find more
    asked = slow() | {"time_limit": 0.3}
    assert [brief.post("schedule", asked).headers["x-lpsched-cache"] for _ in range(2)] == ["miss", "miss"]


@pytest.mark.slow
def test_a_time_limit_of_the_request_holds_where_it_is_less(brief):
    answer = brief.post("solve", slow() | {"time_limit": 0.2})
    assert answer.json()["status"] == "limit"
    assert brief.post("solve", {"bag": document("bag"), "time_limit": 1e9}).status_code == 200


@pytest.mark.slow
def test_work_that_does_not_look_at_its_time_is_ended_and_the_server_goes_on(brief):
    before = brief.workers()
    answer = brief.post("price", {"bag": slow_bag(), "effort": "tight", "points": 10_000})
    assert code_of(answer) == (504, "time-limit")
    goes_on(brief)
    assert brief.workers().isdisjoint(before)
    until(lambda: not any(is_running(pid) for pid in before), "the worker has ended")


@pytest.mark.slow
def test_work_beyond_the_memory_limit_fails_alone():
    with with_settings(memory_megabytes=40, constants=LITTLE | {"workers.LATE_SECONDS": 1.0}, seconds=20.0) as running:
        bag = document("bag")
        bag["task_types"] = [{"name": f"t{i}", "count": 1} for i in range(300)]
        bag["machine_types"] = [{"name": f"m{j}", "count": 1} for j in range(300)]
        bag["seconds"] = [[1.0 + (i * j) % 7 for j in range(300)] for i in range(300)]
        bag = {key: bag[key] for key in ("format", "name", "task_types", "machine_types", "seconds")}
        for body in ({"bag": bag, "effort": "fast"}, b"[" + b"1," * 3_000_000 + b"1]"):
            answer = running.post("solve", body)
            assert code_of(answer) in {(507, "memory-limit"), (500, "worker-died")}
            goes_on(running)


@pytest.mark.slow
def test_a_worker_without_any_memory_left_does_not_hang():
    # The body alone is more than the worker may take: it cannot even be read from the pipe.
    with with_settings(memory_megabytes=14, constants=LITTLE, seconds=20.0) as running:
        answer = running.post("solve", b"[" + b"1," * 3_500_000 + b"1]")
        assert code_of(answer) in {(507, "memory-limit"), (500, "worker-died")}
        assert running.client.get("/healthz").status_code in {200, 503}


# Numbers of requests.
def test_a_queue_that_is_full_is_an_error_with_a_time_to_come_back(small):
    jobs = [small.submit("solve", slow(1))]
    small.reached(jobs[0]["id"], "running")
    jobs += [small.submit("solve", slow(seed)) for seed in (2, 3)]
    answer = small.post("solve", document("bag") | {"name": "one-more"})
    assert code_of(answer) == (503, "queue-full")
    assert int(answer.headers["retry-after"]) >= 1
    for job in reversed(jobs):
        small.client.delete(f"/v1/jobs/{job['id']}")
    goes_on(small)


def test_the_latest_jobs_are_kept_and_no_more(small):
    names = []
    for number in range(6):
        names.append(small.submit("show", document("bag") | {"name": f"kept-{number}"})["id"])
        small.ended(names[-1])
    listed = [job["id"] for job in small.client.get("/v1/jobs").json()["jobs"]]
    assert listed == names[:-4:-1]  # the latest three, the latest first
    assert small.client.get(f"/v1/jobs/{names[0]}").status_code == 404
    assert small.client.get(f"/v1/jobs/{names[-1]}").status_code == 200


def test_more_connections_than_allowed_are_turned_away(small):
    small.client.close()
    small.client = httpx.Client(base_url=small.url, timeout=30, trust_env=False)
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(12):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", small.port), timeout=8))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            held.append(connection.recv(65536))
        answer = small.client.get("/healthz")
        assert code_of(answer) == (503, "queue-full")
        assert int(answer.headers["retry-after"]) >= 1
        assert "content-security-policy" in answer.headers
    until(lambda: small.client.get("/healthz").status_code == 200, "connections that were closed count no more")


def test_requests_of_one_client_in_a_minute_are_limited():
    async def ask():
        transport = httpx.ASGITransport(create_app(Settings(rate=5)))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answers = [await client.get("/page/none.js") for _ in range(8)]
            return answers, await client.get("/", headers={"host": "evil.example"})

    answers, other = asyncio.run(ask())
    assert [answer.status_code for answer in answers] == [404] * 5 + [429] * 3
    assert code_of(answers[-1]) == (429, "too-many-requests")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 13  # one more every 12 seconds
    assert other.status_code == 403


def test_limits_of_the_command_are_those_of_the_settings():
    usual = Settings()
    assert (usual.body_megabytes, usual.pairs, usual.queue, usual.seconds, usual.memory_megabytes, usual.rate) == (8.0, 100_000, 100, 300.0, 2048, 3000)  # fmt: skip
