from __future__ import annotations

from itertools import pairwise

import pytest

from lpsched.model.table import Table
from lpsched.report.figures.style import HATCHES, by_memory_intensity, lettered, task_marks
from tests.report.rooms import plain_room, small_room


def test_task_types_are_ordered_by_how_much_their_class_slows_others_down():
    facility, _, _ = small_room()
    # Columns of the table add up to 0.2 (light), 0.6 (medium) and 1.6 (heavy).
    assert by_memory_intensity(facility) == (1, 2, 0)
    # Columns of 0.9, 0.5 and 0.1, although rows are 0.2, 0.5 and 0.8: what counts first is what a class does.
    table = Table.of([[0.1, 0.1, 0.0], [0.3, 0.2, 0.0], [0.5, 0.2, 0.1]])
    assert by_memory_intensity(facility.model_copy(update={"degradation": table})) == (0, 2, 1)
    # Columns of 0.4, 0.4 and 0.4, rows of 0.6, 0.0 and 0.6: `count` (light) is as bad as `scan` (heavy), and first in the file.
    table = Table.of([[0.2, 0.2, 0.2], [0.0, 0.0, 0.0], [0.2, 0.2, 0.2]])
    assert by_memory_intensity(facility.model_copy(update={"degradation": table})) == (0, 1, 2)
    # Rows of 0.3, 0.6 and 0.9, equal columns: heavy is slowed down the most, then medium.
    table = Table.of([[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.3, 0.3, 0.3]])
    assert by_memory_intensity(facility.model_copy(update={"degradation": table})) == (1, 2, 0)


def test_without_degradation_task_types_keep_the_order_of_the_file():
    facility, _, _ = plain_room(tasks=3)
    assert [(mark.number, mark.label) for mark in task_marks(facility).values()] == [
        (1, "1  task 0"),
        (2, "2  task 1"),
        (3, "3  task 2"),
    ]


def test_no_two_of_forty_task_types_look_alike():
    marks = task_marks(plain_room(tasks=40)[0]).values()
    assert len({(mark.colour, mark.hatch) for mark in marks}) == 40
    neighbours = [mark.hatch for mark in marks]
    assert all(left != right for left, right in pairwise(neighbours))
    assert set(neighbours) == set(HATCHES)


def test_letters_stand_out_from_the_colour_they_stand_on():
    # The contrast of the web's guidelines: (brighter + 0.05) / (darker + 0.05); 3 is enough for large letters.
    for mark in task_marks(plain_room(tasks=40)[0]).values():
        colour, letters = (luminance(each) for each in (mark.colour, mark.letters))
        assert (max(colour, letters) + 0.05) / (min(colour, letters) + 0.05) > 3.0


def luminance(colour: str) -> float:
    channels = (255, 255, 255) if colour == "white" else bytes.fromhex(colour.removeprefix("#"))
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("plain", "plain"),
        ("$x_1$", r"\$x_1\$"),
        (r"\$", r"\\$"),
        ("任务", r"\u4efb\u52a1"),
        ("Ärger", "Ärger"),
        ("x" * 24, "x" * 24),
        ("a" * 15 + "b" * 10, "a" * 14 + "..." + "b" * 7),
        ("שלא", "\u200eשלא\u200e"),
    ],
)
def test_a_name_is_drawn_as_it_stands_or_so_that_it_can_be_told_apart(name, drawn):
    assert lettered(name) == drawn


def test_a_cut_name_is_as_long_as_it_may_be():
    for longest in (12, 16, 24, 60):
        assert len(lettered("y" * 200, longest)) == longest
