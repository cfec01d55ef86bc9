"""The OpenAPI document of the server: made of the models of requests and files, with examples that work."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from lpsched.io.documents import read_yaml
from lpsched.io.templates import template
from lpsched.model.kinds import INSTANCES, KINDS
from lpsched.serve.operations import OPERATIONS, Operation

DESCRIPTION: Final = (
    "Proved bounds, verified schedules and shadow prices. Bodies hold the same documents as the files, answers are "
    "those of the command line with --json. Requests that take long, or have the header 'Prefer: respond-async', are "
    "jobs."
)
JSON: Final = "application/json"
OPEN_API: Final = "3.1.0"
ANSWER: Final = {
    "type": "object",
    "description": "What the command of the same name prints with --json.",
    "required": ["format", "lpsched"],
    "properties": {"format": {"type": "string"}, "lpsched": {"type": "string"}},
}
ERROR: Final = {
    "type": "object",
    "required": ["format", "lpsched", "error"],
    "properties": {
        "format": {"const": "lpsched-error/1"},
        "lpsched": {"type": "string"},
        "error": {
            "type": "object",
            "required": ["code", "message", "faults"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "faults": {
                    "type": "array",
                    "description": "Every error of the request: where, what was got, what is expected, a hint.",
                    "items": {
                        "type": "object",
                        "required": ["where", "found", "needed", "do"],
                        "properties": {key: {"type": "string"} for key in ("where", "found", "needed", "do")},
                    },
                },
            },
        },
    },
}
NULLABLE: Final = ["string", "null"]
JOB: Final = {
    "type": "object",
    "required": ["format", "id", "operation", "state", "created"],
    "properties": {
        "format": {"const": "lpsched-job/1"},
        "id": {"type": "string"},
        "operation": {"enum": list(OPERATIONS)},
        "state": {"enum": ["queued", "running", "done", "failed", "cancelled", "interrupted"]},
        "progress": {"type": ["object", "null"], "description": "stage, gap, done and total of the work."},
        "created": {"type": "string"},
        "started": {"type": NULLABLE},
        "ended": {"type": NULLABLE},
        "error": {"type": ["object", "null"]},
        "answer": {"type": ["object", "null"], "description": "Of a job that is done."},
    },
}
ERRORS: Final = {
    "400": "The request is not HTTP as it should be.",
    "401": "The token is missing or wrong.",
    "403": "Host or Origin is of another site.",
    "404": "There is no such thing.",
    "405": "Another method is needed.",
    "408": "The body did not come in time.",
    "409": "The job was cancelled, interrupted, or is not done.",
    "410": "The answer is no longer there.",
    "413": "The body is too large.",
    "415": "The Content-Type is neither JSON nor YAML.",
    "422": "The request is not valid, or no schedule meets every constraint; all errors are listed.",
    "429": "The client sent too many requests in a minute.",
    "500": "A solver or the server failed.",
    "501": "An extra of lpsched is not installed.",
    "503": "The queue is full, or the server is stopping.",
    "504": "The work took more than the time limit of the server.",
    "507": "The work needed more than the memory limit of the server.",
}
SENT: Final = ("400", "401", "403", "404", "405", "429", "500")  # by any request
PARAMETER: Final = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


@cache
def openapi(version: str) -> dict[str, Any]:
    """Return the OpenAPI document."""
    schemas: dict[str, Any] = {"Answer": ANSWER, "Error": ERROR, "Job": JOB}
    for name in INSTANCES:
        schemas |= _kind_schemas(name)
    paths = {f"/v1/{each.name}": {"post": _posted(each, schemas)} for each in OPERATIONS.values()}
    return {
        "openapi": OPEN_API,
        "info": {"title": "lpsched", "version": version, "description": DESCRIPTION},
        "paths": paths | _other_paths(),
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


def _kind_schemas(name: str) -> dict[str, Any]:
    """Return the schemas of a kind of file by their names in the document."""
    model = KINDS[name].load("model")
    schema = model.model_json_schema(ref_template=f"#/components/schemas/{model.__name__}.{{model}}")
    inner = {f"{model.__name__}.{key}": value for key, value in schema.pop("$defs", {}).items()}
    schema.pop("$schema", None)
    return {model.__name__: schema} | inner


def _posted(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    model = operation.options
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}", by_alias=True)
    key, kinds, named = model.KEY, model.TAKEN, model.NAMED
    documents = [{"$ref": f"#/components/schemas/{KINDS[kind].load('model').__name__}"} for kind in kinds]
    held: dict[str, Any] = {key: documents[0] if len(documents) == 1 else {"anyOf": documents}}
    if named:
        held[named] = {
            "description": "Documents by name, such as schedules and proofs.",
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "object"}, "maxProperties": 100},
                {"type": "array", "items": {"type": "object"}, "maxItems": 100},
            ],
        }
    wanted = {
        "type": "object",
        "additionalProperties": False,
        "required": [key, *schema.get("required", ())],
        "properties": held | schema.get("properties", {}),
    }
    name = f"{operation.name.capitalize()}Request"
    schemas[name] = wanted
    bodies = [{"$ref": f"#/components/schemas/{name}"}, *documents]
    content: dict[str, Any] = {
        "schema": bodies[0] if schema.get("required") or named == "files" else {"anyOf": bodies},
        "examples": {"example": {"value": example(operation)}},
    }
    answer = {"schema": {"type": "string"}} if operation.name == "report" else _ref("Answer")
    media = "text/html" if operation.name == "report" else JSON
    responses = {"202": {"description": "The request is a job now; Location names it.", "content": {JSON: _ref("Job")}}}
    if not operation.is_job:
        responses |= {"200": {"description": "The answer.", "content": {media: answer}}}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            {
                "name": "Prefer",
                "in": "header",
                "description": "'respond-async': answer with a job at once.",
                "schema": {"enum": ["respond-async"]},
            }
        ],
        "requestBody": {"required": True, "content": {JSON: content, "application/yaml": {"schema": {}}}},
        "responses": responses | _errors("408", "409", "410", "413", "415", "422", "501", "503", "504", "507"),
    }


def example(operation: Operation) -> dict[str, Any]:
    """Return a body that works: the template of the kind, and some options."""
    raw = read_yaml(Path(operation.example), template(operation.example)).value
    assert isinstance(raw, dict)
    more: dict[str, Any] = {}
    if operation.name == "whatif":
        more = {"set": {raw["machine_types"][0]["name"]: "+1"}}
    elif operation.name == "verify":
        more = {"files": {"my-schedule": _schedule(raw)}}
    elif "effort" in operation.options.model_fields:
        more = {"effort": "fast"}
    return {operation.options.KEY: raw} | more


def _schedule(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a schedule of a bag, as a file holds it."""
    from lpsched.bag.files import schedule_as_dict
    from lpsched.bag.model import Bag
    from lpsched.bag.solve import solve
    from lpsched.model.provenance import version_of_lpsched

    bag = Bag.read(raw)
    return schedule_as_dict(solve(bag, effort="fast").schedule, bag, version_of_lpsched())


def _ref(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


def _errors(*more: str) -> dict[str, Any]:
    return {
        status: {"description": ERRORS[status], "content": {JSON: _ref("Error")}} for status in sorted({*SENT, *more})
    }


def _got(summary: str, media: str = JSON, schema: dict[str, Any] | None = None, *more: str) -> dict[str, Any]:
    content = {media: schema or {"schema": {"type": "object"}}}
    return {
        "summary": summary,
        "responses": {"200": {"description": "The answer.", "content": content}} | _errors(*more),
    }


def _other_paths() -> dict[str, Any]:
    by_name = {"parameters": [PARAMETER]}
    return {
        "/v1/jobs": {"get": _got("List the latest jobs.")},
        "/v1/jobs/{name}": by_name
        | {
            "get": _got("Show a job, with its answer when it is done.", JSON, _ref("Job")),
            "delete": _got("Cancel a job.", JSON, _ref("Job")),
        },
        "/v1/jobs/{name}/answer": by_name
        | {"get": _got("Return the answer of a job.", JSON, None, "409", "410", "422", "501", "504", "507")},
        "/v1/jobs/{name}/events": by_name
        | {"get": _got("Follow a job by server-sent events.", "text/event-stream", {"schema": {"type": "string"}})},
        "/v1/workloads": {"get": _got("List the workloads and examples that the page offers.")},
        "/v1/workloads/{name}": by_name | {"get": _got("Return a workload as JSON and YAML.")},
        "/v1/examples/{name}": by_name | {"get": _got("Return an example as JSON and YAML.")},
        "/metrics": {"get": _got("Metrics for Prometheus.", "text/plain", {"schema": {"type": "string"}})},
        "/healthz": {"get": _got("Whether the server can take requests.", JSON, None, "503")},
    }
