"""Bad documents are rejected over HTTP in the words of the command line; documents that name files open none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.bad_inputs.tables import FOLDER, LINE, changed, read

OPERATIONS = {  # by table: the operation, and the options that the command of the table has
    "bag": ("solve", {"effort": "fast"}),
    "facility": ("facility", {}),
    "day": ("validate", {"schedulers": ["mct"]}),
    "clusters": ("simulate", {"schedulers": ["easy"]}),
}
KEYS = {"bag": "bag", "facility": "facility", "day": "instance", "clusters": "instance"}
OTHER_KIND = ("format-other", "format-facility", "a-bag", "a-day", "no-format")  # there is no other command to name


def says(answer):
    """Return the problems of an answer in the words of the tables."""
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert error["code"] == "bad-input"
    return [
        f"{each['where']}: got {each['found']}, expected {each['needed']}; {each['do']}" for each in error["faults"]
    ]


def posted(server, operation, body, media="application/json"):
    """Send a request; return its answer, that of the job if it is one."""
    answer = server.post(operation, body, content_type=media)
    if answer.status_code == 202:
        name = answer.json()["id"]
        server.ended(name)
        answer = server.client.get(f"/v1/jobs/{name}/answer")
    return answer


def names_a_file(case):
    return any(word in json.dumps([case.get("set"), case.get("text"), case["says"]]) for word in ("file", "path", ".csv", ".npz"))  # fmt: skip


def plain(problems):
    """Return problems without the line and the name of the document's key in the request."""
    found = [LINE.sub("", each) for each in problems]
    return [each.removeprefix("document.") for each in found]


@pytest.mark.rotate(2)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_bad_document_is_rejected_in_the_words_of_the_command(server, name):
    table, (operation, options) = read(FOLDER / f"{name}.yaml"), OPERATIONS[name]
    wrong, number = [], 0
    for case in table["cases"]:
        if names_a_file(case) or case["case"] in OTHER_KIND:
            continue
        number += 1
        if "text" in case:
            found = says(posted(server, operation, case["text"].encode(), "application/yaml"))
            if found != case["says"]:
                wrong.append((case["case"], "text", case["says"], found))
            continue
        document = changed(table["valid"], case)
        bodies = {
            "envelope": (json.dumps({KEYS[name]: document} | options, default=str).encode(), "application/json"),
            "yaml": (yaml.safe_dump({KEYS[name]: document} | options, sort_keys=False).encode(), "application/yaml"),
        }
        kind, (body, media) = list(bodies.items())[number % 2]
        answer = posted(server, operation, body, media)
        if answer.status_code != 422 or plain(says(answer)) != case["says"]:
            wrong.append((case["case"], kind, case["says"], answer.text[:1000]))
    assert not wrong, "\n".join(map(str, wrong))
    assert number >= 30


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_document_that_names_a_file_is_rejected_and_no_file_is_opened(server, name):
    table, (operation, options) = read(FOLDER / f"{name}.yaml"), OPERATIONS[name]
    for case in table["cases"]:
        if not names_a_file(case) or "text" in case:
            continue
        body = json.dumps({KEYS[name]: changed(table["valid"], case)} | options, default=str).encode()
        answer = posted(server, operation, body)
        assert answer.status_code == 422, (case, answer.text)
        for leaked in ("No such file", "is a directory", "cannot be read", str(Path.cwd())):
            assert leaked not in answer.text, case


@pytest.mark.parametrize(("name", "media"), [("json", "application/json"), ("yaml", "application/yaml")])
def test_a_broken_text_is_rejected_with_its_line(server, name, media):
    for case in read(FOLDER / f"{name}.yaml")["cases"]:
        assert says(server.post("show", case["text"].encode(), content_type=media)) == case["says"], case["case"]


def test_a_bad_schedule_is_a_verdict_in_the_words_of_the_command(server):
    table = read(FOLDER / "schedule.yaml")
    bag = table["beside"]["bag.yaml"]
    bag = yaml.safe_load(bag) if isinstance(bag, str) else bag
    for case in table["cases"]:
        if "text" in case:
            continue
        schedule = changed(table["valid"], case)
        answer = server.post("verify", {"instance": bag, "files": {"s.json": schedule}})
        assert answer.status_code == 200, answer.text
        reasons = [reason for each in answer.json()["files"] for reason in each["reasons"]]
        assert reasons == case["says"], case["case"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"", ""),
        (b"null", ""),
        (b"[]", ""),
        (b'"bag"', ""),
        (b"1", ""),
        (b"{}", "bag"),
        (b'{"bag": null}', "bag"),
        (b'{"bag": []}', "bag"),
        (b"\xff\xfe", ""),
        (b"\xef\xbb\xbf{}", ""),
        (b'{"bag": {}, "bag": {}}', "bag"),
        (b'{"bag": {}, "colour": 1}', "colour"),
        (b'{"bag": NaN}', ""),
        (b'{"bag": Infinity}', ""),
        (b"{} {}", ""),
    ],
)
def test_a_body_that_is_no_request_is_an_error_that_says_where(server, body, where):
    for media in ("application/json", "application/yaml"):
        found = says(server.post("solve", body, content_type=media))
        assert found
        if media == "application/json":
            assert any(where in each.partition(":")[0] for each in found), found


@pytest.mark.parametrize(
    "options",
    [
        {"effort": "fastest"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": 10**30},
        {"seed": True},
        {"gap": -1},
        {"gap": "a"},
        {"gap": [1]},
        {"deadline": "5 parsecs"},
        {"deadline": -1},
        {"deadline": 10**400},
        {"deadline": 10**350},
        {"price": 10**350},
        {"gap": 10**350},
        {"power_cap": 10**399},
        {"deadline": {"h": 1}},
        {"power_cap": "1e999kW"},
        {"power_cap": 10**400},
        {"price": 10**400},
        {"price": "much"},
        {"time_limit": 10**400},
        {"time_limit": "-1s"},
        {"horizon": 10**400, "objective": "cost"},
        {"horizon": "24h", "start": "\ud800", "objective": "cost"},
        {"horizon": "24h", "start": "tomorrow", "objective": "cost"},
        {"horizon": 0, "objective": "cost"},
        {"horizon": 1e300, "objective": "cost"},
        {"carbon_price": 1},
        {"objective": "cost", "price": 1},
        {"marginals": 7},
        {"\ud800": 1},
        {"__class__": 1},
        {"objective": "\ud800"},
    ],
    ids=str,
)
def test_a_bad_option_is_an_error_of_the_request(server, options):
    table = read(FOLDER / "bag.yaml")
    for media in ("application/json", "application/yaml"):
        body = json.dumps({"bag": table["valid"], "effort": "fast"} | options).encode()
        assert says(server.post("solve", body, content_type=media))


@pytest.mark.parametrize("operation", ["simulate", "validate", "convert", "show"])
def test_a_document_that_may_be_of_several_kinds_needs_its_format(server, operation):
    raw = read(FOLDER / "clusters.yaml")["valid"]
    del raw["format"]
    (found,) = says(posted(server, operation, {"instance": raw}))
    assert found.startswith("format: got no format, expected '")
    assert "lpsched-clusters/1" in found


@pytest.mark.parametrize("operation", ["solve", "facility", "simulate"])
def test_a_document_of_another_kind_is_one_error(server, operation):
    raw = read(FOLDER / "day.yaml")["valid"] | {"format": "lpsched-study/1"}
    key = {"solve": "bag", "facility": "facility", "simulate": "instance"}[operation]
    (found,) = says(posted(server, operation, {key: raw}))
    assert found.startswith("format: got the text 'lpsched-study/1', expected '")


def test_nothing_was_an_error_of_the_server(server):
    assert "Traceback" not in server.log, server.log[-3000:]
