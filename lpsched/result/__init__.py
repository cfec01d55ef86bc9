"""Answers: typed, immutable, built after verification; each shows itself as a table in a notebook."""

from lpsched.result.facility import FacilityResult, FacilityWorth
from lpsched.result.facility_method import MethodResult
from lpsched.result.facility_validation import FacilityValidation
from lpsched.result.front import FrontResult
from lpsched.result.marginals import OneMore, Worth
from lpsched.result.price_curve import PriceCurve
from lpsched.result.solve import Result
from lpsched.result.status import Status, relative_gap
from lpsched.result.validation import Validation
from lpsched.result.what_if import WhatIf

__all__ = [
    "FacilityResult",
    "FacilityValidation",
    "FacilityWorth",
    "FrontResult",
    "MethodResult",
    "OneMore",
    "PriceCurve",
    "Result",
    "Status",
    "Validation",
    "WhatIf",
    "Worth",
    "relative_gap",
]
