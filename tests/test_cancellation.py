"""A token ends by time, by being told, and with the token it is a part of."""

from __future__ import annotations

import math
import time

from lpsched.cancellation import CancelToken, Progress


def test_a_watch_without_a_limit_is_over_only_when_stopped():
    cancel = CancelToken()
    assert cancel.remaining() is None
    assert not cancel.expired()
    cancel.stop()
    assert cancel.expired()
    assert cancel.remaining() == 0.0


def test_time_runs_out():
    cancel = CancelToken(0.05)
    assert 0.0 < cancel.remaining() <= 0.05
    time.sleep(0.06)
    assert cancel.expired()
    assert cancel.remaining() == 0.0


def test_the_clock_stands_while_a_token_is_paused(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    whole = CancelToken(60.0)
    part = whole.part(20.0)
    with part.paused():
        now += 1000.0
    assert part.remaining() == 20.0
    assert whole.remaining() == 60.0
    now += 20.0
    assert part.expired()
    assert not whole.expired()


def test_a_part_ends_with_the_whole_and_not_after_its_own_time():
    whole = CancelToken(60.0)
    part = whole.part(1000.0)
    assert part.remaining() <= 60.0
    whole.stop()
    assert part.expired()
    short = CancelToken(60.0).part(0.0)
    assert short.expired()


def test_to_stop_a_part_leaves_the_whole_running():
    whole = CancelToken()
    part = whole.part(10.0)
    part.stop()
    assert part.expired()
    assert not whole.expired()


def test_a_part_tells_the_listener_of_the_whole():
    heard: list[Progress] = []
    part = CancelToken(listener=heard.append).part(1.0)
    part.report("columns", 0.5)
    part.report("runs", done=2, total=5)
    assert heard == [Progress("columns", 0.5), Progress("runs", None, 2, 5)]


def test_a_share_ends_with_its_work_and_is_not_cut():
    whole = CancelToken()
    share = whole.share(1.0)
    inner = share.share(0.4)
    inner.count(0.5)
    assert inner.expired()
    assert not share.expired()
    assert share.work_left() == 0.5
    assert inner.remaining() is None  # the clock has no part in it
    share.count(0.5)
    assert share.expired()
    assert share.work_left() == 0.0
    assert not whole.expired()
    assert whole.work_left() == math.inf
    assert not share.is_cut()
    whole.stop()
    assert share.is_cut()


def test_the_work_within_a_limit_is_counted_and_not_timed():
    assert CancelToken().work_within() is None
    whole = CancelToken(0.0)  # long over, by the clock
    assert whole.work_within() == 0.0
    whole = CancelToken(8.0)
    part = whole.share(4.0)
    assert part.work_within() == 8.0
    part.count(3.0)
    time.sleep(0.01)
    assert (part.work_within(), whole.part(2.0).work_within()) == (5.0, 2.0)
    part.count(20.0)
    assert whole.work_within() == 1.0  # some is left: counts are rough
