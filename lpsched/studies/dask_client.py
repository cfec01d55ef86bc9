"""The talk with a Dask scheduler: its library's many errors and logs become few words of ours."""

from __future__ import annotations

import contextlib
import logging
import warnings
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import LpschedError, MissingExtraError, WorkersError

try:
    import distributed
except ImportError:  # an optional package; whoever asks for it is told
    distributed = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTING_SECONDS: Final = 10.0
GO_ON: Final = "runs that were written stay: go on with --resume"
BROKEN: Final = "the connection broke"
LOGGERS: Final = ("distributed", "distributed.client", "distributed.core", "distributed.comm")


def require_dask() -> None:
    """Refuse to begin without Dask.

    Raises
    ------
    MissingExtraError
        If `distributed` is not installed.
    """
    if distributed is None:
        raise MissingExtraError("running on a cluster", "cluster")


def deaths_behind(error: Exception) -> int | None:
    """Return how many workers died of a task; `None` if the error says something else."""
    return error.allowed_failures + 1 if isinstance(error, distributed.KilledWorker) else None


def worker_here() -> str:
    """Return the address of the worker that this is."""
    return str(distributed.get_worker().address)


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Talk to the scheduler, without the talk of its library.

    Raises
    ------
    WorkersError
        If no scheduler answers.
    """
    with _silence():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # versions are looked at by `require_same`
                client = distributed.Client(address, timeout=CONNECTING_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            raise WorkersError(
                f"no Dask scheduler answers at {address!r} ({error}); start one with 'dask scheduler' and "
                "give the address that it prints, such as tcp://10.0.0.1:8786"
            ) from error
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Let Dask log nothing: what matters is told in our own words."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def telling(address: str) -> Iterator[None]:
    """Say it in words when the scheduler is lost.

    Raises
    ------
    WorkersError
        If it is.
    """
    try:
        yield
    except LpschedError:
        raise
    except (OSError, distributed.CancelledError, TimeoutError, RuntimeError) as error:
        why = BROKEN if isinstance(error, distributed.CancelledError) else " ".join(str(error).split())
        raise WorkersError(f"the scheduler at {address} was lost ({why}); {GO_ON}") from error
