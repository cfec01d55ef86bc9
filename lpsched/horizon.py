"""Plan bags over a horizon with prices, carbon and power caps over time: public names, loaded with this module."""

from lpsched.bag.horizon.certificate import check_horizon as check
from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve
from lpsched.bag.horizon.forecasts.replan import replan
from lpsched.bag.horizon.forecasts.replan_result import ReplanResult
from lpsched.bag.horizon.fronts import cost_carbon_front, cost_deadline
from lpsched.bag.horizon.level_curve import LevelCurve
from lpsched.bag.horizon.levels import profit_by_level
from lpsched.bag.horizon.offers import offer_curve
from lpsched.bag.horizon.result import PlanResult
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.slots import Slots, slots_of
from lpsched.bag.horizon.solve import plan
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.parts import NamedSite
from lpsched.io.series_files import read_series, series_from
from lpsched.model.series import Series

__all__ = [
    "DeadlineCurve",
    "HorizonFront",
    "IdleSpan",
    "LevelCurve",
    "NamedSite",
    "OfferCurve",
    "Plan",
    "PlanGroup",
    "PlanResult",
    "ReplanResult",
    "Series",
    "Slots",
    "TimedRun",
    "check",
    "cost_carbon_front",
    "cost_deadline",
    "measure_plan",
    "offer_curve",
    "plan",
    "profit_by_level",
    "read_series",
    "replan",
    "series_from",
    "slots_of",
    "verify_plan",
]
