"""`lpsched front DAY`: utility over energy, below an envelope that no schedule passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from lpsched.cli.front_asked import saved
from lpsched.cli.patience import leave, watched
from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.cli.front_asked import Asked
    from lpsched.evolve.evolved_front import EvolvedFront
    from lpsched.evolve.scoring import Scorer
    from lpsched.instance.day import Day
    from lpsched.result.fuzzy_front import FuzzyFront
    from lpsched.risk.options import RiskOptions


@dataclass(frozen=True, slots=True)
class DayAsked:
    """What is asked for of a day only."""

    peak: Path | None
    drop_below: float | None
    risk: RiskOptions | None
    ellipses: Path | None
    report: Path | None


def compare_day(context: typer.Context, day: Day, asked: Asked, of_day: DayAsked) -> None:
    """Print what methods find on a day, beside its envelope."""
    from lpsched.compare.day_fronts import SEEDS, compare_day_fronts
    from lpsched.evolve.evolving import Evolving
    from lpsched.files.pictures import write_picture
    from lpsched.files.writing import write_files
    from lpsched.reports.day_front_page import day_front_page
    from lpsched.reports.day_fronts import NamedFront, day_front_picture, peak_picture
    from lpsched.reports.front_answers import day_front_tables
    from lpsched.result.day_front import evolved_or_first

    if not asked.methods:
        raise typer.BadParameter(
            "a day has no exact front; name methods to hold against its envelope, as in "
            "--compare nsga2,max-utility",
            param_hint="--compare",
        )
    talk = talk_of(context)
    population, keep = saved(asked.state, day)
    seeds = asked.seed_with if asked.seed_with is not None else SEEDS
    found: list[EvolvedFront] = []
    evolving = Evolving(asked.generations, asked.time_limit, seeds, population, keep, found.append)
    with watched(talk, None) as watch:
        result = compare_day_fronts(
            day,
            asked.methods,
            evolving=evolving,
            drop_below=of_day.drop_below,
            scorer=_scorer(day, asked.seed, of_day),
            seed=asked.seed,
            watch=watch,
        )
    fuzzy = _fuzzy(found, asked.seed, of_day)
    if asked.figure is not None and fuzzy is None:
        write_picture(day_front_picture(result), asked.figure)
    if of_day.peak is not None:
        entry = evolved_or_first(result)
        write_picture(peak_picture(NamedFront(entry.name, entry.points)), of_day.peak)
    if of_day.report is not None:
        write_files({of_day.report: day_front_page(result).encode()})
    told, tables = result.to_dict(), day_front_tables(result)
    if fuzzy is not None:
        from lpsched.reports.fuzzy_fronts import fuzzy_front_tables

        _draw_fuzzy(fuzzy, asked.figure, of_day.ellipses)
        told, tables = told | {"fuzzy": fuzzy.to_dict()}, [*tables, *fuzzy_front_tables(fuzzy)]
    talk.answer(told, tables)
    leave(watch, valid=result.valid)


def _scorer(day: Day, seed: int, of_day: DayAsked) -> Scorer | None:
    """Return what to rank by in place of expected values, if a percentile is asked for."""
    if of_day.risk is None or of_day.risk.percentile is None:
        return None
    from lpsched.evolve.day_problem import SampledDayScorer

    return SampledDayScorer(day, of_day.risk, seed=seed, drop_below=of_day.drop_below)


def _fuzzy(found: list[EvolvedFront], seed: int, of_day: DayAsked) -> FuzzyFront | None:
    """Return the samples of what evolved, if they are asked for."""
    if of_day.risk is None or not found:
        return None
    from lpsched.compare.fuzzy_fronts import fuzzy_front

    by_percentile = of_day.risk.percentile is not None
    return fuzzy_front(found[0], of_day.risk, seed=seed, name="nsga2", by_percentile=by_percentile)


def _draw_fuzzy(fuzzy: FuzzyFront, figure: Path | None, ellipses: Path | None) -> None:
    from lpsched.files.pictures import write_picture
    from lpsched.reports.fuzzy_fronts import fuzzy_front_picture, variance_picture

    if figure is not None:
        write_picture(fuzzy_front_picture([fuzzy]), figure)
    if ellipses is not None:
        write_picture(variance_picture(fuzzy), ellipses)
