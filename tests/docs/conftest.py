from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder for the folders of pages."""
    return tmp_path_factory.mktemp("pages")
