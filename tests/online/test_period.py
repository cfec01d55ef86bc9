"""The period that counts, and what generators note: by hand, and how each error is told."""

from __future__ import annotations

import math

import pytest

from lpsched.errors import InstanceError
from lpsched.online.day import day_from_dict
from lpsched.online.parts import Period, require_whole
from tests.days import SOUND, sound_day

NOTE = {"generator": "essc", "seed": 3}
PRORATED = Period(100.0, 1000.0)  # counts from 100 to 1,100 s
COMPLETED = Period(100.0, 1000.0, "completed")
SOUND_HASH = "82957102ac13168ed4b9c2621aa8971ee82386636b8b2a83226570465cb9eeab"


def issues_of(**changes) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        day_from_dict(sound_day(**changes))
    return [str(issue) for issue in caught.value.issues]


@pytest.mark.parametrize(
    ("start", "end", "prorated", "completed"),
    [
        (0.0, 100.0, 0.0, 0.0),  # ends as the period begins
        (60.0, 160.0, 0.6, 1.0),  # 60 of its 100 s
        (100.0, 200.0, 1.0, 1.0),
        (1000.0, 1100.0, 1.0, 1.0),  # ends with the period
        (1000.0, 1400.0, 0.25, 0.0),
        (0.0, 2000.0, 0.5, 0.0),  # across both edges
        (1100.0, 1200.0, 0.0, 0.0),
        (1e20, 1e20, 0.0, 0.0),  # takes no time in doubles
        (500.0, 500.0, 1.0, 1.0),  # likewise, within
    ],
)
def test_the_share_of_a_run_is_that_worked_out_on_paper(start, end, prorated, completed):
    assert (PRORATED.share(start, end), COMPLETED.share(start, end)) == (prorated, completed)


def test_all_of_a_day_without_a_period_counts():
    day = day_from_dict(SOUND)
    assert day.period.is_whole
    assert (day.period.begins_at, day.period.ends_at) == (0.0, math.inf)
    assert day.period.share(5.0, 1e9) == 1.0
    assert day_from_dict(sound_day(period=None)) == day_from_dict(sound_day(period={})) == day


def test_a_period_is_read_as_it_stands():
    asked = {"warm_up_seconds": 7200, "length_seconds": 86400, "edge": "completed", "energy_constraint_joules": 0}
    day = day_from_dict(sound_day(period=asked))
    assert day.period == Period(7200.0, 86400.0, "completed", 0.0)
    assert day.period.ends_at == 93600.0


def test_the_hash_of_a_day_without_a_period_is_what_it_was_before_there_were_periods():
    # computed with the last commit in which days had none
    assert day_from_dict(SOUND).content_hash == SOUND_HASH


def test_the_hash_tells_periods_apart_and_not_who_made_the_day():
    day = day_from_dict(SOUND)
    hashes = {
        day.model_copy(update={"period": each}).content_hash for each in (PRORATED, COMPLETED, Period(100.0), Period())
    }
    assert len(hashes) == 4
    assert day.model_copy(update={"made_by": NOTE}).content_hash == day.content_hash


@pytest.mark.parametrize(
    ("note", "issue"),
    [
        pytest.param(NOTE | {"counts": [1] * 1001}, "made_by.counts: got a list of 1001, expected a number, a text, yes or no, or a list of at most 1,000 numbers; correct it, or drop the key", id="long-list"),
    ],
)  # fmt: skip
def test_each_fault_of_a_note_is_told_in_full(note, issue):
    assert issues_of(made_by=note) == [issue]


def test_faults_of_both_come_with_all_others_in_file_order():
    raw = sound_day(name="", period={"edge": "completed"}, made_by={"seed": -1, "generator": ""})
    raw["priorities"]["high"] = -1
    with pytest.raises(InstanceError) as caught:
        day_from_dict(raw)
    assert [str(issue).partition(":")[0] for issue in caught.value.issues] == [
        "name", "priorities.high", "period.length_seconds", "made_by.seed", "made_by.generator"
    ]  # fmt: skip


def test_a_note_is_kept_word_by_word_and_cannot_be_changed():
    counts = [1, 2.5]
    day = day_from_dict(sound_day(made_by=NOTE | {"counts": counts, "polled": True}))
    counts.append(7)
    assert day.made_by == {"generator": "essc", "seed": 3, "counts": (1, 2.5), "polled": True}
    assert hash(day) == hash(day.model_copy())
    with pytest.raises(TypeError, match="cannot be changed"):
        day.made_by["seed"] = 4  # type: ignore[index]


def test_tasks_that_arrive_when_the_period_is_over_are_remarked():
    day = day_from_dict(sound_day(period={"length_seconds": 2.5}))  # arrivals 0, 2.5, 2.5 and 100 s
    assert day.remarks() == ("3 of the tasks arrive when the period is over, and can never start",)
    assert day_from_dict(sound_day(period={"length_seconds": 100.5})).remarks() == ()


def test_what_knows_of_no_period_refuses_one():
    require_whole("d", Period(), "NSGA-II")
    with pytest.raises(InstanceError) as caught:
        require_whole("d", Period(energy_constraint_joules=1.0), "NSGA-II")
    assert str(caught.value) == (
        "d: 1 error\n  period: got a period that counts, expected a day that counts as a whole: NSGA-II can do no "
        "other; remove the key 'period', or see 'lpsched simulate'"
    )
