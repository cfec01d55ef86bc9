"""Worker processes, as the server sees them: one request at a time, with limits on time and memory.

A worker that exceeds its time, does not stop when it should, or dies is replaced; its request ends with an error, and
those of other workers are not affected.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from lpsched.serve.operations import Answer
from lpsched.serve.worker import error_answer

LINE_BYTES: Final = 2**16
STOP_SECONDS: Final = 2.0  # from a request to stop until the process is killed
LATE_SECONDS: Final = 10.0  # beyond the time limit: what is left to do after the search has ended
START_SECONDS: Final = 120.0
END_SECONDS: Final = 1.0  # from the end of its output to the end of the process


class Worker:
    """One worker process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._is_closed = False

    @classmethod
    async def start(cls, memory_megabytes: int) -> Worker:
        """Start a process, and wait until it is ready."""
        command = (sys.executable, "-P", "-m", "lpsched.serve.worker", str(memory_megabytes))
        environment = {name: value for name, value in os.environ.items() if name != "LPSCHED_TOKEN"}
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, limit=LINE_BYTES, start_new_session=True, env=environment
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                head, _ = await worker._receive()
        except BaseException:
            await worker.close()
            raise
        if not head.get("ready"):
            await worker.close()
            raise RuntimeError(f"a worker process did not start (exit code {process.returncode})")
        return worker

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can take a request."""
        return self._process.returncode is None and not self._is_closed

    async def run(  # noqa: PLR0913 - options are keyword-only
        self,
        name: str,
        operation: str,
        body: bytes,
        *,
        media: str,
        seconds: float,
        pairs: int,
        listen: Callable[[dict[str, Any]], object],
    ) -> Answer:
        """Send a request and return its answer; `listen` gets progress and the key. Not alive after an error."""
        head = {"id": name, "operation": operation, "media": media, "seconds": seconds, "pairs": pairs}
        try:
            async with asyncio.timeout(seconds + LATE_SECONDS):
                await self._send(head, body)
                while True:
                    said, content = await self._receive()
                    if said.get("status") == HTTPStatus.INSUFFICIENT_STORAGE:  # what it holds may not be given back
                        await self.close()
                    if "status" in said:
                        return Answer(said["status"], said["media"], content, said["cut"])
                    if not said:
                        return await self._died()
                    listen(said)
        except TimeoutError:
            await self.close()
            sentence = f"the work took more than {seconds:g} s, the time limit of the server"
            return error_answer(504, "time-limit", sentence)
        except asyncio.CancelledError:
            await self.close()
            raise

    async def stop(self, name: str) -> None:
        """Ask the request under way to stop, and kill the process if it does not."""
        with contextlib.suppress(OSError):
            await self._send({"stop": name})
        await asyncio.sleep(STOP_SECONDS)

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def ended(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()

    async def close(self) -> None:
        """End the process, whatever it does."""
        self._is_closed = True
        self.kill()
        await self._process.wait()

    async def _died(self) -> Answer:
        """Return the error of a request whose process ended."""
        self._is_closed = True
        try:
            async with asyncio.timeout(END_SECONDS):  # killing it at once would lose why it ended
                await self._process.wait()
        except TimeoutError:  # it only stopped making sense
            await self.close()
        code = await self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        hint = "it may have needed more memory than there is; send a smaller request, or the same again"
        return error_answer(500, "worker-died", f"the process that did the work ended ({how}): {hint}")

    async def _send(self, head: dict[str, Any], body: bytes = b"") -> None:
        stream = self._process.stdin
        assert stream is not None, "it was made with a pipe"
        with contextlib.suppress(ConnectionError):  # it died: the other pipe says so
            stream.write(json.dumps(head | {"size": len(body)}).encode() + b"\n" + body)
            await stream.drain()

    async def _receive(self) -> tuple[dict[str, Any], bytes]:
        """Return a message; nothing if the process ended."""
        stream = self._process.stdout
        assert stream is not None, "it was made with a pipe"
        try:
            line = await stream.readline()
            head: dict[str, Any] = json.loads(line) if line else {}
            return head, await stream.readexactly(head["size"]) if head.get("size") else b""
        except (asyncio.IncompleteReadError, ValueError, ConnectionError):
            return {}, b""
