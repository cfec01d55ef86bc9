"""A server that most tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.servers import Running, started


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    """Start a server with the usual settings, two workers and no limit on the rate, for tests that leave no trace."""
    with started("--workers", "2", "--rate", "1000000", ready=2) as running:
        yield running
