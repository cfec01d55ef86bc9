"""A meter that reads in a thread of its own, for as long as its `with` block lasts."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class OwnThread(ABC):
    """What reads in the background, and the event that ends it."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called."""

    @abstractmethod
    def _run(self) -> None:
        """Read until the event is set."""

    def __enter__(self) -> Self:
        """Begin to read."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the thread, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
