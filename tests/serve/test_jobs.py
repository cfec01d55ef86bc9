"""Jobs: their life, their files, and what is left of them when a worker or the server is killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from tests.serve.servers import ROOT, command_of, document, is_running, slow, started, until, with_settings

JOB_KEYS = {"format", "lpsched", "id", "operation", "state", "progress", "created", "started", "ended", "error"}


@pytest.fixture(scope="module")
def two():
    """A server with two workers and quick stops; jobs end when the test ends."""
    with with_settings(workers=2, constants={"workers.STOP_SECONDS": 0.5}) as running:
        yield running


@pytest.fixture
def jobs(two):
    """Submit slow jobs; they are cancelled at the end."""
    made = []

    def submit(seed):
        made.append(two.submit("solve", slow(seed))["id"])
        return made[-1]

    yield submit
    for name in made:
        two.client.delete(f"/v1/jobs/{name}")
    until(lambda: metric(two, "lpsched_running") == 0, "nothing runs")


def metric(server, name):
    """Return a metric without labels."""
    lines = server.client.get("/metrics").text.splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"{name} ")))


def named(number):
    """Return a quick request with a name of its own, so that no cache answers."""
    return {"instance": document("bag") | {"name": f"job-{number}"}}


def exits(*options, **environment):
    """Run a server that should not start; return exit code, the error and stderr."""
    done = subprocess.run(
        command_of(*options),
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, json.loads(done.stdout)["error"], done.stderr


# Life of a job.
def test_a_job_is_accepted_runs_and_is_answered_like_a_request(two):
    sent = two.post("solve", {"bag": document("bag"), "effort": "fast"}, prefer="respond-async")
    job = sent.json()
    assert sent.status_code == 202
    assert sent.headers["location"] == f"/v1/jobs/{job['id']}"
    assert set(job) == JOB_KEYS
    done = two.ended(job["id"])
    assert (done["state"], done["error"]) == ("done", None)
    assert done["created"] <= done["started"] <= done["ended"]
    bare = two.client.get(f"/v1/jobs/{job['id']}/answer")
    waited = two.post("solve", {"bag": document("bag"), "effort": "fast"})
    assert done["answer"] == bare.json() == waited.json()
    assert waited.headers["x-lpsched-cache"] == "hit"
    assert job["id"] in [each["id"] for each in two.client.get("/v1/jobs").json()["jobs"]]


def test_a_job_with_a_bad_request_fails_with_its_errors(two):
    job = two.ended(two.submit("solve", {"bag": {}})["id"])
    waited = two.post("solve", {"bag": {}}).json()
    assert (job["state"], job["error"]) == ("failed", waited["error"])
    answer = two.client.get(f"/v1/jobs/{job['id']}/answer")
    assert (answer.status_code, answer.json()) == (422, waited)


@pytest.mark.slow
def test_a_request_that_takes_long_becomes_a_job():
    with with_settings(wait_seconds=0.2) as running:
        answer = running.post("solve", slow())
        assert answer.status_code == 202
        name = answer.json()["id"]
        assert running.job(name)["state"] == "running"
        cancelled = running.client.delete(f"/v1/jobs/{name}").json()
        assert cancelled["state"] == "cancelled"


@pytest.mark.parametrize("part", ["", "/answer", "/events"])
def test_an_unknown_job_is_not_found(two, part):
    answer = two.client.get(f"/v1/jobs/none{part}")
    assert (answer.status_code, answer.json()["format"]) == (404, "lpsched-error/1")
    assert two.client.delete("/v1/jobs/none").status_code == 404


def test_the_answer_of_a_job_under_way_is_not_there_yet(two, jobs):
    name = jobs(1)
    answer = two.client.get(f"/v1/jobs/{name}/answer")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not-done")


# Events.
def events_of(server, name):
    """Return the events of a job, each with its kind and the job, until the stream ends."""
    found = []
    with server.client.stream("GET", f"/v1/jobs/{name}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for block in "".join(stream.iter_text()).split("\n\n"):
            lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if lines:
                found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_events_follow_a_job_in_order_and_end_with_it(two, jobs):
    name = jobs(2)
    two.reached(name, "running")
    timer = threading.Timer(1.0, two.client.delete, [f"/v1/jobs/{name}"])
    timer.start()
    found = events_of(two, name)
    timer.join()
    states = [job["state"] for _, job in found]
    assert found[0][0] == "state"
    assert list(dict.fromkeys(states)) == ["running", "cancelled"]
    assert states.count("cancelled") == 1
    assert all(set(job) == JOB_KEYS for _, job in found)
    assert events_of(two, name) == [("state", two.job(name))]  # of one that has ended: its end


# Cancelling.
def test_a_job_is_cancelled_while_it_runs_and_while_it_waits(two, jobs):
    running, waiting = jobs(3), jobs(4)
    two.reached(running, "running")
    assert two.job(waiting)["state"] == "queued"  # one of two workers is left to those who wait
    for name in (waiting, running):
        cancelled = two.client.delete(f"/v1/jobs/{name}")
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
        answer = two.client.get(f"/v1/jobs/{name}/answer")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "cancelled")
        assert two.client.delete(f"/v1/jobs/{name}").json()["state"] == "cancelled"  # once more does no harm


def test_jobs_leave_a_worker_to_those_who_wait(two, jobs):
    names = [jobs(seed) for seed in (5, 6, 7)]
    two.reached(names[0], "running")
    assert two.post("show", named("waits")).status_code == 200
    assert [two.job(name)["state"] for name in names] == ["running", "queued", "queued"]


def test_a_client_that_goes_away_cancels_its_work(two):
    body = json.dumps(slow(8)).encode()
    head = f"POST /v1/solve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", two.port), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        until(lambda: metric(two, "lpsched_running") == 1, "the request runs")
    until(lambda: metric(two, "lpsched_running") == 0, "it was cancelled")
    assert 'lpsched_jobs_total{state="cancelled"}' in two.client.get("/metrics").text


def test_a_client_that_goes_away_leaves_the_work_to_others_who_wait_for_it(two):
    body = json.dumps(slow(9)).encode()
    head = f"POST /v1/solve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", two.port), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        until(lambda: metric(two, "lpsched_running") == 1, "the request runs")
        name = two.submit("solve", slow(9))["id"]  # the same work, as a job
    assert two.post("show", named("meanwhile")).status_code == 200
    assert two.job(name)["state"] == "running"
    two.client.delete(f"/v1/jobs/{name}")


def test_two_clients_with_the_same_request_have_jobs_of_their_own(two):
    first, second = (two.submit("solve", slow(12))["id"] for _ in range(2))
    assert first != second
    two.client.delete(f"/v1/jobs/{second}")
    assert two.job(second)["state"] == "cancelled"
    assert two.reached(first, "running", "done")["state"] == "running"
    two.client.delete(f"/v1/jobs/{first}")


# Workers that are killed.
def test_a_worker_that_is_killed_fails_its_job_alone_and_is_replaced(two, jobs):
    before = two.workers()
    ticks = {pid: cpu_ticks(pid) for pid in before}
    name = jobs(10)
    two.reached(name, "running")
    until(lambda: max(cpu_ticks(pid) - ticks[pid] for pid in before) >= 20, "one is at work")
    busy = max(before, key=lambda pid: cpu_ticks(pid) - ticks[pid])
    behind = two.submit("show", named("behind"))["id"]
    os.kill(busy, signal.SIGKILL)
    job = two.ended(name)
    assert (job["state"], job["error"]["code"]) == ("failed", "worker-died")
    assert "SIGKILL" in job["error"]["message"]
    assert two.ended(behind)["state"] == "done"
    until(lambda: metric(two, "lpsched_workers") == 2, "a new worker took its place")
    assert len(two.workers() - before) == 1


def test_workers_that_are_killed_while_they_have_nothing_to_do_cost_no_request(two):
    before = two.workers()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until(lambda: len(two.workers() - before) == 2, "others took their places before anything is asked")
    two.ready(2)
    assert two.post("show", named("after idle workers")).status_code == 200
    job = two.ended(two.submit("show", named("after idle workers, as a job"))["id"])
    assert job["state"] == "done"


def cpu_ticks(pid):
    """Return the processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - a file of the system
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


# The folder of jobs.
@pytest.mark.slow
def test_a_server_that_is_killed_finds_its_jobs_again(tmp_path):
    folder = tmp_path / "jobs"
    bag = document("bag")
    with started("--jobs", folder, "--workers", "2", ready=2) as first:
        done = first.submit("solve", {"bag": bag, "effort": "fast"})["id"]
        failed = first.submit("solve", {"bag": {}})["id"]
        gone = first.submit("solve", slow(1))["id"]
        assert first.ended(done)["state"] == "done"
        assert first.ended(failed)["state"] == "failed"
        answers = {name: first.client.get(f"/v1/jobs/{name}/answer").content for name in (done, failed)}
        shown = {name: first.job(name) for name in (done, failed)}
        first.reached(gone, "running")
        waiting = first.submit("solve", slow(2))["id"]
        workers = first.workers()
        assert len(workers) == 2
        first.stop(signal.SIGKILL)
        until(lambda: not any(is_running(pid) for pid in workers), "no worker is left behind")
    with started("--jobs", folder, "--workers", "1", ready=1) as second:
        for name, answer in answers.items():
            assert second.client.get(f"/v1/jobs/{name}/answer").content == answer
            assert second.job(name) == shown[name]
        for name in (gone, waiting):
            assert second.job(name)["state"] == "interrupted"
            assert second.client.get(f"/v1/jobs/{name}/answer").json()["error"]["code"] == "interrupted"
            assert events_of(second, name)[-1][1]["state"] == "interrupted"
        again = second.post("solve", json.dumps({"effort": "fast", "bag": bag}, indent=3).encode())
        assert again.headers["x-lpsched-cache"] == "hit"
        assert again.content == answers[done]
        assert second.post("solve", slow(2), prefer="respond-async").json()["state"] in {"queued", "running"}
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0 or folder.stat().st_mode & 0o077 == 0, path  # of its owner only


@pytest.mark.slow
def test_two_servers_do_not_share_a_folder(tmp_path):
    with started("--jobs", tmp_path, "--workers", "1"):
        code, error, log = exits("--jobs", tmp_path)
        assert code == 2
        assert error["message"] == f"{tmp_path} is used by another lpsched serve; name another folder"
        assert "Traceback" not in log


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/proc/lpsched-jobs", "/dev/null", "/dev/null/jobs"])
def test_a_folder_that_cannot_be_used_is_an_error_of_the_command(place):
    code, error, log = exits("--jobs", place)
    assert code == 2
    assert error["message"].startswith(f"cannot use {place}: ")
    assert "Traceback" not in log


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes where nothing may be written")
def test_a_folder_without_write_permission_is_an_error_of_the_command(tmp_path):
    tmp_path.chmod(0o500)
    code, error, _ = exits("--jobs", tmp_path)
    assert (code, error["message"].startswith("cannot use")) == (2, True)


@pytest.mark.slow
def test_broken_records_are_left_out_with_a_warning_and_the_others_are_there(tmp_path):
    sound = {
        "format": "lpsched-job/1",
        "lpsched": "0.1.0",
        "id": "sound",
        "operation": "show",
        "state": "done",
        "progress": None,
        "created": "2026-01-01T00:00:00.000Z",
        "started": None,
        "ended": "2026-01-01T00:00:01.000Z",
        "error": None,
        "key": None,
        "digest": "d",
        "answer": {"status": 200, "media": "application/json"},
    }
    broken = {
        "cut": json.dumps(sound)[:80],
        "empty": "",
        "binary": "\udcff\udcfe",
        "list": "[]",
        "number": "1",
        "nested": "[" * 100_000,
        "other-id": json.dumps(sound),
        "other-operation": json.dumps(sound | {"id": "other-operation", "operation": "__import__"}),
        "other-format": json.dumps(sound | {"id": "other-format", "format": "lpsched-job/9"}),
        "without-key": json.dumps(
            {key: value for key, value in sound.items() if key != "digest"} | {"id": "without-key"}
        ),
        "no-time": json.dumps(sound | {"id": "no-time", "created": None}),
        "time-a-list": json.dumps(sound | {"id": "time-a-list", "created": [1]}),
        "state-a-list": json.dumps(sound | {"id": "state-a-list", "state": ["done"]}),
        "key-a-list": json.dumps(sound | {"id": "key-a-list", "key": ["x"]}),
        "failed-without-answer": json.dumps(sound | {"id": "failed-without-answer", "state": "failed"}),
        "failed-with-broken-answer": json.dumps(sound | {"id": "failed-with-broken-answer", "state": "failed"}),
        "failed-answer-null": json.dumps(sound | {"id": "failed-answer-null", "state": "failed", "answer": None}),
    }
    for name, text in {"sound": json.dumps(sound), **broken}.items():
        (tmp_path / f"{name}.job.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "failed-with-broken-answer.answer").write_text("{")
    (tmp_path / "sound.answer").write_text('{"format": "lpsched-show/1"}')
    (tmp_path / "folder.job.json").mkdir()
    for name, content in {"torn": "{", "missing": None}.items():  # done, but for an answer
        (tmp_path / f"{name}.job.json").write_text(json.dumps(sound | {"id": name}))
        if content is not None:
            (tmp_path / f"{name}.answer").write_text(content)
    with started("--jobs", tmp_path, "--workers", "1") as running:
        listed = running.client.get("/v1/jobs")
        assert listed.status_code == 200
        assert {job["id"] for job in listed.json()["jobs"]} == {"sound", "torn", "missing"}
        assert running.job("sound")["answer"] == {"format": "lpsched-show/1"}
        for name in ("torn", "missing"):
            assert running.client.get(f"/v1/jobs/{name}").status_code == 200
            assert running.client.get(f"/v1/jobs/{name}").json()["answer"] is None
        assert running.client.get("/v1/jobs/missing/answer").status_code == 410
        for name in broken:
            assert f"{name}.job.json is not read" in running.log, name
        assert "Traceback" not in running.log


@pytest.mark.slow
def test_answers_are_whole_or_not_there_when_the_server_is_killed_while_it_writes(tmp_path):
    kept = 0
    for turn in range(2):
        with started("--jobs", tmp_path, "--workers", "2", ready=2) as running:
            names = [running.submit("show", named(f"{turn}-{number}"))["id"] for number in range(40)]
            running.reached(names[10], "done")
            running.stop(signal.SIGKILL)
        for path in tmp_path.glob("*.job.json"):
            record = json.loads(path.read_bytes())
            answer = path.with_name(path.name.replace(".job.json", ".answer"))
            if record["state"] == "done":
                assert json.loads(answer.read_bytes())["format"] == "lpsched-show/1"
                kept += 1
        for path in tmp_path.glob("*.answer"):
            json.loads(path.read_bytes())
    assert kept >= 2 * 10


@pytest.mark.slow
def test_a_folder_that_goes_away_costs_the_records_and_not_the_answers(tmp_path):
    folder = tmp_path / "jobs"
    with started("--jobs", folder, "--workers", "1", ready=1) as running:
        shutil.rmtree(folder)
        for number in range(3):  # the one worker is still at work
            job = running.ended(running.submit("show", named(number))["id"])
            assert (job["state"], job["answer"]["format"]) == ("done", "lpsched-show/1")
        assert running.post("show", named(9)).status_code == 200
        assert "Traceback" not in running.log


# The end of the server.
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_records_what_was_under_way(tmp_path, number):
    given = {"folder": str(tmp_path), "grace_seconds": 1.0, "workers": 2}
    with with_settings(**given) as running:
        quick = running.submit("show", named("quick"))["id"]
        running.ended(quick)
        stopped, waiting = running.submit("solve", slow(1))["id"], running.submit("solve", slow(2))["id"]
        running.reached(stopped, "running")
        assert running.stop(number) == 0
        assert not any(is_running(pid) for pid in running.pids)
        assert "Traceback" not in running.log
    states = {
        name: json.loads((tmp_path / f"{name}.job.json").read_bytes())["state"] for name in (quick, stopped, waiting)
    }
    assert states == {quick: "done", stopped: "interrupted", waiting: "interrupted"}


@pytest.mark.slow
def test_a_job_that_ends_within_the_grace_time_is_done(tmp_path):
    with with_settings(folder=str(tmp_path), grace_seconds=20.0, workers=2) as running:
        name = running.submit("solve", slow(1) | {"time_limit": 1.5})["id"]
        running.reached(name, "running")
        assert running.stop(signal.SIGTERM) == 0
    assert json.loads((tmp_path / f"{name}.job.json").read_bytes())["state"] == "done"
    assert json.loads((tmp_path / f"{name}.answer").read_bytes())["status"] == "limit"


@pytest.mark.slow
def test_a_server_that_stops_ends_event_streams_and_those_who_wait():
    with with_settings(grace_seconds=1.0, workers=2) as running:
        name = running.submit("solve", slow(1))["id"]
        running.reached(name, "running")
        found, answers = [], []

        def follow():
            with contextlib.suppress(Exception):
                found.extend(events_of(running, name))

        def wait():
            with contextlib.suppress(Exception):
                answers.append(running.post("solve", slow(2)))

        threads = [threading.Thread(target=each) for each in (follow, wait)]
        for thread in threads:
            thread.start()
        until(lambda: metric(running, "lpsched_running") == 2, "both run")
        assert running.stop(signal.SIGTERM) == 0
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
        assert "Traceback" not in running.log
