"""Prices: marginal values, one whole machine more, prices that pay, what-if."""
