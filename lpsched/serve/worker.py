"""A worker process: reads requests from its standard input, and writes progress and answers to its standard output.

A message is one line of JSON, and after it `size` bytes. The server sends requests (`operation`, `media`, `seconds`)
and `stop`; the worker sends `ready`, `progress`, `key` (what the answer depends on, as soon as the request was read)
and the answer (`status`, `media`). It ends when its standard input does, that is with the server.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

from lpsched.cancellation import CancelToken, Progress
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, LpschedError, MissingExtraError, NotFoundError
from lpsched.model.provenance import version_of_lpsched
from lpsched.serve.operations import JSON, OPERATIONS, Answer, answered, require_pairs, with_time_limit
from lpsched.serve.requests import read_request
from lpsched.text import printable_lines

PROGRESS_SECONDS: Final = 0.1  # between two reports
STATUSES: Final = ((InstanceError, 422), (InfeasibleError, 422), (NotFoundError, 422), (MissingExtraError, 501))
INTERNAL: Final = "an error of the server; its log has the details"
MEGABYTE: Final = 2**20
NO_THREAD: Final = "can't start new thread"  # what Python says where there is no memory for one


@dataclass(frozen=True, slots=True)
class Task:
    """A request as it comes in."""

    head: dict[str, Any]
    body: bytes


def main() -> None:
    """Serve requests until standard input ends; `sys.argv` has the memory limit in megabytes, 0 for none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print does not disturb the messages
    _load()
    limit_memory(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    writing, tasks, token = threading.Lock(), SimpleQueue[Task](), _Token()

    def send(head: dict[str, Any], body: bytes = b"") -> None:
        content = json.dumps(head | {"size": len(body)}).encode() + b"\n" + body
        with writing, contextlib.suppress(OSError):  # without a server, the other thread ends the process
            view = memoryview(content)
            while view:
                view = view[out.write(view) or 0 :]

    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks, token), daemon=True).start()
    send({"ready": True})
    while True:
        task = tasks.get()
        answer = respond(task.head, task.body, token, send)
        send({"status": answer.status, "media": answer.media, "cut": answer.is_cut}, answer.body)


class _Token:
    """The token of the request under way, which the listening thread may stop."""

    def __init__(self) -> None:
        self.current: CancelToken | None = None
        self.name = ""  # of that request
        self.stopped = ""  # the last request to stop; it may not have begun

    def stop(self, name: str) -> None:
        """Stop a request: that under way or one to come; not the next one, if it has ended."""
        self.stopped = name
        if self.current is not None and self.name == name:
            self.current.stop()

    def begin(self, name: str, token: CancelToken) -> CancelToken:
        """Return the token of a request that begins."""
        self.name, self.current = name, token
        if self.stopped == name:
            token.stop()
        return token


def _listen(stream: BinaryIO, tasks: SimpleQueue[Task], token: _Token) -> None:
    try:
        while line := stream.readline():
            head = json.loads(line)
            if "stop" in head:
                token.stop(head["stop"])
            else:
                tasks.put(Task(head, stream.read(head["size"])))
    finally:  # without requests there is nothing to do, whatever the reason: the end of the server, or of memory
        os._exit(0)


def respond(head: dict[str, Any], body: bytes, token: _Token, send: Any) -> Answer:  # noqa: ANN401 - a function
    """Return the answer to a request, or the error; nothing that it says can end the process."""
    operation, last = OPERATIONS[head["operation"]], [0.0]

    def report(progress: Progress) -> None:
        now = time.monotonic()
        if now - last[0] >= PROGRESS_SECONDS:
            last[0] = now
            said = {"stage": progress.stage, "gap": progress.gap, "done": progress.done, "total": progress.total}
            send({"progress": said})

    try:
        given = read_request(operation.options, body, is_yaml=head["media"] == "yaml")
        require_pairs(given, head["pairs"])
        send({"key": given.digest(operation.name)})
        limited = with_time_limit(given, head["seconds"])
        asked = getattr(limited.options, "time_limit", None)
        cancel = token.begin(head["id"], CancelToken(head["seconds"] if asked is None else asked, report))
        return answered(operation, limited, cancel)
    except LpschedError as error:
        status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
        return error_answer(status, error.code, str(error), getattr(error, "issues", ()))
    except MemoryError:
        return error_answer(507, "memory-limit", "the work needs more memory than the server allows")
    except RecursionError:
        return error_answer(422, "bad-input", "the request is nested too deeply")
    except Exception as error:  # noqa: BLE001 - a bug of ours: the server's log has the traceback, the client has not
        if NO_THREAD in str(error):
            return error_answer(507, "memory-limit", "the work needs more memory than the server allows")
        sys.stderr.write(printable_lines(traceback.format_exc()))
        return error_answer(500, "internal", INTERNAL)
    finally:
        token.current = None


def error_answer(status: int, code: str, message: str, issues: tuple[InputIssue, ...] = ()) -> Answer:
    """Return an error as the command line prints it with `--json`."""
    said = {"code": code, "message": message, "faults": [issue.to_dict() for issue in issues]}
    content = {"format": "lpsched-error/1", "lpsched": version_of_lpsched(), "error": said}
    return Answer(status, JSON, json.dumps(content, ensure_ascii=True).encode())


def limit_memory(megabytes: int) -> None:
    """Let this process take at most that much more memory than it has now; where the system can limit it."""
    try:
        import resource
    except ImportError:
        return
    if megabytes <= 0 or not sys.platform.startswith("linux"):
        return
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a file of the system
        present = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = present + megabytes * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _load() -> None:
    """Import what most requests need, and solve once, so that the first request is answered like the others."""
    from lpsched.bag.exact_front import front
    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.solve import solve
    from lpsched.io.templates import template

    given = read_request(OPERATIONS["solve"].options, template("bag").encode(), is_yaml=True)
    assert isinstance(given.instance, Bag)
    for warm_up in (solve, front, price_curve):
        with contextlib.suppress(LpschedError):
            warm_up(given.instance, effort="fast")


if __name__ == "__main__":
    main()
