"""Runs commands in a process of its own, as lines of JSON on stdin ask, and says what each did.

A request: {"folder": PATH, "commands": [[WORDS], ...]}; they run one after the other while each succeeds. The answer
has for each the exit code, what it printed, an exception that came through with its place, the peak of memory, seconds.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Final

MOST_PRINTED: Final = 2_000_000  # characters kept of an output
MOST_MEMORY: Final = 8 << 30  # so that a bomb ends this process, not the machine


def main() -> None:
    """Answer requests until stdin ends."""
    from lpsched.cli.main import run  # noqa: PLC0415 - so that the parent sees this process start

    sys.set_int_max_str_digits(0)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    sys.set_int_max_str_digits(4300)  # as for users
    for line in sys.stdin:
        request = json.loads(line)
        answer = [_answer(run, request["folder"], words) for words in request["commands"][:1]]
        for words in request["commands"][1:]:
            if answer[-1]["code"] == 0:
                answer.append(_answer(run, request["folder"], words))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _answer(run: Any, folder: str, words: list[str]) -> dict[str, Any]:
    """Run one command in a folder."""
    os.chdir(folder)
    _forget_peak()
    started = time.process_time()
    text: dict[str, Any] = {"mode": "w+", "encoding": "utf-8", "errors": "backslashreplace"}
    with Path("stdout.txt").open(**text) as out, Path("stderr.txt").open(**text) as err:
        kept = [os.dup(1), os.dup(2)]
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = out, err
        raised = None
        code: int | None = None
        try:
            code = run(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException as error:  # noqa: BLE001 - that is what is looked for
            raised = _place(error)
        finally:
            out.flush()
            err.flush()
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            for number, fd in enumerate(kept, start=1):
                os.dup2(fd, number)
                os.close(fd)
        printed = [_head(stream) for stream in (out, err)]
    for name in ("stdout.txt", "stderr.txt"):
        Path(name).unlink()
    return {
        "words": words,
        "code": code,
        "out": printed[0],
        "err": printed[1],
        "raised": raised,
        "megabytes": _peak(),
        "seconds": time.process_time() - started,
    }


def _head(stream: Any) -> str:
    stream.seek(0)
    return str(stream.read(MOST_PRINTED))


def _place(error: BaseException) -> list[str]:
    """Return an exception as a line that says where in our code it came from, and its whole traceback."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/lpsched/" in frame.filename]
    where = "" if not frames else f"{frames[-1].filename.rpartition('/lpsched/')[2]} in {frames[-1].name}"
    return [f"{type(error).__name__} in {where}", "".join(traceback.format_exception(error))[-6000:]]


def _forget_peak() -> None:
    """Let the peak of memory count from now on, where the system can do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def _peak() -> float:
    """Return the peak of memory in megabytes."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
