"""The address of a Dask scheduler: a malformed one is rejected at once, a silent one after some seconds."""

from __future__ import annotations

import socket
import time
from contextlib import closing

import pytest

from lpsched.cli.main import run
from lpsched.errors import InstanceError, WorkersError
from lpsched.studies import dask_executor
from lpsched.studies.dask_executor import DaskExecutor, connected, require_address
from tests.studies.declared import study_file

pytest.importorskip("distributed")
MALFORMED = ["", "nonsense", "tcp://", "tcp://host", "http://host:8786", "tcp://host:99999", "tcp://[::1:8786", "a b:x"]


@pytest.mark.parametrize("address", MALFORMED)
def test_what_is_no_address_is_rejected_before_anything_is_begun(address):
    with pytest.raises(InstanceError, match="expected the address that 'dask scheduler' prints"):
        DaskExecutor(address)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tls://host:1", "host:8786", "tcp://[::1]:8786"])
def test_what_a_scheduler_prints_is_an_address(address):
    assert require_address(address)[2] in (8786, 1)


def test_the_command_names_its_option_and_ends_with_2(capsys, tmp_path):
    study = study_file(tmp_path)
    code = run(["study", "run", str(study), "--scheduler", "nonsense"])
    err = capsys.readouterr().err
    assert (code, err.startswith("lpsched: --dask: got 'nonsense', expected the address")) == (2, True)
    assert not (tmp_path / "tiny.runs.jsonl").exists()


@pytest.mark.parametrize("listens", [True, False])
def test_a_silent_scheduler_is_given_up_after_some_seconds(monkeypatch, listens):
    monkeypatch.setattr(dask_executor, "CONNECTING_SECONDS", 0.3)
    with closing(socket.socket()) as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()  # and never answers
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        begin = time.monotonic()
        with pytest.raises(WorkersError, match=f"no Dask scheduler answers at '{address}'"), connected(address):
            pass
        assert time.monotonic() - begin < 3.0


def test_the_time_that_a_silent_scheduler_gets_is_what_the_docs_say():
    assert dask_executor.CONNECTING_SECONDS == 5.0
