"""Policies and other people's schedules of days and clusters against what no schedule can pass."""
