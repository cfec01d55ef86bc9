"""Settings of the server: where it listens, who may ask, and how much."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
LEAST_TOKEN: Final = 16  # characters
LEAST_MEMORY: Final = 64  # megabytes, with which a worker can begin


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings; the defaults are those of `lpsched serve`."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()  # names in `Host`, besides loopback and addresses
    folder: Path | None = None  # of jobs; without one they end with the server
    workers: int = max(2, min(8, os.cpu_count() or 2))
    body_megabytes: float = 8.0
    pairs: int = 100_000
    queue: int = 100  # requests that wait for a worker
    seconds: float = 300.0  # of one request
    memory_megabytes: int = 2048  # of one worker, beyond what it has at the start; 0 for no limit
    rate: int = 3000  # requests of one client in a minute
    connections: int = 256
    head_seconds: float = 10.0  # for a client to send the head of a request
    head_bytes: int = 2**16
    wait_seconds: float = 10.0  # after which a request that waits becomes a job
    grace_seconds: float = 4.0  # for running jobs when the server stops, and before that for open connections
    kept_jobs: int = 1000
    kept_megabytes: float = 256.0  # of answers in memory, where there is no folder
    queue_megabytes: float = 64.0  # of bodies that wait
    cache_megabytes: float = 64.0

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can reach the server."""
        return self.host in LOOPBACK
