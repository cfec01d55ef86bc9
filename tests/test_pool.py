"""The pool of processes: what cannot be sent is told, and costs no other piece; a stop reaches those under way.

What becomes of pieces whose process dies is in `tests/studies/test_local_crew.py`, order and endings in
`tests/online/compare/test_workers.py`.
"""

from __future__ import annotations

import threading
import time

from lpsched.cancellation import CancelToken
from lpsched.pool import each_ended


class OddError(Exception):
    """One that cannot be made again from what it is pickled to."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def odd(piece, cancel):
    """Answer, or raise, something that cannot be sent; or wait for the token."""
    if piece == "answer":
        return threading.Lock()
    if piece == "error":
        raise OddError("not", "again")
    while piece == "wait" and not cancel.expired():
        time.sleep(0.01)
    return piece


def test_what_cannot_be_sent_is_told_and_the_rest_is_done():
    pieces = ["first", "answer", "error", threading.Lock(), "last"]
    ended = {each.number: each for each in each_ended(odd, pieces, jobs=1, cancel=CancelToken())}
    assert [ended[number].answer for number in range(5)] == ["first", None, None, None, "last"]
    assert [type(ended[number].error) for number in range(5)] == [
        type(None),
        TypeError,
        RuntimeError,
        TypeError,
        type(None),
    ]
    assert str(ended[2].error) == "OddError: not again"
    assert "Traceback" in ended[1].error.__notes__[0]


def test_a_stop_reaches_the_piece_under_way_and_no_other_is_begun():
    cancel = CancelToken()
    ended = each_ended(odd, ["first", "wait", "last"], jobs=1, cancel=cancel)
    assert next(ended).answer == "first"
    cancel.stop()
    assert [each.answer for each in ended] == ["wait"]
