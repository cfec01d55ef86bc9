"""Connections: how long and how large the head of a request may be, and how many there may be at a time.

uvicorn itself waits without a limit for the head of a first request, and reads one of any size into memory, before any
part of the application sees it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lpsched.serve.settings import Settings


class Connection(HttpToolsProtocol):
    """A connection that is closed when a head of a request is late or large."""

    settings: ClassVar[Settings]
    busy: ClassVar[Callable[..., Awaitable[None]]]  # answers requests while there are too many connections
    _timer: asyncio.TimerHandle | None = None
    _is_in_head = False
    _is_whole = True  # whether the request was read to its end
    _size = 0  # of the head so far, in bytes

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._own = self.app
        if len(self.connections) > 2 * self.settings.connections:
            transport.abort()
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data; a head that is too large is rejected."""
        super().data_received(data)
        if self._is_in_head and not self.transport.is_closing():
            self._size += len(data)
            if self._size > self.settings.head_bytes:
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """Begin to wait for the end of the head."""
        super().on_message_begin()
        self._is_in_head, self._is_whole, self._size = True, False, 0
        self._wait()

    def on_headers_complete(self) -> None:
        """Choose who answers."""
        self._is_in_head = False
        self._wait_no_more()
        self.app: Any = type(self).busy if len(self.connections) > self.settings.connections else self._own
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that all of the request came."""
        self._is_whole = True
        self._wait_no_more()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the rest of a request that was answered before all of it came."""
        super().on_response_complete()
        if not self._is_whole and not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.settings.head_seconds, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def limited(settings: Settings, busy: Callable[..., Awaitable[None]]) -> type[asyncio.Protocol]:
    """Return the protocol of connections; `busy` answers requests while there are too many connections."""
    return type("Limited", (Connection,), {"settings": settings, "busy": staticmethod(busy)})
