"""Metrics: the text format line by line, counts after known requests, and workloads as the library solves them."""

from __future__ import annotations

import json
import math
import os
import re
import signal

import httpx
import pytest

import lpsched
from lpsched.cli.main import run
from lpsched.serve.metrics import MEDIA, SECONDS, Metrics
from tests.serve.servers import document, slow, started, until

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)')
ESCAPES = {r"\\": "\\", r"\n": "\n", r"\"": '"'}


def parsed(text):
    """Read the text format: samples by name and labels; every line is checked."""
    samples, types, helped = {}, {}, set()
    assert text.endswith("\n")
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            name, _, said = line.removeprefix("# HELP ").partition(" ")
            assert NAME.fullmatch(name), line
            assert said, line
            assert name not in helped, line
            helped.add(name)
            continue
        if line.startswith("# TYPE "):
            name, kind = line.removeprefix("# TYPE ").split(" ")
            assert kind in {"counter", "gauge", "histogram"}, line
            assert name in helped, line
            assert name not in types, line
            types[name] = kind
            continue
        assert not line.startswith("#"), line
        head, _, value = line.rpartition(" ")
        name, brace, rest = head.partition("{")
        assert NAME.fullmatch(name), line
        labels = {}
        if brace:
            assert rest.endswith("}"), line
            rest = rest.removesuffix("}")
            while rest:
                found = LABEL.match(rest)
                assert found, line
                labels[found[1]] = re.sub(r'\\[\\n"]', lambda each: ESCAPES[each[0]], found[2])
                rest = rest[found.end() :]
        family = name if name in types else re.sub(r"_(bucket|sum|count)$", "", name)
        assert family in types, line
        assert (name != family) == (types[family] == "histogram"), line
        key = name, frozenset(labels.items())
        assert key not in samples, line
        samples[key] = float(value)  # +Inf, too
    return samples


def value_of(samples, name, **labels):
    return samples.get((name, frozenset((key, str(value)) for key, value in labels.items())))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A bag with money and a bag with a name that needs escapes."""
    folder = tmp_path_factory.mktemp("workloads")
    odd = document("bag") | {"name": 'odd "name"\\'}
    odd["machine_types"][0]["name"], before = 'with "quotes"', odd["machine_types"][0]["name"]
    text = json.dumps(odd).replace(json.dumps(before), json.dumps('with "quotes"'))
    (folder / "plain.json").write_text(json.dumps(document("bag") | {"name": "plain"}))
    (folder / "odd.json").write_text(text)
    return folder / "plain.json", folder / "odd.json"


@pytest.fixture(scope="module")
def measured(files):
    with started(*files, "--workers", "2", ready=2) as running:
        until(lambda: running.client.get("/metrics").text.count("lpsched_workload_bound{") == 2, "both are solved")
        yield running


def test_counts_are_those_of_the_requests(measured):
    before = parsed(measured.client.get("/metrics").text)
    bag = document("bag") | {"name": "counted"}
    for _ in range(3):
        assert measured.post("show", {"instance": bag}).status_code == 200
    assert measured.post("show", {}).status_code == 422
    assert measured.client.get("/v1/nothing").status_code == 404
    assert measured.client.get("/v1/jobs", headers={"host": "evil.example"}).status_code == 403
    answer = measured.client.get("/metrics")
    assert answer.headers["content-type"] == MEDIA
    after = parsed(answer.text)

    def more(name, **labels):
        return (value_of(after, name, **labels) or 0) - (value_of(before, name, **labels) or 0)

    assert more("lpsched_requests_total", route="/v1/show", method="POST", status=200) == 3
    assert more("lpsched_requests_total", route="/v1/show", method="POST", status=422) == 1
    assert more("lpsched_requests_total", route="unknown", method="GET", status=404) == 1
    assert more("lpsched_requests_total", route="unknown", method="GET", status=403) == 1
    assert more("lpsched_requests_total", route="/metrics", method="GET", status=200) == 1  # the one before
    assert more("lpsched_request_seconds_count", route="/v1/show") == 4
    assert more("lpsched_request_seconds_bucket", route="/v1/show", le="+Inf") == 4
    assert more("lpsched_request_seconds_sum", route="/v1/show") > 0
    assert more("lpsched_cache_total", result="hit") == 2
    assert more("lpsched_cache_total", result="miss") == 2
    assert value_of(after, "lpsched_workers") == 2
    assert value_of(after, "lpsched_worker_starts_total") == 2
    assert value_of(after, "lpsched_queue_length") == 0
    assert value_of(after, "lpsched_running") == 0


def test_content_in_other_words_counts_as_a_hit_as_its_header_says(measured):
    bag = document("bag") | {"name": "in-other-words"}
    measured.post("show", {"instance": bag})
    before = parsed(measured.client.get("/metrics").text)
    answer = measured.post("show", json.dumps({"instance": bag}, indent=1).encode())
    assert answer.headers["x-lpsched-cache"] == "hit"
    after = parsed(measured.client.get("/metrics").text)
    assert value_of(after, "lpsched_cache_total", result="hit") == value_of(before, "lpsched_cache_total", result="hit") + 1  # fmt: skip


def test_buckets_rise_and_hold_every_limit(measured):
    samples = parsed(measured.client.get("/metrics").text)
    found = {dict(labels)["le"]: value for (name, labels), value in samples.items() if name == "lpsched_request_seconds_bucket" and dict(labels)["route"] == "/metrics"}  # fmt: skip
    assert sorted(map(float, found)) == [*SECONDS, math.inf]
    counts = [found[limit] for limit in sorted(found, key=float)]
    assert counts == sorted(counts)
    assert counts[-1] == value_of(samples, "lpsched_request_seconds_count", route="/metrics")


def test_no_path_and_no_method_of_a_client_becomes_a_label(measured):
    for number in range(5):
        measured.client.get(f"/v1/nothing-{number}")
        measured.client.get(f"/v1/jobs/none-{number}")
        measured.client.request(("PROPFIND", "TRACE", "MKCOL", "M-SEARCH", "LINK")[number], "/")
    labels = [dict(each) for name, each in parsed(measured.client.get("/metrics").text) if name.startswith("lpsched_request")]  # fmt: skip
    assert {each["route"] for each in labels} <= {"/v1/show", "/v1/jobs/{name}", "/metrics", "/healthz", "/", "unknown", "/v1/solve"}  # fmt: skip
    assert {each["method"] for each in labels if "method" in each} <= {"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "other"}  # fmt: skip


def test_workloads_have_the_numbers_of_the_library(measured, files):
    samples = parsed(measured.client.get("/metrics").text)
    for path in files:
        bag = lpsched.read(path)
        found = lpsched.solve(bag, effort="balanced", marginals="lp").to_dict()
        labels = {"workload": bag.name, "objective": found["objective"], "unit": found["unit"]}
        assert value_of(samples, "lpsched_workload_bound", **labels) == found["bound"]
        assert value_of(samples, "lpsched_workload_value", **labels) == found["value"]
        worth = found["worth"]
        assert worth["machine_types"]
        for name, value in worth["machine_types"].items():
            assert value_of(samples, "lpsched_workload_marginal_value", workload=bag.name, kind="machine", type=name, currency="USD") == value  # fmt: skip
        for name, value in worth["task_types"].items():
            assert value_of(samples, "lpsched_workload_minimum_task_price", workload=bag.name, type=name, currency="USD") == value  # fmt: skip


def test_names_are_escaped():
    metrics = Metrics()
    name = 'a "b" \\ c\nd{e="f"} 1\n# TYPE x counter'
    metrics.workloads[name] = {"objective": "profit", "unit": "USD/h", "bound": 1.5, "value": None}
    samples = parsed(metrics.text({}))
    assert value_of(samples, "lpsched_workload_bound", workload=name, objective="profit", unit="USD/h") == 1.5
    assert not [key for key in samples if key[0] == "lpsched_workload_value"]  # nothing is known of it


@pytest.mark.slow
def test_a_file_that_changes_gives_new_numbers_and_a_broken_one_leaves_the_last(tmp_path):
    path = tmp_path / "changing.json"
    bag = document("bag") | {"name": "changing"}
    path.write_text(json.dumps(bag))
    with started(path, "--workers", "1", ready=1) as running:

        def current():
            samples = parsed(running.client.get("/metrics").text)
            return next(value for (name, _), value in samples.items() if name == "lpsched_workload_current")

        def bound():
            samples = parsed(running.client.get("/metrics").text)
            return next((value for (name, _), value in samples.items() if name == "lpsched_workload_bound"), None)

        until(lambda: bound() is not None, "it is solved")
        first = bound()
        assert current() == 1
        path.write_text("{")
        os.utime(path, ns=(1, 1))
        assert bound() == first
        assert current() == 0  # these are the numbers of before
        bag["machine_types"][0]["count"] *= 2
        path.write_text(json.dumps(bag))
        os.utime(path, ns=(2, 2))
        until(lambda: bound() != first, "it is solved again")
        made = lpsched.solve(lpsched.read(path), effort="balanced", marginals="lp")
        assert bound() == made.bound
        shown = running.client.get("/v1/workloads/changing").json()
        assert shown["document"]["machine_types"][0]["count"] == bag["machine_types"][0]["count"]
        assert current() == 1
        path.unlink()
        assert bound() == made.bound
        assert current() == 0
        path.write_text(json.dumps(bag | {"site": {"deadline_seconds": 1e-3}}))
        os.utime(path, ns=(3, 3))
        until(lambda: bound() is None, "no schedule keeps the deadline")
        assert current() == 0
        assert running.client.get("/healthz").status_code == 200
        assert "Traceback" not in running.log
        assert running.stop(signal.SIGTERM) == 0


def test_jobs_under_way_and_waiting_are_gauges(measured):
    names = [measured.submit("solve", slow(seed))["id"] for seed in (1, 2, 3)]
    measured.reached(names[0], "running")
    samples = parsed(measured.client.get("/metrics").text)
    assert value_of(samples, "lpsched_running") == 1  # the other worker is for those who wait
    assert value_of(samples, "lpsched_queue_length") == 2
    for name in reversed(names):
        measured.client.delete(f"/v1/jobs/{name}")
    samples = parsed(measured.client.get("/metrics").text)
    assert value_of(samples, "lpsched_jobs_total", state="cancelled") == 3


def test_two_files_with_one_name_are_an_error_of_the_command(files, capsys):
    assert run(["serve", str(files[0]), str(files[0]), "--port", "0", "--json"]) == 2
    assert "once more" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_a_workload_is_shown_by_its_name_whatever_it_is(measured):
    listed = measured.client.get("/v1/workloads").json()["workloads"]
    assert [each["name"] for each in listed] == ["plain", 'odd "name"\\']
    for each in listed:
        shown = measured.client.get(httpx.URL(measured.url).copy_with(path=f"/v1/workloads/{each['name']}"))
        assert shown.json()["name"] == each["name"]


def test_numbers_are_of_the_file_and_of_its_tables_as_they_are(tmp_path):
    bag = document("bag") | {"name": "beside", "seconds": {"file": "seconds.csv"}}
    path, beside = tmp_path / "beside.json", tmp_path / "seconds.csv"
    made = lpsched.Bag.model_validate(document("bag") | {"name": "beside"})
    lpsched.write(made, tmp_path / "own.yaml", form="csv")
    own = (tmp_path / "own.yaml.seconds.csv").read_text()
    beside.write_text(own)
    path.write_text(json.dumps(bag))
    with started(path, "--workers", "1", ready=1) as running:

        def seen():
            samples = parsed(running.client.get("/metrics").text)
            found = {name: value for (name, _), value in samples.items()}
            return found["lpsched_workload_current"], found.get("lpsched_workload_bound")

        until(lambda: seen()[0] == 1, "it is solved")
        first = seen()
        beside.write_text(own.replace("18.5", "9.25"))
        os.utime(beside, ns=(1, 1))
        assert seen() in {(0, first[1]), (1, lpsched.solve(path, effort="balanced").bound)}  # never 1 with the old one
        until(lambda: seen()[0] == 1, "it is solved again")
        assert seen()[1] == lpsched.solve(path, effort="balanced").bound != first[1]
        shown = running.client.get("/v1/workloads/beside").json()["document"]["seconds"]
        assert shown["encode"]["general"] == 9.25
