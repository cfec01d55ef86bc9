"""Who may ask: loopback, tokens, hosts and origins; what an answer never says, and what a request never opens."""

from __future__ import annotations

import asyncio
import hmac
import http.client
import json
import os
import socket
import subprocess
import sys

import httpx
import pytest

from lpsched.cli.main import run
from lpsched.serve import security
from lpsched.serve.app import create_app
from lpsched.serve.settings import Settings
from tests.serve.servers import ROOT, command_of, document, is_running, started

TOKEN = "correct-horse-battery-staple"  # noqa: S105 - of the tests
CANARY = "canary-7f3a-of-a-file"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
TRAVERSALS = (
    "../app.py",
    "..%2fapp.py",
    "%2e%2e/app.py",
    "%2e%2e%2fapp.py",
    "..%5capp.py",
    "%252e%252e%252fapp.py",
    "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    "index.html%00.js",
    "./../../pyproject.toml",
    "~",
    "%c0%ae%c0%ae%2fapp.py",
)


@pytest.fixture(scope="module")
def guarded():
    with started("--workers", "1", LPSCHED_TOKEN=TOKEN) as running:
        yield running


def raw(port, content, *, wait=10.0):
    """Send bytes, and return everything that comes back until the server closes or is silent."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                found += part
        except OSError:  # the server closed the connection, before or after all was sent, or is silent
            pass
    return found


def asked(server, path, method="GET", body=None, **headers):
    """Send a request with a path as it is (clients change dots), and return its answer with its body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())
    connection.close()
    return found


# Where it listens.
def test_it_listens_on_loopback_only(server):
    wanted = f"{server.port:04X}"
    listening = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as file:  # noqa: PTH123 - a file of the system
            rows = [line.split() for line in file.readlines()[1:]]
        listening += [row[1].rpartition(":")[0] for row in rows if row[1].endswith(f":{wanted}") and row[3] == "0A"]
    assert listening == ["0100007F"]
    assert server.url == f"http://127.0.0.1:{server.port}/"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "", "127.0.0.2", "localhost.example.org"])  # noqa: S104
def test_another_address_needs_a_token(host, capsys, monkeypatch):
    monkeypatch.delenv("LPSCHED_TOKEN", raising=False)
    assert run(["serve", "--host", host, "--port", "0", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["faults"] == [
        {
            "where": "--host",
            "found": f"{host!r} without a token",
            "needed": "--token with another address",
            "do": "add one, or leave out --host to serve this machine only",
        }
    ]


def test_an_empty_token_of_the_environment_is_an_error_and_no_open_server(capsys, monkeypatch):
    monkeypatch.setenv("LPSCHED_TOKEN", "")
    assert run(["serve", "--port", "0"]) == 2
    assert "--token: got 0 characters, expected at least 16" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["planning.example.org:8080", "planning.example.org.", "", "a b"])
def test_a_name_that_no_client_can_use_is_an_error(name, capsys):
    assert run(["serve", "--port", "0", "--allow-host", name]) == 2
    assert "--allow-host: got" in capsys.readouterr().err


def test_two_names_of_the_host_are_rejected(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(
            b"GET /healthz HTTP/1.1\r\nHost: example.org\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        assert connection.recv(12).split()[1] in {b"400", b"403"}


def test_a_limit_of_memory_with_which_no_worker_can_begin_is_an_error(capsys):
    assert run(["serve", "--memory", "63"]) == 2
    assert "--memory: got 63 MB, expected at least 64, or 0 for no limit; give more" in capsys.readouterr().err


@pytest.mark.parametrize("token", ["short", "fifteen-letters", "a-token-with-\u00e4-letters", "a-token-with-\n-a-line"])
def test_a_token_is_long_and_printable_and_not_in_the_error(token, capsys):
    assert run(["serve", "--token", token, "--port", "0"]) == 2
    out, err = capsys.readouterr()
    assert "token" in err
    assert token not in out + err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_port_that_is_taken_is_an_error_of_the_command(server):
    done = subprocess.run(
        [*command_of("--workers", "1")[:-3], "--port", str(server.port), "--json"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "cannot listen on" in done.stderr
    assert "Traceback" not in done.stderr


# Tokens.
@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer wrong-token-of-some-length", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"]
)
@pytest.mark.parametrize("path", ["/v1/workloads", "/v1/jobs", "/metrics", "/v1/solve", "/v1/jobs/x", "/v1/nothing"])
def test_without_the_token_nothing_of_the_api_is_answered(guarded, path, header):
    sent = {} if header is None else {"authorization": header}
    answer = guarded.client.get(path, headers=sent)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "unauthorised"
    assert TOKEN not in answer.text


@pytest.mark.parametrize("path", ["//v1/jobs", "/page/../v1/jobs", "/page/%2e%2e/v1/jobs", "/page/..%2fv1%2fjobs", "/v1/jobs/", "/v1//jobs", "/V1/jobs", "/%76%31/jobs", "/docs/../v1/jobs", "/?/v1/jobs"])  # fmt: skip
def test_no_other_way_to_write_a_path_goes_round_the_token(guarded, path):
    answer = asked(guarded, path)
    assert answer.status_code in {401, 404} or path == "/?/v1/jobs"
    assert "lpsched-jobs" not in answer.text


def test_with_the_token_the_api_answers_and_the_token_is_in_no_log(guarded):
    right = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.client.get("/v1/workloads", headers=right).status_code == 200
    assert guarded.client.get("/v1/workloads", headers={"authorization": f"bearer  {TOKEN}"}).status_code == 200
    assert guarded.post("solve", document("bag"), **right).status_code == 200
    bad = guarded.post("solve", {"bag": 1, TOKEN[:8]: TOKEN}, **right)
    assert bad.status_code == 422
    assert guarded.client.get(f"/v1/jobs/{TOKEN}").status_code == 401
    for path in ("/healthz", "/docs", "/openapi.json", "/"):
        assert guarded.client.get(path).status_code in {200, 404}  # a page that is not there yet
    assert TOKEN not in guarded.log
    assert TOKEN not in json.dumps(guarded.said)


def test_workers_do_not_have_the_token(guarded):
    for pid in guarded.workers():
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            assert TOKEN.encode() not in file.read()


def test_tokens_are_compared_as_digests_of_one_length_in_constant_time(monkeypatch):
    seen = []

    def compared(left, right):
        seen.append((left, right))
        return left == right

    monkeypatch.setattr(hmac, "compare_digest", compared)
    guard = security.Guard(None, Settings(token=TOKEN), None)
    for given in ("x", TOKEN, TOKEN * 100, "\udc80"):
        assert guard._has_token("/v1/jobs", {b"authorization": f"Bearer {given}"}) == (given == TOKEN)  # noqa: SLF001
    assert {(len(left), len(right)) for left, right in seen} == {(32, 32)}
    assert len(seen) == 4


# Hosts and origins.
@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.7", "[::2]", "127.0.0.1@evil.example", "", "evil.example#127.0.0.1", "2130706433"])  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/jobs", "/metrics"])
def test_a_host_of_another_name_is_rejected(server, host, path):
    answer = asked(server, path, host=host)
    assert answer.status_code in {400, 403}
    if answer.status_code == 403:
        assert json.loads(answer.text)["error"]["code"] == "forbidden"


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.1", "[::1]", "localhost."])
def test_names_of_loopback_are_known(server, host):
    assert asked(server, "/healthz", host=f"{host}:{server.port}").status_code == 200


def test_an_allowed_name_is_known():
    async def ask(host):
        transport = httpx.ASGITransport(create_app(Settings(allowed_hosts=("planning.example.org",))))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return (await client.get("/page/none.js")).status_code

    assert asyncio.run(ask("planning.EXAMPLE.org")) == 404
    assert asyncio.run(ask("x.planning.example.org")) == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "https://127.0.0.1.evil.example", "http://127.0.0.1", "http://localhost:1", "file://", "http://127.0.0.1:0"])  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_a_page_of_another_site_gets_nothing(server, origin, method):
    body = json.dumps(document("bag")) if method == "POST" else None
    path = "/v1/show" if method == "POST" else "/v1/jobs"
    answer = asked(server, path, method, body, origin=origin, content_type="application/json")
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_page_of_the_server_may_ask(server):
    own = f"http://127.0.0.1:{server.port}"
    answer = server.post("show", document("bag"), origin=own, sec_fetch_site="same-origin")
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_or_script_of_another_site_cannot_post(server, site):
    assert server.post("show", document("bag"), sec_fetch_site=site).status_code == 403


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx", "text/plain; application/json"])  # fmt: skip
def test_what_a_form_can_send_is_no_request(server, media):
    answer = server.post("show", document("bag"), content_type=media)
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "media-type")


# Headers of every answer.
def test_every_kind_of_answer_has_the_headers_and_none_allows_another_site(server, guarded):
    bag = document("bag")
    answers = {
        "page": server.client.get("/"),
        "docs": server.client.get("/docs"),
        "openapi": server.client.get("/openapi.json"),
        "health": server.client.get("/healthz"),
        "metrics": server.client.get("/metrics"),
        "answer": server.post("solve", bag),
        "job": server.post("solve", bag, prefer="respond-async"),
        "bad input": server.post("solve", {}),
        "bad json": server.post("solve", b"{"),
        "media type": server.post("solve", bag, content_type="text/plain"),
        "no route": server.client.get("/nothing"),
        "no job": server.client.get("/v1/jobs/none"),
        "no file": server.client.get("/page/none.js"),
        "method": server.client.put("/v1/solve"),
        "slash": server.client.get("/v1/jobs/"),
        "forbidden": server.client.get("/", headers={"host": "evil.example"}),
        "token": guarded.client.get("/v1/jobs"),
    }
    for kind, answer in answers.items():
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, kind
        assert "cache-control" in answer.headers, kind
        assert not [name for name in answer.headers if name.startswith("access-control")], kind
        assert "server" not in answer.headers, kind
        assert "Traceback" not in answer.text, kind
        if answer.status_code >= 400:
            assert answer.json()["format"] == "lpsched-error/1", kind


def test_an_error_of_the_server_says_nothing_of_it_and_has_the_headers():
    app = create_app(Settings(workers=1))

    async def fail():
        raise RuntimeError(CANARY)

    app.add_api_route("/v1/fails", fail)

    async def ask():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get("/v1/fails")

    answer = asyncio.run(ask())
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert CANARY not in answer.text
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


# Files.
@pytest.mark.parametrize("name", TRAVERSALS)
@pytest.mark.parametrize("folder", ["/page/", "/v1/workloads/", "/v1/examples/", "/v1/jobs/", "/"])
def test_no_path_leads_out_of_what_is_served(server, folder, name):
    answer = asked(server, folder + name)
    assert answer.status_code in {400, 404}, answer.text
    assert "import" not in answer.text
    assert "root:" not in answer.text


def canaries(tmp_path):
    """Return paths of readable files that hold a canary, as text, table, schedule and program."""
    program = tmp_path / "opened.py"
    program.write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').write('x')\n\ndef f(bag, rng):\n    raise ValueError({CANARY!r})\n"
    )
    table = tmp_path / "table.csv"
    table.write_text(f"task_type,{CANARY}\n{CANARY},1\n")
    text = tmp_path / "secret.yaml"
    text.write_text(f"format: {CANARY}\n")
    return program, table, text


def test_a_body_that_names_files_opens_none(server, tmp_path):
    program, table, text = canaries(tmp_path)
    bag, day, facility = document("bag"), document("day"), document("facility")
    schedule = server.post("schedule", bag).json()
    bodies = []
    for path in (program, table, text, "/etc/passwd"):
        name = str(path)
        bodies += [
            ("solve", {"bag": name}),
            ("solve", {"bag": {"file": name}}),
            ("solve", {"bag": bag | {"seconds": {"file": name}}}),
            ("solve", {"bag": bag | {"seconds": name}}),
            ("solve", {"bag": bag | {"watts": {"file": name}}}),
            ("solve", {"bag": bag | {"task_types": {"file": name}}}),
            ("solve", {"bag": bag | {"site": {"tariff": {"file": name}}}, "horizon": "24h"}),
            ("solve", {"bag": bag | {"prices": {"electricity_per_kwh": {"file": name}}}, "horizon": "24h"}),
            ("solve", {"bag": bag | {"prices": {"electricity_per_kwh": name}}, "horizon": "24h"}),
            ("solve", {"bag": bag, "tariff": name, "horizon": "24h"}),
            ("solve", {"bag": bag, "solver": name}),
            ("solve", {"bag": bag, "horizon": "24h", "start": name[:60]}),
            ("whatif", {"bag": bag, "set": {name: "+1"}}),
            ("whatif", {"bag": bag, "set": {"price": name[:90]}}),
            ("validate", {"instance": bag, "schedulers": [f"{name}:f"]}),
            ("validate", {"instance": bag, "schedulers": [name]}),
            ("validate", {"instance": day, "schedulers": [f"{name}:f"]}),
            ("validate", {"instance": facility, "schedulers": [f"{name}:f"]}),
            ("validate", {"instance": bag, "schedules": [name]}),
            ("validate", {"instance": bag, "schedules": {name: name}}),
            ("validate", {"instance": bag, "schedules": {name: {"file": name}}}),
            ("verify", {"instance": bag, "files": [name]}),
            ("verify", {"instance": bag, "files": {name: name}}),
            ("verify", {"instance": bag, "files": {name: {"format": name}}}),
            ("verify", {"instance": bag, "files": {name: schedule | {"schedule": {"file": name}}}}),
            ("show", {"instance": day | {"tasks": {"file": name}}}),
            ("show", {"instance": day | {"tasks": name}}),
            ("convert", {"instance": facility | {"cross_interference": {"file": name}}}),
            ("convert", {"instance": facility | {"air": {"file": name}}}),
        ]
    simulated = [
        ("simulate", {"instance": document(kind), "schedulers": [f"{program}:f"]}) for kind in ("day", "clusters")
    ]
    for operation, body in bodies:
        answer = server.post(operation, body)
        said = answer.text
        if answer.status_code == 200 and operation in {
            "verify",
            "validate",
        }:  # a verdict: not one of what the file holds
            answers = answer.json()
            entries = answers.get("files") or answers.get("entries")
            assert not any(each.get("is_valid") or each.get("valid") for each in entries), said
        else:
            assert answer.status_code == 422, (operation, body, said)
        assert CANARY not in said
        assert "root:" not in said
        assert "Traceback" not in said
    for operation, body in simulated:
        ended = server.ended(server.submit(operation, body)["id"])
        assert ended["state"] == "failed"
        assert CANARY not in json.dumps(ended)
    assert not (tmp_path / "ran").exists()
    assert "Traceback" not in server.log


@pytest.mark.parametrize(
    "content",
    [
        b"\r\n\r\n",
        b"\x00" * 1000,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        b"GET " + b"/a" * 50_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-Many: a\r\n" * 20_000 + b"\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /v1/jobs/%ff%fe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: \xff\xfe \x80\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"FROB / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}GET /",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n{}",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"POST /v1/show HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    ],
    ids=range(27),
)  # fmt: skip
def test_what_is_no_http_does_no_harm(server, content):
    answer = raw(server.port, content)
    assert b" 500 " not in answer.partition(b"\r\n")[0]
    assert b"Traceback" not in answer
    assert answer.count(b"HTTP/1.1 200") <= 1  # nothing smuggled was answered
    assert server.client.get("/healthz").status_code == 200
    assert is_running(server.process.pid)


def test_there_is_no_traceback_in_the_log(server, guarded):
    assert "Traceback" not in server.log + guarded.log


def test_the_module_of_the_server_is_imported_only_where_it_is_used():
    code = "import sys, lpsched.cli.main; print([m for m in sys.modules if m.startswith(('fastapi', 'starlette', 'uvicorn', 'lpsched.serve.app'))])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60, env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    assert done.stdout.strip() == "[]"
