"""PyArrow, loaded when it is needed; it is large, and optional."""

from __future__ import annotations

from typing import Any

from lpsched.errors import MissingExtraError


def load_arrow(purpose: str) -> tuple[Any, Any]:
    """Return PyArrow and its Parquet module.

    Raises
    ------
    MissingExtraError
        If PyArrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(purpose, "parquet") from error
    return pa, pq
