"""Files that are no documents are refused with a line number, in bounded time and memory."""

from __future__ import annotations

import math
import os

import pytest

from lpsched.errors import InstanceError
from lpsched.io import documents as yaml_file
from lpsched.io.content import read_bytes
from lpsched.io.documents import read_document


def refused(path) -> str:
    with pytest.raises(InstanceError) as caught:
        read_document(path)
    (issue,) = caught.value.issues
    assert caught.value.source == str(path)
    return str(issue)


def test_a_missing_file_is_told(tmp_path):
    assert refused(tmp_path / "no.yaml") == (
        "the file: got no file of this name (not found), expected a file; check the name"
    )


def test_a_directory_is_told(tmp_path):
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    assert refused(folder) == "the file: got a directory, expected a file; name a file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_told_and_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert refused(pipe) == "the file: got a device or pipe, expected a file; name a file"


def test_a_name_with_a_nul_is_told(tmp_path):
    assert "got no file to read (" in refused(tmp_path / "a\0.yaml")


def test_an_unknown_ending_is_told(written):
    assert refused(written("bag.toml", "x")) == (
        "the file: got the ending '.toml', expected .yaml or .yml or .json; rename or convert the file"
    )


def test_a_huge_file_is_told_without_being_read(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(10**12)
    assert refused(path) == (
        "the file: got 1,000,000,000,000 bytes, expected at most 67,108,864 bytes; put its tables into .npz files beside it"
    )


def test_a_file_that_grows_while_it_is_read_is_told(written, monkeypatch):
    path = written("a.json", "{}" * 10)
    real = os.stat_result
    short = list(path.stat())
    short[6] = 1
    monkeypatch.setattr(type(path), "stat", lambda _, **__: real(short))
    with pytest.raises(InstanceError, match="got a file that grows, expected at most 5 bytes"):
        read_bytes(path, 5)


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize(
    ("content", "issue"),
    [
        pytest.param(b"", "the file: got an empty file, expected a file with content; see 'lpsched new bag'", id="empty"),
        pytest.param(b" \n\t\n", "the file: got an empty file, expected a file with content; see 'lpsched new bag'", id="blank"),
        pytest.param(b"a: 1\n\xff\xfe\x00", "line 2: got bytes that are not UTF-8 text, expected a text file; check which file this is", id="junk"),
        pytest.param(b"a\nb\0", "line 2: got a NUL character, as in binary data, expected a text file; check which file this is", id="nul"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_told(written, content, issue, suffix):
    assert refused(written(f"x{suffix}", content)) == issue


@pytest.mark.parametrize(
    ("content", "issue"),
    [
        pytest.param("a: " + "[" * 100_000, "line 1: got brackets nested more than 12 deep, expected at most 12 levels; flatten it", id="nested-lists"),
        pytest.param("- " * 100_000, "line 1: got brackets nested more than 12 deep, expected at most 12 levels; flatten it", id="nested-dashes"),
        pytest.param("{a: " * 100_000, "line 1: got brackets nested more than 12 deep, expected at most 12 levels; flatten it", id="nested-mappings"),
    ],
)  # fmt: skip
def test_broken_or_harmful_yaml_is_told_with_its_line(written, content, issue):
    assert refused(written("x.yaml", content)) == issue


def test_an_alias_bomb_is_refused_before_it_is_built(written):
    layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    layers += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 30)]
    assert refused(written("bomb.yaml", "\n".join(layers))).startswith("line 1: got the anchor &a0")


@pytest.mark.parametrize(
    ("content", "issue"),
    [
        pytest.param("[" * 100_000, "the file: got brackets nested very deeply, expected a few levels; flatten it", id="nested"),
    ],
)  # fmt: skip
def test_broken_or_harmful_json_is_told_with_its_line(written, content, issue):
    assert refused(written("x.json", content)) == issue


def test_yaml_follows_the_rules_of_1_2(written):
    text = "a: 1e9\nb: no\nc: 12:30\nd: 010\ne: '5'\nf: .inf\ng: ~\nh: true\ni: 0x1F\nj: 0o17\nk: -.5\nl: 0xZZ\nm:\nn: -.INF\n1: x"
    value = read_document(written("x.yaml", text)).value
    assert value == {
        "a": 1e9, "b": "no", "c": "12:30", "d": 10, "e": "5", "f": math.inf, "g": None, "h": True, "i": 31,
        "j": 15, "k": -0.5, "l": "0xZZ", "m": None, "n": -math.inf, "1": "x",
    }  # fmt: skip


def test_nan_and_endless_integers_reach_the_checks_as_numbers_they_refuse(written):
    digits = "9" * 5000
    for path in (written("x.yaml", f"[.nan, {digits}]"), written("x.json", f"[NaN, {digits}]")):
        nan, endless = list(read_document(path).value)  # type: ignore[call-overload]
        assert math.isnan(nan)
        assert endless == math.inf


def test_a_single_value_is_a_document(written):
    assert read_document(written("x.yaml", "5")).value == 5
    assert read_document(written("x.json", "5")).value == 5


def test_a_key_given_twice_is_told_and_the_first_one_stays(written):
    document = read_document(written("x.yaml", "a: {b: 1, c: 2, b: 3}\nd:\n  - e: 1\na: 4\n"))
    assert document.value == {"a": {"b": 1, "c": 2}, "d": [{"e": 1}]}
    assert [str(issue) for issue in document.issues] == [
        "line 1, a.b: got a key that was given before, expected each key once; remove one of the two",
        "line 4, a: got a key that was given before, expected each key once; remove one of the two",
    ]
    document = read_document(written("x.json", '{"a": {"b": 1, "c": 2, "b": 3}, "d": [1, {"e": 1, "e": 2}], "a": 4}'))
    assert document.value == {"a": {"b": 1, "c": 2}, "d": [1, {"e": 1}]}
    assert [issue.location for issue in document.issues] == ["a", "a.b", "d[1].e"]


def test_lines_are_known_for_every_path(written):
    document = read_document(written("x.yaml", "a: 1\nb:\n  - {c: 1}\n  -\n    d: 2\n"))
    assert [document.line_of(path) for path in (("a",), ("b",), ("b", 0, "c"), ("b", 1, "d"), ("b", 1, "x"))] == [
        1,
        2,
        3,
        5,
        5,
    ]
    assert document.line_of(("z",)) is None


def test_many_lines_and_many_repetitions_stay_bounded(written, monkeypatch):
    monkeypatch.setattr(yaml_file, "LINES_KEPT", 10)
    document = read_document(written("x.yaml", "a: 1\n" * 2000))
    assert len(document.issues) == 1000
    assert len(read_document(written("y.yaml", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]")).lines) == 10


def test_twelve_levels_are_allowed_and_thirteen_are_not(written):
    assert read_document(written("x.yaml", "[" * 12 + "]" * 12)).value is not None
    assert "nested more than 12 deep" in refused(written("y.yaml", "[" * 13 + "]" * 13))


def test_a_byte_order_mark_is_no_part_of_the_text(written):
    assert read_document(written("x.yaml", b"\xef\xbb\xbfa: 1")).value == {"a": 1}
    assert read_document(written("x.json", b'\xef\xbb\xbf{"a": 1}')).value == {"a": 1}


def test_a_file_of_exactly_the_limit_is_read(written):
    path = written("a.json", "12345")
    assert read_bytes(path, 5) == b"12345"
    with pytest.raises(InstanceError, match="got 5 bytes, expected at most 4 bytes"):
        read_bytes(path, 4)


def test_many_keys_and_one_of_them_twice_take_no_time_to_tell(written):
    # 200,000 keys: anything quadratic would take hours.
    keys = ", ".join(f'"k{k}": 1' for k in range(200_000))
    document = read_document(written("x.json", f'{{{keys}, "k7": 2}}'))
    assert [issue.path for issue in document.issues] == [("k7",)]
