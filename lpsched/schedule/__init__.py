"""Schedules: plain, frozen data."""
