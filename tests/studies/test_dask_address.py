"""The address of a Dask scheduler: a malformed one is rejected at once, a silent one after some seconds."""

from __future__ import annotations

import gc
import socket
import threading
import time
from contextlib import closing, suppress

import pytest

from lpsched.cli.main import run
from lpsched.errors import InstanceError, WorkersError
from lpsched.studies import dask_executor
from lpsched.studies.dask_executor import DaskExecutor, connected, require_address
from tests.studies.declared import study_file

pytest.importorskip("distributed")
MALFORMED = ["", "nonsense", "tcp://", "tcp://host", "http://host:8786", "tcp://host:99999", "tcp://[::1:8786", "a b:x"]
MALFORMED += ["tcp://host:1/x", "tcp://host:1?x"]


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


def answering(said):
    """Return a server that says something, or closes the connection if that is nothing; and its port."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()

    def serve():
        kept = []
        with suppress(OSError):
            while True:
                kept.append(server.accept()[0])
                if said:
                    kept[-1].sendall(said)
                else:
                    kept.pop().close()

    threading.Thread(target=serve, daemon=True).start()
    return server, server.getsockname()[1]


@pytest.mark.parametrize(
    ("scheme", "said", "why"),
    [
        ("tcp", b"SSH-2.0-OpenSSH_9.6\r\n", "it greets with 'SSH-2.0-'"),  # read as a number of frames: 3.3e18
        ("tcp", b"", "it closes the connection"),
        ("ws", b"", ""),  # closed or reset
        ("tcp", b"\x02" + bytes(7), ""),  # a greeting of two frames, which do not come
        ("ws", b"HTTP/1.1 404 Not Found\r\n\r\n", ""),
        ("tls", b"no TLS at all", ""),
    ],
)
def test_what_is_no_scheduler_is_given_up_after_some_seconds_in_words(monkeypatch, capfd, scheme, said, why):
    monkeypatch.setattr(dask_executor, "CONNECTING_SECONDS", 0.5)
    server, port = answering(said)
    begin = time.monotonic()
    with (
        closing(server),
        pytest.raises(WorkersError, match="no Dask scheduler answers") as raised,
        connected(f"{scheme}://127.0.0.1:{port}"),
    ):
        pass
    gc.collect()  # what Dask has half made
    assert time.monotonic() - begin < 4.0
    assert why in str(raised.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("scheme", ["tls", "ws"])
def test_a_scheduler_that_is_silent_by_other_protocols_is_given_up_as_well(monkeypatch, scheme):
    monkeypatch.setattr(dask_executor, "CONNECTING_SECONDS", 0.3)
    with closing(socket.socket()) as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        begin = time.monotonic()
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(WorkersError, match="timed out"), connected(address):
            pass
        assert time.monotonic() - begin < 3.0


def test_a_study_that_finds_no_scheduler_leaves_no_file(tmp_path, capsys):
    study = study_file(tmp_path)
    server, port = answering(b"")
    with closing(server):
        code = run(["study", "run", str(study), "-o", str(tmp_path / "r.jsonl"), "--scheduler", f"127.0.0.1:{port}"])
    assert (code, "closes the connection" in capsys.readouterr().err) == (1, True)
    assert not (tmp_path / "r.jsonl").exists()


def test_the_time_that_a_silent_scheduler_gets_is_what_the_docs_say():
    assert dask_executor.CONNECTING_SECONDS == 5.0
