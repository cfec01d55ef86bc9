"""What counts as watts, and what is refused."""

from __future__ import annotations

import pytest

from lpsched.measure.meters.power import read_watts


@pytest.mark.parametrize(
    ("text", "watts"),
    [
        ("231.5\n", 231.5),
        ("  231 W", 231.0),
        ("231W\n", 231.0),
        ("65.32 W\r\n", 65.32),
        ("Power: 0.2315 kW", 231.5),
        ("power=231", 231.0),
        ("Power:231W", 231.0),
        ("1200 mW", 1.2),
        ("231 WATTS", 231.0),
        ("2.315e2", 231.5),
        (".5 W", 0.5),
        ("0", 0.0),
        ("    Instantaneous power reading:                   220 Watts\n", 220.0),
        ("System Level | 210 Watts | ok", 210.0),
        ("GPU 0: 65.3 W", 65.3),
        ("2026-11-16 12:30:05 power 65.3 W", 65.3),
        ("0, 65.3 W, 41 C", 65.3),
    ],
)
def test_one_power_is_read(text, watts):
    assert read_watts(text) == pytest.approx(watts)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it printed no number, ''; let it print watts, such as 231.5"),
        ("[N/A]", "it printed no number, '[N/A]'; let it print watts, such as 231.5"),
        ("nan W", "it printed no number, 'nan W'; let it print watts, such as 231.5"),
        ("65.3 W\n70.1 W\n", "it printed 2 powers, '65.3 W 70.1 W'; let it print one (add them up, if that is meant)"),
        ("65.3\n70.1\n", "it printed 2 numbers, '65.3 70.1'; let it print one (add them up, if that is meant)"),
        ("65,3 W", "it printed a number with a comma, '65,3 W'; let it print a decimal point"),
        ("1,234", "it printed a number with a comma, '1,234'; let it print a decimal point"),
        ("1'234 W", 'it printed a number with a comma, "1\'234 W"; let it print a decimal point'),
        ("3 A", "it printed '3 A', and 'A' is not W, kW or mW; let it print watts"),
        ("1.2 MW", "it printed '1.2 MW', and 'MW' is not W, kW or mW; let it print watts"),
        ("7 kWh", "it printed '7 kWh', and 'kWh' is not W, kW or mW; let it print watts"),
        ("40 °C", "it printed '40 °C', and '°C' is not W, kW or mW; let it print watts"),
        ("99 %", "it printed '99 %', and '%' is not W, kW or mW; let it print watts"),
        ("-5 W", "it printed '-5 W', which is no power; let it print watts, 0 or more"),
        ("1e999", "it printed '1e999', which is no power; let it print watts, 0 or more"),
    ],
)
def test_what_is_not_one_power_is_refused_in_words(text, why):
    assert read_watts(text) == why


def test_a_message_is_short_however_much_was_printed():
    assert len(read_watts("x" * 65_536)) < 150
