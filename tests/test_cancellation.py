"""A watch ends by time, by being told, and with the watch it is a part of."""

from __future__ import annotations

import math
import time

from lpsched.cancellation import Progress, Watch


def test_a_watch_without_a_limit_is_over_only_when_stopped():
    watch = Watch()
    assert watch.left() is None
    assert not watch.is_over()
    watch.stop()
    assert watch.is_over()
    assert watch.left() == 0.0


def test_time_runs_out():
    watch = Watch(0.05)
    assert 0.0 < watch.left() <= 0.05
    time.sleep(0.06)
    assert watch.is_over()
    assert watch.left() == 0.0


def test_a_part_ends_with_the_whole_and_not_after_its_own_time():
    whole = Watch(60.0)
    part = whole.part(1000.0)
    assert part.left() <= 60.0
    whole.stop()
    assert part.is_over()
    short = Watch(60.0).part(0.0)
    assert short.is_over()


def test_to_stop_a_part_leaves_the_whole_running():
    whole = Watch()
    part = whole.part(10.0)
    part.stop()
    assert part.is_over()
    assert not whole.is_over()


def test_a_part_tells_the_listener_of_the_whole():
    heard: list[Progress] = []
    part = Watch(listener=heard.append).part(1.0)
    part.tell("columns", 0.5)
    part.tell("runs", done=2, total=5)
    assert heard == [Progress("columns", 0.5), Progress("runs", None, 2, 5)]


def test_a_share_ends_with_its_work_and_is_not_cut():
    whole = Watch()
    share = whole.share(1.0)
    inner = share.share(0.4)
    inner.count(0.5)
    assert inner.is_over()
    assert not share.is_over()
    assert share.work_left() == 0.5
    assert inner.left() is None  # the clock has no part in it
    share.count(0.5)
    assert share.is_over()
    assert share.work_left() == 0.0
    assert not whole.is_over()
    assert whole.work_left() == math.inf
    assert not share.is_cut()
    whole.stop()
    assert share.is_cut()
