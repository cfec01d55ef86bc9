"""Servers for the tests: real processes on 127.0.0.1, each with its own workers, and gone at the end."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx

from lpsched.bag.files import as_dict
from lpsched.io.documents import read_yaml
from lpsched.io.templates import template
from lpsched.serve.workloads import example

ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 60.0  # seconds until a test gives up; nothing waits that long on a machine that is not overloaded


class Running:
    """A server process and a client of it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._log: list[bytes] = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        self.said = self._announced()
        self.url = self.said["url"]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)
        self.pids: set[int] = set()  # of all workers seen

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._log.append(line)

    @property
    def log(self) -> str:
        """What it wrote to stderr so far."""
        return b"".join(self._log).decode()

    def _announced(self) -> dict[str, Any]:
        """Read the one JSON object on stdout."""
        assert self.process.stdout is not None
        text = b""
        while line := self.process.stdout.readline():
            text += line
            with contextlib.suppress(ValueError):
                return json.loads(text)  # type: ignore[no-any-return]
        self.process.wait()
        self._reader.join()
        raise AssertionError(f"no address, exit code {self.process.returncode}: {text!r} {self.log}")

    def workers(self) -> set[int]:
        """Return the process numbers of its workers."""
        found = set()
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[1]) == self.process.pid and fields[0] != "Z":
                    found.add(int(path.parent.name))
        self.pids |= found
        return found

    def ready(self, workers: int) -> None:
        """Wait until that many workers can take requests."""
        if workers:
            until(lambda: self.client.get("/healthz").json()["workers"] >= workers, "workers are ready")
        self.workers()

    def post(self, operation: str, content: Any, **headers: str) -> httpx.Response:
        """Send a request as JSON, or as it is if it is bytes."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        sent = {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(f"/v1/{operation}", content=body, headers=sent)

    def submit(self, operation: str, content: Any) -> dict[str, Any]:
        """Send a request as a job, and return the job."""
        answer = self.post(operation, content, prefer="respond-async")
        assert answer.status_code == 202, answer.text
        return answer.json()  # type: ignore[no-any-return]

    def job(self, name: str) -> dict[str, Any]:
        """Return a job."""
        return self.client.get(f"/v1/jobs/{name}").json()  # type: ignore[no-any-return]

    def ended(self, name: str) -> dict[str, Any]:
        """Wait until a job has ended, and return it."""
        return self.reached(name, "done", "failed", "cancelled", "interrupted")

    def reached(self, name: str, *states: str) -> dict[str, Any]:
        """Wait until a job is in one of these states, and return it."""
        until(lambda: self.job(name)["state"] in states, f"the job is {' or '.join(states)}")
        return self.job(name)

    def stop(self, number: int) -> int:
        """Send a signal, wait until the server has ended, and return its exit code."""
        self.workers()
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def close(self) -> None:
        """End the server and its workers, whatever they do."""
        self.workers()
        self.client.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        until(lambda: not any(is_running(pid) for pid in self.pids), "the workers have ended")
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(is_so: Any, what: str) -> None:
    """Wait until something holds; fail if it never does."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"not so within {PATIENCE:g} s: {what}"
        time.sleep(0.02)


def command_of(*options: str | Path) -> list[str]:
    """Return the command that starts a server as users do."""
    return [sys.executable, "-m", "lpsched", "serve", *map(str, options), "--port", "0", "--json"]


@contextlib.contextmanager
def started(*options: str | Path, ready: int = 0, **environment: str) -> Iterator[Running]:
    """Start a server by its command, with options."""
    server = Running(command_of(*options), environment)
    try:
        server.ready(ready)
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def with_settings(*files: Path, constants: dict[str, Any] | None = None, **settings: Any) -> Iterator[Running]:
    """Start a server with settings that are no options, and with other values of constants of its modules."""
    given = {"settings": settings, "files": [str(path) for path in files], "constants": constants or {}}
    server = Running([sys.executable, "-m", "tests.serve.start", json.dumps(given)], {})
    try:
        server.ready(settings.get("workers", 1))
        yield server
    finally:
        server.close()


def document(kind: str) -> dict[str, Any]:
    """Return the template of a kind of file."""
    raw = read_yaml(Path(kind), template(kind)).value
    assert isinstance(raw, dict)
    return raw


def slow_bag() -> dict[str, Any]:
    """Return a bag whose search at the effort tight with a gap of 0 takes more than a minute."""
    found = example("generated-30x9")
    assert found is not None
    return as_dict(found.bag)


def slow(seed: int = 0) -> dict[str, Any]:
    """Return a request for `solve` that runs until it is stopped; another for each seed."""
    return {"bag": slow_bag(), "effort": "tight", "gap": 0, "seed": seed}
