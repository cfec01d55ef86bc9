"""The API answers what the command line prints with --json, in every form of a request, and caches by content."""

from __future__ import annotations

import asyncio
import json
import re

import jsonschema
import pytest
import yaml

from lpsched.cancellation import CancelToken
from lpsched.cli.main import run
from lpsched.errors import LpschedError
from lpsched.io.documents import read_yaml
from lpsched.io.templates import template
from lpsched.serve.jobs import Job, Jobs
from lpsched.serve.metrics import Metrics
from lpsched.serve.operations import OPERATIONS, Answer, convert, show
from lpsched.serve.requests import read_request
from lpsched.serve.settings import Settings
from tests.serve.servers import ROOT, document, slow, with_settings

BAG = ["--effort", "fast"]
CASES = {  # operation and options of the request, kind of document, and the command
    "solve": ("solve", {"effort": "fast"}, "bag", ["solve", "FILE", *BAG]),
    "solve by default": ("solve", {}, "bag", ["solve", "FILE"]),
    "solve for energy": (
        "solve",
        {"effort": "fast", "objective": "energy", "deadline": "2h", "marginals": "lp", "seed": 3},
        "bag",
        ["solve", "FILE", *BAG, "--objective", "energy", "--deadline", "2h", "--marginals", "lp", "--seed", "3"],
    ),
    "solve with other terms": (
        "solve",
        {"effort": "fast", "price": 20, "power_cap": "1kW"},
        "bag",
        ["solve", "FILE", *BAG, "--price", "20", "--power-cap", "1kW"],
    ),
    "solve over a horizon": (
        "solve",
        {"effort": "fast", "objective": "cost", "horizon": "24h"},
        "bag",
        ["solve", "FILE", *BAG, "--objective", "cost", "--horizon", "24h"],
    ),
    "solve for less carbon": (
        "solve",
        {"effort": "fast", "objective": "cost", "horizon": 86400, "carbon_price": 50},
        "bag with carbon",
        ["solve", "FILE", *BAG, "--objective", "cost", "--horizon", "24h", "--carbon-price", "50"],
    ),
    "front": ("front", {"effort": "fast"}, "bag", ["front", "FILE", *BAG]),
    "price": ("price", {"effort": "fast", "points": 3}, "bag", ["price", "FILE", *BAG, "--points", "3"]),
    "whatif": (
        "whatif",
        {"effort": "fast", "set": {"MACHINE": "+1", "price": "-10%"}},
        "bag",
        ["whatif", "FILE", *BAG, "--set", "MACHINE=+1,price=-10%"],
    ),
    "validate": (
        "validate",
        {"effort": "fast", "schedulers": ["mct", "min-min"]},
        "bag",
        ["validate", "FILE", *BAG, "--scheduler", "mct,min-min"],
    ),
    "validate by default": ("validate", {}, "bag", ["validate", "FILE"]),
    "validate of a facility": ("validate", {"schedulers": ["lp"]}, "facility", ["validate", "FILE", "--scheduler", "lp"]),
    "validate of a day": ("validate", {"schedulers": ["mct"]}, "day", ["validate", "FILE", "--scheduler", "mct"]),
    "show of a bag": ("show", {}, "bag", ["show", "FILE"]),
    "show of a day": ("show", {}, "day", ["show", "FILE"]),
    "show of clusters": ("show", {}, "clusters", ["show", "FILE"]),
    "show of a facility": ("show", {}, "facility", ["show", "FILE"]),
    "facility": ("facility", {}, "facility", ["facility", "FILE"]),
    "simulate a day": ("simulate", {"schedulers": ["fcfs"]}, "day", ["simulate", "FILE", "--scheduler", "fcfs"]),
    "simulate clusters": ("simulate", {"schedulers": ["easy"]}, "clusters", ["simulate", "FILE", "--scheduler", "easy"]),
}  # fmt: skip
FILES = {  # operations whose answer is a file: the command that writes it
    "schedule": ["solve", "FILE", *BAG, "-o", "OUT"],
    "certify": ["certify", "FILE", *BAG, "-o", "OUT"],
}


@pytest.fixture(scope="module")
def api(server):
    return server.client.get("/openapi.json").json()


def steady(value):
    """Return an answer without what depends on the clock."""
    if isinstance(value, dict):
        clocks = {"timings", "milliseconds_per_event"} | ({"seconds"} if {"name", "valid"} <= set(value) else set())
        clocks |= {"seconds"} if "milliseconds_per_event" in value else set()
        return {key: steady(each) for key, each in value.items() if key not in clocks}
    return [steady(each) for each in value] if isinstance(value, list) else value


def given_of(kind):
    """Return the document of a case."""
    raw = document(kind.partition(" ")[0])
    if kind == "bag with carbon":
        raw["site"] = raw.get("site", {}) | {"carbon": 400}
    return raw


def filled(options, kind):
    """Return options with the name of a machine type of the document."""
    name = given_of(kind).get("machine_types", [{"name": ""}])[0]["name"]
    return json.loads(json.dumps(options).replace("MACHINE", name))


def answer_of(server, answer):
    """Return the answer to a request, that of its job if it is one."""
    if answer.status_code == 202:
        job = server.ended(answer.json()["id"])
        assert job["state"] == "done", job
        return job["answer"]
    assert answer.status_code == 200, answer.text
    return answer.json()


def checked(api, operation, answer, method="post"):
    """Check a response against the documented one for its status."""
    path = operation if operation.startswith("/") else f"/v1/{operation}"
    documented = api["paths"][path][method]["responses"]
    assert str(answer.status_code) in documented, (path, answer.status_code)
    content = documented[str(answer.status_code)]["content"]
    media = answer.headers["content-type"].partition(";")[0]
    assert media in content, (path, media)
    if media == "application/json":
        schema = content[media]["schema"] | {"components": api["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())


@pytest.mark.rotate(8)
@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_that_of_the_command(server, api, case, tmp_path, capsys):
    operation, options, kind, command = CASES[case]
    options = filled(options, kind)
    path, raw = tmp_path / "given.yaml", given_of(kind)
    path.write_text(yaml.safe_dump(raw))
    words = filled([str(path) if word == "FILE" else word for word in command], kind)
    assert run([*words, "--json"]) == 0
    printed = steady(json.loads(capsys.readouterr().out))
    key = OPERATIONS[operation].options.KEY
    enveloped = server.post(operation, {key: raw} | options)
    checked(api, operation, enveloped)
    assert steady(answer_of(server, enveloped)) == printed
    as_yaml = yaml.safe_dump({key: raw} | options).encode()
    assert steady(answer_of(server, server.post(operation, as_yaml, content_type="application/yaml"))) == printed
    if not options:
        assert steady(answer_of(server, server.post(operation, raw))) == printed
        text = template(kind).encode()  # with its comments
        assert (
            steady(answer_of(server, server.post(operation, text, content_type="text/yaml; charset=utf-8"))) == printed
        )


@pytest.mark.parametrize("operation", FILES)
def test_a_file_is_that_of_the_command_and_passes_its_check(server, operation, tmp_path, capsys):
    path, out = tmp_path / "bag.yaml", tmp_path / "out.json"
    path.write_text(template("bag"))
    assert run([{"FILE": str(path), "OUT": str(out)}.get(word, word) for word in FILES[operation]]) == 0
    made = server.post(operation, {"bag": document("bag"), "effort": "fast"}).json()
    assert steady(made) == steady(json.loads(out.read_text()))
    capsys.readouterr()
    assert run(["verify", str(path), str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    verified = server.post("verify", {"instance": document("bag"), "files": {str(out): made}}).json()
    assert steady(verified) == steady(printed)
    worse = json.loads(json.dumps(made).replace('"count": ', '"count": 9'))
    if worse != made:
        rejected = server.post("verify", {"instance": document("bag"), "files": [worse]})
        assert json.dumps(rejected.json()) != json.dumps(verified)


@pytest.mark.slow
def test_a_plan_and_its_proof_are_files_that_pass_their_check(server):
    asked = {"bag": document("bag"), "effort": "fast", "objective": "cost", "horizon": "24h"}
    files = {name: server.post(name, asked).json() for name in ("schedule", "certify")}
    verified = server.post("verify", {"instance": document("bag"), "files": files, "horizon": "24h"}).json()
    assert [each["reasons"] for each in verified["files"]] == [[], []]
    assert len(verified["files"]) == 2
    verified = server.post("verify", {"instance": document("bag"), "files": files}).json()
    assert [each["verdict"] for each in verified["files"]] == ["other terms"] * 2  # the bag has no horizon of its own


def test_a_proof_under_other_terms_is_accepted_only_where_the_request_names_them(server):
    asked = {"bag": document("bag"), "effort": "fast", "objective": "makespan", "deadline": "1000d"}
    body = {"instance": document("bag"), "files": {"c": server.post("certify", asked).json()}}
    for terms, verdict in (({}, "other terms"), ({"deadline": "1000d"}, "accepted"), ({"deadline": 5}, "other terms")):
        (claim,) = server.post("verify", body | terms).json()["files"]
        assert (claim["verdict"], claim["accepted"]) == (verdict, verdict == "accepted")
        assert claim["terms"]["deadline_seconds"] == 86_400_000.0


def test_schedules_of_a_request_are_validated_as_files_are(server, tmp_path, capsys):
    bag, path, out = document("bag"), tmp_path / "bag.yaml", tmp_path / "s.json"
    path.write_text(template("bag"))
    schedule = server.post("schedule", {"bag": bag, "effort": "fast"}).json()
    out.write_text(json.dumps(schedule))
    assert run(["validate", str(path), str(out), *BAG, "--json"]) == 0
    printed = steady(json.loads(capsys.readouterr().out))
    asked = {"instance": bag, "schedules": {str(out): schedule}, "effort": "fast"}
    answered = steady(server.post("validate", asked).json())
    assert [each.pop("kind") for each in answered["entries"]] == ["schedule"]  # it was no file
    assert [each.pop("kind") for each in printed["entries"]] == ["file"]
    assert answered == printed


@pytest.mark.slow
def test_a_report_is_a_page_to_download(server):
    answer = server.post("report", {"bag": document("bag"), "effort": "fast"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert answer.text.startswith("<!doctype html>") or answer.text.startswith("<!DOCTYPE html>")


def test_convert_answers_with_the_document_and_its_errors_have_lines(server):
    said = server.post("convert", template("bag").encode(), content_type="application/yaml").json()
    assert said["kind"] == "bag"
    again = server.post("convert", said["document"]).json()
    from_text = server.post("convert", said["yaml"].encode(), content_type="application/yaml").json()
    assert said["instance"] == again["instance"] == from_text["instance"]
    assert again["document"] == said["document"] == from_text["document"]
    broken = re.sub(r"count: \d+", "count: 0", template("bag"), count=1).encode()
    faults = server.post("convert", broken, content_type="application/yaml").json()["error"]["faults"]
    assert re.match(r"line \d+, machine_types\[0\]\.count$", faults[0]["where"])


# The document of the API.
def test_every_route_is_documented_and_every_documented_path_is_there(server, api):
    assert jsonschema.validators.validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema"})
    assert api["openapi"].startswith("3.1")
    assert {f"/v1/{name}" for name in OPERATIONS} <= set(api["paths"])
    for path, methods in api["paths"].items():
        for method in set(methods) - {"parameters"}:
            answer = server.client.request(method, path.replace("{name}", "none"))
            assert answer.status_code != 405, (method, path)
            checked(api, path, answer, method)
    for schema in api["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    references = re.findall(r'"\$ref": "#/components/schemas/([^"]+)"', json.dumps(api))
    assert references
    assert set(references) <= set(api["components"]["schemas"])


@pytest.mark.parametrize(
    "operation", [pytest.param(name, marks=pytest.mark.slow if name == "report" else ()) for name in OPERATIONS]
)
def test_the_example_of_an_operation_is_valid_and_works(server, api, operation):
    content = api["paths"][f"/v1/{operation}"]["post"]["requestBody"]["content"]["application/json"]
    body = content["examples"]["example"]["value"]
    schema = content["schema"] | {"components": api["components"]}
    jsonschema.Draft202012Validator(schema).validate(body)
    answer = server.post(operation, body)
    checked(api, operation, answer)
    assert answer.status_code == (202 if OPERATIONS[operation].is_job else 200), answer.text
    if answer.status_code == 202:
        assert server.ended(answer.json()["id"])["state"] == "done"


def test_lists_and_jobs_are_as_documented(server, api):
    name = server.submit("show", document("bag"))["id"]
    server.ended(name)
    for path in ("/v1/jobs/{name}", "/v1/jobs/{name}/answer", "/v1/jobs/{name}/events"):
        checked(api, path, server.client.get(path.format(name=name)), "get")
    listed = server.client.get("/v1/workloads").json()
    for each in listed["examples"]:
        shown = server.client.get(f"/v1/examples/{each['name']}").json()
        assert shown["name"] == each["name"] or shown["kind"] == "bag"
        assert server.post("show", shown["document"]).status_code == 200
        text = server.post("convert", shown["yaml"].encode(), content_type="application/yaml").json()
        assert text["instance"] == server.post("convert", shown["document"]).json()["instance"]


# The cache.
def cache_of(server, operation, content, **headers):
    answer = server.post(operation, content, **headers)
    return answer.headers["x-lpsched-cache"], steady(answer.json())


def test_the_same_content_in_other_words_is_answered_from_the_cache(server):
    bag = document("bag") | {"name": "cached"}
    asked = {"bag": bag, "effort": "fast"}
    how, first = cache_of(server, "solve", asked)
    assert how == "miss"
    others = {
        "the same": json.dumps(asked).encode(),
        "indented": json.dumps(asked, indent=2).encode(),
        "in another order": json.dumps({"effort": "fast", "bag": dict(reversed(bag.items()))}).encode(),
        "with defaults": json.dumps(asked | {"seed": 0, "gap": 1e-4, "marginals": "top", "price": None}).encode(),
    }
    for name, body in others.items():
        assert cache_of(server, "solve", body) == ("hit", first), name
    as_yaml = yaml.safe_dump(asked, sort_keys=True).encode()
    assert cache_of(server, "solve", as_yaml, content_type="application/yaml") == ("hit", first)


@pytest.mark.parametrize("change", [{"seed": 1}, {"gap": 0.5}, {"objective": "energy"}, {"deadline": 7200}, {"price": 3}, {"marginals": "lp"}])  # fmt: skip
def test_another_option_is_another_answer(server, change):
    asked = {"bag": document("bag") | {"name": f"other-{next(iter(change))}"}, "effort": "fast"}
    cache_of(server, "solve", asked)
    assert cache_of(server, "solve", asked | change)[0] == "miss"
    assert server.post("schedule", asked).headers["x-lpsched-cache"] == "miss"


def test_another_name_of_the_instance_is_another_answer(server):
    bag = document("bag")
    for name in ("first", "second"):
        assert server.post("solve", {"bag": bag | {"name": name}, "effort": "fast"}).json()["instance"]["name"] == name


def test_errors_are_not_cached(server):
    for _ in range(2):
        answer = server.post("solve", {"bag": document("bag"), "deadline": 1e-9, "effort": "fast"})
        assert answer.status_code == 422
        assert answer.headers["x-lpsched-cache"] == "miss"


def test_an_answer_cut_by_the_clock_is_not_cached_and_a_cut_job_is_not_an_answer_to_others(server):
    asked = slow(77) | {"time_limit": 0.2}
    job = server.ended(server.submit("solve", asked)["id"])
    assert job["answer"]["status"] == "limit"
    assert cache_of(server, "solve", asked)[0] == "miss"
    assert cache_of(server, "solve", asked)[0] == "miss"


def test_requests_that_are_rejected_by_what_they_name_are_rejected_after_a_hit_too(server):
    day = document("day") | {"name": "options-of-a-bag"}
    asked = {"instance": day, "schedulers": ["mct"]}
    assert server.post("validate", asked).status_code == 200
    assert server.post("validate", asked | {"effort": "auto"}).status_code == 422  # an option of bags, at its default


# What an answer depends on is what the cache goes by.
def leaves(value, path=()):
    """Yield the places of all values of a document that hold no others."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))
    else:
        yield path, value


def with_leaf(value, path, new):
    """Return a document with another value at a place."""
    copy = json.loads(json.dumps(value))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return copy


def others_of(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value * 2 + 1, value / 2]
    return [f"{value}x"] if isinstance(value, str) else []


DOCUMENTS = {
    **{kind: kind for kind in ("bag", "day", "clusters", "facility")},
    **{name: ROOT / "instances" / f"{name}.yaml" for name in ("ai-service", "tiny")},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_with_other_answers_have_other_keys(name):
    source = DOCUMENTS[name]
    raw = document(source) if isinstance(source, str) else read_yaml(source, source.read_text()).value
    operation = OPERATIONS["convert"]

    def answers(given):
        return [json.dumps(each(given, CancelToken()), sort_keys=True) for each in (convert, show)]

    def read(content):
        return read_request(operation.options, json.dumps({"instance": content}).encode(), is_yaml=False)

    plain = read(raw)
    before, key, tried = answers(plain), plain.digest("convert"), 0
    for path, value in list(leaves(raw))[:150]:
        for other in others_of(value):
            try:
                given = read(with_leaf(raw, path, other))
            except LpschedError:
                continue
            tried += 1
            if answers(given) != before:
                assert given.digest("convert") != key, path
    assert tried > 5


@pytest.mark.slow
def test_the_cache_counts_its_bytes_and_forgets_the_oldest():
    with with_settings(cache_megabytes=0.02, workers=1) as running:
        quick = {"effort": "fast", "marginals": "lp"}
        bags = [document("bag") | {"name": f"fill-{number}"} for number in range(14)]
        for bag in bags:
            assert cache_of(running, "solve", {"bag": bag} | quick)[0] == "miss"
        assert cache_of(running, "solve", {"bag": bags[-1]} | quick)[0] == "hit"
        assert cache_of(running, "solve", {"bag": bags[0]} | quick)[0] == "miss"


def test_the_same_request_in_other_words_at_the_same_time_is_counted_once():
    # The numbers of bytes went up by each, and down by one: in the end the server would have had no cache, or no worker.
    async def remember():
        jobs = Jobs(Settings(cache_megabytes=0.01), Metrics())
        for digest in ("one", "two"):
            job = Job(digest, "solve", digest, key="the same")
            jobs._remember(job, Answer(200, "application/json", b"x" * 2000))  # noqa: SLF001
        for number in range(20):
            jobs._remember(Job("x", "solve", "x", key=str(number)), Answer(200, "application/json", b"x" * 2000))  # noqa: SLF001
        return sum(len(answer.body) for answer in jobs._cache.values()), jobs._cache_bytes  # noqa: SLF001

    held, counted = asyncio.run(remember())
    assert held == counted == 10_000  # five of 2,000 bytes fit


def test_a_file_with_a_key_given_twice_is_not_answered_by_the_verdict_on_a_valid_one(server):
    bag = document("bag") | {"name": "twice"}
    schedule = server.post("schedule", {"bag": bag, "effort": "fast"}).text
    valid = f'{{"instance": {json.dumps(bag)}, "files": {{"plan": {schedule}}}}}'
    twice = valid.replace('"groups"', '"makespan_seconds": null, "groups"')
    answers = [server.post("verify", text.encode()).json()["files"][0]["accepted"] for text in (valid, twice, valid)]
    assert answers == [True, False, True]


def test_changes_that_cannot_be_are_named_by_the_key_of_the_body(server):
    answer = server.post("whatif", {"bag": document("bag"), "set": {"no-such": "+1"}, "effort": "fast"})
    assert answer.status_code == 422
    assert [fault["where"].partition(".")[0] for fault in answer.json()["error"]["faults"]] == ["set"]
