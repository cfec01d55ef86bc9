"""Whole numbers that stand for binary fractions: rounded to the side they say, and by less than the last place."""

from __future__ import annotations

from fractions import Fraction

from lpsched.model.fixed_point import ONE, fixed, float_down, float_up, product_up, quotient_down, quotient_up


def test_products_are_rounded_to_the_side_they_say():
    third, tenth = fixed(1 / 3) + 1, fixed(0.1)  # the product needs more than all places
    for sign in (1, -1):
        exact = Fraction(sign * third * tenth, ONE * ONE)
        assert 0 < Fraction(product_up(sign * third, tenth), ONE) - exact < Fraction(1, ONE)
        exact = Fraction(sign * third, tenth)
        assert 0 < Fraction(quotient_up(sign * third, tenth), ONE) - exact < Fraction(1, ONE)
        assert 0 < exact - Fraction(quotient_down(sign * third, tenth), ONE) < Fraction(1, ONE)
    assert product_up(fixed(0.5), fixed(4.0)) == fixed(2.0)


def test_doubles_are_rounded_to_the_side_they_say():
    above = fixed(1.0) + 1
    assert float_down(above) == 1.0 < float_up(above)
    assert float_up(-above) == -1.0 > float_down(-above)
