"""Where passes over large arrays run: NumPy on the CPU, or CuPy on a GPU, through the same interface."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from lpsched.errors import MissingExtraError, SolverError


class Device(StrEnum):
    """What the arrays live on."""

    CPU = "cpu"
    CUDA = "cuda"


def array_module(device: Device) -> Any:  # noqa: ANN401 - numpy or cupy
    """Return the module whose arrays live on the device.

    Raises
    ------
    MissingExtraError
        If CuPy is not installed.
    SolverError
        If there is no GPU.
    """
    if device is Device.CPU:
        return np
    try:
        import cupy  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("the device cuda", "gpu") from error
    try:
        cupy.cuda.Device().use()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise SolverError(f"the device cuda cannot be used: {error}; leave --device out") from error
    return cupy
