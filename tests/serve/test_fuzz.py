"""Mutated requests: never an error of the server, never a worker that dies, always a documented answer.

Bodies are the examples of the OpenAPI document with some places changed: keys deleted, doubled and renamed, values of
other types and sizes, lists repeated, parts nested and swapped. HYPOTHESIS_PROFILE=explore looks for new ones.
"""

from __future__ import annotations

import copy
import json
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lpsched.serve.documentation import example, openapi
from lpsched.serve.operations import OPERATIONS
from tests.serve.servers import document, with_settings

API = openapi("0")
SECONDS = 5.0  # of a request: searches of mutated bags may take any time
FUZZ = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
NUMBERS = [0, -1, 1, 2, 3, 0.5, -0.0, 1e-300, 5e-324, 1e15, 1e30, 1e31, 1e300, 1.8e308, 2**31, 2**53 + 1, 2**63, 2**64, 10**30, 10**350, 10**399, float("nan"), float("inf"), float("-inf")]  # fmt: skip
TEXTS = ["", " ", "a", "a" * 5000, "\x00", "\x1b[31m", "\ud800", "\udcff", "\U0001f4a5", "\u202e", "é", "e\u0301", "../../etc/passwd", "1e999", "NaN", "1", "24h", "-5h", "5 parsecs", "30kW", "+1", "-10%", "%s%n", "{{7*7}}", "all", "lp", "nsga2", "x.py:f", "profit", "cost", "carbon", "makespan", "energy", "2024-02-30T25:61Z", "2024-07-01T00:00Z", "lpsched-bag/1", "lpsched-day/1", "fast", "tight", "proved", "true", "null", "__proto__", "format"]  # fmt: skip
WHOLES: list[Any] = [None, True, False, [], {}, [[]], [None], {"": None}, {"file": "/etc/passwd"}, [0] * 50, {"a": {"b": {"c": {"d": 1}}}}]  # fmt: skip
EXTRA = {  # options that the examples leave out, to be mutated as well
    "solve": {"objective": "profit", "gap": 0.01, "deadline": "5h", "seed": 1, "marginals": "lp", "power_cap": None, "price": 20},
    "front": {"sample": 2, "deadline": "5h"},
    "price": {"points": 2, "from_ratio": 0.5, "to_ratio": 3.0, "lifetime": "1500d", "sensitivity": True},
    "whatif": {"objective": "profit", "time_limit": 1},
    "validate": {"schedulers": ["mct"], "schedules": {}, "generations": 2},
    "facility": {"scheduler": "lp", "outlets": [15.0], "gap": 0.1},
    "simulate": {"schedulers": ["easy"], "bound": False, "trials": 1},
}  # fmt: skip
MORE = {  # other bodies than the examples
    "a plan": ("solve", {"objective": "cost", "horizon": "6h", "start": None, "switch_off": True}),
    "a schedule of a plan": ("schedule", {"objective": "cost", "horizon": "6h"}),
}


@pytest.fixture(scope="module")
def fuzzed():
    limits = {"seconds": SECONDS, "wait_seconds": 60.0, "rate": 10**6, "workers": 2}
    with with_settings(constants={"workers.LATE_SECONDS": 5.0}, **limits) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-4000:]


def places(value, path=()):
    """Return the paths of everything in a body."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(each, (*path, key))
    return found


def at(value, path):
    for key in path:
        value = value[key]
    return value


@st.composite
def mutated(draw, body):  # noqa: C901 - one case for each kind of change
    """Draw a body with one to three changes."""
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        paths = places(body)
        assume(paths)
        path = draw(st.sampled_from(paths))
        holder, key = at(body, path[:-1]), path[-1]
        match draw(
            st.sampled_from(
                [
                    "number",
                    "text",
                    "whole",
                    "delete",
                    "rename",
                    "repeat",
                    "nest",
                    "swap",
                    "scale",
                    "scale",
                    "scale",
                    "add",
                ]
            )
        ):
            case "number":
                holder[key] = draw(st.sampled_from(NUMBERS))
            case "text":
                holder[key] = draw(st.sampled_from(TEXTS) | st.text(max_size=20))
            case "whole":
                holder[key] = copy.deepcopy(draw(st.sampled_from(WHOLES)))
            case "delete":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                holder[draw(st.sampled_from(TEXTS))] = holder.pop(key)
            case "repeat" if isinstance(holder, list):
                holder[key:key] = [copy.deepcopy(holder[key]) for _ in range(draw(st.sampled_from([1, 2, 30])))]
            case "nest":
                for _ in range(draw(st.sampled_from([1, 2, 15]))):
                    holder[key] = draw(st.sampled_from([[holder[key]], {"a": holder[key]}]))
            case "swap":
                other = draw(st.sampled_from(paths))
                holder[key] = copy.deepcopy(at(body, other))
            case "scale" if isinstance(holder[key], int | float) and abs(holder[key]) < 2**1000:
                holder[key] = holder[key] * draw(st.sampled_from([-1, 1e-9, 1e-3, 10, 1e6, 1e12]))
            case "add" if isinstance(holder, dict):
                holder[draw(st.sampled_from(TEXTS))] = copy.deepcopy(holder[key])
    return body


def text_of(body, double):
    """Return a body as JSON; at `double` of its keys, the first of them once more."""
    text = json.dumps(body)
    if double and isinstance(body, dict) and body:
        key = next(iter(body))
        text = f"{text[:-1]}, {json.dumps(key)}: {json.dumps(body[key])}}}"
    return text.encode()


def check(server, operation, answer):
    """Check an answer, and that of its job, against the document; no error is one of the server."""
    documented = API["paths"][f"/v1/{operation}"]["post"]["responses"]
    assert str(answer.status_code) in documented, answer.text
    if answer.status_code == 202:
        name = answer.json()["id"]
        server.ended(name)
        answer = server.client.get(f"/v1/jobs/{name}/answer")
    if answer.status_code == 500:  # of numbers that are 10^20 apart: the solver says that it has no answer
        assert answer.json()["error"]["code"] == "solver", answer.text
    else:
        assert answer.status_code in {200, 422, 504}, answer.text
    if answer.status_code != 200:
        schema = API["components"]["schemas"]["Error"]
        jsonschema.Draft202012Validator(schema).validate(answer.json())
        assert answer.json()["error"]["message"]
        assert "Traceback" not in answer.text
    elif operation != "report":
        said = answer.json()
        assert said["format"].startswith("lpsched-")
        assert "NaN" not in answer.text
        assert "Infinity" not in answer.text


def send(server, operation, body, *, double, is_yaml):
    media = "application/yaml" if is_yaml else "application/json"
    check(server, operation, server.post(operation, text_of(body, double), content_type=media))


@pytest.mark.slow
def test_bodies_are_valid_before_they_are_mutated(fuzzed):
    bodies = [(name, example(each) | EXTRA.get(name, {})) for name, each in OPERATIONS.items()]
    bodies += [(operation, example(OPERATIONS[operation]) | options) for operation, options in MORE.values()]
    for operation, body in bodies:
        answer = fuzzed.post(operation, body)
        assert answer.status_code in {200, 202}, (operation, answer.text)
        if answer.status_code == 202:
            assert fuzzed.ended(answer.json()["id"])["state"] == "done", operation


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "report"])
@FUZZ
@given(data=st.data())
def test_a_mutated_request_is_answered_or_rejected(fuzzed, operation, data):
    body = example(OPERATIONS[operation]) | EXTRA.get(operation, {})
    changed = data.draw(mutated(body))
    double, is_yaml = data.draw(st.sampled_from([False, False, False, True])), data.draw(st.booleans())
    send(fuzzed, operation, changed, double=double, is_yaml=is_yaml)


@pytest.mark.parametrize("case", MORE)
@settings(FUZZ, max_examples=20)
@given(data=st.data())
def test_a_mutated_request_for_a_plan_is_answered_or_rejected(fuzzed, case, data):
    operation, options = MORE[case]
    body = example(OPERATIONS[operation]) | options
    send(fuzzed, operation, data.draw(mutated(body)), double=False, is_yaml=data.draw(st.booleans()))


@pytest.mark.parametrize("kind", ["day", "facility", "clusters"])
@settings(FUZZ, max_examples=40)
@given(data=st.data())
def test_mutated_documents_of_other_kinds_are_answered_or_rejected(fuzzed, kind, data):
    operation = data.draw(st.sampled_from(["convert", "show", "verify"]))
    body = {"instance": document(kind)} | ({"files": {"s": {}}} if operation == "verify" else {})
    send(fuzzed, operation, data.draw(mutated(body)), double=False, is_yaml=data.draw(st.booleans()))


@FUZZ
@given(text=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_answered_or_rejected(fuzzed, text):
    for media in ("application/json", "application/yaml"):
        check(fuzzed, "convert", fuzzed.post("convert", text, content_type=media))


@FUZZ
@given(
    path=st.sampled_from([path for path in API["paths"] if "get" in API["paths"][path]]),
    name=st.text(max_size=30).map(lambda text: quote(text.encode("utf-8", "surrogatepass"), safe="")),
)
def test_any_name_in_a_path_is_answered_or_not_found(fuzzed, path, name):
    answer = fuzzed.client.get(path.format(name=name))
    assert answer.status_code in {200, 307, 404}, answer.text
